"""Logs within another logger's lines: every format is read there as it is by itself, and no half is taken for all."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pytest

from tests.agents.files.test_recognising import EXPORTS, records_of
from turnsignal.agents.files.file_reports import FileReport
from turnsignal.agents.files.importing import Imported
from turnsignal.agents.files.reading import Recording
from turnsignal.agents.files.recognising import HowToRead
from turnsignal.stream.errors import TurnsignalError

Record = dict[str, Any]
TIMES = [f"2026-11-18T09:0{minute}:00Z" for minute in range(6)]
#: how loggers hold a record
ENVELOPES: dict[str, tuple[str, Callable[[Record], Record]]] = {
    "elasticsearch": ("_source", lambda record: {"_index": "i", "_score": 1, "_source": record}),
    "cloud logging": ("jsonPayload", lambda record: {"logName": "n", "severity": "INFO", "jsonPayload": record}),
    "json in a text": ("message", lambda record: {"logStreamName": "s", "message": orjson.dumps(record).decode()}),
    "an event of an event": ("detail.data", lambda record: {"source": "app", "detail": {"data": record, "n": 1}}),
}


def read(path: Path, how: HowToRead | None = None) -> tuple[list[Record], FileReport]:
    with Imported([path], how or HowToRead()) as imported:
        (report,) = imported.reports
        return [orjson.loads(line) for line, _ in Recording(imported.sources).lines()], report


def written(path: Path, *records: Record) -> Path:
    path.write_bytes(b"\n".join(map(orjson.dumps, records)))
    return path


def texts(turns: list[Record]) -> list[str]:
    return [turn["text"] for turn in turns]


def call(number: int, **more: Any) -> Record:
    answer = {"id": f"c{number}", "choices": [{"message": {"role": "assistant", "content": f"a{number}"}}]}
    return {"request": {"messages": [{"role": "user", "content": f"q{number}"}]}, "response": answer, **more}


@pytest.mark.parametrize("logger", ENVELOPES)
@pytest.mark.parametrize("name", [name for name in EXPORTS if name != "turnsignal"])
def test_an_export_of_each_format_says_the_same_within_each_loggers_lines(
    name: str, logger: str, tmp_path: Path
) -> None:
    where, wrap = ENVELOPES[logger]
    records = records_of(EXPORTS[name][0])
    bare, of_bare = read(written(tmp_path / "export.jsonl", *records))
    (tmp_path / "wrapped").mkdir()
    turns, report = read(written(tmp_path / "wrapped" / "export.jsonl", *map(wrap, records)))
    assert report.format == f"{of_bare.format} in {where}"
    assert turns == bare
    assert report.human_scores == of_bare.human_scores


def test_the_line_that_recognises_a_log_names_the_key(tmp_path: Path) -> None:
    lines: list[str] = []
    path = written(tmp_path / "log.jsonl", *({"level": 30, "data": call(number)} for number in range(3)))
    with Imported([path], HowToRead(), say=lines.append):
        pass
    assert lines == [f"{path}: taken for openai in data, by choices of chat completions; JSON lines"]


def test_a_record_without_time_and_conversation_has_those_of_its_line(tmp_path: Path) -> None:
    lines = [{"time": TIMES[n], "sessionId": "s1", "payload": call(n)} for n in range(3)]
    turns, _ = read(written(tmp_path / "log.jsonl", *lines))
    assert texts(turns) == ["q0", "a0", "q1", "a1", "q2", "a2"]
    assert {turn["conversation_id"] for turn in turns} == {"s1"}
    assert turns[2]["timestamp"] == "2026-11-18T09:01:00+00:00"


@pytest.mark.parametrize(
    "beside",
    [
        {"meta": {"session": "s1", "ts": TIMES[3]}},
        {"context": {"conversationId": "s1", "time": TIMES[3]}},
        {"headers": {"x-session-id": "s1"}, "time": TIMES[3]},
        {"request_properties": {"Helicone-Session-Id": "s1"}, "time": TIMES[3]},
        {"labels": {"session_id": "s1"}, "time": TIMES[3]},
        {"info": {"request_time": TIMES[3], "trace_metadata": {"mlflow.trace.session": "s1"}}},
        {"dialog_id": "s1", "time": TIMES[3]},
    ],
    ids=list,
)
@pytest.mark.parametrize("is_wrapped", [False, True])
def test_what_stands_beside_a_call_says_whose_it_is(beside: Record, is_wrapped: bool, tmp_path: Path) -> None:
    lines = [{**beside, "payload": call(0)} if is_wrapped else {**beside, **call(0)} for _ in range(1)]
    turns, _ = read(written(tmp_path / "log.jsonl", *lines))
    assert {turn["conversation_id"] for turn in turns} == {"s1"}
    assert not is_wrapped or turns[0]["timestamp"] == "2026-11-18T09:03:00+00:00"


def test_a_record_keeps_its_own_time_and_conversation(tmp_path: Path) -> None:
    lines = [
        {"time": TIMES[5 - n], "sessionId": f"pod{n}", "payload": call(n, time=TIMES[n], session_id="s1")}
        for n in range(3)
    ]
    turns, _ = read(written(tmp_path / "log.jsonl", *lines))
    assert texts(turns) == ["q0", "a0", "q1", "a1", "q2", "a2"]
    assert {turn["conversation_id"] for turn in turns} == {"s1"}


def test_a_loggers_thread_is_no_conversation(tmp_path: Path) -> None:
    lines = [{"time": TIMES[n], "thread_id": 7, "payload": call(n)} for n in range(3)]
    turns, _ = read(written(tmp_path / "log.jsonl", *lines))
    assert len({turn["conversation_id"] for turn in turns}) == 3


def test_lines_without_a_record_are_left_out_and_counted(tmp_path: Path) -> None:
    lines: list[Record] = [{"time": at, "event": "request served"} for at in TIMES]
    lines += [{"time": TIMES[n], "event": call(n, session_id="s1")} for n in range(2)]
    turns, report = read(written(tmp_path / "log.jsonl", *lines))
    assert texts(turns) == ["q0", "a0", "q1", "a1"]
    assert report.assumed["records that hold no object in event left out"] == 6
    assert report.refused == {}


def test_the_first_record_may_stand_far_down_in_a_services_log(tmp_path: Path) -> None:
    lines: list[Record] = [{"time": TIMES[0], "msg": f"served {n}"} for n in range(500)]
    path = written(
        tmp_path / "log.jsonl", *lines, {"time": TIMES[1], "data": call(1)}, {"time": TIMES[2], "msg": "bye"}
    )
    turns, report = read(path)
    assert texts(turns) == ["q1", "a1"]
    assert report.why == "choices of chat completions from line 501 on; JSON lines"


def test_records_in_lists_of_answers_to_searches_are_read(tmp_path: Path) -> None:
    hits = [{"_id": f"i{n}", "_source": call(n, session_id="s1", **{"@timestamp": TIMES[n]})} for n in range(3)]
    path = tmp_path / "search.json"
    path.write_bytes(orjson.dumps({"took": 3, "hits": {"total": 3, "hits": hits}}, option=orjson.OPT_INDENT_2))
    turns, report = read(path)
    assert report.format == "openai in hits.hits.*._source"
    assert texts(turns) == ["q0", "a0", "q1", "a1", "q2", "a2"]
    events = [{"timestamp": 1_790_000_000_000 + n, "message": orjson.dumps(call(n)).decode()} for n in range(2)]
    turns, _ = read(written(tmp_path / "events.json", {"events": events, "searchedLogStreams": []}))
    assert sorted(texts(turns)) == ["a0", "a1", "q0", "q1"]
    assert turns[0]["timestamp"].startswith("2026-09-21T")


@pytest.mark.parametrize(
    ("asked", "answered"),
    [("requestBody", "responseBody"), ("backendRequestBody", "backendResponseBody"), ("inputs", "output")],
)
@pytest.mark.parametrize("is_text", [False, True])
def test_a_request_and_its_answer_by_any_names_are_one_call(
    asked: str, answered: str, is_text: bool, tmp_path: Path
) -> None:
    lines = []
    for n in range(3):
        bodies = [orjson.dumps(body).decode() if is_text else body for body in call(n).values()]
        held = dict(zip((asked, answered), bodies, strict=True))
        lines.append({"time": TIMES[n], "category": "gateway", "properties": {"session_id": "s1", **held}})
    turns, report = read(written(tmp_path / "log.jsonl", *lines))
    assert report.format == f"openai in properties.{asked} and {answered}"
    assert texts(turns) == ["q0", "a0", "q1", "a1", "q2", "a2"]
    assert {turn["conversation_id"] for turn in turns} == {"s1"}
    flat, _ = read(written(tmp_path / "flat.jsonl", *(line["properties"] for line in lines)))
    assert texts(flat) == texts(turns)


def test_a_list_of_messages_and_a_text_beside_it_are_one_call(tmp_path: Path) -> None:
    lines = [
        {"ts": TIMES[n], "chat_id": "s1", "input_messages": call(n)["request"]["messages"], "output_text": f"So a{n}."}
        for n in range(2)
    ]
    turns, _ = read(written(tmp_path / "log.jsonl", *lines))
    assert texts(turns) == ["q0", "So a0.", "q1", "So a1."]
    assert {turn["conversation_id"] for turn in turns} == {"s1"}


@pytest.mark.parametrize("kept", ["request", "response"])
def test_half_of_a_call_is_never_taken_for_the_whole(kept: str, tmp_path: Path) -> None:
    lines = [{"ts": TIMES[n], "held": call(n)[kept], "other": "words of the other side"} for n in range(3)]
    with pytest.raises(TurnsignalError, match="--propose"):
        read(written(tmp_path / "log.jsonl", *lines))


def test_a_format_that_is_asked_for_is_read_within_other_lines(tmp_path: Path) -> None:
    path = written(tmp_path / "log.jsonl", *({"level": 30, "data": call(number)} for number in range(3)))
    _, report = read(path, HowToRead("openai"))
    assert report.format == "openai in data"
    assert report.turns == {"user": 3, "assistant": 3}


def test_turns_within_a_loggers_lines_are_turns(tmp_path: Path) -> None:
    turn = {"conversation_id": "c1", "turn_id": "t1", "role": "user", "text": "q0", "timestamp": TIMES[0]}
    answer = {**turn, "turn_id": "t2", "role": "assistant", "text": "a0", "timestamp": TIMES[1]}
    turns, report = read(written(tmp_path / "log.jsonl", {"_source": turn}, {"_source": answer}))
    assert report.format == "turnsignal in _source"
    assert [turn["turn_id"] for turn in turns] == ["t1", "t2"]


def session(number: int, role: str, content: Any, **more: Any) -> Record:
    message: Record = {"role": role, "content": content}
    if role == "assistant":
        message |= {"id": f"msg{number}", "type": "message", "model": "m"}
    return {"type": role, "sessionId": "s1", "timestamp": TIMES[number], "message": message, **more}


def test_a_programs_session_keeps_what_its_user_says(tmp_path: Path) -> None:
    block = {"type": "text", "text": "a0"}
    call_of_tool = {"type": "tool_use", "id": "t1", "name": "read", "input": {}}
    lines = [
        {"type": "summary", "summary": "About q0"},
        session(0, "user", "q0"),
        session(1, "assistant", [call_of_tool]),
        session(2, "user", [{"type": "tool_result", "tool_use_id": "t1", "content": "42"}]),
        session(2, "assistant", [{"type": "text", "text": "of the subagent"}], isSidechain=True),
        session(3, "assistant", [block]),
        session(4, "user", "q1"),
        session(5, "assistant", [{**block, "text": "a1"}]),
    ]
    turns, report = read(written(tmp_path / "session.jsonl", *lines))
    assert [(turn["role"], turn["text"]) for turn in turns] == [
        *(("user", "q0"), ("assistant", "a0"), ("user", "q1"), ("assistant", "a1")),
    ]
    assert {turn["conversation_id"] for turn in turns} == {"s1"}
    assert report.assumed["messages that are for no user's eyes left out"] == 1
    assert report.assumed["results of tools left out"] == 1
    assert report.refused == {}


def test_of_two_conversations_in_one_record_the_line_says_which_is_left_out(tmp_path: Path) -> None:
    both = {
        key: [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": key}] for key in ("chat_a", "chat_b")
    }
    turns, report = read(written(tmp_path / "arena.jsonl", {"winner": "model_a", **both}))
    assert texts(turns) == ["Hi", "chat_a"]
    assert report.why == "messages with role and content; those in chat_b are left out; JSON lines"
