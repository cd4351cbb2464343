"""Logs that deviate as people's do: other names of times, ids and roles, what stands around records, who is named."""

from pathlib import Path
from typing import Any

import orjson
import pytest
from click.testing import CliRunner, Result

from turnsignal.agents.cli import turnsignal
from turnsignal.agents.files.file_reports import FileReport
from turnsignal.agents.files.importing import Imported
from turnsignal.agents.files.reading import Recording
from turnsignal.agents.files.recognising import HowToRead

KEY = b"0123456789abcdef"
ESCAPE = "\x1b[2J\x1b]0;title\x07"


def read(path: Path, key: bytes | None = None) -> tuple[list[dict[str, Any]], FileReport]:
    with Imported([path], HowToRead(user_key=key)) as imported:
        (report,) = imported.reports
        return [orjson.loads(line) for line, _ in Recording(imported.sources).lines()], report


def convert(*arguments: object) -> Result:
    return CliRunner().invoke(turnsignal, ["convert", *map(str, arguments)])


def written(path: Path, *records: dict[str, Any]) -> Path:
    path.write_bytes(b"\n".join(map(orjson.dumps, records)))
    return path


def texts(turns: list[dict[str, Any]]) -> list[str]:
    return [turn["text"] for turn in turns]


def exchange(number: int, **more: Any) -> dict[str, Any]:
    messages = [{"role": "user", "content": f"q{number}"}, {"role": "assistant", "content": f"a{number}"}]
    return {"conversation_id": "c1", "messages": messages, **more}


@pytest.mark.parametrize("name", ["createdAt", "startTime", "createTime", "@timestamp", "ts", "sentAt"])
def test_a_log_with_its_newest_record_first_is_in_the_order_of_its_times_by_any_name(name: str, tmp_path: Path) -> None:
    records = [exchange(n, **{name: f"2026-11-18T09:0{n}:00Z"}) for n in (3, 2, 1)]
    turns, report = read(written(tmp_path / "log.jsonl", *records))
    assert texts(turns) == ["q1", "a1", "q2", "a2", "q3", "a3"]
    assert turns[1]["timestamp"] == "2026-11-18T09:01:00+00:00"
    assert report.warnings == []


def test_messages_with_the_newest_first_are_turned_round_by_their_times(tmp_path: Path) -> None:
    records = [
        {"role": "user" if n % 2 else "assistant", "content": f"m{n}", "createdAt": f"2026-11-18T09:00:0{n}Z"}
        for n in range(6, 0, -1)
    ]
    turns, report = read(written(tmp_path / "log.jsonl", *records))
    assert texts(turns) == ["m1", "m2", "m3", "m4", "m5", "m6"]
    assert report.assumed["messages newest first, put in the order of their times"] == 6


def test_a_time_that_cannot_be_read_is_told_with_an_example_and_is_not_called_absent(tmp_path: Path) -> None:
    records = [exchange(n, timestamp=f"10/11/2026 09:0{n}") for n in (3, 2, 1)]
    _, report = read(written(tmp_path / "log.jsonl", *records))
    (warning,) = report.warnings
    assert warning.startswith("3 times that cannot be read, such as '10/11/2026 09:03'")
    assert "date_format" in warning


def test_a_log_without_times_that_begins_with_answers_is_doubted(tmp_path: Path) -> None:
    records = [{"role": "user" if n % 2 else "assistant", "content": f"m{n}"} for n in range(6, 0, -1)]
    _, report = read(written(tmp_path / "log.jsonl", *records))
    assert any("is the file newest first?" in warning for warning in report.warnings)


def test_a_log_without_times_in_its_order_is_not_doubted(tmp_path: Path) -> None:
    records = [{"role": "user" if n % 2 else "assistant", "content": f"m{n}"} for n in range(1, 7)]
    _, report = read(written(tmp_path / "log.jsonl", *records))
    assert report.warnings == []


def test_days_as_excel_counts_them_are_doubted(tmp_path: Path) -> None:
    _, report = read(written(tmp_path / "log.jsonl", exchange(1, timestamp=45979.375)))
    assert any("Excel" in warning for warning in report.warnings)


