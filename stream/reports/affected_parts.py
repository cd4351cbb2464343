"""Affected parts: in which language, or on which platform, users ask to clarify more, and elsewhere do not.

A release that answers worse in one language only is diluted by the others, and where it is called worse nobody sees in
which. So each part is compared with itself and with the rest of its release, by the share of follow-ups that ask for no
clarification.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from turnsignal.stream.records.scores import CLARIFICATION_FREE
from turnsignal.stream.reports.release_figures import LANGUAGES, PLATFORMS, ReleaseFigure, change
from turnsignal.stream.reports.release_totals import ReleaseTotals, parts_of_both
from turnsignal.stream.statistics.intervals import Difference, Z
from turnsignal.stream.statistics.promise import PROMISE

_ALONE = 0.01  #: of comparisons without a difference, that may name a part of a release which is not worse over all


_Sides = tuple[ReleaseTotals, ReleaseTotals]  #: before and after
ReadFree = Callable[[ReleaseTotals], ReleaseFigure | None]  #: gives the figure that parts are compared by


class AffectedPart(NamedTuple):
    """A part of the traffic that is worse off than the rest of it.

    parts: languages or platforms; name: an ISO 639-1 code, or a platform's name; here, elsewhere: after − before;
    adjusted: how often chance makes a part differ so much from the rest, or fall so much, of as many as there are.
    """

    parts: str
    name: str
    here: Difference
    elsewhere: Difference
    adjusted: float

    def as_json(self) -> dict[str, Any]:
        """Return what `summary.json` holds of it."""
        sides = {"here": self.here, "elsewhere": self.elsewhere}
        spelled = {
            side: {key: round(getattr(delta, key), 6) for key in ("value", "low", "high")} | {"n": delta.n}
            for side, delta in sides.items()
        }
        return {"parts": self.parts, "name": self.name, "figure": CLARIFICATION_FREE, **spelled} | {
            "adjusted": float(f"{self.adjusted:.3g}")
        }


def affected_parts(
    read: ReadFree, before: ReleaseTotals, after: ReleaseTotals, least_change: float, *, is_worse: bool
) -> list[AffectedPart]:
    """Return the parts that are worse, and worse than the rest, the most affected first.

    read: gives the figure, None where too few conversations speak of it; is_worse: whether the release is called worse
    over all: then this says where, and else that it is.
    """
    compared = [*_compare(read, before, after, LANGUAGES), *_compare(read, before, after, PLATFORMS)]
    affected = []
    for part in compared:
        chance = _chance(part) if is_worse else max(_chance(part), part.here.p)
        part = part._replace(adjusted=min(1.0, chance * len(compared)))
        falls = part.here.value <= -least_change and part.here.p <= PROMISE
        if falls and part.here.value < part.elsewhere.value and part.adjusted <= (PROMISE if is_worse else _ALONE):
            affected.append(part)
    return sorted(affected, key=lambda part: part.here.value)


def _compare(read: ReadFree, before: ReleaseTotals, after: ReleaseTotals, parts: str) -> Iterator[AffectedPart]:
    """Compare each part that has enough of both releases with itself, and the rest with itself."""
    platform = parts == PLATFORMS
    common = parts_of_both(before, after, platform=platform, language=not platform)
    for (key, sides), rest in zip(common.items(), _rests(list(common.values())), strict=True):
        here = _change(read, sides)
        elsewhere = None if here is None else _change(read, rest)
        if here is not None and elsewhere is not None:
            yield AffectedPart(parts, key[0] or key[1], here, elsewhere, 1.0)


def _change(read: ReadFree, sides: _Sides | None) -> Difference | None:
    if sides is None:
        return None
    old, new = sides
    was, became = read(old), read(new)
    return None if was is None or became is None else change(became, was, new.users.overlap(old.users))


def _rests(parts: Sequence[_Sides]) -> list[_Sides | None]:
    """Return for each part all others together; merged from both ends, as there may be many."""
    before: list[_Sides | None] = [None]
    after: list[_Sides | None] = [None]
    for number in range(1, len(parts)):
        before.append(_together(before[-1], parts[number - 1]))
        after.append(_together(after[-1], parts[-number]))
    return [_together(*ends) for ends in zip(before, reversed(after), strict=True)][: len(parts)]


def _together(some: _Sides | None, more: _Sides | None) -> _Sides | None:
    """Return two parts as one, which merges apart from both."""
    if some is None or more is None:
        return more if some is None else some
    merged = tuple(totals.copy() for totals in some)
    for totals, other in zip(merged, more, strict=True):
        totals.merge(other)
    return merged[0], merged[1]


def _chance(part: AffectedPart) -> float:
    """Return how often chance puts so much between a part and the rest."""
    errors = [(delta.high - delta.low) / (2 * Z) for delta in (part.here, part.elsewhere)]
    error = math.hypot(*errors)
    return math.erfc(abs(part.here.value - part.elsewhere.value) / error / math.sqrt(2)) if error else 1.0
