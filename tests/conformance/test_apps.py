"""What holds for every app: one row of the table makes it, its topics know it, and its words are shown."""

import tomllib
from itertools import chain
from pathlib import Path
from typing import Any, cast

import pytest
from click.testing import CliRunner

from tests.stream.pipeline.test_setting_aside import PROCESSORS
from turnsignal.agents.app_table import APPS, apps_of
from turnsignal.agents.cli import turnsignal
from turnsignal.agents.commands.working import make_app
from turnsignal.agents.kafka.topics import TOPICS, Topic
from turnsignal.agents.metrics.families import FAMILIES
from turnsignal.agents.settings import Settings
from turnsignal.agents.worker.partition_task import AppSpec
from turnsignal.agents.worker.tasks import TaskManager
from turnsignal.stream.errors import ConfigError

ROOT = Path(__file__).parents[2]
CONTRACTS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]["contracts"]
SUITE = '[exchanges]\nshare = 1.0\n[[judges]]\nrubric = "groundedness"\nmodel = "m"\n'


def contract(name: str) -> dict[str, Any]:
    return next(contract for contract in CONTRACTS if contract["name"].startswith(name))


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    monkeypatch.setenv("TURNSIGNAL_JUDGE_OPENAI_KEY", "none")
    (tmp_path / "suite.toml").write_text(SUITE, encoding="utf-8")
    return Settings(brokers="localhost:1", suite=tmp_path / "suite.toml", metrics_port=20_000)


def task_manager_of(name: str, settings: Settings) -> TaskManager:
    return cast("TaskManager", make_app(name, settings).task_manager)


@pytest.mark.parametrize("name", APPS)
def test_an_app_is_made_by_its_name_on_a_port_of_its_own(name: str, settings: Settings) -> None:
    manager = task_manager_of(name, settings)
    assert manager.spec.name == name
    assert manager.settings.metrics_port == 20_000 + APPS[name].port
    any_port = settings.model_copy(update={"metrics_port": 0})
    assert task_manager_of(name, any_port).settings.metrics_port == 0


def test_no_two_apps_have_the_same_port_and_score_has_the_one_of_the_settings() -> None:
    assert sorted(app.port for app in APPS.values()) == list(range(len(APPS)))
    assert APPS["score"].port == 0


def test_an_unknown_app_is_refused_with_the_names_of_those_that_there_are(settings: Settings) -> None:
    with pytest.raises(ConfigError, match=r"^expected an app \(score, .* or watch\), got 'wacth'$"):
        make_app("wacth", settings)


def test_only_a_suite_with_judges_needs_an_app_that_is_for_judges() -> None:
    assert set(APPS) - set(apps_of(judged=False)) == {name for name, app in APPS.items() if app.for_judges}
    assert apps_of(judged=True) == list(APPS)


@pytest.mark.parametrize("name", APPS)
def test_the_topics_of_an_app_say_that_it_reads_and_writes_them(name: str, settings: Settings) -> None:
    by_name = {topic.pattern.format(settings.prefix): topic for topic in TOPICS}
    spec: AppSpec = task_manager_of(name, settings).spec

    def named(role: str) -> set[Topic]:
        return {topic for topic in TOPICS if name in getattr(topic, role)}

    changelog = by_name[spec.changelog]
    assert named("readers") == {*(by_name[source] for source in spec.inputs), changelog}
    assert named("writers") <= {*(by_name[output] for output in spec.outputs.values()), changelog}
    assert changelog in named("writers")
    assert changelog.compact
    assert by_name[spec.outputs["dead_letters"]] in named("writers")


@pytest.mark.parametrize("name", APPS)
def test_an_app_shows_its_records_and_its_dead_letters_before_the_first(name: str) -> None:
    assert "dead_letter" in FAMILIES["records_total"].words_of("result", name)
    assert {"poison", "undecodable"} <= {*FAMILIES["dead_letters_total"].words_of("reason", name)}


def test_families_are_of_apps_that_there_are() -> None:
    assert set(chain.from_iterable(family.apps for family in FAMILIES.values())) == set(APPS)


def test_the_processor_of_every_app_sets_aside_what_it_cannot_work_on() -> None:
    """`test_setting_aside` tries those that it knows."""
    assert PROCESSORS.keys() == APPS.keys()


def test_no_app_imports_another_and_all_stand_on_one_floor() -> None:
    modules = {app.factory.partition(":")[0] for app in APPS.values()}
    assert set(contract("apps meet only on topics")["modules"]) == modules
    floors = contract("agents read top to bottom")["layers"]
    (floor,) = [floor for floor in floors if "score" in floor.split(" | ")]
    assert {f"turnsignal.agents.{module}" for module in floor.split(" | ")} == modules


def test_the_help_of_worker_names_every_app_with_its_port() -> None:
    shown = " ".join(CliRunner().invoke(turnsignal, ["worker", "--help"]).output.split())
    for name, app in APPS.items():
        assert f"{name} TURNSIGNAL_METRICS_PORT{f' + {app.port}' if app.port else ''} [{9108 + app.port}]" in shown
