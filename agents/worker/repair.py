"""Repair: set positions, partition counts and state right after a worker refused to go on, while no worker runs."""

import time
from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

from confluent_kafka import (
    ConsumerGroupState,
    ConsumerGroupTopicPartitions,
    KafkaError,
    KafkaException,
    TopicPartition,
)
from confluent_kafka.admin import AdminClient, NewPartitions

from turnsignal.agents.kafka.log_records import describe_lost
from turnsignal.agents.kafka.topics import ADMIN_SECONDS, TOPICS, Topic, admin_client, topic_ids, topic_metadata
from turnsignal.agents.settings import Settings
from turnsignal.agents.worker.checkpoints import Checkpoint, checkpoint_record
from turnsignal.agents.worker.positions import Position, encode_commit_metadata, read_positions
from turnsignal.agents.worker.restore import restore_changelog
from turnsignal.agents.worker.rewriting import (
    StateRecord,
    deletable,
    is_left_deletable,
    make_producer,
    rewrite_partition,
    write_records,
)
from turnsignal.agents.worker.unreadable_state import find_unreadable, show_key
from turnsignal.stream.errors import ConfigError, TurnsignalError
from turnsignal.stream.records.wire import Undecodable


class Unread(NamedTuple):
    """What is not read of the state.

    partition, key_or_offsets: where it stands; wrong: what is wrong with it.
    """

    partition: int
    key_or_offsets: str
    wrong: str


class Dropped(NamedTuple):
    """What became of what is not read. damaged, newer: what was left."""

    dropped: list[Unread]
    damaged: list[Unread]
    newer: list[Unread]


class Repaired(NamedTuple):
    """A position that `repair` set; before: None when nothing was committed."""

    topic: str
    partition: int
    before: int | None
    after: int


def aligned_counts(settings: Settings) -> dict[str, int]:
    """Ask for the partition counts that must be equal; a topic that is absent has 0."""
    topics = topic_metadata(admin_client(settings)).topics
    names = [topic.pattern.format(settings.prefix) for topic in TOPICS if topic.aligned]
    return {name: len(topics[name].partitions) if name in topics else 0 for name in names}


def repair(
    settings: Settings,
    app: str,
    to: Literal["earliest", "latest", "accept", "state"] | Mapping[tuple[str, int], int],
) -> list[Repaired]:
    """Set an app's positions, with fresh commit metadata and checkpoints; `check_positions` then lets it go on.

    to: earliest and latest go to the log's bounds; accept keeps a position that the log still has, and takes the
    earliest for the others, of a topic that was made anew too; state goes to where the state is; or offsets for some
    (topic, partition)s. Raises ConfigError when the group has members, or an offset is outside of its log.
    """
    admin = admin_client(settings)
    group = settings.app_id(app)
    _expect_empty(admin, settings, group)
    changelog = changelog_of(settings, app)
    positions = read_positions(settings, app)
    if to == "state":
        positions = _with_state(settings, changelog, positions)
    changes = []
    for position in positions:
        after = _target(position, to)
        if after is not None:
            changes.append((position, after))
    ids = topic_ids(admin, topic_metadata(admin), [changelog], ADMIN_SECONDS)
    _write_checkpoints(settings, changelog, ids.get(changelog, ""), positions, changes)
    places = [
        TopicPartition(old.topic, old.partition, after, encode_commit_metadata(old.topic_id, old.partitions))
        for old, after in changes
    ]
    try:
        request = [ConsumerGroupTopicPartitions(group, places)]
        answer = admin.alter_consumer_group_offsets(request, request_timeout=ADMIN_SECONDS)[group].result(ADMIN_SECONDS)
        refused = next((place.error for place in answer.topic_partitions if place.error), None)
    except KafkaException as error:
        refused = error.args[0]
    if refused is not None:
        msg = f"expected the broker to set the positions of {group}, got: {refused.str()}"
        raise TurnsignalError(msg)
    return [Repaired(old.topic, old.partition, old.committed, after) for old, after in changes]


