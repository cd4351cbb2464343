"""What people said of answers in an export becomes feedback on its turns; what machines said does not."""

from collections import Counter
from pathlib import Path
from typing import Any

import orjson
import pytest
from click.testing import CliRunner

from turnsignal.agents.cli import turnsignal
from turnsignal.agents.files.file_reports import FileReport
from turnsignal.agents.files.importing import Imported
from turnsignal.agents.files.recognising import HowToRead
from turnsignal.stream.formats.human_scores import human_scores_of, vote_of
from turnsignal.stream.records.feedback import decode_feedback

DATA = Path(__file__).parents[2] / "data" / "formats"
AT = "2025-06-15T12:05:00Z"


def written(path: Path, *records: dict[str, Any]) -> Path:
    path.write_bytes(b"\n".join(map(orjson.dumps, records)))
    return path


def heard(*paths: Path) -> tuple[list[dict[str, Any]], list[FileReport]]:
    with Imported(paths, HowToRead()) as imported:
        lines = [line for source in imported.feedback for line in source.path.read_bytes().splitlines()]
        assert all(decode_feedback(line) for line in lines)
        return [orjson.loads(line) for line in lines], imported.reports


def score(number: int, **more: Any) -> dict[str, Any]:
    return {"id": f"s{number}", "trace_id": "t1", "observation_id": None, "source": "API", "timestamp": AT, **more}


def test_scores_of_langfuse_in_a_file_of_their_own_are_votes_and_labels_of_answers_beside_it(
    tmp_path: Path,
) -> None:
    scores = written(
        tmp_path / "scores.jsonl",
        score(1, name="user-feedback", value=0, data_type="NUMERIC", comment="wrong", author_user_id="ann"),
        score(2, name="helpfulness", value=0.75, data_type="NUMERIC", source="ANNOTATION", observation_id="o3"),
        score(3, name="tone", string_value="rude", data_type="CATEGORICAL", source="ANNOTATION"),
        score(4, name="correct", value=1, data_type="BOOLEAN", trace_id="t2"),
        score(5, name="faithfulness", value=0.2, data_type="NUMERIC", source="EVAL"),
        score(6, name="stars", value=4, data_type="NUMERIC"),
        score(7, name="vote", value=1, data_type="NUMERIC", trace_id="t-elsewhere"),
    )
    records, reports = heard(DATA / "langfuse.jsonl", scores)
    about = {"conversation_id": "c1", "turn_id": "langfuse:t1/o1", "timestamp": "2025-06-15T12:05:00+00:00"}
    assert records == [
        {"id": "langfuse:s1", "kind": "vote", "vote": -1, "reason": "wrong", "rater": "ann", **about},
        {"id": "langfuse:s2", "kind": "label", "scorer": "helpfulness", "value": 0.75, **about},
        {"id": "langfuse:s3", "kind": "label", "scorer": "tone", "label": "rude", **about},
        {"id": "langfuse:s4", "kind": "vote", "vote": 1, **about, "turn_id": "langfuse:t2/o5"},
    ]
    (report,) = reports
    assert (report.format, report.files) == ("langfuse", [str(DATA / "langfuse.jsonl"), str(scores)])
    assert {what: n for what, n in report.assumed.items() if "scores" in what} == {
        "scores by evaluators and judges left out": 1,
        "scores that are neither 0 to 1 nor a word left out": 1,
        "scores of answers that are not in these files left out": 1,
    }


