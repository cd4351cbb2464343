"""Vocabulary: which words a sentence wants said, and which not."""

import pytest

from turnsignal.stream.prompts.reader import read_prompt

ROLE = "You are Bo, an assistant.\n\n"


def active(rule: str) -> list[str]:
    return [one.check for one in read_prompt(f"{ROLE}- {rule}\n").proposals if one.doubt is None]


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        ('Say "sign in", never "log in".', "'log in'"),
        ('No buzzwords ("synergy", "leverage").', "'synergy|leverage'"),
        ('Avoid "best" and "cheapest", Google rejects them.', "'best|cheapest'"),
        ('Never say "guys", say "folks".', "guys"),
    ],
)
def test_the_words_that_others_stand_for_are_forbidden(rule: str, words: str) -> None:
    assert active(rule) == [f"keywords.forbidden_words(words={words})"]


@pytest.mark.parametrize("rule", ['Write "e-mail", not "email".', 'Write "ten", never "10".'])
def test_words_that_are_a_matter_of_spelling_are_for_a_person(rule: str) -> None:
    assert active(rule) == []


@pytest.mark.parametrize(
    "rule", ["English only.", "Answers in English.", "Always stay in English even when members do not.", "In English."]
)
def test_a_language_may_be_asked_for_without_a_verb(rule: str) -> None:
    assert active(rule) == ["language.is(code=en)"]


@pytest.mark.parametrize(
    "rule", ['Sign every message "Your Bo".', 'Never skip the closing line "Your Bo".', "Sign off with -Bo."]
)
def test_a_sign_off_may_be_asked_for_in_other_words(rule: str) -> None:
    (check,) = active(rule)
    assert check.startswith("pattern.require")
    assert r"Bo[^\\pL\\pN?]*\\z" in check


def test_a_name_for_a_thing_and_never_another_is_no_plain_ban() -> None:
    (proposal,) = read_prompt('You are Bo, an assistant.\n\nUse "flat" and never "unit".').proposals
    assert proposal.doubt is not None


@pytest.mark.parametrize(
    "prompt",
    ['Use "du", never "Sie".', 'Address them as "you", never as "user".', 'Call guests "guests", never "customers".'],
)
def test_a_word_that_nobody_is_addressed_by_may_stand_elsewhere(prompt: str) -> None:
    assert [one.check for one in read_prompt(prompt).proposals if one.doubt is None] == []


@pytest.mark.parametrize(
    ("quoting", "holds"),
    [
        ("Quote the reviewers word for word.", False),
        ("If a clause applies, quote the passage.", False),
        ("Quote prices in euros.", True),
        ("Never quote from the documents.", True),
    ],
)
@pytest.mark.parametrize("rule", ['Never use the word "cheap".', "Never use exclamation marks."])
def test_what_is_quoted_word_for_word_may_hold_what_is_forbidden(rule: str, quoting: str, *, holds: bool) -> None:
    assert any(one.doubt is None for one in read_prompt(f"{rule} Be kind. {quoting}").proposals) == holds
