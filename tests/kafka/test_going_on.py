"""The work goes on: after an outage, after a quiet week, and until a topic under it is another one."""

import os
import re
import signal
import subprocess
import sys
import threading
from functools import partial
from pathlib import Path
from typing import Any

import cramjam
import pytest
from click.testing import CliRunner
from confluent_kafka import KafkaError, KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient, AlterConfigOpType, ConfigEntry, ConfigResource, ResourceType
from faust.types import TP

from tests.kafka.faults.oracle import Kept, committed, ends, reached_ends, read_topic
from tests.kafka.faults.play import wait
from tests.kafka.raw import batch, produce_batch, record
from tests.kafka.test_isolation import conversations, letters, produce, readiness, rows, running, turn
from turnsignal.agents.cli import turnsignal
from turnsignal.agents.kafka.brokers import Broker, ProcessBroker, find_broker
from turnsignal.agents.kafka.topics import create_topics, log_bounds, partition_for, topic_names
from turnsignal.agents.metrics.exposition import WorkerMetrics
from turnsignal.agents.score import make_spec
from turnsignal.agents.settings import Settings
from turnsignal.agents.worker.assignment import Assignment
from turnsignal.agents.worker.batches import PartitionBatch
from turnsignal.agents.worker.bisection import Caution
from turnsignal.agents.worker.limits import RecordLimits
from turnsignal.agents.worker.repair import drop_unreadable, repair
from turnsignal.agents.worker.steps import Steps
from turnsignal.agents.worker.tasks import TaskManager
from turnsignal.agents.worker.transactions import TransactionWriter, group_reader
from turnsignal.stream.conversations.state import Conversation
from turnsignal.stream.errors import ConfigError, Reason, SchemaError
from turnsignal.stream.records.wire import OutputRecord
from turnsignal.stream.suite import Suite

pytestmark = pytest.mark.kafka

UNPACKABLE = batch(bytes(cramjam.zstd.compress(record(0, b"c-1", b"state", length=-5))), 1, "zstd")

KILLED_MEANWHILE = """
import os, signal
from turnsignal.agents.kafka.topics import TOPICS
from turnsignal.agents.settings import Settings
from turnsignal.agents.worker.rewriting import deletable

changelog = next(topic for topic in TOPICS if topic.name == "conversations_changelog")
with deletable(Settings.from_env(os.environ), changelog):
    os.kill(os.getpid(), signal.SIGKILL)
"""


class Forgotten(TransactionWriter):
    """A writer whose transactional id the broker forgets before the next commit, as it does after a week."""

    forgets = True

    def commit(self, offsets: list[TopicPartition], group: Any) -> None:
        """Refuse once, as the broker would."""
        if self.forgets:
            self.forgets = False
            raise KafkaException(KafkaError(KafkaError.INVALID_PRODUCER_ID_MAPPING))
        super().commit(offsets, group)


def make_writer(
    settings: Settings, number: int, kind: type[TransactionWriter] = TransactionWriter
) -> TransactionWriter:
    names = topic_names(settings.prefix)
    identity = f"{settings.app_id('score')}-{number}"
    return kind(settings.producer(identity), number, names, names["conversations_changelog"], 20.0)


def make_anew(settings: Settings, name: str) -> None:
    """Delete a topic and create it again."""
    topic, admin = topic_names(settings.prefix)[name], AdminClient(settings.confluent())
    admin.delete_topics([topic])[topic].result(30)
    wait(lambda: topic not in admin.list_topics(timeout=10).topics, 30, f"{topic} to be gone")
    create_topics(settings)


def test_a_commit_ends_after_all_brokers_were_gone(broker: Broker, tmp_path: Path) -> None:
    if not isinstance(broker, ProcessBroker):
        pytest.skip(f"this session runs on {broker.kind}, which is not to be crashed")
    own = find_broker({"PATH": os.environ["PATH"], "DOCKER_HOST": "unix:///nowhere"}, directory=tmp_path)
    assert isinstance(own, ProcessBroker)
    with own:
        settings = Settings(brokers=own.address)
        create_topics(settings)
        wait(lambda: committed(settings)[0] == 0, 30, "the group's coordinator to be there")
        group = group_reader(settings.confluent(), settings.app_id("score"))
        writer = make_writer(settings, 0)

        def commit(offset: int) -> None:
            writer.write([OutputRecord("scores", b"c-1", b"row")], {b"c-1": b"state"})
            place = TopicPartition(topic_names(settings.prefix)["turns"], 0, offset)
            writer.commit([place], group.consumer_group_metadata())

        commit(1)
        own.crash()
        own.start()
        thread = threading.Thread(target=commit, args=(2,), daemon=True)
        thread.start()
        thread.join(60)
        assert not thread.is_alive()  # librdkafka waited for ever for a coordinator that it had forgotten
        assert committed(settings)[0] == 2


