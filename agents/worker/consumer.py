"""The consumer: Faust's own, with whole fetched partitions handed on, and seeks that no fetch can overtake.

What is replaced of faust-streaming 0.15.3, and why (each has a test that fails without it):

- `_drain_messages`: a Message, an Event and an ack per record cost ten times the work itself. Here the list of records
  that aiokafka fetched goes to the `RecordBuffer` as it is.
- `perform_seek`: stock Faust seeks while a fetch of the old position is still under way and skips the turns between.
  Here the flow stops, the fetch in flight ends and is thrown away, then every partition is set to an explicit position.
- idleness: aiokafka leaves the group when nobody fetches for the poll interval, and joins again only when somebody
  does; stock Faust fetches nothing while it has no partitions, so such a worker never comes back. Here waiting for the
  group, or for the state, is no idleness.
- commits: input positions are committed by the transaction that carries the outputs, never by Faust.
- the assignor: without tables Faust falls back to round robin, which would tear turns-3 and forget-3 apart. And where
  the leader's metadata does not have the topics yet, as right after a broker came back, Faust ignores them, deals out
  nothing, and aiokafka asks again after five minutes. Here the leader waits for the metadata, and asks again at once.
- fetching: aiokafka asks for the next records as soon as it has handed on the last, record by record where people type.
  Here they gather at the broker for a moment (`agents.worker.fetch_pace`).
- reading: what aiokafka unpacks it trusts, so that one record batch may end every worker that meets it. Here batches
  are unpacked by `agents.kafka.unpacking`, within bounds.
- addresses: workers tell each other in the group where their pages are. A static member that came back elsewhere is
  told its former address until partitions are dealt out anew, which stock Faust takes for a fault.
- leaving: a static member, which comes back as itself within the session timeout, does not leave when it stops. Here it
  does when it was told to stop: then it is not coming back.
- stopping during a rebalance: stock Faust closes the consumer's sockets from the app's loop, under the hands of the
  thread whose loop reads them; with uvloop the process then ends by SIGSEGV now and then. Here the thread alone closes
  what it opened, and a worker that was told to stop does not join once more before it leaves.
- putting together: stock Faust notes for its autodiscovery, which is not used here, in which module each agent and
  service stands, and looks up every loaded module on the disk for it, a tenth of a worker's start; and it looks for
  what it mends of Django in everything that is installed.
- ending: stock Faust sleeps for a second before it closes its loop, with nothing left to wait for.
- tables: Faust would restore them itself, from an end that never comes. `agents.worker.tables` only shows the state.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import ExitStack
from typing import Any, Protocol

import aiokafka
from aiokafka.structs import OffsetAndMetadata
from confluent_kafka import TopicPartition
from faust import App, Worker
from faust.assignor.partition_assignor import PartitionAssignor
from faust.transport.drivers import aiokafka as driver
from faust.types import TP
from mode import Service

from turnsignal.agents.kafka.refusals import end_over
from turnsignal.agents.kafka.unpacking import Bounds
from turnsignal.agents.worker.batches import RecordBuffer
from turnsignal.agents.worker.fetch_pace import FetchPace

logger = logging.getLogger("turnsignal.consumer")


_METADATA_SECONDS = 3.0  #: for the leader to wait for the topics' metadata
_LEAVING = 0.05  #: seconds between looks whether a member that is to stop has left


class AssignmentHandler(Protocol):
    """Who works on the partitions: told what is assigned, asked where to start, waited for at a revocation.

    source: the consumer that it may ask, from the first assignment on.
    """

    buffer: RecordBuffer
    source: Any

    async def assign(self, assigned: set[TP]) -> Mapping[TP, int]:
        """Fence former owners, restore state, and return the position to read each input from."""
        ...

    async def revoke(self) -> None:
        """End a take-over that is under way, and wait until no batch is in flight."""
        ...

    def owned(self) -> set[int]:
        """Return the partition numbers that are worked on."""
        ...


class AddressedAssignor(PartitionAssignor):
    """Deal out partitions as Faust does; that a member has moved meanwhile is no fault."""

    def on_assignment(self, assignment: Any) -> None:
        """Take in what was dealt out, and where the others are."""
        try:
            super().on_assignment(assignment)
        except AssertionError as error:  # the last thing that is compared, and the only one without a message
            if error.args:
                raise


class PartitionThread(driver.AIOKafkaConsumerThread):
    """The thread that aiokafka runs in, with the connection of our Settings."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.revocations = 0
        self._excused = ExitStack()  # holds a fetch open, in aiokafka's books, while there is nothing to fetch

    async def on_start(self) -> None:
        """Start the consumer; as the group's leader, deal out only what the metadata knows."""
        self.app.bounds.install()
        await super().on_start()
        self._pace_fetches()
        self._join_unless_stopping()
        coordinator = self._ensure_consumer()._coordinator
        perform = coordinator._perform_assignment

        async def perform_with_topics(response: Any) -> Any:
            if not await self._await_topics():
                self.thread_loop.call_later(1.0, coordinator.request_rejoin)
            return await perform(response)

        coordinator._perform_assignment = perform_with_topics

    def _join_unless_stopping(self) -> None:
        coordinator = self._ensure_consumer()._coordinator
        join = coordinator._do_rejoin_group

        async def join_unless_stopping(subscription: Any) -> bool:
            if self.app.should_stop:
                await asyncio.sleep(_LEAVING)
                return False  # as of a join that did not succeed: asked again until the coordinator is closed
            joined: bool = await join(subscription)
            return joined

        coordinator._do_rejoin_group = join_unless_stopping

    def _pace_fetches(self) -> None:
        fetcher, pace = self._ensure_consumer()._fetcher, self.app.fetch_pace
        fetch = fetcher._proc_fetch_request

        async def fetch_at_its_pace(assignment: Any, node: int, request: Any) -> bool:
            try:
                await asyncio.sleep(pace.pause(node, request.topics, self.thread_loop.time()))
            except asyncio.CancelledError:
                return False  # as of a fetch whose outcome is of no interest any more
            fetched: bool = await fetch(assignment, node, request)
            return fetched

        fetcher._proc_fetch_request = fetch_at_its_pace

    async def _await_topics(self) -> bool:
        """Wait until the metadata has every topic that is read; say whether it has."""
        client = self._ensure_consumer()._client
        topics = set(self.app.consumer_topics)
        deadline = self.thread_loop.time() + _METADATA_SECONDS
        while absent := [topic for topic in topics if not client.cluster.partitions_for_topic(topic)]:
            if self.thread_loop.time() > deadline:
                logger.warning("no metadata of %s yet: the group is asked again", ", ".join(sorted(absent)))
                return False
            await client.set_topics(client._topics | topics)
            await client.force_metadata_update()
            await asyncio.sleep(0.1)
        return True

    async def on_thread_stop(self) -> None:
        """Leave the group, as a member that is not coming back."""
        if self._consumer is not None and self._consumer._coordinator is not None:
            self._consumer._coordinator._group_instance_id = None
        await super().on_thread_stop()

    async def join_again(self) -> None:
        """Have the group deal out its partitions once more."""
        await self.call_thread(self._join_again)

    async def _join_again(self) -> None:
        coordinator = self._ensure_consumer()._coordinator
        coordinator.request_rejoin()

    def position_of(self, tp: TP) -> int | None:
        """Return the next offset that aiokafka would hand out, None when it is not known."""
        assignment = self._ensure_consumer()._subscription.subscription.assignment
        state = assignment.state_value(tp) if assignment is not None else None
        return state.position if state is not None and state.has_valid_position else None

    async def on_partitions_revoked(self, revoked: set[TP]) -> None:
        """Count as busy until `expect_fetches`, then revoke."""
        self.revocations += 1
        self._excused.close()
        self._excused.enter_context(self._ensure_consumer()._subscription.fetch_context())
        await super().on_partitions_revoked(revoked)

    async def expect_fetches(self, revocations: int) -> None:
        """Have the group drop this member when it does not fetch for long; unless more was revoked meanwhile."""
        await self.call_thread(self._end_excuse, revocations)

    async def _end_excuse(self, revocations: int) -> None:
        if revocations == self.revocations:
            self._excused.close()

    async def _fetch_records(self, *args: Any, **kwargs: Any) -> Any:
        self.app.bounds.begin_fetch()
        return await super()._fetch_records(*args, **kwargs)

    def _create_worker_consumer(self, _transport: Any) -> aiokafka.AIOKafkaConsumer:
        self._assignor = self.app.assignor
        return aiokafka.AIOKafkaConsumer(**self.app.consumer_options, partition_assignment_strategy=[self._assignor])


