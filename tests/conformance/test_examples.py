"""Every example in a docstring says what comes of it; those of the library have a test beside it."""

import doctest
import importlib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
WITH_EXAMPLES = [
    path.relative_to(ROOT)
    for folder in ("stream", "agents")
    for path in sorted((ROOT / folder).rglob("*.py"))
    if ">>> " in path.read_text(encoding="utf-8") and "library" not in path.parts
]


@pytest.mark.parametrize("path", WITH_EXAMPLES, ids=str)
def test_the_examples_of_a_module_run_as_they_are_printed(path: Path) -> None:
    parts = path.with_suffix("").parts
    name = ".".join(("turnsignal", *(parts[:-1] if parts[-1] == "__init__" else parts)))
    results = doctest.testmod(importlib.import_module(name))
    assert results.attempted > 0
    assert results.failed == 0
