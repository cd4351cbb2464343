"""One passing and one failing answer for every instruction kind of IFEval and for patterns."""

import pytest

from turnsignal.stream.checks import parse_check
from turnsignal.stream.checks.protocol import CheckResult, Result
from turnsignal.stream.citations.reader import Citations
from turnsignal.stream.conversations.exchanges import Response


def find(name: str, text: str) -> CheckResult:
    return parse_check(name).check(Response(text, [], lambda _text, _documents: Citations()))


CASES = [
    ("length.number_words(at_most=4)", "Open the settings page.", "Open the settings page now."),
    ("length.number_words(at_least=3)", "One two three", "One two"),
    (
        "length.number_words(at_most=4,by_spaces=true)",
        "It's $0.25 – two-factor https://a.example/b?c=d!",
        "It is a fee, no?",
    ),
    ("length.number_words(at_most=4,by_spaces=true)", "1. Open it.\n2) Go — now", "1. Open it again now.\n2) Go."),
    ("length.number_words(at_least=3,by_spaces=true)", "One two\u00a0three", "One-two-three, it's ___"),
    ("length.number_sentences(at_least=2,at_most=2)", "Dr. A. Bee left at 3 p.m. today. Why?", "Stop! Go. Stay..."),
    ("length.number_sentences(at_most=2,skip_markers=true)", "1. Open it.\n2. Go.", "1. Open it. Wait.\n2. Go."),
    ("length.number_sentences(at_most=3)", "1. Open it.\nGo.", "1. Open it.\n2. Go."),
    ("length.number_paragraphs(at_least=2,at_most=2)", "One\n***\nTwo\n***", "One\n***\n\n***\nTwo"),
    ("length.nth_paragraph_first_word(nth=2,paragraphs=2,word=then)", "First.\n\n'Then, go.", "Then.\n\nFirst."),
    ("keywords.existence(words='mail|reset link')", "The Reset Link comes by email.", "The link comes by mail."),
    ("keywords.forbidden_words(words='sorry|cannot')", "Sorrylessly done.", "I am Sorry."),
    ("keywords.forbidden_words(words='c++|c#')", "In C, abc++ and abc#.", "It is written in C++."),
    ("keywords.forbidden_words(words='c++|c#')", "In C", "(C#)"),
    ("keywords.forbidden_words(words=.net)", "See example.net and a net.", "Use .NET 8."),
    ("keywords.frequency(at_least=2,word=link)", "Link and linked.", "One link."),
    ("keywords.letter_frequency(at_most=1,letter=Q)", "A quiet room", "A quiet queue"),
    ("format.json", '```json\n{"a": [1, 2]}\n```', '{"a": 1'),
    ("format.title", "<<A day>>\nIt was long.", "<<>> A day\nA >> b <<"),
    ("format.number_bullet_lists(at_least=2,at_most=2)", "* one\n* two\n**bold**", "* one"),
    ("format.number_highlighted_sections(at_least=2)", "*one* and **two**", "*one* and **"),
    ("format.multiple_sections(at_least=2,splitter=PART)", "PART 1\na\nPART 2\nb", "Part 1\na\nPART two"),
    ("format.constrained_response(options='Yes.|No.')", "Well: Yes.", "Maybe."),
    ("format.constrained_response(options='yes | no')", "yes", "Maybe."),
    ("format.constrained_response(options='yes| ')", "yes", "I do not know it."),
    ("content.number_placeholders(at_least=2)", "Dear [name], [text]", "Dear [name], [text"),
    ("content.postscript", "Bye.\n\np.s. One more.", "Bye. PS one more."),
    ("content.postscript(marker=P.P.S)", "Bye.\n\nP. P. S: more", "Bye.\nP.S. more"),
    ("case.upper", "OPEN IT, 1 TIME", "OPEN it"),
    ("case.lower", "open it", "open It"),
    ("case.lower", "open `README.md` now", "open `README.md` Now"),
    ("case.upper", "RUN `npm i`\n~~~\nls\n~~~", "RUN `npm i` now"),
    ("case.capital_word_frequency(at_least=2)", "The NASA-ESA plan and I", "The Nasa plan and I"),
    ("punctuation.no_comma", "First one. Then two.", "First one, then two."),
    ("startend.quotation", ' "Open it." ', '"Open it.'),
    ("startend.end_checker(phrase='Any questions?')", 'All done. "ANY questions?"', "Any questions? Bye."),
    ("combination.two_responses", "One\n******\nTwo", "One\n******\nOne"),
    ("combination.repeat_prompt(prompt='Write a poem.')", "write a poem.\n\nRoses", "Here: Write a poem."),
    ("pattern.require(regex='(?i)ticket #[0-9]+')", "See Ticket #42.", "See ticket 42."),
    ("pattern.forbid(regex='as an ai')", "Sure.", "It is so, as an ai."),
    ("pattern.forbid(regex='!',skip_code=true)", "`a != b`\n~~~\n!\n~~~", "`a`!"),
    ("pattern.require(regex='!',skip_code=true)", "`a`!", "`a != b`"),
]


