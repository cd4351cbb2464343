"""Explaining a conversation: what contradicts is said in words."""

import io
import urllib.error
import urllib.request
from email.message import Message
from pathlib import Path
from typing import NoReturn

import orjson
import pytest
from click.testing import CliRunner

from turnsignal.agents.cli import turnsignal
from turnsignal.agents.commands.explain import (
    StoredConversation,
    _ask_worker,
    _show_time,
    explain,
    from_directory,
    from_file,
)
from turnsignal.agents.files.recognising import read_how
from turnsignal.agents.replaying.run import replay_files
from turnsignal.agents.settings import Settings
from turnsignal.stream.errors import TurnsignalError
from turnsignal.stream.redaction import Redaction
from turnsignal.stream.suite import Suite

NOW = 1_800_000_000.0


def write(path: Path, *records: dict[str, object]) -> Path:
    path.write_bytes(b"".join(orjson.dumps({"conversation_id": "c", **record}) + b"\n" for record in records))
    return path


def turn(turn_id: str, second: int, text: str) -> dict[str, object]:
    role = "assistant" if turn_id.startswith("a") else "user"
    return {"turn_id": turn_id, "role": role, "text": text, "timestamp": f"2025-06-15T12:00:{second:02d}Z"}


def vote(name: str, second: int, value: int) -> dict[str, object]:
    about = {"id": name, "turn_id": "a1", "kind": "vote", "vote": value, "reason": "wrong year"}
    return about | {"timestamp": f"2025-06-15T12:01:{second:02d}Z"}


@pytest.mark.parametrize(
    ("votes", "follow_up", "contradicts"),
    [
        ([-1], "Thank you, that helps a lot!", "thumbs down, and the user went on"),
        ([1, -1], "Thank you, that helps a lot!", "thumbs down, and the user went on"),
        ([-1, 1], "Thank you, that helps a lot!", ""),
        ([1], "No, I meant the blue one, not the red one.", "thumbs up, and the user asked again"),
        ([-1], "No, I meant the blue one, not the red one.", ""),
    ],
)
def test_a_vote_that_contradicts_the_follow_up_is_shown(
    tmp_path: Path, votes: list[int], follow_up: str, contradicts: str
) -> None:
    turns = write(
        tmp_path / "turns.jsonl", turn("u1", 0, "Reset it?"), turn("a1", 5, "Hold it."), turn("u2", 20, follow_up)
    )
    feedback = write(tmp_path / "feedback.jsonl", *(vote(f"f{n}", n, value) for n, value in enumerate(votes)))
    summary = replay_files([turns], tmp_path, Suite(), NOW, feedback=[feedback])
    told = "\n".join(explain(from_directory(tmp_path, "c")))
    assert "wrong year" in told
    assert ("The vote contradicts the follow-up" in told) is bool(contradicts)
    assert contradicts in told
    assert f"{votes[-1:].count(1)} up, {votes[-1:].count(-1)} down" in told
    (row,) = summary["votes"]
    assert row["agree" if not contradicts else "disagree"] == 1
    assert summary["feedback"] == [{"kind": "vote", "result": "known", "n": len(votes)}]


def test_a_label_says_of_which_score_it_is(tmp_path: Path) -> None:
    turns = write(tmp_path / "turns.jsonl", turn("u1", 0, "Reset it?"), turn("a1", 5, "Hold it."))
    label = {"id": "f1", "turn_id": "a1", "kind": "label", "timestamp": "2025-06-15T12:01:00Z", "value": 1.0}
    feedback = write(tmp_path / "feedback.jsonl", label | {"scorer": "groundedness(by=strong)"})
    replay_files([turns], tmp_path, Suite(), NOW, feedback=[feedback])
    assert "of groundedness(by=strong)" in "\n".join(explain(from_directory(tmp_path, "c")))


def test_a_time_before_the_year_1_is_shown_as_seconds() -> None:
    assert _show_time(-62135683140.0) == "-62135683140 s"
    assert _show_time(0.0) == "1970-01-01T00:00:00+00:00"


