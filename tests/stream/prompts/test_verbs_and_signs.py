"""A verb names no word, what need not be is not forbidden, and a word is forbidden with its sign."""

import pytest

from turnsignal.stream.names import parse_name
from turnsignal.stream.prompts.reader import read_prompt


def active(rule: str) -> list[str]:
    prompt = f"You are the assistant of Kivo, a shop for tools.\n\n## Style\n- {rule}\n"
    return [one.check for one in read_prompt(prompt).proposals if one.doubt is None]


@pytest.mark.parametrize(
    "rule",
    [
        "Never name prices.",
        "Don't name medicines.",
        "You must not name competitors.",
        "Please never name staff, brands or products.",
        "Never phrase questions.",
    ],
)
def test_what_is_not_to_be_named_is_no_word(rule: str) -> None:
    assert active(rule) == []


@pytest.mark.parametrize(
    ("rule", "check"),
    [
        ("Do not use the name Acme.", r"pattern.forbid(regex='\\b(?:Acme)\\b')"),
        ('Never name "Acme".', r"pattern.forbid(regex='\\b(?:Acme)\\b')"),
        ('Do not mention "Zara" or "Ikea".', r"pattern.forbid(regex='\\b(?:Zara|Ikea)\\b')"),
        ('Never write "US".', r"pattern.forbid(regex='\\b(?:US)\\b')"),
        ('NEVER WRITE "FREE".', "keywords.forbidden_words(words=FREE)"),
        ("Avoid the word Acme.", "keywords.forbidden_words(words=Acme)"),
        ('Never say "Sure" or "Unfortunately".', "keywords.forbidden_words(words='Sure|Unfortunately')"),
    ],
)
def test_names_and_abbreviations_are_forbidden_as_they_are_written(rule: str, check: str) -> None:
    assert active(rule) == [check]


@pytest.mark.parametrize(
    ("rule", "checks"),
    [
        ('No introductory phrases ("Sure", "Well").', [r"pattern.forbid(regex='(?i)\\A\\W*(?:Sure|Well)(?:\\W|\\z)')"]),
        ('Avoid openers such as "Sure".', [r"pattern.forbid(regex='(?i)\\A\\W*Sure(?:\\W|\\z)')"]),
        ('No filler phrases like "Sure" or "Great question".', ["keywords.forbidden_words(words='Great question')"]),
        ('Avoid filler words such as "basically".', ["keywords.forbidden_words(words=basically)"]),
        ('No closing phrases like "Thanks" or "Best".', []),
        ('No greetings ("Hello", "Welcome").', []),
    ],
)
def test_what_is_forbidden_in_a_place_or_manner_is_not_forbidden_everywhere(rule: str, checks: list[str]) -> None:
    assert active(rule) == checks


@pytest.mark.parametrize(
    "rule",
    [
        "You need not use bullet points.",
        "You need never use bullet points.",
        "Answers need not end with a question.",
        'You need not say "please".',
        "You need not use headings, tables or bullet points.",
        'An answer need not start with "Hello".',
        "You need not avoid emojis.",
        "Replies need not be in English.",
    ],
)
def test_what_need_not_be_is_neither_forbidden_nor_asked_for(rule: str) -> None:
    assert active(rule) == []


@pytest.mark.parametrize(
    ("rule", "checks"),
    [
        (
            'Never use filler such as "Great!" or "Awesome!".',
            [r"pattern.forbid(regex='(?i)\\b(?:Great\\!|Awesome\\!)')"],
        ),
        ("Do not say “Sure!”", [r"pattern.forbid(regex='(?i)\\b(?:Sure\\!)')"]),
        (
            'Never use "Great!" or "certainly".',
            ["keywords.forbidden_words(words=certainly)", r"pattern.forbid(regex='(?i)\\b(?:Great\\!)')"],
        ),
        ('Never say "Great question!".', ["keywords.forbidden_words(words='Great question')"]),
        ('Never say "cheap"!', ["keywords.forbidden_words(words=cheap)"]),
    ],
)
def test_of_an_exclamation_the_sign_is_a_part(rule: str, checks: list[str]) -> None:
    assert active(rule) == checks


