"""Tables of messages: what tools do on the way, what holds a message as JSON, states of one message, unseen rows."""

from pathlib import Path
from typing import Any

import orjson
import pytest

from turnsignal.agents.files.file_reports import FileReport
from turnsignal.agents.files.importing import Imported
from turnsignal.agents.files.reading import Recording
from turnsignal.agents.files.recognising import HowToRead
from turnsignal.stream.formats.mapping import parse_format_mapping

DOCUMENT = {"id": "kb-1", "text": "Cards are taken."}
FOUND = orjson.dumps([DOCUMENT]).decode()
ASKED = ("user", "How do I pay?", [])
EXCHANGE = [ASKED, ("assistant", "By card.", ["kb-1"])]
WITHOUT = [ASKED, ("assistant", "By card.", [])]


def row(number: int, role: str, content: Any, **more: Any) -> dict[str, Any]:
    time = f"2026-11-01T08:00:{number:02}Z"
    return {"id": f"m{number}", "thread_id": "t1", "role": role, "content": content, "createdAt": time, **more}


def read(
    path: Path, *records: dict[str, Any], mapping: str = ""
) -> tuple[list[tuple[str, str, list[str]]], FileReport]:
    """Return the role, the text and the documents of each turn."""
    path.write_bytes(b"\n".join(map(orjson.dumps, records)))
    how = HowToRead(None, parse_format_mapping(mapping, "mapping")) if mapping else HowToRead()
    with Imported([path], how) as imported:
        turns = [orjson.loads(line) for line, _ in Recording(imported.sources).lines()]
        (report,) = imported.reports
    documents = [[document["doc_id"] for document in turn.get("retrieved", [])] for turn in turns]
    return [(turn["role"], turn["text"], ids) for turn, ids in zip(turns, documents, strict=True)], report


def kept(**message: Any) -> str:
    return orjson.dumps(message).decode()


TEXT = {"type": "text", "text": "By card."}
INVOKED = {"type": "tool-invocation", "toolInvocation": {"state": "result", "result": [DOCUMENT]}}
CALLED = {"type": "tool-search", "state": "output-available", "output": [DOCUMENT]}


@pytest.mark.parametrize(
    ("answer", "turns"),
    [
        (kept(text="By card."), WITHOUT),
        (kept(content="By card.", attachments=[]), WITHOUT),
        (kept(format=2, parts=[{"type": "step-start"}, INVOKED, TEXT], content="By card."), EXCHANGE),
        ([CALLED, TEXT], EXCHANGE),
    ],
)
def test_a_message_that_a_table_keeps_whole_is_its_text_and_what_its_tools_found(
    answer: Any, turns: list[Any], tmp_path: Path
) -> None:
    asked = row(1, "user", kept(format=2, parts=[{"type": "text", "text": "How do I pay?"}], content="How do I pay?"))
    assert read(tmp_path / "log.jsonl", asked, row(2, "assistant", answer))[0] == turns


def test_parts_of_vercels_messages_are_read(tmp_path: Path) -> None:
    rows = [row(1, "user", [{"type": "text", "text": "How do I pay?"}]), row(2, "assistant", [CALLED, TEXT])]
    rows = [{"parts" if key == "content" else key: value for key, value in each.items()} for each in rows]
    assert read(tmp_path / "log.jsonl", *rows)[0] == EXCHANGE


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ({"type": "source-url", "sourceId": "k1", "url": "https://a.org/pay", "title": "Pay"}, "https://a.org/pay"),
        ({"type": "source-document", "sourceId": "k2", "title": "Pay", "filename": "pay.pdf"}, "pay.pdf"),
        ({"type": "source", "source": {"sourceType": "url", "id": "k3", "url": "https://a.org"}}, "https://a.org"),
    ],
)
def test_sources_among_parts_of_vercels_messages_are_documents(
    source: dict[str, Any], name: str, tmp_path: Path
) -> None:
    asked, answered = row(1, "user", [{"type": "text", "text": "How do I pay?"}]), row(2, "assistant", [source, TEXT])
    turns, report = read(tmp_path / "log.jsonl", asked, answered)
    assert turns == [("user", "How do I pay?", []), ("assistant", "By card.", [name])]
    assert not report.assumed["blocks that are no text left out"]
    both, _ = read(tmp_path / "both.jsonl", asked, row(2, "assistant", [source, CALLED, TEXT]))
    assert both == EXCHANGE, "what a tool found is more than what is said to be its source"


@pytest.mark.parametrize("text", ['{"order": "x", "content": "y"}', '{"text": {"a": 1}}', '{"error": "none"}'])
def test_json_that_is_no_message_stays_what_the_user_typed(text: str, tmp_path: Path) -> None:
    turns, _ = read(tmp_path / "log.jsonl", row(1, "user", text), row(2, "assistant", "By card."))
    assert turns[0] == ("user", text, [])


