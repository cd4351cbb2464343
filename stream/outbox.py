"""The outbox: everything that one batch writes and counts, held back until the batch is safe.

Score records are built as plain dictionaries and encoded at once: most of a row is the same from turn to turn, and
validating our own output again would cost more than computing it. Tests read every row back through `stream.scores`.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from hashlib import blake2b, sha256
from typing import Any, NamedTuple, Protocol

import orjson

from stream.errors import Reason
from stream.exchanges import Exchange
from stream.pairing import Answer, Link, Slot
from stream.scores import Outcome, Stage
from stream.scoring import Scored
from stream.tallies import Tally, rank_band
from stream.turns import Document, Turn

SCORES, EXCHANGES, CONVERSATIONS, SERIES, DEAD_LETTERS = (
    "scores",
    "exchanges",
    "conversations",
    "series",
    "dead_letters",
)

DEAD_LETTER_BYTES = 100_000  #: of the original record that a dead letter keeps


class Record(Protocol):
    """What a source delivers; aiokafka's ConsumerRecord is one as it is. timestamp: milliseconds, the broker's."""

    @property
    def offset(self) -> int: ...  # noqa: D102
    @property
    def key(self) -> bytes | None: ...  # noqa: D102
    @property
    def value(self) -> bytes | None: ...  # noqa: D102
    @property
    def timestamp(self) -> int: ...  # noqa: D102


class Output(NamedTuple):
    """One record to write: topic (without prefix), key, value, headers."""

    topic: str
    key: bytes | None
    value: bytes | None
    headers: list[tuple[str, bytes]] | None = None


class Observed(NamedTuple):
    """One scorer's values of one release in this batch, in columns: whose, when (event time), how much."""

    conversations: list[str]
    times: list[float]
    values: list[float]


