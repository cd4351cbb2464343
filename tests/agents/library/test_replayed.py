"""Replaying from Python: the same rows as the command's, from whatever a caller has, and files that come and go."""

import gc
import subprocess
import sys
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy
import orjson
import pandas
import pytest
from click.testing import CliRunner

import turnsignal
from turnsignal.agents.cli import turnsignal as command

NOON = datetime(2025, 6, 15, 12, tzinfo=UTC)
DIALOGUE: list[dict[str, Any]] = [
    {"turn_id": "u1", "role": "user", "text": "How do I reset my password?"},
    {
        "turn_id": "a1",
        "role": "assistant",
        "text": "Open Settings [doc_2].",
        "version": "v1",
        "retrieved": [{"doc_id": "doc_1"}, {"doc_id": "doc_2"}],
    },
    {"turn_id": "u2", "role": "user", "text": "No, I meant the other password, not this one."},
]
TURNS = [
    {"conversation_id": "c1", "timestamp": (NOON + timedelta(seconds=n)).isoformat(), **turn}
    for n, turn in enumerate(DIALOGUE)
]


def write(path: Path, turns: Iterable[dict[str, Any]]) -> Path:
    path.write_bytes(b"".join(orjson.dumps(turn) + b"\n" for turn in turns))
    return path


def as_records() -> list[turnsignal.Turn]:
    return [
        turnsignal.Turn(
            conversation_id="c1",
            timestamp=NOON + timedelta(seconds=n),
            **{name: value for name, value in turn.items() if name != "retrieved"},
            retrieved=[turnsignal.Document(document["doc_id"]) for document in turn.get("retrieved", [])],
        )
        for n, turn in enumerate(DIALOGUE)
    ]


def test_dicts_records_a_generator_a_path_and_paths_give_the_same_rows(tmp_path: Path) -> None:
    path = write(tmp_path / "turns.jsonl", TURNS)
    rows = list(turnsignal.replay(path).rows())
    assert [row["stage"] for row in rows] == ["response", "follow_up", "close"]
    for given in (TURNS, as_records(), (turn for turn in TURNS), str(path), [path], [str(path)]):
        assert list(turnsignal.replay(given).rows()) == rows


def test_its_files_are_those_of_the_command(tmp_path: Path) -> None:
    turns = write(tmp_path / "turns.jsonl", [*TURNS, {"text": "?"}])
    CliRunner().invoke(command, ["replay", str(turns), "--out", str(tmp_path / "command")], catch_exceptions=False)
    turnsignal.replay(turns, out=tmp_path / "library")
    written = {path.name: path.read_bytes() for path in (tmp_path / "command").iterdir()}
    assert {path.name: path.read_bytes() for path in (tmp_path / "library").iterdir()} == written
    assert len(written["dead-letters.jsonl"]) > 0


def test_what_python_has_and_json_has_not_is_written_as_json() -> None:
    turns = [dict(turn) for turn in TURNS]
    turns[0]["timestamp"] = pandas.Timestamp(turns[0]["timestamp"])
    turns[1]["timestamp"] = datetime.fromisoformat(turns[1]["timestamp"])
    turns[1]["retrieved"] = [{"doc_id": name, "score": numpy.float64(0.5)} for name in ("doc_1", "doc_2")]
    turns[2]["version"] = float("nan")  # a missing value of pandas
    result = turnsignal.replay(turns)
    assert result.summary["dead_letters"] == {}
    assert [row["id"] for row in result.rows()] == [row["id"] for row in turnsignal.replay(TURNS).rows()]


@pytest.mark.parametrize(
    ("turns", "message"),
    [
        ([TURNS[0], 7], "turn 2: expected a dict, or a turnsignal.Turn or turnsignal.Feedback; got int"),
        ([TURNS[0], "turns.jsonl"], "turn 2: expected a dict, .*; got str"),
        ([{**TURNS[0], "text": object()}], "turn 1: expected values that JSON can hold, got one that it cannot: "),
        ("nowhere.jsonl", "nowhere.jsonl: expected a file that can be read"),
    ],
)
def test_what_is_no_turn_is_named(turns: Any, message: str) -> None:
    with pytest.raises(turnsignal.TurnsignalError, match=message):
        turnsignal.replay(turns)


