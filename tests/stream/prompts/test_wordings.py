"""Wordings: which check is read from how a rule is worded, and where the same words ask for nothing or for less."""

import pytest

from turnsignal.stream.prompts.proposals import EMOJIS
from turnsignal.stream.prompts.reader import read_prompt

ROLE = "You are Bo, an assistant.\n\n"


def proposed(rules: str) -> dict[str, str | None]:
    return {one.check: one.doubt for one in read_prompt(f"{ROLE}- {rules}").proposals}


PLAIN = [
    ("Do not place more than three citations after one sentence.", "citation.max_consecutive"),
    ("Cite no more than two sources per sentence.", "citation.max_consecutive(at_most=2)"),
    ("Place citations at the end of the sentence, before the period.", "citation.placement"),
    ("Answer in one paragraph of 40 to 80 words.", "length.number_words(at_least=40,at_most=80,by_spaces=true)"),
    (
        "Never mention our competitors Trellix or Mondrian by name.",
        r"pattern.forbid(regex='\\b(?:Trellix|Mondrian)\\b')",
    ),
    ("Don't use buzzwords (synergy, leverage).", "keywords.forbidden_words(words='synergy|leverage')"),
    ('Avoid clichés such as "nestled" and "boasts".', "keywords.forbidden_words(words='nestled|boasts')"),
    ('Use "arr" at least once per reply.', "keywords.existence(words=arr)"),
    ('The last line must be "Go on?"', r"pattern.require(regex='(?i)Go\\s+on\\?[^\\pL\\pN?]*\\z')"),
    ("Finish with the line: See you.", r"pattern.require(regex='(?i)See\\s+you[^\\pL\\pN?]*\\z')"),
    (
        "Respond with exactly one of the following labels and nothing else: ALLOW, REVIEW, BLOCK.",
        r"pattern.require(regex='(?i)(?:\\A|\\W)(?:ALLOW|REVIEW|BLOCK)(?:\\W|\\z)')",
    ),
]


@pytest.mark.parametrize(("rule", "check"), PLAIN, ids=[rule for rule, _ in PLAIN])
def test_a_rule_is_read(rule: str, check: str) -> None:
    checks = proposed(rule)
    assert check in checks
    assert set(checks.values()) == {None}


@pytest.mark.parametrize(
    "rule",
    [
        "Put no more than one citation after each paragraph.",
        "Do not place citations after the period.",
        "Never mention our competitors by name.",
        "Answer with one of the following: the price, a link or a question about it.",
    ],
)
def test_a_rule_that_no_check_can_tell_is_left_out(rule: str) -> None:
    assert proposed(rule) == {}


@pytest.mark.parametrize(
    "rule",
    [
        "No more than 40 words in one paragraph.",
        "Keep messages that are not urgent below 50 words.",
        'Avoid filler phrases like "Well," and "So,".',
        "Never use DELETE, UPDATE or DROP.",
        "Use one of the following tones: warm, calm.",
    ],
)
def test_what_is_of_a_part_or_a_place_is_doubtful(rule: str) -> None:
    checks = proposed(rule)
    assert checks
    assert None not in checks.values()


def test_not_of_which_messages_turns_no_limit() -> None:
    assert "length.number_words(at_most=49,by_spaces=true)" in proposed(
        "Keep messages that are not urgent below 50 words."
    )
    assert proposed("Write messages that are not longer than 50 words.") == {
        "length.number_words(at_most=50,by_spaces=true)": None
    }


def test_an_emoji_in_every_message_is_required_however_it_is_written() -> None:
    (check,) = proposed("Use at least one emoji in every message.")
    assert check.startswith("pattern.require")
    assert ":[a-z]" in check
    assert f"'{EMOJIS}'" not in check


@pytest.mark.parametrize(
    "lead",
    [
        "Your responses are read aloud by text-to-speech, so:",
        "Because all messages are shown on a small screen:",
        "You must:",
    ],
)
def test_what_becomes_of_all_answers_narrows_nothing(lead: str) -> None:
    (proposal,) = read_prompt(f"{ROLE}{lead}\n- Keep responses under 20 words.").proposals
    assert proposal.doubt is None


@pytest.mark.parametrize("dash", ["-", "–", "—", "•"])
@pytest.mark.parametrize("lead", ["Never:", "Please do not", "You must not:"])
def test_what_a_lead_forbids_is_forbidden_behind_any_bullet(lead: str, dash: str) -> None:
    reading = read_prompt(f'{ROLE}{lead}\n{dash} say "cheap"\n{dash} end with "Cheers"')
    assert [one.check.partition("(")[0] for one in reading.proposals] == ["keywords.forbidden_words", "pattern.forbid"]


def test_why_all_messages_are_shown_somewhere_binds_no_check() -> None:
    (proposal,) = read_prompt(f"{ROLE}- No Markdown, because messages are shown in WhatsApp.").proposals
    assert proposal.platforms == ()


def test_what_all_answers_end_with_may_stand_below_a_heading_of_its_own() -> None:
    (sign_off,) = read_prompt(f'{ROLE}Be kind.\n\n## Ending\nClose every message with "Your team".').proposals
    assert sign_off.doubt is None
    (last,) = read_prompt(f'{ROLE}Be kind.\n\n## Closing\nClose with "Your team".').proposals
    assert last.doubt is not None  # of the conversation, maybe
    (limit,) = read_prompt(f"{ROLE}Be kind.\n\n## Ending\nNo more than 9 sentences.").proposals
    assert limit.doubt is not None


def test_an_item_with_a_colon_leads_its_neighbours_until_the_next() -> None:
    (cheers, end) = read_prompt(f'{ROLE}- Do not:\n- end with "Cheers"\n- Always:\n- end with "Bye"').proposals
    assert cheers.check.startswith("pattern.forbid")
    assert end.check.startswith("pattern.require")


def test_an_item_with_a_colon_leads_no_item_that_stands_further_out() -> None:
    checks = {one.check for one in read_prompt(f"{ROLE}- Do not:\n  - use slang\n- End with a question.").proposals}
    assert all(check.startswith("pattern.require") for check in checks)
    assert checks