async def test_a_step_that_hangs_is_given_up_soon_when_the_broker_has_just_come_back(fresh_topics: Settings) -> None:
    task_manager = TaskManager(fresh_topics, make_spec(fresh_topics, Suite()), WorkerMetrics())
    for answers in (False, True):
        task_manager.progress.on_broker_answer(answers=answers)
    group = group_reader(fresh_topics.confluent(), fresh_topics.app_id("score"))
    steps = Steps(fresh_topics, task_manager.progress, lambda: group, topic_names(fresh_topics.prefix)["turns"])
    hanging = threading.Event()
    with pytest.raises(TimeoutError, match="within 3 s"):
        await steps.run_in_time(partial(hanging.wait, 60))
    hanging.set()
    steps.close()
    task_manager.close()


async def test_the_beginning_of_a_batch_is_committed_where_the_transactional_id_is_forgotten(
    fresh_topics: Settings,
) -> None:
    task_manager = TaskManager(fresh_topics, make_spec(fresh_topics, Suite()), WorkerMetrics())
    names = topic_names(fresh_topics.prefix)
    await task_manager.assign({TP(names["turns"], 0), TP(names["forget"], 0)})
    task = task_manager.tasks[0]
    task.writer = make_writer(fresh_topics, 0, Forgotten)
    task.bisection.caution = Caution.first(8)
    task_manager.buffer.open({0})
    key, value = turn("c-1", 1)
    task_manager.work.start(task, PartitionBatch(0, {names["turns"]: [Kept(0, 0, key, value, 1_700_000_000_000)]}))
    await task_manager.work.wait_idle()
    assert committed(fresh_topics)[0] == 1
    task_manager.close()


def taking_over(settings: Settings) -> Assignment:
    return Assignment(
        settings,
        make_spec(settings, Suite()),
        WorkerMetrics(),
        wanted=lambda: True,
        limits=RecordLimits(None, ()),
        group=group_reader(settings.confluent(), settings.app_id("score")),
        progress=lambda *_: None,
    )


def keep_state(settings: Settings, partition: int, states: dict[bytes, bytes | None]) -> None:
    """Commit states to the changelog, as a worker does."""
    writer = make_writer(settings, partition)
    writer.write([], states)
    writer.commit([], None)


def environment(settings: Settings) -> dict[str, str]:
    """Return what a process of ours is to know of the broker."""
    return {"TURNSIGNAL_BROKERS": settings.brokers, "TURNSIGNAL_PREFIX": settings.prefix}


def run(settings: Settings, command: str) -> str:
    """Run a command of ours against the broker; return what it says."""
    done = CliRunner().invoke(turnsignal, command.split(), env=environment(settings))
    assert done.exit_code == 0, done.output
    return done.output


def test_state_that_reads_as_none_is_refused_by_its_place_and_may_be_dropped(fresh_topics: Settings) -> None:
    good, cut = Conversation(), Conversation().snapshot()[:-5]
    keep_state(fresh_topics, 2, {b"good": good.snapshot(), b"c-1": cut})
    names = topic_names(fresh_topics.prefix)
    with pytest.raises(SchemaError) as caught:
        taking_over(fresh_topics).run(range(4), {})
    said = str(caught.value)
    assert said.startswith(f"{names['conversations_changelog']}-2, key 'c-1': expected a conversation's state, got ")
    command = "topics repair score --drop-unreadable"
    assert f"then `turnsignal {command}` drops it" in said
    assert run(fresh_topics, command).startswith("partition 2: dropped 'c-1': expected a conversation's state, got ")
    taken = taking_over(fresh_topics).run(range(4), {})
    assert list(taken[2].processor.store) == [b"good"]
    assert run(fresh_topics, command) == "Every entry of the state reads as one.\n"


