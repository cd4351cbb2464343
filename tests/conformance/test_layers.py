"""What import-linter cannot say: which files may reach into Faust."""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
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


def test_contributing_names_them_and_says_how_tests_are_run() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    (line,) = [line for line in text.splitlines() if "touch Faust's internals" in line]
    assert {name.rpartition("/")[2] for name in re.findall(r"`([^`]*\.py)`", line)} == INSIDE
    assert not re.findall(r"`pytest ", text), "say `.venv/bin/python -m pytest …`, or `make check ARGS=…`"


def test_the_version_that_they_replace_parts_of_is_pinned_exactly() -> None:
    assert '"faust-streaming==0.15.3"' in (ROOT / "pyproject.toml").read_text(encoding="utf-8")


def test_no_module_is_called_by_what_it_is_not() -> None:
    forbidden = {"utils.py", "helpers.py", "common.py", "base.py", "core.py", "types.py", "models.py"}
    assert not [path for top in ("stream", "agents") for path in (ROOT / top).rglob("*.py") if path.name in forbidden]


def test_test_folders_are_no_packages() -> None:
    assert not list((ROOT / "tests").rglob("__init__.py"))