@pytest.mark.parametrize(
    "stamp",
    ["2026/11/18 09:00:00", "20261118090000", {"$date": "2026-11-18T09:00:00Z"}, "2026-11-18 09:00:00.25+00"],
)
def test_turns_whose_times_leave_no_doubt_are_read(stamp: Any, tmp_path: Path) -> None:
    turn = {"conversation_id": {"$oid": "6f"}, "turn_id": {"$numberLong": "7"}, "role": "user", "text": "Hi"}
    done = convert(written(tmp_path / "log.jsonl", {**turn, "timestamp": stamp}), "--out", tmp_path / "turns.jsonl")
    assert done.exit_code == 0
    read_back = orjson.loads((tmp_path / "turns.jsonl").read_bytes())
    assert (read_back["conversation_id"], read_back["turn_id"]) == ("6f", "7")
    assert read_back["timestamp"].replace(" ", "T").startswith("2026-11-18T09:00:00")


def test_a_day_in_eight_digits_is_that_day_in_a_table(tmp_path: Path) -> None:
    path = tmp_path / "turns.csv"
    path.write_text("conversation_id,turn_id,role,text,timestamp\nc1,1,user,Hi,20261118\nc1,2,assistant,Yes,20261119\n")
    turns, _ = read(path)
    assert [turn["timestamp"][:10] for turn in turns] == ["2026-11-18", "2026-11-19"]


def test_ids_that_a_data_frame_made_decimal_are_those_they_were(tmp_path: Path) -> None:
    records = [{**exchange(n), "conversation_id": c, "timestamp": n} for n, c in enumerate([1.0, 2.0, 1.0, 2])]
    turns, report = read(written(tmp_path / "log.jsonl", *records))
    assert {turn["conversation_id"] for turn in turns} == {"1", "2"}
    assert report.conversations == 2


@pytest.mark.parametrize("absent", ["None", "nan", "NULL", "undefined"])
def test_a_word_for_no_id_joins_no_strangers(absent: str, tmp_path: Path) -> None:
    records = [{**exchange(n, timestamp=n), "conversation_id": absent} for n in range(3)]
    _, report = read(written(tmp_path / "log.jsonl", *records))
    assert report.conversations == 3


@pytest.mark.parametrize(
    ("user", "assistant"), [("human", "ai"), ("User", "Assistant"), ("user", "bot"), ("user", "model")]
)
def test_messages_with_roles_by_other_names_are_recognised(user: str, assistant: str, tmp_path: Path) -> None:
    messages = [
        {"role": user, "content": "q"},
        {"role": assistant, "content": "a"},
        {"role": "moderator", "content": "-"},
    ]
    turns, report = read(written(tmp_path / "log.jsonl", {"conversation_id": "c1", "messages": messages}))
    assert report.format == "openai"
    assert [turn["role"] for turn in turns] == ["user", "assistant"]


