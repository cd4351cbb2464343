"""Progress: is the work of this worker going on, and if not, what stands?

A worker that hangs in a commit, one whose group deals out nothing, and one whose input stands behind a stranger's open
transaction all look healthy to their operating system. Here each of them is a fact with a duration.
"""

import logging
import math
import time
from collections.abc import Collection, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

from confluent_kafka import Consumer, ConsumerGroupState, KafkaException
from confluent_kafka.admin import AdminClient, ClusterMetadata
from faust.types import TP

from turnsignal.agents.kafka.topics import admin_client, topic_ids
from turnsignal.agents.pages.views import Health
from turnsignal.agents.settings import Settings
from turnsignal.agents.worker.partition_task import AppSpec, PartitionTask
from turnsignal.agents.worker.positions import Changelog, Position, check_positions
from turnsignal.stream.errors import TurnsignalError

logger = logging.getLogger("turnsignal.progress")

_STANDS = 30.0  #: seconds that a position may stand while there is more to read, before it is said
_LOOKS = 2  #: in a row that find nobody, or no topic, until that counts: a broker that comes back learns bit by bit
_ASK = 3.0  #: seconds that a question to the broker may take


class _SeenPosition(NamedTuple):
    """A position, since when it is there (monotonic clock), and the end of the log meanwhile."""

    position: int
    since: float
    end: int


