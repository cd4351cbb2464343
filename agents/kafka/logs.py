"""Logs: reading a range of a topic's partitions to its end, without a group and without a trace."""

import logging
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

from confluent_kafka import Consumer, IsolationLevel, KafkaError, KafkaException, TopicCollection, TopicPartition
from confluent_kafka.admin import AdminClient, ClusterMetadata, OffsetSpec

from turnsignal.agents.kafka.topics import ADMIN_SECONDS, MOCK_CLUSTER, absent_topic, log_bounds, topic_metadata
from turnsignal.agents.kafka.unpacked_log import pass_damage
from turnsignal.agents.settings import Settings
from turnsignal.stream.errors import TurnsignalError

logger = logging.getLogger("turnsignal.logs")

SILENCE_SECONDS = 30.0  #: after which a broker that sends nothing has no more to say
STILL_SECONDS = 5.0  #: after which it is looked whether partitions are held up by what nobody can unpack
AGAIN_SECONDS = 1.0  #: the same where one was
_AT_ONCE = 5_000  # messages that are asked for
_WAIT = 0.2  # seconds for them

#: What a broker says that searches times among records which it cannot read itself.
_UNPACKABLE = frozenset((KafkaError.INVALID_MSG, KafkaError.INVALID_RECORD))

#: partition → (first offset, the one behind the last)
Ranges = Mapping[int, tuple[int, int]]


class ReadDeniedError(TurnsignalError):
    """Say that this user may not read the topic."""


def find_log(settings: Settings, topic: str) -> Ranges:
    """Return the offsets that each partition of a topic still has; raises TurnsignalError where there is no topic."""
    admin = AdminClient({**settings.confluent(), "log_level": 0})
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
    admin = AdminClient({**settings.confluent(), "log_level": 0})
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
    admin = AdminClient({**settings.confluent(), "log_level": 0})
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


def _within(messages: Sequence[Any], reached: dict[int, int], left: dict[int, int]) -> dict[int, int] | None:
    """Return how far messages of one partition reach, None where one is none, is known or the last ends the range.

    reached, left: of the one partition, the offset behind the last that is known, and behind the last that is wanted.
    Looking at each message takes half as long as reading it.
    """
    if not messages or any(message.error() is not None for message in messages):
        return None
    ((number, end),) = left.items()
    behind = messages[-1].offset() + 1
    return {number: behind} if reached[number] <= messages[0].offset() and behind < end else None


def _answers(consumer: Consumer, topic: str, number: int) -> bool:
    try:
        consumer.get_watermark_offsets(TopicPartition(topic, number), timeout=STILL_SECONDS)
    except KafkaException:
        return False
    return True


def read_log(
    settings: Settings,
    topic: str,
    ranges: Ranges,
    *,
    committed: bool,
    progress: Callable[[int, int], None] = lambda *_: None,
) -> Iterator[Sequence[Any]]:
    """Give the messages of some partitions of a topic in lists, in the order of each partition.

    committed: leave out what transactions have not committed; a range then ends early where one is open. progress: told
    how many of how many offsets lie behind. What nobody can unpack is passed over, with a line in the log. Commits
    nothing. Raises TurnsignalError when the broker falls silent, ReadDeniedError when it refuses.
    """
    left = {number: end for number, (first, end) in ranges.items() if end > first}
    total = sum(end - ranges[number][0] for number, end in left.items())
    options = {
        "group.id": f"{settings.prefix}-reading",
        "enable.auto.commit": False,
        "enable.partition.eof": True,
        "isolation.level": "read_committed" if committed else "read_uncommitted",
        "auto.offset.reset": "earliest",
        "log_level": 0,
    }
    reached = {number: ranges[number][0] for number in left}
    consumer = Consumer({**settings.confluent(), **options})
    try:
        consumer.assign([TopicPartition(topic, number, first) for number, first in reached.items()])
        last_answer, looked_at, still = time.monotonic(), time.monotonic(), STILL_SECONDS
        while left:
            records: list[Any] = []
            messages = consumer.consume(_AT_ONCE, _WAIT)
            if messages:
                last_answer = looked_at = time.monotonic()
            elif time.monotonic() - looked_at > still:
                sound = looked_at - last_answer > 2 * STILL_SECONDS
                for number in sorted(left) if _answers(consumer, topic, min(left)) else ():
                    at = reached[number]
                    passed, behind = pass_damage(settings, topic, number, at, committed=committed, sound=sound)
                    if behind == at:
                        continue
                    still, last_answer = AGAIN_SECONDS, time.monotonic()
                    reached[number] = min(behind, left[number])
                    if within_range := [message for message in passed if message.offset() < left[number]]:
                        yield within_range
                    if behind < left[number]:
                        consumer.seek(TopicPartition(topic, number, behind))
                    else:
                        del left[number]
                looked_at = time.monotonic()
            if time.monotonic() - last_answer > SILENCE_SECONDS:
                msg = (
                    f"expected all of {topic}, got no answer for {SILENCE_SECONDS:.0f} s at"
                    f" {', '.join(f'{number}@{reached[number]}' for number in sorted(left)[:5])}"
                )
                raise TurnsignalError(msg)
            if len(ranges) == 1 and left and (within := _within(messages, reached, left)):
                records = messages
                reached = within
            for message in () if records else messages:
                error, number, offset = message.error(), message.partition(), message.offset()
                if error is not None and error.code() != KafkaError._PARTITION_EOF:
                    msg = f"expected all of {topic}, got: {error.str()}"
                    denied = error.code() == KafkaError.TOPIC_AUTHORIZATION_FAILED
                    raise (ReadDeniedError if denied else TurnsignalError)(msg)
                end = left.get(number)
                if end is None:
                    continue  # fetched ahead, behind the end of the range
                if error is None and reached[number] <= offset < end:
                    records.append(message)
                    reached[number] = offset + 1
                if error is not None or offset + 1 >= end:
                    reached[number] = end
                    del left[number]
            if records:
                yield records
            progress(min(total, sum(at - ranges[number][0] for number, at in reached.items())), total)
    finally:
        consumer.close()


def topic_ids(
    admin: AdminClient, metadata: ClusterMetadata, names: Sequence[str], timeout: float = ADMIN_SECONDS
) -> dict[str, str]:
    """Read the ids that tell two topics of one name apart, as 32 hex digits; none from a broker that has none.

    Raises KafkaException, and TurnsignalError when no answer comes within the timeout in seconds.
    """
    if metadata.cluster_id.startswith(MOCK_CLUSTER):
        return {}
    futures = admin.describe_topics(TopicCollection(list(names)), request_timeout=timeout)
    ids = {}
    for name, future in futures.items():
        try:
            uuid = future.result(timeout).topic_id
        except TimeoutError:  # it says nothing of its own
            msg = f"expected the broker to describe the topic {name} within {timeout:.0f} s, got no answer"
            raise TurnsignalError(msg) from None
        high, low = uuid.get_most_significant_bits(), uuid.get_least_significant_bits()
        ids[name] = f"{high % 2**64:016x}{low % 2**64:016x}"
    return ids
