"""What `produce --resume` promises on a real broker: killed −9, however thin the log, every record is there once."""

import os
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import orjson
import pytest
from confluent_kafka import TopicPartition
from confluent_kafka.admin import (
    AclBinding,
    AclOperation,
    AclPermissionType,
    AdminClient,
    ResourcePatternType,
    ResourceType,
)

from tests.kafka.faults.play import wait
from tests.kafka.raw import batch, produce_batch, record
from turnsignal.agents.files.produce import Produced, produce_files
from turnsignal.agents.kafka.brokers import Broker, ProcessBroker, find_broker
from turnsignal.agents.kafka.logs import find_log, read_log
from turnsignal.agents.kafka.topics import create_topics, topic_names
from turnsignal.agents.settings import Settings

pytestmark = pytest.mark.kafka

DAYS = 30
TURNS = 3_000
SECONDS = 30  #: that a run would take which is killed near its beginning


def thin_log() -> list[bytes]:
    """Return turns of a month, each tenth of which the logger wrote twice, alike."""
    lines = []
    for number in range(TURNS):
        minute = number * DAYS * 24 * 60 // TURNS
        stamp = f"2026-05-{1 + minute // 1440:02d}T{minute // 60 % 24:02d}:{minute % 60:02d}:00Z"
        fields = {"conversation_id": f"c{number // 10}", "turn_id": f"{number}", "role": "user", "text": f"Hi {number}"}
        lines += [orjson.dumps(fields | {"timestamp": stamp})] * (2 if number % 10 == 0 else 1)
    return lines


def votes() -> list[bytes]:
    fields = {"kind": "vote", "vote": 1, "timestamp": "2026-05-02T00:00:00Z"}
    return [orjson.dumps(fields | {"id": f"v{n}", "conversation_id": f"c{n}", "turn_id": "1"}) for n in range(40)]


def write(path: Path, lines: list[bytes]) -> Path:
    path.write_bytes(b"\n".join(lines) + b"\n")
    return path


def on_topic(settings: Settings, name: str) -> Counter[bytes]:
    topic = topic_names(settings.prefix)[name]
    read = read_log(settings, topic, find_log(settings, topic), committed=False)
    return Counter(each.value for records in read for each in records)


def held(settings: Settings) -> int:
    ranges = find_log(settings, topic_names(settings.prefix)["turns"])
    return sum(end - first for first, end in ranges.values())


def send_beside(settings: Settings, value: bytes) -> None:
    """Write a record that is not the run's, with a header whose name is no text: librdkafka's reader would end."""
    topic, data = topic_names(settings.prefix)["turns"], record(0, b"c-live", value, [(b"\xff", b"")])
    assert produce_batch(settings.brokers, topic, 0, batch(data, 1)) == 0


def produce(settings: Settings, tmp_path: Path, lines: list[bytes], spoken: list[str]) -> Produced:
    turns = tmp_path / "turns.jsonl"
    if not turns.exists():
        write(turns, lines)
    return produce_files(
        *(settings, [turns], topic_names(settings.prefix)["turns"]),
        now=1_800_000_000.0,
        rejects=tmp_path / "rejects.jsonl",
        resume=tmp_path / "notes",
        say=spoken.append,
    )


def forget_end(notes: Path) -> None:
    """Leave what a run had noted before it sent anything, as if it had been killed right behind its last record."""
    noted = orjson.loads(notes.read_bytes())
    noted = {key: value for key, value in noted.items() if key != "all"} | {"done": 0}
    for log in noted["topics"].values():
        log["offsets"] = dict.fromkeys(log["offsets"], 0)
    notes.write_bytes(orjson.dumps(noted))


