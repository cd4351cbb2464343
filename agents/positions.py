"""Positions: is the place where a group would go on reading still the place that its state belongs to?

Kafka answers a position that makes no sense any more by silently starting elsewhere: after a topic was recreated, its
records expired unread, the group's offsets expired, or partitions were added, a worker would skip or repeat records and
nobody would know. So positions are compared at assignment, and the worker refuses with what to do about it. Each commit
carries a mark, the topic's id and partition count, which makes most of these cases certain instead of likely.
"""

import time
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Literal, NamedTuple

from confluent_kafka import (
    Consumer,
    ConsumerGroupState,
    ConsumerGroupTopicPartitions,
    KafkaError,
    KafkaException,
    TopicCollection,
    TopicPartition,
)
from confluent_kafka.admin import AdminClient, NewPartitions

from agents.settings import Settings
from agents.topics import ADMIN_SECONDS, MOCK_CLUSTER, TOPICS, inputs, log_bounds, topic_metadata
from stream.errors import ConfigError, TurnsignalError

_NO_COORDINATOR_YET = (
    KafkaError.NOT_COORDINATOR,
    KafkaError.COORDINATOR_NOT_AVAILABLE,
    KafkaError.COORDINATOR_LOAD_IN_PROGRESS,
)


class Position(NamedTuple):
    """Where a group stands in one partition.

    low: the first offset still there; high: the next to be written; committed: the next to be read, None when nothing
    is committed; mark: what the commit carries, "" when it was made without one; topic_id, partitions: the topic's own,
    now (id "" on a broker that does not tell); state: the last offset that the restored state has applied, None
    without state.
    """

    topic: str
    partition: int
    low: int
    high: int
    committed: int | None = None
    mark: str = ""
    topic_id: str = ""
    partitions: int = 0
    state: int | None = None

    def __str__(self) -> str:
        return f"{self.topic}-{self.partition}"


class Trouble(StrEnum):
    """What can be wrong with a position."""

    PARTITIONS_ADDED = "partitions_added"  #: keys went to other partitions than their state
    RECREATED = "recreated"  #: another topic under the same name
    RECORDS_EXPIRED = "records_expired"  #: retention deleted records before they were read
    OFFSETS_EXPIRED = "offsets_expired"  #: the group's positions are gone, its state is not
    MOVED = "moved"  #: somebody set the position with another tool


class Finding(NamedTuple):
    """One trouble, where it is, and a sentence that says what was expected, what came and what to do."""

    trouble: Trouble
    where: str
    sentence: str


class Repaired(NamedTuple):
    """A position that `repair` set; before: None when nothing was committed."""

    topic: str
    partition: int
    before: int | None
    after: int


def make_mark(topic_id: str, partitions: int) -> str:
    """Spell what a commit carries as its metadata: `ce6bd89d8767438997ab58b69114f24f/4`."""
    return f"{topic_id}/{partitions}"


def find_troubles(positions: Iterable[Position], counts: Mapping[str, int], app: str, marked: bool) -> list[Finding]:
    """Compare an app's positions with its logs and its state; an empty list says that it may go on.

    counts: partition counts of the topics that must have equal ones, the changelog included; marked: whether this app's
    commits carry marks; without, a recreated topic is seen only when it is shorter than the position.
    """
    repair = f"stop all {app} workers, then `turnsignal topics repair {app}"
    findings = []
    if len(set(counts.values())) > 1:
        shown = ", ".join(f"{name} {count}" for name, count in counts.items())
        sentence = (
            f"expected equal partition counts, got {shown}: partitions were added, and keys moved away from their"
            f" state; {repair} --align` gives the others as many and begins moved conversations anew"
        )
        findings.append(Finding(Trouble.PARTITIONS_ADDED, max(counts, key=lambda name: counts[name]), sentence))
    for position in positions:
        found = _judge(position, marked)
        if found is not None:
            trouble, happened, remedy = found
            findings.append(Finding(trouble, str(position), f"{happened}; {repair} --to {remedy}"))
    return findings


def check_positions(positions: Sequence[Position], counts: Mapping[str, int], app: str, *, marked: bool) -> None:
    """Refuse to go on from a position that makes no sense; arguments as in `find_troubles`.

    Raises ConfigError, one line: the first trouble, how many more there are, and the command that repairs it.
    """
    findings = find_troubles(positions, counts, app, marked)
    if findings:
        first = findings[0]
        more = f" (and {len(findings) - 1} more)" if len(findings) > 1 else ""
        msg = f"{first.where}: {first.sentence}{more}"
        raise ConfigError(msg)


