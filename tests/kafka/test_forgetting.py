"""What forget promises on a real broker: texts leave the changelog, a user's conversations are found, the rest told."""

import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import orjson
import pytest
from click.testing import CliRunner
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, AlterConfigOpType, ConfigEntry, ConfigResource, ResourceType

from tests.kafka.faults.oracle import Kept, read_topic
from tests.kafka.faults.play import wait
from turnsignal.agents.cli import turnsignal
from turnsignal.agents.commands.explain import explain, from_kafka
from turnsignal.agents.kafka.forgetting import find_conversations, list_remains, send_requests
from turnsignal.agents.kafka.topics import (
    Altered,
    admin_client,
    create_topics,
    describe_topics,
    partition_for,
    topic_metadata,
    topic_names,
    update_topics,
)
from turnsignal.agents.settings import Settings
from turnsignal.agents.worker.checkpoints import Checkpoint
from turnsignal.agents.worker.transactions import TransactionWriter, group_reader
from turnsignal.stream.pipeline.processor import PartitionProcessor
from turnsignal.stream.suite import Suite

pytestmark = pytest.mark.kafka

TEXT = b"where does Ann Example live"


def turn(conversation: str, turn_id: str, **fields: object) -> bytes:
    said = {"conversation_id": conversation, "turn_id": turn_id, "role": "user", "text": TEXT.decode()}
    return orjson.dumps(said | {"timestamp": "2024-05-01T09:00:00Z"} | fields)


def test_settings_of_topics_that_are_there_are_brought_to_what_is_wanted(fresh_topics: Settings) -> None:
    changelog = topic_names(fresh_topics.prefix)["conversations_changelog"]
    wanted = fresh_topics.model_copy(update={"compaction_lag": 60.0, "retention_turns": 3600.0, "partitions": 8})
    told = update_topics(wanted, dry_run=True)
    assert Altered(changelog, "max.compaction.lag.ms", "86400000", "60000") in told
    assert update_topics(wanted, dry_run=True) == told  # nothing was changed
    assert update_topics(wanted) == told
    assert update_topics(wanted) == []
    assert {key for found in describe_topics(wanted) for key in found.differs} == {"partitions"}


def test_the_texts_of_a_forgotten_conversation_leave_the_changelog(settings: Settings) -> None:
    settings = settings.model_copy(update={"compaction_lag": 1.0})
    create_topics(settings)
    names = topic_names(settings.prefix)
    changelog = names["conversations_changelog"]
    writer = TransactionWriter(settings.producer(f"{settings.app_id('score')}-0"), 0, names, changelog, 20.0)
    group = group_reader(settings.confluent(), settings.app_id("score")).consumer_group_metadata()
    processor, now = PartitionProcessor(Suite(), {}, names["turns"], 0), time.time()

    def work(turns: list[Kept], forget: list[Kept]) -> None:
        batch = processor.process(turns, now, forget)
        writer.write(batch.outputs, batch.changes, Checkpoint())
        writer.commit([], group)
        processor.accept(batch)

    request = Kept(0, 0, b"c-1", b"", 0, ())
    work([Kept(0, number, b"c-1", turn("c-1", f"t{number}"), 0, ()) for number in range(3)], [])
    assert any(TEXT in (record.value or b"") for record in read_topic(settings, changelog)[0])
    work([], [request])
    for _ in range(90):  # the broker looks for what it can compact every 15 seconds
        time.sleep(1.0)
        work([], [request])  # as with every commit, its checkpoint is written, and older segments close
        if not any(TEXT in (record.value or b"") for record in read_topic(settings, changelog)[0]):
            break
    else:
        pytest.fail("expected the texts to be compacted away within 90 s")


def test_a_users_conversations_are_found_by_their_turns(fresh_topics: Settings) -> None:
    producer = Producer(fresh_topics.producer() | {"enable.idempotence": True})
    sent = {
        b"c-1": [turn("c-1", "t1", user_id="u-7"), turn("c-1", "t2")],
        b"c-2": [turn("c-2", "t1", user_id="u-70"), b"not json u-7", turn("c-2", "t2", text="I am u-7")],
        b"c-3": [turn("c-3", "t1"), turn("c-3", "t2", user_id="u-7"), turn("c-3", "t3", user_id="u-8")],
        b"c-4": [turn("c-4", "t1", user_id="u-7", role="robot")],  # refused, and yet it names the user
    }
    for key, values in sent.items():
        for value in values:
            producer.produce(topic_names(fresh_topics.prefix)["turns"], value, key)
    producer.produce(topic_names(fresh_topics.prefix)["turns"], turn("c-5", "t", user_id="u-7"), b"\xff")
    assert producer.flush(30) == 0
    told: list[tuple[int, int]] = []
    found = find_conversations(fresh_topics, "u-7", lambda done, of: told.append((done, of)))
    assert (sorted(found.conversations), found.turns) == (["c-1", "c-3", "c-4"], 10)
    assert found.oldest is not None
    assert datetime.now(UTC) - found.oldest < timedelta(minutes=5)
    assert told[-1] == (10, 10)
    assert find_conversations(fresh_topics, "u-9").conversations == []


