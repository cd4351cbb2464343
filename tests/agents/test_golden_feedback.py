"""Golden feedback beside the golden conversations, replayed: what came in, and every row that must come out."""

from pathlib import Path
from typing import Any

import orjson
import pytest

from turnsignal.agents.replaying.run import replay_files
from turnsignal.stream.suite import Suite

DATA = Path(__file__).parents[1] / "data"
NOW = 1_800_000_000.0


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The results of the replay."""
    directory = tmp_path_factory.mktemp("golden")
    replay_files([DATA / "golden.jsonl"], directory, Suite(), NOW, feedback=[DATA / "golden-feedback.jsonl"])
    return directory


def read(path: Path) -> list[Any]:
    return [orjson.loads(line) for line in path.read_bytes().splitlines()]


def told(row: dict[str, Any]) -> tuple[Any, ...]:
    (score,) = row["scores"]
    return row["conversation_id"], row["turn_id"], row["version"], score["label"], score["value"]


def test_each_feedback_has_its_row_and_the_one_that_came_twice_has_one(out: Path) -> None:
    rows = {row["feedback"]["id"]: row for row in read(out / "scores.jsonl") if row["stage"] == "feedback"}
    assert {name: told(row) for name, row in rows.items()} == {
        "f1": ("ranked", "a1", "v1", "down", 0.0),
        "f2": ("corrected", "a1", "v1", "down", 0.0),
        "f3": ("refund", "a1", "v1", "down", 0.0),
        "f4": ("refund", "a1", "v1", "up", 1.0),
        "f5": ("failing", "a1", "v1", "handoff", None),
        "f6": ("deep", "a1", "v2", "partly", 0.5),
        "f7": ("deep", "a7", None, "copied", None),
    }
    assert rows["f4"]["replaces"] == rows["f3"]["id"]
    assert rows["f1"]["scores"][0]["explanation"] == "The reset option is not there."
    assert rows["f6"]["feedback"] | {"rater": ""} == {
        "id": "f6",
        "kind": "label",
        "scorer": "groundedness",
        "rater": "",
    }
    assert rows["f7"]["scores"][0]["unscored"] == "unknown_turn"
    assert rows["f1"]["source"] == {"topic": "replay-feedback", "partition": 0, "offset": 44}
    assert "user-7" not in (out / "scores.jsonl").read_text()


def test_what_is_no_feedback_is_a_dead_letter_with_its_file_and_line(out: Path) -> None:
    letters = [(Path(row["file"]).name, row["line"], row["reason"]) for row in read(out / "dead-letters.jsonl")]
    assert letters == [("golden-feedback.jsonl", 9, "missing_field")]


def test_votes_meet_follow_ups_in_the_summary_of_the_run_and_of_each_conversation(out: Path) -> None:
    summary = orjson.loads((out / "summary.json").read_bytes())
    (v1,) = summary["votes"]
    assert (v1["up"], v1["down"], v1["agree"], v1["disagree"], v1["only_vote"]) == (1, 2, 2, 1, 0)
    assert summary["feedback"] == [
        {"kind": "copied", "result": "unknown", "n": 1},
        {"kind": "handoff", "result": "waited", "n": 1},
        {"kind": "label", "result": "known", "n": 1},
        {"kind": "vote", "result": "known", "n": 4},
    ]
    closed = {row["conversation_id"]: row for row in read(out / "conversations.jsonl")}
    assert (closed["ranked"]["outcome"], closed["ranked"]["votes"]["contradicted"]) == ("resolved", ["a1"])
    assert closed["corrected"]["votes"]["agree"] == 1
    assert "votes" not in closed["deep"]
