"""How a prompt breaks its rules into lines, clauses and rows tells them apart, and keeps what stands above them."""

import pytest

from turnsignal.stream.prompts.reader import read_prompt

ROLE = "You are Bo, an assistant for the users of an app.\n\n"


def doubts(prompt: str) -> list[str | None]:
    return [one.doubt for one in read_prompt(ROLE + prompt).proposals]


@pytest.mark.parametrize(
    "prompt",
    [
        "2. STYLE\n2.1 Never use emojis.\n2.2 Do not use tables.",
        "2.1. Never use emojis.\n2.2. Do not use tables.",
        "dont use emojis\nno tables\nif user is angry say sorry",
        "→ no emojis\n→ no tables",
        "Prohibited: off-label claims; emojis; tables.",
        "| Topic | Rule |\n|---|---|\n| Emojis | Never |\n| Tables | none |",
        "With everybody:\n- no emojis\n- no tables",
        "Title – no colon\nLinks – three\n\nTone: nice. No emojis. No tables.",
    ],
)
def test_each_line_is_a_rule_of_its_own(prompt: str) -> None:
    assert doubts(prompt) == [None, None]


NARROW = [
    "2. E-mails\n2.1 No emojis.",
    "2. E-mails\n2.1 Style\n2.1.1 No emojis.",
    "2.1 E-mails are special.\n2.1.1 No emojis.",
    "1 Letters\n1.1 Tone\nNo emojis.",
    "Letters\n1.1 Tone\nBe kind.\n1.2 Form\nNo emojis.",
    "→ Refunds\nNo emojis.",
    "2.1 In e-mails to clients\n(a) no emojis",
    "for refunds\nno emojis",
    "no emojis\nif they ask for it",
    "no emojis\nunless they ask",
    "if user is angry say sorry\nno emojis",
    "| Case | Reply |\n|---|---|\n| Angry | No emojis. |",
    "You write tickets, you never use emojis in them.",
]


@pytest.mark.parametrize("prompt", NARROW)
def test_what_stands_above_a_line_or_goes_on_below_it_still_narrows_it(prompt: str) -> None:
    assert None not in doubts(prompt)


def test_what_is_prohibited_is_listed_piece_by_piece() -> None:
    assert "superlatives" in read_prompt(f"{ROLE}Prohibited: rude jokes; superlatives; emojis.").uncovered


def test_a_rule_behind_a_list_of_what_is_prohibited_is_not_forbidden() -> None:
    reading = read_prompt(f"{ROLE}Prohibited: emojis; use bold.")
    assert [one.sentences for one in reading.proposals] == [("Prohibited: emojis",)]


@pytest.mark.parametrize(
    ("rule", "after"),
    [
        ("Always end with a question.", "You may use one emoji per message, but no more than one."),
        ("Emojis: none.", "Hashtags: none, except in captions."),
    ],
)
def test_what_the_next_sentence_says_of_another_thing_lets_nothing_off(rule: str, after: str) -> None:
    asked = [one for one in read_prompt(f"{ROLE}{rule} {after}").proposals if rule in one.sentences]
    assert [one.doubt for one in asked] == [None]


def test_the_name_of_an_assistant_names_no_part() -> None:
    assert read_prompt("# Bot for field technicians\n\n- At most 50 words.").proposals[0].doubt is None


def test_bullets_in_a_list_are_not_those_of_the_answer() -> None:
    assert doubts("Use no more than five bullets in a list.") == ["may be of each list"]


def test_a_limit_of_the_response_binds_it_where_it_holds_ideas() -> None:
    assert doubts("Give three ideas. Always respond with fewer than 90 words.") == [None]
    assert doubts("Give three replies. Always respond with fewer than 90 words.") != [None]
