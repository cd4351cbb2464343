"""Evidence: bets against there being no change, whose winnings add up.

At every observation a unit is put down anew on each of six bets, and each bet's fortune is multiplied by what it wins
or loses: a sum of e-processes (Shiryaev and Roberts), whose mean is at most the number of observations where nothing
has changed. So a threshold of A observations is crossed by chance once in A observations at most, however the values
are distributed, and no size of a change has to be foreseen. After Shin, Ramdas and Rinaldo, "E-detectors: a
nonparametric framework for sequential change detection" (The New England Journal of Statistics in Data Science, 2023).

    >>> evidence, opened = Evidence(), None
    >>> for number, value in enumerate([0.8, 0.7, 0.9, 0.8] * 200 + [0.6, 0.5, 0.7, 0.6] * 50):
    ...     lower = 0.8 - value  # a payoff: how much lower than usual
    ...     said = evidence.add(lower, -0.2, time=float(number), deviation=lower, earlier=0.0, conversation_id="c")
    ...     if opened is None and said >= threshold(per_day=1_000, days=30):
    ...         opened = number
    >>> opened, evidence.onset().since
    (817, 799.0)
"""

import math

import msgspec

#: Parts of a fortune that the bets put down. The last one is more than there is, where no payoff can cost as much: a
#: check that nearly every answer passes loses next to nothing with each pass, and wins much with a failure.
STAKES = (0.05, 0.1, 0.2, 0.4, 0.9, 3.0)
LEAST_THRESHOLD = 20_000.0  #: observations
#: Standard errors on either side of a change. It is told as soon as the evidence suffices, when chance has helped it:
#: 1.96 hold the truth in 86 to 92 % of simulated drops, 3 in 92 to 100 (0.05 to 0.2, scores and binaries).
_REACH = 3.0
_AS_WELL = 4.0  # twice the log-likelihood by which one beginning of a change is no better than another
SHOWN = 5  #: conversations that a change is shown by
LONGEST_ID = 200  #: characters of a conversation's id

#: More than payoffs have to be for a change to have begun, from the least on: else chance would date it too early. One
#: that is half of a change dates that best (Page's CUSUM).
LEAST, LARGE, LARGEST = 0.015, 0.06, 0.2
_A, _B, _C, _D, _E, _F = STAKES
AT_RISK = 0.9  # of a fortune, that one payoff can cost
HARMLESS = -AT_RISK / _F  # payoffs that cannot cost more, whatever is put down


class Onset(msgspec.Struct, array_like=True, gc=False):
    """When a change began, if it is a large one, and what came since.

    run: sum of payoffs, less a slack, since it last stood at its lowest; since: stream time of the first one then; the
    rest is as in `Evidence`.
    """

    run: float = 0.0
    since: float = 0.0
    n: float = 0.0
    total: float = 0.0
    squares: float = 0.0
    pairs: float = 0.0

    def add(self, gain: float, time: float, deviation: float, earlier: float) -> None:
        """Take in a deviation; gain: its payoff, less the slack."""
        self.run += gain
        if self.run > 0.0:
            if not self.n:
                self.since = time
            self.n += 1.0
            self.total += deviation
            self.squares += deviation * deviation
            self.pairs += earlier
        else:
            self.run = self.n = self.total = self.squares = self.pairs = 0.0

    def explained(self) -> float:
        """Return how much a change of the mean explains of the squares of what came since."""
        return self.total * self.total / max(self.n, 1.0)

    def variance(self, correlation: float) -> float:
        """Return the variance of what came since, as if values of a conversation were independent."""
        mean = self.total / self.n
        spread = (self.squares / self.n - mean * mean) * (1.0 + 2.0 * correlation * self.pairs / self.n)
        return max(spread, 0.25 / self.n)

    def bounds(self, correlation: float, longest: float) -> tuple[float, float]:
        """Return bounds of the mean since then: 95 %, where one looks as soon as the evidence suffices.

        longest: values since the change may have begun at the earliest, among which these were chosen.
        """
        chosen = 2.0 * math.log(max(longest / self.n, 1.0))
        reach = math.sqrt((_REACH * _REACH + chosen) * self.variance(correlation) / self.n)
        return max(self.total / self.n - reach, -1.0), min(self.total / self.n + reach, 1.0)


