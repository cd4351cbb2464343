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


@pytest.mark.parametrize("hole", ["{{product}}", "{product}", "[product]", "<product>", "${product}"])
def test_what_is_filled_in_is_a_hole_of_the_exempt_reply(hole: str) -> None:
    reading = read_prompt(f'Use at least 15 words. For anything unrelated reply: "I can only help with {hole}."')
    assert [one.text for one in reading.exempt] == ["I can only help with {{product}}."]


def test_a_reply_of_little_but_a_hole_is_not_exempt() -> None:
    reading = read_prompt('Use at least 15 words. For anything unrelated reply: "{{fallback}} please."')
    assert reading.exempt == ()
    assert all(one.doubt is not None for one in reading.proposals)


@pytest.mark.parametrize("text", ["[silence]", '{"answer": null}', "<b>No.</b>", "See [doc_1] for that."])
def test_a_token_or_code_is_no_hole(text: str) -> None:
    assert [one.text for one in read_prompt(f"For anything unrelated reply: `{text}`").exempt] in ([text], [])
