"""What every metric promises: something moves it, with the labels and the words that the table declares."""

import ast
import builtins
from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from turnsignal.agents.metrics.exposition import WorkerMetrics
from turnsignal.agents.metrics.families import FAMILIES, PREFIX, WORKER_FAMILIES
from turnsignal.stream.pipeline.metric_deltas import pipeline_families
from turnsignal.stream.pipeline.metric_family import SCORE, WATCH
from turnsignal.stream.pipeline.processor import PartitionProcessor
from turnsignal.stream.pipeline.scoring import scorer_names
from turnsignal.stream.pipeline.series import SeriesProcessor
from turnsignal.stream.records.wire import SERIES
from turnsignal.stream.simulation import steady
from turnsignal.stream.suite import Suite
from turnsignal.stream.testing import FakeRecord

ROOT = Path(__file__).parents[2]
SUITE = Suite()
MUTATORS = ("append", "extend", "update")


def trees(folder: Path) -> list[ast.AST]:
    paths = [path for path in folder.rglob("*.py") if path.name not in ("metric_deltas.py", "replay.py")]
    return [node for path in paths for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))]


def field_of(node: ast.AST) -> str | None:
    """The field of deltas that an expression names, with a key or without."""
    if isinstance(node, ast.Subscript):
        node = node.value
    known = isinstance(node, ast.Attribute) and ast.unparse(node.value).rpartition(".")[2] in ("deltas", "counts")
    return node.attr if known and isinstance(node, ast.Attribute) else None


def written_by(node: ast.AST) -> list[ast.AST]:
    """What a node changes, or hands to somebody who does; what a builtin is given is only read."""
    if isinstance(node, ast.Assign):
        return list(node.targets)
    if isinstance(node, ast.AugAssign):
        return [node.target]
    if isinstance(node, ast.Call):
        method = [node.func.value] if isinstance(node.func, ast.Attribute) and node.func.attr in MUTATORS else []
        return method if ast.unparse(node.func) in dir(builtins) else [*method, *node.args]
    if isinstance(node, ast.Lambda):
        return [node.body]
    return list(node.values) if isinstance(node, ast.Dict) else []


def counted_fields(nodes: Iterable[ast.AST]) -> set[str]:
    """The fields of deltas that some code counts in."""
    return {field for node in nodes for target in written_by(node) if (field := field_of(target))}


def literal_words(key: ast.AST) -> set[str]:
    """The words that are written out in a key, in either branch of a condition."""
    if isinstance(key, ast.Constant):
        return {key.value} if isinstance(key.value, str) else set()
    if isinstance(key, ast.IfExp):
        return literal_words(key.body) | literal_words(key.orelse)
    parts = key.elts if isinstance(key, ast.Tuple) else key.values if isinstance(key, ast.BoolOp) else []
    return {word for part in parts for word in literal_words(part)}


def literal_keys(nodes: Iterable[ast.AST]) -> Iterator[tuple[str, str]]:
    """Every word that is written out where a field of deltas has its key, beside the field."""
    for node in nodes:
        if isinstance(node, ast.Subscript) and (field := field_of(node)):
            yield from ((field, word) for word in literal_words(node.slice))


@cache
def moved_by_workers(root: Path) -> set[str]:
    """The families that a worker counts, sets or observes by name."""
    return {
        str(node.args[0].value)
        for node in trees(root / "agents")
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in ("count", "set", "observe", "_add")
        and node.args
        and isinstance(node.args[0], ast.Constant)
    }


FIELDS = {name: field for field, name, _ in pipeline_families()}
ROWS = [(field, family) for field, _, family in pipeline_families()]
COUNTED = counted_fields(trees(ROOT / "stream" / "pipeline"))


@pytest.mark.parametrize("name", FAMILIES)
def test_something_moves_every_family(name: str) -> None:
    if name in WORKER_FAMILIES:
        assert name in moved_by_workers(ROOT), f'nothing calls metrics.set, count or observe("{name}", …)'
    else:
        assert FIELDS[name] in COUNTED, f"nothing in stream/pipeline counts deltas.{FIELDS[name]}"


