"""Remembered answers: the same judge is not asked the same question about the same material twice."""

from collections import OrderedDict
from collections.abc import Collection, Iterable, Mapping
from hashlib import blake2b
from typing import NamedTuple

import msgspec
from pydantic import ValidationError

from turnsignal.stream.judging.inquiry import Judgement
from turnsignal.stream.judging.judges import Judge
from turnsignal.stream.judging.material import Material
from turnsignal.stream.judging.verdicts import judgement_of
from turnsignal.stream.records.verdicts import VERDICTS, Verdict

CACHED = b"cached:"  #: how the keys of remembered verdicts begin
MOST_CACHED = 2_000  #: of them
KEPT = 7 * 86_400.0  #: seconds after its exchange for which an answer is kept: its reasons may quote somebody


class _KnownAnswer(NamedTuple):
    """A remembered answer. conversation_id, time: of the exchange."""

    judgement: Judgement
    conversation_id: str
    time: float


class RememberedAnswers:
    """The newest answers of one partition. store: what was committed; other keys than those of answers are left."""

    def __init__(self, store: Mapping[bytes, bytes]) -> None:
        self._answers: OrderedDict[bytes, _KnownAnswer] = OrderedDict()
        self._changes: dict[bytes, bytes | None] = {}
        for key, value in store.items():
            if key.startswith(CACHED):
                self._restore(key, value)

    def find(self, judge: Judge, material: Material) -> Judgement | None:
        """Return what a judge answered about this material before."""
        known = self._answers.get(_key(judge, material))
        return None if known is None else known.judgement

    def remember(self, judge: Judge, material: Material, verdict: Verdict) -> None:
        """Keep an answer; the oldest leaves where there are too many."""
        key, value = _key(judge, material), VERDICTS.dump_json(verdict)
        self._answers[key] = _known(verdict)
        self._changes[key] = value
        if len(self._answers) > MOST_CACHED:
            oldest, _ = self._answers.popitem(last=False)
            self._changes[oldest] = None

    def forget_old(self, now: float) -> None:
        """Drop answers about exchanges that are older than KEPT; asked once a day."""
        self._drop([key for key, answer in self._answers.items() if answer.time < now - KEPT])

    def forget(self, conversations: Collection[str]) -> None:
        """Drop answers about exchanges of these conversations, whatever their turns' timestamps say."""
        self._drop([key for key, answer in self._answers.items() if answer.conversation_id in conversations])

    def take_changes(self) -> dict[bytes, bytes | None]:
        """Return what has to be stored, None removes a key; nothing in it is returned again."""
        changes, self._changes = self._changes, {}
        return changes

    def _drop(self, keys: Iterable[bytes]) -> None:
        for key in keys:
            del self._answers[key]
            self._changes[key] = None

    def _restore(self, key: bytes, value: bytes) -> None:
        """Take up an answer; one that cannot be read is asked for again rather than end who takes over."""
        try:
            self._answers[key] = _known(VERDICTS.validate_json(value))
        except ValidationError:
            self._changes[key] = None


def _key(judge: Judge, material: Material) -> bytes:
    content = msgspec.json.encode([judge.digest, material.parts, material.documents])
    return CACHED + blake2b(content, digest_size=16).digest()


def _known(verdict: Verdict) -> _KnownAnswer:
    return _KnownAnswer(judgement_of(verdict), verdict.conversation_id, verdict.time)
