"""Label ids: whether labels name documents by the ids that a release retrieves them by.

After an import documents may carry other ids than before, and labels are usually older than an index. Then no answer
has what its labels name, and neither has any other answer: a search that misses still finds what others asked for.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

_FEWEST = 20  #: labelled answers with documents from which on a release is judged
_MOST = 10_000  #: ids of each kind that are kept
_NONE, _SOME = 0.1, 0.5  #: share of the documents that labels name, which ever come in a release


class LabelIds:
    """Ids that labels name and ids that came, by version: `add` each labelled answer."""

    def __init__(self) -> None:
        self._named: defaultdict[str | None, set[str]] = defaultdict(set)
        self._retrieved: defaultdict[str | None, set[str]] = defaultdict(set)
        self._answers: defaultdict[str | None, int] = defaultdict(int)

    def add(self, version: str | None, named: Iterable[str], retrieved: Sequence[str]) -> None:
        """Take in one answer; named: by its labels; retrieved: the documents that it got."""
        named = set(named)
        if named and retrieved:
            self._answers[version] += 1
            for known, ids in ((self._named[version], named), (self._retrieved[version], retrieved)):
                if len(known) < _MOST:
                    known.update(ids)

    def notes(self) -> Iterator[str]:
        """Say of which releases labels know hardly any document, while they do of others."""
        shares = {
            version: len(named & self._retrieved[version]) / len(named)
            for version, named in self._named.items()
            if self._answers[version] >= _FEWEST
        }
        if max(shares.values(), default=0.0) < _SOME:
            return
        for version, share in shares.items():
            if share <= _NONE:
                named = version or "what has no version"
                yield (
                    f"Of the documents that labels name, {share:.0%} ever came in {named}, whatever was asked: have"
                    " their ids changed since they were labelled? What fails at retrieval there may be no failure."
                )