def _judge(position: Position, marked: bool) -> tuple[Trouble, str, str] | None:
    """Say what is wrong with one position, and to where it may be repaired."""
    low, high, committed = position.low, position.high, position.committed
    if committed is None:
        if position.state is None:
            return None  # a first start, or a partition that has had no records
        happened = f"expected a committed position after offset {position.state} of the state, got none (it expired)"
        after = position.state + 1
        return (
            Trouble.OFFSETS_EXPIRED,
            happened,
            f"{after} --in {position}` reads on there" if low <= after <= high else _EARLIEST,
        )
    if marked and position.mark and position.topic_id:
        topic_id, _, partitions = position.mark.partition("/")
        if topic_id != position.topic_id:
            happened = "expected the topic that was read so far, got another under the same name (it was recreated)"
            return Trouble.RECREATED, happened, _EARLIEST
        if partitions != str(position.partitions):
            happened = (
                f"expected {partitions} partitions as before, got {position.partitions}: keys moved away from state"
            )
            return Trouble.PARTITIONS_ADDED, happened, "accept` goes on and begins moved conversations anew"
    if committed > high:
        happened = f"expected the position {committed} within the log, got an end of {high} (recreated or truncated)"
        return Trouble.RECREATED, happened, _EARLIEST
    if committed < low:
        happened = (
            f"expected the record at {committed}, got a log that begins at {low}: {low - committed} expired unread"
        )
        return Trouble.RECORDS_EXPIRED, happened, "earliest` goes on without them"
    if marked and not position.mark:
        happened = f"expected a position set by turnsignal, got {committed}, set by another tool"
        return Trouble.MOVED, happened, "accept` goes on from there"
    if not marked and position.state is not None and committed <= position.state:
        happened = f"expected a position after offset {position.state} of the state, got {committed} (it was set back)"
        return Trouble.MOVED, happened, f"{position.state + 1} --in {position}` reads on where the state is"
    return None


_EARLIEST = "earliest` reads what there is"


def read_positions(
    settings: Settings, app: str, state: Mapping[tuple[str, int], int] | None = None, timeout: float = ADMIN_SECONDS
) -> list[Position]:
    """Ask the broker where an app's group stands in every partition of its inputs.

    state: (topic, partition) → last applied offset of the restored state. Raises TurnsignalError when a topic is absent
    or the broker does not answer within the timeout in seconds.
    """
    admin = AdminClient({**settings.confluent(), "log_level": 0})
    metadata = topic_metadata(admin, timeout)
    names = [topic.pattern.format(settings.prefix) for topic in inputs(app)]
    counts = {name: len(metadata.topics[name].partitions) for name in names if name in metadata.topics}
    if absent := [name for name in names if not counts.get(name)]:
        msg = f"expected the topics {', '.join(names)}, got no {', '.join(absent)}; try `turnsignal topics create`"
        raise TurnsignalError(msg)
    try:
        told = not metadata.cluster_id.startswith(MOCK_CLUSTER)
        ids = _topic_ids(admin, names, timeout) if told else {}
        bounds = log_bounds(admin, counts, timeout)
        committed = _committed(settings, app, counts, timeout)
    except KafkaException as error:
        msg = f"expected the positions of {settings.app_id(app)}, got: {error.args[0].str()}"
        raise TurnsignalError(msg) from None
    return [
        Position(
            topic=place.topic,
            partition=place.partition,
            low=bounds[place.topic][place.partition][0],
            high=bounds[place.topic][place.partition][1],
            committed=place.offset if place.offset >= 0 else None,  # −1001: nothing committed
            mark=place.metadata or "",
            topic_id=ids.get(place.topic, ""),
            partitions=counts[place.topic],
            state=(state or {}).get((place.topic, place.partition)),
        )
        for place in committed
    ]


def aligned_counts(settings: Settings, timeout: float = ADMIN_SECONDS) -> dict[str, int]:
    """Ask for the partition counts that must be equal; a topic that is absent has 0."""
    topics = topic_metadata(AdminClient({**settings.confluent(), "log_level": 0}), timeout).topics
    names = [topic.pattern.format(settings.prefix) for topic in TOPICS if topic.aligned]
    return {name: len(topics[name].partitions) if name in topics else 0 for name in names}


