"""Files of one turn a record: rows newest first, rows that came twice, and what names a message."""

from pathlib import Path
from typing import Any

import orjson
import pytest

from turnsignal.agents.files.file_reports import FileReport
from turnsignal.agents.files.importing import Imported
from turnsignal.agents.files.reading import Recording
from turnsignal.agents.files.recognising import HowToRead
from turnsignal.stream.formats.mapping import parse_format_mapping

DAY = "2026-11-09 10:00:0"
TWICE = "was a file exported twice?"


def row(number: int, role: str, text: str, **more: Any) -> dict[str, Any]:
    return {"conversation_id": "a", "role": role, "content": text, "created_at": f"{DAY}{number}", **more}


def rows(ids: str = "4321", times: str = "2211", chats: str = "aaaa", key: str = "id") -> list[dict[str, Any]]:
    """Two exchanges newest first: Text 4 answers Text 3, as Text 2 does Text 1."""
    roles = ("assistant", "user") * 2
    return [
        {key: named, **row(int(time), role, f"Text {number} of it"), "conversation_id": chat}
        for named, time, chat, role, number in zip(ids, times, chats, roles, "4321", strict=True)
    ]


def spelled(path: Path, records: list[dict[str, Any]]) -> Path:
    """Write records in the way that the name of the file says."""
    lines = b"\n".join(map(orjson.dumps, records))
    if path.suffix == ".csv":
        cells = [list(records[0]), *([str(value) for value in record.values()] for record in records)]
        lines = "\n".join(map(",".join, cells)).encode() + b"\n"
    elif path.name == "list.json":
        lines = orjson.dumps({"object": "list", "data": records})
    elif path.suffix == ".json":
        lines = orjson.dumps(records, option=orjson.OPT_INDENT_2)
    path.write_bytes(lines)
    return path


ANSWERS = """conversation_id,role,text,tool_calls,timestamp,version
c1,user,How do I pay?,,2026-11-18T09:00:00Z,
c1,assistant,,,2026-11-18T09:00:01Z,v2
c2,user,,,2026-11-18T09:01:00Z,
c2,assistant,,"[{""id"": ""t1"", ""function"": {""name"": ""find"", ""arguments"": ""{}""}}]",2026-11-18T09:01:01Z,v2
"""
MAPPING = """[turns]
conversation_id = "conversation_id"
role = "role"
text = "text"
timestamp = "timestamp"
version = "version"
"""


@pytest.mark.parametrize("mapping", [None, MAPPING, MAPPING.replace('text = "text"', 'text = ["said", "text"]')])
def test_an_empty_cell_in_an_answer_of_csv_is_an_empty_answer_as_in_json(mapping: str | None, tmp_path: Path) -> None:
    """A user's is none, and neither is the call of a tool."""
    path = tmp_path / "log.csv"
    path.write_text(ANSWERS)
    how = HowToRead() if mapping is None else HowToRead(mapping=parse_format_mapping(mapping, "m"))
    with Imported([path], how) as imported:
        turns = [orjson.loads(line) for line, _ in Recording(imported.sources).lines()]
        (report,) = imported.reports
    (answer,) = [turn for turn in turns if turn["role"] == "assistant"]
    assert (answer["conversation_id"], answer["text"], answer["version"]) == ("c1", "", "v2")
    assert [turn["text"] for turn in turns if turn["role"] == "user"] == ["How do I pay?"]
    assert report.refused["missing_field"] == (1 if mapping is None else 2)


def read(*paths: Path) -> tuple[list[dict[str, Any]], FileReport]:
    """Return the turns in the order of their times, as a replay takes them."""
    with Imported(paths, HowToRead()) as imported:
        (report,) = imported.reports
        turns = [orjson.loads(line) for line, _ in Recording(imported.sources).lines()]
    return sorted(turns, key=lambda turn: turn["timestamp"].replace("T", " ").removesuffix("+00:00")), report


@pytest.mark.parametrize("name", ["log.csv", "log.jsonl", "log.json", "list.json"])
@pytest.mark.parametrize(
    ("records", "texts", "is_doubted"),
    [
        (rows(), "1234", False),
        (rows(key="no"), "1234", False),  # who stands above says it: an answer above its question
        (rows(times="1111"), "1234", False),
        (rows(ids="3412"), "2143", False),  # within a second the ids say that the rows stand in order
        (rows(times="4321"), "1234", False),
        (rows(times="1122"), "3412", False),  # as ids fall where times rise, roles say it
        (rows(chats="abab"), "2143", False),
        (rows(ids="4312"), "2134", True),
    ],
    ids=["ids", "no ids", "one time", "ids ascend within", "no ties", "oldest first", "other conversations", "both"],
)
def test_rows_newest_first_of_one_time_are_turned_round_or_doubted(
    name: str, records: list[dict[str, Any]], texts: str, is_doubted: bool, tmp_path: Path
) -> None:
    turns, report = read(spelled(tmp_path / name, records))
    assert [turn["text"].split()[1] for turn in turns] == list(texts)
    assert [warning for warning in report.warnings if "newest first" in warning] == report.warnings
    assert bool(report.warnings) == is_doubted


