"""The drill: a planted regression wakes somebody once, through everything that is real on the way; without it nobody.

Kafka, workers, Prometheus and Alertmanager with our rules and configuration (only intervals and receivers are the
test's), and who is told. The watch worker is killed before, while and after it is called.
"""

import json
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.parse
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from heapq import merge
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml

from tests.agents.receiver import Post, Receiver, receiving
from tests.kafka.faults.oracle import read_topic
from tests.kafka.faults.workers import FaultyWorker, wait
from turnsignal.agents.drilling.awaiting import Notified
from turnsignal.agents.drilling.run import Drill
from turnsignal.agents.kafka.brokers import Broker
from turnsignal.agents.kafka.topics import create_topics, topic_names
from turnsignal.agents.notify import EVENTS, idempotency_key
from turnsignal.agents.settings import Settings
from turnsignal.stream.errors import TurnsignalError
from turnsignal.stream.records.regressions import Incident, read_incident
from turnsignal.stream.simulation import SimulatedRecord
from turnsignal.stream.simulation.drills import DrillTraffic, plant

DEPLOY = Path(__file__).parents[2] / "deploy"
PROMETHEUS = shutil.which("prometheus")
ALERTMANAGER = shutil.which("prometheus-alertmanager") or shutil.which("alertmanager")
COMMAND = [sys.executable, "-m", "turnsignal.agents.cli", "drill", "--yes", "--deadline", "4"]
END = 1_767_225_600.0  #: event time of the last turn

pytestmark = [
    pytest.mark.kafka,
    pytest.mark.skipif(
        not (PROMETHEUS and ALERTMANAGER) and not os.environ.get("REQUIRE_TOOLS"),
        reason="Prometheus or Alertmanager is not installed (Debian: prometheus, prometheus-alertmanager)",
    ),
]


def free_port() -> int:
    """A port that is free, and so is the one behind it; beneath those that connections of other tests are given."""
    for port in random.sample(range(20_000, 32_000, 2), 1_000):
        with socket.socket() as first, socket.socket() as second:
            try:
                first.bind(("127.0.0.1", port))
                second.bind(("127.0.0.1", port + 1))
            except OSError:
                continue
            return port
    msg = "expected two free ports beside each other from 20000 to 32000, and there are none"
    raise AssertionError(msg)


class Drilled(NamedTuple):
    """Workers through which a drill has gone, and what watches them."""

    settings: Settings
    environment: dict[str, str]
    traffic: DrillTraffic
    prometheus: str
    alertmanager: str


@contextmanager
def running(*command: str) -> Iterator[None]:
    process = subprocess.Popen(command)
    try:
        yield
    finally:
        process.terminate()
        process.wait(30)


@contextmanager
def alerting(directory: Path, targets: list[str], receiver: str) -> Iterator[tuple[str, str]]:
    """Prometheus and Alertmanager with our configuration, faster, telling the receiver; the addresses of both."""
    assert PROMETHEUS is not None
    assert ALERTMANAGER is not None
    told = yaml.safe_load((DEPLOY / "alertmanager" / "alertmanager.yml").read_text(encoding="utf-8"))
    told["route"] |= {"group_wait": "1s", "group_interval": "1s"}
    for each in told["receivers"]:
        each["webhook_configs"] = [{"url": f"{receiver}/{each['name']}", "send_resolved": True}]
    (directory / "alertmanager.yml").write_text(yaml.safe_dump(told), encoding="utf-8")
    manager, server = f"127.0.0.1:{free_port()}", f"127.0.0.1:{free_port()}"
    scraping = yaml.safe_load((DEPLOY / "prometheus" / "prometheus.yml").read_text(encoding="utf-8"))
    scraping["global"] = {"scrape_interval": "1s", "evaluation_interval": "1s"}
    scraping["rule_files"] = [str(DEPLOY / "prometheus" / "rules" / "*.yml")]
    scraping["alerting"]["alertmanagers"][0]["static_configs"] = [{"targets": [manager]}]
    scraping["scrape_configs"][0]["static_configs"] = [{"targets": targets}]
    (directory / "prometheus.yml").write_text(yaml.safe_dump(scraping), encoding="utf-8")
    with (
        running(
            ALERTMANAGER,
            f"--config.file={directory / 'alertmanager.yml'}",
            f"--storage.path={directory / 'alertmanager'}",
            f"--web.listen-address={manager}",
            "--cluster.listen-address=",
            "--log.level=error",
        ),
        running(
            PROMETHEUS,
            f"--config.file={directory / 'prometheus.yml'}",
            f"--storage.tsdb.path={directory / 'prometheus'}",
            f"--web.listen-address={server}",
            "--log.level=error",
        ),
    ):
        yield f"http://{server}", f"http://{manager}"


