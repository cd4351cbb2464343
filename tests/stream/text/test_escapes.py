"""Texts are read as they were written, whatever a log made of their apostrophes."""

import pytest

from turnsignal.stream.conversations.exchanges import Exchange
from turnsignal.stream.follow_ups.failures import Failures
from turnsignal.stream.follow_ups.rules import FollowUpRules
from turnsignal.stream.text.escapes import unescaped

ESCAPED = ["&#39;", "&#x27;", "&apos;", "&rsquo;", "&amp;#39;", "\\u2019", "\\'", "''", "â€™"]


@pytest.mark.parametrize("mark", ESCAPED)
def test_a_complaint_or_a_refusal_is_read_through_an_escape(mark: str) -> None:
    question, answer = "How do I change my address?", "Open Billing and choose Address."
    for complaint in ("That didn't work.", "That's not what I asked.", "I can't find that button."):
        follow_up = Exchange(question, answer, complaint.replace("'", mark))
        assert FollowUpRules().read(follow_up).clarification, follow_up.follow_up
    assert Failures().is_failing("I can't help with that.".replace("'", mark))


@pytest.mark.parametrize("text", ["AT&T; fine", "C:\\users\\new", "print('')", "naïve café", "\\ud800", "a && b;", ""])
def test_what_is_no_escape_stays(text: str) -> None:
    assert unescaped(text) == text


def test_misread_marks_are_read_again_beside_letters_of_other_scripts() -> None:
    assert unescaped("Itâ€™s 日本") == "It’s 日本"
    assert unescaped("CafÃ© isnâ€™t") == "Café isn’t"