def test_what_says_that_a_newer_version_wrote_it_is_left_until_somebody_drops_it(fresh_topics: Settings) -> None:
    good = Conversation().snapshot()
    keep_state(fresh_topics, 2, {b"good": good, b"c-1": good[:-5], b"c-2": good.replace(good[3:4], b"\x7f", 1)})
    changelog = topic_names(fresh_topics.prefix)["conversations_changelog"]
    output = run(fresh_topics, "topics repair score --drop-unreadable")
    assert "partition 2: dropped 'c-1': expected a conversation's state, got " in output
    assert "partition 2: left 'c-2': expected conversation state of version " in output
    assert output.endswith("1 left, which --drop-newer drops.\n")
    with pytest.raises(SchemaError) as caught:
        taking_over(fresh_topics).run(range(4), {})
    said = str(caught.value)
    assert said.startswith(f"{changelog}-2, key 'c-2': expected conversation state of version ")
    command = "topics repair score --drop-newer"
    assert f"then `turnsignal {command}` drops it" in said
    dropped = run(fresh_topics, command)
    assert dropped.startswith("partition 2: dropped 'c-2': expected conversation state of version ")
    assert list(taking_over(fresh_topics).run(range(4), {})[2].processor.store) == [b"good"]


def settings_of(admin: AdminClient, topic: str) -> dict[str, tuple[str, int]]:
    resource = ConfigResource(ResourceType.TOPIC, topic)
    found = admin.describe_configs([resource])[resource].result(30)
    return {name: (entry.value, entry.source) for name, entry in found.items()}


def test_a_batch_of_state_that_nobody_can_unpack_is_refused_at_once_and_may_be_dropped(fresh_topics: Settings) -> None:
    changelog, admin = (
        topic_names(fresh_topics.prefix)["conversations_changelog"],
        AdminClient(fresh_topics.confluent()),
    )
    before, good = settings_of(admin, changelog), Conversation().snapshot()
    tasks = taking_over(fresh_topics).run(range(4), {})
    tasks[2].writer.write([], {b"before": good, b"c-1": good}, tasks[2].checkpoint())
    tasks[2].writer.commit([], None)
    assert produce_batch(fresh_topics.brokers, changelog, 2, UNPACKABLE) == 0
    keep_state(fresh_topics, 2, {b"behind": good, b"c-1": None, b"cut": good[:-5]})
    with pytest.raises(SchemaError) as caught:
        taking_over(fresh_topics).run(range(4), {})
    said = str(caught.value)
    assert re.match(rf"{changelog}-2, offsets (\d+) to \1: ", said)
    command = "topics repair score --drop-unreadable"
    assert said.endswith(f"then `turnsignal {command}` drops it, and what it knew with it")
    assert "partition 2: left offsets" in run(fresh_topics, "topics repair score --drop-newer")
    dropped = run(fresh_topics, command).splitlines()
    assert [line.split(":")[1][:16] for line in dropped] == [" dropped 'cut'", " dropped offsets"]
    assert settings_of(admin, changelog) == before
    task = taking_over(fresh_topics).run(range(4), {})[2]
    assert sorted(task.processor.store) == [b"before", b"behind"]
    assert task.positions == tasks[2].positions
    assert run(fresh_topics, command) == "Every entry of the state reads as one.\n"


def rot(broker: Broker, changelog: str, number: int) -> None:
    """Change a bit of what a batch of partition 2 of a changelog holds; number: of the batch, markers count, too."""
    if not isinstance(broker, ProcessBroker):
        pytest.skip(f"this session runs on {broker.kind}, whose disk is not ours")
    (segment,) = (broker.directory / "data" / f"{changelog}-2").glob("*.log")
    written, at = segment.read_bytes(), 0
    for _ in range(number):
        at += 12 + int.from_bytes(written[at + 8 : at + 12])
    at += 66  # behind the header
    with segment.open("r+b") as file:  # the file itself, as a broker keeps it open
        file.seek(at)
        file.write(bytes((written[at] ^ 1,)))


def test_a_batch_of_state_that_rotted_on_the_disk_is_refused_at_once_and_may_be_dropped(
    broker: Broker, fresh_topics: Settings
) -> None:
    good, changelog = Conversation().snapshot(), topic_names(fresh_topics.prefix)["conversations_changelog"]
    for key in (b"before", b"rotten", b"behind"):
        keep_state(fresh_topics, 2, {key: good})
    rot(broker, changelog, 2)
    with pytest.raises(SchemaError, match=r"-2, offsets \d+ to \d+: expected a batch with the checksum "):
        taking_over(fresh_topics).run(range(4), {})
    command = "topics repair score --drop-unreadable"
    assert run(fresh_topics, command).startswith("partition 2: dropped offsets")
    assert sorted(taking_over(fresh_topics).run(range(4), {})[2].processor.store) == [b"before", b"behind"]
    assert run(fresh_topics, command) == "Every entry of the state reads as one.\n"