def test_a_conversation_is_forgotten_wherever_its_turns_were_sent(fresh_topics: Settings) -> None:
    names, producer = topic_names(fresh_topics.prefix), Producer(fresh_topics.producer() | {"enable.idempotence": True})
    conversations = [f"c-{number}" for number in range(12)]
    for name in conversations:  # the bot's greeting, by a client with another partitioner, before the user says a word
        by_hash = partition_for(name.encode(), fresh_topics.partitions)
        elsewhere = (by_hash + 1) % fresh_topics.partitions
        producer.produce(names["turns"], turn(name, "t0", role="assistant"), name.encode(), elsewhere)
        producer.produce(names["turns"], turn(name, "t1", user_id="u-7"), name.encode(), by_hash)
    assert producer.flush(30) == 0
    found = find_conversations(fresh_topics, "u-7")
    assert sorted(found.conversations) == sorted(conversations)
    assert send_requests(fresh_topics, found.conversations) == 12 * fresh_topics.partitions
    for number, records in read_topic(fresh_topics, names["forget"]).items():
        assert sorted((record.key or b"").decode() for record in records) == sorted(conversations), number


def test_a_user_whose_id_was_sent_as_a_digest_is_found_with_the_same_secret(
    fresh_topics: Settings, tmp_path: Path
) -> None:
    env = {"TURNSIGNAL_BROKERS": fresh_topics.brokers, "TURNSIGNAL_PREFIX": fresh_topics.prefix}
    secret, turns = tmp_path / "secret.txt", tmp_path / "turns.jsonl"
    secret.write_text("0123456789abcdef\n")
    turns.write_bytes(turn("c-1", "t1", user_id="ann"))

    def run(*words: object) -> tuple[int, str]:
        done = CliRunner().invoke(turnsignal, list(map(str, words)), env=env)
        return done.exit_code, done.output

    code, told = run("produce", turns, "--hash-users", secret, "--rejects", tmp_path / "rejects.jsonl")
    assert code == 0, told
    code, told = run("forget", "--user", "ann")
    assert (code, "0 conversations of ann in 1 turns" in told) == (1, True)
    assert "digests (`produce --hash-users FILE`), give --hash-users the same file" in told
    code, told = run("forget", "--user", "ann", "--hash-users", secret, "--dry-run")
    assert (code, "1 conversations of ann, whose digest is " in told, "\n  c-1\n" in told) == (0, True, True)
    code, told = run("forget", "--user", "eve", "--hash-users", secret)
    assert (code, "the same file" in told) == (1, False)
    assert run("forget", "c-1", "--hash-users", secret)[0] == 2


def test_an_id_that_no_turn_names_is_doubted_and_asked_for_all_the_same(fresh_topics: Settings) -> None:
    env = {"TURNSIGNAL_BROKERS": fresh_topics.brokers, "TURNSIGNAL_PREFIX": fresh_topics.prefix}
    names, producer = topic_names(fresh_topics.prefix), Producer(fresh_topics.producer() | {"enable.idempotence": True})
    producer.produce(names["turns"], turn("c-1", "t1"), b"c-1")
    assert producer.flush(30) == 0

    def run(*words: str) -> tuple[int, str]:
        done = CliRunner().invoke(turnsignal, ["forget", *words], env=env)
        return done.exit_code, done.stdout

    code, told = run("c-1")
    assert (code, "mistyped" in told) == (0, False)
    code, told = run("nope-id")
    number = partition_for(b"nope-id", fresh_topics.partitions)
    among = int(number == partition_for(b"c-1", fresh_topics.partitions))
    assert code == 0
    assert "Asked the workers to forget nope-id." in told
    assert f"No turn of nope-id is among the {among} of {names['turns']}-{number}, where its key belongs" in told
    assert orjson.loads(run("nope-id", "--dry-run", "--json")[1])["has_turns"] is False
    assert orjson.loads(run("c-1", "--dry-run", "--json")[1])["has_turns"] is True
    admin = admin_client(fresh_topics)
    admin.delete_topics([names["turns"]])[names["turns"]].result(30)
    wait(lambda: names["turns"] not in topic_metadata(admin).topics, 30, "the topic to be gone")
    code, told = run("c-1")
    assert code == 0
    assert "Whether c-1 has turns, or is mistyped, was not looked up: expected a topic" in told


