"""The examples of help texts that need a broker, each as it stands in the help."""

import os
import shutil
import signal
import subprocess
import sys
import urllib.request
from contextlib import suppress
from pathlib import Path

import orjson
import pytest

from tests.agents.test_cli_examples import NEEDS_A_BROKER, examples, run
from tests.kafka.faults.play import wait
from turnsignal.agents.kafka.process import free_ports
from turnsignal.agents.settings import Settings

pytestmark = pytest.mark.kafka

EXAMPLES = [(name, text) for name, text in examples() if name.startswith(NEEDS_A_BROKER)]
OF_TOPICS = [part for part in EXAMPLES if not part[0].startswith(("worker", "demo", "kafka", "regressions"))]
OF_REGRESSIONS = {name: text for name, text in EXAMPLES if name.startswith("regressions")}
OF_KAFKA = [text for name, text in EXAMPLES if name.startswith("kafka ")]


def environment(settings: Settings) -> dict[str, str]:
    return {
        "TURNSIGNAL_BROKERS": settings.brokers,
        "TURNSIGNAL_PREFIX": settings.prefix,
        "TURNSIGNAL_METRICS_PORT": "0",
        "TURNSIGNAL_PARTITIONS": "4",
    }


def test_the_examples_about_topics_run_one_after_another(fresh_topics: Settings, tmp_path: Path) -> None:
    order = ["topics", "topics create", "topics update", "topics show", "topics repair", "produce", "export", "forget"]
    ranked = sorted(OF_TOPICS, key=lambda part: order.index(part[0]))
    assert len(ranked) == 9
    for number, (_, example) in enumerate(ranked):
        directory = tmp_path / str(number)
        directory.mkdir()
        done = run(example, directory, **environment(fresh_topics))
        assert done.returncode == 0, f"{example}\n{done.stdout}{done.stderr}"


def test_the_examples_about_regressions_run_and_an_incident_that_is_none_is_named(
    fresh_topics: Settings, tmp_path: Path
) -> None:
    assert len(OF_REGRESSIONS) == 5
    for number, (name, example) in enumerate(OF_REGRESSIONS.items()):
        directory = tmp_path / str(number)
        directory.mkdir()
        done = run(example, directory, **environment(fresh_topics))
        of_an_incident = name.endswith(("show", "accept"))
        assert done.returncode == of_an_incident, f"{example}\n{done.stdout}{done.stderr}"
        assert ("5d0c2f8a91b3e640" in done.stderr) is of_an_incident


def test_tables_about_topics_can_be_had_as_json(fresh_topics: Settings, tmp_path: Path) -> None:
    env = environment(fresh_topics)

    def read(name: str, command: str) -> object:
        directory = tmp_path / name
        directory.mkdir()
        done = run(f"{command} --json", directory, **env)
        assert done.returncode == 0, done.stderr
        return orjson.loads(done.stdout)

    shown = read("show", "turnsignal topics show")
    assert isinstance(shown, dict)
    assert f"{fresh_topics.prefix}.turns" in {topic["topic"] for topic in shown["topics"]}
    assert {right["resource"] for right in shown["rights"]["score"]} >= {"topic", "group"}
    assert {topic["state"] for topic in read("create", "turnsignal topics create")} <= {"exists", "differs"}  # type: ignore[attr-defined]
    assert isinstance(read("update", "turnsignal topics update --dry-run"), list)
    forgotten = read("forget", "turnsignal forget c-42 --dry-run")
    assert isinstance(forgotten, dict)
    assert (forgotten["conversations"], forgotten["asked"], len(forgotten["stays"]) > 1) == (["c-42"], False, True)


def test_the_example_of_a_worker_runs_until_it_is_told_to_stop(fresh_topics: Settings, tmp_path: Path) -> None:
    ((_, example),) = [part for part in EXAMPLES if part[0] == "worker"]
    command = example.replace("kafka:9092", fresh_topics.brokers).split()
    assert command[0] == f"TURNSIGNAL_BROKERS={fresh_topics.brokers}"
    port = free_ports(1)[0]
    clean = {name: value for name, value in os.environ.items() if not name.startswith("TURNSIGNAL_")}
    given = environment(fresh_topics) | {"TURNSIGNAL_METRICS_PORT": str(port)}
    path = f"{Path(sys.executable).parent}:{clean['PATH']}"
    worker = subprocess.Popen(["env", *command], env={**clean, **given, "PATH": path}, cwd=tmp_path)
    try:
        wait(lambda: is_ready(port), 90, "the worker to be ready")
        worker.send_signal(signal.SIGTERM)
        assert worker.wait(60) == 0
    finally:
        worker.kill()


def is_ready(port: int) -> bool:
    with suppress(OSError), urllib.request.urlopen(f"http://127.0.0.1:{port}/readyz", timeout=2) as answer:
        return bool(answer.status == 200)
    return False


def test_the_example_of_the_demo_runs(settings: Settings, tmp_path: Path) -> None:
    ((_, example),) = [part for part in EXAMPLES if part[0] == "demo"]
    done = run(example, tmp_path, **environment(settings))
    assert done.returncode == 0, done.stdout + done.stderr
    assert list(tmp_path.glob("out/demo-*/scores.jsonl"))


@pytest.mark.skipif(not (shutil.which("java") and shutil.which("mvn")), reason="needs Java and Maven")
def test_the_examples_of_a_broker_of_ones_own_run_one_after_another(tmp_path: Path) -> None:
    order = ["start", "status", "restart", "stop", "start", "crash"]
    by_word = {text.partition("turnsignal kafka ")[2].split()[0]: text for text in OF_KAFKA}
    assert set(by_word) == set(order)
    prepare_in, where = tmp_path / "cwd", tmp_path / "kafka"
    try:
        for number, word in enumerate(order):
            directory = prepare_in / str(number)
            directory.mkdir(parents=True)
            done = run(by_word[word].replace("/tmp/kafka", str(where)), directory)
            assert done.returncode == 0, f"{word}\n{done.stdout}{done.stderr}"
    finally:
        last = tmp_path / "last"
        last.mkdir()
        run(f"turnsignal kafka stop --dir {where}", last)
