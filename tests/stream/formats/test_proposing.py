"""A proposed mapping can be read, and reads what it was proposed for, whatever the columns are called."""

from collections import Counter
from typing import Any

import orjson
import pytest

from tests.conformance.growth import is_linear, steps
from turnsignal.stream.formats.mapping import parse_format_mapping
from turnsignal.stream.formats.messages import spoken_in
from turnsignal.stream.formats.proposing import ProposedMapping, propose_mapping
from turnsignal.stream.formats.protocol import Call


def rows(names: str, *values: tuple[str, ...]) -> list[dict[str, Any]]:
    return [dict(zip(names.split(), value, strict=True)) for value in values]


LOGS = {
    "english": rows(
        "chat who when message docs",
        ("1", "Visitor", "2025-06-15 12:00", "How?", "a"),
        ("1", "Support", "2025-06-15 12:01", "So.", "d1|d2"),
        ("1", "Visitor", "2025-06-15 12:02", "Thanks", "a"),
    ),
    "german": rows(
        "Vorgang Absender Zeitstempel Nachricht Quellen",
        ("1", "Kunde", "15.06.2025 12:00:00", "Wie?", "a"),
        ("1", "Berater", "15.06.2025 12:01:00", "So.", "d1|d2"),
        ("1", "Kunde", "15.06.2025 12:02:00", "Danke", "a"),
    ),
    "spanish": rows(
        "sesión autor fecha texto fuentes",
        ("1", "cliente", "15/06/2025 12:00", "¿Cómo?", "a"),
        ("1", "asistente", "15/06/2025 12:01", "Así.", "d1|d2"),
        ("1", "cliente", "15/06/2025 12:02", "Gracias", "a"),
    ),
}


@pytest.mark.parametrize("name", LOGS)
def test_a_proposal_reads_roles_times_texts_and_documents(name: str) -> None:
    done = propose_mapping(LOGS[name], "log.csv")
    assert (done.read, done.of, done.is_poor) == (3, 3, False)
    proposed = parse_format_mapping(done.text, "proposed")
    turns: list[Any] = [turn for row in LOGS[name] for turn in proposed.read(row, Counter())]
    assert [(turn["conversation_id"], turn["role"], turn["timestamp"][:16]) for turn in turns] == [
        ("1", "user", "2025-06-15T12:00"),
        ("1", "assistant", "2025-06-15T12:01"),
        ("1", "user", "2025-06-15T12:02"),
    ]
    assert turns[1]["retrieved"] == [{"doc_id": "d1"}, {"doc_id": "d2"}]


def test_a_question_and_an_answer_in_german_are_an_exchange() -> None:
    log = rows("Sitzung Frage Antwort Datum", ("1", "Wie?", "So.", "31.12.2024"), ("1", "Was?", "Das.", "1.1.2025"))
    proposed = parse_format_mapping(propose_mapping(log, "log.csv").text, "proposed")
    assert [call.start for row in log for call in proposed.read(row, Counter()) if not isinstance(call, dict)] == [
        1_735_603_200.0,
        1_735_689_600.0,
    ]


def test_days_and_months_that_cannot_be_told_apart_are_named() -> None:
    log = rows("session question answer date", ("1", "a", "b", "03/04/2025"), ("2", "a", "b", "05/04/2025"))
    text, _, _, (doubt,), _ = propose_mapping(log, "log.csv")
    assert "days and months cannot be told apart in '03/04/2025'" in doubt
    assert 'it could also be "%m/%d/%Y".\ndate_format = "%d/%m/%Y"' in text


def test_a_word_for_who_speaks_that_is_not_known_is_left_to_the_reader() -> None:
    log = rows("chat who message", ("1", "Frida", "a"), ("1", "Visitor", "b"), ("1", "Frida", "c"))
    text = propose_mapping(log, "log.csv").text
    assert '# Not known: "Frida". Say what each is: role = { path = "who", "Frida" = "user" }\nrole = "who"' in text