def test_who_asked_to_be_forgotten_is_not_shown_though_the_topic_still_has_the_texts(fresh_topics: Settings) -> None:
    names, producer = topic_names(fresh_topics.prefix), Producer(fresh_topics.producer() | {"enable.idempotence": True})

    def row(turn_id: str) -> bytes:
        said = {"scorer": "pattern.forbid", "value": 0.0, "explanation": f"{TEXT.decode()} of {turn_id} matches"}
        return orjson.dumps({"id": turn_id, "turn_id": turn_id, "stage": "response", "time": 1.0, "scores": [said]})

    later = round(time.time() * 1000) + 1_800_000
    documents = [{"doc_id": "d", "text": TEXT.decode()}]
    producer.produce(names["turns"], turn("c-1", "t1", retrieved=documents), b"c-1", timestamp=1_000)
    producer.produce(names["scores"], row("t1"), b"c-1", timestamp=1_000)
    producer.produce(names["conversations"], b'{"outcome": "abandoned"}', b"c-1", timestamp=1_000)
    producer.flush()
    send_requests(fresh_topics, ["c-1"])
    producer.produce(names["scores"], row("t1"), b"c-1", timestamp=later)  # by a worker that was behind
    producer.produce(names["turns"], turn("c-1", "t2", text="I am back"), b"c-1", timestamp=later)
    producer.produce(names["scores"], row("t2"), b"c-1", timestamp=later)
    producer.produce(names["turns"], turn("c-2", "t1"), b"c-2", timestamp=1_000)
    producer.flush()
    found = from_kafka(fresh_topics, "c-1")
    assert [row["turn_id"] for row in found.rows] == ["t2"]
    assert found.summary is None
    assert TEXT.decode() not in str(found.as_json()["turns"])
    shown = "\n".join(explain(found))
    assert TEXT.decode() not in shown.replace(f"{TEXT.decode()} of t2", "")
    assert "(not shown: to be forgotten)" in shown
    assert "I am back" in shown
    assert "to be forgotten: texts and scores from before that are not shown" in shown
    assert TEXT.decode() in "\n".join(explain(from_kafka(fresh_topics, "c-2")))


def test_what_remains_is_told_by_the_brokers_own_settings(fresh_topics: Settings) -> None:
    names = topic_names(fresh_topics.prefix)
    admin = AdminClient(fresh_topics.confluent())
    for name, key, value in (
        (names["turns"], "retention.ms", "3600000"),
        (names["turns"], "segment.ms", "60000"),
        (names["scores"], "retention.ms", "-1"),
        (names["conversations"], "max.compaction.lag.ms", str(2**63 - 1)),
    ):
        entry = ConfigEntry(key, value, incremental_operation=AlterConfigOpType.SET)
        resource = ConfigResource(ResourceType.TOPIC, name, incremental_configs=[entry])
        admin.incremental_alter_configs([resource])[resource].result(30)
    now = datetime(2025, 6, 1, tzinfo=UTC)
    left = {
        remains.topic: (remains.until, remains.compacted) for remains in list_remains(fresh_topics, now.timestamp())
    }
    assert left[names["turns"]] == (datetime(2025, 6, 1, 1, 1, tzinfo=UTC), False)
    assert left[names["scores"]] == (None, False)
    assert left[names["conversations"]] == (None, True)
    assert left[names["conversations_changelog"]] == (datetime(2025, 6, 2, tzinfo=UTC), True)
    assert left[names["dead_letters"]] == (datetime(2025, 6, 9, tzinfo=UTC), False)


def test_the_command_tells_what_it_would_do_and_what_stays(fresh_topics: Settings) -> None:
    env = {"TURNSIGNAL_BROKERS": fresh_topics.brokers, "TURNSIGNAL_PREFIX": fresh_topics.prefix}
    names = topic_names(fresh_topics.prefix)
    producer = Producer(fresh_topics.producer() | {"enable.idempotence": True})
    producer.produce(names["turns"], turn("c-1", "t1", user_id="u-7"), b"c-1")
    assert producer.flush(30) == 0

    def run(*words: str) -> tuple[int, str, int]:
        done = CliRunner().invoke(turnsignal, ["forget", *words], env=env)
        requests = read_topic(fresh_topics, names["forget"])
        return done.exit_code, done.output, sum(map(len, requests.values()))

    code, said, requests = run("--user", "u-7", "--dry-run")
    assert (code, requests) == (0, 0)
    assert "1 conversations of u-7 in 1 turns" in said
    assert f"{names['turns']}: its turns as they were sent, with texts: until " in said
    code, said, requests = run("--user", "u-7")
    assert (code, requests) == (0, fresh_topics.partitions)
    assert "Asked the workers to forget 1 conversations." in said
    code, said, requests = run("--user", "nobody")
    assert (code, requests) == (1, fresh_topics.partitions)
    code, said, requests = run("c-1")
    assert (code, requests) == (0, 2 * fresh_topics.partitions), "whatever partition its turns were sent to"
    assert "Asked the workers to forget c-1." in said
    assert run()[0] == run("c-1", "--user", "u-7")[0] == 2
