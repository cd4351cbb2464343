"""The first oracle: the same pipeline over the same input, in one pass, without Faust, transactions or batches.

It says that faults change nothing; `pairing`, which shares no code with the product, says that it is right. It reads
the turns as the broker kept them (order, offsets, the broker's own times) and puts each partition through the
pipeline in one pass, in memory. What the workers made of it, through kills and take-overs, must be the same.
"""

from bisect import insort
from collections import Counter, defaultdict, deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import orjson
from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition

from tests.observed import by_scorer
from turnsignal.agents.kafka.logs import find_log
from turnsignal.agents.kafka.topics import topic_names
from turnsignal.agents.settings import Settings
from turnsignal.stream.pipeline.batch_result import BatchResult
from turnsignal.stream.pipeline.processor import PartitionProcessor
from turnsignal.stream.pipeline.scoring import policy_of
from turnsignal.stream.pipeline.series import SeriesProcessor
from turnsignal.stream.pipeline.votes import VOTE_MEETS_FOLLOW_UP
from turnsignal.stream.records.observations import read_observations
from turnsignal.stream.records.wire import OutputRecord
from turnsignal.stream.suite import Suite


class Kept(NamedTuple):
    """A record as a topic keeps it; it has the fields of `stream.pipeline.batch_output.Record`."""

    partition: int
    offset: int
    key: bytes | None
    value: bytes | None
    timestamp: int
    headers: tuple[tuple[str, bytes], ...] = ()


Letter = tuple[str, str, str, str]  #: topic, partition, offset, reason
#: release, scorer, conversation, time, value, and count and sum of the earlier ones in the conversation
Observed = tuple[str, str | None, str, str, float, float, int, float]


@dataclass
class Outcome:
    """What came out, in a form that can be compared.

    rows, summaries, exchanges: key → values in their order, without the votes that had come by a close, as topics are
    not read in step; feedback: key → rows of feedback, in the order of their ids, for the same reason; letters: dead
    letters with their bytes, series: single observations; states: partition → key → snapshot; positions, ends:
    partition → next offset to be read, to be written.
    """

    rows: dict[bytes, list[bytes]] = field(default_factory=lambda: defaultdict(list))
    feedback: dict[bytes, list[bytes]] = field(default_factory=lambda: defaultdict(list))
    summaries: dict[bytes, list[bytes]] = field(default_factory=lambda: defaultdict(list))
    exchanges: dict[bytes, list[bytes]] = field(default_factory=lambda: defaultdict(list))
    letters: Counter[tuple[Letter, bytes | None, bytes | None]] = field(default_factory=Counter)
    series: Counter[Observed] = field(default_factory=Counter)
    states: dict[int, dict[bytes, bytes]] = field(default_factory=lambda: defaultdict(dict))
    positions: dict[int, int] = field(default_factory=dict)
    ends: dict[int, int] = field(default_factory=dict)

    def add(self, output: OutputRecord) -> None:
        """Take in one record of an output topic."""
        topic, key, value, headers = output
        if topic == "dead_letters":
            said = dict(headers or ())
            letter = tuple(said[name].decode() for name in ("topic", "partition", "offset", "reason"))
            self.letters[letter, key, value] += 1
        elif topic == "series":
            packed = read_observations(value or b"")
            for scorer, observations in by_scorer(packed).items():
                who = packed.assistant, packed.version, scorer
                self.series.update((*who, *observation) for observation in observations)
        elif topic == "scores" and b'"stage":"feedback"' in (value or b""):
            insort(self.feedback[key or b""], value or b"", key=lambda row: orjson.loads(row)["id"])
        else:
            by_key = {"scores": self.rows, "conversations": self.summaries, "exchanges": self.exchanges}[topic]
            by_key[key or b""].append(_without_votes(value or b"") if b"vote" in (value or b"") else value or b"")

    @property
    def count(self) -> int:
        """Number of score rows."""
        return sum(map(len, (*self.rows.values(), *self.feedback.values())))


def _without_votes(value: bytes) -> bytes:
    """Take out of a summary or close row how votes met follow-ups."""
    row = orjson.loads(value)
    row.pop("votes", None)
    if row.get("stage") == "close":
        row["scores"] = [score for score in row["scores"] if score["scorer"] != VOTE_MEETS_FOLLOW_UP]
    return orjson.dumps(row)


def foretell(
    turns: dict[int, list[Kept]],
    suite: Suite,
    topic: str,
    batch: int = 0,
    feedback: dict[int, list[Kept]] | None = None,
    feedback_topic: str = "",
) -> Outcome:
    """Say what must come of the turns (by partition), and of feedback among them.

    batch: work through so many records at a time, 0 is all at once; it must not matter.
    """
    outcome = Outcome()
    for partition, records in turns.items():
        store = outcome.states[partition]
        processor = PartitionProcessor(suite, store, topic, partition, feedback_topic=feedback_topic)
        heard = deque((feedback or {}).get(partition, ()))
        step = batch or max(1, len(records))
        for start in range(0, len(records), step):
            part = records[start : start + step]
            come = [heard.popleft() for one in list(heard) if one.timestamp <= part[-1].timestamp]
            _take(processor, processor.process(part, 0.0, feedback=come), outcome)
        _take(processor, processor.process([], 0.0, feedback=list(heard)), outcome)
        while (left := processor.process([], 0.0)).changes:  # a batch closes a bounded number of conversations
            _take(processor, left, outcome)
        outcome.positions[partition] = records[-1].offset + 1 if records else 0
    return outcome