def test_a_turn_that_cannot_be_taken_in_is_a_dead_letter_with_its_number() -> None:
    result = turnsignal.replay([*TURNS, {"text": "Who said that?"}])
    (letter,) = result.dead_letters()
    assert (letter["line"], letter["reason"], letter["detail"]) == (
        *(4, "missing_field"),
        "expected the field conversation_id, got none",
    )
    assert "1 dead letter" in repr(result)


def test_small_deviations_are_read_and_told_unless_it_is_strict() -> None:
    turns = [{**turn, "role": {"user": "human", "assistant": "ai"}[turn["role"]]} for turn in TURNS]
    result = turnsignal.replay(turns)
    assert result.assumed == {"role human is user": 2, "role ai is assistant": 1}
    assert "assumed: role ai is assistant (1); role human is user (2)." in result.text()
    assert [row["id"] for row in result.rows()] == [row["id"] for row in turnsignal.replay(TURNS).rows()]
    strict = turnsignal.replay(turns, strict=True)
    assert (strict.summary["dead_letters"], strict.assumed) == ({"unknown_role": 3}, {})


def test_logs_of_other_kinds_are_read_as_the_command_reads_them(tmp_path: Path) -> None:
    logs = [
        {"messages": [{"role": turn["role"], "content": turn["text"].replace("password", what)} for turn in TURNS]}
        for what in ("password", "name")
    ]
    (tmp_path / "log.json").write_bytes(orjson.dumps(logs, option=orjson.OPT_INDENT_2))
    for given in (logs, tmp_path / "log.json"):
        assert turnsignal.replay(given).summary["turns"] == {"assistant": 2, "user": 4}


def test_a_format_a_mapping_and_alerts_are_given_as_to_the_command(tmp_path: Path) -> None:
    formats = Path(__file__).parents[2] / "data" / "formats"
    mapped = turnsignal.replay(formats / "mapped.csv", mapping=formats / "mapped.toml", alerts=True)
    assert mapped.summary["turns"] == {"assistant": 2, "user": 2}
    assert mapped.summary["alerts"]["incidents"] == []
    assert "alerts" not in turnsignal.replay(formats / "sharegpt.jsonl", format="sharegpt").summary
    with pytest.raises(turnsignal.ConfigError, match="format: expected one of turnsignal, openai, "):
        turnsignal.replay(formats / "sharegpt.jsonl", format="carrier pigeon")
    with pytest.raises(turnsignal.ConfigError, match="exclude each other"):
        turnsignal.replay(formats / "mapped.csv", mapping=formats / "mapped.toml", strict=True)


def test_no_turns_are_a_result_that_says_so() -> None:
    result = turnsignal.replay([])
    assert result.summary["turns"] == {}
    assert (list(result.rows()), result.findings(), result.worst(), result.compare()) == ([], [], [], [])
    assert "0 turns" in repr(result)
    assert result.to_pandas().empty
    assert result.to_polars().is_empty()


def test_feedback_is_taken_in_among_the_turns() -> None:
    vote = {"id": "f1", "conversation_id": "c1", "turn_id": "a1", "kind": "vote", "vote": -1}
    heard = [{**vote, "timestamp": (NOON + timedelta(seconds=1.5)).isoformat()}]
    record = turnsignal.Feedback(**vote, timestamp=NOON + timedelta(seconds=1.5))
    for feedback in (heard, heard[0], [record]):
        rows = turnsignal.replay(TURNS, feedback=feedback).rows()
        assert [row["feedback"]["id"] for row in rows if row["stage"] == "feedback"] == ["f1"]


def test_a_suite_may_be_a_file_or_a_value(tmp_path: Path) -> None:
    text = '[[checks]]\ncheck = "length.number_words(at_most=2)"\n'
    (tmp_path / "suite.toml").write_text(text)
    for suite in (tmp_path / "suite.toml", turnsignal.parse_suite(text)):
        result = turnsignal.replay(TURNS, suite=suite)
        (row,) = (row for row in result.rows() if row["stage"] == "response")
        assert {score["scorer"]: score["value"] for score in row["scores"]}["length.number_words(at_most=2)"] == 0.0


