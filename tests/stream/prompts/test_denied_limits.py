"""A limit that is denied is read as the limit that it is; where a denial may reach it or not, no check is proposed."""

import pytest

from turnsignal.stream.prompts.reader import read_prompt


def sure(prompt: str) -> list[str]:
    return [one.check for one in read_prompt(prompt).proposals if one.doubt is None]


@pytest.mark.parametrize(
    ("prompt", "bound"),
    [
        ("No answer should be longer than 90 words.", "at_most=90"),
        ("None of your replies must be over 90 words.", "at_most=90"),
        ("Not a single response should be over 90 words.", "at_most=90"),
        ("Under no circumstances should a message be longer than 90 words.", "at_most=90"),
        ("At no point should your answers be longer than 90 words.", "at_most=90"),
        ("Never should a reply be longer than 90 words.", "at_most=90"),
        ("Make sure that your answer isn't longer than 90 words.", "at_most=90"),
        ("Your replies aren’t to be longer than 90 words.", "at_most=90"),
        ("You should never, ever write more than 90 words.", "at_most=90"),
        ("No answer should be shorter than 15 words.", "at_least=15"),
        ("Your reply isn't less than 15 words.", "at_least=15"),
        ("Every answer must exceed 15 words.", "at_least=16"),
        ("No more and no less than 15 words.", "at_least=15,at_most=15"),
        ("Neither more nor less than 15 words.", "at_least=15,at_most=15"),
        (">= 15 words", "at_least=15"),
        ("- > 15 words", "at_least=16"),
        ("Answers: ≥ 15 words.", "at_least=15"),
        ("Length: ≤ 90 words.", "at_most=90"),
        ("- < 90 words", "at_most=89"),
    ],
)
def test_a_denied_limit_is_the_limit_that_it_is(prompt: str, bound: str) -> None:
    assert sure(prompt) == [f"length.number_words({bound},by_spaces=true)"]


@pytest.mark.parametrize(
    "prompt",
    [
        "Do not, for whatever reason, write more than 90 words.",
        "Do not ramble and write more than 90 words.",
        "Nothing you write should be longer than 90 words.",
        "Nothing that you send should be shorter than 15 words.",
        "Don't ramble on and on in replies of more than 90 words.",
    ],
)
def test_no_check_is_proposed_of_a_limit_that_a_denial_may_turn(prompt: str) -> None:
    reading = read_prompt(prompt)
    assert (reading.proposals, reading.uncovered) == ((), (prompt,))


def test_a_limit_behind_a_denial_of_its_own_stays() -> None:
    assert sure("Do not use emojis; write more than 15 words.")[-1].startswith("length.number_words(at_least=16")


def test_a_sign_of_a_bound_is_no_quotation() -> None:
    assert read_prompt(">= 2 sentences.").proposals[0].sentences == (">= 2 sentences.",)
    assert read_prompt("> Be kind.").uncovered == ("Be kind.",)
