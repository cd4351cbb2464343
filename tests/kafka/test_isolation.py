"""What ends a worker is not tried for ever: the record to blame is set aside, and its neighbours are scored."""

import json
import os
import re
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import orjson
import pytest
from aiokafka import AIOKafkaProducer
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, AlterConfigOpType, ConfigEntry, ConfigResource, ResourceType

from tests.kafka.faults.oracle import reached_ends, read_topic
from tests.kafka.faults.play import wait
from turnsignal.agents.kafka.brokers import Broker
from turnsignal.agents.kafka.topics import create_topics, topic_names
from turnsignal.agents.settings import Settings
from turnsignal.stream.errors import Reason

pytestmark = pytest.mark.kafka

ROOT = Path(__file__).resolve().parents[2]
CODECS = ("gzip", "snappy", "lz4", "zstd")
SHORT = {
    "TURNSIGNAL_SESSION_TIMEOUT": "6s",
    "TURNSIGNAL_HEARTBEAT_INTERVAL": "500ms",
    "TURNSIGNAL_MAX_POLL_RECORDS": "64",
}


def turn(conversation: str, number: int, text: str = "How do I reset it?") -> tuple[bytes, bytes]:
    value = {
        "conversation_id": conversation,
        "turn_id": f"{conversation}:{number}",
        "role": "user" if number % 2 else "assistant",
        "text": text,
        "timestamp": f"2024-05-01T09:{number:02}:00Z",
    }
    return conversation.encode(), orjson.dumps(value)


def conversations(name: str, count: int) -> list[tuple[bytes, bytes]]:
    return [turn(f"{name}-{each}", number) for each in range(count) for number in (1, 2, 3)]


def produce(settings: Settings, records: list[tuple[bytes, bytes]], **options: Any) -> None:
    producer = Producer({**settings.confluent(), "partitioner": "murmur2_random", **options})
    for key, value in records:
        producer.produce(topic_names(settings.prefix)["turns"], value, key)
    assert producer.flush(30) == 0


@contextmanager
def running(
    settings: Settings, directory: Path, module: str = "tests.kafka.pill", *more: str, name: str = "worker", **env: str
) -> Iterator[Path]:
    """Run a supervised worker; gives its log."""
    log = directory / f"{name}.log"
    kept = {name: value for name, value in os.environ.items() if not name.startswith("TURNSIGNAL_")}
    own = {
        "TURNSIGNAL_BROKERS": settings.brokers,
        "TURNSIGNAL_PREFIX": settings.prefix,
        "TURNSIGNAL_METRICS_PORT": "0",
        "PYTHONPATH": str(ROOT),
    }
    with log.open("ab") as stream:
        command = [sys.executable, "-m", module, *more]
        process = subprocess.Popen(command, env=kept | own | SHORT | env, cwd=ROOT, stdout=stream, stderr=stream)
    try:
        yield log
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(30)
        finally:
            process.kill()


def readiness(log: Path) -> tuple[int, dict[str, Any]]:
    """Return the status and the conditions that a worker's /readyz gives."""
    (page,) = re.findall(r"pages on (http://\S+?),", log.read_text())
    try:
        with urllib.request.urlopen(f"{page}/readyz", timeout=3) as answer:
            return answer.status, json.loads(answer.read())["conditions"]
    except urllib.error.HTTPError as error:
        return error.code, json.loads(error.read())["conditions"]


def rows(settings: Settings) -> int:
    return sum(map(len, read_topic(settings, topic_names(settings.prefix)["scores"]).values()))


def letters(settings: Settings) -> list[tuple[str, str]]:
    found = read_topic(settings, topic_names(settings.prefix)["dead_letters"])
    headers = [dict(record.headers) for records in found.values() for record in records]
    return [(head["reason"].decode(), head["detail"].decode()) for head in headers]


