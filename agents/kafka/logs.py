"""Logs: reading a range of a topic's partitions to its end, without a group and without a trace."""

import logging
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

from aiokafka.consumer.fetcher import READ_COMMITTED, READ_UNCOMMITTED
from confluent_kafka import IsolationLevel, KafkaError, KafkaException, TopicPartition
from confluent_kafka.admin import OffsetSpec

from turnsignal.agents.kafka.fetching import PartitionFetch, TopicFetcher
from turnsignal.agents.kafka.log_records import LogRecord, LogUnpacker, PairsUnpacker, PassedOver
from turnsignal.agents.kafka.topics import (
    ADMIN_SECONDS,
    absent_topic,
    admin_client,
    log_bounds,
    topic_ids,
    topic_metadata,
)
from turnsignal.agents.kafka.unpacking import BatchPairs
from turnsignal.agents.settings import Settings
from turnsignal.stream.errors import TurnsignalError

logger = logging.getLogger("turnsignal.logs")

SILENCE_SECONDS = 30.0  #: after which a broker that sends nothing has no more to say
_AT_ONCE = 5_000  # records that are given in one list

#: What a broker says that searches times among records which it cannot read itself.
_UNPACKABLE = frozenset((KafkaError.INVALID_MSG, KafkaError.INVALID_RECORD))

#: What it says while a partition goes from one broker to another, or is deleted.
_FOR_A_WHILE = frozenset(
    (
        KafkaError.UNKNOWN_TOPIC_OR_PART,
        KafkaError.LEADER_NOT_AVAILABLE,
        KafkaError.NOT_LEADER_FOR_PARTITION,
        KafkaError.REQUEST_TIMED_OUT,
        KafkaError.BROKER_NOT_AVAILABLE,
        KafkaError.REPLICA_NOT_AVAILABLE,
        KafkaError.KAFKA_STORAGE_ERROR,
        KafkaError.FENCED_LEADER_EPOCH,
        KafkaError.UNKNOWN_LEADER_EPOCH,
        KafkaError.OFFSET_NOT_AVAILABLE,
    )
)

#: partition → (first offset, the one behind the last)
Ranges = Mapping[int, tuple[int, int]]


class ReadDeniedError(TurnsignalError):
    """Say that this user may not read the topic."""


def find_log(settings: Settings, topic: str) -> Ranges:
    """Return the offsets that each partition of a topic still has; raises TurnsignalError where there is no topic."""
    admin = admin_client(settings)
    present = topic_metadata(admin).topics
    if topic not in present or not present[topic].partitions:
        raise absent_topic(settings, topic)
    try:
        return log_bounds(admin, {topic: list(present[topic].partitions)})[topic]
    except KafkaException as error:
        msg = f"expected the broker to say what {topic} holds, got: {error.args[0].str()}"
        raise TurnsignalError(msg) from None


def find_topic_id(settings: Settings, topic: str) -> str:
    """Return the id that tells a topic from others of its name, before or after it; "" where the broker has none."""
    admin = admin_client(settings)
    try:
        return topic_ids(admin, topic_metadata(admin), [topic]).get(topic, "")
    except KafkaException:
        return ""  # older than topic ids


def find_offsets(
    settings: Settings, topic: str, ranges: Ranges, since: float, *, is_end: bool = False
) -> Mapping[int, int]:
    """Return the first offset of each partition whose record came at a time or later, or the end of its range.

    since: seconds since 1970, by the records' own timestamps; is_end: it is asked for as the end of what is read. Where
    the broker comes upon records there that it cannot read, all of the range is read, which is said in the log. Raises
    TurnsignalError when it does not say.
    """
    spec = OffsetSpec.for_timestamp(max(0, round(since * 1000)))
    offsets = _ask(settings, topic, ranges, spec, unless=_UNPACKABLE)
    for number in offsets.keys() ^ ranges.keys():
        logger.warning(
            "%s-%d: read %s: the broker cannot tell times there, where it has what nobody can read",
            topic,
            number,
            "to its end" if is_end else "from its beginning",
        )
    chosen = {number: offsets.get(number, end if is_end else first) for number, (first, end) in ranges.items()}
    return {number: end if chosen[number] < 0 else chosen[number] for number, (_, end) in ranges.items()}


