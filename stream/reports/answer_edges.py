"""Answer edges: sentences that many answers begin or end with, whatever stands between them.

A release that begins to end every answer with "Everything can be found in your account." ends its refusals with it,
too, and these no longer look like refusals to whoever reads words. No list knows all such sentences. But they are the
same in many answers. And a log that cuts texts has many of one length that have no end.
"""

import re
from collections import Counter
from dataclasses import dataclass, field
from hashlib import blake2b

from turnsignal.stream.statistics.intervals import difference, rate
from turnsignal.stream.statistics.promise import PROMISE

_READ = 400  #: characters at either end of an answer
_SHOWN = 60  #: characters of a sentence that are shown, in lower case and without numbers
_MOST = 2_000  #: sentences of a release that are counted; beyond, the rarer half is forgotten
_SHARE = 0.1  #: of first answers, by which more must have one sentence
_ENDS = tuple(".!?…。！？)]}\"'”»`*|>:")  #: what a text that is whole ends with, mostly
#: Ours and bounded, on a bounded text: the standard engine, since RE2 from Python takes 0.1 ms to replace.
_PIECES = re.compile(r"(?<=[.!?…:])\s+|\n+|(?<=[。！？])")
_VARIES = re.compile(r"\[[^\]\n]{0,80}\]|[0-9]+")


def edges(text: str) -> tuple[str, ...]:
    """Return the sentences that a text begins and ends with, each as a digest and what is shown; none of just one.

    A citation behind the full stop is none.

    >>> [edge.partition(" ")[2] for edge in edges("Hi there! It is 9 euros [1]. Anything else? [1][2]")]
    ['hi there!', 'anything else?']
    """
    whole = text.strip()
    end = _PIECES.search(whole, 0, _READ)
    if end is None and len(whole) <= _READ:
        return ()
    first = whole[: _READ if end is None else end.start()]
    begins, ends = _alike(first), next(filter(None, map(_alike, reversed(_PIECES.split(whole[-_READ:])))), "")
    return tuple(_named(sentence, _SHOWN) for sentence in (begins, ends) if sentence) if begins != ends else ()


def has_end(text: str) -> bool:
    """Say whether a text ends as texts do, and not within a word or sentence."""
    return text.rstrip().endswith(_ENDS)


def named(text: str, shown: int) -> str:
    """Return a text's digest and its first characters; citations, numbers and capitals do not tell two texts apart."""
    return _named(_alike(text), shown)


def _named(alike: str, shown: int) -> str:
    return f"{blake2b(alike.encode('utf-8', 'surrogatepass'), digest_size=6).hexdigest()} {alike[:shown]}"


def _alike(text: str) -> str:
    """Return what of a text tells it apart."""
    return " ".join(_VARIES.sub(" ", text.casefold()).split())


def forget_rare(counts: Counter[str], most: int) -> Counter[str]:
    """Return counts without their rarer half where there are more than `most`."""
    return Counter(dict(counts.most_common(most // 2))) if len(counts) > most else counts


@dataclass(slots=True)
class AnswerEdges:
    """How many first answers of a release begin or end with each sentence; n: of how many.

    longest, cut: characters of the longest, and how many of that length have no end; empty ones were not cut.
    """

    sentences: Counter[str] = field(default_factory=Counter)
    n: int = 0
    longest: int = 0
    cut: int = 0

    def add(self, sentences: tuple[str, ...], characters: int = 0, *, is_whole: bool = True) -> None:
        """Count one answer's `edges`; characters: of the answer; is_whole: as `has_end` says."""
        self.n += 1
        if characters > self.longest:
            self.longest, self.cut = characters, 0
        self.cut += 0 < characters == self.longest and not is_whole
        self.sentences.update(sentences)
        self._forget()

    def merge(self, other: "AnswerEdges") -> None:
        """Add another part's."""
        self.n += other.n
        if other.longest >= self.longest:
            self.longest, self.cut = other.longest, other.cut + self.cut * (other.longest == self.longest)
        self.sentences.update(other.sentences)
        self._forget()

    def more_alike(self, before: "AnswerEdges") -> tuple[float, str]:
        """Return by how much more answers have one sentence than before, and which; 0 where none is shown to.

        At the level of the promise, adjusted for how many sentences might have been that one (Bonferroni).
        """
        if not self.n or not before.n:
            return 0.0, ""
        common = sorted(edge for edge, count in self.sentences.items() if count >= _SHARE * self.n)
        changes = {
            edge: difference(rate(self.sentences[edge], self.n), rate(before.sentences[edge], before.n))
            for edge in common
        }
        shown = [
            (change.value, edge)
            for edge, change in changes.items()
            if change.value >= _SHARE and change.p * len(common) <= PROMISE
        ]
        share, edge = max(shown, default=(0.0, ""))
        return share, edge.partition(" ")[2]

    def more_cut(self, before: "AnswerEdges") -> float:
        """Return by how much more, or fewer, answers are as long as the longest and have no end; 0 where by chance."""
        if not self.n or not before.n:
            return 0.0
        change = difference(rate(self.cut, self.n), rate(before.cut, before.n))
        return change.value if abs(change.value) >= _SHARE and change.p <= PROMISE else 0.0

    def _forget(self) -> None:
        self.sentences = forget_rare(self.sentences, _MOST)
