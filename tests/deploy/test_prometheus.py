"""A real Prometheus with our configuration takes a full page of a worker, and can work out every rule on it."""

import os
import shutil
import socket
import subprocess
import urllib.parse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.agents.metrics.serving import ask, served
from tests.agents.metrics.test_exposition import full
from tests.deploy.test_alertmanager import until
from turnsignal.agents.metrics.exposition import WorkerMetrics
from turnsignal.agents.settings import METRICS_SERIES

CONFIGURATION = Path(__file__).parents[2] / "deploy" / "prometheus" / "prometheus.yml"
SCORERS = [f"s{n}.{'x' * 200}" for n in range(8)]  # labels as long as they become
CHECKS = [f"c.{n}" for n in range(20)]

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        shutil.which("prometheus") is None and not os.environ.get("REQUIRE_TOOLS"),
        reason="Prometheus is not installed (Debian: apt-get install prometheus)",
    ),
]


def full_metrics() -> WorkerMetrics:
    """A worker that was sent a release for each turn, and hostile words as releases."""
    metrics = WorkerMetrics(scorers=SCORERS, checks=CHECKS, topics=["turnsignal.turns"])
    for number in range(40):
        metrics.apply(full(number, SCORERS, CHECKS), 1_700_000_000.0 + number * 4000.0)
    for hostile in ("\ud800", 'a"} 1\nup 0', "<b>", "\u202e", "v" * 500):
        deltas = full(0, SCORERS, CHECKS)
        deltas.turns["support", hostile, "assistant"] += 1
        metrics.apply(deltas, 1_700_400_000.0)
    return metrics


@pytest.fixture
def worker() -> Iterator[str]:
    """The address of a page with as many series as a worker shows at most."""
    with served(full_metrics()) as address:
        yield address


@pytest.fixture
def prometheus(tmp_path: Path, worker: str) -> Iterator[str]:
    """The address of a Prometheus that has our configuration, but for the worker's address and shorter intervals."""
    configuration = yaml.safe_load(CONFIGURATION.read_text(encoding="utf-8"))
    # A page may take as long as it is not due again: one second is little for it while other tests run.
    configuration["global"] = {"scrape_interval": "8s", "scrape_timeout": "8s", "evaluation_interval": "1s"}
    configuration["rule_files"] = [str(CONFIGURATION.parent / "rules" / "*.yml")]
    configuration["scrape_configs"][0]["static_configs"] = [{"targets": [worker]}]
    path = tmp_path / "prometheus.yml"
    path.write_text(yaml.safe_dump(configuration), encoding="utf-8")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    process = subprocess.Popen(
        [
            "prometheus",
            f"--config.file={path}",
            f"--storage.tsdb.path={tmp_path / 'data'}",
            f"--web.listen-address={address}",
            "--log.level=error",
        ]
    )
    try:
        yield f"http://{address}"
    finally:
        process.terminate()
        process.wait(30)


def query(address: str, expression: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = ask(address, f"query?query={urllib.parse.quote(expression)}")["result"]
    return found


def test_a_full_page_is_within_the_limits_and_every_rule_can_be_worked_out_on_it(prometheus: str, worker: str) -> None:
    (up,) = until(lambda: query(prometheus, 'up{job="turnsignal"}'))
    assert up["value"][1] == "1", ask(prometheus, "targets")["activeTargets"][0]["lastError"]
    (size,) = until(lambda: query(prometheus, "scrape_samples_scraped"))
    assert 10_000 < int(size["value"][1]) <= METRICS_SERIES

    def evaluated() -> list[dict[str, Any]]:
        rules = [rule for group in ask(prometheus, "rules")["groups"] for rule in group["rules"]]
        return rules if all(rule["health"] != "unknown" for rule in rules) else []

    rules = until(evaluated, 120.0)
    assert len(rules) > 20
    assert {rule["name"]: rule.get("lastError") for rule in rules if rule["health"] != "ok"} == {}