@pytest.mark.parametrize(
    ("rule", "rest"),
    [
        ('Never use "I", "we" or "you".', ["keywords.forbidden_words(words='we|you')"]),
        ('Do not say "I".', []),
        ('Avoid the words "u" and "thx".', ["keywords.forbidden_words(words=thx)"]),
    ],
)
def test_a_single_letter_is_doubtful(rule: str, rest: list[str]) -> None:
    assert active(rule) == rest


@pytest.mark.parametrize(
    ("rule", "regex"),
    [
        ('Write "WiFi" and never "wifi".', r"\\b(?:wifi)\\b"),
        ('Write "JavaScript", never "Javascript" or "javascript".', r"\\b(?:Javascript|javascript)\\b"),
        ('Always write "Hotel Sol", never "hotel sol".', r"\\b(?:hotel\\s+sol)\\b"),
        ('Spell it "LUMEN" and never "Lumen".', r"\\b(?:Lumen)\\b"),
    ],
)
def test_a_spelling_that_differs_in_capitals_is_forbidden_as_it_is_written(rule: str, regex: str) -> None:
    assert active(rule) == [f"pattern.forbid(regex='{regex}')"]


def test_two_spellings_that_are_both_forbidden_are_one_word() -> None:
    assert active('Never write "cheap" or "CHEAP".') == ["keywords.forbidden_words(words='cheap|CHEAP')"]


@pytest.mark.parametrize(
    ("rule", "bound"),
    [
        ("Keep messages at or below 40 words.", "at_most=40"),
        ("Keep messages at or under 40 words.", "at_most=40"),
        ("Keep messages to or below 40 words.", "at_most=40"),
        ("Use less than or equal to 40 words.", "at_most=40"),
        ("Keep it below 40 words.", "at_most=39"),
        ("Use thirty words at the most.", "at_most=30"),
        ("Use 30 words at the very least.", "at_least=30"),
        ("Write at or above 20 words.", "at_least=20"),
        ("Write above 20 words.", "at_least=21"),
    ],
)
def test_what_may_be_reached_is_within_the_bound(rule: str, bound: str) -> None:
    assert active(rule) == [f"length.number_words({bound},by_spaces=true)"]


@pytest.mark.parametrize("rule", ["Answer in 3 to 6 words.", "Use at most 11 words.", "Keep it under ten words."])
def test_so_few_words_that_a_hyphen_decides_are_counted_as_people_do(rule: str) -> None:
    (check,) = active(rule)
    assert "by_spaces=true" in check


@pytest.mark.parametrize("rule", ["Use at most 12 words.", "Use at least 3 words."])
def test_more_words_or_a_least_number_are_not(rule: str) -> None:
    assert len(active(rule)) == 1


@pytest.mark.parametrize("rule", ["No ellipsis.", "Never use ellipses.", "Do not use emojis or ellipses."])
def test_an_ellipsis_is_a_sign(rule: str) -> None:
    assert any("…" in check for check in active(rule))


@pytest.mark.parametrize(
    ("sentence", "regex"),
    [
        ('Do not open with filler such as "Great question".', r"(?i)\A\W*Great\s+question(?:\W|\z)"),
        ('Avoid starting with phrases like "I hope".', r"(?i)\A\W*I\s+hope(?:\W|\z)"),
        ('Never begin a reply with clichés (e.g. "In sum").', r"(?i)\A\W*In\s+sum(?:\W|\z)"),
        ('Answers must not open with fillers like "Sure thing".', r"(?i)\A\W*Sure\s+thing(?:\W|\z)"),
        ('Do not end with phrases like "Hope it helps".', r"(?i)Hope\s+it\s+helps[^\pL\pN?]*\z"),
    ],
)
def test_a_ban_on_a_kind_of_opening_is_of_the_opening(sentence: str, regex: str) -> None:
    (one,) = read_prompt(sentence).proposals
    assert (parse_name(one.check).params["regex"], one.doubt) == (regex, None)