class Evidence(msgspec.Struct, array_like=True, gc=False):
    """What speaks for a change in one direction.

    fortunes: of the bets; run: sum of payoffs, less a slack, since it last stood at its lowest; since: stream time of
    that, which is where the change most likely began, 0 before any payoff; n, total, squares, pairs: since then, how
    many deviations, their sum and sum of squares, and how many earlier ones of their conversations they had beside
    them; shown: the newest conversations that are off by half the mean or more, with deviations; larger: the same of
    larger changes, with more slack; first: stream time of the first payoff, before which nothing was watched, 0 in what
    older versions stored: where a change was under way by then, they knew no `since`.
    """

    fortunes: list[float] = msgspec.field(default_factory=lambda: [0.0] * len(STAKES))
    run: float = 0.0
    since: float = 0.0
    n: float = 0.0
    total: float = 0.0
    squares: float = 0.0
    pairs: float = 0.0
    shown: list[tuple[float, str]] = []
    larger: list[Onset] = msgspec.field(default_factory=lambda: [Onset() for _ in range(2)])
    first: float = 0.0

    def add(
        self, payoff: float, least: float, time: float, deviation: float, earlier: float, conversation_id: str
    ) -> float:
        """Take in a payoff, −1 or more, that is expected to be 0 or less without a change; return the evidence.

        least: what the payoff could have been at the least, as it was known before the value came; time: of the stream;
        deviation: how much the value is off in this direction; earlier: values of its conversation.
        """
        a, b, c, d, e, f = self.fortunes
        a = (a + 1.0) * (1.0 + _A * payoff)
        b = (b + 1.0) * (1.0 + _B * payoff)
        c = (c + 1.0) * (1.0 + _C * payoff)
        d = (d + 1.0) * (1.0 + _D * payoff)
        e = (e + 1.0) * (1.0 + _E * payoff)
        f = (f + 1.0) * (1.0 + (_F if least >= HARMLESS else AT_RISK / -least) * payoff)
        self.fortunes = [a, b, c, d, e, f]
        if not self.since and not self.n:
            self.since = self.first = time
        large, largest = self.larger
        if large.n or payoff > LARGE:
            large.add(payoff - LARGE, time, deviation, earlier)
        if largest.n or payoff > LARGEST:
            largest.add(payoff - LARGEST, time, deviation, earlier)
        run = self.run + payoff - LEAST
        if run <= 0.0:
            if self.n:
                self.run = self.n = self.total = self.squares = self.pairs = 0.0
                self.shown = []
            self.since = time
        else:
            self.run = run
            self.n += 1.0
            self.total += deviation
            self.squares += deviation * deviation
            self.pairs += earlier
            if deviation > 0.0 and 2.0 * deviation * self.n >= self.total:
                self._show(deviation, conversation_id)
        return (a + b + c + d + e + f) / 6.0

    def onset(self) -> Onset:
        """Return when the change most likely began, and what came since."""
        return self._by_likelihood()[0][1]

    def change(self, correlation: float) -> tuple[float, float, float]:
        """Return how much values have changed since it began, with bounds (95 %); correlation: within a conversation.

        The bounds hold those of every other time at which it may as well have begun.
        """
        (most, best), *others = self._by_likelihood()
        if best.n < 2.0:
            return 0.0, -1.0, 1.0
        as_good = [best, *(onset for likelihood, onset in others if onset.n >= 2.0 and likelihood >= most - _AS_WELL)]
        lows, highs = zip(*(onset.bounds(correlation, self.n) for onset in as_good), strict=True)
        return best.total / best.n, min(lows), max(highs)

    def _by_likelihood(self) -> list[tuple[float, Onset]]:
        """Return the times at which the change may have begun, by twice their log-likelihood, the likeliest first.

        Of many values some stand together by chance: a short run could have been anywhere among them, and pays for that
        (Dümbgen and Spokoiny, "Multiscale testing of qualitative hypotheses", The Annals of Statistics, 2001).
        """
        longest = Onset(self.run, self.since, self.n, self.total, self.squares, self.pairs)  # as it has the least slack
        spread = longest.variance(0.0) if longest.n else 1.0
        weighed = [
            (onset.explained() / spread - 2.0 * math.log(longest.n / onset.n) if onset.n else -math.inf, onset)
            for onset in (longest, *self.larger)
        ]
        return sorted(weighed, key=lambda known: -known[0])

    def _show(self, deviation: float, conversation_id: str) -> None:
        """Keep a conversation, each once; the newest are of the change most surely: the worst may be from before it."""
        if len(conversation_id) <= LONGEST_ID:
            kept = [known for known in self.shown if known[1] != conversation_id]
            self.shown = [*kept, (deviation, conversation_id)][-SHOWN:]

    def conversations(self) -> list[str]:
        """Return the conversations that it is shown by, the worst first."""
        return [name for _, name in sorted(self.shown, key=lambda known: -known[0])]

    def value(self) -> float:
        """Return the evidence."""
        return sum(self.fortunes) / len(STAKES)


def threshold(per_day: float, days: float, series: int = 1) -> float:
    """Return the evidence at which an alarm opens: at most one is false in so many days, over all series together."""
    return max(per_day * days * series, LEAST_THRESHOLD)
