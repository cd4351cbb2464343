"""Label ids: whether labels name documents by the ids that a release retrieves them by.

After an import documents may carry other ids than before, and labels are usually older than an index. Then no answer
has what its labels name, and neither has any other answer: a search that misses still finds what others asked for.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from turnsignal.stream.reports.answers import NO_VERSION, CountedNames

_FEWEST = 20  #: labelled answers with documents from which on a release is judged
_MOST = 10_000  #: ids of each kind that are kept
_NONE, _SOME = 0.1, 0.5  #: share of the documents that labels name, which ever come in a release


@dataclass(slots=True)
class _ReleaseIds:
    """What labels name and what came in a release; answers: that have both."""

    named: set[str] = field(default_factory=set)
    retrieved: set[str] = field(default_factory=set)
    answers: int = 0

    @property
    def share(self) -> float:
        """The share of the documents that labels name, which ever came."""
        return len(self.named & self.retrieved) / len(self.named)


class LabelIds:
    """Ids that labels name and ids that came, by version: `add` each labelled answer."""

    def __init__(self) -> None:
        self._versions = CountedNames()
        self._releases: list[_ReleaseIds] = []  # by the number of their version

    def add(self, version: str | None, named: Iterable[str], retrieved: Sequence[str]) -> None:
        """Take in one answer; named: by its labels; retrieved: the documents that it got."""
        named = set(named)
        if not (named and retrieved):
            return
        number = self._versions.number(version or NO_VERSION)
        if number == len(self._releases):
            self._releases.append(_ReleaseIds())
        release = self._releases[number]
        release.answers += 1
        for known, ids in ((release.named, named), (release.retrieved, retrieved)):
            if len(known) < _MOST:
                known.update(ids)

    def notes(self) -> Iterator[str]:
        """Say of which releases labels know hardly any document, while they do of others."""
        releases = zip(self._versions.all, self._releases, strict=True)
        shares = {version: release.share for version, release in releases if release.answers >= _FEWEST}
        if max(shares.values(), default=0.0) < _SOME:
            return
        for version, share in shares.items():
            if share <= _NONE:
                name = "what has no version" if version == NO_VERSION else version
                yield (
                    f"Of the documents that labels name, {share:.0%} ever came in {name}, whatever was asked: have"
                    " their ids changed since they were labelled? What fails at retrieval there may be no failure."
                )
