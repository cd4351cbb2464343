"""Traffic shift: how the traffic of two releases differs, and what differs within the parts that both have."""

from collections.abc import Mapping
from typing import NamedTuple

from turnsignal.stream.statistics.intervals import Difference


class TrafficShift(NamedTuple):
    """How traffic moved between parts of it, such as platforms or languages.

    shifted: in words, "" where it did not; parts: which ones; within: after − before of each figure within these parts,
    which decides in the place of that of all.
    """

    shifted: str = ""
    parts: str = ""
    within: Mapping[str, Difference] = {}