def test_what_is_said_beside_a_call_of_a_tool_is_no_answer_and_its_documents_are_the_answers(tmp_path: Path) -> None:
    called = {"tool_calls": [{"id": "k", "type": "function", "function": {"name": "search", "arguments": "{}"}}]}
    rows = [
        row(1, "user", "How do I pay?", tool_calls=None),
        row(2, "assistant", "Let me check that.", **called),
        row(3, "tool", FOUND, tool_call_id="k"),
        row(4, "assistant", "By card.", tool_calls=None),
        row(5, "user", "Thanks!"),
        row(6, "assistant", "You are welcome."),
    ]
    turns, report = read(tmp_path / "log.jsonl", *rows)
    assert turns == [*EXCHANGE, ("user", "Thanks!", []), ("assistant", "You are welcome.", [])]
    assert report.assumed["results of tools left out"] == 1
    assert read(tmp_path / "newest.jsonl", *rows[::-1])[0] == turns


def test_an_answer_before_a_tool_that_is_called_afterwards_stays(tmp_path: Path) -> None:
    saved = [row(5, "assistant", None, tool_calls=[{"id": "k", "function": {"name": "save"}}])]
    rows = [row(1, "user", "How do I pay?"), row(2, "assistant", "By card."), *saved]
    assert read(tmp_path / "log.jsonl", *rows, row(6, "tool", "saved", tool_call_id="k"))[0] == WITHOUT


def session(number: int, role: str, message_id: str, *blocks: dict[str, Any]) -> dict[str, Any]:
    message = {"id": message_id, "role": role, "type": "message", "content": list(blocks)}
    return {"sessionId": "s1", "type": role, "timestamp": f"2026-11-01T08:00:{number:02}Z", "message": message}


def test_blocks_of_one_response_in_lines_of_their_own_are_a_remark_and_a_call(tmp_path: Path) -> None:
    turns, report = read(
        tmp_path / "log.jsonl",
        session(1, "user", "", {"type": "text", "text": "How do I pay?"}),
        session(2, "assistant", "msg_1", {"type": "text", "text": "I'll search."}),
        session(3, "assistant", "msg_1", {"type": "tool_use", "id": "k", "name": "search", "input": {}}),
        session(4, "user", "", {"type": "tool_result", "tool_use_id": "k", "content": FOUND}),
        session(5, "assistant", "msg_2", {"type": "text", "text": "By card."}),
    )
    assert turns == EXCHANGE
    assert report.warnings == []


def test_items_of_an_agents_session_are_read(tmp_path: Path) -> None:
    items = [
        {"role": "user", "content": "How do I pay?"},
        {"type": "reasoning", "id": "rs_1", "summary": []},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Let me look."}]},
        {"type": "function_call", "call_id": "k", "name": "search", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "k", "output": FOUND},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "By card."}]},
    ]
    rows = [
        {"id": number, "session_id": "s1", "message_data": kept(**item), "created_at": f"2026-11-01 08:00:{number:02}"}
        for number, item in enumerate(items, 1)
    ]
    turns, report = read(tmp_path / "log.jsonl", *rows)
    assert turns == EXCHANGE
    assert not report.refused


def test_rows_of_langchains_store_have_what_their_tools_found(tmp_path: Path) -> None:
    messages = [
        {"type": "human", "data": {"content": "How do I pay?"}},
        {"type": "ai", "data": {"content": "I look.", "tool_calls": [{"id": "k", "name": "search"}]}},
        {"type": "tool", "data": {"content": FOUND, "tool_call_id": "k"}},
        {"type": "ai", "data": {"content": "By card."}},
    ]
    rows = [{"id": number, "session_id": "s1", "message": message} for number, message in enumerate(messages)]
    assert read(tmp_path / "log.jsonl", *rows)[0] == EXCHANGE


def changed(row: dict[str, Any], op: str) -> dict[str, Any]:
    return {"before": None, "after": row, "op": op, "ts_ms": 1}


HALF, WHOLE = row(2, "assistant", "By"), row(2, "assistant", "By card.", status="done")
EDITED = row(2, "assistant", "Nobody knows.")


@pytest.mark.parametrize(
    "rows",
    [
        [row(1, "user", "How do I pay?"), row(2, "assistant", ""), HALF, WHOLE],
        [row(1, "user", "How do I pay?"), WHOLE, HALF],  # newest first
        [changed(row(1, "user", "How do I pay?"), "c"), changed(HALF, "c"), changed(WHOLE, "u")],
        [changed(row(1, "user", "How do I pay?"), "c"), changed(EDITED, "c"), changed(WHOLE, "u")],
    ],
)
def test_the_last_state_of_a_message_counts(rows: list[dict[str, Any]], tmp_path: Path) -> None:
    turns, report = read(tmp_path / "log.jsonl", *rows)
    assert turns == WITHOUT
    assert report.assumed["earlier states of messages that came again under their id left out"] == len(rows) - 2
    assert report.assumed["turns that came again under their id, of which a replay takes the first"] == 0


