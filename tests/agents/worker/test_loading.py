"""What a process of a worker loads before it works: what it has no use for is time and memory of every one."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from turnsignal.agents.commands.working import all_apps
from turnsignal.agents.settings import Settings

LOADED = "print(*sorted({'.'.join(name.split('.')[:3]) for name in sys.modules}))"
SUPERVISOR = """
import sys, turnsignal.agents.worker.supervisor as supervisor
from turnsignal.agents import cli
supervisor.Supervisor.run = lambda self: print(*self._commands)
sys.argv = ["turnsignal", "worker", "all"]
try:
    cli.main()
except SystemExit:
    pass
"""
APP = """
import os, sys
from turnsignal.agents.cli import make_app, read_settings
make_app(sys.argv[1], read_settings())
import turnsignal.agents.worker.apps
"""


def loaded(code: str, *arguments: str) -> list[str]:
    """Run code in a process of its own; return its lines, of which the last names the modules that were loaded."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("TURNSIGNAL_")}
    env = kept | {"TURNSIGNAL_BROKERS": "localhost:1"}
    command = [sys.executable, "-c", f"{code}\nimport sys\n{LOADED}", *arguments]
    return subprocess.run(command, env=env, capture_output=True, text=True, check=True).stdout.splitlines()


def test_a_supervisor_loads_neither_a_suite_nor_a_client_of_kafka() -> None:
    apps, modules = loaded(SUPERVISOR)
    assert apps == "score watch"
    assert not {"aiokafka", "confluent_kafka", "faust", "turnsignal.stream.suite", "turnsignal.stream.checks"} & set(
        modules.split()
    )


@pytest.mark.parametrize(
    ("suite", "expected"),
    [
        ('name = "a"\n', ["score", "watch"]),
        ('[[judges]]\nrubric = "relevance"\nmodel = "m"\n', ["score", "judge", "watch"]),
        ("judges = []\n", ["score", "watch"]),
        ("judges = [\n", ["score", "watch"]),
        ("name = 1\nunknown = true\n", ["score", "watch"]),
        ("\udcff", ["score", "watch"]),
        (None, ["score", "watch"]),
    ],
)
def test_judges_are_asked_where_the_suite_has_any(suite: str | None, expected: list[str], tmp_path: Path) -> None:
    path = tmp_path / "suite.toml"
    path.write_bytes((suite or "").encode("utf-8", "surrogateescape"))
    assert all_apps(Settings(brokers="localhost:1", suite=None if suite is None else path)) == expected


@pytest.mark.parametrize("app", ["score", "watch"])
def test_a_worker_loads_no_formats_of_logs(app: str) -> None:
    (modules,) = loaded(APP, app)
    assert not {"numpy", "turnsignal.stream.formats"} & set(modules.split())
