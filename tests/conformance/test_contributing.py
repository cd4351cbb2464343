"""CONTRIBUTING's steps are tried: its blocks go into a copy of the tree, and what they promise is looked at there."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from textwrap import dedent
from typing import NamedTuple

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")


class Step(NamedTuple):
    """A block of CONTRIBUTING: text for a file, above or in place of a line that begins so, or at the end."""

    path: str
    line: str | None
    text: str
    replaces: bool = False


def steps(title: str) -> list[Step]:
    """The blocks of a section, in their order."""
    section = TEXT.split(f"\n## {title}", 1)[1].split("\n## ", 1)[0]
    found = []
    for block in re.findall(r"^ {3}```(?:python|toml)\n(.*?)^ {3}```$", section, re.MULTILINE | re.DOTALL):
        head, text = dedent(block).split("\n", 1)
        match = re.fullmatch(r"# (\S+), (?:(above|in place of) `(.+)`|at the end)", head)
        assert match, f"expected `# FILE, above `LINE``, `…, in place of `LINE`` or `…, at the end`, got {head}"
        found.append(Step(match[1], match[3], text, replaces=match[2] == "in place of"))
    assert found, f"no blocks under {title!r}"
    return found


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """The tree as files of its own, importable as turnsignal."""
    for name in ("stream", "agents", "deploy", "tests"):
        ignored = shutil.ignore_patterns("__pycache__", "everyday", "bench", "kafka", "measuring")
        shutil.copytree(ROOT / name, tmp_path / name, ignore=ignored if name == "tests" else None)
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    package = tmp_path / "turnsignal"
    package.mkdir()
    for path in (ROOT / "agents" / "library").glob("*.py"):
        shutil.copy(path, package)
    for name in ("stream", "agents", "deploy"):
        (package / name).symlink_to(tmp_path / name)
    return tmp_path


def take(copy: Path, step: Step) -> None:
    """Put a step's block where it says, indented as it stands there."""
    path = copy / step.path
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True) if path.exists() else []
    at = len(lines)
    if step.line is not None:
        (at, *_) = [number for number, line in enumerate(lines) if line.lstrip().startswith(step.line)]
    path.write_text("".join([*lines[:at], step.text, *lines[at + step.replaces :]]), encoding="utf-8")


