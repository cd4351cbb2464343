"""What an answer ends with may be bold or followed by an emoji; what "no" denies ends before a verb."""

import pytest

from turnsignal.stream.checks import parse_check
from turnsignal.stream.citations.reader import citation_reader
from turnsignal.stream.conversations.exchanges import Response
from turnsignal.stream.prompts.reader import read_prompt

ROLE = "You are the assistant of Kivo, a shop for tools.\n\n"
SIGNED = [
    "Done.\n\nTeam Kivo",
    "Done.\n\n**Team Kivo**",
    "Done. Team Kivo.",
    "Done.\n*Team Kivo* 🌊",
    '"Done. Team Kivo"',
]
UNSIGNED = ["Team Kivo says so.", "Done.", "Done. Team Kivo Nord", "Done. Team Kivo é"]


def active(rule: str) -> list[str]:
    return [one.check for one in read_prompt(f"{ROLE}- {rule}\n").proposals if one.doubt is None]


def passes(check: str, text: str) -> bool:
    return "pass" in str(parse_check(check).check(Response(text, [], citation_reader())).result).lower()


@pytest.mark.parametrize(
    "rule",
    [
        'Sign off with "Team Kivo".',
        'Sign as "Team Kivo".',
        'End each message with "Team Kivo".',
        'Every reply ends with the line "Team Kivo".',
        'Answers have no headings and end with "Team Kivo".',
    ],
)
def test_a_sign_off_may_be_set_off(rule: str) -> None:
    (check,) = [one for one in active(rule) if one.startswith("pattern.require")]
    assert [passes(check, text) for text in SIGNED] == [True] * len(SIGNED)
    assert [passes(check, text) for text in UNSIGNED] == [False] * len(UNSIGNED)


@pytest.mark.parametrize("rule", ["End with a question.", 'End with the question "Shall I?"', 'Close with "Shall I?"'])
def test_a_question_at_the_end_may_be_followed_by_an_emoji(rule: str) -> None:
    (check,) = active(rule)
    assert all(
        passes(check, f"It opens at nine. {text}") for text in ("Shall I?", "**Shall I?**", "Shall I? 😊", "“Shall I?”")
    )
    assert not any(passes(check, text) for text in ("Shall I? Yes.", "It opens at nine.", "Shall I? 2"))


def test_an_exact_ending_stays_exact() -> None:
    assert active('End the answer with the exact phrase "Bye now".') == ["startend.end_checker(phrase='Bye now')"]


@pytest.mark.parametrize(
    ("rule", "start"),
    [
        ('Answers have no headings and start with "Hello".', r"pattern.require(regex='(?i)\\A"),
        ('Replies have no headings and end with "Atlas".', "pattern.require(regex='(?i)Atlas"),
        (
            'Your reply should contain no tables, include a link and end with "Helpdesk".',
            "pattern.require(regex='(?i)Help",
        ),
    ],
)
def test_what_no_denies_ends_before_a_verb(rule: str, start: str) -> None:
    assert [one for one in active(rule) if one.startswith(start)]


@pytest.mark.parametrize(
    "rule",
    [
        "Answers should not contain a list of references.",
        "No double quotes (they break our HTML).",
        "Include the focus keyword exactly once.",
        "The keyword must appear twice.",
        "Never use capital letters for emphasis.",
        "No capital letters to emphasise words.",
    ],
)
def test_what_is_not_meant_is_not_even_proposed(rule: str) -> None:
    names = [one.check for one in read_prompt(f"{ROLE}- {rule}\n").proposals]
    assert not [
        one for one in names if one.startswith(("citation.required", "keywords.frequency", "case.", "pattern."))
    ]


def test_a_question_may_have_its_answers_below_it() -> None:
    (check,) = active("End every message with a question.")
    options = ("A) Mars\nB) Venus\nC) Earth", "1. Mars\n2. Venus", "**(a)** Mars\n**(b)** Venus")
    assert all(passes(check, f"Which is the largest?\n{text}") for text in options)
    others = ("It is Venus.", "A. Smith will call.", "1. Open it.\nThen call us.")
    assert not any(passes(check, f"Which is the largest?\n{text}") for text in others)


LABELS = ['Signature: "Best, Ada"', "Closing line: Stay curious", 'Ending: "Best, Ada"', "Farewell: Cheers from Ada"]


@pytest.mark.parametrize("label", [*LABELS, "Below it put your name."])
def test_what_a_label_puts_last_is_no_question(label: str) -> None:
    doubts = [one.doubt for one in read_prompt(f"End every message with a question.\n{label}").proposals]
    assert doubts[0] is not None


@pytest.mark.parametrize("label", [*LABELS, 'Greeting: "Good day!"'])
def test_what_a_label_adds_would_be_counted(label: str) -> None:
    first, *_ = read_prompt(f"Answer in at most two sentences.\n{label}").proposals
    assert first.doubt == f"would count what “{label}” adds"


def test_a_label_for_what_the_answer_itself_holds_adds_nothing() -> None:
    first, *_ = read_prompt("Answer in at most two sentences.\nEnding: a question").proposals
    assert first.doubt is None
