"""What we replace inside Faust 0.15.3 and aiokafka: still there, still needed, and does what ours has to do.

Every scenario runs twice: with ours, and with Faust's own method put back. When the second one passes too, upstream has
fixed the defect and ours can go.
"""

import asyncio
import inspect
from collections.abc import AsyncIterator, Mapping
from importlib.metadata import version
from types import SimpleNamespace
from typing import Any

import pytest
from aiokafka.consumer.fetcher import Fetcher
from aiokafka.consumer.group_coordinator import CoordinatorGroupRebalance, GroupCoordinator
from aiokafka.consumer.subscription_state import SubscriptionState
from aiokafka.protocol.fetch import FetchRequest, FetchResponse_v4, FetchResponse_v10
from faust import App, Stream, Table, Worker
from faust.assignor.partition_assignor import PartitionAssignor
from faust.tables.manager import TableManager
from faust.tables.recovery import Recovery
from faust.tables.wrappers import WindowSet, WindowWrapper
from faust.transport.consumer import Consumer
from faust.transport.drivers import aiokafka as driver
from faust.types import TP
from mode import Service

from turnsignal.agents.score import make_score_app
from turnsignal.agents.settings import Settings
from turnsignal.agents.worker import consumer as ours
from turnsignal.agents.worker.apps import TAKE_OVER_SECONDS, consumer_options
from turnsignal.agents.worker.batches import BatchStream, RecordBuffer
from turnsignal.agents.worker.consumer import PartitionApp, PartitionConsumer, PartitionThread, PartitionWorker
from turnsignal.agents.worker.tables import StateTable, StateTables, StateWindows, StateWindowSet
from turnsignal.stream.suite import Suite

pytestmark = pytest.mark.kafka


@pytest.mark.parametrize(
    ("answer", "behind_stable"),
    [
        (FetchResponse_v4, ("aborted_transactions", "message_set")),
        (FetchResponse_v10, ("log_start_offset", "aborted_transactions", "message_set")),
        (
            FetchRequest._CLASSES[-1].RESPONSE_TYPE,
            ("log_start_offset", "aborted_transactions", "preferred_read_replica", "message_set"),
        ),
    ],
)
def test_an_answer_to_a_fetch_has_its_parts_where_they_are_read(answer: Any, behind_stable: tuple[str, ...]) -> None:
    topics = answer.SCHEMA.fields[answer.SCHEMA.names.index("topics")]
    partitions = topics.array_of.fields[1].array_of
    assert partitions.names == ("partition", "error_code", "highwater_offset", "last_stable_offset", *behind_stable)


PLACE = TP("turns", 0)


class NotingManager:
    """A task manager that only notes what it is told."""

    def __init__(self) -> None:
        self.buffer = RecordBuffer(100)
        self.taken: list[set[TP]] = []
        self.source: Any = None

    async def assign(self, assigned: set[TP]) -> Mapping[TP, int]:
        self.taken.append(assigned)
        return dict.fromkeys(assigned, 5)

    async def revoke(self) -> None:
        return

    def owned(self) -> set[int]:
        return {PLACE.partition}


class Thread:
    """Faust's consumer thread without Kafka: a fetch stays under way until it is released."""

    def __init__(self) -> None:
        self.fetching, self.released = asyncio.Event(), asyncio.Event()
        self.revocations = 0
        self.commits: list[Mapping[TP, int]] = []

    async def getmany(self, active: set[TP], timeout: float) -> dict[TP, list[Any]]:
        self.fetching.set()
        await self.released.wait()
        self.released.clear()
        return {PLACE: [SimpleNamespace(offset=offset) for offset in (8, 9)]}

    def assignment(self) -> set[TP]:
        return {PLACE}

    def position_of(self, tp: TP) -> int:
        return 10

    async def seek_wait(self, positions: Mapping[TP, int]) -> None:
        return

    async def seek_to_committed(self) -> Mapping[TP, int]:
        return {PLACE: 5}

    async def expect_fetches(self, revocations: int) -> None:
        return

    async def commit(self, offsets: Mapping[TP, int]) -> bool:
        self.commits.append(offsets)
        return True