def drop_unreadable(settings: Settings, app: str, *, damaged: bool = True, newer: bool = False) -> Dropped:
    """Drop what is not read of an app's state; return it, and what is left.

    Entries are written over with tombstones; where nobody can unpack a batch, all the rest is written once more, and
    what stood before is deleted. damaged: drop what no version reads; newer: entries that a newer version wrote. Raises
    ConfigError when the group has members, or there is no state.
    """
    admin = admin_client(settings)
    _expect_empty(admin, settings, settings.app_id(app))
    topic = _changelog(app)
    changelog = topic.pattern.format(settings.prefix)
    topics = topic_metadata(admin).topics
    if changelog not in topics:
        msg = f"expected the topic {changelog}, which holds the state of {app}, got none: is TURNSIGNAL_PREFIX right?"
        raise ConfigError(msg)
    all_of_it, tombstones = Dropped([], [], []), list[StateRecord]()
    to_rewrite: dict[int, tuple[dict[bytes, bytes], Checkpoint | None]] = {}
    for number in topics[changelog].partitions:  # all are read before anything is written
        store: dict[bytes, bytes] = {}
        lost: list[Undecodable] = []
        restored = restore_changelog(settings, changelog, number, store, passed_over=lost.append)
        unreadable = find_unreadable(app, store)
        gone = {*(unreadable.damaged if damaged else ()), *(unreadable.newer if newer else ())}
        for wrong, drops, left in (
            (unreadable.damaged, damaged, all_of_it.damaged),
            (unreadable.newer, newer, all_of_it.newer),
        ):
            kept = all_of_it.dropped if drops else left
            kept.extend(Unread(number, show_key(key), str(error)) for key, error in wrong.items())
        (all_of_it.dropped if damaged else all_of_it.damaged).extend(
            Unread(number, *describe_lost(each)) for each in lost
        )
        if lost and damaged:
            left_over = {key: value for key, value in store.items() if key not in gone}
            to_rewrite[number] = left_over, restored.checkpoint
            continue
        tombstones += [(number, key, None, None) for key in sorted(gone)]
        if gone and restored.checkpoint:
            # A dropped entry may have carried the newest one, which compaction takes away with it.
            tombstones.append((number, *checkpoint_record(restored.checkpoint)))
    if to_rewrite or is_left_deletable(settings, topic):
        with deletable(settings, topic):
            for number, (left_over, checkpoint) in to_rewrite.items():
                rewrite_partition(settings, changelog, number, left_over, checkpoint)
    write_records(make_producer(settings), changelog, tombstones, "tombstones")
    return all_of_it


def changelog_of(settings: Settings, app: str) -> str:
    """Name the topic of an app's state."""
    return _changelog(app).pattern.format(settings.prefix)


def _changelog(app: str) -> Topic:
    (topic,) = [topic for topic in TOPICS if app in topic.readers and app in topic.writers]
    return topic


def _with_state(settings: Settings, changelog: str, positions: Sequence[Position]) -> list[Position]:
    """Add to each position what the checkpoint beside its state says."""
    kept = {}
    for number in {position.partition for position in positions}:
        restored = restore_changelog(settings, changelog, number, {})
        kept[number] = restored.checkpoint.positions if restored.checkpoint else {}
    return [position._replace(kept=kept[position.partition].get(position.topic)) for position in positions]


