"""Score layout: where each scorer of a suite stands in a conversation's means and windows."""

from turnsignal.stream.conversations.means import Means, Offsets, mean, offsets
from turnsignal.stream.conversations.windows import WindowLayout
from turnsignal.stream.pipeline.scoring import scorer_names
from turnsignal.stream.pipeline.truth_scoring import TRUTH_SCORERS
from turnsignal.stream.suite import Suite


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
        self._offsets: dict[tuple[str, ...], Offsets] = {}

    def offsets(self, scorers: tuple[str, ...]) -> Offsets:
        """Return where these scorers stand among the means; rows name the same few combinations again and again."""
        known = self._offsets.get(scorers)
        if known is None:
            known = self._offsets[scorers] = offsets([self._position[scorer] for scorer in scorers])
        return known

    def mean(self, means: Means, scorer: str) -> float | None:
        """Return the mean of one scorer; None without observations, and for a scorer that the suite does not have."""
        position = self._position.get(scorer)
        return None if position is None else mean(means, position)
