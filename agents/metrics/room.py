"""Room: how many releases a page of metrics has room for, worked out from what one can have at most."""

from typing import NamedTuple

from turnsignal.agents.metrics.families import FAMILIES
from turnsignal.stream.pipeline.bounded_labels import MAX_VALUES
from turnsignal.stream.pipeline.metric_deltas import RELEASE
from turnsignal.stream.pipeline.metric_family import SCORE
from turnsignal.stream.pipeline.release_guard import MAX_DRILLS
from turnsignal.stream.pipeline.release_labels import MAX_DRILLED
from turnsignal.stream.records.environments import ENVIRONMENTS

_WITHOUT_RELEASE = 600  #: series kept free for those without assistant and version: topics, partitions, tables
_PER_SCORER = 2  #: series that a scorer has once, whatever is released; the few budgets are among those without
_ASSISTANTS = MAX_VALUES + MAX_DRILLS + 2  #: that are labels at a time, with "none" and "other"


class Room(NamedTuple):
    """What fills the page of an app. scorers, checks, judged: how many there are; judged: scorers that are judges.

    With the built-in suite a release has 552 series of a score worker at most, of which 285 are its scores.

    >>> Room(scorers=19, checks=8).per_release
    552
    """

    scorers: int
    checks: int
    judged: int = 0
    app: str = SCORE

    @property
    def per_release(self) -> int:
        """How many series one release can have at most."""
        return self._count("version", {"scorer": self.scorers, "check": self.checks, "judged": self.judged})

    @property
    def shared(self) -> int:
        """How many series there are beside those of releases, at most.

        Turns before an assistant's first answer have no version.
        """
        opening = FAMILIES["turns_total"].count_series({}) if self.app == SCORE else 0
        assistants = _ASSISTANTS * (self._count("assistant", {"scorer": self.scorers}) + opening)
        return _WITHOUT_RELEASE + _PER_SCORER * self.scorers + self.of_environments + assistants

    @property
    def of_environments(self) -> int:
        """How many series the environments beside the one that counts have at most.

        They have no release, or there would be as many again as of production for each; rows have it.
        """
        return self._count("environment", {"scorer": self.scorers + 1, "environment": len(ENVIRONMENTS) - 1})

    def count_releases(self, max_series: int) -> int:
        """Return how many releases a page of so many series tells apart, beside those of drills and "other"; 1 or more.

        >>> Room(scorers=19, checks=8).count_releases(17_500)
        25
        """
        return max(1, (max_series - self.shared) // max(1, self.per_release) - MAX_DRILLED - 1)

    def _count(self, label: str, sizes: dict[str, int]) -> int:
        """Return how many series the families have that have this label and, but for "version", no release."""
        families = (family for family in FAMILIES.values() if self.app in (family.apps or (self.app,)))
        return sum(
            family.count_series(sizes)
            for family in families
            if label in family.labels and (family.labels[:2] == RELEASE) == (label == "version")
        )
