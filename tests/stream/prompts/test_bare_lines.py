"""Rules on lines of their own without a verb or a stop are rules; what may be a title is listed, too."""

import pytest

from turnsignal.stream.prompts.reader import read_prompt


def sure(prompt: str) -> int:
    return sum(one.doubt is None for one in read_prompt(prompt).proposals)


@pytest.mark.parametrize(
    ("prompt", "active", "listed"),
    [
        ("# Rules\nMax 40 words\nCalm tone\nNo tables", 2, ("Calm tone",)),
        ("You are Bo.\n\nPolite but firm\nNo tables\n\nMax 40 words", 2, ("Polite but firm",)),
        ("Tone\nRelaxed\n\nLength\nMax 40 words", 1, ("Relaxed",)),
        ("You are Bo.\n\nDanish only\nMax 40 words", 1 + 1, ()),
    ],
)
def test_how_answers_are_is_a_rule_on_a_line_of_its_own(prompt: str, active: int, listed: tuple[str, ...]) -> None:
    assert (sure(prompt), read_prompt(prompt).uncovered) == (active, listed)


@pytest.mark.parametrize("line", ["Returns", "Angry guests", "Members only", "SMS only"])
def test_what_may_be_a_title_of_bare_lines_is_listed_and_narrows_them(line: str) -> None:
    reading = read_prompt(f"You are Bo.\n\n{line}\nNo tables\nMax 40 words")
    assert [one.doubt for one in reading.proposals] == [f"stands under “{line}”"] * 2
    assert reading.uncovered == (line,)


def test_a_title_of_sentences_is_none_of_the_rules() -> None:
    assert read_prompt("Returns\nBe kind.\n\nShipping\nBe quick.").uncovered == ("Be kind.", "Be quick.")


@pytest.mark.parametrize(
    "rule",
    [
        "You are quick and to the point.",
        "You're patient.",
        "You round prices to full euros.",
        "You think in metric units.",
        "You maintain secrecy.",
        "I prefer tables.",
        "I'd like you to be blunt.",
        "Guessing is discouraged.",
        "Returns are handled by post.",
        "Safety comes first.",
        "3e rules.",
        "if i say something silly just laugh",
        "EN->FR",
    ],
)
@pytest.mark.parametrize("place", ["{}", "- {}", "# Rules\n{}\nBe kind."])
def test_a_plain_statement_is_listed(rule: str, place: str) -> None:
    reading = read_prompt(f"You are Bo, the assistant of a bus company.\n\n{place.format(rule)}\n")
    assert rule in reading.uncovered


@pytest.mark.parametrize(
    "role",
    [
        "You are Bo, the assistant of a bus company.",
        "You are a helpful assistant.",
        "You work for a bus company.",
        "You are based in Lyon.",
        "You know our timetable.",
    ],
)
def test_who_the_assistant_is_is_not_listed(role: str) -> None:
    assert read_prompt(f"{role}\n\nNever use emojis.").uncovered == ()