def test_a_run_that_is_killed_twice_and_resumed_leaves_every_record_of_a_thin_log_on_the_topic_once(
    fresh_topics: Settings, tmp_path: Path
) -> None:
    lines = thin_log()
    write(tmp_path / "turns.jsonl", lines)
    write(tmp_path / "votes.jsonl", votes())
    command = [sys.executable, "-m", "turnsignal.agents.cli", "produce", "turns.jsonl", "--feedback", "votes.jsonl"]
    command += ["--resume", "notes"]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("TURNSIGNAL_")} | {
        "TURNSIGNAL_BROKERS": fresh_topics.brokers,
        "TURNSIGNAL_PREFIX": fresh_topics.prefix,
    }
    where = {"cwd": tmp_path, "env": environment}
    strangers = []
    for enough in (300, 700):
        speed = f"{DAYS * 86_400 // SECONDS}x"
        with subprocess.Popen([*command, "--speed", speed], stderr=subprocess.PIPE, **where) as run:
            least = enough + len(strangers)
            wait(lambda least=least: held(fresh_topics) >= least, 60, "records to arrive")
            run.send_signal(signal.SIGKILL)
            run.communicate(timeout=30)
            assert run.returncode == -signal.SIGKILL, "it was killed before its end"
        strangers.append(orjson.dumps({"conversation_id": "c-live", "turn_id": str(enough)}))
        send_beside(fresh_topics, strangers[-1])
    before = held(fresh_topics) - len(strangers)
    assert 700 <= before < len(lines)
    done = subprocess.run(command, capture_output=True, text=True, check=True, **where)
    assert on_topic(fresh_topics, "turns") == Counter([*lines, *strangers])
    assert on_topic(fresh_topics, "feedback") == Counter(votes())
    assert f"Sent {len(lines) - before:,} turns" in done.stdout
    again = subprocess.run(command, capture_output=True, text=True, check=True, **where)
    assert f"All {len(lines) + 40:,} records were done before" in again.stdout


def test_records_that_the_topic_has_dropped_since_may_come_twice_and_are_counted(
    fresh_topics: Settings, tmp_path: Path
) -> None:
    spoken: list[str] = []
    lines = thin_log()[:200]
    produce(fresh_topics, tmp_path, lines, spoken)
    forget_end(tmp_path / "notes")
    topic = topic_names(fresh_topics.prefix)["turns"]
    number = max(find_log(fresh_topics, topic), key=lambda partition: find_log(fresh_topics, topic)[partition][1])
    admin = AdminClient({**fresh_topics.confluent(), "log_level": 0})
    for future in admin.delete_records([TopicPartition(topic, number, 3)]).values():
        future.result(30)
    done = produce(fresh_topics, tmp_path, lines, spoken)
    assert (done.sent, done.skipped) == (3, len(lines) - 3)
    assert [sentence.partition(" since ")[0] for sentence in spoken] == [f"{topic} has dropped 3 records"]
    assert spoken[0].endswith("so many at most come twice")


def test_a_topic_that_was_made_anew_takes_what_was_not_noted(fresh_topics: Settings, tmp_path: Path) -> None:
    spoken: list[str] = []
    lines = thin_log()[:100]
    produce(fresh_topics, tmp_path, lines, spoken)
    forget_end(tmp_path / "notes")
    topic = topic_names(fresh_topics.prefix)["turns"]
    admin = AdminClient({**fresh_topics.confluent(), "log_level": 0})
    admin.delete_topics([topic])[topic].result(30)
    wait(lambda: topic not in admin.list_topics(timeout=10).topics, 30, "the topic to be gone")
    create_topics(fresh_topics)
    assert produce(fresh_topics, tmp_path, lines, spoken).sent == len(lines)
    assert f"{topic} was made anew since" in spoken[0]
    assert on_topic(fresh_topics, "turns") == Counter(lines)


def test_who_may_not_read_the_topic_is_told_how_many_may_come_twice(broker: Broker, tmp_path: Path) -> None:
    if not isinstance(broker, ProcessBroker):
        pytest.skip(f"this session runs on {broker.kind}, whose rights are not ours to change")
    rights = {
        "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        "allow.everyone.if.no.acl.found": "true",
    }
    environment = {"PATH": os.environ["PATH"], "DOCKER_HOST": "unix:///nowhere"}
    with find_broker(environment, directory=tmp_path / "own", properties=rights) as own:
        settings = Settings(brokers=own.address)
        create_topics(settings)
        spoken: list[str] = []
        lines = thin_log()[:100]
        produce(settings, tmp_path, lines, spoken)
        forget_end(tmp_path / "notes")
        topic = topic_names(settings.prefix)["turns"]
        admin = AdminClient({**settings.confluent(), "log_level": 0})

        def rule(operation: AclOperation, permission: AclPermissionType) -> AclBinding:
            named = (ResourceType.TOPIC, topic, ResourcePatternType.LITERAL)
            return AclBinding(*named, "User:*", "*", operation, permission)

        rules = [rule(AclOperation.ALL, AclPermissionType.ALLOW), rule(AclOperation.READ, AclPermissionType.DENY)]
        for future in admin.create_acls(rules).values():
            future.result(30)
        assert produce(settings, tmp_path, lines, spoken).sent == len(lines)
        (sentence,) = spoken
        assert sentence.startswith(f"{topic} may not be read by this user (READ): ")
        assert sentence.endswith(f"{len(lines)} records at most come twice")
