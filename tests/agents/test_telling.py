"""A replay's summary as people read it: tables, changes, silences, and nothing from the traffic that could harm."""

from pathlib import Path
from typing import Any

import orjson
import pytest
from click.testing import CliRunner
from rich.console import Console

from agents.cli import turnsignal
from agents.telling import tell_conversations, tell_review

FIGURE = {"value": 0.5, "low": 0.4, "high": 0.6, "n": 50}


def said(lines: Any) -> str:
    console = Console(width=250)
    with console.capture() as captured:
        for line in lines:
            console.print(line, highlight=False)
    return captured.get()


def summary(**sections: Any) -> dict[str, Any]:
    return {"quality": [], "comparisons": [], "position_bias": [], "review": []} | sections


def test_a_release_is_a_row_with_its_intervals_and_a_silent_one_says_why() -> None:
    row = {"assistant": "support", "version": "[red]v1", "conversations": 50, "figures": {"nDCG@5": FIGURE}}
    few = {"assistant": "support", "version": "v2", "conversations": 12, "silent": "n too small: 12 < 30"}
    told = said(tell_conversations(summary(quality=[row, few])))
    assert "[red]v1" in told
    assert "0.500 (0.400–0.600)" in told
    assert "n too small: 12 < 30" in told


def test_a_mean_of_few_conversations_says_of_how_many() -> None:
    figures = {"nDCG@5": FIGURE, "cited": FIGURE | {"value": 0.05, "n": 1000}, "dangling": FIGURE | {"n": 499}}
    row = {"assistant": "support", "version": "v1", "conversations": 1000, "figures": figures}
    told = said(tell_conversations(summary(quality=[row])))
    assert "0.500 (0.400–0.600), n = 50 " in told
    assert "0.500 (0.400–0.600), n = 499 " in told
    assert "n = 1,000" not in told
    assert "cited" in told


def test_a_change_is_told_with_its_interval_and_no_change_in_one_line() -> None:
    worse = {"value": -0.5, "low": -0.6, "high": -0.4, "n": 50, "verdict": "worse"}
    same = {"value": 0.0, "low": -0.1, "high": 0.1, "n": 50, "verdict": "no difference shown"}
    rows = [
        {"assistant": "a", "before": "v1", "after": "v2", "deltas": {"nDCG@5": worse, "resolved": same}},
        {"assistant": "a", "before": "v2", "after": None, "deltas": {"resolved": same}},
    ]
    assert said(tell_conversations(summary(comparisons=rows))).splitlines() == [
        "a v1 → v2: nDCG@5 -0.500 (-0.600 to -0.400) worse",
        "a v2 → -: no difference shown in 1 figures.",
    ]


def test_position_bias_is_told_beside_both_ndcgs_or_its_silence() -> None:
    places = [{"rank": 1, "value": 1.0, "low": 1.0, "high": 1.0}, {"rank": 2, "value": 0.5, "low": 0.4, "high": 0.6}]
    ndcg = [{"version": "v1", "measure": "nDCG@2", "raw": FIGURE, "debiased": FIGURE | {"value": 0.45}}]
    rows = [
        {"assistant": "a", "source": "shuffles", "n": 1200, "propensities": places, "ndcg": ndcg},
        {"assistant": "b", "silent": "not enough swaps: n = 3"},
    ]
    known, silent = said(tell_conversations(summary(position_bias=rows))).splitlines()
    assert "rank 1 to 2 looked at 1.00 0.50 (from shuffles, n = 1,200)." in known
    assert known.endswith("v1: nDCG@2 0.500 (0.400–0.600), debiased 0.450 (0.400–0.600).")
    assert silent == "b: position bias: not enough swaps: n = 3."


def test_a_review_without_answers_says_so() -> None:
    assert said(tell_review([])).startswith("No check applied to any answer")


@pytest.fixture
def replayed(tmp_path: Path) -> Path:
    result = CliRunner().invoke(turnsignal, ["replay", "tests/data/golden.jsonl", "--out", str(tmp_path / "out")])
    assert result.exit_code == 0, result.output
    return tmp_path / "out"


def test_review_reads_what_replay_wrote_and_says_what_to_do_per_check(replayed: Path) -> None:
    result = CliRunner().invoke(turnsignal, ["review", str(replayed)])
    assert result.exit_code == 0
    assert "citation.format" in result.output
    assert "replay more" in result.output


def test_review_refuses_a_directory_without_a_replay(tmp_path: Path) -> None:
    runner = CliRunner()
    assert "expected a directory that" in str(runner.invoke(turnsignal, ["review", str(tmp_path)]).exception)
    (tmp_path / "summary.json").write_bytes(orjson.dumps({"turns": {}}))
    assert "expected a section `review`" in str(runner.invoke(turnsignal, ["review", str(tmp_path)]).exception)
    assert runner.invoke(turnsignal, ["review", str(tmp_path / "none")]).exit_code == 2
