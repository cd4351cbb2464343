"""A question back, or another text that some messages get, keeps no form of what the prompt is for."""

import pytest

from turnsignal.stream.prompts.reader import read_prompt

FORMS = ['Start with "Once upon a time".', 'End with "The end."', "Use exactly three bullet points.", "Return JSON."]


def doubts(prompt: str) -> list[str | None]:
    return [one.doubt for one in read_prompt(prompt).proposals]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    "other",
    [
        "If the request is unclear, ask a clarifying question.",
        "Ask for clarification when the request is ambiguous.",
        "Before you begin, ask for the topic if you do not know it.",
        "Ask the user for the topic first.",
        "Do not guess; ask.",
        "If I send you a comment instead, write a reply of one sentence.",
        "When I paste a headline, give me three alternatives for it.",
    ],
)
def test_a_form_without_a_word_on_every_answer_is_doubted(form: str, other: str) -> None:
    every = doubts(f"You write texts for children.\n\n- {form}\n- {other}\n")
    assert every
    assert None not in every


@pytest.mark.parametrize(
    "other",
    [
        "If the request is unclear, ask a clarifying question.",
        "Ask yourself whether a child would like it.",
        "Never ask for the topic first.",
    ],
)
def test_a_form_of_every_answer_is_kept_by_questions_too(other: str) -> None:
    assert doubts(f'You help parents. End every answer with "Take care." {other}') == [None]


@pytest.mark.parametrize("other", ["Ask yourself whether a child would like it.", "Never ask for the topic first."])
def test_what_asks_nobody_lets_nothing_off(other: str) -> None:
    assert doubts(f'You write texts for children. End with "The end." {other}') == [None]


def test_a_word_in_capitals_may_be_all_of_a_reply() -> None:
    prompt = 'You review code. Start your answer with "Review:". If there is nothing to say, answer exactly: LGTM'
    assert None not in doubts(prompt)


def test_what_somebody_is_not_to_be_called_may_be_said_in_another_sense() -> None:
    assert None not in doubts('You help a charity. Refer to donors as "friends", never as "sources".')
    assert doubts('You help a shop. Refer to the app as "Flux", never as "FluxDB".') == [None]
