"""Positions: is the place where a group would go on reading still the place that its state belongs to?

Kafka answers a position that makes no sense any more by silently starting elsewhere: after a topic was recreated, its
records expired unread, the group's offsets expired, or partitions were added, a worker would skip or repeat records and
nobody would know. So positions are compared at assignment, and the worker refuses with what to do about it. Each commit
carries the topic's id and partition count as its metadata, and the changelog a checkpoint with positions and topic ids.
They make these cases certain instead of likely: positions that are gone are restored from the checkpoint, and a
changelog that is gone, or empty, is missed by the positions.
"""

import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from enum import StrEnum
from typing import NamedTuple

from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition

from turnsignal.agents.kafka.topics import ADMIN_SECONDS, admin_client, inputs, log_bounds, topic_ids, topic_metadata
from turnsignal.agents.settings import Settings
from turnsignal.stream.errors import ConfigError, TurnsignalError

_NO_COORDINATOR_YET = (
    KafkaError.NOT_COORDINATOR,
    KafkaError.COORDINATOR_NOT_AVAILABLE,
    KafkaError.COORDINATOR_LOAD_IN_PROGRESS,
)


class Position(NamedTuple):
    """Where a group stands in one partition.

    low: the first offset still there; high: the next to be written; committed: the next to be read, None when nothing
    is committed; commit_metadata: "" when the commit was made without; topic_id, partitions: the topic's own, now (id
    "" on a broker that does not tell); state: the last offset that the restored state has applied, None without state;
    kept, kept_id: position and topic id in the changelog's checkpoint, None and "" without one.
    """

    topic: str
    partition: int
    low: int
    high: int
    committed: int | None = None
    commit_metadata: str = ""
    topic_id: str = ""
    partitions: int = 0
    state: int | None = None
    kept: int | None = None
    kept_id: str = ""

    @property
    def recreated(self) -> bool:
        """Whether the commit is of another topic of the same name."""
        topic_id = self.commit_metadata.partition("/")[0]
        return bool(topic_id and self.topic_id and topic_id != self.topic_id)

    @property
    def known(self) -> int | None:
        """The next offset to be read: the group's, else the one that the checkpoint kept; None at a first start."""
        return self.kept if self.committed is None else self.committed

    def __str__(self) -> str:
        return f"{self.topic}-{self.partition}"


class Changelog(NamedTuple):
    """What is known of the changelog partition that belongs to some positions.

    end: the next offset to be written, 0 when nothing ever was; topic_id: now; kept_id: as its checkpoint says, ""
    without one; records: how many could be read of it, tombstones and checkpoints too.
    """

    topic: str
    partition: int
    end: int
    topic_id: str = ""
    kept_id: str = ""
    records: int = 1

    @property
    def another(self) -> bool:
        """Whether it is not the one that the state was written to."""
        return bool(self.kept_id and self.topic_id and self.kept_id != self.topic_id)

    @property
    def lost(self) -> str:
        """Say in words what it is where it cannot hold the state of what was read, "" where it can.

        Whatever commits a position writes a checkpoint with it or before it, and compaction keeps the last record of a
        log: without any record, somebody has deleted them.
        """
        if self.another or not self.end:
            return "a changelog that was made anew and knows nothing of it"
        return "" if self.records else f"a changelog without a record before its end {self.end}: they were deleted"

    def __str__(self) -> str:
        return f"{self.topic}-{self.partition}"


class Trouble(StrEnum):
    """What can be wrong with a position."""

    PARTITIONS_ADDED = "partitions_added"  #: keys went to other partitions than their state
    RECREATED = "recreated"  #: another topic under the same name
    RECORDS_EXPIRED = "records_expired"  #: retention deleted records before they were read
    OFFSETS_EXPIRED = "offsets_expired"  #: the group's positions are gone, its state is not
    MOVED = "moved"  #: somebody set the position with another tool
    STATE_LOST = "state_lost"  #: the changelog was made anew or emptied, and the positions were not


class PositionProblem(NamedTuple):
    """One trouble, where it is, and a sentence that says what was expected, what came and what to do."""

    trouble: Trouble
    where: str
    sentence: str


def encode_commit_metadata(topic_id: str, partitions: int) -> str:
    """Format the metadata that a commit carries: `ce6bd89d8767438997ab58b69114f24f/4`."""
    return f"{topic_id}/{partitions}"


def find_troubles(
    positions: Iterable[Position],
    counts: Mapping[str, int],
    app: str,
    changelogs: Iterable[Changelog] = (),
) -> list[PositionProblem]:
    """Compare an app's positions with its logs and its state; an empty list says that it may go on.

    counts: partition counts of the topics that must have equal ones, the changelog included; changelogs: of the
    partitions that the positions are of.
    """
    positions = list(positions)
    repair = f"stop all {app} workers, then `turnsignal topics repair {app}"
    findings = []
    if len(set(counts.values())) > 1:
        shown = ", ".join(f"{name} {count}" for name, count in counts.items())
        sentence = (
            f"expected equal partition counts, got {shown}: partitions were added, and keys moved away from their"
            f" state; {repair} --align` gives the others as many and begins moved conversations anew"
        )
        findings.append(PositionProblem(Trouble.PARTITIONS_ADDED, max(counts, key=lambda name: counts[name]), sentence))
    read = {position.partition: position for position in positions if position.committed}
    for changelog in changelogs:
        before = read.get(changelog.partition)
        if before is not None and changelog.lost:
            sentence = (
                f"expected the state of what was read up to {before}@{before.committed}, got {changelog.lost};"
                f" {repair} --to earliest` computes it again from what the logs still have, `--to accept` goes on"
                " without it"
            )
            findings.append(PositionProblem(Trouble.STATE_LOST, str(changelog), sentence))
    for position in positions:
        problem = _problem_of(position)
        if problem is not None:
            trouble, happened, remedy = problem
            findings.append(PositionProblem(trouble, str(position), f"{happened}; {repair} --to {remedy}"))
    return findings