def test_rows_that_stand_newest_first_in_the_beginning_alone_are_doubted(tmp_path: Path) -> None:
    later = [row(5 + number // 2, "user", f"Text 5 {number}", conversation_id="b") for number in range(4)]
    records = [*rows(), *[row(1, "user", "Early", conversation_id="c", id="9")] * 50, *later]
    _, report = read(spelled(tmp_path / "log.jsonl", records))
    assert any("newest first" in warning for warning in report.warnings)


@pytest.mark.parametrize("key", ["id", "message_id", "messageId", "uuid"])
def test_the_id_of_a_row_is_that_of_its_turn_so_that_what_came_twice_is_known(key: str, tmp_path: Path) -> None:
    records = [row(1, "user", "How?", **{key: "m1"}), row(2, "assistant", "So.", **{key: "m2"})]
    turns, report = read(spelled(tmp_path / "log.jsonl", records + records[1:]))
    assert [turn["turn_id"] for turn in turns] == ["m1", "m2", "m2"]
    assert report.assumed[f"{key} is turn_id"] == 3
    assert report.assumed["turns that came again under their id, of which a replay takes the first"] == 1
    assert report.warnings == []


@pytest.mark.parametrize("ids", [("x", "x"), ("a", "a"), ("", "")], ids=["one for both", "the conversation's", "empty"])
def test_what_is_no_message_s_id_names_no_turn(ids: tuple[str, str], tmp_path: Path) -> None:
    records = [row(1, "user", "How?", id=ids[0]), row(2, "assistant", "So.", id=ids[1])]
    turns, _ = read(spelled(tmp_path / "log.jsonl", records))
    assert [turn["turn_id"] for turn in turns] == ["log:1", "log:2"]


def test_ids_that_each_file_counts_anew_name_no_turn(tmp_path: Path) -> None:
    first = spelled(tmp_path / "one.jsonl", [row(1, "user", "How?", id=1)])
    second = spelled(tmp_path / "two.jsonl", [row(2, "user", "Why?", id=1)])
    turns, _ = read(first, second)
    assert [turn["turn_id"] for turn in turns] == ["one:1", "two:1"]


@pytest.mark.parametrize("name", ["log.csv", "log.jsonl"])
def test_rows_without_an_id_that_came_twice_are_told(name: str, tmp_path: Path) -> None:
    records = [row(1, "user", "How?"), row(2, "assistant", "So."), row(3, "user", "How?")]
    _, report = read(spelled(tmp_path / name, records))
    assert not any(TWICE in warning for warning in report.warnings)
    turns, report = read(spelled(tmp_path / name, records + records[:2]))
    (warning,) = report.warnings
    assert warning.startswith("2 rows without an id")
    assert TWICE in warning
    assert len(turns) == 5


@pytest.mark.parametrize("ids", [("1", "2", "3", "4"), ("", "", "", "")], ids=["turns of our own", "rows"])
def test_blocks_that_a_database_keeps_as_text_are_read_as_blocks(ids: tuple[str, ...], tmp_path: Path) -> None:
    contents = [
        ("user", [{"type": "text", "text": "How?"}]),
        ("assistant", [{"type": "tool_use", "id": "tu", "name": "kb", "input": {}}]),
        ("user", [{"type": "tool_result", "tool_use_id": "tu", "content": "found"}]),
        ("assistant", {"type": "text", "text": "So."}),
    ]
    key = "text" if ids[0] else "content"
    records = [
        {"conversation_id": "a", "role": role, key: orjson.dumps(blocks).decode(), "timestamp": f"{DAY}{n}Z"}
        | ({"turn_id": ids[n]} if ids[n] else {})
        for n, (role, blocks) in enumerate(contents)
    ]
    turns, _ = read(spelled(tmp_path / "log.jsonl", records))
    assert [(turn["role"], turn["text"]) for turn in turns] == [("user", "How?"), ("assistant", "So.")]


@pytest.mark.parametrize("name", ["log.csv", "log.jsonl"])
def test_a_row_that_calls_a_tool_and_says_nothing_is_left_out(name: str, tmp_path: Path) -> None:
    called = '[{"id":"tu"}]' if name == "log.jsonl" else '"[{""id"":""tu""}]"'
    records = [row(1, "user", "How?", tool_calls=""), row(2, "assistant", "", tool_calls=called)]
    turns, report = read(spelled(tmp_path / name, [*records, row(3, "assistant", "So.", tool_calls="")]))
    assert [turn["text"] for turn in turns] == ["How?", "So."]
    assert not report.refused


@pytest.mark.parametrize("name", ["log.csv", "log.jsonl", "log.json"])
@pytest.mark.parametrize(
    ("holder", "key"), [("metadata", "conversation_id"), ("extra", "session_id"), ("meta", "chatId")]
)
def test_the_conversation_that_an_object_of_a_row_names_is_its_own(
    name: str, holder: str, key: str, tmp_path: Path
) -> None:
    records = [
        row(number, "user" if number < 3 else "assistant", f"Text {number}", id=number) for number in range(1, 5)
    ]
    for number, record in enumerate(records):
        del record["conversation_id"]
        record[holder] = {key: "ab"[number % 2]}
        if name == "log.csv":
            record[holder] = f'"{{""{key}"": ""{"ab"[number % 2]}""}}"'
    turns, report = read(spelled(tmp_path / name, records))
    assert [(turn["conversation_id"], turn["text"]) for turn in turns] == [
        ("a", "Text 1"),
        ("b", "Text 2"),
        ("a", "Text 3"),
        ("b", "Text 4"),
    ]
    assert report.warnings == []


@pytest.mark.parametrize(
    ("said", "ids", "texts"),
    [
        ("a1 u1 u2 a2", "7193", "u1 a1 u2 a2"),  # SELECT * by a key that says nothing
        ("a1 u1 a2 u2", "7913", "u1 a1 u2 a2"),
        ("u1 a1 u2 a2", "7193", "u1 a1 u2 a2"),
        ("a1 u1 a2", "719", "a1 u1 a2"),  # a greeting
        ("a1 u1 a2 u2 a3", "71936", "a1 u1 a2 u2 a3"),
        ("u1 u1 a1 a2", "7193", "u1 u1 a1 a2"),
        ("u1 u2 a1 a2", "1324", "u1 a1 u2 a2"),  # numbers, that rise with the times
        ("a1 u1 u2 a2", "1234", "a1 u1 u2 a2"),
    ],
)
@pytest.mark.parametrize("name", ["log.csv", "log.jsonl"])
def test_rows_of_one_time_stand_by_ids_that_rise_or_by_their_roles(
    said: str, ids: str, texts: str, name: str, tmp_path: Path
) -> None:
    is_tied = ids in ("1324", "1234")
    records = [
        row(1 if is_tied else 1 + 2 * (n // 2), "user" if text[0] == "u" else "assistant", f"{text} {ids[n]}")
        | {"id": ids[n] if is_tied else f"x{ids[n]}"}
        for n, text in enumerate(said.split())
    ]
    turns, report = read(spelled(tmp_path / name, records))
    assert " ".join(turn["text"].split()[0] for turn in turns) == texts
    assert report.warnings == []


def test_rows_of_one_time_stay_where_others_of_the_log_stand_as_they_were_said(tmp_path: Path) -> None:
    roles = ("user", "assistant") * 6
    known = [row(1 + n // 2, role, f"Text {n}", id=f"{9 - n % 7}x") for n, role in enumerate(roles)]
    greeted = [row(n, role, role, conversation_id="b") for n, role in ((1, "assistant"), (1, "user"), (2, "user"))]
    turns, _ = read(spelled(tmp_path / "log.jsonl", [*known, *greeted]))
    assert [turn["role"] for turn in turns if turn["conversation_id"] == "b"] == ["assistant", "user", "user"]


def test_many_conversations_whose_rows_of_one_time_stay_in_no_order_are_told(tmp_path: Path) -> None:
    roles = ("user", "assistant", "assistant", "user")
    chats = [
        row(1, role, f"Text {n} {chat}", conversation_id=chat, id=f"{n}{chat}")
        for chat in "abc"
        for n, role in enumerate(roles)
    ]
    _, report = read(spelled(tmp_path / "log.jsonl", chats))
    (warning,) = report.warnings
    assert warning.startswith("3 conversations in which rows of one time stand so that answers may come before")
