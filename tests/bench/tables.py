"""Tables: rows of a run as medians and ratios in Markdown, each target with its mark.

A ratio is taken within a round and then the median over the rounds: two numbers of different minutes on a shared
machine say nothing about each other. Beside a median stands the interval that holds the true one in 19 of 20 runs: from
the k-th smallest to the k-th largest round, by the binomial distribution. Fewer than six rounds have none.
"""

from collections.abc import Callable, Iterable, Sequence
from math import comb, inf
from statistics import median
from typing import NamedTuple

from session import Row

_COVERED = 0.95  #: of the intervals hold the true median


class Measured(NamedTuple):
    """A median over the rounds, with its interval: without bounds where there are too few rounds for one."""

    value: float
    low: float = -inf
    high: float = inf

    @classmethod
    def of(cls, values: Sequence[float]) -> "Measured | None":
        """Take the median of one value per round, None without any.

        >>> Measured.of([3.0, 1.0, 2.0])
        Measured(value=2.0, low=-inf, high=inf)
        >>> Measured.of([7.0, 3.0, 1.0, 2.0, 4.0, 6.0, 5.0])
        Measured(value=4.0, low=1.0, high=7.0)
        """
        if not values:
            return None
        ordered, count = sorted(values), len(values)
        outside, cut = 2 / 2**count, 0
        if outside > 1 - _COVERED:
            return cls(median(ordered))
        while outside + 2 * comb(count, cut + 1) / 2**count <= 1 - _COVERED:
            cut += 1
            outside += 2 * comb(count, cut) / 2**count
        return cls(median(ordered), ordered[cut], ordered[-1 - cut])

    @classmethod
    def over(cls, values: Sequence[float]) -> "Measured":
        """Take the median of one value per round, of which there is one at least."""
        measured = cls.of(values)
        assert measured is not None, "there is a round"
        return measured

    def show(self, digits: int = 2, unit: str = "") -> str:
        """Write the median, and the interval if there is one."""
        interval = "" if self.high == inf and self.low == -inf else f" ({self.low:.{digits}f}–{self.high:.{digits}f})"
        return f"{self.value:,.{digits}f}{unit}{interval}"


class Target(NamedTuple):
    """What was promised: a sentence, what came, the limit, and whether more or less is wanted."""

    what: str
    value: Measured | None
    limit: float
    at_most: bool = True
    unit: str = "×"

    @property
    def mark(self) -> str:
        """Say whether it holds: only where all of the interval says the same."""
        if self.value is None:
            return "not measured"
        best, worst = (self.value.low, self.value.high) if self.at_most else (-self.value.high, -self.value.low)
        limit = self.limit if self.at_most else -self.limit
        return "pass" if worst <= limit else "**miss**" if best > limit else "not resolved"

    def cells(self) -> list[str]:
        """Return the row of the table of targets."""
        value = "–" if self.value is None else self.value.show(unit=self.unit)
        return [self.what, value, f"{'≤' if self.at_most else '≥'} {self.limit:g}{self.unit}", self.mark]


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Write a Markdown table; all columns but the first to the right."""
    lines = ["| " + " | ".join(head) + " |", "|" + "|".join(["---", *["---:"] * (len(head) - 1)]) + "|"]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join(lines)


def target_table(targets: Iterable[Target]) -> str:
    """Write the targets with their marks."""
    return table(["target", "measured", "limit", ""], (target.cells() for target in targets))


class Rounds:
    """The rows of one section, by variant and round."""

    def __init__(self, rows: Iterable[Row], section: str) -> None:
        self._rows: dict[str, dict[int, Row]] = {}
        for row in rows:
            if row["section"] == section:
                self._rows.setdefault(row["variant"], {})[row["round"]] = row

    def __bool__(self) -> bool:
        return bool(self._rows)

    @property
    def variants(self) -> list[str]:
        """Return the variants in the order they first ran."""
        return list(self._rows)

    def median(self, variant: str, field: str) -> float | None:
        """Return the median of a number over the rounds; None when it was not measured."""
        values = [row[field] for row in self._rows.get(variant, {}).values() if row.get(field) is not None]
        return median(values) if values else None

    def by_round(self, variant: str, field: str) -> dict[int, float]:
        """Return a number of a variant, by round."""
        return {round_: float(row[field]) for round_, row in self._rows.get(variant, {}).items()}

    def spread(self, variant: str, field: str) -> tuple[float, float]:
        """Return the smallest and the largest of a number over the rounds."""
        values = [row[field] for row in self._rows[variant].values() if row.get(field) is not None]
        return min(values), max(values)

    def compare(self, of: str, to: str, how: Callable[[Row, Row], float | None]) -> Measured | None:
        """Measure what `how` makes of two variants' rows of the same round."""
        mine, theirs = self._rows.get(of, {}), self._rows.get(to, {})
        values = [how(mine[round_], theirs[round_]) for round_ in mine.keys() & theirs.keys()]
        return Measured.of([value for value in values if value is not None])

    def measured(self, variant: str, how: Callable[[Row], float | None]) -> Measured | None:
        """Measure what `how` makes of a variant's rows."""
        return self.compare(variant, variant, lambda row, _: how(row))

    def ratio(self, of: str, to: str, field: str = "cpu_us") -> Measured | None:
        """Measure how many times `to`'s number `of`'s is."""
        return self.compare(of, to, lambda a, b: a[field] / b[field] if b.get(field) and field in a else None)

    def share_ratio(self, of: str, to: str, floor: str, field: str = "cpu_us") -> Measured | None:
        """Measure the ratio of what two variants cost beyond a third one's number."""
        floors = self._rows.get(floor, {})

        def shares(a: Row, b: Row) -> float | None:
            base = floors.get(a["round"])
            if base is None:
                return None
            mine, theirs = a[field] - base[field], b[field] - base[field]
            return float(mine / theirs) if theirs > 0 else inf  # a round that noise has turned round is no good one

        return self.compare(of, to, shares)


def number(value: float | Measured | None, digits: int = 1) -> str:
    """Show a number, or the middle of a measured one; a dash for none."""
    if isinstance(value, Measured):
        value = value.value
    return "–" if value is None else f"{value:,.{digits}f}"
