"""Durations as people write them in suites and settings: `90`, `"30m"`, `"1w"`; in seconds everywhere else."""

import math
import re
from typing import Annotated

from pydantic import BeforeValidator, Field

LONGEST = 36_525 * 86_400.0  #: seconds, a hundred years: from any time on until then there are times to be written
FOREVER = "forever"  #: a duration without an end, where one may have none

_UNITS = {"": 1.0, "ms": 0.001, "s": 1.0, "m": 60.0, "h": 3_600.0, "d": 86_400.0, "w": 604_800.0}
_SHOWN = (("d", 86_400), ("h", 3_600), ("min", 60))
_WRITTEN = re.compile(r"\s*([0-9]+(?:\.[0-9]+)?)\s*(ms|s|m|h|d|w|)\s*")


def read_duration(given: object) -> float:
    """Read `90`, `"90"`, `"30m"`, `"1w"` as seconds; raises ValueError, which pydantic turns into its own.

    >>> read_duration("1.5m"), read_duration(90)
    (90.0, 90.0)
    """
    if isinstance(given, int | float) and not isinstance(given, bool):
        return float(given)
    match = _WRITTEN.fullmatch(given) if isinstance(given, str) else None
    if match is None:
        msg = 'a duration like 90, "30m", "24h" or "7d" is expected'
        raise ValueError(msg)
    return float(match[1]) * _UNITS[match[2]]


def show_duration(seconds: float) -> str:
    """Write a duration for a sentence, in the largest unit of which there is one.

    >>> show_duration(1800), show_duration(5400), show_duration(20)
    ('30 min', '1.5 h', '20 s')
    """
    unit, size = next(((unit, size) for unit, size in _SHOWN if seconds >= size), ("s", 1))
    return f"{seconds / size:g} {unit}"


def _read_endless(given: object) -> float:
    return math.inf if isinstance(given, str) and given.strip() == FOREVER else read_duration(given)


Duration = Annotated[float, BeforeValidator(read_duration), Field(gt=0, le=LONGEST, allow_inf_nan=False)]
DurationOrZero = Annotated[float, BeforeValidator(read_duration), Field(ge=0, le=LONGEST, allow_inf_nan=False)]
DurationOrForever = Annotated[float, BeforeValidator(_read_endless), Field(gt=0)]
