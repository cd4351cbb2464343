"""Pacing: the part of the eligible questions that a day's budget pays for, spread over the day and not spent by noon.

How many questions are still to come is read from the hours of the days before, scaled by how busy today is; what one
costs, from those that were decided. The part is one number for all judges, by which their shares are multiplied, so
what is asked about is still the beginning of one order of conversations.
"""

from collections.abc import Sequence

DAY, HOUR, HOURS = 86_400, 3_600, 24
_PLANNED = 0.97  #: of the budget; the rest is for hours that are busier than expected
_BEYOND = 0.05  #: of a day, by which its end is put off: the last minutes would otherwise try to mend the whole day
_ENOUGH = 20  #: decided questions from which on it is known what one costs
_AS_USUAL = 50  #: questions that are added to those that came and to those that were expected
_SHORTEST = 600.0  #: seconds of which at least a rate is taken
_FADING = 0.75  #: what an hour counts an hour later, for how busy today is
#: Least part as long as no hour is known: a queue of hours that is read in minutes looks like a rate that goes on all
#: day, and a verdict that stands for a thousand exchanges tells nothing of them.
_FIRST_HOUR = 0.02
_UNKNOWN = -1.0  #: an hour that was not seen yet


class BudgetPacer:
    """Say which part of the eligible questions may be asked. part: 0–1, 1 as long as nothing is known.

    budget: of a day, in billionths, None for no limit; state: what `dump` gave. Nothing here is promised: the budget
    holds the ceiling.
    """

    def __init__(self, budget: int | None, state: Sequence[float] = ()) -> None:
        self._budget = budget
        self.part = 1.0
        self._hours = [_UNKNOWN] * HOURS  # questions in each hour of a day, by the days before
        self._hour = self._since = 0.0  # the hour that is counted, since 1970, and from when on, in seconds
        self._count = self._seen = self._expected = self._cost = self._decided = 0.0
        self._counted = (_UNKNOWN, _UNKNOWN)  # questions that came and were decided at the last update
        if len(state) == HOURS + 8:
            self._hours = list(state[:HOURS])
            self.part, self._hour, self._since, self._count = state[HOURS : HOURS + 4]
            self._seen, self._expected, self._cost, self._decided = state[HOURS + 4 :]

    def dump(self) -> list[float]:
        """Return what another pacer goes on with; empty without a budget."""
        if self._budget is None:
            return []
        rest = (self.part, self._hour, self._since, self._count, self._seen, self._expected, self._cost, self._decided)
        return [*self._hours, *rest]

    def on_eligible(self) -> None:
        """Count a question that would be asked if there were no budget."""
        self._count += 1

    def on_decided(self, cost: int) -> None:
        """Count a question that was let through, and what it cost in billionths: 0 where nobody had to be asked."""
        self._cost += cost
        self._decided += 1

    def update(self, now: float, spent: int, pending: int) -> None:
        """Set the part anew. now: seconds since 1970; spent: today, in billionths; pending: let through, undecided."""
        if self._budget is None:
            return
        self._turn_hour(now)
        counted = self._count, self._decided
        if counted == self._counted or self._decided < _ENOUGH or self._cost <= 0:
            return  # the state of a partition where nothing happens stays what it is
        self._counted = counted
        each = self._cost / self._decided
        money = _PLANNED * self._budget - spent - pending * each + _BEYOND * self._budget
        to_come, whole = self._forecast(now)
        questions = to_come + _BEYOND * whole
        least = _FIRST_HOUR if all(count == _UNKNOWN for count in self._hours) else 0.0
        self.part = round(min(1.0, max(least, money / (each * questions))), 4) if questions > 0 else 1.0

    def _turn_hour(self, now: float) -> None:
        hour = float(now // HOUR)
        if hour < self._hour - HOURS:  # the clock was ahead once
            self._hour, self._since, self._count = hour, now, 0.0
        if hour <= self._hour:
            return  # also of a clock that was set back
        if self._hour:
            end = (self._hour + 1) * HOUR
            seen = (end - self._since) / HOUR
            if seen >= 0.5:
                self._learn(int(self._hour % HOURS), self._count / seen)
            if hour // HOURS > self._hour // HOURS:
                self._cost, self._decided = self._cost / 2, self._decided / 2
        self._since = now if hour > self._hour + 1 or not self._hour else hour * HOUR
        self._hour, self._count = hour, 0.0

    def _learn(self, which: int, count: float) -> None:
        before = self._hours[which]
        if before != _UNKNOWN:
            self._seen, self._expected = _FADING * self._seen + count, _FADING * self._expected + before
        self._hours[which] = count if before == _UNKNOWN else (before + count) / 2

    def _forecast(self, now: float) -> tuple[float, float]:
        """Return how many questions are still to come today, and how many a whole day like it has."""
        known = [count for count in self._hours if count != _UNKNOWN]
        which, left = int(self._hour % HOURS), 1 - (now - self._hour * HOUR) / HOUR
        rate = self._count / max(_SHORTEST, now - self._since) * HOUR
        usual = sum(known) / len(known) if known else rate
        hours = [usual if count == _UNKNOWN else count for count in self._hours]
        if self._hours[which] == _UNKNOWN:
            hours[which] = rate if now - self._since >= _SHORTEST else usual
        # A few questions as usual are added to both, so that the first ones after midnight do not say much.
        busy = (self._seen + self._count + _AS_USUAL) / (self._expected + hours[which] * (1 - left) + _AS_USUAL)
        if not known:
            busy = 1.0
        return busy * (left * hours[which] + sum(hours[which + 1 :])), busy * sum(hours)