def test_a_field_that_is_only_read_is_not_counted() -> None:
    def counted(line: str) -> set[str]:
        return counted_fields(ast.walk(ast.parse(line)))

    for line in ("bool(self.deltas.turns)", "known = self.deltas.turns", "if deltas.turns[key]: pass"):
        assert counted(line) == set(), line
    for line in (
        "self.deltas.turns[key] += 1",
        "deltas.turns = known",
        "deltas.turns[key].append(1)",
        "f(deltas.turns)",
    ):
        assert counted(line) == {"turns"}, line


def undeclared(keys: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """The words that no row of the table has, each beside the field that is counted by it."""
    declared = {field: {word for label in family.words for word in family.words_of(label)} for field, family in ROWS}
    return [(field, word) for field, word in keys if field in declared and word not in declared[field]]


def test_a_word_that_is_written_where_it_is_counted_is_one_of_its_row() -> None:
    assert undeclared(literal_keys(trees(ROOT / "stream" / "pipeline"))) == []


def test_a_word_of_a_branch_that_no_traffic_reaches_is_seen() -> None:
    branch = 'self.deltas.turns[(*release, "huge" if len(findings) > 300 else "user")] += 1'
    assert undeclared(literal_keys(ast.walk(ast.parse(branch)))) == [("turns", "huge")]


def page(metrics: WorkerMetrics) -> dict[str, list[dict[str, str]]]:
    """Every family of a page, without its prefix, with the labels of its series."""
    shown = defaultdict(list)
    for family in text_string_to_metric_families(metrics.render()[0].decode()):
        for sample in family.samples:
            name = sample.name.removeprefix(PREFIX)
            if name not in FAMILIES:
                name = name.removesuffix("_bucket").removesuffix("_sum").removesuffix("_count")
            shown[name].append({key: word for key, word in sample.labels.items() if key != "le"})
    return shown


def played() -> tuple[WorkerMetrics, WorkerMetrics]:
    """The pages of both apps after some simulated conversations, an unreadable record, and their end."""
    score = WorkerMetrics(
        scorers=scorer_names(SUITE), checks=[check.name for _, check in SUITE.parsed_checks], topics=["turns"]
    )
    processor = PartitionProcessor(SUITE, topic="turns")
    records = [FakeRecord(at, key, value, -1) for at, (key, value) in enumerate(steady(400, 20, seed=3))]
    records.append(FakeRecord(len(records), b"c", b"no JSON", -1))
    series = []
    for batch in (processor.process(records, 0.0), processor.close_all()):
        processor.accept(batch)
        score.apply(batch.deltas, 1.0)
        series += [out for out in batch.outputs if out.topic == SERIES]
    watch = WorkerMetrics(app=WATCH, topics=["series"])
    observed = [FakeRecord(at, out.key, out.value, -1) for at, out in enumerate(series)]
    watch.apply(SeriesProcessor({}, "series", 0).process(observed).deltas, 1.0)
    return score, watch


SCORE_PAGE, WATCH_PAGE = (page(metrics) for metrics in played())


@pytest.mark.parametrize(("app", "shown"), [(SCORE, SCORE_PAGE), (WATCH, WATCH_PAGE)])
def test_a_page_after_traffic_has_only_what_its_app_is_said_to_move_and_only_declared_words(
    app: str, shown: dict[str, list[dict[str, str]]]
) -> None:
    for name, series in shown.items():
        family = FAMILIES[name]
        assert not family.apps or app in family.apps, name
        for labels in series:
            assert set(labels) == set(family.labels), name
            for label, word in labels.items():
                words = family.words_of(label, app)
                assert not words or word in words, (name, label, word)


def test_every_release_of_simulated_traffic_is_a_version_of_an_assistant() -> None:
    shown = {labels["version"] for series in SCORE_PAGE.values() for labels in series if "assistant" in labels}
    opening = [labels for labels in SCORE_PAGE["turns_total"] if labels["version"] == "none"]
    assert shown - {"none"}
    assert all(labels["version"] != "none" for labels in SCORE_PAGE["score_ratio"])
    assert {labels["role"] for labels in opening} <= {"user"}


def test_names_say_units_and_kinds_and_every_family_is_explained_in_a_sentence() -> None:
    for name, family in FAMILIES.items():
        assert name.endswith("_total") == (family.kind == "counter"), name
        assert bool(family.bounds) == (family.kind == "histogram"), name
        assert set(family.words) <= set(family.labels), name
        assert family.help.endswith("."), name
        assert len(family.help.split()) >= 2, name
