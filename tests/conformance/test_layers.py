"""What import-linter cannot say: which files may reach into Faust."""

import ast
import re
import tomllib
from pathlib import Path

import pytest

from tests.conformance.sources import trees

ROOT = Path(__file__).parents[2]
FORBIDDEN = {"utils", "helpers", "common", "base", "core", "types", "models", "misc"}
INSIDE = {"consumer.py", "batches.py", "tables.py"}
PUBLIC = {"faust", "faust.types"}


def imported(path: Path) -> set[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    names = {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    return names | {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}


def test_only_three_files_touch_the_internals_of_faust() -> None:
    reaching = {
        path.name
        for path in (ROOT / "agents").rglob("*.py")
        if any(name.startswith("faust.") and name not in PUBLIC for name in imported(path))
    }
    assert reaching <= INSIDE


def test_one_function_makes_the_clients_that_ask_the_broker_of_the_settings() -> None:
    making = {
        name
        for name, tree in trees().items()
        if any(isinstance(node, ast.Call) and ast.unparse(node.func) == "AdminClient" for node in ast.walk(tree))
    }
    assert making == {"agents/kafka/topics.py", "agents/kafka/process.py"}  # the latter knows an address, no settings


def test_contributing_names_them_and_says_how_tests_are_run() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    (line,) = [line for line in text.splitlines() if "touch Faust's internals" in line]
    assert {name.rpartition("/")[2] for name in re.findall(r"`([^`]*\.py)`", line)} == INSIDE
    assert not re.findall(r"`pytest ", text), "say `.venv/bin/python -m pytest …`, or `make check ARGS=…`"


def test_the_version_that_they_replace_parts_of_is_pinned_exactly() -> None:
    assert '"faust-streaming==0.15.3"' in (ROOT / "pyproject.toml").read_text(encoding="utf-8")


def test_no_module_is_called_by_what_it_is_not() -> None:
    found = [path for top in ("stream", "agents") for path in (ROOT / top).rglob("*")]
    assert not [path for path in found if path.stem in FORBIDDEN and (path.suffix == ".py" or path.is_dir())]


def test_contributing_says_which_names_are_refused_and_that_only_folders_have_a_floor() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    (sentence,) = re.findall(r"refuses files and folders called ([^.]*)\.", text)
    assert set(re.findall(r"`(\w+)`", sentence)) == FORBIDDEN
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"][
        "contracts"
    ]
    ranked = [contract for contract in contracts if contract["type"] == "layers"]
    assert [contract["containers"] for contract in ranked] == [["turnsignal.stream"], ["turnsignal.agents"]]
    assert all(contract["exhaustive"] for contract in ranked)


@pytest.mark.parametrize("target", ["check", "lint"])
def test_a_target_is_announced_by_what_it_runs(target: str) -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    announced, recipe = re.findall(rf"^{target}: .*## (.*)\n((?:\t.*\n)+)", makefile, re.MULTILINE)[0]
    tools = {"formatting": "ruff format", "style": "ruff check", "types": "mypy", "layers": "lint-imports"}
    promised = announced.replace("types: make lint", "")
    assert {word for word in tools if word in promised} == {word for word, tool in tools.items() if tool in recipe}


def test_test_folders_are_no_packages() -> None:
    assert not list((ROOT / "tests").rglob("__init__.py"))


def test_a_batch_result_is_imported_from_where_it_is() -> None:
    lines = [
        line
        for top in ("stream", "agents", "tests")
        for path in (ROOT / top).rglob("*.py")
        for line in path.read_text(encoding="utf-8").splitlines()
    ]
    addresses = {line.split()[1] for line in lines if re.match(r"from turnsignal\S* import .*\bBatchResult\b", line)}
    assert addresses == {"turnsignal.stream.pipeline.batch_result"}


def test_what_needs_a_broker_stands_where_make_test_looks_for_it() -> None:
    """To look through all the other tests for more takes each process longer than starting a broker."""
    marked = {
        path for path in (ROOT / "tests").rglob("test_*.py") if "pytest.mark." + "kafka" in path.read_text("utf-8")
    }
    assert {path.relative_to(ROOT).parts[1] for path in marked} == {"kafka"}
    assert '(arguments or ["tests/kafka"])' in (ROOT / "tests" / "both_parts.py").read_text("utf-8")
