"""What says how the output for an input is to be is a rule; a sample of both is an example."""

import pytest

from turnsignal.stream.prompts.reader import read_prompt

ROLE = "You are Mia.\n"


@pytest.mark.parametrize(
    ("prompt", "checks"),
    [
        (
            "Input: customer email\nOutput:\n- a reply of at most 80 words",
            ["length.number_words(at_most=80,by_spaces=true)"],
        ),
        ("Input: the customer's mail\nOutput: at most 80 words", ["length.number_words(at_most=80,by_spaces=true)"]),
        ("Query: one review\nResponse:\n- max 20 words", ["length.number_words(at_most=20,by_spaces=true)"]),
    ],
)
def test_what_binds_the_whole_output_is_read(prompt: str, checks: list[str]) -> None:
    assert [one.check for one in read_prompt(ROLE + prompt).proposals if one.doubt is None] == checks


@pytest.mark.parametrize(
    "prompt",
    [
        "Input: a stack trace.\nOutput:\nLine 1: severity, one of P1, P2\nLine 2: part\nLine 3+: why (max 60 words)",
        "Question: what the user asks\nAnswer: your reply, at most 80 words, no emojis",
        "User: the customer's question\nAssistant: at most two sentences, no slang",
        "Input: customer email\nOutput:\n- a reply of at most 80 words\n- no emojis",
    ],
)
def test_a_specification_is_shown_line_by_line(prompt: str) -> None:
    reading = read_prompt(ROLE + prompt)
    shown = "\n".join([*reading.uncovered, *(sentence for one in reading.proposals for sentence in one.sentences)])
    for line in prompt.splitlines()[1:]:
        assert line.strip("- ") in shown or line == "Output:"


@pytest.mark.parametrize(
    "example",
    [
        "Input: i love it\nOutput: positive",
        "Input: great phone\nOutput:\n- phone\n- no fault",
        "Q: Do you ship to Spain?\nA: Yes, up to two bags are free.",
        "User: my order is late\nAssistant: I am sorry. At most two days, I promise.",
        "Input: The room was cold. We left.\nOutput: negative",
    ],
)
def test_samples_are_no_rules(example: str) -> None:
    reading = read_prompt(f"{ROLE}\n{example}\n\nNever use commas.")
    assert [one.check for one in reading.proposals] == ["punctuation.no_comma"]
    assert reading.uncovered == ()