class PartitionConsumer(driver.Consumer):
    """Hand fetched partitions to the app's task manager."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        #: Counts revocations and assignments. Faust's generation id changes only at assignment, so between revocation
        #: and assignment a batch of before would still look valid.
        self.epoch = 0
        self._quiet = asyncio.Event()
        self._quiet.set()
        self._read_to: dict[TP, int] = {}  # what lies before was handed on, records or none

    @property
    def task_manager(self) -> AssignmentHandler:
        """Who works on the partitions."""
        task_manager: AssignmentHandler = self.app.task_manager
        return task_manager

    def _new_consumer_thread(self) -> PartitionThread:
        return PartitionThread(self, loop=self.loop, beacon=self.beacon)

    async def on_partitions_revoked(self, revoked: set[TP]) -> None:
        """Stop handing on, wait for the batch in flight, and only then let the group have the partitions."""
        self.epoch += 1
        self._read_to.clear()
        self.task_manager.buffer.close()
        await super().on_partitions_revoked(revoked)

    async def on_partitions_assigned(self, assigned: set[TP], generation_id: int = 0) -> None:
        """Note the new epoch; state is taken over in `perform_seek`, outside the callback, so that heartbeats go on."""
        self.epoch += 1
        self.task_manager.source = self
        await super().on_partitions_assigned(assigned, generation_id)
        if not assigned:  # Faust seeks nothing then, and nobody would hear that this worker is a spare one
            await self.task_manager.assign(set())

    async def perform_seek(self) -> None:
        """Take over what is assigned and set every partition to where its state says it is."""
        self.stop_flow()  # Faust's recovery resumes it right after
        self._read_to.clear()
        self.task_manager.buffer.close()
        await self._quiet.wait()
        epoch, revocations = self.epoch, self._thread.revocations
        assigned = set(self.assignment())
        positions = await self.task_manager.assign(assigned)
        if epoch != self.epoch:  # the next assignment does it again
            return
        if positions:
            try:
                await self._thread.seek_wait(dict(positions))
            except Exception as error:  # Faust takes this one for another rebalance and waits for ever
                if epoch != self.epoch:
                    return
                end_over(error, f"seeking {positions}")
        self._read_offset.update(positions)
        await self._thread.expect_fetches(revocations)
        if epoch != self.epoch:
            return
        self.task_manager.buffer.open(self.task_manager.owned())
        logger.info(
            "working on %s", ", ".join(sorted(f"{tp.topic}-{tp.partition}@{at}" for tp, at in positions.items()))
        )

    def end_of(self, tp: TP) -> int | None:
        """Return the end of an input's log as last seen, None when it is not ours or not known yet."""
        end: int | None = self.highwater(tp) if tp in self.assignment() else None
        return end

    def read_to(self, tp: TP) -> int | None:
        """Return the offset up to which everything was handed on, None when nothing was read yet."""
        return self._read_to.get(tp)

    async def join_again(self) -> None:
        """Have the group deal out its partitions once more."""
        await self._thread.join_again()

    async def commit_positions(self, offsets: list[TopicPartition]) -> None:
        """Commit input positions apart from the outputs, metadata included; for brokers without transactions."""
        thread = self._thread
        # With a NUL at its end, as librdkafka writes it: what is read back by librdkafka is copied with its length and
        # then taken to end at a NUL, so that without one it may end in whatever stands behind it in memory.
        positions = {
            aiokafka.TopicPartition(at.topic, at.partition): OffsetAndMetadata(at.offset, f"{at.metadata or ''}\0")
            for at in offsets
        }
        await thread.call_thread(thread._ensure_consumer().commit, positions)

    async def wait_empty(self) -> None:
        """Wait for batches in flight; called by Faust before it gives partitions away and before it stops."""
        self.task_manager.buffer.close()
        await self.task_manager.revoke()

    def close(self) -> None:
        """Leave it to the thread to close the consumer; called by Faust during a rebalance of an app that stops."""

    async def _drain_messages(self, fetcher: Any) -> None:
        try:
            await self._fetch_until_stopped(fetcher)
        except asyncio.CancelledError:
            # Faust takes a cancel during a rebalance for a crash, also when the worker was told to finish meanwhile.
            if not self.transport.app.should_stop:
                raise

    async def _fetch_until_stopped(self, fetcher: Any) -> None:
        record_buffer = self.task_manager.buffer
        while not (self._stopped.is_set() or fetcher._stopped.is_set()):
            if not self.flow_active:
                await self.wait_first(self.can_resume_flow.wait(), timeout=1.0)
                continue
            ready = {tp for tp in self._get_active_partitions() if record_buffer.has_space(tp.partition)}
            if not ready:
                await record_buffer.wait_for_space(1.0)
                continue
            # A partition that gets room while this waits is asked for only in the next round: keep the wait short.
            patience = 1.0 if len(ready) == len(self._get_active_partitions()) else 0.02
            # After the wait for the flow and before the fetch: earlier, a good batch after a rebalance would look old;
            # later, an old one would look good.
            epoch = self.epoch
            self._quiet.clear()
            try:
                fetched = await self._getmany(active_partitions=ready, timeout=patience)
            except self.consumer_stopped_errors:
                if self.transport.app.should_stop:
                    return
                raise
            except Exception as error:  # an offset out of range, rights taken away: the next start explains it
                end_over(error, "reading")
            finally:
                self._quiet.set()
            if epoch != self.epoch or not self.flow_active:
                continue  # the seek that follows reads it again
            for tp, records in (fetched or {}).items():
                self._hand_on(tp, records)
            for tp in ready:  # nothing else is being fetched now, so what aiokafka has passed is handed on
                reached = self._thread.position_of(tp)
                if reached is not None:
                    self._read_to[tp] = reached
            await asyncio.sleep(0)

    def _hand_on(self, tp: TP, records: list[Any]) -> None:
        read = self._read_offset[tp]
        if read is not None and records and records[0].offset < read:
            records = [record for record in records if record.offset >= read]
        if records:
            self._read_offset[tp] = records[-1].offset + 1
            self.task_manager.buffer.put(tp, records)

    def _filter_tps_with_pending_acks(self, topics: Any = None) -> Iterator[TP]:  # noqa: ARG002
        return iter(())  # positions are committed with the outputs

    def verify_event_path(self, now: float, tp: TP) -> None:
        """Stay silent: Faust's livelock detector looks at events, which there are none of; ours looks at batches."""


