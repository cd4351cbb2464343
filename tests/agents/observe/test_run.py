"""`turnsignal observe` starts what is installed over the workers, and leaves nothing behind."""

import os
import shutil
import signal
import subprocess
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.agents.metrics.serving import ask, served
from tests.agents.test_demo_ends import processes_with
from tests.deploy.test_alertmanager import until
from turnsignal.agents.metrics.exposition import WorkerMetrics
from turnsignal.agents.observe.run import choose_ports, worker_addresses

COMMAND = [sys.executable, "-m", "turnsignal.agents.cli", "observe"]


@pytest.fixture
def worker() -> Iterator[str]:
    """The address of a page with a worker's metrics."""
    with served(WorkerMetrics(scorers=["nDCG@5"])) as address:
        yield address


def environment(**more: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("TURNSIGNAL_")}
    return kept | {"PYTHONUNBUFFERED": "1"} | more


def targets(address: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = ask(address, "targets")["activeTargets"]
    return found


def read_until(running: subprocess.Popen[str], word: str) -> list[str]:
    """Read what a process says up to the line that begins with a word, or its end."""
    assert running.stdout is not None
    lines = []
    for line in running.stdout:
        lines.append(line.strip())
        if line.startswith(word):
            break
    return lines


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("prometheus") is None and not os.environ.get("REQUIRE_TOOLS"), reason="no Prometheus")
@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="finds processes in /proc")
@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM])
def test_prometheus_and_alertmanager_watch_the_workers_until_they_are_told_to_end(
    worker: str, tmp_path: Path, sign: signal.Signals
) -> None:
    mark, secret = uuid.uuid4().hex, uuid.uuid4().hex
    running = subprocess.Popen(
        [*COMMAND, "--worker", worker, "--directory", str(tmp_path)],
        env=environment(TEST_MARK=mark, TURNSIGNAL_EXEMPLAR_SECRET=secret),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a test run in the background ignores it
    )
    try:
        lines = read_until(running, "Ctrl-C")
        assert f"worker        http://{worker}/" in lines
        addresses = dict(line.split() for line in lines if line.startswith(("prometheus ", "alertmanager ")))
        until(lambda: [target["health"] for target in targets(addresses["prometheus"])] == ["up"])
        names = {group["name"] for group in ask(addresses["prometheus"], "rules")["groups"]}
        assert "turnsignal-workers" in names
        (known,) = ask(addresses["prometheus"], "alertmanagers")["activeAlertmanagers"]
        assert known["url"].startswith(addresses["alertmanager"])
        assert len(processes_with(mark)) == 3
        assert len(processes_with(secret)) == 1  # what is started sees no secrets of ours
    finally:
        running.send_signal(sign)
        rest, _ = running.communicate(timeout=60)
    assert running.returncode == 0, rest
    assert "Traceback" not in rest
    assert processes_with(mark) == []


def test_with_nothing_installed_it_says_how_and_where_the_workers_own_pages_are(tmp_path: Path) -> None:
    done = subprocess.run(
        [*COMMAND, "--directory", str(tmp_path)],
        env=environment(PATH=str(tmp_path), TURNSIGNAL_METRICS_PORT="19108"),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "Neither Prometheus nor a Docker engine is here. To install it: " in done.stdout
    assert "http://127.0.0.1:19108/" in done.stdout
    assert "http://127.0.0.1:19109/" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "variables", "words"),
    [
        ([], {"TURNSIGNAL_METRICS_PORT": "0"}, "--worker HOST:PORT"),
        (["--worker", "http://x/"], {}, "expected HOST:PORT"),
        (["--worker", "a:1,b:2"], {}, "expected HOST:PORT"),
    ],
)
def test_workers_that_nobody_can_find_are_refused_in_words(
    arguments: list[str], variables: dict[str, str], words: str
) -> None:
    done = subprocess.run(
        [*COMMAND, *arguments], env=environment(**variables), capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert words in done.stderr
    assert "Traceback" not in done.stderr


def test_workers_are_where_the_settings_say() -> None:
    assert worker_addresses({}) == ("127.0.0.1:9108", "127.0.0.1:9109")
    everywhere = {"TURNSIGNAL_METRICS_HOST": "0.0.0.0", "TURNSIGNAL_METRICS_PORT": "7000"}
    assert worker_addresses(everywhere) == ("127.0.0.1:7000", "127.0.0.1:7001")
    assert worker_addresses({"TURNSIGNAL_METRICS_PORT": "0"}) == ()
    assert worker_addresses({"TURNSIGNAL_METRICS_HOST": "::1"}) == ("[::1]:9108", "[::1]:9109")


def test_every_program_has_a_port_of_its_own() -> None:
    assert len(set(choose_ports().values())) == 3
