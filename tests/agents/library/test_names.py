"""The public names: all there, all typed, each with an example that is true, and nothing imported before it is used."""

import ast
import doctest
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import turnsignal

ROOT = Path(__file__).parents[3]
ERRORS = {"ConfigError", "Refused", "SchemaError", "TurnsignalError"}
RECORDS = {"Document", "Feedback", "Finding", "Suite", "Turn"}
OURS = {"Replayed", "load_suite", "parse_suite", "read_result", "replay", "sample_turns", "score"}
#: Everything that an import brings beyond Python's own library.
NO_MORE_THAN = """
import sys
before = set(sys.modules)
import turnsignal
new = {name.partition(".")[0] for name in set(sys.modules) - before}
print(*sorted(new - sys.stdlib_module_names))
"""


def run(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


def test_the_public_names_are_these() -> None:
    assert set(turnsignal.__all__) == ERRORS | RECORDS | OURS | {"__version__"}
    assert turnsignal.__all__ == sorted(turnsignal.__all__)
    assert dir(turnsignal) == turnsignal.__all__


@pytest.mark.parametrize("name", turnsignal.__all__)
def test_each_public_name_is_there_and_says_what_it_is(name: str) -> None:
    value = getattr(turnsignal, name)
    assert name == "__version__" or (value.__doc__ or "").strip()


def test_what_type_checkers_see_is_what_is_there() -> None:
    tree = ast.parse((ROOT / "agents" / "library" / "__init__.py").read_text(encoding="utf-8"))
    (checking,) = (node for node in tree.body if isinstance(node, ast.If))
    for node in checking.body:
        for alias in node.names if isinstance(node, ast.ImportFrom) else ():
            assert node.module is not None
            assert getattr(turnsignal, alias.name) is getattr(import_module(node.module), alias.name)
    imported = {alias.name for node in checking.body if isinstance(node, ast.ImportFrom) for alias in node.names}
    assert imported | {"__version__"} == set(turnsignal.__all__)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'repaly'"):
        turnsignal.repaly  # noqa: B018


def test_importing_it_brings_nothing_but_itself() -> None:
    # Beside the finder of an editable installation, which sets itself up before.
    assert run(NO_MORE_THAN) == "turnsignal"


@pytest.mark.slow
def test_a_replay_and_a_score_need_neither_faust_nor_kafka_nor_the_command_line() -> None:
    code = "import sys, turnsignal as t; t.score({'text': 'Yes.'}); t.replay([{'text': 'Yes.'}]).text(); "
    code += "print(*{name.partition('.')[0] for name in sys.modules})"
    heavy = {
        "faust",
        "mode",
        "aiokafka",
        "confluent_kafka",
        "prometheus_client",
        "aiohttp",
        "click",
        "pandas",
        "polars",
    }
    assert heavy & set(run(code).split()) == set()


@pytest.mark.slow
@pytest.mark.parametrize("module", ["turnsignal", "turnsignal.answers", "turnsignal.replayed"])
def test_the_examples_are_true(module: str) -> None:
    done = doctest.testmod(import_module(module), optionflags=doctest.ELLIPSIS)
    assert done.attempted > 0
    assert done.failed == 0


@pytest.mark.parametrize("name", sorted(OURS - {"Replayed", "load_suite", "parse_suite"}))
def test_each_function_has_an_example(name: str) -> None:
    assert f"turnsignal.{name}(" in getattr(turnsignal, name).__doc__


def test_each_method_of_a_result_has_an_example() -> None:
    methods = {name: value for name, value in vars(turnsignal.Replayed).items() if not name.startswith("_")}
    assert len(methods) == 12
    assert [name for name, value in methods.items() if f"{name}" not in value.__doc__.partition(">>>")[2]] == []