def foretell_series(series: dict[int, list[Kept]], topic: str, suite: Suite) -> dict[int, dict[bytes, bytes]]:
    """Say what watch must keep of the series (by partition)."""
    found: dict[int, dict[bytes, bytes]] = {}
    for partition, records in series.items():
        found[partition] = {}
        processor = SeriesProcessor(found[partition], topic, partition, policy=policy_of(suite))
        processor.accept(processor.process(records))
    return found


def _take(processor: PartitionProcessor, batch: BatchResult, outcome: Outcome) -> None:
    for output in batch.outputs:
        outcome.add(output)
    processor.accept(batch)


def read_turns(settings: Settings) -> dict[int, list[Kept]]:
    """Read the turns by partition."""
    return read_topic(settings, topic_names(settings.prefix)["turns"])


def read_outcome(settings: Settings) -> Outcome:
    """Read what the workers wrote and committed."""
    names, outcome = topic_names(settings.prefix), Outcome()
    for name in ("scores", "conversations", "exchanges", "dead_letters", "series"):
        for records in read_topic(settings, names[name]).values():
            for record in records:
                outcome.add(OutputRecord(name, record.key, record.value, list(record.headers)))
    outcome.states = read_states(settings)
    outcome.positions, outcome.ends = committed(settings), ends(settings)
    return outcome


def read_states(settings: Settings, name: str = "conversations_changelog") -> dict[int, dict[bytes, bytes]]:
    """Read the last state under each key of a changelog, by partition; a tombstone is no state."""
    found: dict[int, dict[bytes, bytes]] = {}
    for partition, records in read_topic(settings, topic_names(settings.prefix)[name]).items():
        states = found[partition] = {}
        for record in records:
            if record.value is None:
                states.pop(record.key or b"", None)
            else:
                states[record.key or b""] = record.value
    return found


def committed(settings: Settings, name: str = "turns", app: str = "score") -> dict[int, int]:
    """Ask for an app's committed positions in a topic, 0 where there is none."""
    consumer = Consumer(
        {**settings.confluent(), "group.id": settings.app_id(app), "enable.auto.commit": False, "log_level": 0}
    )
    try:
        topic = topic_names(settings.prefix)[name]
        places = [TopicPartition(topic, number) for number in _numbers(consumer, topic)]
        return {place.partition: max(0, place.offset) for place in consumer.committed(places, timeout=30)}
    finally:
        consumer.close()


def reached_ends(settings: Settings, names: Sequence[str] = ("turns",), app: str = "score") -> bool:
    """Whether an app has committed topics to their ends: one client asks, up to the first partition that lacks some.

    It is asked again and again while workers work, and to connect costs a broker more than to answer.
    """
    consumer = Consumer(
        {**settings.confluent(), "group.id": settings.app_id(app), "enable.auto.commit": False, "log_level": 0}
    )
    try:
        for name in names:
            topic = topic_names(settings.prefix)[name]
            places = [TopicPartition(topic, number) for number in _numbers(consumer, topic)]
            for place in consumer.committed(places, timeout=30):
                if max(0, place.offset) != consumer.get_watermark_offsets(place, timeout=30)[1]:
                    return False
        return True
    finally:
        consumer.close()


def ends(settings: Settings, name: str = "turns") -> dict[int, int]:
    """Ask for the ends of a topic's partitions."""
    consumer = Consumer({**settings.confluent(), "group.id": "faults-ends", "log_level": 0})
    try:
        topic = topic_names(settings.prefix)[name]
        places = [TopicPartition(topic, number) for number in _numbers(consumer, topic)]
        return {place.partition: consumer.get_watermark_offsets(place, timeout=30)[1] for place in places}
    finally:
        consumer.close()


def _numbers(consumer: Consumer, topic: str) -> list[int]:
    return sorted(consumer.list_topics(topic, timeout=30).topics[topic].partitions)


def read_topic(settings: Settings, topic: str) -> dict[int, list[Kept]]:
    """Read all of a topic, committed records only, to its end: waits for transactions that are still open."""
    options: dict[str, Any] = {
        **settings.confluent(),
        "group.id": "faults-oracle",
        "log_level": 0,
        "enable.auto.commit": False,
        "isolation.level": "read_committed",
        "enable.partition.eof": True,
        "auto.offset.reset": "earliest",
    }
    consumer = Consumer(options)
    try:
        found: dict[int, list[Kept]] = {number: [] for number in _numbers(consumer, topic)}
        high = {number: end for number, (_, end) in find_log(settings, topic).items()}
        consumer.assign([TopicPartition(topic, number, 0) for number in found])
        open_ends = set(found)
        while open_ends:
            for message in consumer.consume(5000, 1.0):
                error = message.error()
                if error is None:
                    _, stamp = message.timestamp()
                    headers = tuple(message.headers() or ())
                    kept = Kept(message.partition(), message.offset(), message.key(), message.value(), stamp, headers)
                    found[kept.partition].append(kept)
                elif error.code() != KafkaError._PARTITION_EOF:
                    raise KafkaException(error)
                elif message.offset() >= high[message.partition()]:
                    open_ends.discard(message.partition())
    finally:
        consumer.close()
    return found