def test_the_one_who_never_begins_is_taken_for_the_assistant_and_so_is_a_models_name() -> None:
    log = rows("chat who message", ("1", "Visitor", "a"), ("1", "Frida", "b"), ("1", "Frida", "c"))
    text = propose_mapping(log, "log.csv").text
    assert '"Frida" never begins a conversation, and is taken for the assistant.' in text
    assert 'role = { path = "who", "Frida" = "assistant" }' in text
    log = rows("chat who message", ("1", "GPT-4", "a"), ("1", "User", "b"), ("1", "GPT-4", "c"))
    assert 'role = { path = "who", "GPT-4" = "assistant" }' in propose_mapping(log, "log.csv").text


STEPS = [
    {"who": "VISITOR", "when": "18/11/2026 09:00", "said": ["How do I do it?"], "hits": []},
    {"who": "AGENT", "when": "18/11/2026 09:01", "said": ["Like so [k1]."], "hits": [{"ref": "k1"}, {"ref": "k2"}]},
    {"who": "VISITOR", "when": "18/11/2026 09:02", "said": ["Thank you very much"], "hits": []},
]


def read(done: ProposedMapping, log: list[dict[str, Any]]) -> list[Any]:
    proposed = parse_format_mapping(done.text, "proposed")
    return [turn for record in log for turn in proposed.read(record, Counter())]


def test_turns_in_a_list_of_each_record_are_looked_for() -> None:
    log: list[dict[str, Any]] = [{"dlg": {"no": f"c{number}", "sw": "v1"}, "steps": STEPS} for number in range(3)]
    done = propose_mapping(log, "log.jsonl")
    assert (done.read, done.of) == (9, 9)
    turns = read(done, log)
    assert [turn["conversation_id"] for turn in turns[::3]] == ["c0", "c1", "c2"]
    assert [turn["role"] for turn in turns[:3]] == ["user", "assistant", "user"]
    assert turns[1]["retrieved"] == [{"doc_id": "k1"}, {"doc_id": "k2"}]


def test_conversations_that_stand_under_their_ids_are_read() -> None:
    log: list[dict[str, Any]] = [{"by": "kit 4", "dialogs": {f"c{number}": {"flow": STEPS} for number in range(3)}}]
    done = propose_mapping(log, "log.json")
    assert 'list = "dialogs.*.flow"' in done.text
    assert 'conversation_id = "*"' in done.text
    assert [turn["conversation_id"] for turn in read(done, log)[::3]] == ["c0", "c1", "c2"]


def test_an_id_that_repeats_or_is_empty_is_no_id_of_a_turn() -> None:
    log = rows(
        "session question answer date parent_id event_id",
        *(("1", f"What is {n}?", "That.", f"2025-06-1{n}", "" if n else "7", f"e{n}") for n in range(4)),
    )
    assert 'turn_id = "event_id"' in propose_mapping(log, "log.csv").text
    for record in log:
        record["event_id"] = "e0"
    assert "turn_id =" not in propose_mapping(log, "log.csv").text


def test_a_mapping_that_reads_little_is_poor_and_says_how_little() -> None:
    log = [
        {"q": {"prompt": "How?"}, "reply": "" if n else "So.", "session": "1", "at": f"2025-06-1{n}"} for n in range(5)
    ]
    done = propose_mapping(log, "log.jsonl")
    assert (done.read, done.of, done.is_poor) == (1, 5, True)


SAID = (("How do I do it?", "user"), ("Like so, in the settings.", "bot"), ("And then what is it?", "user"))


def said(number: int, **names: str) -> list[dict[str, Any]]:
    """Three messages of a conversation under the names that a log gives their fields."""
    return [
        {
            names.get("id", "id"): f"m{number}{place}",
            names.get("role", "sender"): role,
            names.get("text", "text"): f"{text} ({number})",
            names.get("time", "created_at"): f"2026-11-01T09:0{number}:0{place}Z",
        }
        for place, (text, role) in enumerate(SAID)
    ]