@pytest.mark.parametrize("number", [2, 3], ids=["its records", "its marker"])
def test_what_rotted_of_a_transaction_that_was_aborted_is_nobodys_loss(
    broker: Broker, fresh_topics: Settings, number: int
) -> None:
    good, changelog = Conversation().snapshot(), topic_names(fresh_topics.prefix)["conversations_changelog"]
    writer = make_writer(fresh_topics, 2)
    writer.write([], {b"before": good})
    writer.commit([], None)
    writer.write([], {b"never committed": good})
    writer._producer.flush(10)  # or there would be nothing on the disk
    writer.abort()
    writer.write([], {b"behind": good})
    writer.commit([], None)
    rot(broker, changelog, number)
    assert sorted(taking_over(fresh_topics).run(range(4), {})[2].processor.store) == [b"before", b"behind"]
    assert run(fresh_topics, "topics repair score --drop-unreadable") == "Every entry of the state reads as one.\n"


@pytest.mark.parametrize("damaged", [False, True])
def test_what_a_repair_left_that_was_killed_is_taken_back_by_the_next(fresh_topics: Settings, damaged: bool) -> None:
    changelog = topic_names(fresh_topics.prefix)["conversations_changelog"]
    admin = AdminClient(fresh_topics.confluent())
    before = settings_of(admin, changelog)
    if damaged:
        assert produce_batch(fresh_topics.brokers, changelog, 2, UNPACKABLE) == 0
    ended = subprocess.run(
        [sys.executable, "-c", KILLED_MEANWHILE], env={**os.environ, **environment(fresh_topics)}, check=False
    )
    assert ended.returncode == -signal.SIGKILL
    assert settings_of(admin, changelog) != before
    run(fresh_topics, "topics repair score --drop-unreadable")
    assert settings_of(admin, changelog) == before


def test_a_header_whose_name_is_no_text_ends_no_worker_that_reads_its_state(fresh_topics: Settings) -> None:
    changelog = topic_names(fresh_topics.prefix)["conversations_changelog"]
    odd = batch(record(0, b"odd", Conversation().snapshot(), [(b"\xff\xfe", b"")]), 1)
    assert produce_batch(fresh_topics.brokers, changelog, 2, odd) == 0
    assert list(taking_over(fresh_topics).run(range(4), {})[2].processor.store) == [b"odd"]


def test_a_turn_whose_conversation_has_damaged_state_waits_until_that_is_dropped(
    fresh_topics: Settings, tmp_path: Path
) -> None:
    snapshot = Conversation(suite="a name").snapshot()
    names = topic_names(fresh_topics.prefix)
    number = partition_for(b"c-1", 4)
    keep_state(fresh_topics, number, {b"c-1": snapshot.replace(b"name", b"\xffame")})
    worker = ("turnsignal.agents.cli", "worker", "score")
    with running(fresh_topics, tmp_path, *worker) as log:
        wait(lambda: "working on" in log.read_text(), 60, "the worker to begin")
        produce(fresh_topics, [turn("c-1", each) for each in (1, 2, 3)])
        wait(lambda: "is not started again" in log.read_text(), 60, "the worker to refuse")
    for again in range(3):  # by somebody who does not read what it says
        with running(fresh_topics, tmp_path, *worker, name=f"again-{again}") as log:
            wait(lambda: "is not started again" in log.read_text(), 60, "the worker to refuse")
        assert f"{names['conversations_changelog']}-{number}, key 'c-1': expected a conversation's" in log.read_text()
    assert (letters(fresh_topics), rows(fresh_topics)) == ([], 0)
    assert behind(fresh_topics) == {number}
    drop_unreadable(fresh_topics, "score")
    with running(fresh_topics, tmp_path, *worker):
        wait(lambda: reached_ends(fresh_topics), 60, "the turns to be committed")
    assert (letters(fresh_topics), rows(fresh_topics)) == ([], 2)