def test_a_conversation_shows_its_texts_from_a_directory_and_from_a_file_alike(tmp_path: Path) -> None:
    other = turn("u1", 1, "Of somebody else.") | {"conversation_id": "d"}
    turns = write(
        tmp_path / "turns.jsonl",
        turn("u1", 0, "Reset\x1b[31m it?"),
        turn("a1", 5, "Hold [red]it."),
        turn("u2", 20, "Thank you, that helps a lot!"),
        turn("u2", 20, "Thank you, that helps a lot!"),
        other,
    )
    replay_files([turns], tmp_path / "out", Suite(), NOW)
    shown = "\n".join(explain(from_directory(tmp_path / "out", "c")))
    assert "\n".join(explain(from_file(turns, "c", Suite()))) == shown
    for text in (r"Reset\x1b[31m it?", r"Hold \[red]it.", "helps a lot", "follow_up"):
        assert text in shown
    assert shown.count("helps a lot") == 1
    assert "somebody else" not in shown
    assert not from_file(turns, "nobody", Suite()).known


@pytest.mark.parametrize("later", [None, "another file of that name"])
def test_texts_of_a_file_that_is_gone_are_said_to_be_missing_and_the_scores_stay(
    later: str | None, tmp_path: Path
) -> None:
    turns = write(tmp_path / "turns.jsonl", turn("u1", 0, "Reset it?"), turn("a1", 5, "Hold it."))
    replay_files([turns], tmp_path / "out", Suite(), NOW)
    turns.unlink()
    if later is not None:
        write(turns, turn("u1", 0, later), turn("a1", 5, later))
    shown = "\n".join(explain(from_directory(tmp_path / "out", "c")))
    assert "texts are not shown of a file that is not here any more, or not as it was: " in shown
    assert "another file" not in shown
    assert "unscored: no_retrieval" in shown


def test_texts_of_a_log_that_has_grown_since_are_shown(tmp_path: Path) -> None:
    lines = turn("u1", 0, "Reset it?"), turn("a1", 5, "Hold it.")
    turns = write(tmp_path / "turns.jsonl", *lines)
    replay_files([turns], tmp_path / "out", Suite(), NOW)
    write(turns, *lines, turn("u2", 9, "Thanks!") | {"conversation_id": "another"})
    shown = "\n".join(explain(from_directory(tmp_path / "out", "c")))
    assert "Hold it." in shown
    assert "not shown" not in shown


def test_texts_are_redacted_as_they_were_scored_and_what_cannot_be_read_is_said(tmp_path: Path) -> None:
    lines = [turn("u1", 0, "Write to me@example.org."), turn("a1", 5, "Done."), turn("u2", 9, "No!") | {"text": 7}]
    suite = Suite().redacted_by(Redaction(builtin=("email",)))
    shown = "\n".join(explain(from_file(write(tmp_path / "turns.jsonl", *lines), "c", suite)))
    assert "Write to \\[email]." in shown
    assert "a line of it could not be read: " in shown


DATA = Path(__file__).parents[2] / "data" / "formats"


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("mapped.csv", ("--mapping", str(DATA / "mapped.toml"))),
        ("openai.jsonl", ()),
        ("sharegpt.jsonl", ("--format", "sharegpt")),
    ],
)
def test_what_is_printed_to_be_typed_next_shows_the_texts_of_any_log(
    name: str, options: tuple[str, ...], tmp_path: Path
) -> None:
    out = str(tmp_path / "out")
    done = CliRunner().invoke(turnsignal, ["replay", str(DATA / name), *options, "--out", out])
    assert done.exit_code == 0, done.output
    ids = {
        orjson.loads(row)["conversation_id"] for row in (tmp_path / "out" / "scores.jsonl").read_bytes().splitlines()
    }
    for conversation in ids:
        for source in (["--from", out], ["--from", str(DATA / name), *options]):
            shown = CliRunner().invoke(turnsignal, ["conversation", conversation, *source])
            assert shown.exit_code == 0, shown.output
            assert "Which" in shown.output
            assert "Settings" in shown.output
            assert "not shown" not in shown.output


