"""Incidents on a real broker: called once whoever is killed meanwhile, the same as in a replay, accepted by command."""

import signal
from pathlib import Path

import orjson
import pytest
from click.testing import CliRunner
from confluent_kafka import Producer

from tests.kafka.faults.oracle import committed, ends, read_states, read_topic
from tests.kafka.faults.play import make_settings, wait
from tests.kafka.faults.workers import FaultyWorker, variables
from tests.stream.pipeline.test_watching import dropped, records
from turnsignal.agents.cli import turnsignal
from turnsignal.agents.kafka.brokers import Broker
from turnsignal.agents.kafka.topics import create_topics, topic_names
from turnsignal.agents.settings import Settings
from turnsignal.stream.detection.backtest import back_test
from turnsignal.stream.detection.incidents import newest
from turnsignal.stream.pipeline.scoring import policy_of
from turnsignal.stream.records.regressions import Incident, read_incident
from turnsignal.stream.suite import Suite

pytestmark = pytest.mark.kafka


def reached(settings: Settings) -> bool:
    return all(committed(settings, name, "watch") == ends(settings, name) for name in ("series", "decisions"))


def written(settings: Settings) -> list[Incident]:
    topic = read_topic(settings, topic_names(settings.prefix)["regressions"])
    return [read_incident(record.value or b"") for records in topic.values() for record in records]


def test_what_is_called_survives_kills_equals_a_replay_and_is_accepted_by_command(
    broker: Broker, fresh_prefix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = make_settings(broker, fresh_prefix, tmp_path)
    create_topics(settings)
    names, fed = topic_names(settings.prefix), records(dropped())
    producer = Producer(settings.producer() | {"enable.idempotence": True})
    worker = FaultyWorker("watch", settings, tmp_path, app="watch")
    worker.start()
    try:
        for start in range(0, len(fed), 60):
            for record in fed[start : start + 60]:
                producer.produce(names["series"], record.value, record.key)
            assert producer.flush(30) == 0
            if start in (120, 180, 240):  # before, while and after it is called
                wait(lambda: worker.send(signal.SIGKILL, "watch"), 60, "a watch worker to kill", [worker])
        wait(lambda: reached(settings), 120, "all observations to be taken in", [worker])
        live = newest(written(settings))
        sources = [[one.value or b"" for one in kept] for kept in read_topic(settings, names["series"]).values()]
        assert [one.id for one in live.values()] == [one.id for one in back_test(sources, policy_of(Suite())).incidents]
        assert list(live.values()) == back_test(sources, policy_of(Suite())).incidents
        (incident,) = live.values()
        assert (incident.tier, incident.closed) == ("page", None)
        assert len({record.event for record in written(settings) if record.event == "opened"}) == 1

        for name, value in variables(settings).items():
            monkeypatch.setenv(name, value)
        run = CliRunner().invoke
        listed = run(turnsignal, ["regressions", "list", "--open", "--json"])
        assert [one["id"] for one in orjson.loads(listed.output)] == [incident.id]
        assert "page  support" in run(turnsignal, ["regressions", "show", incident.id[:6]]).output
        assert run(turnsignal, ["regressions", "accept", incident.id]).exit_code == 0
        wait(lambda: reached(settings), 60, "the decision to be taken in", [worker])
        (closed,) = newest(written(settings)).values()
        assert (closed.id, closed.closed_by) == (incident.id, "accepted")
        assert orjson.loads(run(turnsignal, ["regressions", "list", "--open", "--json"]).output) == []
        again = run(turnsignal, ["regressions", "accept", incident.id])
        assert again.exit_code != 0
        assert "which is over (accepted)" in str(again.exception)
        assert run(turnsignal, ["regressions", "rebase", "support"]).exit_code == 0
        wait(lambda: reached(settings), 60, "the second decision to be taken in", [worker])
        kept = {
            key: value for states in read_states(settings, "series_changelog").values() for key, value in states.items()
        }
        assert max(map(len, kept.values())) < 20_000
    finally:
        worker.terminate()
        worker.join()
        worker.kill()