def test_scores_within_a_trace_and_feedback_of_langsmith_are_heard(tmp_path: Path) -> None:
    (trace,) = orjson.loads((DATA / "langfuse-traces.json").read_bytes())["data"]
    trace["scores"] = [{"id": "s1", "name": "thumbs", "value": 1, "dataType": "NUMERIC", "timestamp": AT}]
    records, _ = heard(written(tmp_path / "traces.jsonl", trace))
    assert [(record["turn_id"], record["vote"]) for record in records] == [("langfuse:t1", 1)]
    given = {"run_id": "r1", "created_at": AT, "feedback_source": {"type": "app", "user_id": "bo"}}
    feedback = written(
        tmp_path / "feedback.jsonl",
        {"id": "f1", "key": "user_score", "score": 0.5, "comment": "so-so", **given},
        {"id": "f4", "key": "user_score", "score": 1.0, **given, "run_id": "r3", "trace_id": "r1"},
        {"id": "f5", "key": "accuracy", "score": 1, **given},
        {"id": "f2", "key": "thumbs", "score": 0, **given, "run_id": "r3", "trace_id": "r1"},
        {"id": "f3", "key": "correctness", "score": 1, **given, "feedback_source": {"type": "model"}},
    )
    records, _ = heard(DATA / "langsmith.jsonl", feedback)
    assert [(record["id"], record["turn_id"], record.get("vote"), record.get("value")) for record in records] == [
        ("langsmith:f1", "langsmith:r1", None, 0.5),
        ("langsmith:f4", "langsmith:r1", 1, None),
        ("langsmith:f5", "langsmith:r1", None, 1.0),
        ("langsmith:f2", "langsmith:r1", -1, None),
    ]
    assert {record["rater"] for record in records} == {"bo"}


def test_a_thumb_in_a_log_of_openai_is_the_vote_of_its_answer(tmp_path: Path) -> None:
    first, second = map(orjson.loads, (DATA / "openai.jsonl").read_bytes().splitlines())
    log = written(tmp_path / "log.jsonl", {**first, "feedback": "thumbs_down"}, {**second, "score": 1})
    with Imported([log], HowToRead()) as imported:
        turns = [orjson.loads(line) for line in imported.sources[0].path.read_bytes().splitlines()]
    assert [turn.get("vote") for turn in turns] == [None, -1, None, None]  # 1 of five stars is no thumb


def test_a_replay_takes_them_in_and_convert_writes_them(tmp_path: Path) -> None:
    scores = written(tmp_path / "scores.jsonl", score(1, name="thumbs", value=1, data_type="NUMERIC"))
    given = [str(DATA / "langfuse.jsonl"), str(scores)]
    done = CliRunner().invoke(turnsignal, ["replay", *given, "--out", str(tmp_path / "out")])
    assert done.exit_code == 0, done.output
    assert f"{', '.join(given)}: 7 records, 4 turns in 1 conversation" in done.output
    assert "(2 of users, 2 of assistants), 1 score by people." in done.output
    summary = orjson.loads((tmp_path / "out" / "summary.json").read_bytes())
    assert summary["feedback"] == [{"kind": "vote", "result": "known", "n": 1}]
    assert "feedback: vote 1\n" in done.output
    told = CliRunner().invoke(turnsignal, ["convert", *given, "--check", "--feedback", str(tmp_path / "f.jsonl")])
    assert "Wrote 1 records of feedback" in told.output
    assert decode_feedback((tmp_path / "f.jsonl").read_bytes()).vote == 1


@pytest.mark.parametrize(
    ("value", "vote"),
    [
        ("thumbs_up", 1),
        ("Thumbs Down", -1),
        (True, 1),
        (0, -1),
        (-1, -1),
        (1.0, 1),
        ("5", None),
        (4, None),
        (None, None),
    ],
)
def test_a_vote_has_many_names_and_stars_are_none_of_them(value: object, vote: int | None) -> None:
    assert vote_of(value) == vote


@pytest.mark.parametrize("value", [None, [], {}, "x" * 10_000, 1e300, float("inf"), "nan"])
def test_a_score_of_anything_is_read_or_counted(value: object) -> None:
    assumed: Counter[str] = Counter()
    given = {"trace_id": "t", "name": "quality", "value": value, "data_type": "NUMERIC"}
    assert len(list(human_scores_of(given, "langfuse", ("trace_id",), assumed))) + assumed.total() == 1