def evaluated_since(prometheus: str, moment: float) -> bool:
    """Whether the rules about quality were worked out after a moment, over pages that were read after it."""
    try:
        with urllib.request.urlopen(f"{prometheus}/query?query={urllib.parse.quote('min(timestamp(up))')}") as answer:
            read = json.load(answer)["data"]["result"]
        with urllib.request.urlopen(f"{prometheus}/rules") as answer:
            groups = json.load(answer)["data"]["groups"]
    except OSError:
        return False
    last = [group["lastEvaluation"] for group in groups if group["name"] == "turnsignal-quality"]
    evaluated = time.mktime(time.strptime(last[0][:19], "%Y-%m-%dT%H:%M:%S")) - time.timezone if last else 0.0
    return bool(read) and float(read[0]["value"][1]) > moment and evaluated > moment


def quality(posts: list[Post], receiver: str, status: str = "firing") -> list[Any]:
    """Alerts about quality that a receiver of Alertmanager's was told of."""
    return [
        alert
        for post in posts
        if post.path == f"/{receiver}"
        for alert in post.body["alerts"]
        if alert["status"] == status and alert["labels"]["alertname"] == "TurnsignalQualityRegression"
    ]


def posted(receiver: Receiver) -> list[str]:
    """The keys of what TURNSIGNAL_NOTIFY was told."""
    return [post.headers["Idempotency-Key"] for post in list(receiver.posts) if post.path == "/notify"]


def incidents(settings: Settings) -> list[Incident]:
    """Every record of incidents."""
    written = read_topic(settings, topic_names(settings.prefix)["regressions"])
    return [read_incident(record.value or b"") for kept in written.values() for record in kept]