def conversations_of(done: ProposedMapping, log: list[dict[str, Any]]) -> list[tuple[str, list[str]]]:
    """The roles of each conversation, in order."""
    roles: dict[str, list[str]] = {}
    for turn in read(done, log):
        roles.setdefault(turn["conversation_id"], []).append(turn["role"])
    return list(roles.items())


THREE = [(f"c{number}", ["user", "assistant", "user"]) for number in range(3)]


@pytest.mark.parametrize("key", ["id", "uuid", "_id"])
def test_the_id_of_what_holds_a_list_is_the_conversation_where_its_items_have_one_too(key: str) -> None:
    log = [{key: f"c{number}", "status": "closed", "messages": said(number, id=key)} for number in range(3)]
    done = propose_mapping(log, "log.jsonl")
    assert f'conversation_id = "../{key}"' in done.text
    assert conversations_of(done, log) == THREE
    assert done.doubts == []


def test_lists_within_the_items_of_a_list_are_looked_for() -> None:
    log: list[dict[str, Any]] = [{"tickets": [{"id": f"c{number}", "messages": said(number)} for number in range(3)]}]
    done = propose_mapping(log, "log.json")
    assert 'list = "tickets.*.messages"' in done.text
    assert conversations_of(done, log) == THREE


def test_a_type_a_constant_and_a_time_are_no_ids() -> None:
    log = [
        {
            "id": f"c{number}",
            "created_at": f"2026-11-01T09:0{number}:00Z",
            "conversation_parts": {"type": "list", "parts": said(number)},
        }
        for number in range(3)
    ]
    assert conversations_of(propose_mapping(log, "log.jsonl"), log) == THREE


def test_what_opens_a_conversation_beside_its_list_is_read_with_it() -> None:
    log = [
        {"id": f"c{number}", "created_at": f"2026-11-01T09:0{number}:00Z", "source": opening, "parts": parts}
        for number in range(3)
        for opening, *parts in [said(number)]
    ]
    for record in log:
        del record["source"]["created_at"]
    done = propose_mapping(log, "log.jsonl")
    assert 'list = ["source","parts"]' in done.text
    assert conversations_of(done, log) == THREE


def test_a_copy_of_the_messages_under_their_ids_is_nothing_beside_the_list() -> None:
    log = [
        {"id": f"c{n}", "kept": {"by_id": {f"m{k}": message for k, message in enumerate(said(n))}}, "messages": said(n)}
        for n in range(3)
    ]
    done = propose_mapping(log, "log.jsonl")
    assert conversations_of(done, log) == THREE
    assert done.read == 9


def test_an_answer_that_stands_behind_its_list_is_read_behind_it() -> None:
    log = [
        {"session": f"c{number}", "at": f"2026-11-01T09:0{number}:00Z", "messages": messages, "output": output}
        for number in range(3)
        for *messages, output in [said(number)]
    ]
    assert 'list = ["messages","output"]' in propose_mapping(log, "log.jsonl").text


def test_a_text_beside_the_list_that_is_like_no_item_is_told() -> None:
    log = [{"id": f"c{number}", "body": f"I lost key {number}", "messages": said(number)} for number in range(3)]
    assert propose_mapping(log, "log.jsonl").doubts == [
        "body stands beside the list and is not read; is it a turn, too?"
    ]


def tree(number: int, *more: dict[str, Any]) -> dict[str, Any]:
    nodes: list[dict[str, Any]] = [{"id": "n-1", "message": None, "parent": None}]
    nodes += [
        {"id": f"n{place}", "parent": f"n{place - 1}", "message": {**message, "author": {"role": message["sender"]}}}
        for place, message in enumerate(said(number))
    ]
    return {"conversation_id": f"c{number}", "mapping": {node["id"]: node for node in (*nodes, *more)}}


