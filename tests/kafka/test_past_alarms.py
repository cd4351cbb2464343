"""Alarms of the past on a real broker: `alarms` says of a topic what the workers called while it was written."""

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import orjson
import pytest
from click.testing import CliRunner
from confluent_kafka import Producer

from tests.kafka.faults.oracle import committed, ends, read_topic
from tests.kafka.faults.play import wait
from tests.kafka.faults.workers import FaultyWorker, variables
from turnsignal.agents.cli import turnsignal
from turnsignal.agents.kafka.topics import create_topics, topic_names
from turnsignal.agents.settings import Settings
from turnsignal.stream.detection.incidents import newest
from turnsignal.stream.records.regressions import read_incident
from turnsignal.stream.simulation import Regression, SimulatedRecord, Traffic, simulate

pytestmark = pytest.mark.kafka

TURNS = 7_000
ASSISTANTS = ("support", "billing")  # their series lie on different partitions of four


def make_turns() -> list[SimulatedRecord]:
    """Make three days of two assistants, whose answers break on the third."""
    regression = Regression(minute=2 * 1440, version="v2", kind="breaks_format")
    return list(
        simulate(Traffic(seed=4, turns=TURNS, rate=TURNS / 3 / 86_400, assistants=ASSISTANTS, regression=regression))
    )


def feed(settings: Settings, records: Sequence[SimulatedRecord]) -> None:
    producer = Producer(settings.producer() | {"enable.idempotence": True})
    for record in records:
        producer.produce(topic_names(settings.prefix)["turns"], record.value, record.key)
    assert producer.flush(60) == 0


def asked(*arguments: object) -> Any:
    done = CliRunner().invoke(turnsignal, [*map(str, arguments), "--json"])
    assert done.exit_code == 0, done.output
    return orjson.loads(done.stdout)


def work_through(settings: Settings, directory: Path) -> dict[str, Mapping[str, Any]]:
    """Have workers take in the turns, and return the incidents that they called, by id.

    In parts where there are several partitions: those of a backlog of days are not taken in in step.
    """
    worker, turns = FaultyWorker("all", settings, directory, app="all"), make_turns()
    worker.start()
    try:
        ends_of = [len(turns)] if settings.partitions == 1 else [len(turns) * part // 6 for part in (2, 4, 5, 6)]
        for start, end in pairwise([0, *ends_of]):
            feed(settings, turns[start:end])
            for topic, app in (("turns", "score"), ("series", "watch")):
                wait(partial(is_taken_in, settings, topic, app), 90, f"all {topic} to be taken in", [worker])
    finally:
        worker.terminate()
        worker.join()
        worker.kill()
    written = read_topic(settings, topic_names(settings.prefix)["regressions"])
    live = newest(read_incident(record.value or b"") for records in written.values() for record in records)
    assert {incident.assistant for incident in live.values() if incident.tier == "page"} == set(ASSISTANTS)
    return {name: incident.as_json() for name, incident in live.items()}


def is_taken_in(settings: Settings, topic: str, app: str) -> bool:
    return committed(settings, topic, app) == ends(settings, topic)


@pytest.mark.parametrize("partitions", [1, 4])
def test_the_alarms_of_an_export_are_those_that_workers_raised_live_id_by_id(
    settings: Settings, partitions: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = settings.model_copy(update={"partitions": partitions})
    create_topics(settings)
    live = work_through(settings, tmp_path)
    for name, value in variables(settings).items():
        monkeypatch.setenv(name, value)
    asked("export", "series", "--out", tmp_path / "series.jsonl.gz")
    past = asked("alarms", tmp_path / "series.jsonl.gz")["incidents"]
    assert len(past) == len(live)
    assert {incident["id"]: incident for incident in past} == live
    if partitions == 1:  # what lies on several is not taken in by time alone, as a replay does it
        asked("replay", "--topic", "turns", "--alerts", "--out", tmp_path / "out")
        assert {incident["id"]: incident for incident in asked("alarms", tmp_path / "out")["incidents"]} == live