def span(number: int, attributes: dict[str, str]) -> dict[str, Any]:
    ids = {"traceId": f"{number:032x}", "spanId": f"{number:016x}"}
    pairs = [{"key": key, "value": {"stringValue": value}} for key, value in attributes.items()]
    spans = [{**ids, "name": "s", "startTimeUnixNano": str((1_790_000_000 + number) * 10**9), "attributes": pairs}]
    return {"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}


def test_traces_of_a_service_are_recognised_by_a_models_span_behind_many_others(tmp_path: Path) -> None:
    said = {
        "gen_ai.input.messages": '[{"role": "user", "parts": [{"type": "text", "content": "How?"}]}]',
        "gen_ai.output.messages": '[{"role": "assistant", "parts": [{"type": "text", "content": "So."}]}]',
    }
    http = [span(number, {"http.method": "GET"}) for number in range(60)]
    turns, report = read(written(tmp_path / "log.jsonl", *http, span(60, {"gen_ai.operation.name": "chat", **said})))
    assert report.format == "otel"
    assert report.why.startswith("spans with gen_ai attributes from line 61 on")
    assert texts(turns) == ["How?", "So."]


def test_traces_without_any_model_are_still_refused(tmp_path: Path) -> None:
    done = convert(written(tmp_path / "log.jsonl", *(span(n, {"http.method": "GET"}) for n in range(60))), "--check")
    assert done.exit_code != 0
    assert "expected one of the formats" in str(done.exception)


def test_records_in_the_lines_of_a_container_are_read_and_its_text_is_refused(tmp_path: Path) -> None:
    outer = {"stream": "stdout", "time": "2026-11-18T09:00:00Z"}
    lines = [{"log": f"{orjson.dumps(exchange(n)).decode()}\n", **outer} for n in range(2)]
    turns, report = read(written(tmp_path / "log.jsonl", {"log": "Starting\n", **outer}, *lines))
    assert texts(turns) == ["q0", "a0", "q1", "a1"]
    assert turns[1]["timestamp"].startswith("2026-11-18T09:00:00")
    assert report.first["not_json"][0] == 1


def test_a_strangers_field_names_neither_steer_a_terminal_nor_fill_it(tmp_path: Path) -> None:
    done = convert(written(tmp_path / "log.jsonl", {ESCAPE: 1, "k" * 100_000: 2}), "--check")
    told = str(done.exception)
    assert "\x1b" not in told
    assert len(told) < 1_000


@pytest.mark.parametrize("trace", ["order/17", "chat#5", "a/b/c", "50%2F"])
def test_a_score_finds_the_answer_of_a_trace_whatever_its_id_holds(trace: str, tmp_path: Path) -> None:
    when = "2026-11-18T09:00:00Z"
    said = {"id": trace, "sessionId": "s1", "timestamp": when, "input": "How?", "output": "So."}
    seen = {"id": "o/1", "traceId": trace, "type": "GENERATION", "startTime": when, "input": "Why?", "output": "Thus."}
    score = {"traceId": trace, "name": "thumb", "dataType": "BOOLEAN", "value": 1, "timestamp": when}
    for records in ([said, {**score, "id": "x"}], [seen, {**score, "id": "y", "observationId": "o/1"}]):
        path = written(tmp_path / "log.jsonl", *records)
        done = convert(path, "--out", tmp_path / "turns.jsonl", "--feedback", tmp_path / "feedback.jsonl")
        assert "Wrote 1 records of feedback" in done.output


def test_no_name_of_a_user_gets_past_the_digest(tmp_path: Path) -> None:
    named = {"user_id": "ann-1", "userId": "ann-2", "user": "ann-3", "metadata": {"user_id": "ann-4", "case_id": "k1"}}
    turn = {"conversation_id": "c1", "turn_id": "1", "role": "user", "text": "Hi", "timestamp": "2026-11-18T09:00:00Z"}
    (hidden,), _ = read(written(tmp_path / "turns.jsonl", {**turn, **named}), KEY)
    assert "ann" not in str(hidden)
    assert len(hidden["user_id"]) == 32
    assert hidden["metadata"] == {"case_id": "k1"}
    assert {key: hidden[key] for key in turn} == turn


def test_a_misspelt_path_in_a_mapping_is_named(tmp_path: Path) -> None:
    mapping = tmp_path / "mapping.toml"
    mapping.write_text('[turns]\nconversation_id = "c"\nrole = { pth = "role" }\ntext = "t"\ntimestamp = "at"\n')
    done = convert(written(tmp_path / "log.jsonl", {"c": 1}), "--mapping", mapping, "--check")
    assert "role: expected { path = " in str(done.exception)
    assert "got pth" in str(done.exception)


def test_what_is_refused_names_no_user_that_is_hidden(tmp_path: Path) -> None:
    turn = {"conversation_id": "c", "turn_id": "1", "role": "user", "text": "Hi", "timestamp": "2026-11-18T09:00:00Z"}
    path = written(tmp_path / "log.jsonl", {**turn, "user_id": "ann@corp", "vote": "ann@corp"})
    with Imported([path], HowToRead(user_key=KEY)) as imported:
        (report,) = imported.reports
        assert imported.refused is not None
        told = f"{report.first} {imported.refused.read_text()}"
    assert "wrong_type" in told
    assert "ann@corp" not in told


@pytest.mark.parametrize("user", ["10457732", "ann@corp.example", "7f1c2a90d3e44b5f8a1b"])
@pytest.mark.parametrize("id_of", ["c{}_conv", "user{}T1", "{}"])
def test_a_user_that_touches_letters_in_an_id_is_hidden(user: str, id_of: str, tmp_path: Path) -> None:
    turn = {"turn_id": "1", "role": "user", "text": "Hi", "timestamp": "2026-11-18T09:00:00Z", "user_id": user}
    turns, _ = read(written(tmp_path / "log.jsonl", {**turn, "conversation_id": id_of.format(user)}), KEY)
    assert user not in str(turns)