def test_a_tree_of_messages_is_read_and_one_with_branches_is_doubted() -> None:
    log = [tree(number) for number in range(3)]
    done = propose_mapping(log, "conversations.json")
    assert conversations_of(done, log) == THREE
    assert done.doubts == []
    again = {"id": "n9", "parent": "n0", "message": {**said(1)[1], "id": "m9", "author": {"role": "bot"}}}
    (doubt,) = propose_mapping([tree(0), tree(1, again), tree(2)], "conversations.json").doubts
    assert doubt.startswith("1 items of a tree have several children: all branches are read")


@pytest.mark.parametrize("name", ["chatId", "chat id", "chat_id", "conversationID", "thread.id"])
def test_an_id_is_recognised_however_its_name_is_written(name: str) -> None:
    log = [{name: f"c{number}", **message} for number in range(3) for message in said(number)]
    done = propose_mapping(log, "log.jsonl")
    assert conversations_of(done, log) == THREE
    assert done.doubts == []


def test_conversations_of_one_turn_each_are_doubted_and_so_is_one_of_all_turns() -> None:
    log = [{"session": message["id"], **message} for number in range(3) for message in said(number)]
    done = propose_mapping(log, "log.jsonl")
    assert done.doubts == ["each of 9 conversations has one turn by session: is that the id of a turn?"]
    assert f"# Doubtful: {done.doubts[0]}" in done.text
    log = [{"session": "s", **message} for number in range(3) for message in said(number)]
    assert propose_mapping(log, "log.jsonl").doubts == ["all 9 turns are one conversation by session: is that its id?"]


def test_turns_that_nobody_answers_are_doubted() -> None:
    log = [{"session": f"c{number}", **message} for number in range(3) for message in said(number)]
    (doubt,) = propose_mapping([record for record in log if record["sender"] == "user"], "log.jsonl").doubts
    assert doubt.startswith("nobody is the assistant in 6 turns")


def test_lists_that_repeat_the_history_with_each_call_are_doubted() -> None:
    log = [{"request_id": f"r{place}", "messages": said(1)[:place]} for place in (1, 2, 3)]
    assert any(
        "each call of a model repeats what was said before" in doubt for doubt in propose_mapping(log, "l").doubts
    )


def test_am_and_pm_speak_for_months_before_days() -> None:
    log = rows("session question answer date", *((str(n), "a", "b", f"0{n}/04/2025 09:00 AM") for n in (1, 2)))
    assert 'date_format = "%m/%d/%Y %I:%M %p"' in propose_mapping(log, "log.csv").text


def test_an_opening_of_one_word_beside_the_list_is_read_with_it() -> None:
    log = [
        {
            "id": f"c{number}",
            "created_at": f"2026-11-01T09:0{number}:00Z",
            "source": {"id": f"s{number}", "body": "Hello", "author": {"type": "user"}},
            "parts": [
                {"id": f"p{number}", "body": "What is it?", "author": {"type": "bot"}, "created_at": 1_793_523_660}
            ],
        }
        for number in range(3)
    ]
    done = propose_mapping(log, "log.json")
    assert 'list = ["source","parts"]' in done.text
    assert [turn["text"] for turn in read(done, log)] == ["Hello", "What is it?"] * 3


QUESTIONS = ["Where is the key?", "And the spare one?"]
ANSWERS = ["In the drawer.", "With the neighbours."]


def asked(number: int, text: str = "content") -> list[dict[str, Any]]:
    """The messages of a request that repeats what was said before."""
    messages = [{"role": "user", text: QUESTIONS[0]}, {"role": "assistant", text: ANSWERS[0]}]
    return [*messages, {"role": "user", text: QUESTIONS[1]}] if number else messages[:1]


