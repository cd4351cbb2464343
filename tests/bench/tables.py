"""Tables: rows of a run as medians and ratios in Markdown, each target with its mark.

A ratio is taken within a round and then the median over the rounds: two numbers of different minutes on a shared
machine say nothing about each other.
"""

from collections.abc import Callable, Iterable, Sequence
from statistics import median
from typing import NamedTuple

from session import Row


class Target(NamedTuple):
    """What was promised: a sentence, what came, the limit, and whether more or less is wanted."""

    what: str
    value: float | None
    limit: float
    at_most: bool = True
    unit: str = "×"

    @property
    def mark(self) -> str:
        """Say whether it holds."""
        if self.value is None:
            return "not measured"
        holds = self.value <= self.limit if self.at_most else self.value >= self.limit
        return "pass" if holds else "**miss**"

    def cells(self) -> list[str]:
        """Return the row of the table of targets."""
        value = "–" if self.value is None else f"{self.value:.2f}{self.unit}"
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

    def spread(self, variant: str, field: str) -> tuple[float, float]:
        """Return the smallest and the largest of a number over the rounds."""
        values = [row[field] for row in self._rows[variant].values() if row.get(field) is not None]
        return min(values), max(values)

    def compare(self, of: str, to: str, how: Callable[[Row, Row], float | None]) -> float | None:
        """Return the median over the rounds of what `how` makes of two variants' rows of the same round."""
        mine, theirs = self._rows.get(of, {}), self._rows.get(to, {})
        values = [how(mine[round_], theirs[round_]) for round_ in mine.keys() & theirs.keys()]
        found = [value for value in values if value is not None]
        return median(found) if found else None

    def ratio(self, of: str, to: str, field: str = "us") -> float | None:
        """Return how many times `to`'s number `of`'s is."""
        return self.compare(of, to, lambda a, b: a[field] / b[field] if b.get(field) else None)

    def share_ratio(self, of: str, to: str, floor: str, field: str = "us") -> float | None:
        """Return the ratio of what two variants cost beyond a third one's number."""
        floors = self._rows.get(floor, {})

        def shares(a: Row, b: Row) -> float | None:
            base = floors.get(a["round"])
            if base is None or b[field] <= base[field]:
                return None
            return float((a[field] - base[field]) / (b[field] - base[field]))

        return self.compare(of, to, shares)


def number(value: float | None, digits: int = 1) -> str:
    """Show a number, or a dash for none."""
    return "–" if value is None else f"{value:,.{digits}f}"
