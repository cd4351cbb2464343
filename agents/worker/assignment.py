"""Assignment: become the owner of partitions, with their state.

Former owners are fenced first, so that positions read afterwards are final; then states are restored, many side by
side; state and position are compared, for all partitions before anything is said; and only then does each partition
commit that it begins here. Whoever is told meanwhile that the partitions are not its own any more stops before the next
step: a fence that comes too late would end the rightful owner.
"""

import logging
import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial

from confluent_kafka import Consumer

from turnsignal.agents.kafka.topics import admin_client, log_bounds, topic_ids, topic_metadata
from turnsignal.agents.metrics.exposition import WorkerMetrics
from turnsignal.agents.settings import Settings
from turnsignal.agents.worker.checkpoints import Checkpoint
from turnsignal.agents.worker.limits import RecordLimits
from turnsignal.agents.worker.open_files import warn_of_shortage
from turnsignal.agents.worker.partition_task import AppSpec, PartitionTask, Processor
from turnsignal.agents.worker.positions import (
    Changelog,
    Position,
    check_positions,
    encode_commit_metadata,
    read_positions,
)
from turnsignal.agents.worker.restore import DamageError, RestoredChangelog, restore_changelog
from turnsignal.agents.worker.stores import make_store
from turnsignal.agents.worker.transactions import TransactionWriter
from turnsignal.agents.worker.unreadable_state import describe_damage, locate_unreadable
from turnsignal.stream.errors import SchemaError

logger = logging.getLogger("turnsignal.assignment")

_SIDE_BY_SIDE = 16  #: partitions that are fenced or restored at a time


class OutdatedError(Exception):
    """A take-over that is not wanted any more; another one follows, or the process ends."""


@dataclass(slots=True)
class _State:
    """What was read of one partition on the way to its task; applied: the last input offset in it, −1 for none."""

    writer: TransactionWriter
    processor: Processor
    restored: RestoredChangelog
    applied: int