CALLS: dict[str, tuple[str, list[dict[str, Any]]]] = {
    "a message in an object": (
        "response.message",
        [
            {"request": {"messages": asked(n)}, "response": {"message": {"role": "assistant", "content": ANSWERS[n]}}}
            for n in range(2)
        ],
    ),
    "candidates of parts": (
        "back.candidates",
        [
            {
                "sent": {"contents": [{**m, "parts": [{"text": m["parts"]}]} for m in asked(n, "parts")]},
                "back": {"candidates": [{"content": {"role": "model", "parts": [{"text": ANSWERS[n]}]}}]},
            }
            for n in range(2)
        ],
    ),
    "JSON in cells": (
        "responseBody.choices",
        [
            {
                "requestBody": orjson.dumps({"messages": asked(n)}).decode(),
                "responseBody": orjson.dumps(
                    {"choices": [{"message": {"role": "assistant", "content": ANSWERS[n]}}]}
                ).decode(),
            }
            for n in range(2)
        ],
    ),
    "a text": (
        "output_text",
        [{"input_messages": asked(n), "output_text": ANSWERS[n], "model": "m1"} for n in range(2)],
    ),
}


@pytest.mark.parametrize("name", CALLS)
def test_the_calls_of_a_model_are_read_with_what_was_said_before_and_what_came_back(name: str) -> None:
    answer, log = CALLS[name]
    done = propose_mapping(log, "log.jsonl")
    assert f'answer = "{answer}"' in done.text
    assert (done.read, done.of, done.doubts) == (2, 2, [])
    calls = read(done, log)
    assert [[message.text for message in spoken_in(call.inputs)] for call in calls] == [
        QUESTIONS[:1],
        [QUESTIONS[0], ANSWERS[0], QUESTIONS[1]],
    ]
    assert [[message.text for message in call.outputs] for call in calls] == [[text] for text in ANSWERS]


def test_calls_within_a_list_are_calls_too() -> None:
    answer, calls = CALLS["a message in an object"]
    done = propose_mapping([{"took": 3, "hits": {"hits": [{"_source": call} for call in calls]}}], "log.json")
    assert 'list = "hits.hits"' in done.text
    assert f'answer = "_source.{answer}"' in done.text
    assert 'question = "_source.request.messages"' in done.text


def test_lists_under_keys_are_conversations_and_keep_their_order_without_times() -> None:
    log: list[dict[str, Any]] = [
        {"store": {f"c{n}": [{"role": role, "said": text} for text, role in SAID] for n in range(2)}}
    ]
    done = propose_mapping(log, "store.json")
    assert 'list = "store.*"' in done.text
    assert [(call.conversation, [m.role for m in call.inputs]) for call in read(done, log)] == [
        (f"c{n}", ["user", "assistant", "user"]) for n in range(2)
    ]


def test_a_table_under_its_row_numbers_is_read_by_rows() -> None:
    log: list[dict[str, Any]] = [
        {str(3 * n + k): {**message, "session": f"s{n}"} for n in range(3) for k, message in enumerate(said(n))}
    ]
    done = propose_mapping(log, "table.json")
    assert 'list = "*"' in done.text
    assert conversations_of(done, log) == [(f"s{number}", roles) for number, (_, roles) in enumerate(THREE)]


def test_values_under_their_types_are_read_and_what_repeats_is_taken_for_the_conversation_with_a_doubt() -> None:
    log = [
        {"Item": {"pk": {"S": f"c{n}"}, "sk": {"N": f"17935236{n}{k}"}, "role": {"S": role}, "content": {"S": text}}}
        for n in range(3)
        for k, (text, role) in enumerate(SAID)
    ]
    done = propose_mapping(log, "log.jsonl")
    assert conversations_of(done, log) == THREE
    assert done.doubts == ["Item.pk.S was taken for the conversation's id because it repeats: is it?"]


def test_turns_in_which_nothing_tells_conversations_apart_are_one_which_is_doubted() -> None:
    log = [{"who": role, "message": text, "at": f"2026-11-01T09:0{k}:00Z"} for k, (text, role) in enumerate(SAID)]
    done = propose_mapping(log, "log.jsonl")
    assert len(conversations_of(done, log)) == 1
    assert done.doubts == ["no conversation's id was recognised: all turns are taken for one conversation"]