def test_one_id_for_different_texts_names_no_message(tmp_path: Path) -> None:
    turns, _ = read(tmp_path / "log.jsonl", row(1, "user", "How do I pay?"), EDITED, WHOLE)
    assert [text for _, text, _ in turns] == ["How do I pay?", "Nobody knows.", "By card."]


@pytest.mark.parametrize(
    ("mark", "seen", "column"),
    [
        ({"deleted_at": "2026-11-01T08:00:03Z"}, {"deleted_at": None}, "deleted_at"),
        ({"visible": False}, {"visible": True}, "visible"),
        ({"is_active": "f"}, {"is_active": "t"}, "is_active"),
        ({"is_deleted": 1}, {"is_deleted": 0}, "is_deleted"),
    ],
)
def test_rows_that_a_column_marks_as_unseen_are_left_out(
    mark: dict[str, Any], seen: dict[str, Any], column: str, tmp_path: Path
) -> None:
    rows = [row(1, "user", "How do I pay?", **seen), row(2, "assistant", "No.", **mark)]
    turns, report = read(tmp_path / "log.jsonl", *rows, row(4, "assistant", "By card.", **seen))
    assert turns == WITHOUT
    assert report.assumed[f"rows that {column} marks as deleted or hidden left out"] == 1


def test_two_words_for_one_speaker_are_doubted(tmp_path: Path) -> None:
    rows = [row(1, "customer", "How do I pay?"), row(2, "bot", "By card."), row(3, "human", "Anna here.")]
    _, report = read(tmp_path / "log.jsonl", rows[0], rows[1], {**rows[0], "id": "m9"}, rows[2])
    (warning,) = report.warnings
    assert warning.startswith("customer and human are both read as the user: where human is staff")
    _, report = read(tmp_path / "plain.jsonl", row(1, "user", "How?"), row(2, "assistant", "So."), row(3, "agent", "I"))
    assert [warning.partition(":")[0] for warning in report.warnings] == [
        "agent and assistant are both read as the assistant"
    ]
    assert not read(tmp_path / "two.jsonl", *rows[:2])[1].warnings


def test_conversations_that_count_anew_for_each_tenant_are_doubted_and_a_mapping_keeps_them_apart(
    tmp_path: Path,
) -> None:
    rows = [
        row(number, role, f"{tenant} {thread} {role}", tenant_id=tenant, thread_id=thread)
        for tenant in ("acme", "globex")
        for thread in (1, 2)
        for number, role in enumerate(("user", "assistant"))
    ]
    _, report = read(tmp_path / "log.jsonl", *rows)
    (warning,) = report.warnings
    assert warning.startswith("in 2 of 2 conversations tenant_id is not the same")
    mapping = """
        [turns]
        conversation_id = ["tenant_id", "thread_id"]
        role = "role"
        text = "content"
        timestamp = "createdAt"
    """
    turns, report = read(tmp_path / "log.jsonl", *rows, mapping=mapping)
    assert len(turns) == len(rows)
    assert report.warnings == []


def test_answers_that_are_json_are_doubted(tmp_path: Path) -> None:
    answer = kept(answer="By card.", sources=["kb-1"], confidence=0.8)
    turns, report = read(tmp_path / "log.jsonl", row(1, "user", "How do I pay?"), row(2, "assistant", answer))
    assert turns[1] == ("assistant", answer, [])
    assert [warning[:19] for warning in report.warnings] == ["1 answers are JSON,"]


def test_redacted_rows_are_left_out(tmp_path: Path) -> None:
    turns, report = read(
        tmp_path / "log.jsonl", row(1, "user", "How?"), row(2, "user", "[REDACTED]"), row(3, "bot", "So.")
    )
    assert [text for _, text, _ in turns] == ["How?", "So."]
    assert report.assumed["messages that were redacted left out"] == 1


def test_turns_of_our_own_say_what_stands_there(tmp_path: Path) -> None:
    texts = [kept(text="By card."), kept(content="By card.", attachments=[]), "[REDACTED]"]
    rows = [
        {
            "conversation_id": "c",
            "turn_id": f"t{n}",
            "role": "user",
            "text": text,
            "createdAt": f"2026-11-01T08:00:0{n}Z",
        }
        for n, text in enumerate(texts)
    ]
    without = {"conversation_id": "c", "role": "assistant", "text": "Yes.", "createdAt": "2026-11-01T08:00:09Z"}
    turns, _ = read(tmp_path / "log.jsonl", without, *rows)
    assert [text for _, text, _ in turns if text != "Yes."] == texts
