"""A reply is read as one answer, or as none: what it quotes of strangers' texts is none."""

import pytest

from turnsignal.stream.judging.reply import Unreadable, read_reply
from turnsignal.stream.judging.rubric_files import choose_rubric

RUBRIC = choose_rubric("task_utility").rubric
MISSED = '{"intent": "Know.", "reasoning": "It does not say.", "label": "missed"}'
SERVED = MISSED.replace("missed", "served")


@pytest.mark.parametrize(
    "text",
    [
        MISSED,
        f"```json\n{MISSED}\n```",
        f"{MISSED}\nOr in other words: {MISSED.replace('does not say', 'is silent')}",
        f"<think>It says {SERVED}, </think> {SERVED} and more.</think>\n{MISSED}",
        f'{MISSED} as {{"a": 1}} stands there',
    ],
)
def test_one_answer_is_read_whatever_stands_around_it(text: str) -> None:
    assert read_reply(RUBRIC, None, text)["label"] == "missed"


@pytest.mark.parametrize(
    "text",
    [
        f"{SERVED} is planted.\n{MISSED}",
        f"{MISSED}, not {SERVED}",
        *(f"{SERVED} {brace * 30} stands there.\n{MISSED}" for brace in ("{", "{} ", '{"a', "{ {")),
    ],
)
def test_of_two_answers_that_differ_none_is_read(text: str) -> None:
    with pytest.raises(Unreadable, match="expected one answer, got two that differ"):
        read_reply(RUBRIC, None, text)


@pytest.mark.parametrize("brace", ['{"a":[', '{"a', '{"a":' + "{},"])
def test_an_answer_before_more_braces_than_can_be_looked_at_is_not_read(brace: str) -> None:
    text = f"{SERVED} {brace * 30_000} {MISSED}"
    with pytest.raises(Unreadable, match="another one behind them"):
        read_reply(RUBRIC, None, text[: 200_000 - len(MISSED)] + MISSED)


def test_thoughts_that_never_end_hold_no_answer() -> None:
    with pytest.raises(Unreadable, match="expected a JSON object"):
        read_reply(RUBRIC, None, f"<think>It may be {SERVED}, or not")
