"""Said twice: answers that stand in files of two formats, as two tools export the same calls, and would count twice."""

from collections.abc import Mapping, Sequence
from typing import Any

from turnsignal.stream.formats.quotations import SHORT, digest_of, number_of

_TELLING = 24  #: characters of an answer that two do not give alike
_MOST = 20_000  #: answers that are held: of more, those whose digests begin with enough zeros
_FEWEST = 5  #: of them, and
_SHARE = 0.5  #: how many of those of the smaller log, that are in both


class GivenAnswers:
    """Digests of the answers of the files of one format. name: of the files."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._digests: set[int] = set()
        self._below = 1 << 8 * SHORT  # digests that are held

    def add(self, turn: Mapping[str, Any]) -> None:
        """Take in a turn."""
        text = turn.get("text")
        if turn.get("role") != "assistant" or not isinstance(text, str) or len(text) < _TELLING:
            return
        digest = number_of(digest_of(" ".join(text.split())))
        if digest < self._below:
            self._digests.add(digest)
        if len(self._digests) > _MOST:
            self._below //= 2
            self._digests = self._held(self._below)

    def doubts(self, earlier: Sequence["GivenAnswers"]) -> list[str]:
        """Say which of the earlier ones has the same answers."""
        doubts = []
        for other in earlier:
            below = min(self._below, other._below)
            own, others = self._held(below), other._held(below)
            both, fewer = len(own & others), min(len(own), len(others))
            if both >= max(_FEWEST, _SHARE * fewer):
                doubts.append(
                    f"{both / fewer:.0%} of the answers stand in {other._name}, too: where both are exports of the "
                    "same calls, each counts twice; convert one of them"
                )
        return doubts

    def _held(self, below: int) -> set[int]:
        return {digest for digest in self._digests if digest < below}