def repair(
    settings: Settings,
    app: str,
    to: Literal["earliest", "latest", "accept"] | Mapping[tuple[str, int], int],
    timeout: float = ADMIN_SECONDS,
) -> list[Repaired]:
    """Set an app's positions, with fresh marks; `check_positions` then lets it go on.

    to: earliest and latest go to the log's bounds; accept keeps a position that the log still has, and takes the
    earliest for the others; or offsets for some (topic, partition)s. Raises ConfigError when the group has members, or
    an offset is outside of its log.
    """
    admin = AdminClient({**settings.confluent(), "log_level": 0})
    group = settings.app_id(app)
    _expect_empty(admin, group, timeout)
    changes = []
    for position in read_positions(settings, app, timeout=timeout):
        after = _target(position, to)
        if after is not None:
            changes.append((position, after))
    places = [
        TopicPartition(old.topic, old.partition, after, make_mark(old.topic_id, old.partitions))
        for old, after in changes
    ]
    try:
        request = [ConsumerGroupTopicPartitions(group, places)]
        answer = admin.alter_consumer_group_offsets(request, request_timeout=timeout)[group].result(timeout)
        refused = next((place.error for place in answer.topic_partitions if place.error), None)
    except KafkaException as error:
        refused = error.args[0]
    if refused is not None:
        msg = f"expected the broker to set the positions of {group}, got: {refused.str()}"
        raise TurnsignalError(msg)
    return [Repaired(old.topic, old.partition, old.committed, after) for old, after in changes]


def align_partitions(settings: Settings, timeout: float = ADMIN_SECONDS) -> dict[str, int]:
    """Give the topics that must have equal partition counts as many as the largest has; returns what was raised."""
    counts = aligned_counts(settings, timeout)
    most = max(counts.values())
    fewer = [NewPartitions(name, most) for name, count in counts.items() if 0 < count < most]
    admin = AdminClient({**settings.confluent(), "log_level": 0})
    try:
        futures = admin.create_partitions(fewer, operation_timeout=timeout) if fewer else {}
        for future in futures.values():
            future.result(timeout)
    except KafkaException as error:
        msg = f"expected the broker to add partitions, got: {error.args[0].str()}"
        raise TurnsignalError(msg) from None
    return {name: most for name, count in counts.items() if 0 < count < most}


def _target(position: Position, to: str | Mapping[tuple[str, int], int]) -> int | None:
    low, high, committed = position.low, position.high, position.committed
    if to == "earliest":
        return low
    if to == "latest":
        return high
    if isinstance(to, str):
        return committed if committed is not None and low <= committed <= high else low
    offset = to.get((position.topic, position.partition))
    if offset is not None and not low <= offset <= high:
        msg = f"{position}: expected an offset from {low} to {high}, got {offset}"
        raise ConfigError(msg)
    return offset


def _expect_empty(admin: AdminClient, group: str, timeout: float) -> None:
    try:
        found = admin.describe_consumer_groups([group], request_timeout=timeout)[group].result(timeout)
    except KafkaException as error:
        if error.args[0].code() == KafkaError.GROUP_ID_NOT_FOUND:  # Kafka 4: a group that never was
            return
        msg = f"expected the broker to describe the group {group}, got: {error.args[0].str()}"
        raise TurnsignalError(msg) from None
    if found.state not in (ConsumerGroupState.EMPTY, ConsumerGroupState.DEAD):
        members = ", ".join(member.host for member in found.members) or "one that is joining"
        msg = f"expected no worker in the group {group}, got {len(found.members)} ({members}); stop them first"
        raise ConfigError(msg)


def _topic_ids(admin: AdminClient, names: list[str], timeout: float) -> dict[str, str]:
    """Read the ids that tell two topics of one name apart, as 32 hex digits."""
    futures = admin.describe_topics(TopicCollection(names), request_timeout=timeout)
    ids = {}
    for name, future in futures.items():
        uuid = future.result(timeout).topic_id
        high, low = uuid.get_most_significant_bits(), uuid.get_least_significant_bits()
        ids[name] = f"{high % 2**64:016x}{low % 2**64:016x}"
    return ids


def _committed(settings: Settings, app: str, counts: Mapping[str, int], timeout: float) -> list[TopicPartition]:
    """Read the group's positions, those of open transactions awaited, without joining it.

    Asks again while the group has no coordinator: the first question to a new broker has it made.
    """
    group = {"group.id": settings.app_id(app), "enable.auto.commit": False, "log_level": 0}
    consumer = Consumer({**settings.confluent(), **group})
    deadline = time.monotonic() + timeout
    try:
        while True:
            places = [TopicPartition(name, number) for name, count in counts.items() for number in range(count)]
            try:
                found: list[TopicPartition] = consumer.committed(places, timeout=timeout)
            except KafkaException as error:
                if error.args[0].code() not in _NO_COORDINATOR_YET or time.monotonic() > deadline:
                    raise
                time.sleep(0.05)
            else:
                return found
    finally:
        consumer.close()