def test_a_topic_that_is_deleted_under_a_worker_is_said_and_it_is_not_ready(
    fresh_topics: Settings, tmp_path: Path
) -> None:
    produce(fresh_topics, conversations("c", 5))
    topic = topic_names(fresh_topics.prefix)["turns"]
    with running(fresh_topics, tmp_path, "turnsignal.agents.cli", "worker", "score") as log:
        wait(lambda: reached_ends(fresh_topics), 60, "all turns to be committed")
        admin = AdminClient(fresh_topics.confluent())
        admin.delete_topics([topic])[topic].result(30)
        wait(lambda: f"expected {topic} on the broker, got none" in log.read_text(), 60, "the worker to say so")
        status, conditions = readiness(log)
    assert status == 503
    assert conditions["topics"] == {"ok": False, "detail": f"{topic}: deleted, or not to be seen by this user"}


def test_states_without_positions_are_refused_in_one_line_for_all_partitions(fresh_topics: Settings) -> None:
    for number in range(4):
        keep_state(fresh_topics, number, {b"c-1": Conversation(offset=7).snapshot()})
    with pytest.raises(
        ConfigError, match="turns-0 and 3 more partitions: expected a committed position after offset 7"
    ):
        taking_over(fresh_topics).run(range(4), {})


def test_a_changelog_that_is_made_anew_under_a_worker_is_refused_at_once(
    fresh_topics: Settings, tmp_path: Path
) -> None:
    produce(fresh_topics, conversations("c", 20))
    with running(fresh_topics, tmp_path, "turnsignal.agents.cli", "worker", "score") as log:
        wait(lambda: reached_ends(fresh_topics), 60, "all turns to be committed")
        make_anew(fresh_topics, "conversations_changelog")
        wait(lambda: "is not started again" in log.read_text(), 60, "the worker to refuse")
        said = log.read_text()
    assert "and 3 more partitions: expected the state of what was read up to" in said
    assert "got a changelog that was made anew" in said


def test_an_emptied_changelog_is_refused_until_that_is_accepted(fresh_topics: Settings) -> None:
    produce(fresh_topics, conversations("c", 5))
    names, group = (
        topic_names(fresh_topics.prefix),
        group_reader(fresh_topics.confluent(), fresh_topics.app_id("score")),
    )
    for task in taking_over(fresh_topics).run(range(4), {}).values():
        task.writer.write([], {b"c-1": Conversation(offset=0).snapshot()}, task.checkpoint())
        task.writer.commit(task.offsets({names["turns"]: 1}), group.consumer_group_metadata())
    changelog = names["conversations_changelog"]
    end = delete_records(fresh_topics, changelog, 2)
    with pytest.raises(ConfigError) as caught:
        taking_over(fresh_topics).run(range(4), {})
    said = str(caught.value)
    assert said.startswith(f"{changelog}-2: expected the state of what was read up to {names['turns']}-2@1, got ")
    assert f"got a changelog without a record before its end {end}: they were deleted; stop all score workers" in said
    for way_out in ("earliest", "accept"):
        assert f"--to {way_out}`" in said
    repair(fresh_topics, "score", "accept")
    taken = taking_over(fresh_topics).run(range(4), {})
    assert {number: len(task.processor.store) for number, task in taken.items()} == {0: 1, 1: 1, 2: 0, 3: 1}


def delete_records(settings: Settings, topic: str, number: int) -> int:
    """Delete all records of a partition, as a retention would; returns its end."""
    admin = AdminClient(settings.confluent())
    end = log_bounds(admin, {topic: [number]})[topic][number][1]
    set_cleanup(admin, topic, "compact,delete")  # else the broker refuses to
    wait(lambda: cleaned_up(admin, topic, number, end), 30, "the broker to delete records")
    set_cleanup(admin, topic, "compact")
    return end


def set_cleanup(admin: AdminClient, topic: str, policy: str) -> None:
    entry = ConfigEntry("cleanup.policy", policy, incremental_operation=AlterConfigOpType.SET)
    resource = ConfigResource(ResourceType.TOPIC, topic, incremental_configs=[entry])
    admin.incremental_alter_configs([resource])[resource].result(30)


def cleaned_up(admin: AdminClient, topic: str, number: int, end: int) -> bool:
    """Have the broker delete what stands before an offset; False where it does not know yet that it may."""
    place = TopicPartition(topic, number, end)
    try:
        admin.delete_records([place])[place].result(30)
    except KafkaException as error:
        if error.args[0].code() != KafkaError.POLICY_VIOLATION:
            raise
        return False
    return True