def _write_checkpoints(
    settings: Settings,
    changelog: str,
    changelog_id: str,
    standing: Sequence[Position],
    changes: Sequence[tuple[Position, int]],
) -> None:
    """Have the changelog agree with positions that are about to be set."""
    after = {(old.topic, old.partition): to for old, to in changes}
    producer = make_producer(settings)
    numbers, end = sorted({old.partition for old, _ in changes}), time.monotonic() + ADMIN_SECONDS
    # A partition that was added just now may not be known everywhere yet, and what is sent to it would be refused.
    while numbers and len(producer.list_topics(changelog, ADMIN_SECONDS).topics[changelog].partitions) <= numbers[-1]:
        if time.monotonic() > end:
            break
        time.sleep(0.1)
    records: list[StateRecord] = []
    for number in numbers:
        here = [position for position in standing if position.partition == number]
        positions = {p.topic: after.get((p.topic, number), p.committed) for p in here}
        checkpoint = Checkpoint(
            positions={topic: at for topic, at in positions.items() if at is not None},
            ids={p.topic: p.topic_id for p in here} | {changelog: changelog_id},
        )
        records.append((number, *checkpoint_record(checkpoint)))
    write_records(producer, changelog, records, "the new positions")


def align_partitions(settings: Settings) -> dict[str, int]:
    """Give the topics that must have equal partition counts as many as the largest has; returns what was raised."""
    counts = aligned_counts(settings)
    most = max(counts.values())
    fewer = [NewPartitions(name, most) for name, count in counts.items() if 0 < count < most]
    admin = admin_client(settings)
    try:
        futures = admin.create_partitions(fewer, operation_timeout=ADMIN_SECONDS) if fewer else {}
        for future in futures.values():
            future.result(ADMIN_SECONDS)
    except KafkaException as error:
        msg = f"expected the broker to add partitions, got: {error.args[0].str()}"
        raise TurnsignalError(msg) from None
    # Until brokers tell of the new partitions, commits would carry the old counts, and be refused for it.
    end = time.monotonic() + ADMIN_SECONDS
    while fewer and any(0 < count < most for count in aligned_counts(settings).values()):
        if time.monotonic() > end:
            msg = f"expected {most} partitions everywhere within {ADMIN_SECONDS:.0f} s, got fewer: repeat it"
            raise TurnsignalError(msg)
        time.sleep(0.1)
    return {name: most for name, count in counts.items() if 0 < count < most}


def _target(position: Position, to: str | Mapping[tuple[str, int], int]) -> int | None:
    low, high, committed = position.low, position.high, position.committed
    if to == "state":
        return position.kept if position.kept is not None and low <= position.kept <= high else committed
    if to == "earliest":
        return low
    if to == "latest":
        return high
    if isinstance(to, str):
        return committed if committed is not None and low <= committed <= high and not position.recreated else low
    offset = to.get((position.topic, position.partition))
    if offset is not None and not low <= offset <= high:
        msg = f"{position}: expected an offset from {low} to {high}, got {offset}"
        raise ConfigError(msg)
    return offset


def _expect_empty(admin: AdminClient, settings: Settings, group: str) -> None:
    """Wait until a worker that has just refused and ended counts as gone; raises ConfigError while one is there."""
    deadline = time.monotonic() + settings.session_timeout + 2.0
    while members := _members(admin, group):
        if time.monotonic() > deadline:
            shown = ", ".join(members)
            msg = f"expected no worker in the group {group}, got {len(members)} ({shown}); stop them first"
            raise ConfigError(msg)
        time.sleep(0.2)


def _members(admin: AdminClient, group: str) -> list[str]:
    """Return where the members of a group are; none of one that never was."""
    try:
        group_now = admin.describe_consumer_groups([group], request_timeout=ADMIN_SECONDS)[group].result(ADMIN_SECONDS)
    except KafkaException as error:
        if error.args[0].code() == KafkaError.GROUP_ID_NOT_FOUND:  # Kafka 4: a group that never was
            return []
        msg = f"expected the broker to describe the group {group}, got: {error.args[0].str()}"
        raise TurnsignalError(msg) from None
    if group_now.state in (ConsumerGroupState.EMPTY, ConsumerGroupState.DEAD):
        return []
    return [member.host for member in group_now.members] or ["one that is joining"]
