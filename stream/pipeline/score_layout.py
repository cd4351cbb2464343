"""Score layout: where each scorer of a suite stands in a conversation's means and windows."""

from collections.abc import Callable
from functools import partial
from operator import itemgetter

from turnsignal.stream.conversations.means import Means, mean, widen
from turnsignal.stream.conversations.windows import WindowLayout
from turnsignal.stream.pipeline.scoring import scorer_names
from turnsignal.stream.pipeline.truth_scoring import TRUTH_SCORERS
from turnsignal.stream.suite import Suite

Pick = Callable[[Means], tuple[int | float, ...]]


class ScoreLayout:
    """The scorers of one suite in the order of a row, and where their counts stand among the means.

    scorers: their names, those of turns with truth last; windows: the sizes of the windows, and of how many scorers
    they hold means. Means are longer from the first value of truth on: whoever has no labels carries none.
    """

    def __init__(self, suite: Suite) -> None:
        self.scorers = scorer_names(suite)
        self._usual = 2 * (len(self.scorers) - len(TRUTH_SCORERS))
        self.windows = WindowLayout(suite.window_specs, self._usual // 2)
        self._position = {scorer: 2 * index for index, scorer in enumerate(self.scorers)}
        self._positions: dict[tuple[str, ...], tuple[tuple[int, ...], Pick]] = {}

    def positions(self, scorers: tuple[str, ...]) -> tuple[tuple[int, ...], Pick]:
        """Return where each of these scorers stands, and what takes their counts and sums out of the means.

        Rows name the same few combinations again and again.
        """
        known = self._positions.get(scorers)
        if known is None:
            positions = tuple([self._position[scorer] for scorer in scorers])
            pick: Pick = itemgetter(*[at for position in positions for at in (position, position + 1)])
            if positions[-1] >= self._usual:
                pick = partial(_pick_widened, pick, positions[-1] + 2)
            known = self._positions[scorers] = (positions, pick)
        return known

    def mean(self, means: Means, scorer: str) -> float | None:
        """Return the mean of one scorer; None without observations, and for a scorer that the suite does not have."""
        position = self._position.get(scorer)
        return None if position is None else mean(means, position)


def _pick_widened(pick: Pick, size: int, means: Means) -> tuple[int | float, ...]:
    return pick(widen(list(means), size))
