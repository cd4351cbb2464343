"""What a prompt limits of the messages that users send is no limit of answers."""

import pytest

from turnsignal.stream.prompts.reader import read_prompt


def sure(prompt: str) -> list[str]:
    return [one.check for one in read_prompt(prompt).proposals if one.doubt is None]


@pytest.mark.parametrize(
    "prompt",
    [
        "Guests can send two messages an hour. Messages over 300 characters are rejected.",
        "Visitors may submit one text. A text must not be longer than 40 words.",
        "Users are limited to five questions. Messages must be under 300 characters.",
        "Players submit answers. Answers over 50 words are rejected.",
    ],
)
def test_a_limit_on_what_users_send_is_doubtful(prompt: str) -> None:
    (proposal,) = read_prompt(prompt).proposals
    assert proposal.doubt is not None
    assert "what users send" in proposal.doubt


@pytest.mark.parametrize(
    "prompt",
    [
        "Messages must not be longer than 300 characters.",
        "Guests can send two messages an hour. Your messages must be under 300 characters.",
        "Guests can send two messages an hour. Replies over 50 words are rejected.",
        "Guests can send two messages an hour. Keep messages under 300 characters.",
    ],
)
def test_a_limit_on_what_the_assistant_sends_is_none_of_users(prompt: str) -> None:
    assert len(sure(prompt)) == 1