def check_positions(
    positions: Sequence[Position],
    counts: Mapping[str, int],
    app: str,
    *,
    changelogs: Sequence[Changelog] = (),
) -> None:
    """Refuse to go on from a position that makes no sense; arguments as in `find_troubles`.

    Raises ConfigError, one line: the first trouble, where the same is the case, how many others there are, and the
    command that repairs it.
    """
    findings = find_troubles(positions, counts, app, changelogs)
    if findings:
        first = findings[0]
        alike = [problem.where for problem in findings[1:] if problem.trouble is first.trouble]
        shown = f"{first.where}{f' and {len(alike)} more partitions' if alike else ''}"
        others = len(findings) - 1 - len(alike)
        more = f" (and {others} other troubles)" if others else ""
        msg = f"{shown}: {first.sentence}{more}"
        raise ConfigError(msg)


def _problem_of(position: Position) -> tuple[Trouble, str, str] | None:
    """Say what is wrong with one position, and to where it may be repaired."""
    low, high, committed = position.low, position.high, position.known
    if committed is None:
        if position.state is None:
            return None  # a first start, or a partition that has had no records
        return _expired(position)
    if position.committed is None:
        if position.kept_id and position.topic_id and position.kept_id != position.topic_id:
            return Trouble.RECREATED, _RECREATED, _WHAT_THERE_IS
        if position.state is not None and position.state >= committed:
            return _expired(position)  # workers that know no checkpoints have gone on from it
    elif position.commit_metadata and position.topic_id:
        partitions = position.commit_metadata.partition("/")[2]
        if position.recreated:
            return Trouble.RECREATED, _RECREATED, _WHAT_THERE_IS
        if partitions != str(position.partitions):
            happened = (
                f"expected {partitions} partitions as before, got {position.partitions}: keys moved away from state"
            )
            return Trouble.PARTITIONS_ADDED, happened, "accept` goes on and begins moved conversations anew"
    if committed > high:
        happened = f"expected the position {committed} within the log, got an end of {high} (recreated or truncated)"
        return Trouble.RECREATED, happened, _WHAT_THERE_IS
    if committed < low:
        happened = (
            f"expected the record at {committed}, got a log that begins at {low}: {low - committed} expired unread"
        )
        return Trouble.RECORDS_EXPIRED, happened, "accept` goes on without them"
    if position.committed is not None and not position.commit_metadata:
        happened = f"expected a position set by turnsignal, got {committed}, set by another tool"
        return Trouble.MOVED, happened, "accept` goes on from there"
    return None


def _expired(position: Position) -> tuple[Trouble, str, str]:
    happened = f"expected a committed position after offset {position.state} of the state, got none (it expired)"
    after = (position.state or 0) + 1
    return (
        Trouble.OFFSETS_EXPIRED,
        happened,
        "state` reads on where the state is" if position.low <= after <= position.high else _WHAT_THERE_IS,
    )


_WHAT_THERE_IS = "accept` reads what there is of it"
_RECREATED = "expected the topic that was read so far, got another under the same name (it was recreated)"


def read_positions(
    settings: Settings, app: str, partitions: Collection[int] | None = None, timeout: float = ADMIN_SECONDS
) -> list[Position]:
    """Ask the broker where an app's group stands in its inputs; open transactions on those partitions are awaited.

    partitions: which numbers, all of them by default. Raises TurnsignalError when a topic is absent or the broker does
    not answer within the timeout in seconds.
    """
    admin = admin_client(settings)
    metadata = topic_metadata(admin, timeout)
    read = {topic.pattern.format(settings.prefix): topic for topic in inputs(app)}
    names = [name for name, topic in read.items() if not topic.optional or name in metadata.topics]
    counts = {name: len(metadata.topics[name].partitions) for name in names if name in metadata.topics}
    if absent := [name for name in names if not counts.get(name)]:
        msg = f"expected the topics {', '.join(names)}, got no {', '.join(absent)}; try `turnsignal topics create`"
        raise TurnsignalError(msg)
    wanted = {
        name: [number for number in range(count) if partitions is None or number in partitions]
        for name, count in counts.items()
    }
    try:
        ids = topic_ids(admin, metadata, names, timeout)
        bounds = log_bounds(admin, wanted, timeout)
        committed = _committed(settings, app, wanted, timeout)
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
            commit_metadata=place.metadata or "",
            topic_id=ids.get(place.topic, ""),
            partitions=counts[place.topic],
        )
        for place in committed
    ]


def _committed(
    settings: Settings, app: str, wanted: Mapping[str, Sequence[int]], timeout: float
) -> list[TopicPartition]:
    """Read the group's positions, those of open transactions awaited, without joining it.

    Asks again while the group has no coordinator: the first question to a new broker has it made.
    """
    group = {"group.id": settings.app_id(app), "enable.auto.commit": False, "log_level": 0}
    consumer = Consumer({**settings.confluent(), **group})
    deadline = time.monotonic() + timeout
    try:
        while True:
            partitions = [TopicPartition(name, number) for name, numbers in wanted.items() for number in numbers]
            try:
                committed: list[TopicPartition] = consumer.committed(partitions, timeout=timeout)
            except KafkaException as error:
                if error.args[0].code() not in _NO_COORDINATOR_YET or time.monotonic() > deadline:
                    raise
                time.sleep(0.05)
            else:
                return committed
    finally:
        consumer.close()
