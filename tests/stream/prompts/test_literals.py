"""Words that a prompt quotes are looked for with straight and typographic signs alike; code in backticks is no word."""

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


@pytest.mark.parametrize("rule", ['End every reply with "That\'s all!"', "End every reply with “That’s all!”"])
@pytest.mark.parametrize("answer", ["Done. That's all!", "Done. That’s all!", "Done. Thatʼs all!"])
def test_an_end_may_have_either_apostrophe(rule: str, answer: str) -> None:
    assert passes(rule, answer)
    assert not passes(rule, answer[:-3])


@pytest.mark.parametrize("answer", ["Here's it: x", "Here’s it: x", "**Here’s it:** x"])
def test_a_start_may_have_either_apostrophe(answer: str) -> None:
    assert passes("Start every answer with “Here’s it:”.", answer)


@pytest.mark.parametrize("answer", ["We like O'Neill.", "We like O’Neill."])
def test_a_name_is_found_with_either_apostrophe(answer: str) -> None:
    assert not passes('Never mention rivals such as "O\'Neill".', answer)


@pytest.mark.parametrize(
    "rule",
    [
        "Don't use `any`.",
        "Never use `var`.",
        "Avoid `print`.",
        "Use `const`, never `let`.",
        "Do not import `lodash` or use `eval`.",
        "Do not use `git push`.",
    ],
)
def test_code_in_backticks_is_no_plain_ban_of_a_word(rule: str) -> None:
    proposals = read_prompt(f"You are a bot. {rule}").proposals
    assert all(one.doubt is not None for one in proposals)


@pytest.mark.parametrize("rule", ["Never use the word `cheap`.", "Never say `cheap`.", "Avoid `as an AI`."])
def test_a_word_in_backticks_that_is_called_one_is_forbidden(rule: str) -> None:
    assert [one.doubt for one in read_prompt(f"You are a bot. {rule}").proposals] == [None]


def test_what_is_forbidden_as_code_and_as_a_word_is_told_apart() -> None:
    proposals = read_prompt('Do not use `any` or "sorry".').proposals
    assert [(one.check, one.doubt) for one in proposals] == [
        ("keywords.forbidden_words(words=sorry)", None),
        ("keywords.forbidden_words(words=any)", "may be meant as code, and not as a word of the answer"),
    ]
