"""Pacing: which part of the questions of each hour is asked, when a day's budget pays for a third of them.

    python tests/bench/pacing.py [QUESTIONS A DAY] [PARTITIONS]

Three days through real dockets, over traffic that is nine times as dense in the evening as at night; the third day has
half as many questions as the second, as a Sunday has. The first day knows no hours of the days before.
"""

import math
import operator
import random
import sys
from collections.abc import Sequence
from functools import reduce
from typing import NamedTuple

from turnsignal.stream.judging.docket import Docket
from turnsignal.stream.judging.docket_entries import QueuedExchange
from turnsignal.stream.judging.exchanges import ExchangeRecord
from turnsignal.stream.judging.inquiry import Judgement
from turnsignal.stream.judging.judges import Judge, JudgePart, PricePart
from turnsignal.stream.judging.rubric_files import choose_rubric
from turnsignal.stream.judging.verdicts import make_verdict
from turnsignal.stream.records.verdicts import Unjudged

DAY, HOUR = 86_400, 3_600
BEGIN = 20_000 * DAY
PRICE = 1_000_000  #: of a call on average, in billionths
PAID_FOR = 1 / 3
SIZES = (1.0, 1.0, 0.5)  #: of the days


class PacedDay(NamedTuple):
    """What came of a day: questions that were asked and that came in each hour; money spent, of what there was."""

    asked: list[int]
    came: list[int]
    spent: float
    over: int

    @property
    def hours(self) -> list[float]:
        """The part of the questions of each hour that was asked."""
        return [asked / came for asked, came in zip(self.asked, self.came, strict=True)]

    @property
    def off(self) -> float:
        """How far the hour that differs most is from the mean of the hours."""
        mean = sum(self.hours) / len(self.hours)
        return max(abs(hour / mean - 1) for hour in self.hours)

    def __add__(self, other: "PacedDay") -> "PacedDay":  # type: ignore[override]
        """Put the same day of two partitions together."""
        asked, came = ([a + b for a, b in zip(*pair, strict=True)] for pair in zip(self[:2], other[:2], strict=True))
        return PacedDay(asked, came, self.spent + other.spent, self.over + other.over)


def busy(second: float) -> float:
    """Return how dense traffic is at a time of the day: least at 4, most at 20 o'clock, with a hollow at noon."""
    hour = second % DAY / HOUR
    return 1 + 0.8 * math.sin((hour - 12) / 24 * 2 * math.pi - math.pi / 6) - 0.15 * math.exp(-((hour - 12) ** 2))


def arrivals(a_day: int, sizes: Sequence[float], seed: int) -> list[float]:
    """Return when questions come, in seconds from the beginning."""
    rng = random.Random(seed)
    times = []
    for number, size in enumerate(sizes):
        left = round(a_day * size)
        while left:
            second = rng.random() * DAY
            if rng.random() * 1.95 < busy(second):
                times.append(number * DAY + second)
                left -= 1
    return sorted(times)


def paced_days(a_day: int, sizes: Sequence[float] = SIZES, seed: int = 1, calls_for: float = 4.0) -> list[PacedDay]:
    """Send days of questions through a docket, which answers each call before the next question comes.

    calls_for: how many times the usual price is held back for a call.
    """
    part = JudgePart(rubric="task_utility", model="m", name="m", attempts=1)
    judge = Judge(part, choose_rubric("task_utility"), "openai", "m", PricePart(input=0.0, output=calls_for * 0.49))
    docket = Docket([judge], round(a_day * PRICE * PAID_FOR), 1e9)
    rng = random.Random(seed)
    seen = [[0] * 24 for _ in sizes]
    asked = [[0] * 24 for _ in sizes]
    spent, over = [0] * len(sizes), [0] * len(sizes)
    for offset, second in enumerate(arrivals(a_day, sizes, seed)):
        now, day, hour = BEGIN + second, int(second // DAY), int(second % DAY // HOUR)
        docket.reserve_calls(now, {})
        docket.take([QueuedExchange(offset, _exchange(offset), now, 500)])
        docket.reserve_calls(now, {"openai": 8})
        batch = docket.prepare()
        for call in batch.calls:
            price = round(PRICE * rng.uniform(0.2, 1.8))
            spent[day] += price
            docket.settle(call, make_verdict(call.exchange, call.judge, Judgement("served", 1.0)), price)
        seen[day][hour] += 1
        asked[day][hour] += len(batch.calls)
        over[day] += sum(verdict.unscored is Unjudged.BUDGET for verdict in batch.verdicts)
    money = a_day * PRICE * PAID_FOR
    return [PacedDay(asked[day], seen[day], spent[day] / money, over[day]) for day in range(len(sizes))]


def _exchange(number: int) -> ExchangeRecord:
    about = {"prompt": "Where is it?", "response": f"Answer {number}.", "row": f"row-{number}", "suite": "f00"}
    return ExchangeRecord(2, f"c{number}", "a", "response", "shop", 0.0, 1.0, **about)  # type: ignore[arg-type]


def main(arguments: Sequence[str]) -> None:
    """Print the days."""
    a_day, partitions = ([int(each) for each in arguments] + [30_000, 1][len(arguments) :])[:2]
    each = [paced_days(a_day, seed=seed) for seed in range(1, partitions + 1)]
    print(f"{a_day:,} questions a day in each of {partitions} partitions; the budget pays for {PAID_FOR:.0%}")
    for number, days in enumerate(zip(*each, strict=True), 1):
        whole = reduce(operator.add, days)
        spent = whole.spent / partitions
        print(f"day {number}: furthest hour {whole.off:.0%} off the mean, spent {spent:.1%}, {whole.over} over budget")
        print("  " + " ".join(f"{hour:.2f}" for hour in whole.hours))


if __name__ == "__main__":
    main(sys.argv[1:])
