"""The budget: what may be spent, reserved for calls in flight at their greatest price, and given back when they end."""

import math

from turnsignal.stream.judging.judges import NANO

#: of money that is counted: more is no amount, and would not fit into what is stored
MOST_MONEY = 2**62


class Budget:
    """Money of a day in billionths of a currency, at most MOST_MONEY.

    limit: None for no limit; spent: so far, when it is made by what was stored; reserved: so far.
    """

    __slots__ = ("_overruns", "_since", "limit", "reserved", "spent")

    def __init__(self, limit: int | None, spent: int = 0) -> None:
        self.limit = limit
        self.spent = min(MOST_MONEY, spent)
        self.reserved = 0
        self._overruns: dict[str, float] = {}  # by judge: how many times its greatest price a call has cost
        self._since = 0  # of what was spent, since somebody last looked which day it is

    def look_at(self, *, new_day: bool) -> None:
        """Take in that somebody looks which day it is, and whether a new one has begun.

        What was spent since the last look counts for the new day, as the calls may have been sent in it.
        """
        if new_day:
            self.spent = self._since
        self._since = 0

    def reserve(self, most: int) -> bool:
        """Reserve the greatest price of a call; False where it does not fit and the call must not be made."""
        if self.limit is not None and self.spent + self.reserved + most > self.limit:
            return False
        self.reserved += most
        return True

    def worst(self, judge: str, most: int) -> int:
        """Return what to reserve for a call of this greatest price: more, where the judge's have cost more before."""
        return min(MOST_MONEY, math.ceil(most * self._overruns.get(judge, 1.0)))

    def on_overrun(self, judge: str, most: int, cost: int) -> None:
        """Note that a call of this greatest price has cost so much."""
        if most > 0:
            self._overruns[judge] = max(self._overruns.get(judge, 1.0), cost / most)

    def why_full(self, most: int) -> str:
        """Say why no money is left for a call of this greatest price."""
        limit = self.limit or 0
        if most <= limit:
            return "the money of the day is spent"
        return (
            f"a partition's part of the day's budget, {limit / NANO:g}, is less than this call can cost at most, "
            f"{most / NANO:g}: raise judging.budget, or lower max_output, max_input or attempts of the judge"
        )

    def settle(self, most: int, cost: int) -> None:
        """Put the real cost in the place of what was reserved for it, also where it is more."""
        self.reserved -= most
        self.spend(cost)

    def spend(self, cost: int) -> None:
        """Count what was spent."""
        self.spent = min(MOST_MONEY, self.spent + cost)
        self._since = min(MOST_MONEY, self._since + cost)


def partition_budget(budget: int | None, partitions: int) -> int | None:
    """Return one partition's equal part of a day's budget; what cannot be divided is not spent."""
    return None if budget is None else budget // partitions