def make_consumer(kind: type[PartitionConsumer] = PartitionConsumer) -> PartitionConsumer:
    app = PartitionApp("internals", broker="kafka://localhost:1", table_standby_replicas=0)
    app.task_manager, app.consumer_options = NotingManager(), {}
    consumer = kind(app.transport, lambda message: None, None, None)
    consumer._thread.thread_loop.close()  # it is never started
    consumer._thread = Thread()
    consumer._set_active_tps({PLACE})
    consumer.resume_flow()
    app.task_manager.buffer.open({0})
    return consumer


@pytest.fixture
async def tasks() -> AsyncIterator[list[asyncio.Task[Any]]]:
    """Tasks to be cancelled when the test is over."""
    started: list[asyncio.Task[Any]] = []
    yield started
    for task in started:
        task.cancel()
    await asyncio.gather(*started, return_exceptions=True)


def drain(consumer: PartitionConsumer, tasks: list[asyncio.Task[Any]]) -> None:
    fetcher = SimpleNamespace(_stopped=asyncio.Event())
    tasks.append(asyncio.get_running_loop().create_task(consumer._drain_messages(fetcher)))


async def some_turns_of_the_loop() -> None:
    for _ in range(20):
        await asyncio.sleep(0)


async def offsets_after_a_seek_during_a_fetch(
    kind: type[PartitionConsumer], tasks: list[asyncio.Task[Any]]
) -> list[int]:
    """Seek back to 5 while a fetch of 8 and 9 is under way; return what was handed on."""
    consumer = make_consumer(kind)
    drain(consumer, tasks)
    await consumer._thread.fetching.wait()
    seek = asyncio.get_running_loop().create_task(consumer.perform_seek())
    tasks.append(seek)
    await some_turns_of_the_loop()
    consumer._thread.released.set()
    await seek
    consumer.resume_flow()  # as Faust's recovery does right after
    await some_turns_of_the_loop()
    waiting = consumer.task_manager.buffer._waiting.get(0, {})
    return [record.offset for records in waiting.values() for record in records]


async def test_a_fetch_under_way_during_a_seek_is_thrown_away(tasks: list[asyncio.Task[Any]]) -> None:
    assert await offsets_after_a_seek_during_a_fetch(PartitionConsumer, tasks) == []


async def test_faust_itself_hands_on_what_was_fetched_before_the_seek(tasks: list[asyncio.Task[Any]]) -> None:
    class StockSeek(PartitionConsumer):
        perform_seek = Consumer.perform_seek

    # 5, 6 and 7 would never be read: the next fetch begins after 9.
    assert await offsets_after_a_seek_during_a_fetch(StockSeek, tasks) == [8, 9]


async def test_a_fetch_under_way_during_a_revocation_is_thrown_away(tasks: list[asyncio.Task[Any]]) -> None:
    consumer = make_consumer()
    drain(consumer, tasks)
    await consumer._thread.fetching.wait()
    consumer.epoch += 1  # what on_partitions_revoked does first, when Faust's generation is still the old one
    consumer._thread.released.set()
    await some_turns_of_the_loop()
    assert consumer.task_manager.buffer.queued == 0


async def commits_with_one_record_unacked(kind: type[PartitionConsumer]) -> list[Mapping[TP, int]]:
    """Commit when 10 is committed, 11 to 13 are done, and 10 is not."""
    consumer = make_consumer(kind)
    consumer._committed_offset[PLACE] = 10
    consumer._acked[PLACE] = [11, 12, 13]
    consumer.app.topics._acking_topics.add(PLACE.topic)
    await consumer.commit()
    return consumer._thread.commits


async def test_faust_never_commits_a_position_of_ours() -> None:
    assert await commits_with_one_record_unacked(PartitionConsumer) == []


async def test_faust_itself_commits_past_a_record_that_is_not_done() -> None:
    class StockCommit(PartitionConsumer):
        _filter_tps_with_pending_acks = Consumer._filter_tps_with_pending_acks

    assert await commits_with_one_record_unacked(StockCommit) == [{PLACE: 14}]


