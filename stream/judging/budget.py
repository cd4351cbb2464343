"""The budget: what may be spent, reserved for calls in flight at their greatest price, and given back when they end."""

import math
from collections.abc import Iterable, Mapping

from turnsignal.stream.judging.judges import NANO

#: of money that is counted: more is no amount, and would not fit into what is stored
MOST_MONEY = 2**62
_FADING = 0.9  #: by which an overrun is taken for less, for each call that costs less
_OTHER_DAYS = 8  #: that a clock has shown, of which it is known what was spent


class Overruns:
    """How many times its greatest price a judge's call has cost, for all budgets of a process: an endpoint does it.

    It fades with each call that costs less, as one count may be a mistake.
    """

    __slots__ = ("_times",)

    def __init__(self) -> None:
        self._times: dict[str, float] = {}

    def worst(self, judge: str, most: int) -> int:
        """Return what to reserve for a call of this greatest price: more, where the judge's have cost more before."""
        return min(MOST_MONEY, math.ceil(most * self._times.get(judge, 1.0)))

    def knows(self, judge: str) -> bool:
        """Say whether a call of a judge has cost more than its greatest price."""
        return judge in self._times

    def on_cost(self, judge: str, most: int, cost: int) -> None:
        """Note what a call of this greatest price has cost."""
        if most <= 0:
            return
        times = max(cost / most, _FADING * self._times.get(judge, 1.0))
        if times > 1:
            self._times[judge] = times
        else:
            self._times.pop(judge, None)

    def take(self, times: Mapping[str, float]) -> None:
        """Take in what was noted elsewhere."""
        for judge, more in times.items():
            if more > self._times.get(judge, 1.0):
                self._times[judge] = more

    def dump(self, judges: Iterable[str]) -> dict[str, float]:
        """Return what was noted of some judges."""
        return {judge: self._times[judge] for judge in judges if judge in self._times}


class Budget:
    """Money of a day in billionths of a currency, at most MOST_MONEY.

    limit: None for no limit; spent: so far, when it is made by what was stored; day: to which that counts, in days
    since 1970; others: spent on other days that a clock has shown; reserved: so far.
    """

    __slots__ = ("_since", "_unpaid", "day", "limit", "others", "reserved", "spent")

    def __init__(
        self, limit: int | None, spent: int = 0, day: int = 0, others: Mapping[int, int] | None = None
    ) -> None:
        self.limit = limit
        self.spent = min(MOST_MONEY, spent)
        self.day = day
        self.others = dict(others or {})
        self.reserved = 0
        self._since = 0  # of what was spent, since somebody last looked which day it is
        self._unpaid: dict[str, int] = {}  # judge → the greatest price for which no money was left today

    def look_at(self, day: int) -> bool:
        """Take in which day it is; return whether a new one has begun.

        What was spent since the last look counts for the new day, as the calls may have been sent in it. A clock that
        goes back gives no money anew, nor does one that comes to a day again: what was spent on it still is. One that
        was ahead once must not stop judging until then.
        """
        since, self._since = self._since, 0
        if day == self.day:
            return False
        self._unpaid.clear()
        is_new, known = day > self.day, self.others.pop(day, 0)
        if self.spent:
            self.others[self.day] = self.spent
        for oldest in list(self.others)[:-_OTHER_DAYS]:
            del self.others[oldest]
        self.spent = min(MOST_MONEY, known + since) if is_new else known or self.spent
        self.day = day
        return is_new

    def left(self, day: int) -> int | None:
        """Return what is neither spent nor held back on a day, in billionths; None without a limit."""
        spent = self.spent if day <= self.day else self.others.get(day, 0)
        return None if self.limit is None else max(0, self.limit - spent - self.reserved)

    def to_reserve(self, greatest: int, worst: int) -> int:
        """Return what to reserve for a call of this greatest price. worst: what it may cost by what others have.

        Where by that no call fits at all, one at a time has what is left: else nobody would see that it fits again.
        """
        if self.limit is None or worst <= self.limit:
            return worst
        return greatest if greatest > self.limit else max(greatest, self.limit - self.spent)

    def is_spent_for(self, judge: str, greatest: int, most: int) -> bool:
        """Say whether the money of the day is spent for a judge: this call does not fit, or one before it did not.

        greatest: its greatest price; most: what is reserved for it. Else, when little is left, only short exchanges
        would be judged, and means would lean to them. A call that costs more than a whole day's money stops no other.
        """
        if self.limit is None or self.spent + max(most, self._unpaid.get(judge, 0)) <= self.limit:
            return False
        if most <= self.limit:
            self._unpaid[judge] = max(greatest, self._unpaid.get(judge, 0))
        return True

    def reserve(self, most: int) -> bool:
        """Reserve the greatest price of a call; False where it does not fit and the call must not be made."""
        if self.limit is not None and self.spent + self.reserved + most > self.limit:
            return False
        self.reserved += most
        return True

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