def test_times_as_javascript_writes_them_in_america_are_read() -> None:
    log = rows("session question answer date", *((str(n), "a", "b", f"1/{n}/2026, 9:00:00 PM") for n in (13, 14)))
    done = propose_mapping(log, "log.csv")
    assert 'date_format = "%m/%d/%Y, %I:%M:%S %p"' in done.text
    assert not any("days and months" in doubt for doubt in done.doubts)


def test_what_was_not_recognised_is_told_where_nothing_can_be_read() -> None:
    done = propose_mapping([{"a": 1, "b": 2}], "log.json")
    (doubt,) = done.doubts
    assert doubt.startswith("not recognised: conversation_id, question, answer, timestamp; name their paths")


def keyed(size: int) -> dict[str, Any]:
    return {"chats": {f"c{n}": {"by": "kit", "events": [{"who": "user", "msg": "How?"}]} for n in range(size)}}


@pytest.mark.parametrize("make", [keyed, lambda size: {f"key {n}": "a value" for n in range(size)}])
def test_a_proposal_costs_in_proportion_to_the_keys_of_an_object(make: Any) -> None:
    assert is_linear(lambda size: steps(lambda: propose_mapping([make(size)], "log.json")), (50, 100, 200))
    assert steps(lambda: propose_mapping([make(20_000)], "log.json")) < 5_000_000


def test_messages_in_columns_named_after_who_speaks_are_an_exchange() -> None:
    log = rows(
        "@timestamp|session.id|user.message|bot.message|bot.model".replace("|", " "),
        ("Oct 1, 2026 @ 13:35:00.000", "c1", "And how do I pay?", "In the app, by card.", "m1"),
        ("Oct 1, 2026 @ 13:37:20.000", "c1", "What of the old bill?", "It is under Bills.", "m1"),
        ("Oct 1, 2026 @ 13:38:20.000", "c2", "Does it work abroad?", "Yes, in all countries.", "m1"),
    )
    done = propose_mapping(log, "log.csv")
    assert (done.read, done.doubts) == (3, [])
    assert 'question = "user.message"' in done.text
    assert 'answer = "bot.message"' in done.text


def test_what_is_the_same_in_each_exchange_says_not_who_speaks() -> None:
    said = (
        ("Why was I charged twice?", "One of them falls off."),
        ("And when is that?", "In five days."),
        ("Ok?", "Yes."),
    )
    log: list[dict[str, Any]] = [
        {
            "timestamp [UTC]": f"10/1/2026, 8:0{number}:00.000 AM",
            "customDimensions": orjson.dumps({"conversationId": "c1", "question": asked, "answer": given}).decode(),
            "cloud_RoleName": "api",
        }
        for number, (asked, given) in enumerate(said)
    ]
    done = propose_mapping(log, "log.csv")
    assert done.read == 3
    assert 'question = "customDimensions.question"' in done.text
    assert 'date_format = "%m/%d/%Y, %I:%M:%S.%f %p"' in done.text


def test_what_is_alike_in_every_record_is_no_answer() -> None:
    records = [
        {
            "input": {"prompt": f"Where is parcel {number}?"},
            "output": {
                "outputContentType": "application/json",
                "body": {"generation": f"In shop {number}, by the till."},
            },
        }
        for number in range(6)
    ]
    mapping = propose_mapping(records, "log.jsonl").text
    assert 'answer = "output.body.generation"' in mapping


def test_events_of_a_list_whose_text_is_null_say_nothing() -> None:
    log = [
        {"id": f"c{number}", "parts": [*said(number), {**said(number)[1], "id": f"e{number}", "text": None}]}
        for number in range(3)
    ]
    done = propose_mapping(log, "log.jsonl")
    assert (done.read, done.of) == (9, 9)
    assert conversations_of(done, log) == THREE


def test_exchanges_of_which_some_were_not_answered_are_read_by_a_right_mapping() -> None:
    log = [
        {
            "chat": f"c{n // 2}",
            "at": 1_794_218_400 + n,
            "question": f"How do I do {n}?",
            "answer": f"Like {n}." * (n % 3),
        }
        for n in range(12)
    ]
    done = propose_mapping(log, "log.jsonl")
    assert (done.read, done.of, done.is_poor) == (12, 12, False)
    assert propose_mapping([{**each, "answer": ""} for each in log], "log.jsonl").is_poor


