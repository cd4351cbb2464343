"""Who speaks is found in codes, flags and columns of its own, not in words that everybody knows alone."""

from typing import Any

import pytest

from tests.stream.formats.test_proposing import read, rows
from turnsignal.stream.formats.proposing import propose_mapping


def log_of(path: str, user: Any, assistant: Any) -> list[dict[str, Any]]:
    said = [("How do I pair it?", user), ("Hold both buttons down.", assistant), ("And to unpair it?", user)]
    said += [("Hold one of them.", assistant)]
    return [
        {"chat": f"c{chat}", path: who, "msg": f"{text} ({chat})", "at": 1_794_218_400 + 60 * chat + number}
        for chat in range(3)
        for number, (text, who) in enumerate(said)
    ]


@pytest.mark.parametrize(
    ("path", "user", "assistant"),
    [
        ("is_bot", "f", "t"),
        ("isBot", False, True),
        ("from_user", "1", "0"),
        ("sender", "userMessage", "apiMessage"),
        ("role", 0, 1),
        ("direction", "I", "O"),
    ],
)
def test_flags_codes_and_words_beside_message_say_who_speaks(path: str, user: Any, assistant: Any) -> None:
    log = log_of(path, user, assistant)
    turns = read(propose_mapping(log, "log.csv"), log)
    assert [turn["role"] for turn in turns] == ["user", "assistant"] * 6
    assert {turn["conversation_id"] for turn in turns} == {"c0", "c1", "c2"}


def test_a_code_that_begins_every_conversation_is_taken_for_the_user_and_doubted() -> None:
    assert propose_mapping(log_of("role", 0, 1), "log.csv").doubts == [
        "'0' in role was taken for the user because it begins every conversation: is it?"
    ]
    assert propose_mapping(log_of("is_bot", "f", "t"), "log.csv").doubts == []


def test_codes_of_which_either_begins_are_offered_to_the_reader() -> None:
    log = log_of("role", "x", "y") + [{**each, "chat": "d"} for each in log_of("role", "y", "x")[:4]]
    text = propose_mapping(log, "log.csv").text
    assert '# Not known: "x", "y". Say what each is: role = { path = "role", "x" = "user" }' in text


def test_columns_named_after_who_speaks_are_an_exchange_and_the_system_prompt_is_none() -> None:
    names = "session when system_prompt user assistant"
    told = "You are the helper of a shop for lamps."
    log = rows(
        names,
        ("1", "2026-11-09T10:00:00Z", told, "Which bulb fits it?", "Any with a small thread."),
        ("2", "2026-11-09T10:01:00Z", told, "Is it made of glass?", "Yes, all of it is glass."),
        ("1", "2026-11-09T10:02:00Z", told, "How bright is that?", "About as bright as a candle."),
    )
    calls = read(propose_mapping(log, "log.csv"), log)
    assert [call.inputs[-1].text for call in calls] == [row["user"] for row in log]
    assert [call.outputs[0].text for call in calls] == [row["assistant"] for row in log]


def test_a_prompt_that_is_the_same_everywhere_is_no_question_where_another_column_may_be_one() -> None:
    log = rows(
        "session prompt query answer",
        *(("1", "Be brief and kind to all.", f"Where is part {n}?", f"It is in box {n}.") for n in range(4)),
    )
    assert 'question = "query"' in propose_mapping(log, "log.csv").text


def test_names_of_customers_and_agents_are_nothing_that_they_say() -> None:
    log = rows("ticket customer agent", *((str(n), f"Ada Byron{n}", f"Max Born{n}") for n in range(4)))
    assert 'question = "customer"' not in propose_mapping(log, "log.csv").text
