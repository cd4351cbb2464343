"""Release guard: assistants and versions from the traffic as labels, with "other" for those without a place.

Both come from strangers. An assistant passes a guard of its own, a version another, and both together need one of the
places of the page. Drills have their own places at each step: whoever tries his alerts takes nothing from what is
served, and is not kept waiting by it.
"""

from collections import Counter
from typing import NamedTuple

from turnsignal.stream.pipeline.bounded_labels import NONE, OTHER, LabelGuard
from turnsignal.stream.pipeline.release_labels import MAX_SEEN, Labels, ReleaseLabels, is_drill

MAX_DRILLS = 4  #: whose names are labels at a time, beside the assistants'


class Evicted(NamedTuple):
    """What lost its place: whole releases, and assistants and versions with all that they have."""

    releases: set[Labels]
    assistants: set[str]
    versions: set[str]


class ReleaseGuard:
    """Give assistants, and releases of assistants, as labels. limit: releases that have places, beside drills'."""

    def __init__(self, limit: int) -> None:
        self._assistants = LabelGuard()
        self._drills = LabelGuard(MAX_DRILLS)
        self._versions = LabelGuard(MAX_SEEN)  # how many are shown is for the releases to say
        self._releases = ReleaseLabels(limit)
        self._refused = 0

    @property
    def overflow(self) -> Counter[str]:
        """How often an assistant, a version or the two together were refused."""
        assistants = self._assistants.overflow + self._drills.overflow
        return Counter(assistant=assistants, version=self._versions.overflow, release=self._refused)

    def admit_assistant(self, word: str, now: float) -> str:
        """Give the label of an assistant; now: as `BoundedLabels.admit` has it."""
        return (self._drills if is_drill(word) else self._assistants).admit(word, now)

    def admit(self, assistant: str, version: str | None, now: float, *, opening: bool = False) -> Labels:
        """Give assistant and version as labels; where there is no room for both, the version becomes "other" first.

        opening: turns before an assistant's first answer, of no version yet: counters of roles alone, which take no
        place, or every assistant would have one for them.
        """
        whole = (self.admit_assistant(assistant, now), self._versions.admit(version, now))
        if opening and whole[1] == NONE and whole not in self._releases:
            return whole
        for release in (whole, (whole[0], OTHER)):
            if self._releases.admit(release, now):
                break
        else:
            release = (OTHER, OTHER)
        self._refused += release != whole
        return release

    def drop(self, release: Labels) -> None:
        """Take the place of a release away now."""
        self._releases.drop(release)

    def take_evicted(self) -> Evicted:
        """Name what lost its place since the last call, so that its series can be removed."""
        assistants = {*self._assistants.take_evicted(), *self._drills.take_evicted()}
        return Evicted(set(self._releases.take_evicted()), assistants, set(self._versions.take_evicted()))
