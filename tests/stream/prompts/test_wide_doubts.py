"""Wide doubts: what one rule of a prompt leaves untouched in the others."""

import pytest

from turnsignal.stream.prompts.reader import read_prompt

ROLE = "You are Bo, an assistant.\n\n"


def active(prompt: str) -> list[str]:
    return [one.check.partition("(")[0] for one in read_prompt(prompt).proposals if one.doubt is None]


def test_rules_that_are_numbered_within_a_paragraph_are_rules_of_their_own() -> None:
    rules = '(1) English only. (2) No more than 60 words. (3) Finish with "See you soon!" (4) No emojis!'
    checks = ["language.is", "length.number_words", "pattern.require", "pattern.forbid"]
    assert active(f"{ROLE}Rules: {rules}") == checks
    assert active(f"{ROLE}{rules}") == checks


def test_parts_that_are_numbered_within_a_sentence_stay_parts() -> None:
    assert active(f"{ROLE}Your reply has (1) a greeting and (2) at most two sentences.") == []


@pytest.mark.parametrize("heading", ["At all times:", "# Your feedback", "In general:", "## General rules"])
def test_general_headings_narrow_nothing(heading: str) -> None:
    assert active(f"{ROLE}{heading}\n- No emojis.\n- Max. 150 words.") == ["pattern.forbid", "length.number_words"]


@pytest.mark.parametrize("heading", ["Step 4:", "## Refunds", "Their feedback:", "## Case 2"])
def test_other_headings_still_do(heading: str) -> None:
    assert active(f"{ROLE}{heading}\n- No emojis.\n- Max. 150 words.") == []


def test_general_rules_are_not_of_the_section_above_them() -> None:
    prompt = (
        f"{ROLE}## Action items\nA table with owners.\n\nGeneral rules:\n- Keep the whole document under 400 words."
    )
    assert active(prompt) == ["length.number_words"]


@pytest.mark.parametrize(
    "skill", ["Write flashcards: question on one side, answer on the other.", "Then suggest three follow-up questions."]
)
@pytest.mark.parametrize("ban", ["No emojis.", 'Never use the word "cheap".', "Do not use tables."])
def test_a_ban_holds_of_all_texts_in_an_answer(skill: str, ban: str) -> None:
    assert len(active(f"You tutor students.\n\n- {skill}\n- {ban}")) == 1
    assert active(f"You tutor students.\n\n- {skill}\n- At most two sentences.\n- End with a question.") == []


def test_a_judge_gives_its_own_verdict_in_json() -> None:
    rules = "- The answer must be under 100 words.\n- The answer must be valid JSON."
    prompt = f"You are grading answers of another model.\n\n{rules}\n\nGive a score from 1 to 5. "
    assert active(prompt) == []
    assert active("You are grading answers of another model.\n\nGive a score from 1 to 5. Respond with JSON.") == [
        "format.json"
    ]


def test_what_an_old_bot_did_says_nothing_of_the_new_one() -> None:
    assert active(f"{ROLE}History: the old bot answered in German.\n\nAnswer in English.") == ["language.is"]


@pytest.mark.parametrize(("tag", "holds"), [("<item>", True), ("<thinking>", False)])
def test_words_are_forbidden_in_tags_that_are_shown(tag: str, holds: bool) -> None:
    prompt = f'{ROLE}Put each part in a {tag} tag. Never use the word "cheap".'
    assert active(prompt) == (["keywords.forbidden_words"] if holds else [])


def test_who_breaks_a_rule_lifts_none() -> None:
    assert active(f'{ROLE}Two sentences at most. If someone breaks rule 3, reply "no". Do not use emojis.') == [
        "length.number_sentences",
        "pattern.forbid",
    ]


@pytest.mark.parametrize(
    ("rule", "checks"),
    [
        ('Formal, no emojis, sign with "Ada".', ["pattern.require", "pattern.forbid"]),
        ('No small talk, begin with "Dear guest".', ["pattern.require"]),
        ("Don't use bold, use bullet points for lists.", ["pattern.forbid"]),
        ("Reply with exactly one category in lower case and nothing else.", ["case.lower"]),
        ('Answer with one word: "yes" or "no", lower case, without a full stop.', ["pattern.require", "case.lower"]),
        ('Sign off "Ada".', ["pattern.require"]),
        ("300 words is the limit.", ["length.number_words"]),
        ("Short answers: max 3 sentences.", ["length.number_sentences"]),
        ("Never send more than two sentences at a time.", ["length.number_sentences"]),
        ("No jargon, no slang, keep it under 90 words.", ["length.number_words"]),
        ("Keep it short (1-2 sentences), chill, lowercase only.", ["length.number_sentences", "case.lower"]),
    ],
)
def test_usual_wording_is_read_as_it_is_meant(rule: str, checks: list[str]) -> None:
    reading = read_prompt(f"{ROLE}- {rule}\n")
    assert [one.check.partition("(")[0] for one in reading.proposals] == checks
    assert all(one.doubt is None for one in reading.proposals)


def test_what_should_be_aimed_for_is_no_exact_count() -> None:
    assert active(f"{ROLE}You should aim for three sentences.") == []
    assert active(f"{ROLE}Answer in three sentences.") == ["length.number_sentences"]