def test_a_column_of_clock_times_beside_one_of_days_is_told() -> None:
    log = [
        {"chat": f"c{n // 2}", "date": "2026-11-20", "time": f"10:{n:02}:00", "role": role, "text": f"What is {n}?"}
        for n, role in enumerate(("user", "bot") * 6)
    ]
    (doubt,) = [doubt for doubt in propose_mapping(log, "log.csv").doubts if "time of day" in doubt]
    assert doubt.startswith("time holds the time of day, which is not read beside date")
    together = [{**each, "date": f"{each['date']}T{each['time']}Z"} for each in log]
    assert not any("time of day" in doubt for doubt in propose_mapping(together, "log.csv").doubts)


def asked(**columns: Any) -> list[dict[str, Any]]:
    """Return 40 exchanges of 20 conversations, each with the next value of every column."""
    return [
        {
            "session_id": f"s{number // 2}",
            "timestamp": f"2025-06-15T12:{number:02}:00Z",
            "question": f"How does number {number} work?",
            "answer": f"It works by {number} steps.",
            **{name: values[number % len(values)] for name, values in columns.items()},
        }
        for number in range(40)
    ]


@pytest.mark.parametrize("name", ["user_feedback", "userFeedback", "user_rating", "user_comment", "user_country"])
def test_what_users_say_or_where_they_are_names_no_user(name: str) -> None:
    assert "user_id =" not in propose_mapping(asked(**{name: ["up", "down", "", ""]}), "log.csv").text


@pytest.mark.parametrize(
    "name",
    [*("user_id", "userId", "user", "customer_id", "acme_user_id", "endUserId", "user.id"), "visitor", "member_id"],
)
def test_whatever_a_user_is_called_is_the_user(name: str) -> None:
    assert f'user_id = "{name}"' in propose_mapping(asked(**{name: ["u1", "u2", "u3"]}), "log.csv").text


@pytest.mark.parametrize("name", ["version", "release", "build", "app_build"])
def test_whatever_a_release_is_called_is_the_version(name: str) -> None:
    assert f'version = "{name}"' in propose_mapping(asked(**{name: ["1.4.2", "1.4.3"]}), "log.csv").text


@pytest.mark.parametrize(
    "name", ["os_version", "api_version", "os_build", "build_date", "user_agent", "embedding_model", "release_date"]
)
def test_what_is_no_release_assistant_or_model_is_not_taken_for_one(name: str) -> None:
    text = propose_mapping(asked(**{name: ["a1", "b2", "c3"]}), "log.csv").text
    assert f'"{name}"' not in text


UP_AND_DOWN = {
    "feedback": (["up", "down", "up", "down"], [1, -1, 1, -1]),
    "user_vote": ([1, -1, 0, 0], [1, -1, None, None]),
    "thumbs_up": ([True, None, False, None, None], [1, None, -1, None, None]),
    "rating": (["positive", "", "negative", ""], [1, None, -1, None]),
    "answerFeedback": (["👍", None, "👎", None], [1, None, -1, None]),
}


@pytest.mark.parametrize("name", UP_AND_DOWN)
def test_a_column_of_votes_is_read_as_votes(name: str) -> None:
    given, votes = UP_AND_DOWN[name]
    log = asked(**{name: given})
    proposed = parse_format_mapping(propose_mapping(log, "log.csv").text, "proposed")
    read = [call for row in log for call in proposed.read(row, Counter()) if isinstance(call, Call)]
    assert [(call.outputs[0].fields or {}).get("vote") for call in read[: len(votes)]] == votes