def find_held_back(settings: Settings, topic: str, ranges: Ranges) -> list[int]:
    """Return the partitions where a transaction that is open hides the end of the range from who reads committed ones.

    Raises TurnsignalError when the broker does not say.
    """
    stable = _ask(settings, topic, ranges, OffsetSpec.latest(), isolation_level=IsolationLevel.READ_COMMITTED)
    return [number for number, (_, end) in sorted(ranges.items()) if stable[number] < end]


def _ask(
    settings: Settings, topic: str, ranges: Ranges, spec: Any, *, unless: Collection[int] = (), **options: Any
) -> dict[int, int]:
    """Return an offset of each partition; unless: codes of errors for which a partition is left out."""
    admin = admin_client(settings)
    wanted = {TopicPartition(topic, number): spec for number in ranges}
    try:
        futures = admin.list_offsets(wanted, request_timeout=ADMIN_SECONDS, **options) if wanted else {}
        errors = {at.partition: future.exception(ADMIN_SECONDS) for at, future in futures.items()}
        left_out = {number for number, error in errors.items() if error and error.args[0].code() in unless}
        answered = [(at.partition, future) for at, future in futures.items() if at.partition not in left_out]
        return {number: future.result().offset for number, future in answered}
    except KafkaException as error:
        msg = f"expected the broker to say what {topic} held then, got: {error.args[0].str()}"
        raise TurnsignalError(msg) from None


def read_log(
    settings: Settings,
    topic: str,
    ranges: Ranges,
    *,
    committed: bool,
    progress: Callable[[int, int], None] = lambda *_: None,
    passed_over: PassedOver | None = None,
) -> Iterator[Sequence[LogRecord]]:
    """Give the records of some partitions of a topic in lists, each of one partition and in its order; none is empty.

    committed: leave out what transactions have not committed; a range then ends early where one is open. progress: told
    how many of how many offsets lie behind, again and again; passed_over: of what nobody can unpack, which is a line in
    the log by default. Commits nothing. Raises TurnsignalError when the broker falls silent, ReadDeniedError when it
    refuses. Not for a thread with a running loop.
    """
    level = READ_COMMITTED if committed else READ_UNCOMMITTED
    unpacker = LogUnpacker(topic, settings.max_batch_bytes, level, passed_over)
    with TopicFetcher(settings, topic, level) as fetcher:
        reading = _Reading(settings, topic, ranges, fetcher, progress)
        for fetched in reading.fetches():
            records, behind = unpacker.unpack(fetched, ranges[fetched.partition][1])
            for at in range(0, len(records), _AT_ONCE):
                part = records[at : at + _AT_ONCE]
                reading.reach(fetched, part[-1].offset + 1)
                yield part
                reading.report()
            reading.reach(fetched, behind)
            if committed and reading.is_held_back(fetched):
                reading.leave(fetched)


def read_log_pairs(
    settings: Settings,
    topic: str,
    partition: int,
    bounds: tuple[int, int],
    *,
    waits: Callable[[int], None],
    progress: Callable[[int, int], None],
    passed_over: PassedOver,
) -> Iterator[Sequence[BatchPairs]]:
    """Give committed keys and values of a partition, all up to its end, batch by batch; otherwise as `read_log`.

    waits: told again and again of the offset at which an open transaction holds back what follows.
    """
    unpacker = PairsUnpacker(topic, settings.max_batch_bytes, READ_COMMITTED, passed_over)
    with TopicFetcher(settings, topic, READ_COMMITTED) as fetcher:
        reading = _Reading(settings, topic, {partition: bounds}, fetcher, progress)
        for fetched in reading.fetches():
            batches, behind = unpacker.unpack(fetched, bounds[1])
            if batches:
                yield batches
            reading.reach(fetched, behind)
            if reading.is_held_back(fetched):
                reading.last_answer = time.monotonic()
                waits(behind)


