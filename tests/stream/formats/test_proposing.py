"""A proposed mapping can be read, and reads what it was proposed for, whatever the columns are called."""

from collections import Counter
from typing import Any

import pytest

from turnsignal.stream.formats.mapping import parse_format_mapping
from turnsignal.stream.formats.proposing import ProposedMapping, propose_mapping


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
    text, _, _, (doubt,) = propose_mapping(log, "log.csv")
    assert "days and months cannot be told apart in '03/04/2025'" in doubt
    assert 'it could also be "%m/%d/%Y".\ndate_format = "%d/%m/%Y"' in text


def test_a_word_for_who_speaks_that_is_not_known_is_left_to_the_reader() -> None:
    log = rows("chat who message", ("1", "Visitor", "a"), ("1", "Frida", "b"), ("1", "Frida", "c"))
    text = propose_mapping(log, "log.csv").text
    assert '# Not known: "Frida". Say what each is: role = { path = "who", "Frida" = "user" }\nrole = "who"' in text


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
