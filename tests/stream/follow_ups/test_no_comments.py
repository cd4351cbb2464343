"""What a user says of themselves, of a text that is drafted, or of a thing that was asked about, is no comment."""

import pytest

from turnsignal.stream.conversations.exchanges import Exchange
from turnsignal.stream.follow_ups.closings import asks_alone
from turnsignal.stream.follow_ups.rules import FollowUpReading, FollowUpRules

RULES = FollowUpRules()
FIXED = "There is a typo in the second line: it says cout, not count [doc_1]."


def read(prompt: str, response: str, follow_up: str) -> FollowUpReading:
    return RULES.read(Exchange(prompt, response, follow_up))


@pytest.mark.parametrize("follow_up", ["oops, silly me", "my bad!", "I was wrong all along", "ach so, mein Fehler"])
def test_who_blames_themselves_does_not_complain_and_expects_no_answer(follow_up: str) -> None:
    reading = read("What is wrong with this query?", FIXED, follow_up)
    assert (reading.clarification, reading.closes) == (False, True)


def test_who_blames_themselves_and_says_what_was_meant_asks_to_clarify() -> None:
    assert read("What is wrong with this query?", FIXED, "my bad, I meant the other query").clarification


@pytest.mark.parametrize(
    ("prompt", "follow_up"),
    [
        ("Translate 'this is wrong' to Spanish", 'and "it does not work"'),
        ("Draft a reply to the landlord", "he is wrong about the deposit, mention that"),
    ],
)
def test_what_a_text_is_to_say_is_no_complaint(prompt: str, follow_up: str) -> None:
    assert not read(prompt, "Here it is: Esto no es correcto.", follow_up).clarification
    assert read(prompt, "Here it is: Esto no es correcto.", "that is wrong").clarification


def test_what_is_told_of_the_thing_that_was_asked_about_is_an_answer() -> None:
    broken = "it is not working at all"
    assert not read("The printer prints blank pages.", "Is the lamp on?", broken).clarification
    assert read(
        "How do I clean the printer?", "Press Clean for five seconds [doc_1]. It restarts.", broken
    ).clarification
    assert asks_alone("Is the lamp on?")
    assert not asks_alone("Press Clean. Is the lamp on?")
