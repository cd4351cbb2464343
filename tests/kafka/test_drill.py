"""The drill: a planted regression wakes somebody once, through everything that is real on the way; without it nobody.

Kafka, workers, Prometheus and Alertmanager with our rules and configuration (only intervals and receivers are the
test's), and who is told. The watch worker is killed before, while and after it is called.
"""

import json
import os
import shutil
import signal
import socket
import subprocess
import time
import urllib.parse
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from heapq import merge
from pathlib import Path
from typing import Any

import pytest
import yaml
from confluent_kafka import Producer

from tests.agents.receiver import Post, Receiver, receiving
from tests.kafka.faults.oracle import committed, ends, read_topic
from tests.kafka.faults.workers import FaultyWorker, wait
from turnsignal.agents.kafka.brokers import Broker
from turnsignal.agents.kafka.topics import create_topics, topic_names
from turnsignal.agents.notify import EVENTS, idempotency_key
from turnsignal.agents.settings import Settings
from turnsignal.stream.records.regressions import Incident, read_incident
from turnsignal.stream.simulation import Regression, SimulatedRecord, Traffic, simulate

DEPLOY = Path(__file__).parents[2] / "deploy"
PROMETHEUS = shutil.which("prometheus")
ALERTMANAGER = shutil.which("prometheus-alertmanager") or shutil.which("alertmanager")
MINUTE = 2_160.0  #: a day and a half: what is usual is known by then
START = 1_767_225_600.0

pytestmark = [
    pytest.mark.kafka,
    pytest.mark.skipif(
        not (PROMETHEUS and ALERTMANAGER) and not os.environ.get("REQUIRE_TOOLS"),
        reason="Prometheus or Alertmanager is not installed (Debian: prometheus, prometheus-alertmanager)",
    ),
]


def free_port() -> int:
    """A port that is free, and so is the one behind it."""
    while True:
        with socket.socket() as first, socket.socket() as second:
            first.bind(("127.0.0.1", 0))
            port: int = first.getsockname()[1]
            try:
                second.bind(("127.0.0.1", port + 1))
            except OSError:
                continue
            return port


def traffic(*, worse: bool) -> list[SimulatedRecord]:
    """Nearly two days of two assistants; the v2 of one of them retrieves worse from MINUTE on."""
    common: dict[str, Any] = {"start": START, "rate": 0.045, "day_night": False, "alike": 0.2, "turns": 7_000}
    regression = Regression(MINUTE, "v2", "retrieves_worse") if worse else None
    support = simulate(Traffic(seed=1, assistants=("support",), regression=regression, **common))
    billing = simulate(Traffic(seed=2, assistants=("billing",), **common))
    return list(merge(support, billing, key=lambda record: record.truth["time"]))


@contextmanager
def running(*command: str) -> Iterator[None]:
    process = subprocess.Popen(command)
    try:
        yield
    finally:
        process.terminate()
        process.wait(30)


@contextmanager
def alerting(directory: Path, targets: list[str], receiver: str) -> Iterator[str]:
    """Prometheus and Alertmanager with our configuration, faster, telling the receiver; the address of Prometheus."""
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
        yield f"http://{server}/api/v1"


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


def drill(broker: Broker, prefix: str, directory: Path, receiver: Receiver, records: list[SimulatedRecord]) -> Settings:
    """Run the records through workers, killing the watch on the way, until Alertmanager has had time to say all."""
    port = free_port()
    settings = Settings.from_env(
        {
            "TURNSIGNAL_BROKERS": broker.address,
            "TURNSIGNAL_PREFIX": prefix,
            "TURNSIGNAL_METRICS_PORT": str(port),
            "TURNSIGNAL_MAX_POLL_RECORDS": "150",
            "TURNSIGNAL_PARTITIONS": "2",
            "TURNSIGNAL_SESSION_TIMEOUT": "6s",
            "TURNSIGNAL_NOTIFY": f"{receiver.address}/notify",
        }
    )
    create_topics(settings)
    names, producer = topic_names(prefix), Producer(settings.producer() | {"enable.idempotence": True})
    worker = FaultyWorker("workers", settings, directory, app="all")

    def behind(name: str, app: str) -> int:
        return sum(ends(settings, name).values()) - sum(committed(settings, name, app).values())

    def taken_in() -> bool:
        return behind("turns", "score") == 0 and behind("series", "watch") == 0

    def feed(part: list[SimulatedRecord]) -> None:
        for record in part:
            producer.produce(names["turns"], record.value, record.key)
        assert producer.flush(60) == 0

    change = next(n for n, record in enumerate(records) if record.truth["time"] >= START + 60 * MINUTE)
    with alerting(directory, [f"127.0.0.1:{port}", f"127.0.0.1:{port + 1}"], receiver.address) as prometheus:
        worker.start()
        try:
            feed(records[:change])
            wait(taken_in, 240, "a day and a half to be taken in", [worker])
            third = -(-(len(records) - change) // 3)
            for start in range(change, len(records), third):
                assert worker.send(signal.SIGKILL, "watch")
                feed(records[start : start + third])
                wait(lambda: worker.child_of("watch") is not None and taken_in(), 120, "turns to be taken in", [worker])
            moment = time.time() + 2.0  # alerts have another round to go through Alertmanager
            wait(lambda: evaluated_since(prometheus, moment), 60, "Prometheus to look again", [worker])
            said = {idempotency_key(one) for one in incidents(settings) if one.event in EVENTS}
            wait(lambda: said <= set(posted(receiver)), 60, "incidents to be posted", [worker])
        finally:
            worker.terminate()
            worker.join()
            worker.kill()
    return settings


def test_a_planted_regression_wakes_somebody_once_with_what_there_is_to_know(
    broker: Broker, fresh_prefix: str, tmp_path: Path
) -> None:
    records = traffic(worse=True)
    with receiving() as receiver:
        settings = drill(broker, fresh_prefix, tmp_path, receiver, records)
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
    worse = {r.truth["conversation_id"] for r in records if "retrieves_worse" in r.truth["planted"]}
    assert len(last.conversations) == 5
    assert set(last.conversations) <= worse
    assert posted(receiver) in ([f"{last.id}-opened", f"{last.id}-raised"], [f"{last.id}-opened"])


def test_the_same_traffic_without_it_wakes_nobody(broker: Broker, fresh_prefix: str, tmp_path: Path) -> None:
    with receiving() as receiver:
        drill(broker, fresh_prefix, tmp_path, receiver, traffic(worse=False))
    assert quality(receiver.posts, "pages") == quality(receiver.posts, "tickets") == []
    assert posted(receiver) == []
