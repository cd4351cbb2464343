"""Verdicts on a real broker: one row each, through a kill and beside workers that do not read them, as foretold."""

import signal
from collections.abc import Callable
from pathlib import Path

import orjson
import pytest
from confluent_kafka import Producer

from tests.kafka.faults.oracle import committed, ends, reached_ends, read_states, read_topic
from tests.kafka.faults.play import make_settings, wait
from tests.kafka.faults.workers import FaultyWorker
from tests.kafka.test_isolation import running
from tests.stream.judging.judged import JUDGES, verdicts
from turnsignal.agents.kafka.brokers import Broker
from turnsignal.agents.kafka.topics import create_topics, topic_names
from turnsignal.agents.settings import Settings
from turnsignal.stream.pipeline.processor import PartitionProcessor
from turnsignal.stream.records.verdicts import VERDICTS, Verdict
from turnsignal.stream.records.wire import EXCHANGES, OutputRecord
from turnsignal.stream.suite import Suite, load_suite
from turnsignal.stream.testing import make_record

pytestmark = pytest.mark.kafka

INPUTS = ("turns", "feedback", "forget", "verdicts")


@pytest.fixture
def judged(broker: Broker, fresh_prefix: str, tmp_path: Path) -> Settings:
    """Settings of a suite with judges, with the topics made."""
    settings = make_settings(broker, fresh_prefix, tmp_path)
    assert settings.suite is not None
    Path(settings.suite).write_text(JUDGES, encoding="utf-8")
    create_topics(settings)
    return settings


def suite_of(settings: Settings) -> Suite:
    return load_suite(settings.suite)


def send(settings: Settings, name: str, *records: tuple[str, bytes]) -> None:
    producer = Producer(settings.producer() | {"enable.idempotence": True})
    for key, value in records:
        producer.produce(topic_names(settings.prefix)[name], value, key.encode())
    assert producer.flush(30) == 0


def talk(conversation: str, begin: int = 0) -> list[tuple[str, bytes]]:
    """Two questions with answers, and thanks."""
    document = [{"doc_id": "a", "text": "The colour is set under settings."}]
    said = [
        "How do I change it?",
        "Look under settings [a].",
        "No, I meant the colour.",
        "Under settings.",
        "Thank you!",
    ]
    records = []
    for number, text in enumerate(said):
        role = "user" if number % 2 == 0 else "assistant"
        more = {"retrieved": document} if role == "assistant" else {}
        fields = {"turn_id": f"{role[0]}{begin}-{number}", "role": role, "text": text, **more}
        records.append((conversation, make_record(0, begin + 10 * number, conversation, **fields).value or b""))
    return records


def spoken(settings: Settings) -> list[Verdict]:
    """What judges would say of everything that is queued."""
    queued = read_topic(settings, topic_names(settings.prefix)["exchanges"]).values()
    outputs = [OutputRecord(EXCHANGES, record.key, record.value) for records in queued for record in records]
    return verdicts(outputs, suite_of(settings))


def dumped(said: list[Verdict]) -> list[tuple[str, bytes]]:
    return [(verdict.conversation_id, VERDICTS.dump_json(verdict)) for verdict in said]


def reached(settings: Settings) -> Callable[[], bool]:
    return lambda: all(committed(settings, name) == ends(settings, name) for name in INPUTS)


def verdict_rows(settings: Settings) -> list[bytes]:
    kept = read_topic(settings, topic_names(settings.prefix)["scores"]).values()
    values = [record.value or b"" for records in kept for record in records]
    return sorted(value for value in values if b'"stage":"verdict"' in value)


def foretell(settings: Settings) -> tuple[list[bytes], dict[int, dict[bytes, bytes]]]:
    """Say what must come of turns and verdicts: of each partition all turns in one pass, then all verdicts."""
    names, rows, states = topic_names(settings.prefix), [], {}
    turns, said = (read_topic(settings, names[name]) for name in ("turns", "verdicts"))
    for partition, records in turns.items():
        processor = PartitionProcessor(suite_of(settings), topic=names["turns"], partition=partition)
        for batch in (
            lambda at=processor, part=records: at.process(part, 0.0),
            lambda at=processor, part=said[partition]: at.process((), 0.0, verdicts=part),
        ):
            done = batch()
            processor.accept(done)
            rows += [out.value or b"" for out in done.outputs if b'"stage":"verdict"' in (out.value or b"")]
        states[partition] = dict(processor.store)
    return sorted(rows), states


def test_each_verdict_has_one_row_through_a_kill_and_the_states_are_the_oracles(
    judged: Settings, tmp_path: Path
) -> None:
    worker = FaultyWorker("worker", judged, tmp_path)
    worker.start()
    try:
        send(judged, "turns", *(record for n in range(30) for record in talk(f"c{n}")))
        wait(reached(judged), 90, "the turns to be committed", [worker])
        said = spoken(judged)
        assert len(said) == 30 * 4
        send(judged, "verdicts", *dumped(said[: len(said) // 2]))
        send(judged, "turns", *(record for n in range(30) for record in talk(f"d{n}", 5_000)))  # the others close
        worker.send(signal.SIGKILL)
        send(judged, "verdicts", *dumped(said), ("c0", b"no JSON"), ("c1", b"{}"))
        worker.send(signal.SIGKILL)
        wait(reached(judged), 90, "verdicts to be committed after kills", [worker])
        worker.terminate()
        assert worker.join() == 0
    finally:
        worker.kill()
    rows, states = foretell(judged)
    assert verdict_rows(judged) == rows
    assert {orjson.loads(row)["verdict"]["id"] for row in rows} == {verdict.id for verdict in said}
    assert len(rows) == len(said)
    assert {n: kept for n, kept in read_states(judged).items() if kept} == {
        n: kept for n, kept in states.items() if kept
    }
    letters = read_topic(judged, topic_names(judged.prefix)["dead_letters"]).values()
    why = sorted(dict(record.headers)["reason"] for records in letters for record in records)
    assert why == [b"missing_field", b"not_json"]
    newest = {}
    for records in read_topic(judged, topic_names(judged.prefix)["conversations"]).values():
        newest |= {record.key: orjson.loads(record.value or b"{}") for record in records}
    closed = [summary for key, summary in newest.items() if key is not None and key.startswith(b"c")]
    assert closed
    assert {summary["awaiting"] for summary in closed} == {0}


def test_workers_that_read_verdicts_work_beside_workers_that_do_not(judged: Settings, tmp_path: Path) -> None:
    told = {"TURNSIGNAL_SUITE": str(judged.suite)}
    with running(judged, tmp_path, name="new", **told) as new:
        with running(judged, tmp_path, name="old", _PILL_INPUTS="fewer", **told) as old:
            wait(lambda: "working on" in old.read_text() and "working on" in new.read_text(), 60, "both to work")
            send(judged, "turns", *(record for n in range(20) for record in talk(f"c{n}")))
            wait(lambda: reached_ends(judged), 60, "the turns to be committed")
            said = spoken(judged)
            send(judged, "verdicts", *dumped(said))
        wait(reached(judged), 60, "the new worker to have all verdicts")
        log = new.read_text() + old.read_text()
    assert "to be started again" not in log
    assert "CRITICAL" not in log
    assert verdict_rows(judged) == foretell(judged)[0]
    assert len(verdict_rows(judged)) == len(said) == 20 * 4
