"""Testing: records and whole conversations to test a suite, a check or the pipeline with; our own tests use the same.

>>> played = Played().say(user("u1", 0), reply("a1", 1), user("u2", 2, "No, I meant the blue one."))
>>> [(row["turn_id"], row["follow_up"]) for row in played.rows("follow_up")]
[('a1', 'u2')]
"""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any, NamedTuple

import orjson

from turnsignal.stream.pipeline.batch_result import BatchResult
from turnsignal.stream.pipeline.processor import PartitionProcessor
from turnsignal.stream.records.wire import SCORES, OutputRecord
from turnsignal.stream.suite import Suite

T0 = 1_750_000_000.0  #: the event time from which seconds are counted here


class FakeRecord(NamedTuple):
    """A record as a topic delivers it, see `stream.records.wire.Record`."""

    offset: int
    key: bytes | None
    value: bytes | None
    timestamp: int = -1


def make_record(offset: int, second: float, conversation: str = "c", **fields: Any) -> FakeRecord:
    """Return a turn, or feedback, that was said and delivered so many seconds after T0.

    fields: of its JSON, beside the conversation's id and the timestamp.
    """
    stamp = datetime.fromtimestamp(T0 + second, UTC).isoformat()
    value = orjson.dumps({"conversation_id": conversation, "timestamp": stamp} | fields)
    return FakeRecord(offset, conversation.encode(), value, round((T0 + second) * 1000))


class FakeTurn(NamedTuple):
    """One turn `time` seconds after T0; more: further fields of its JSON."""

    role: str
    turn_id: str
    time: float
    text: str | None = ""
    conversation: str = "c"
    more: dict[str, Any] = {}  # noqa: RUF012 - nobody writes to it

    def record(self, offset: int) -> FakeRecord:
        """Return the turn as a topic delivers it."""
        fields = {"turn_id": self.turn_id, "role": self.role, "text": self.text} | self.more
        return make_record(offset, self.time, self.conversation, **fields)


def user(
    turn_id: str, time: float, text: str = "How do I change the colour?", conversation: str = "c", **more: Any
) -> FakeTurn:
    """Return a turn of the user."""
    return FakeTurn("user", turn_id, time, text, conversation, more)


def reply(
    turn_id: str, time: float, text: str = "Look under settings [a].", conversation: str = "c", **more: Any
) -> FakeTurn:
    """Return a turn of the assistant, which was given the documents a and b unless `retrieved` says otherwise."""
    more.setdefault("retrieved", [{"doc_id": "a"}, {"doc_id": "b"}])
    return FakeTurn("assistant", turn_id, time, text, conversation, more)


def unreadable(role: str, time: float) -> FakeTurn:
    """Return a turn that cannot be read, but for whose it is."""
    return FakeTurn(role, "x", time, None)


def play(processor: PartitionProcessor, records: Sequence[FakeRecord], cuts: Iterable[int] = ()) -> list[OutputRecord]:
    """Work through records in batches that end at `cuts`, and accept each; return everything that is written."""
    outputs = []
    for start, end in pairwise([0, *sorted(cuts), len(records)]):
        batch = processor.process(records[start:end], T0)
        processor.accept(batch)
        outputs += batch.outputs
    return outputs


def decoded(outputs: Iterable[OutputRecord], topic: str = SCORES) -> list[Any]:
    """Return what is written to one topic, without tombstones."""
    return [orjson.loads(output.value) for output in outputs if output.topic == topic and output.value is not None]


class Played:
    """Conversations that are played through a processor, one batch for each `say`, and everything that comes of them.

    processor: may be replaced by one over the same store, as when a worker starts again; outputs: of all batches;
    batch: the last one.
    """

    def __init__(self, suite: Suite | None = None, store: dict[bytes, bytes] | None = None) -> None:
        self.processor = PartitionProcessor(suite or Suite(), {} if store is None else store)
        self.processor.read_store()
        self.outputs: list[OutputRecord] = []
        self.batch = BatchResult()
        self._offset = 0

    def say(self, *turns: FakeTurn, now: float = T0) -> "Played":
        """Play turns as one batch; now: seconds on the steady clock that carries a silent partition on."""
        records = [turn.record(offset) for offset, turn in enumerate(turns, self._offset)]
        self._offset += len(turns)
        return self.keep(self.processor.process(records, now))

    def keep(self, batch: BatchResult) -> "Played":
        """Accept a batch, and remember what it writes."""
        self.processor.accept(batch)
        self.batch = batch
        self.outputs += batch.outputs
        return self

    def close(self) -> "Played":
        """Close every conversation that is open, as at the end of a replay."""
        return self.keep(self.processor.close_all())

    def written(self, topic: str) -> list[Any]:
        """Return what is written to one topic, None for a tombstone."""
        return [orjson.loads(out.value) if out.value else None for out in self.outputs if out.topic == topic]

    def rows(self, stage: str, turn_id: str | None = None) -> list[Any]:
        """Return the score rows of one stage, of one turn or of all."""
        rows = [row for row in self.written(SCORES) if row["stage"] == stage]
        return [row for row in rows if turn_id in (None, row["turn_id"])]

    def about(self, conversation: str = "c") -> dict[str, Any]:
        """Return what is remembered of a conversation."""
        described = self.processor.describe(conversation.encode())
        if described is None:
            msg = f"expected a conversation that is remembered, got {conversation!r}"
            raise KeyError(msg)
        return described
