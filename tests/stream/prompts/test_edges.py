"""What an answer starts or ends with is no length of it, and a phrase that more may follow is no end."""

import pytest

from turnsignal.stream.checks import parse_check
from turnsignal.stream.checks.protocol import Result
from turnsignal.stream.citations.reader import citation_reader
from turnsignal.stream.conversations.exchanges import Response
from turnsignal.stream.prompts.reader import read_prompt


def sure(prompt: str) -> list[str]:
    return [one.check for one in read_prompt(prompt).proposals if one.doubt is None]


@pytest.mark.parametrize("start", ['"TL;DR:" and one sentence', '"In short:" followed by two sentences'])
def test_an_amount_at_the_start_is_not_of_the_answer(start: str) -> None:
    assert not any(check.startswith("length.") for check in sure(f"Start with {start}."))


@pytest.mark.parametrize(
    "end", ['"Next steps:" and three bullets', '"Sources:" and a list of links', '"Key takeaways:" and two sentences']
)
def test_a_phrase_that_something_follows_is_no_end(end: str) -> None:
    assert sure(f"End every reply with {end}.") == []


def test_a_phrase_stands_at_the_edge_that_is_nearest() -> None:
    assert sure('Start with one sentence and end with "Cheers!".') == ["startend.end_checker(phrase='Cheers!')"]


@pytest.mark.parametrize("text", ["Yes.", "No", "yes"])
def test_one_of_several_labels_is_taken_in_either_case(text: str) -> None:
    (check,) = sure('Answer "yes" or "no".')
    assert parse_check(check).check(Response(text, [], citation_reader())).result is Result.PASS


@pytest.mark.parametrize(
    "prompt",
    [
        'Put "Stay safe" on its own line at the end of each reply.',
        'Add the line "Stay safe" as the last line.',
        'Every answer ends with "Stay safe".',
    ],
)
def test_a_last_line_is_an_end(prompt: str) -> None:
    assert sure(prompt) == ["startend.end_checker(phrase='Stay safe')"]


@pytest.mark.parametrize("limit", ["keep it under 50 words", "never exceed 49 words"])
def test_a_limit_beside_a_start_is_of_the_answer(limit: str) -> None:
    assert "length.number_words(at_most=49)" in sure(f'Start every answer with "Hi!" and {limit}.')


def test_what_follows_a_start_leaves_it_the_start() -> None:
    assert len(sure('Start with "TL;DR:" and one sentence. Then three to five paragraphs.')) == 1


def test_how_a_text_of_its_own_ends_is_no_end_of_answers() -> None:
    assert sure('A recipe always has a title.\nSmall talk: one sentence.\nFinish with "Enjoy!".') == []