async def test_a_failing_fetch_ends_the_process(
    tasks: list[asyncio.Task[Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    class GaveUp(BaseException):
        pass

    def end_over(error: BaseException, doing: str) -> None:
        raise GaveUp(error)

    async def getmany(active: set[TP], timeout: float) -> dict[TP, list[Any]]:
        raise LookupError("offset out of range")

    monkeypatch.setattr(ours, "end_over", end_over)
    consumer = make_consumer()
    consumer._thread.getmany = getmany
    with pytest.raises(GaveUp, match="out of range"):
        await consumer._drain_messages(SimpleNamespace(_stopped=asyncio.Event()))


async def test_a_worker_that_is_told_to_finish_during_a_rebalance_ends_in_good_order() -> None:
    consumer = make_consumer()
    draining = asyncio.get_running_loop().create_task(
        consumer._drain_messages(SimpleNamespace(_stopped=asyncio.Event()))
    )
    await consumer._thread.fetching.wait()
    consumer.app._stopped.set()
    draining.cancel()
    await draining  # Faust's Fetcher would crash on a CancelledError: no supervisor, exit code 1


async def closes_from_outside(kind: type[PartitionConsumer]) -> int:
    """Return how often a rebalance of an app that stops has the thread's sockets closed from another thread."""
    consumer, closed = make_consumer(kind), []
    consumer._thread.close = lambda: closed.append(1)
    consumer.app._consumer = consumer
    consumer.app._stopped.set()
    await consumer.app._on_partitions_revoked({PLACE})
    await consumer.app._on_partitions_assigned({PLACE}, 1)
    return len(closed)


async def test_a_rebalance_while_stopping_leaves_the_sockets_to_the_thread_that_reads_them() -> None:
    assert await closes_from_outside(PartitionConsumer) == 0


async def test_faust_itself_closes_them_under_the_hands_of_that_thread() -> None:
    class Stock(PartitionConsumer):
        close = driver.Consumer.close

    assert await closes_from_outside(Stock) == 2


@pytest.mark.parametrize("stopping", [False, True])
async def test_a_worker_that_is_told_to_finish_does_not_join_once_more(stopping: bool) -> None:
    consumer, joins = make_consumer(), []

    async def join(subscription: object) -> bool:
        joins.append(subscription)
        return True

    thread = PartitionThread(consumer, thread_loop=asyncio.get_running_loop())
    coordinator = SimpleNamespace(_do_rejoin_group=join)
    thread._consumer = SimpleNamespace(_coordinator=coordinator)
    thread._join_unless_stopping()
    if stopping:
        consumer.app._stopped.set()
    assert await coordinator._do_rejoin_group("turns") is not stopping
    assert joins == ([] if stopping else ["turns"])


async def idle_after_a_revocation(kind: type[driver.AIOKafkaConsumerThread]) -> float:
    """Return what aiokafka takes for idle time when a worker without partitions has waited for an hour."""
    consumer = make_consumer()
    told = []

    async def revoked(loop: object, places: set[TP]) -> None:
        told.append(places)

    consumer.threadsafe_partitions_revoked = revoked
    thread = kind(consumer, thread_loop=asyncio.get_running_loop())
    subscription = SubscriptionState()
    subscription._last_fetch_ended -= 3600.0
    thread._consumer = SimpleNamespace(_subscription=subscription)
    await thread.on_partitions_revoked({PLACE})
    assert told == [{PLACE}]
    return subscription.fetcher_idle_time


async def test_waiting_for_the_group_is_no_idleness() -> None:
    assert await idle_after_a_revocation(PartitionThread) == 0


async def test_faust_itself_lets_aiokafka_refuse_to_join_again() -> None:
    assert await idle_after_a_revocation(driver.AIOKafkaConsumerThread) >= 3600


async def test_the_excuse_ends_only_with_the_revocation_it_was_for() -> None:
    consumer = make_consumer()
    thread = PartitionThread(consumer, thread_loop=asyncio.get_running_loop())
    subscription = SubscriptionState()
    thread._consumer = SimpleNamespace(_subscription=subscription)
    thread.revocations = 2
    thread._excused.enter_context(subscription.fetch_context())
    await thread._end_excuse(1)
    assert subscription._fetch_count == 1
    await thread._end_excuse(2)
    assert subscription._fetch_count == 0


async def strategy(kind: type[driver.AIOKafkaConsumerThread]) -> str:
    settings = Settings(brokers="localhost:1")
    consumer = make_consumer()
    consumer.app.consumer_options = consumer_options(settings, "group")
    thread = kind(consumer, thread_loop=asyncio.get_running_loop())
    made = thread._create_worker_consumer(consumer.transport)
    made._closed = True  # it was never started
    (assignor,) = made._partition_assignment_strategy
    return str(assignor.name)


async def test_co_partitioned_inputs_are_assigned_together() -> None:
    assert await strategy(PartitionThread) == "faust"


async def test_faust_itself_falls_back_to_round_robin() -> None:
    assert await strategy(driver.AIOKafkaConsumerThread) == "roundrobin"


async def test_a_spare_worker_hears_that_it_has_nothing() -> None:
    consumer = make_consumer()

    async def assigned(places: set[TP], generation: int) -> None:
        return

    consumer._on_partitions_assigned = assigned
    await consumer.on_partitions_assigned(set(), 1)
    assert consumer.task_manager.taken == [set()]


def test_faust_never_gives_up_on_a_long_take_over() -> None:
    app = make_score_app(Settings(brokers="localhost:1"), Suite())
    assert app.conf.broker_request_timeout == TAKE_OVER_SECONDS
    assert "timeout=self.app.conf.broker_request_timeout" in inspect.getsource(Recovery._resume_streams)


@pytest.mark.parametrize(("package", "pinned"), [("faust-streaming", "0.15.3"), ("aiokafka", "0.14.0")])
def test_the_versions_are_the_ones_that_were_read(package: str, pinned: str) -> None:
    assert version(package) == pinned


CONSUMER = (
    "_new_consumer_thread",
    "on_partitions_revoked",
    "on_partitions_assigned",
    "perform_seek",
    "wait_empty",
    "_drain_messages",
    "_filter_tps_with_pending_acks",
    "verify_event_path",
    "close",
)


@pytest.mark.parametrize(
    ("mine", "stock", "names"),
    [
        (PartitionConsumer, driver.Consumer, CONSUMER),
        (PartitionThread, driver.AIOKafkaConsumerThread, ("_create_worker_consumer", "on_partitions_revoked")),
        (PartitionApp, App, ("_new_transport", "_init_fixups", "service")),
        (PartitionWorker, Worker, ("_sentinel_task",)),
        (StateTables, TableManager, ("on_start", "add", "_update_channels")),
        (StateTable, Table, ("on_start",)),
        (StateWindows, WindowWrapper, ("_items", "_items_current", "_items_delta", "_keys")),
        (StateWindowSet, WindowSet, ("current", "delta", "value")),
    ],
)
def test_every_method_that_is_replaced_exists_with_the_same_parameters(
    mine: type, stock: type, names: tuple[str, ...]
) -> None:
    for name in names:
        assert name in vars(mine)
        own, original = (list(inspect.signature(getattr(kind, name)).parameters) for kind in (mine, stock))
        assert [parameter.lstrip("_") for parameter in own] == original, name


@pytest.mark.parametrize(
    ("where", "names"),
    [
        (driver.Consumer, ["_getmany", "_get_active_partitions", "stop_flow", "wait_first", "assignment"]),
        (driver.AIOKafkaConsumerThread, ["seek_wait", "call_thread", "_ensure_consumer"]),
        (Stream, ["maybe_start", "should_stop"]),
        (TableManager, ["_update_channels", "_recovery", "recovery"]),
        (Table, ["on_key_set", "on_key_del", "on_clear", "_windowed_timestamp"]),
        (SubscriptionState, ["fetch_context", "fetcher_idle_time"]),
        (Fetcher, ["fetched_records", "_proc_fetch_request"]),
        (GroupCoordinator, ["_do_rejoin_group"]),
    ],
)
def test_what_is_used_from_inside_is_there(where: type, names: list[str]) -> None:
    assert [name for name in names if not hasattr(where, name)] == []
    assert issubclass(BatchStream, Stream)
    assert [*inspect.signature(Fetcher._proc_fetch_request).parameters][1:] == ["assignment", "node_id", "request"]


class Cluster:
    """Metadata that learns of the topics only after some updates."""

    def __init__(self, after: int) -> None:
        self.updates, self.after = 0, after

    def partitions_for_topic(self, topic: str) -> set[int] | None:
        return {0, 1} if self.updates >= self.after else None


class Client:
    def __init__(self, after: int) -> None:
        self.cluster = Cluster(after)
        self._topics: set[str] = set()

    async def set_topics(self, topics: set[str]) -> None:
        self._topics = topics

    async def force_metadata_update(self) -> None:
        self.cluster.updates += 1


@pytest.mark.parametrize(("after", "known"), [(0, True), (3, True), (10_000, False)])
async def test_a_leader_waits_for_the_topics_before_it_deals_them_out(
    after: int, known: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ours, "_METADATA_SECONDS", 0.5)
    client = Client(after)
    thread = SimpleNamespace(
        app=SimpleNamespace(consumer_topics=("turns", "forget")),
        thread_loop=asyncio.get_running_loop(),
        _ensure_consumer=lambda: SimpleNamespace(_client=client),
    )
    assert await PartitionThread._await_topics(thread) is known
    assert client._topics == ({"turns", "forget"} if after else set())


async def test_faust_deals_out_nothing_of_topics_that_its_leader_has_not_heard_of_yet() -> None:
    groups = PartitionAssignor._get_copartitioned_groups({"turns"}, Cluster(1), {"member": ["turns"]})
    assert groups == {}


def test_a_static_member_does_not_leave_by_itself() -> None:
    source = inspect.getsource(GroupCoordinator._maybe_leave_group)
    assert "self._group_instance_id is None" in source
    assert "_perform_assignment" in inspect.getsource(CoordinatorGroupRebalance._on_join_leader)


async def waits_at_start(kind: type[TableManager]) -> list[float]:
    """Start an app's tables, of which there are none; return for how long it waits meanwhile."""
    waits: list[float] = []
    begun = asyncio.Event()

    class Tables(kind):  # type: ignore[valid-type,misc]
        async def sleep(self, n: float) -> None:
            waits.append(n)

    async def begin() -> None:
        begun.set()

    idle = SimpleNamespace(assignment=set, pause_partitions=lambda _: None)
    tables = Tables(SimpleNamespace(consumer=idle))
    tables._recovery = SimpleNamespace(start=begin)
    await tables.on_start()
    assert begun.is_set()
    assert tables._tables_registered.is_set()
    return waits


async def test_nothing_waits_for_tables() -> None:
    assert await waits_at_start(StateTables) == []
    assert make_score_app(Settings(brokers="localhost:1"), Suite()).conf.TableManager is StateTables


async def test_faust_itself_waits_a_second_for_tables_before_it_reads() -> None:
    assert await waits_at_start(TableManager) == [1.0]


async def waits_at_the_end(kind: type[Worker], monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """End a worker's loop; return for how long it waits before it is closed."""
    waits: list[float] = []

    async def wait(delay: float) -> None:
        waits.append(delay)

    monkeypatch.setattr(asyncio, "sleep", wait)
    await kind._sentinel_task(SimpleNamespace())
    return waits


async def test_a_worker_that_has_ended_does_not_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    assert await waits_at_the_end(PartitionWorker, monkeypatch) == [0]


async def test_faust_itself_waits_a_second_at_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    assert await waits_at_the_end(Worker, monkeypatch) == [1.0]


def put_together(kind: type[App], monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Make an app with a service; return what is looked up in the files of all loaded modules meanwhile."""
    looked_up: list[str] = []
    get = inspect.getmodule

    def note(*arguments: Any) -> Any:
        looked_up.append("a module")
        return get(*arguments)

    monkeypatch.setattr(inspect, "getmodule", note)

    class Silent(Service):
        """Does nothing."""

    app = kind("noted", broker="kafka://localhost:1")
    assert app.service(Silent) is Silent
    assert app._extra_services == [Silent]
    return looked_up


def test_no_module_is_looked_up_to_put_an_app_together(monkeypatch: pytest.MonkeyPatch) -> None:
    assert put_together(PartitionApp, monkeypatch) == []


def test_faust_itself_looks_up_where_a_service_stands(monkeypatch: pytest.MonkeyPatch) -> None:
    assert put_together(App, monkeypatch)


def test_the_agent_of_an_app_reads_its_topics_by_its_name() -> None:
    app = make_score_app(Settings(brokers="localhost:1"), Suite())
    (agent,) = app.agents.values()
    assert agent.name == "turnsignal.score"
    assert agent.get_topic_names() == app.consumer_topics
