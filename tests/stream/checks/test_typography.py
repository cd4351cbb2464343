"""Typographic signs: an instruction is kept or broken whichever apostrophes and quotation marks stand in it."""

import pytest

from turnsignal.stream.checks import parse_check
from turnsignal.stream.checks.protocol import CheckResult, Result
from turnsignal.stream.citations.reader import Citations
from turnsignal.stream.conversations.exchanges import Response
from turnsignal.stream.names import write_name
from turnsignal.stream.text.typography import typed


def checked(name: str, text: str) -> CheckResult:
    return parse_check(name).check(Response(text, [], lambda _text, _documents: Citations()))


#: family, parameter, what it is, an answer that has it
CASES = [
    ("keywords.existence", "words", "I'm not a lawyer|let's", "Let's see. I'm not a lawyer, though."),
    ("startend.end_checker", "phrase", "You can do it! Let's go!", "You've all you need. You can do it! Let's go!"),
    ("startend.end_checker", "phrase", 'Say "hello"', 'Then say "hello"'),
    ("format.constrained_response", "options", "I can't say.|It's fine.", "Well: I can't say."),
    ("combination.repeat_prompt", "prompt", 'What\'s "it"?', 'What\'s "it"? It is a book.'),
    ("content.postscript", "marker", "By the way, it's:", "Bye. By the way, it's: a cat."),
]


def typeset(text: str) -> str:
    opened = text.replace("'", "’").replace(" ", "\u00a0")
    return opened.replace('"', "“", 1).replace('"', "”")


@pytest.mark.parametrize(("family", "key", "asked", "answer"), CASES)
def test_signs_of_either_kind_keep_the_instruction(family: str, key: str, asked: str, answer: str) -> None:
    for wording in (asked, typeset(asked)):
        for text in (answer, typeset(answer)):
            assert checked(write_name(family, {key: wording}), text).result is Result.PASS
        assert checked(write_name(family, {key: wording}), "Nothing of it.").result is Result.FAIL


def test_signs_of_either_kind_break_a_ban_and_the_span_is_of_the_text() -> None:
    for words in ("I don't know", "I don’t know"):
        for text in ("Well, I don't know it.", "Well, I don’t know it.", "Well, I\u00a0don’t know it."):
            finding = checked(write_name("keywords.forbidden_words", {"words": words}), text)
            assert (finding.result, finding.start, finding.end) == (Result.FAIL, 6, 18)
            assert repr(text[6:18]) in (finding.explanation or "")


def test_signs_of_either_kind_are_counted() -> None:
    assert checked("keywords.frequency(at_least=2,word='it’s')", "It's what it’s.").result is Result.PASS


def test_a_first_word_with_an_apostrophe_can_be_asked_for() -> None:
    name = "length.nth_paragraph_first_word(nth=1,paragraphs=1,word='Let’s')"
    assert checked(name, "Let's go.").result is checked(name, "“Let’s go.”").result is Result.PASS
    assert checked(name, "Go.").result is Result.FAIL


def test_the_response_may_stand_in_typographic_quotation_marks() -> None:
    assert checked("startend.quotation", "“Open it.”").result is Result.PASS
    assert checked("startend.quotation", "‘Open it.’").result is Result.FAIL


def test_signs_are_exchanged_one_for_one() -> None:
    assert typed("«Ça n’va»\u202f: “co\u2011op”") == '"Ça n\'va" : "co-op"'
    assert typed("`x` – y — z′") == "`x` – y — z′"
