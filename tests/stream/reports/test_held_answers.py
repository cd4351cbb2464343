"""Held answers: what a user writes behind an answer may reply to what that asked beside what it says."""

import pytest

from turnsignal.stream.conversations.exchanges import Exchange
from turnsignal.stream.reports.held_answers import AnswerReader, Reply
from turnsignal.stream.suite import Suite

SAYS, ASKS = "It is in the depot at the harbour.", " Which plan do you have?"
ELSE = "hm the sign at the entrance says otherwise"


@pytest.mark.parametrize(
    ("response", "follow_up", "reply"),
    [
        (SAYS + ASKS, ELSE, Reply(complains_elsewhere=True)),
        (f"{SAYS} Please tell me your number if you want me to check.", ELSE, Reply(complains_elsewhere=True)),
        (SAYS, ELSE, Reply()),
        (ASKS.strip(), ELSE, Reply()),
        (SAYS + ASKS, "the basic one", Reply(replied=True)),
        (f"{SAYS} Do you have the app?", "no", Reply(replied=True)),
        (f"{SAYS} Do you have the app?", "no, just the card", Reply(replied=True)),
        (f"{SAYS} Did that help?", "yes", Reply()),
    ],
)
def test_a_complaint_elsewhere_may_reply_to_what_an_answer_asks_last(
    response: str, follow_up: str, reply: Reply
) -> None:
    around = Exchange("Where is my parcel?", response, follow_up)
    assert AnswerReader(Suite()).read_reply(around) == reply
    assert not (reply.complains_elsewhere and Suite().follow_up_rules.read(around).clarification)
