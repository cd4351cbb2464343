"""A reply prescribed for a topic or a sender is exempt from the other rules, whatever the order of its words."""

import pytest

from turnsignal.stream.prompts.reader import read_prompt


@pytest.mark.parametrize(
    "sentence",
    [
        "For other topics reply {}",
        "For billing topics reply with {}",
        "To other topics say {}",
        "Messages from bots get {} as the reply.",
        "Out-of-scope questions: {}",
        "Questions about prices: {}",
    ],
)
def test_a_reply_prescribed_for_a_case_is_exempt(sentence: str) -> None:
    reading = read_prompt("End each message with a question. " + sentence.format('"Please call 555."'))
    assert [one.text for one in reading.exempt] == ["Please call 555."]


@pytest.mark.parametrize("sentence", ['In every reply say "Thank you".', 'For soda say "pop".'])
def test_words_within_answers_are_no_reply(sentence: str) -> None:
    assert read_prompt(f"End with a question. {sentence}").exempt == ()
