"""Release labels: which releases are told apart on a page that has room for a few, on a worker that lives for months.

The newest release of an assistant is the one that somebody looks for, and those that it replaced are in the way: old
versions that a few clients still use would keep their places for ever.
"""

from collections import OrderedDict

from turnsignal.stream.pipeline.bounded_labels import COOLDOWN, OTHER, BoundedLabels

MAX_SEEN = 1_000  #: releases that are remembered as not new
MAX_TAKEN = 2  #: places that the new releases of an assistant may take from others in a cooldown
DRILL = "drill-"  #: what the names of assistants begin with that `turnsignal drill` sends turns of
MAX_DRILLED = 3  #: releases of drills that have places: the last one's v1 and v2, and what is of no version

Labels = tuple[str, ...]  #: assistant and version


def is_drill(assistant: str) -> bool:
    """Say whether an assistant is one of a drill, which nobody is served by."""
    return assistant.startswith(DRILL)


class ReleaseLabels:
    """Give a bounded number of places to releases.

    limit: as in `BoundedLabels`. A release that nobody has seen before takes, where no place is free, that of
    the longest unused release which a newer one of its assistant has replaced, at once; no assistant may do so more
    than twice in the cooldown, so that made-up versions neither push out what is in use, nor make series without end.
    The newest release of an assistant loses its place only after a cooldown without use: a stray request must not take
    the line of what is served. So a new release waits only where all places are those of different assistants. Drills
    have three places beside these, which a later drill takes from an earlier one at once. What is shown follows from
    the releases and their times alone.

    >>> releases = ReleaseLabels(limit=2)
    >>> [releases.admit(("support", version), 0.0) for version in ("v1", "v2", "v3")], releases.take_evicted()
    ([True, True, True], [('support', 'v1')])
    """

    def __init__(self, limit: int) -> None:
        self._places: BoundedLabels[Labels] = BoundedLabels(limit, declared=[(OTHER, OTHER)])
        self._drilled: BoundedLabels[Labels] = BoundedLabels(MAX_DRILLED)
        self._newest: dict[str, Labels] = {}  # assistant → of those that have a place
        self._seen: OrderedDict[Labels, None] = OrderedDict()
        self._taken: dict[str, list[float]] = {}  # assistant → when its new releases took places

    def __contains__(self, release: Labels) -> bool:
        """Say whether a release has a place now."""
        return release in self._places_of(release).last_use

    def admit(self, release: Labels, now: float) -> bool:
        """Say whether a release has a place, and note its use; now: as `BoundedLabels.admit` has it."""
        is_new = release not in self._seen and OTHER not in release
        admitted = self._places_of(release).admit(release, now)
        if not admitted and is_new:
            admitted = self._take_place(release, now)
        if admitted:
            self._seen[release] = None
            self._seen.move_to_end(release)
            if is_new:
                self._newest[release[0]] = release
            if len(self._seen) > MAX_SEEN:
                self._seen.popitem(last=False)
        return admitted

    def drop(self, release: Labels) -> None:
        """Take a place away without a report."""
        self._places_of(release).drop(release)
        if self._newest.get(release[0]) == release:
            del self._newest[release[0]]

    def take_evicted(self) -> list[Labels]:
        """Name those that lost their places since the last call."""
        return self._places.take_evicted() + self._drilled.take_evicted()

    def _places_of(self, release: Labels) -> BoundedLabels[Labels]:
        return self._drilled if is_drill(release[0]) else self._places

    def _take_place(self, release: Labels, now: float) -> bool:
        """Give a new release the place of a replaced one; False where there is none, or this happened too often."""
        assistant, places = release[0], self._places_of(release)
        kept = () if places is self._drilled else set(self._newest.values())
        taken = [at for at in self._taken.get(assistant, ()) if now - at < COOLDOWN]
        if len(taken) >= MAX_TAKEN or not places.replace(release, kept, now):
            return False
        self._taken = {name: times for name, times in self._taken.items() if now - times[-1] < COOLDOWN}
        self._taken[assistant] = [*taken, now]
        return True
