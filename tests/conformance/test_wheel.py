"""The wheel, installed beside the package most likely to stand beside it, in an environment of its own, elsewhere."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from turnsignal.agents.files.simulating import write_simulation
from turnsignal.stream.simulation import Traffic

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ("pyproject.toml", "README.md", "LICENSE", "stream", "agents", "deploy", "grafana")

Run = Callable[..., str]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Run a program of an environment that holds the wheel and openai-agents, which is imported as `agents`."""
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    environment, sources = elsewhere / "venv", elsewhere / "sources"
    sources.mkdir()
    for name in SOURCES:
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, sources / name)
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("TURNSIGNAL_", "PYTHON"))}

    def call(*command: str | Path) -> str:
        done = subprocess.run(
            [str(part) for part in command], cwd=elsewhere, env=clean, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, f"{command[:4]}: {done.returncode} {done.stdout[-1500:]} {done.stderr[-1500:]}"
        return done.stdout

    # By the pip that is here, and without compiling what nobody will import: both take longer than all that is asked.
    pip = (sys.executable, "-m", "pip", "--python", environment, "install", "--quiet", "--disable-pip-version-check")
    pip += ("--no-compile",)
    call(sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "-q", "-w", elsewhere, sources)
    call(sys.executable, "-m", "venv", "--without-pip", environment)
    call(*pip, "--require-hashes", "--requirement", ROOT / "deploy" / "requirements.lock")
    call(*pip, "--no-deps", *elsewhere.glob("*.whl"))
    call(*pip, "openai-agents")
    shutil.rmtree(sources)  # nothing may be read from there
    return lambda name, *arguments: call(environment / "bin" / name, *arguments)


def test_both_can_be_imported_in_one_process(run: Run) -> None:
    code = "import agents, turnsignal.agents.cli as cli; print(agents.Agent.__name__, cli.__name__)"
    assert run("python", "-c", code).split() == ["Agent", "turnsignal.agents.cli"]


def test_a_recording_is_scored(run: Run, tmp_path: Path) -> None:
    write_simulation(Traffic(turns=200, seed=1), tmp_path / "turns.jsonl")
    run("turnsignal", "replay", tmp_path / "turns.jsonl", "--out", tmp_path / "out")
    assert (tmp_path / "out" / "summary.json").stat().st_size > 0


def test_it_is_a_library_that_says_which_extra_a_data_frame_needs(run: Run) -> None:
    code = "import turnsignal; result = turnsignal.replay(turnsignal.sample_turns()[:60]); print(result)\n"
    code += "try: result.to_polars()\nexcept turnsignal.TurnsignalError as error: print(error)"
    shown = run("python", "-c", code)
    assert "turnsignal.Replayed: 60 turns" in shown
    assert "extra [polars]" in shown


def test_the_suite_that_it_brings_is_right(run: Run) -> None:
    where = run(
        "python", "-c", "from importlib.resources import files; print(files('turnsignal.deploy') / 'suite.toml')"
    )
    assert "fingerprint" in run("turnsignal", "suite", "check", where.strip())


def test_it_brings_what_prometheus_alertmanager_and_grafana_are_started_with(run: Run, tmp_path: Path) -> None:
    code = f"""
from pathlib import Path
from turnsignal.agents.observe import configuration
out = Path({str(tmp_path)!r})
configuration.write_prometheus(out / "prometheus", ["127.0.0.1:9108"], None)
configuration.write_alertmanager(out)
configuration.write_grafana(out / "provisioning", str(configuration.DASHBOARDS))
print(sorted(configuration.images()), len(list(configuration.DASHBOARDS.glob("*.json"))))
"""
    assert run("python", "-c", code).startswith("['alertmanager', 'grafana', 'prometheus'] ")
    assert (tmp_path / "prometheus" / "rules" / "quality.yml").is_file()
    assert (tmp_path / "alertmanager.yml").is_file()
    assert (tmp_path / "provisioning" / "datasources" / "turnsignal.yaml").is_file()


def test_a_worker_of_it_has_pages(run: Run) -> None:
    code = "from turnsignal.agents.pages.rendering import render; print(render('message.html.j2', {'error': 'x'}))"
    assert "<h1>" in run("python", "-c", code)


def test_the_demo_runs_without_a_broker(run: Run, tmp_path: Path) -> None:
    shown = run("turnsignal", "demo", "--mock", "--seconds", "3", "--directory", tmp_path / "demo")
    assert "nDCG@5" in shown
    assert shown.count("worker        http://127.0.0.1:") == 2  # where their pages are