def test_turns_that_deviate_are_shown_as_they_were_scored(tmp_path: Path) -> None:
    turns = write(tmp_path / "turns.jsonl", turn("a1", 5, "Hold it.") | {"role": "ai"})
    shown = "\n".join(explain(from_file(turns, "c", Suite(), read_how(None, None))))
    assert "Hold it." in shown
    assert "assistant" in shown


def test_a_mapping_that_is_gone_is_named_and_the_scores_stay(tmp_path: Path) -> None:
    mapping = tmp_path / "m.toml"
    mapping.write_bytes((DATA / "mapped.toml").read_bytes())
    out = str(tmp_path / "out")
    CliRunner().invoke(turnsignal, ["replay", str(DATA / "mapped.csv"), "--mapping", str(mapping), "--out", out])
    mapping.unlink()
    summary = tmp_path / "out" / "summary.json"
    kept = orjson.loads(summary.read_bytes())
    del kept["read_as"]["mapping_text"]  # as earlier versions wrote it
    summary.write_bytes(orjson.dumps(kept))
    shown = CliRunner().invoke(turnsignal, ["conversation", "17", "--from", out]).output
    assert "expected a mapping in TOML" in shown
    assert "unscored" in shown


def test_line_breaks_of_a_text_are_shown_as_such_and_bounded() -> None:
    said = {**turn("t1", 0, "First\r\n\x1b[31msecond[/red]\nthird"), "timestamp": "2025-06-15"}
    lines = list(explain(StoredConversation("c", turns=[said])))
    assert lines[1].endswith("First")
    assert lines[2].startswith("    \\x1b")
    assert lines[2].endswith("second\\[/red]")
    assert lines[3] == "    third"
    said["text"] = "\n" * 500
    assert len(list(explain(StoredConversation("c", turns=[said])))) == 32


def test_a_worker_that_refuses_is_asked_by_its_address_and_quoted(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(url: str, timeout: float) -> NoReturn:
        hosts.append(urllib.request.Request(url).host)
        raise urllib.error.HTTPError(url, 403, "Forbidden", Message(), io.BytesIO(b'{"error": "not to strangers"}'))

    monkeypatch.setattr("turnsignal.agents.commands.explain.open_page", refuse)
    hosts: list[str] = []
    stored = StoredConversation("c")
    settings = Settings(brokers="localhost:9092", metrics_host="::1", metrics_port=9999)
    assert _ask_worker(settings, "c", stored) is None
    assert hosts == ["[::1]:9999"]
    assert stored.notes == ["the worker on [::1]:9999 does not show it: not to strangers"]


def test_no_worker_is_asked_where_its_port_is_any_that_is_free() -> None:
    stored = StoredConversation("c")
    assert _ask_worker(Settings(brokers="localhost:9092", metrics_port=0), "c", stored) is None
    assert "TURNSIGNAL_METRICS_PORT=0" in stored.notes[0]


def test_a_damaged_row_is_named_with_its_line(tmp_path: Path) -> None:
    turns = write(tmp_path / "turns.jsonl", turn("u1", 1, "How?"), turn("a1", 2, "So."), turn("u2", 3, "Thanks!"))
    replay_files([turns], tmp_path / "out", Suite(), NOW, workers=1)
    rows = (tmp_path / "out" / "scores.jsonl").read_bytes()
    (tmp_path / "out" / "scores.jsonl").write_bytes(rows[:-20])
    for command in (["conversation", "c", "--from"], ["compare", str(tmp_path / "out")]):
        done = CliRunner().invoke(turnsignal, [*command, str(tmp_path / "out")])
        assert isinstance(done.exception, TurnsignalError)
        assert "scores.jsonl" in str(done.exception)