@pytest.mark.parametrize(("name", "good", "bad"), CASES)
def test_instruction_is_told_kept_from_broken(name: str, good: str, bad: str) -> None:
    assert find(name, good).result is Result.PASS
    broken = find(name, bad)
    assert broken.result is Result.FAIL
    assert broken.explanation


@pytest.mark.parametrize(
    ("name", "text", "span"),
    [
        ("punctuation.no_comma", "One, two", ","),
        ("case.lower", "one Two three", "Two"),
        ("case.upper", "ONE Two", "Two"),
        ("keywords.forbidden_words(words=sorry)", "I am Sorry.", "Sorry"),
        ("pattern.forbid(regex='[0-9]+')", "héé ünd 42.", "42"),
        ("pattern.forbid(regex='[0-9]+',skip_code=true)", "`1é` ```2``` is 42.", "42"),
    ],
)
def test_the_failing_span_is_pointed_at(name: str, text: str, span: str) -> None:
    finding = find(name, text)
    assert text[finding.start : finding.end] == span


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("One", 1),
        ("One. Two", 2),
        ("It costs 3.50 at example.org today.", 1),
        ("He met J. R. Smith of Acme Inc. in May. Fine.", 2),
        ("Acme Inc. Then came more.", 2),
        ("Well... maybe. Well... Maybe.", 3),
        ("1. Open it.\n2. Save it.", 4),
        ("So what?! Nothing.", 2),
        ("Open Mon. to Fri. from 9 a.m. to 5 p.m.", 1),
        ("It costs $5.50 (incl. VAT).", 1),
    ],
)
def test_sentences_are_counted_as_the_reference_program_does(text: str, count: int) -> None:
    exactly = f"(at_least={count},at_most={count})" if count else "(at_most=0)"
    assert find(f"length.number_sentences{exactly}", text).result is Result.PASS


@pytest.mark.parametrize(
    "text",
    [
        "Nach Art. 6 Abs. 1 DSGVO ist das erlaubt.",
        "Der Preis beträgt ca. 20 Euro inkl. MwSt. und Versand.",
        "La Dra. Ruiz está en la pág. 3.",
        "Voir art. 5, al. 2 et M. Dupont.",
    ],
)
def test_short_forms_of_other_languages_end_no_sentence(text: str) -> None:
    assert find("length.number_sentences(at_most=1)", text).result is Result.PASS


def test_case_does_not_apply_to_a_script_without_case() -> None:
    assert find("case.lower", "パスワード 123").result is Result.NOT_APPLICABLE
    assert find("case.upper", "").result is Result.NOT_APPLICABLE
    assert find("case.lower", "`README.md`").result is Result.NOT_APPLICABLE


def test_deeply_nested_json_fails_and_does_not_raise() -> None:
    assert find("format.json", "[" * 100_000).result is Result.FAIL


def test_loose_form_forgives_a_greeting_a_closing_line_and_asterisks() -> None:
    assert find("loose.startend.quotation", 'Sure, here it is:\n"Open it."').result is Result.PASS
    assert find("loose.punctuation.no_comma", "Open it.\nBye, Ann").result is Result.PASS
    assert find("loose.format.json", "Sure:\n**{}**\nDone.").result is Result.PASS
    assert find("loose.punctuation.no_comma", "One, two").result is Result.FAIL


def test_pattern_finds_characters_that_are_no_unicode_text() -> None:
    assert find("pattern.require(regex='b$')", "a\ud800b").result is Result.PASS


def test_language_is_told_apart() -> None:
    pytest.importorskip("py3langid")
    assert find("language.is(code=de)", "Öffnen Sie die Einstellungen und wählen Sie Sicherheit.").result is Result.PASS
    assert find("language.is(code=de)", "Open the settings page and choose security there.").result is Result.FAIL
    assert find("language.is(code=de)", "OK").result is Result.NOT_APPLICABLE


def test_numbering_does_not_drown_the_words() -> None:
    pytest.importorskip("py3langid")
    table = "| 1.5 | 2.5 | 3.5 |\n" * 20
    assert find("language.is(code=en)", table + "Der Marktplatz ist heute geschlossen.").result is Result.FAIL


def test_marks_between_letters_stay_where_they_are() -> None:
    pytest.importorskip("py3langid")
    assert find("language.is(code=hi)", "पासवर्ड बदलने के लिए सेटिंग्स खोलें और सुरक्षा चुनें।").result is Result.PASS


def test_a_text_that_could_be_in_any_language_is_not_judged() -> None:
    pytest.importorskip("py3langid")
    assert find("language.is(code=en)", "Kalino Vertas Omniro").result is Result.NOT_APPLICABLE