@contextmanager
def drilled(broker: Broker, prefix: str, directory: Path, receiver: Receiver, *, worse: bool) -> Iterator[Drilled]:
    """Run a drill through workers beside another assistant, killing the watch on the way, until all has been said."""
    port = free_port()
    environment = {
        "TURNSIGNAL_BROKERS": broker.address,
        "TURNSIGNAL_PREFIX": prefix,
        "TURNSIGNAL_METRICS_PORT": str(port),
        "TURNSIGNAL_MAX_POLL_RECORDS": "150",
        "TURNSIGNAL_PARTITIONS": "2",
        "TURNSIGNAL_SESSION_TIMEOUT": "6s",
        "TURNSIGNAL_NOTIFY": f"{receiver.address}/notify",
    }
    settings = Settings.from_env(environment)
    create_topics(settings)
    support, billing = plant("support", END, seed=1, worse=worse), plant("billing", END, seed=2, worse=False)
    worker = FaultyWorker("workers", settings, directory, app="all")
    with alerting(directory, [f"127.0.0.1:{port}", f"127.0.0.1:{port + 1}"], receiver.address) as (server, manager):
        worker.start()
        try:
            drill = Drill(settings, support, 240.0, print)
            drill.send(together(support.healthy, billing.healthy), "what is usual")
            rest = together(support.worse, billing.worse)
            third = -(-len(rest) // 3)
            for start in range(0, len(rest), third):
                assert worker.send(signal.SIGKILL, "watch")
                wait(lambda: worker.child_of("watch") is not None, 120, "the watch to be back", [worker])
                drill.send(rest[start : start + third], "the rest")
            if worse:
                drill.await_incident()
                drill.await_alert(server)
                drill.await_notification(manager, Notified(0.0, 0.0))
            moment = time.time() + 2.0  # alerts have another round to go through Alertmanager
            wait(lambda: evaluated_since(f"{server}/api/v1", moment), 60, "Prometheus to look again", [worker])
            said = {idempotency_key(one) for one in incidents(settings) if one.event in EVENTS}
            wait(lambda: said <= set(posted(receiver)), 60, "incidents to be posted", [worker])
            yield Drilled(settings, environment, support, server, manager)
        except TurnsignalError as error:
            raise AssertionError(f"{error}\n{worker.log_text()[-5000:]}") from error
        finally:
            worker.terminate()
            worker.join()
            worker.kill()


def together(*parts: list[SimulatedRecord]) -> list[SimulatedRecord]:
    """Put what several assistants say together by event time."""
    return list(merge(*parts, key=lambda record: record.truth["time"]))


def test_a_planted_regression_wakes_somebody_once_with_what_there_is_to_know(
    broker: Broker, fresh_prefix: str, tmp_path: Path
) -> None:
    with (
        receiving() as receiver,
        drilled(broker, fresh_prefix, tmp_path, receiver, worse=True) as (settings, _, traffic, *_),
    ):
        pass
    posts = receiver.posts
    (page,) = quality(posts, "pages")
    assert page["labels"] == {
        "alertname": "TurnsignalQualityRegression",
        "assistant": "support",
        "severity": "page",
    }
    description = page["annotations"]["description"]
    assert "nDCG@5 is lower, seen with v2, by -0." in description
    assert "(95 % -0." in description
    assert "/regressions" in description
    assert {alert["labels"]["assistant"] for alert in quality(posts, "tickets")} <= {"support"}

    assert len({incident.id for incident in incidents(settings)}) == 1
    last = incidents(settings)[-1]
    assert (last.assistant, last.version, last.tier, last.closed) == ("support", "v2", "page", None)
    worse = {r.truth["conversation_id"] for r in traffic.worse if "retrieves_worse" in r.truth["planted"]}
    assert len(last.conversations) == 5
    assert set(last.conversations) <= worse
    sent = [*dict.fromkeys(posted(receiver))]  # one that is not answered in time is sent again, under the same key
    assert sent in ([f"{last.id}-opened", f"{last.id}-raised"], [f"{last.id}-opened"])


def test_without_it_nobody_is_woken_until_an_operator_drills_and_then_of_the_drill_alone(
    broker: Broker, fresh_prefix: str, tmp_path: Path
) -> None:
    with receiving() as receiver, drilled(broker, fresh_prefix, tmp_path, receiver, worse=False) as stack:
        assert quality(receiver.posts, "pages") == quality(receiver.posts, "tickets") == []
        assert posted(receiver) == []
        clean = {name: value for name, value in os.environ.items() if not name.startswith("TURNSIGNAL_")}
        done = subprocess.run(
            [*COMMAND, "--prometheus", stack.prometheus, "--alertmanager", f"{stack.alertmanager}/"],
            env=clean | stack.environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"{done.stdout}{done.stderr}"
        assert "Prometheus: TurnsignalQualityRegression fires as" in done.stdout
        assert "Alertmanager: has it for" in done.stdout
        assert done.stdout.endswith("The drill passed.\n")
        called = incidents(stack.settings)
        assert [incident.closed_by for incident in called if incident.closed is not None] == ["rebased"]
        assert len({incident.id for incident in called}) == 1
    assistants = {alert["labels"]["assistant"] for alert in quality(receiver.posts, "pages")}
    assert [name.startswith("drill-") for name in assistants] == [True]
