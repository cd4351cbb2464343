"""Rules that bind whole answers although other words stand near: a list of bans, a text that is the answer, "it"."""

import pytest

from turnsignal.stream.prompts.reader import read_prompt

ROLE = "You are Bo, an assistant.\n\n"
HELD = [
    (f"{ROLE}- Do not use lists, headings or code.", "headings"),
    (f"{ROLE}- Never include headings, tables or footers.", "tables"),
    (f"{ROLE}- Don't use screenshots or images.", "images"),
    (f'{ROLE}- Never admit a fault or use the phrase "our fault".', "our fault"),
    (f"{ROLE}- No headings with #.", "headings"),
    (f"{ROLE}- Never say more than 35 words in one turn.", "35 words"),
    (f"{ROLE}- lowercase only, like a text message", "lowercase"),
    (f"{ROLE}Every answer must cite the search results used directly after each sentence, as [1].", "cite"),
    (f"{ROLE}- Greet people by their first names.\n- Keep it below 50 words.", "50 words"),
    (f"{ROLE}- Use a table when plans are compared.\n- Keep it below 50 words.", "50 words"),
    (f"{ROLE}Do not use placeholders such as [Name]. Keep it below 50 words.", "50 words"),
    (f"{ROLE}- At most 300 words. When asked for a clause, do not exceed 80 words.", "300 words"),
    ("Summarize the meeting that the user pastes.\n\nYour summary must:\n1. Be no longer than 200 words.", "200 words"),
    ("You write a weekly digest.\n\nRules for the digest:\n- At most 300 words.", "300 words"),
    ("You are a content writer.\n\n- The article is at least 800 words long.", "800 words"),
    ("You tell stories to children.\n\nEach story:\n- has 150 to 250 words", "250 words"),
]
OF_A_PART = [
    (f"{ROLE}- No headings or tables inside code.", "tables"),
    (f"{ROLE}- No lists with nested items or code.", "lists"),
    (f"{ROLE}- Do not translate headings or code.", "headings"),
    (f"{ROLE}- Add a title.\n- Keep it below 50 words.", "50 words"),
    (f"{ROLE}- At most 100 words. If the user asks for a plan, use up to 300 words.", "100 words"),
    ("Summarize the article.\n\nFormat:\n- **Headline** (max 10 words)\n- Summary (max 60 words)", "60 words"),
    ("You summarize talks.\n\n## Summary\nAt most 60 words.\n\n## Decisions\nAs bullet points.", "60 words"),
    ("You check texts. Users paste an article.\n\n- The article is at most 800 words long.", "800 words"),
]


def doubts(prompt: str, words: str) -> list[str | None]:
    return [one.doubt for one in read_prompt(prompt).proposals if words in " ".join(one.sentences)]


@pytest.mark.parametrize(("prompt", "words"), HELD)
def test_what_binds_the_whole_answer_holds(prompt: str, words: str) -> None:
    reasons = doubts(prompt, words)
    assert reasons
    assert reasons == [None] * len(reasons)


@pytest.mark.parametrize(("prompt", "words"), OF_A_PART)
def test_what_may_bind_a_part_is_doubtful(prompt: str, words: str) -> None:
    assert None not in doubts(prompt, words)


def test_what_is_said_of_each_is_of_a_part_and_how_many_of_the_whole() -> None:
    rule = "Your summary has exactly 5 bullet points, each one sentence long and no more than 25 words."
    reasons = {one.check.partition("(")[0]: one.doubt for one in read_prompt(f"You summarize talks. {rule}").proposals}
    assert reasons.pop("length.number_words") is not None
    assert reasons.pop("length.number_sentences") is not None
    assert set(reasons.values()) == {None}
