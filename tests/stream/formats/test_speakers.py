"""Who speaks is found in codes, flags and columns of its own, not in words that everybody knows alone."""

from typing import Any

import pytest

from tests.stream.formats.test_proposing import read, rows
from turnsignal.stream.errors import Refused
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
    ],
)
def test_flags_codes_and_words_beside_message_say_who_speaks(path: str, user: Any, assistant: Any) -> None:
    log = log_of(path, user, assistant)
    turns = read(propose_mapping(log, "log.csv"), log)
    assert [turn["role"] for turn in turns] == ["user", "assistant"] * 6
    assert {turn["conversation_id"] for turn in turns} == {"c0", "c1", "c2"}


def filled_in(text: str, either: int) -> str:
    """A mapping whose role is the one that its comment offers."""
    lines = text.splitlines()
    offered = [line.removeprefix("# either: ") for line in lines if line.startswith("# either: ")]
    return "\n".join(offered[either] if line.startswith("role = ") else line for line in lines)


@pytest.mark.parametrize(("path", "user", "assistant"), [("role", 0, 1), ("direction", "I", "O"), ("by", "x7", "k2")])
def test_of_two_words_that_nobody_knows_none_is_taken_for_the_user(path: str, user: Any, assistant: Any) -> None:
    log = log_of(path, user, assistant)
    proposed = propose_mapping(log, "log.csv")
    assert proposed.is_open
    assert (proposed.read, proposed.of) == (12, 12)
    with pytest.raises(Refused, match="that is known"):
        read(proposed, log)
    (doubt,) = proposed.doubts
    assert f'"{user}" first says “How do I pair it? (0)”' in doubt
    assert f'"{assistant}" first says “Hold both buttons down. (0)”' in doubt
    for either, roles in enumerate([["user", "assistant"], ["assistant", "user"]]):
        turns = read(proposed._replace(text=filled_in(proposed.text, either)), log)
        assert [turn["role"] for turn in turns] == roles * 6
        assert {turn["conversation_id"] for turn in turns} == {"c0", "c1", "c2"}
    assert propose_mapping(log_of("is_bot", "f", "t"), "log.csv").doubts == []


def test_codes_of_which_either_begins_are_offered_to_the_reader() -> None:
    log = log_of("role", "x", "y") + [{**each, "chat": "d"} for each in log_of("role", "y", "x")[:4]]
    assert '# either: role = { path = "role", "x" = "user", "y" = "assistant" }' in propose_mapping(log, "a").text


def test_an_item_that_says_nothing_begins_no_conversation() -> None:
    log = [
        {
            "transcript": f"c{chat}",
            "activities": [
                {"type": "trace", "from": {"role": 0}, "at": 1_794_218_400},
                {"type": "message", "from": {"role": 1}, "text": f"How do I pair {chat}?", "at": 1_794_218_401},
                {"type": "message", "from": {"role": 0}, "text": f"Hold {chat} down.", "at": 1_794_218_402},
            ],
        }
        for chat in range(4)
    ]
    text = propose_mapping(log, "log.json").text
    assert '# either: role = { path = "from.role", "1" = "user", "0" = "assistant" }' in text
    assert text.index('"1" = "user"') < text.index('"0" = "user"')


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


def test_a_column_of_words_for_both_sides_goes_before_names_of_people() -> None:
    log = log_of("type", "contact", "agent_bot")
    for number, each in enumerate(log):
        each["sender"] = {"name": "Bot" if number % 2 else f"Ada {number % 4}", "type": each.pop("type")}
    done = propose_mapping(log, "log.jsonl")
    assert 'path = "sender.type"' in done.text
    assert [turn["role"] for turn in read(done, log)] == ["user", "assistant"] * 6


def test_who_says_most_among_many_names_is_the_assistant_and_all_others_are_users() -> None:
    log = [
        {"chat": f"c{chat}", "author": author, "msg": f"{text} ({chat})", "at": 1_794_218_400 + 60 * chat + number}
        for chat in range(8)
        for number, (text, author) in enumerate([("How do I pair it?", f"Ada {chat}"), ("Hold it down.", "Acme Help")])
    ]
    done = propose_mapping(log, "log.csv")
    assert '"Acme Help" says 8 of 16 turns' in done.doubts[0]
    log.append({"chat": "c9", "author": "Somebody else", "msg": "Is anybody there?", "at": 1_794_300_000})
    assert [turn["role"] for turn in read(done, log)] == ["user", "assistant"] * 8 + ["user"]


def test_names_of_which_none_says_most_stay_open() -> None:
    log = [
        {"chat": f"c{n}", "author": f"Ada {n % 7}", "msg": f"What is part {n}?", "at": 1_794_218_400 + n}
        for n in range(28)
    ]
    assert propose_mapping(log, "log.csv").read == 0


def test_directions_in_german_say_who_speaks() -> None:
    log = [
        {
            "Vorgang": f"V{n // 2}",
            "Richtung": "eingehend",
            "Nachricht": f"Wo ist Paket {n}?",
            "Zeitpunkt": 1_794_218_400 + n,
        }
        for n in range(8)
    ]
    for each in log[1::2]:
        each |= {"Richtung": "ausgehend", "Nachricht": "Es ist auf dem Weg."}
    assert [turn["role"] for turn in read(propose_mapping(log, "log.csv"), log)] == ["user", "assistant"] * 4


def test_of_two_names_in_a_column_of_senders_the_reader_says_which_is_the_users() -> None:
    log = log_of("sender", "Alice", "HelpDeskPro")
    done = propose_mapping(log, "log.csv")
    assert done.is_open
    assert '"Alice" = "user", "HelpDeskPro" = "assistant"' in done.text
    assert propose_mapping(log_of("kind", "text", "photo"), "log.csv").read == 0