@pytest.mark.parametrize("pill", ["pill:exit", "pill:raise"])
def test_a_record_that_no_worker_survives_is_set_aside_and_its_neighbours_are_scored(
    fresh_topics: Settings, tmp_path: Path, pill: str
) -> None:
    produce(fresh_topics, [*conversations("before", 20), turn("sick", 1, pill), *conversations("after", 20)])
    with running(fresh_topics, tmp_path) as log:
        wait(lambda: reached_ends(fresh_topics), 300, "all turns to be committed")
        said = log.read_text()
    ((reason, detail),) = letters(fresh_topics)
    assert reason == Reason.POISON
    assert (
        "ended each worker" in detail if pill == "pill:exit" else "ZeroDivisionError (pill.py:" in detail
    )  # a message may quote
    assert rows(fresh_topics) == 2 * 2 * 20
    assert f"{topic_names(fresh_topics.prefix)['turns']}-" in said
    if pill == "pill:raise":
        assert "to be started again" not in said
        assert "failed: ZeroDivisionError" in said


def test_a_long_message_ahead_of_many_short_answers_is_worked_off_in_short_transactions(
    fresh_topics: Settings, tmp_path: Path
) -> None:
    """Written whole for each answer, it took 27 ms of a transaction 600 times, and the worker ended for ever."""
    (tmp_path / "suite.toml").write_text("[exchanges]\nshare = 1.0\n")
    answer = orjson.loads(turn("long", 2, "ok")[1])
    answers = [orjson.dumps(answer | {"turn_id": f"long:a{number}"}) for number in range(600)]
    produce(fresh_topics, [turn("long", 1), turn("long", 51, "\x01" * 199_000)], **{"message.max.bytes": 4_000_000})
    produce(fresh_topics, [(b"long", value) for value in answers])
    with running(
        fresh_topics,
        tmp_path,
        TURNSIGNAL_SUITE=str(tmp_path / "suite.toml"),
        TURNSIGNAL_MAX_POLL_RECORDS="2000",
        TURNSIGNAL_TRANSACTION_TIMEOUT="3s",
    ) as log:
        wait(lambda: reached_ends(fresh_topics), 60, "all turns to be committed")
        assert "to be started again" not in log.read_text()
    assert letters(fresh_topics) == []


async def test_turns_of_every_codec_are_read(fresh_topics: Settings, tmp_path: Path) -> None:
    for codec in CODECS:
        produce(fresh_topics, conversations(codec, 4), **{"compression.type": codec})
        producer = AIOKafkaProducer(bootstrap_servers=fresh_topics.brokers, compression_type=codec)
        await producer.start()
        for key, value in conversations(f"aio-{codec}", 4):
            await producer.send_and_wait(topic_names(fresh_topics.prefix)["turns"], value, key)
        await producer.stop()
    with running(fresh_topics, tmp_path, "turnsignal.agents.cli", "worker", "score"):
        wait(lambda: reached_ends(fresh_topics), 60, "all turns to be committed")
    assert rows(fresh_topics) == len(CODECS) * 2 * 2 * 4
    assert letters(fresh_topics) == []


def test_a_changelog_that_was_made_anew_is_refused_until_that_is_accepted(
    broker: Broker, fresh_topics: Settings, tmp_path: Path
) -> None:
    changelog = topic_names(fresh_topics.prefix)["conversations_changelog"]
    produce(fresh_topics, conversations("c", 20))
    with running(fresh_topics, tmp_path, "turnsignal.agents.cli", "worker", "score"):
        wait(lambda: reached_ends(fresh_topics), 60, "all turns to be committed")
    admin = AdminClient(fresh_topics.confluent())
    admin.delete_topics([changelog])[changelog].result(30)
    wait(lambda: changelog not in admin.list_topics(timeout=10).topics, 30, "the changelog to be gone")
    create_topics(fresh_topics)
    assert started(fresh_topics) == 2
    said = subprocess.run(command(), env=environment(fresh_topics), cwd=ROOT, capture_output=True, text=True)
    assert "got a changelog that was made anew" in said.stderr
    assert "topics repair score --to earliest" in said.stderr
    assert cli(fresh_topics, "topics", "repair", "score", "--to", "accept").returncode == 0
    before = rows(fresh_topics)
    produce(fresh_topics, conversations("d", 20))
    with running(fresh_topics, tmp_path, "turnsignal.agents.cli", "worker", "score"):
        wait(lambda: reached_ends(fresh_topics), 60, "the new turns to be committed")
    assert rows(fresh_topics) == before + 2 * 20