class PartitionTransport(driver.Transport):
    """Faust's Kafka transport with our consumer."""

    Consumer = PartitionConsumer


class PartitionApp(App):
    """A Faust app whose consumer hands whole partitions to a task manager.

    task_manager, bounds, fetch_pace, consumer_options, consumer_topics: set by who builds the app, before it starts.
    """

    task_manager: AssignmentHandler
    bounds: Bounds
    fetch_pace: FetchPace
    consumer_options: dict[str, Any]
    consumer_topics: tuple[str, ...]

    def _new_transport(self) -> PartitionTransport:
        return PartitionTransport(self.conf.broker_consumer, self)

    def _init_fixups(self) -> list[Any]:
        return []

    def service(self, cls: type[Service]) -> type[Service]:
        """Start a service with the app."""
        self._extra_services.append(cls)
        return cls

    def read_by(self, work: Callable[[Any], Awaitable[None]], channel: Any, name: str) -> None:
        """Have a channel read by one agent, which calls `work` with its stream."""
        agent = self.conf.Agent(
            work,
            name=name,
            app=self,
            channel=channel,
            on_error=self._on_agent_error,
        )
        self.agents[agent.name] = agent
        self.topics.beacon.add(agent)


class PartitionWorker(Worker):
    """Faust's worker: runs an app until a signal comes."""

    async def _sentinel_task(self) -> None:
        await asyncio.sleep(0)