def test_a_wrong_suite_or_environment_is_refused_with_its_name(tmp_path: Path) -> None:
    with pytest.raises(turnsignal.ConfigError, match=r"environment: expected one of production, .*; got 'prod'"):
        turnsignal.replay(TURNS, environment="prod")
    with pytest.raises(turnsignal.ConfigError, match=r"nowhere\.toml: expected a suite in TOML"):
        turnsignal.replay(TURNS, suite=tmp_path / "nowhere.toml")


def test_the_figures_are_of_the_environment_that_is_asked_for() -> None:
    turns = [{**turn, "environment": "experiment"} for turn in TURNS]
    assert turnsignal.replay(turns).summary["turns"] == {}
    assert turnsignal.replay(turns, environment="experiment").summary["turns"] == {"assistant": 1, "user": 2}


def test_texts_are_redacted_before_they_are_kept(tmp_path: Path) -> None:
    (tmp_path / "redaction.toml").write_text('builtin = ["email"]\n')
    turns = [{**TURNS[0], "text": "I am anna@example.org."}, *TURNS[1:]]
    result = turnsignal.replay(turns, redaction=tmp_path / "redaction.toml")
    assert result.summary["redactions"] == {"email": 1}


@pytest.mark.slow
def test_a_temporary_directory_goes_with_the_result() -> None:
    result = turnsignal.replay(TURNS)
    directory = result.directory
    rows = result.rows()
    del result
    gc.collect()
    assert len(list(rows)) == 3  # whoever reads holds it
    del rows
    gc.collect()
    assert not directory.exists()


def test_a_replay_that_fails_leaves_no_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with pytest.raises(turnsignal.TurnsignalError):
        turnsignal.replay([TURNS[0], 7])
    assert list(tmp_path.iterdir()) == []


def test_a_result_that_was_written_can_be_read_again(tmp_path: Path) -> None:
    result = turnsignal.replay(TURNS, out=tmp_path)
    again = turnsignal.read_result(tmp_path)
    assert again.summary == result.summary
    assert list(again.rows()) == list(result.rows())


@pytest.mark.slow
def test_a_script_without_a_guard_may_use_several_processes(tmp_path: Path) -> None:
    """A process that imported the caller's script would start a replay of its own."""
    script = tmp_path / "script.py"
    path = write(tmp_path / "turns.jsonl", TURNS)
    script.write_text(f"import turnsignal\nprint(turnsignal.replay({str(path)!r}, workers=2).summary['turns'])\n")
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=False)
    assert (done.stdout.strip(), done.stderr) == ("{'assistant': 1, 'user': 2}", "")


def test_names_from_strangers_are_escaped_in_a_notebook() -> None:
    turns = [{**turn, "assistant": "<script>alert(1)</script>\x1b[31m"} for turn in TURNS]
    shown = turnsignal.replay(turns)._repr_html_()
    assert "<script>" not in shown
    assert "\x1b" not in shown
    assert shown.startswith("<pre")


def test_in_a_kernel_nothing_is_shown_but_what_is_returned(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rich.console._is_jupyter", lambda: True)  # rich would ask for IPython, which is not here
    result = turnsignal.replay(TURNS)
    assert "3 turns, 1 conversation" in result._repr_html_()


@pytest.mark.slow
def test_releases_are_compared_figure_by_figure() -> None:
    result = turnsignal.replay(turnsignal.sample_turns())
    rows = [row for row in result.compare() if row["figure"] == "nDCG@5"]
    assert [(row["assistant"], row["before"], row["after"], row["verdict"]) for row in rows] == [
        (assistant, "v2", "v3", "worse") for assistant in ("billing", "search", "support")
    ]
    assert len(result.worst()) == 10
    assert result.worst(3) == result.worst()[:3]
    assert "v3 retrieves worse in all three assistants" in result.text()