def test_positions_that_are_gone_are_restored_from_the_changelog(fresh_topics: Settings, tmp_path: Path) -> None:
    produce(fresh_topics, conversations("c", 20))
    with running(fresh_topics, tmp_path, "turnsignal.agents.cli", "worker", "score"):
        wait(lambda: reached_ends(fresh_topics), 60, "all turns to be committed")
    group = fresh_topics.app_id("score")
    admin = AdminClient(fresh_topics.confluent())
    admin.delete_consumer_groups([group])[group].result(30)
    produce(fresh_topics, conversations("d", 20))
    with running(fresh_topics, tmp_path, "turnsignal.agents.cli", "worker", "score") as log:
        wait(lambda: reached_ends(fresh_topics), 60, "the new turns to be committed")
        assert "was gone; restored" in log.read_text()
    assert rows(fresh_topics) == 2 * 2 * 20


def environment(settings: Settings) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("TURNSIGNAL_")}
    own = {"TURNSIGNAL_BROKERS": settings.brokers, "TURNSIGNAL_PREFIX": settings.prefix}
    return kept | own | SHORT | {"TURNSIGNAL_METRICS_PORT": "0", "PYTHONPATH": str(ROOT)}


def command() -> list[str]:
    return [sys.executable, "-m", "turnsignal.agents.cli", "worker", "score", "--no-supervisor"]


def started(settings: Settings) -> int:
    """Start a worker that is expected to refuse; return its exit code."""
    return subprocess.run(command(), env=environment(settings), cwd=ROOT, capture_output=True, timeout=90).returncode


def cli(settings: Settings, *arguments: str) -> "subprocess.CompletedProcess[str]":
    line = [sys.executable, "-m", "turnsignal.agents.cli", *arguments]
    return subprocess.run(line, env=environment(settings), cwd=ROOT, capture_output=True, text=True, timeout=90)


def test_a_worker_that_gains_an_input_works_beside_one_that_does_not_know_it(
    fresh_topics: Settings, tmp_path: Path
) -> None:
    def caught_up() -> bool:
        return reached_ends(fresh_topics)

    with running(fresh_topics, tmp_path, name="new") as new:
        with running(fresh_topics, tmp_path, name="old", _PILL_INPUTS="fewer") as old:
            wait(lambda: "working on" in old.read_text() and "working on" in new.read_text(), 60, "both to work")
            produce(fresh_topics, conversations("c", 20))
            wait(caught_up, 60, "the turns to be committed")
        produce(fresh_topics, conversations("d", 20))
        wait(caught_up, 60, "the new worker to have all partitions")
        said = new.read_text() + old.read_text()
    assert "to be started again" not in said
    assert "CRITICAL" not in said
    assert rows(fresh_topics) == 2 * 2 * 20


def test_a_topic_that_takes_too_little_by_now_loses_no_row(fresh_topics: Settings, tmp_path: Path) -> None:
    with running(fresh_topics, tmp_path, "turnsignal.agents.cli", "worker", "score") as log:
        produce(fresh_topics, conversations("before", 10))
        wait(lambda: reached_ends(fresh_topics), 60, "the first turns to be committed")
        limit_scores(fresh_topics, 200)
        produce(fresh_topics, conversations("after", 10))
        scores = topic_names(fresh_topics.prefix)["scores"]
        wrong = f"expected a max.message.bytes of {scores} of at least 65536, got 200"
        wait(lambda: log.read_text().count(wrong) > 2, 90, "the worker to say so, started again and again")
        limit_scores(fresh_topics, 1_000_000)
        wait(lambda: reached_ends(fresh_topics), 60, "the last turns to be committed")
    assert letters(fresh_topics) == []
    assert rows(fresh_topics) == 2 * 2 * 10


def test_a_topic_that_takes_too_little_is_refused_at_the_start(fresh_topics: Settings) -> None:
    limit_scores(fresh_topics, 65_535)
    assert started(fresh_topics) == 2


def limit_scores(settings: Settings, size: int) -> None:
    entry = ConfigEntry("max.message.bytes", str(size), incremental_operation=AlterConfigOpType.SET)
    resource = ConfigResource(ResourceType.TOPIC, topic_names(settings.prefix)["scores"], incremental_configs=[entry])
    admin = AdminClient(settings.confluent())
    admin.incremental_alter_configs([resource])[resource].result(30)