class _Reading:
    """How far ranges of a topic are read.

    progress: told how many of how many offsets lie behind; last_answer: when something came last, steady clock.
    """

    def __init__(
        self,
        settings: Settings,
        topic: str,
        ranges: Ranges,
        fetcher: TopicFetcher,
        progress: Callable[[int, int], None],
    ) -> None:
        self._settings, self._topic, self._ranges = settings, topic, ranges
        self._fetcher, self._progress = fetcher, progress
        self._reached = {number: first for number, (first, end) in ranges.items() if end > first}
        self._total = sum(ranges[number][1] - first for number, first in self._reached.items())
        self._refused = 0
        self.last_answer = time.monotonic()

    def fetches(self) -> Iterator[PartitionFetch]:
        """Give what brokers have, until all is reached; raises TurnsignalError when they fall silent."""
        while places := self._left():
            patience = self.last_answer + SILENCE_SECONDS - time.monotonic()
            if patience <= 0:
                raise _silence(self._topic, places, self._refused)
            for fetched in self._fetcher.fetch(places, patience):
                if self._left().get(fetched.partition) != fetched.offset:
                    continue  # asked of two brokers, as it went from one to the other
                if fetched.code:
                    self._refused = fetched.code
                    self.reach(fetched, _after_refusal(self._settings, self._topic, fetched))
                else:
                    yield fetched
            self.report()

    def reach(self, fetched: PartitionFetch, behind: int) -> None:
        """Take in that a partition is read up to an offset."""
        number, end = fetched.partition, self._ranges[fetched.partition][1]
        if behind > fetched.offset:
            self.last_answer, self._refused = time.monotonic(), 0
        self._reached[number] = min(behind, end)

    def is_held_back(self, fetched: PartitionFetch) -> bool:
        """Say whether an open transaction hides the rest from who reads committed records."""
        return fetched.stable <= self._reached[fetched.partition] < self._ranges[fetched.partition][1] <= fetched.end

    def leave(self, fetched: PartitionFetch) -> None:
        """Read no more of a partition."""
        self.reach(fetched, self._ranges[fetched.partition][1])

    def _left(self) -> dict[int, int]:
        """Return where each partition goes on that is not read to its end."""
        return {number: at for number, at in self._reached.items() if at < self._ranges[number][1]}

    def report(self) -> None:
        """Tell how many offsets lie behind."""
        behind = sum(at - self._ranges[number][0] for number, at in self._reached.items())
        self._progress(min(self._total, behind), self._total)


def _after_refusal(settings: Settings, topic: str, fetched: PartitionFetch) -> int:
    """Return the offset from which on a partition is asked for again; raises TurnsignalError where that is no use."""
    number, offset, code = fetched.partition, fetched.offset, fetched.code
    if code in _FOR_A_WHILE:
        return offset
    if code != KafkaError.OFFSET_OUT_OF_RANGE:
        msg = f"expected all of {topic}, got: {KafkaError(code).str()} (at {number}@{offset})"
        raise (ReadDeniedError if code == KafkaError.TOPIC_AUTHORIZATION_FAILED else TurnsignalError)(msg)
    first, end = find_log(settings, topic).get(number, (0, 0))
    if offset > end:
        msg = f"expected all of {topic}, got {topic}-{number} up to offset {end} instead of {offset}: was it made anew?"
        raise TurnsignalError(msg)
    return max(first, offset)


def _silence(topic: str, left: Mapping[int, int], refused: int) -> TurnsignalError:
    """Make the error about a broker that sends nothing more. left: partition → offset; refused: its last code, or 0."""
    places = ", ".join(f"{number}@{at}" for number, at in sorted(left.items())[:5])
    why = f" ({KafkaError(refused).str()})" if refused else ""
    return TurnsignalError(f"expected all of {topic}, got no answer for {SILENCE_SECONDS:.0f} s at {places}{why}")
