"""Release order: which release a comparison starts from, and which one it is about.

Releases that came one after the other are compared in that order. Where two answer side by side from the beginning, as
in an experiment, whose conversation happens to come first says nothing. There the first by its version is what the
other is tried against, where versions count up alike, however conversations are shared: a new release may get two of
three. Of other names it is the one with clearly more conversations, since a canary is the smaller one, or else the
first by its name; and whatever the names are, what has ten times as many is not the one that is tried.
So it is where the higher version was ahead by hours, and both then answer to the end, by day and by night, say, or by
turns: which one a recording happens to begin with says nothing either, and the version that is lower was there before.
Only conversations that were answered count there: a release that answers nobody is what there is to find, and no
baseline.
"""

import math
import re
from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from turnsignal.stream.errors import ConfigError
from turnsignal.stream.pipeline.metric_deltas import Release

#: Conversations that a release has alone before another one comes, to be what was there before: of two that begin
#: together, one is ahead by so many once in a thousand times.
AHEAD = 10
_CLEARLY_MORE, _BEYOND_CHANCE = 1.5, 3.0  #: times as many, and by so many standard deviations of an equal share
_FAR_MORE = 10.0  #: times as many as one of a lower number
#: Share of the time of two releases that one may have alone at an end, where both answer throughout: of three days, the
#: night before a release of the day and the evening behind one of the night are less.
_ALONE = 0.25
#: a name that counts up: one number or several behind what stays, and perhaps a pre-release of it
_COUNTS_UP = re.compile(r"(\D*)\d+(?:[._+-]\d+)*(?:[._-]?(?:a|b|rc|alpha|beta|dev|pre)[._-]?\d*)?", re.IGNORECASE)
_NUMBERS = re.compile(r"(\d+)")

BY_CONVERSATIONS, BY_NAME = "conversations", "name"  #: what made a release the baseline of one beside it


class Period(NamedTuple):
    """When a release answered, and how much.

    first, last: event times at which conversations began; answered: how many of them did not end without an answer;
    is_release: False for what nobody answered and no version is known of.
    """

    release: Release
    first: float
    last: float
    conversations: int
    answered: int
    is_release: bool = True


class Step(NamedTuple):
    """Two releases to be compared. by: what made the first one the baseline, "" where time or an option did."""

    before: Release
    after: Release
    by: str = ""


def version_key(version: str | None) -> tuple[bool, list[tuple[bool, int, str]]]:
    """Return what versions are sorted by: numbers as such, and a pre-release before what it leads to.

    >>> sorted(["v10", "v9", "1.10", "1.9", "2.0", "2.0-rc1", "blue"], key=version_key)
    ['1.9', '1.10', '2.0-rc1', '2.0', 'blue', 'v9', 'v10']
    """
    if version is None:
        return True, []
    name = version + ("~" if not re.search(r"\d[.-]?(a|b|rc|alpha|beta|dev|pre)[.\d-]*$", version) else "")
    parts = [part for part in _NUMBERS.split(name) if part]
    return False, [(not part.isdecimal(), int(part) if part.isdecimal() else 0, part) for part in parts]


def in_order(periods: Sequence[Period]) -> list[list[Period]]:
    """Return the releases of one assistant by time; those that answer side by side together, the baseline first.

    periods: by time.
    """
    groups: list[list[Period]] = []
    for period in periods:
        if groups and all(_are_together(other, period) for other in groups[-1]):
            groups[-1].append(period)
        else:
            groups.append([period])
    return [_by_baseline(group) for group in groups]


def steps(periods: Sequence[Period], baseline: str | None = None) -> Iterator[Step]:
    """Give what is compared of one assistant: each release with the one before it, or with the baseline beside it.

    periods: by time, without those that nobody compares; baseline: a version that all others are compared with.
    """
    named = next((each.release for each in periods if each.release[1] == baseline), None) if baseline else None
    if named is not None:
        yield from (Step(named, each.release) for each in periods if each.release != named)
        return
    before: Release | None = None
    for group in in_order(periods):
        first, *others = group
        if before is not None:
            yield Step(before, first.release)
        for other in others:
            by = BY_CONVERSATIONS if _has_clearly_more(first, other) else BY_NAME
            yield Step(first.release, other.release, by)
        before = group[-1].release if group[-1].is_release else before


def check_baseline(baseline: str | None, releases: Collection[Release]) -> None:
    """Refuse a baseline that no release is: raises ConfigError with those that are."""
    versions = sorted({version for _, version in releases if version is not None}, key=version_key)
    if baseline is not None and baseline not in versions:
        known = f"one of {', '.join(versions)}" if versions else "none, since no answer names a version"
        msg = f"baseline: expected {known}; got {baseline!r}"
        raise ConfigError(msg)


def overlap(period: Period, other: Period) -> bool:
    """Say whether two releases began conversations at the same time, for half of the shorter one's time or more."""
    both = min(period.last, other.last) - max(period.first, other.first)
    return both > 0 and 2 * both >= min(period.last - period.first, other.last - other.first)


def _are_together(earlier: Period, later: Period) -> bool:
    """Say whether two releases answer side by side, and neither was there before."""
    if earlier.release[1] is None or later.release[1] is None or not overlap(earlier, later):
        return False
    if _is_newer(earlier.release[1], later.release[1]) and _are_throughout(earlier, later):
        return True
    alone = (later.first - earlier.first) / max(earlier.last - earlier.first, 1e-9)
    return alone * earlier.conversations < AHEAD


def _are_throughout(earlier: Period, later: Period) -> bool:
    """Say whether two releases answer from about the same time on, and to about the same time."""
    alone = max(later.first - earlier.first, abs(later.last - earlier.last))
    return alone <= _ALONE * (max(earlier.last, later.last) - earlier.first)


def _is_newer(version: str, other: str) -> bool:
    """Say whether a version is the higher one of two that count up alike."""
    return count_up(version, other) and version_key(version) > version_key(other)


def _has_clearly_more(period: Period, other: Period) -> bool:
    n, others = period.answered, other.answered
    times = _FAR_MORE if count_up(period.release[1] or "", other.release[1] or "") else _CLEARLY_MORE
    return n >= times * others and n - others >= _BEYOND_CHANCE * math.sqrt(n + others)


def count_up(version: str, other: str) -> bool:
    """Say whether two versions differ by numbers alone, so that the higher one is the newer.

    >>> count_up("v1", "v2"), count_up("2.0-rc1", "1.9"), count_up("blue", "green"), count_up("3f9a", "41c2")
    (True, True, False, False)
    """
    one, two = _COUNTS_UP.fullmatch(version), _COUNTS_UP.fullmatch(other)
    return one is not None and two is not None and one[1] == two[1]


def _by_baseline(group: list[Period]) -> list[Period]:
    by_name = sorted(group, key=lambda period: version_key(period.release[1]))
    largest = max(by_name, key=lambda period: period.answered)
    first = largest if _has_clearly_more(largest, by_name[0]) else by_name[0]
    return [first, *(period for period in by_name if period is not first)]