class Assignment:
    """One take-over of some partition numbers, in threads of its own.

    wanted: asked before each step; limits: of what is written; group: a consumer that names the group; progress: told
    (table, entries, changelog records still to be read).
    """

    def __init__(
        self,
        settings: Settings,
        spec: AppSpec,
        metrics: WorkerMetrics,
        *,
        wanted: Callable[[], bool],
        limits: RecordLimits,
        group: Consumer,
        progress: Callable[[str, int, int], None],
    ) -> None:
        self._settings = settings
        self._spec = spec
        self._metrics = metrics
        self._wanted = wanted
        self._limits = limits
        self._group = group
        self._progress = progress

    def run(self, numbers: Iterable[int], owned: Mapping[int, PartitionTask]) -> dict[int, PartitionTask]:
        """Return a task per partition; one that is owned already is kept if it stands at the committed position.

        Raises ConfigError where state and position do not belong together, OutdatedError, or what Kafka raises.
        """
        numbers = sorted(numbers)
        counts, ids = self._describe_topics(len(numbers))
        check_positions([], counts, self._spec.name)
        with ThreadPoolExecutor(_SIDE_BY_SIDE, "takeover") as pool:
            writers = dict(zip(numbers, pool.map(partial(self._fence_unless_owned, owned), numbers), strict=True))
            positions = self._read_positions(numbers)
            kept = {number: owned[number] for number in numbers if _stands(owned.get(number), positions[number])}
            for task in kept.values():
                task.writer.wanted = self._wanted  # the former take-over's is outdated
            new = [number for number in numbers if number not in kept]
            moved = [number for number in new if writers[number] is None]
            writers |= dict(zip(moved, pool.map(self._fence, moved), strict=True))
            if moved:  # somebody worked on them in between: only after the fence is their position final
                positions |= self._read_positions(moved)
            bounds = self._read_bounds(new)
            restored = pool.map(lambda number: self._restore(writers[number], bounds[number]), new)
            states = dict(zip(new, restored, strict=True))
            self._check(states, positions, counts, ids)
            begun = pool.map(lambda number: self._begin(states[number], positions[number], ids), new)
            return kept | dict(zip(new, begun, strict=True))

    def _describe_topics(self, partitions: int) -> tuple[dict[str, int], dict[str, str]]:
        """Return the partition counts that must be equal, and the topics' ids."""
        admin = admin_client(self._settings)
        metadata = topic_metadata(admin)
        warn_of_shortage(partitions, len(metadata.brokers), _SIDE_BY_SIDE)
        names = [name for name in (*self._spec.inputs, self._spec.changelog) if name in metadata.topics]
        self._expect_wanted()
        return {name: len(metadata.topics[name].partitions) for name in names}, topic_ids(admin, metadata, names)

    def _read_positions(self, numbers: list[int]) -> dict[int, list[Position]]:
        self._expect_wanted()
        by_number: dict[int, list[Position]] = {number: [] for number in numbers}
        for position in read_positions(self._settings, self._spec.name, numbers) if numbers else ():
            if position.topic in self._spec.inputs:
                by_number[position.partition].append(position)
        return by_number

    def _read_bounds(self, numbers: list[int]) -> dict[int, tuple[int, int]]:
        """Return both ends of changelog partitions: asked for at once, when nobody else can write there any more."""
        self._expect_wanted()
        admin = admin_client(self._settings)
        return log_bounds(admin, {self._spec.changelog: numbers})[self._spec.changelog]

    def _fence_unless_owned(self, owned: Mapping[int, PartitionTask], number: int) -> TransactionWriter | None:
        return None if number in owned else self._fence(number)

    def _fence(self, number: int) -> TransactionWriter:
        """Make this process the only one that can write for a partition."""
        self._expect_wanted()
        settings, spec = self._settings, self._spec
        identity = f"{settings.app_id(spec.name)}-{number}" if settings.delivery == "exactly_once" else None
        options, deadline = settings.producer(identity), settings.transaction_timeout * 2
        return TransactionWriter(options, number, spec.outputs, spec.changelog, deadline, self._limits, self._wanted)

    def _restore(self, writer: TransactionWriter | None, bounds: tuple[int, int]) -> _State:
        """Read a partition's state back."""
        self._expect_wanted()
        assert writer is not None
        spec, settings, number = self._spec, self._settings, writer.partition
        store = make_store(settings.store, spec.name, number)
        began, table = time.monotonic(), f"{spec.name}-{number}"
        try:
            restored = restore_changelog(
                settings,
                spec.changelog,
                number,
                store,
                bounds=bounds,
                wanted=self._wanted,
                progress=lambda remaining: self._progress(table, len(store), remaining),
            )
        except DamageError as error:
            raise SchemaError(describe_damage(spec.name, error)) from None
        self._expect_wanted()
        seconds = time.monotonic() - began
        logger.info("restored %d entries of %s-%d in %.1f s", len(store), spec.changelog, number, seconds)
        try:
            partition_processor = spec.make(number, store)
            applied = partition_processor.read_store()
        except Exception as error:
            located = locate_unreadable(spec.name, spec.changelog, number, store, error)
            if located is error:
                raise
            raise located from None
        return _State(writer, partition_processor, restored, applied)

    def _check(
        self,
        states: Mapping[int, _State],
        positions: dict[int, list[Position]],
        counts: Mapping[str, int],
        ids: Mapping[str, str],
    ) -> None:
        """Refuse where a state does not belong to its position; what the checkpoint knows is added to the latter."""
        changelog = self._spec.changelog
        changelogs = []
        for number, state in states.items():
            checkpoint = state.restored.checkpoint or Checkpoint()
            positions[number] = [self._complete(position, state, checkpoint) for position in positions[number]]
            here = Changelog(changelog, number, state.restored.end, ids.get(changelog, ""))
            kept_id = checkpoint.ids.get(changelog, "")
            changelogs.append(here._replace(kept_id=kept_id, records=state.restored.records))
        read = [position for number in states for position in positions[number]]
        check_positions(read, counts, self._spec.name, changelogs=changelogs)

    def _complete(self, position: Position, state: _State, checkpoint: Checkpoint) -> Position:
        """Add to a position what the state knows of it; offsets are known to it of the first input alone."""
        known = position.topic == self._spec.inputs[0] and state.applied >= 0
        return position._replace(
            state=state.applied if known else None,
            kept=checkpoint.positions.get(position.topic),
            kept_id=checkpoint.ids.get(position.topic, ""),
        )

    def _begin(self, state: _State, positions: list[Position], ids: Mapping[str, str]) -> PartitionTask:
        """Make a partition task, and commit that it begins here."""
        self._expect_wanted()
        spec, settings, number = self._spec, self._settings, state.writer.partition
        task = PartitionTask(number, state.processor, state.writer, ids=dict(ids))
        task.partitions = next((place.partitions for place in positions if place.topic == spec.inputs[0]), 0)
        for place in positions:
            begin = place.low if settings.auto_offset_reset == "earliest" else place.high
            task.positions[place.topic] = begin if place.known is None else place.known
            task.commit_metadata[place.topic] = encode_commit_metadata(place.topic_id, place.partitions)
            if place.committed is None and place.kept is not None:
                logger.warning("the position of %s was gone; restored %d from the changelog", place, place.kept)
        checkpoint = state.restored.checkpoint or Checkpoint()
        task.fed = checkpoint.fed
        task.resume_silence()
        waiting = sum(max(0, place.high - task.positions[place.topic]) for place in positions)
        task.bisection = checkpoint.bisection_at(task.positions)
        among = settings.max_poll_records if spec.deferral is None else waiting  # those that are read again, too
        task.bisection.take_over(among, waiting=waiting)
        if task.bisection.caution is not None:
            logger.warning(
                "going on from %s with %d records at a time: something there failed, or ended a worker",
                ", ".join(f"{topic}-{number}@{at}" for topic, at in task.positions.items()),
                task.bisection.caution.size,
            )
        # From here on a restart begins where this start did, whatever `latest` may mean by then.
        state.writer.write([], {}, task.checkpoint())
        state.writer.commit(task.offsets(task.positions), self._group.consumer_group_metadata())
        self._metrics.set("table_entries", len(state.processor.store), f"{spec.name}-{number}")
        self._metrics.set("table_recovery_remaining_messages", 0, f"{spec.name}-{number}")
        return task

    def _expect_wanted(self) -> None:
        if not self._wanted():
            raise OutdatedError


def _stands(task: PartitionTask | None, positions: list[Position]) -> bool:
    """Say whether nobody else has worked on a partition meanwhile; were our writer fenced, the next commit says so."""
    return task is not None and task.positions == {place.topic: place.committed for place in positions}
