"""What is shown of the turns that are kept of a conversation."""

from typing import Any

import pytest

from turnsignal.stream.pipeline.kept_conversations import TurnDescriber
from turnsignal.stream.suite import Suite, parse_suite
from turnsignal.stream.testing import FakeTurn, Played, reply, user

DEFAULT = Suite().limits.kept_characters


def describe(suite: Suite, *turns: FakeTurn) -> list[dict[str, Any]]:
    state = Played(suite).say(*turns).processor.conversation(b"c")
    assert state is not None
    return TurnDescriber(suite).describe(state)


@pytest.mark.parametrize(("characters", "cut"), [(DEFAULT - 1, False), (DEFAULT, False), (DEFAULT + 1, True)])
def test_a_text_is_shown_as_cut_only_when_something_was_cut_from_it(characters: int, cut: bool) -> None:
    text = "x" * characters
    for index, turns in enumerate([(user("u1", 0, text), reply("a1", 1)), (user("u1", 0), reply("a1", 1, text))]):
        kept = describe(Suite(), *turns)
        assert [turn.get("cut", False) for turn in kept] == [cut and index == 0, cut and index == 1]
        assert len(kept[index]["text"]) == min(characters, DEFAULT)


def test_a_text_is_shown_as_cut_while_its_rest_is_still_kept_for_a_judge() -> None:
    suite = parse_suite("[exchanges]\nshare = 1\n[conversations]\nkept_characters = 100")
    (kept,) = describe(suite, user("u1", 0, "x" * 101))
    assert kept["cut"]