@pytest.mark.parametrize(
    ("name", "given", "line"),
    [
        ("helpful", [0, 1], '# vote = "helpful"   # most answers have one'),
        ("stars", [5, 4, 1, 3], '# vote = { path = "stars", "5" = 1, "4" = 1, "2" = -1, "1" = -1 }   # stars'),
        ("rating", ["2.0", "5.0"], '# vote = { path = "rating", "5.0" = 1, "4.0" = 1, "2.0" = -1, "1.0" = -1 }'),
    ],
)
def test_what_may_be_votes_is_proposed_as_a_comment(name: str, given: list[Any], line: str) -> None:
    text = propose_mapping(asked(**{name: given}), "log.csv").text
    assert f"\n{line}" in text
    log = parse_format_mapping(text.replace("# vote =", "vote ="), "taken in")
    read = [call for row in asked(**{name: given}) for call in log.read(row, Counter()) if isinstance(call, Call)]
    assert {(call.outputs[0].fields or {}).get("vote") for call in read} >= {1, -1}


def test_a_vote_that_is_none_is_counted() -> None:
    log = parse_format_mapping('[exchanges]\nquestion = "question"\nanswer = "answer"\nvote = "stars"', "m.toml")
    assumed: Counter[str] = Counter()
    for row in asked(stars=[5, "up", "none", ""]):
        list(log.read(row, assumed))
    assert [(what, n) for what, n in assumed.items() if what.startswith("votes")] == [
        ('votes that are neither up nor down (of stars, say what each means: "5" = 1) left out', 10)
    ]


def test_turns_whose_dates_are_written_otherwise_keep_their_ids_and_labels() -> None:
    rows = [
        {
            "conversation_id": f"c{number // 2}",
            "turn_id": f"t{number % 2}",
            "role": ("user", "assistant")[number % 2],
            "text": f"What is said of number {number}.",
            "timestamp": f"{number + 1:02}.01.2026 10:00:00",
            **({"truth": {"doc_ids": ["d1"], "domain": "billing"}} if number % 2 == 0 else {}),
        }
        for number in range(20)
    ]
    proposed = propose_mapping(rows, "turns.jsonl")
    assert (proposed.read, proposed.of) == (20, 20)
    (turn,) = parse_format_mapping(proposed.text, "m.toml").read(rows[2], Counter())
    assert (turn["conversation_id"], turn["turn_id"], turn["truth"]["doc_ids"]) == ("c1", "t0", ["d1"])
    assert "# truth.domain" not in proposed.text.partition("# Not used:")[2]


def test_a_turn_is_known_by_its_number_behind_the_conversation_and_a_platform_by_what_channels_are_called() -> None:
    names = "vorgang zeile wer uhrzeit inhalt kanal stand"
    log = rows(
        names,
        ("a-1", "a-1:1", "kunde", "2025-01-01T10:00:00Z", "Wie geht das?", "app", "r1"),
        ("a-1", "a-1:2", "bot", "2025-01-01T10:00:05Z", "So geht das.", "app", "r1"),
        ("a-2", "a-2:1", "kunde", "2025-01-01T11:00:00Z", "Wo ist das?", "whatsapp", "r2"),
    )
    proposed = propose_mapping(log, "log.csv")
    assert ('turn_id = "zeile"' in proposed.text, 'platform = "kanal"' in proposed.text) == (True, True)
    assert {doubt.partition(" ")[0] for doubt in proposed.doubts} >= {"zeile", "kanal"}
    for key, other in (("zeile", "7"), ("kanal", "Rheinland")):
        changed = propose_mapping([*log[:2], {**log[2], key: other}], "log.csv").text
        assert f'= "{key}"' not in changed


def test_an_amount_that_begins_with_the_conversations_number_is_no_turns_id() -> None:
    names = "vorgang betrag wer uhrzeit inhalt"
    log = rows(
        names,
        ("12", "12.50", "kunde", "2025-01-01T10:00:00Z", "Wie geht das?"),
        ("12", "12.75", "bot", "2025-01-01T10:00:05Z", "So geht das."),
        ("13", "13.10", "kunde", "2025-01-01T11:00:00Z", "Wo ist das?"),
    )
    assert 'turn_id = "betrag"' not in propose_mapping(log, "log.csv").text