class Outbox:
    """What one batch writes and counts.

    topic, partition: where the input came from; suite: its fingerprint; good_from: scorer → lowest good value;
    share: of conversations whose exchanges are queued for judges.
    """

    def __init__(
        self, topic: str, partition: int, suite: str, good_from: Mapping[str, float], share: float = 0.0
    ) -> None:
        self.topic = topic
        self.partition = partition
        self.suite = suite
        self.outputs: list[Output] = []
        self.tally = Tally()
        self._good_from = good_from
        self._share = share
        self._series: defaultdict[tuple[str, str | None], dict[str, Observed]] = defaultdict(dict)

    def row(
        self,
        key: bytes,
        row: str,
        stage: Stage,
        slot: Slot,
        answer: Answer,
        time: float,
        scored: Scored,
        extra: Mapping[str, Any],
    ) -> None:
        """Write a score record; `extra` holds the fields that only some rows have."""
        record: dict[str, Any] = {
            "schema": 1,
            "id": row,
            "conversation_id": key.decode(),
            "turn_id": slot.turn_id,
            "stage": stage,
            "assistant": answer.assistant,
            "version": answer.version,
            "model": answer.model,
            "platform": answer.platform,
            "time": time,
            "suite": self.suite,
            "scores": scored.scores,
            **extra,
        }
        self.outputs.append(Output(SCORES, key, orjson.dumps(record)))

    def source(self, offset: int) -> dict[str, Any]:
        """Say which record completed a row."""
        return {"topic": self.topic, "partition": self.partition, "offset": offset}

    def observe(self, key: bytes, answer: Answer, time: float, scored: Scored) -> None:
        """Hand a row's values to the series and to the metrics."""
        release = (answer.assistant, answer.version)
        series = self._series[release]
        verdicts, good_from = self.tally.verdicts, self._good_from
        conversation = key.decode()
        for scorer, value in scored.values:
            observed = series.get(scorer)
            if observed is None:
                observed = series[scorer] = Observed([], [], [])
            observed.conversations.append(conversation)
            observed.times.append(time)
            observed.values.append(value)
            lowest = good_from.get(scorer)
            if lowest is None:
                continue
            if value >= lowest:
                verdicts[(*release, scorer, "good")] += 1
            else:
                verdicts[(*release, scorer, "bad")] += 1
                self.tally.on_bad((*release, scorer), conversation, value)
        for scorer, reason in scored.unscored:
            self.tally.unscored[(*release, scorer, reason)] += 1
            verdicts[(*release, scorer, "unscored")] += 1

    def turn(self, turn: Turn, time: float, *, late: bool) -> None:
        """Count a turn that was taken in."""
        tally = self.tally
        tally.turns[turn.assistant, turn.version, turn.role] += 1
        tally.records[self.topic, "scored"] += 1
        tally.last_event[self.topic] = max(time, tally.last_event.get(self.topic, time))
        if late:
            tally.pairing["late"] += 1
        if turn.timestamp.tzinfo is None:
            tally.pairing["naive_timestamp"] += 1

    def response(self, answer: Answer, scored: Scored) -> None:
        """Count what was found in a response."""
        tally, release = self.tally, (answer.assistant, answer.version)
        for name, result in scored.findings:
            tally.checks[(*release, name, result)] += 1
        citations = scored.citations
        if citations is None:
            return
        if citations.found:
            tally.citations[(*release, "valid")] += len(citations.found)
        for fault in citations.faults:
            tally.citations[(*release, fault.kind)] += 1
        for rank in scored.ranks:
            tally.retrieved[(*release, rank_band(rank))] += 1
        for rank in citations.cited_ranks:
            tally.cited[(*release, rank_band(rank))] += 1

    def pairing(self, answer: Answer, found: Link, diagnosis: str, *, replaced: bool) -> None:
        """Count an exchange that closed."""
        self.tally.pairing["replaced" if replaced else "gap" if found.gap else found.outcome] += 1
        self.tally.diagnosis[answer.assistant, answer.version, diagnosis] += 1

    def queue(
        self,
        key: bytes,
        stage: Stage,
        slot: Slot,
        answer: Answer,
        around: Exchange,
        *,
        follow_up: Slot | None = None,
        documents: Sequence[Document] | None = None,
    ) -> None:
        """Write an exchange for the judges, if its conversation is among those chosen."""
        if not self._share or not chosen(key, self._share):
            return
        record: dict[str, Any] = {
            "schema": 1,
            "conversation_id": key.decode(),
            "turn_id": slot.turn_id,
            "stage": stage,
            "assistant": answer.assistant,
            "version": answer.version,
            "model": answer.model,
            "platform": answer.platform,
            "time": slot.time if follow_up is None else follow_up.time,
            "inclusion": self._share,
            "prompt": around.prompt,
            "response": around.response,
        }
        if follow_up is not None:
            record |= {"follow_up": follow_up.text, "follow_up_id": follow_up.turn_id, "outcome": Outcome.FOLLOWED_UP}
        if documents is not None:
            record["documents"] = documents
        self.outputs.append(Output(EXCHANGES, key, orjson.dumps(record)))

    def summary(self, key: bytes, summary: Mapping[str, Any] | None) -> None:
        """Write a conversation's summary; None erases it from the compacted topic."""
        self.outputs.append(Output(CONVERSATIONS, key, None if summary is None else orjson.dumps(summary)))

    def dead_letter(self, record: Record, reason: Reason, detail: str) -> None:
        """Set a record aside: its own bytes, cut to fit, and in headers where it stood and why."""
        self.tally.dead_letters[self.topic, reason] += 1
        self.tally.records[self.topic, "dead_letter"] += 1
        self.outputs.append(dead_letter(record, self.topic, self.partition, reason, detail))

    def finish(self) -> list[Output]:
        """Pack the series, one record per release and scorer, and return everything to write."""
        for (assistant, version), scorers in self._series.items():
            for scorer, observed in scorers.items():
                self.tally.scores[assistant, version, scorer] = observed.values
                series = {"schema": 1, "assistant": assistant, "version": version, "scorer": scorer}
                value = orjson.dumps(series | observed._asdict())
                self.outputs.append(Output(SERIES, f"{assistant}|{scorer}".encode(), value))
        return self.outputs


def dead_letter(record: Record, topic: str, partition: int, reason: Reason, detail: str) -> Output:
    """Return the dead letter of a record."""
    value = record.value
    headers = [
        ("topic", topic.encode()),
        ("partition", str(partition).encode()),
        ("offset", str(record.offset).encode()),
        ("reason", reason.encode()),
        ("detail", detail.encode("utf-8", "replace")[:1000]),
    ]
    if value is not None and len(value) > DEAD_LETTER_BYTES:
        headers += [("length", str(len(value)).encode()), ("sha256", sha256(value).hexdigest().encode())]
        value = value[:DEAD_LETTER_BYTES]
    return Output(DEAD_LETTERS, record.key, value, headers)


def chosen(key: bytes, share: float) -> bool:
    """Choose a share of conversations, the same ones for every judge: by digest of the key."""
    return int.from_bytes(blake2b(key, digest_size=8, person=b"sampling").digest(), "big") < share * 2**64
