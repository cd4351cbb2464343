"""What no sentence may begin with is looked for at the start of each of them, and not of the answer alone."""

import pytest

from turnsignal.stream.checks import parse_check
from turnsignal.stream.checks.protocol import Result
from turnsignal.stream.citations.reader import citation_reader
from turnsignal.stream.conversations.exchanges import Response
from turnsignal.stream.prompts.reader import read_prompt


def passes(prompt: str, answer: str) -> bool:
    (one,) = read_prompt(prompt).proposals
    assert one.doubt is None
    return parse_check(one.check).check(Response(answer, [], citation_reader())).result is Result.PASS


@pytest.mark.parametrize("rule", ['Never start a sentence with "But".', 'Do not begin sentences with "But" or "And".'])
@pytest.mark.parametrize(
    ("answer", "is_kept"),
    [
        ("But it rains.", False),
        ("It is late. But it rains.", False),
        ("Is it late? “But it rains.”", False),
        ("It is late.\n\nBut it rains.", False),
        ("It is late, but it rains.", True),
        ("It is late\nbut it rains.", True),
        ("It is 9 p.m. But Street is open.", True),
        ("Cups, plates, etc. but no forks.", True),
        ("The Butler is in. Butter is out.", True),
    ],
)
def test_no_sentence_may_begin_so(rule: str, answer: str, is_kept: bool) -> None:
    assert passes(rule, answer) is is_kept


@pytest.mark.parametrize(
    "rule",
    [
        'Never start two consecutive sentences with "The".',
        'Do not start a new paragraph with "And".',
        'Start a sentence with "And" now and then.',
    ],
)
def test_what_is_of_some_sentences_or_paragraphs_is_not_checked(rule: str) -> None:
    assert [one.check for one in read_prompt(rule).proposals if one.doubt is None] == []


def test_the_first_sentence_is_where_the_answer_starts() -> None:
    assert passes('Never begin the first sentence with "As".', "It is so. As it was.")
    assert not passes('Never begin the first sentence with "As".', "As it was.")
