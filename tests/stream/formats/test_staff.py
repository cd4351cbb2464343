"""People who answer are the assistant, whatever they are called; notes among staff are no turns."""

from collections import Counter
from typing import Any

import pytest

from tests.stream.formats.test_proposing import read
from turnsignal.stream.errors import Refused
from turnsignal.stream.formats.mapping import parse_format_mapping, take_warnings
from turnsignal.stream.formats.proposing import propose_mapping

SIDES = ["user", "assistant", "user", "assistant", "user"]


def log_of(
    words: tuple[str, str, str], conversations: int = 3, **columns: tuple[Any, Any, Any]
) -> list[dict[str, Any]]:
    """Conversations of a customer with a bot, which a colleague takes over. columns: by these three."""
    order = [0, 1, 0, 2, 0]
    return [
        {
            "chat": f"c{chat}",
            "sender_type": words[who],
            "content": f"Text {number} of the chat {chat}",
            "at": 1_794_218_400 + 60 * chat + number,
            **{name: values[who] for name, values in columns.items()},
        }
        for chat in range(conversations)
        for number, who in enumerate(order)
    ]


@pytest.mark.parametrize(
    "words",
    [
        ("Contact", "AgentBot", "User"),
        ("customer", "bot", "user"),
        ("client", "ai", "employee"),
        ("user", "bot", "human_agent"),
        ("visitor", "chatbot", "LiveAgent"),
    ],
)
@pytest.mark.parametrize("conversations", [1, 4])
def test_who_takes_over_answers(words: tuple[str, str, str], conversations: int) -> None:
    log = log_of(words, conversations)
    for given in (log, log[::-1]):
        proposed = propose_mapping(given, "log.csv")
        assert [turn["role"] for turn in read(proposed, log)] == SIDES * conversations
        assert any(words[2] in doubt for doubt in proposed.doubts) == (words[2].lower() == "user")


def test_a_column_of_the_way_that_messages_went_says_who_answers() -> None:
    log = log_of(("Contact", "User", "User"), message_type=(0, 1, 1))
    log = [{**each, "chat": "begun by staff"} for each in log[1:]] + log
    proposed = propose_mapping(log, "log.csv")
    assert {turn["role"] for turn in read(proposed, log)} == {"user", "assistant"}
    assert any("message_type is 0" in doubt for doubt in proposed.doubts)


def test_a_visitor_who_signs_in_is_the_user_still() -> None:
    words = ("visitor", "bot", "bot")
    log = [{**each, "sender_type": "user"} if "Text 4" in each["content"] else each for each in log_of(words)]
    log += [
        {**log[1], "chat": f"c{chat}", "content": f"Bye {chat}", "at": 1_794_218_430 + 60 * chat} for chat in range(3)
    ]
    assert [turn["role"] for turn in read(propose_mapping(log, "a"), log)] == SIDES * 3 + ["assistant"] * 3


def test_a_word_for_users_that_a_mapping_does_not_name_is_told() -> None:
    text = (
        '[turns]\nconversation_id = "chat"\nrole = { path = "sender_type", Contact = "user", AgentBot = "assistant" }\n'
        'text = "content"\ntimestamp = "at"\n'
    )
    counted: Counter[str] = Counter()
    for record in log_of(("Contact", "AgentBot", "User")):
        list(parse_format_mapping(text, "mapping.toml").read(record, counted))
    (told,) = take_warnings(counted)
    assert told.startswith("Contact and User are both read as the user")
    assert not counted.total()


def test_an_unknown_word_for_staff_is_offered_as_the_assistant() -> None:
    mapping = parse_format_mapping(
        '[turns]\nconversation_id = "chat"\nrole = "sender_type"\ntext = "content"\ntimestamp = "at"\n', "m"
    )
    with pytest.raises(Refused, match="that is known") as refused:
        list(mapping.read(log_of(("employee", "bot", "user"))[0], Counter()))
    assert 'employee = "assistant"' in refused.value.shown


@pytest.mark.parametrize(
    ("column", "said", "note", "line"),
    [
        ("private", "f", "t", 'hidden = "private"'),
        ("is_public", "true", "false", 'shown = "is_public"'),
        ("internal_note", False, True, 'hidden = "internal_note"'),
    ],
)
def test_notes_among_staff_are_left_out(column: str, said: Any, note: Any, line: str) -> None:
    log = log_of(("customer", "bot", "agent"), **{column: (said, said, said)})
    notes = [{**each, column: note, "content": "Ask Bo."} for each in log if "Text 3" in each["content"]]
    proposed = propose_mapping(log + notes, "log.csv")
    assert line in proposed.text.splitlines()
    assert [turn["role"] for turn in read(proposed, log + notes)] == SIDES * 3
    assert any(f"by {column}" in doubt for doubt in proposed.doubts)


def test_a_conversation_that_is_private_as_a_whole_is_read() -> None:
    log = [{**each, "private": each["chat"] == "c1"} for each in log_of(("customer", "bot", "agent"))]
    assert len(read(propose_mapping(log, "log.csv"), log)) == len(log)


def test_what_happened_between_messages_is_doubted() -> None:
    log = log_of(("contact", "bot", "bot"), message_type=(0, 1, 1))
    log += [{**log[1], "chat": f"c{chat}", "content": "Ann resolved it.", "message_type": 2} for chat in range(3)]
    proposed = propose_mapping(log, "log.csv")
    (doubt,) = proposed.doubts
    assert "message_type is 2 for 3 turns" in doubt
    hidden = f"[turns]\n{doubt[doubt.index('hidden = ') :]}"
    turns = read(proposed._replace(text=proposed.text.replace("[turns]", hidden)), log)
    assert [turn["role"] for turn in turns] == SIDES * 3