def test_rows_go_on_into_a_topic_that_is_made_anew_under_a_worker(fresh_topics: Settings, tmp_path: Path) -> None:
    produce(fresh_topics, conversations("c", 20))
    with running(fresh_topics, tmp_path, "turnsignal.agents.cli", "worker", "score") as log:
        wait(lambda: reached_ends(fresh_topics), 60, "all turns to be committed")
        wait(lambda: rows(fresh_topics) == 2 * 20, 10, "their rows")
        make_anew(fresh_topics, "scores")
        produce(fresh_topics, conversations("d", 20))
        wait(lambda: reached_ends(fresh_topics), 90, "the new turns to be committed")
        wait(lambda: "scores was made anew" in log.read_text(), 60, "the worker to say so")
    assert rows(fresh_topics) == 2 * 20


def test_a_partition_whose_dead_letter_is_refused_is_held_until_it_is_taken(
    fresh_topics: Settings, tmp_path: Path
) -> None:
    admin, dead_letters = AdminClient(fresh_topics.confluent()), topic_names(fresh_topics.prefix)["dead_letters"]
    set_cleanup(admin, dead_letters, "compact")  # it takes nothing without a key
    _, value = turn("sick", 1)
    produce(fresh_topics, [(None, value), *conversations("c", 20)])
    with running(fresh_topics, tmp_path) as log:
        wait(lambda: "is blocked: what sets" in log.read_text(), 90, "the partition to be blocked")
        wait(lambda: len(behind(fresh_topics)) == 1, 60, "the other partitions to go on")
        assert letters(fresh_topics) == []
        set_cleanup(admin, dead_letters, "delete")
        wait(lambda: not behind(fresh_topics), 90, "the partition to go on")
        said = log.read_text()
    assert [reason for reason, _ in letters(fresh_topics)] == [Reason.POISON]
    assert rows(fresh_topics) == 2 * 20
    assert "to be started again" not in said


def limit_records(settings: Settings, name: str, size: int) -> None:
    entry = ConfigEntry("max.message.bytes", str(size), incremental_operation=AlterConfigOpType.SET)
    resource = ConfigResource(ResourceType.TOPIC, topic_names(settings.prefix)[name], incremental_configs=[entry])
    admin = AdminClient(settings.confluent())
    admin.incremental_alter_configs([resource])[resource].result(30)


def behind(settings: Settings) -> set[int]:
    """Return the partitions that are not read to their ends."""
    found, wanted = committed(settings), ends(settings)
    return {number for number, end in wanted.items() if found[number] < end}


async def test_two_workers_under_one_name_are_told(fresh_topics: Settings, caplog: pytest.LogCaptureFixture) -> None:
    named = fresh_topics.model_copy(update={"instance": "pod-0"})
    task_manager = TaskManager(named, make_spec(named, Suite()), WorkerMetrics())
    for _ in range(5):  # each ends the other's membership, and takes its partitions over again
        await task_manager.assign({TP(topic_names(named.prefix)["turns"], 0)})
    assert "expected TURNSIGNAL_INSTANCE=pod-0 of one worker only" in caplog.text
    task_manager.close()


async def test_a_partition_that_is_kept_through_a_rebalance_can_begin_anew(fresh_topics: Settings) -> None:
    task_manager = TaskManager(fresh_topics, make_spec(fresh_topics, Suite()), WorkerMetrics())
    names = topic_names(fresh_topics.prefix)
    first = {TP(names["turns"], 0), TP(names["forget"], 0)}
    await task_manager.assign(first)
    kept = task_manager.tasks[0]
    await task_manager.revoke()
    await task_manager.assign(first | {TP(names["turns"], 1), TP(names["forget"], 1)})
    assert task_manager.tasks[0] is kept
    kept.writer.start()  # as where the broker has forgotten its id, or has refused a record
    kept.writer.write([], {b"c-1": Conversation(offset=0).snapshot()})
    kept.writer.commit([], None)
    task_manager.close()


def test_batches_follow_a_limit_that_is_lowered(fresh_topics: Settings) -> None:
    limits = RecordLimits(fresh_topics, [topic_names(fresh_topics.prefix)["scores"]])
    limits.learn()
    names = topic_names(fresh_topics.prefix)
    writer = TransactionWriter(
        fresh_topics.producer(f"{fresh_topics.prefix}-0"), 0, names, names["conversations_changelog"], 30.0, limits
    )
    limit_records(fresh_topics, "scores", 65_536)
    limits.learn()
    writer.start()
    writer.write([OutputRecord("scores", b"c-1", b"x" * 50_000) for _ in range(20)], {})
    writer.commit([], None)
    assert sum(map(len, read_topic(fresh_topics, names["scores"]).values())) == 20