class Progress:
    """What an owner of partitions knows of its own work."""

    def __init__(self, settings: Settings, spec: AppSpec) -> None:
        self._settings = settings
        self._spec = spec
        self._last = time.monotonic()
        self._assigned = False
        self._settled = False  # whether the last take-over is complete, and nothing was revoked since
        self._remaining: dict[str, int] = {}
        self._standing: dict[TP, _SeenPosition] = {}
        self._reachable = True
        self.returned = -math.inf  #: when the broker last answered after it had not (monotonic clock)
        self._absent: dict[str, int] = {}  # topic → how often in a row the broker did not have it
        self._nobody = 0  # how often in a row the group was found with nobody at work
        self._outputs: dict[str, str] = {}  # topic that is written → the broker's id of it

    def made(self) -> None:
        """Note that something went on just now."""
        self._last = time.monotonic()

    def on_broker_answer(self, *, answers: bool) -> None:
        """Note whether the broker answered just now."""
        if answers and not self._reachable:
            self.returned = time.monotonic()
        self._reachable = answers

    def begin_assignment(self) -> None:
        """Note that partitions were assigned."""
        self.made()

    def restoring(self, table: str, remaining: int) -> None:
        """Note how many changelog records of a table are still to be read."""
        self._remaining[table] = remaining
        self.made()

    def end_assignment(self, *, settled: bool) -> None:
        """Note that a take-over is complete."""
        self._assigned = True
        self._settled = settled
        self._remaining.clear()  # what a restore counts down to is not 0: markers and compacted records never come
        self.made()

    def revoke(self) -> None:
        """Note that partitions were revoked."""
        self._settled = False
        self._standing.clear()
        self.made()

    def stop_following(self, tp: TP) -> None:
        """Drop what is known of a partition that is somebody else's now."""
        self._standing.pop(tp, None)

    def watch(self, tp: TP, position: int, end: int, now: float, *, waiting: bool) -> float:
        """Return for how many seconds a position has stood while the log went on and nothing of it came here."""
        before = self._standing.get(tp)
        if before is None or before.position != position or waiting or end <= position:
            self._standing[tp] = _SeenPosition(position, now, end)
            return 0.0
        self._standing[tp] = before._replace(end=end)
        return now - before.since

    def check_broker(self, group: Consumer, owned: Collection[PartitionTask]) -> bool:
        """Ask the broker for the topics, and, without partitions of our own, whether anybody has some; blocks.

        Returns whether nobody has. Raises ConfigError when partitions were added to some topics, or a topic was made
        anew, as a take-over does.
        """
        spec, counts = self._spec, {}
        try:
            for name in (*spec.inputs, spec.changelog):
                metadata = group.list_topics(name, timeout=_ASK)
                counts[name] = len(metadata.topics[name].partitions)
        except KafkaException:
            self.on_broker_answer(answers=False)
            return False
        self.on_broker_answer(answers=True)
        self._note_absent([name for name, count in counts.items() if not count])
        if all(counts.values()):
            self._compare_topics(metadata, counts, owned)
        if owned or not self._assigned or not self._group_is_idle():
            self._nobody = 0
            return False
        self._nobody += 1
        return self._nobody >= _LOOKS

    def _note_absent(self, absent: Sequence[str]) -> None:
        """Say of topics that are gone that they are, once; at the second look, as a broker that comes back learns."""
        self._absent = {name: self._absent.get(name, 0) + 1 for name in absent}
        if gone := [name for name, looks in self._absent.items() if looks == _LOOKS]:
            logger.error(
                "expected %s on the broker, got none: deleted, or not to be seen by this user; what it held is gone,"
                " and nothing is read until `turnsignal topics create` has made it anew, and `turnsignal topics repair"
                " %s --to accept` goes on with that",
                ", ".join(gone),
                self._spec.name,
            )

    @cached_property
    def _admin(self) -> AdminClient:
        return admin_client(self._settings)

    def _compare_topics(
        self, metadata: ClusterMetadata, counts: Mapping[str, int], owned: Collection[PartitionTask]
    ) -> None:
        """Refuse where a topic that is read, or the one of the state, is another under the same name by now."""
        spec = self._spec
        try:
            ids = topic_ids(self._admin, metadata, list(dict.fromkeys([*counts, *spec.outputs.values()])), _ASK)
        except (KafkaException, TurnsignalError):  # one of them is not there just now: the next look tells more
            ids = {}
        positions = [
            # What the logs hold is not asked: a position that is worked on is within them.
            Position(topic, one.number, at, at, at, one.commit_metadata[topic], ids.get(topic, ""), counts[topic])
            for one in owned
            for topic, at in one.positions.items()
        ]
        now = ids.get(spec.changelog, "")
        changelogs = [Changelog(spec.changelog, one.number, 1, now, one.ids.get(spec.changelog, "")) for one in owned]
        check_positions(positions, counts, spec.name, changelogs=changelogs)
        anew = [topic for topic, topic_id in ids.items() if self._outputs.get(topic, topic_id) != topic_id]
        for topic in anew:
            logger.warning("%s was made anew: what was written to it before is gone, the work goes on", topic)
        self._outputs |= {topic: topic_id for topic, topic_id in ids.items() if topic in spec.outputs.values()}

    def _group_is_idle(self) -> bool:
        """Say whether no member of a stable group has a partition of our inputs."""
        group = self._settings.app_id(self._spec.name)
        try:
            description = self._admin.describe_consumer_groups([group], request_timeout=_ASK)[group].result(_ASK)
        except (KafkaException, TimeoutError):
            return False
        owned = [at for member in description.members for at in member.assignment.topic_partitions]
        return description.state == ConsumerGroupState.STABLE and not any(at.topic in self._spec.inputs for at in owned)

    def health(self, *, busy: bool, owned: Mapping[int, PartitionTask]) -> Health:
        """Say how this worker is.

        busy: whether batches wait or are under way; owned: the partitions that are ours.
        """
        # A group that never assigns, a take-over that never ends: waiting for them is work that must go on, too.
        waits = busy or bool(self._remaining) or not self._settled
        now = time.monotonic()
        stalled = {
            f"{tp.topic}-{tp.partition}": (at.position, at.end, now - at.since)
            for tp, at in self._standing.items()
            if now - at.since >= _STANDS and at.end > at.position
        }
        return Health(
            seconds_since_progress=now - self._last if waits else 0.0,
            assigned=self._assigned and not self._nobody,
            partitions=len(owned),
            starts={number: task.bisection.starts for number, task in owned.items() if task.bisection.starts > 1},
            troubles={number: trouble for number, task in owned.items() if (trouble := task.bisection.trouble(now))},
            recovery_remaining=sum(self._remaining.values()),
            broker_reachable=self._reachable,
            progress_limit=self._settings.stall_timeout,
            stalled=stalled,
            absent=[name for name, looks in self._absent.items() if looks >= _LOOKS],
        )