def pytest_in(copy: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *arguments]
    left_out = ("TURNSIGNAL_", "PYTHONDONTWRITE")  # what one run compiles, the next one over the same copy reads
    environment = {key: value for key, value in os.environ.items() if not key.startswith(left_out)}
    return subprocess.run(
        command,
        cwd=copy,
        env=environment | {"PYTHONPATH": str(copy)},
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_metric_is_shown_at_nought_and_counted_after_two_files(copy: Path) -> None:
    declared, counted = steps("Add a metric")[:2]
    take(copy, declared)
    alone = pytest_in(copy, "tests/conformance/test_metrics.py", "-k", "moves_every_family")
    assert "nothing in stream/pipeline counts deltas.responses" in alone.stdout, alone.stdout
    take(copy, counted)
    (copy / "tests" / "test_tried.py").write_text(
        "from tests.conformance.test_metrics import SCORE_PAGE, WATCH_PAGE, played\n"
        "from turnsignal.agents.metrics.exposition import WorkerMetrics\n"
        "def test_it_is_shown():\n"
        "    assert {labels['citations'] for labels in SCORE_PAGE['responses_total']} == {'some', 'none'}\n"
        "    assert 'responses_total' not in WATCH_PAGE\n"
        "    counts = [line for line in played()[0].render()[0].decode().splitlines() if '_responses_total{' in line]\n"
        "    assert sum(float(line.split()[-1]) for line in counts) == 200\n",
        encoding="utf-8",
    )
    tried = pytest_in(copy, "tests/test_tried.py", "tests/conformance/test_metrics.py")
    assert tried.returncode == 0, tried.stdout


def test_a_gauge_of_the_worker_is_known_after_two_files(copy: Path) -> None:
    declared, told = steps("Add a metric")[2:]
    take(copy, declared)
    alone = pytest_in(copy, "tests/conformance/test_metrics.py", "-k", "moves_every_family")
    assert 'nothing calls metrics.set, count or observe("partitions_held", …)' in alone.stdout, alone.stdout
    take(copy, told)
    tried = pytest_in(copy, "tests/conformance/test_metrics.py", "-k", "partitions_held")
    assert tried.returncode == 0, tried.stdout
    assert "1 passed" in tried.stdout


def test_a_check_is_walked_by_all_tests_of_checks_after_two_files(copy: Path) -> None:
    for step in steps("Add a check"):
        take(copy, step)
    family = "punctuation.exclamations"
    tried = pytest_in(copy, "tests/conformance/test_checks.py", "-k", f"{family} and not size and not pieces")
    assert tried.returncode == 0, tried.stdout
    assert int(re.findall(r"(\d+) passed", tried.stdout)[0]) >= 8, tried.stdout
    tried = pytest_in(copy, "tests/stream/checks/test_exclamation.py")
    assert tried.returncode == 0, tried.stdout


def test_a_measure_is_compared_with_trec_eval_after_two_files(copy: Path) -> None:
    for step in steps("Add a ranking measure"):
        take(copy, step)
    measures = ["tests/conformance/test_measures.py", "tests/stream/measures", "-k", "AP or test_equal_to_trec_eval"]
    tried = pytest_in(copy, *measures)
    assert tried.returncode == 0, tried.stdout
    written = copy / "stream" / "measures" / "ap.py"
    right = written.read_text(encoding="utf-8")
    written.write_text(right.replace("total += hits / rank", "total += 1 / rank"), encoding="utf-8")
    wrong = pytest_in(copy, *measures)
    assert "test_equal_to_trec_eval[AP]" in wrong.stdout, wrong.stdout
    written.write_text(right.replace('("map_cut.{k}",)', "()"), encoding="utf-8")
    unknown = pytest_in(copy, *measures)
    assert "expected values of AP in tests/stream/measures" in unknown.stdout, unknown.stdout


def test_a_label_is_read_and_has_a_value_after_its_rows(copy: Path) -> None:
    for step in steps("Add a follow-up label"):
        take(copy, step)
    tried = pytest_in(
        copy,
        "tests/stream/follow_ups/test_rules.py",
        "tests/conformance/test_follow_ups.py",
        "tests/stream/judging/test_rubrics.py",
        "-k",
        "handover or follow_up_rubric or every_label or every_row or default_values or every_pattern"
        " or sentence_of_its_own",
    )
    assert tried.returncode == 0, tried.stdout
    assert int(re.findall(r"(\d+) passed", tried.stdout)[0]) >= 6, tried.stdout


def test_an_app_is_made_shown_and_known_to_its_topics_after_its_steps(copy: Path) -> None:
    *made, words, of_letters, spec, row, changelog, read, alone, floor, imported, tried_aside = steps("Add an app")
    for step in (*made, words, of_letters, spec, row, changelog, imported, tried_aside):
        take(copy, step)
    walked = ["tests/conformance/test_apps.py", "tests/stream/pipeline/test_setting_aside.py"]
    unread = pytest_in(copy, *walked, "-k", "census")
    assert "test_the_topics_of_an_app_say_that_it_reads_and_writes_them[census]" in unread.stdout, unread.stdout
    for step in (read, alone, floor):
        take(copy, step)
    (copy / "tests" / "test_tried.py").write_text(
        "from turnsignal.stream.pipeline.census import CensusProcessor\n"
        "from turnsignal.stream.testing import FakeRecord\n"
        "def test_it_counts_each_summary_once():\n"
        "    processor = CensusProcessor({}, 'conversations', 0)\n"
        "    summaries = [FakeRecord(n, b'c', b'{\"outcome\": \"resolved\"}') for n in range(3)]\n"
        "    for batch in (summaries[:2], [*summaries, FakeRecord(3, b'c', None)]):\n"
        "        processor.accept(processor.process(batch))\n"
        "    assert processor.describe(b'closed') == {'offset': 2, 'outcomes': {'resolved': 3}}\n"
        "    assert CensusProcessor(processor.store, 'conversations', 0).read_store() == 2\n",
        encoding="utf-8",
    )
    tried = pytest_in(copy, *walked, "tests/test_tried.py")
    assert tried.returncode == 0, tried.stdout


def test_no_step_runs_what_make_install_does_not_bring() -> None:
    assert "-m pytest" not in TEXT, "make install brings no pytest; make check does"
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    assert set(re.findall(r"`make ([a-z-]+)", TEXT)) <= targets


def test_no_extension_takes_more_than_two_files_beside_its_test() -> None:
    metric = steps("Add a metric")
    for wanted in (
        metric[:2],
        metric[2:],
        steps("Add a check"),
        steps("Add a ranking measure"),
    ):
        assert len({step.path for step in wanted if not step.path.startswith("tests/")}) <= 2
    assert len({step.path for step in steps("Add a follow-up label") if not step.path.startswith("tests/")}) == 3


def test_a_line_of_a_block_fits_where_it_is_pasted() -> None:
    long = [
        line
        for block in re.findall(r"^ {3}```python\n(.*?)^ {3}```$", TEXT, re.MULTILINE | re.DOTALL)
        for line in dedent(block).split("\n")
        if len(line) > 120
    ]
    assert long == []
