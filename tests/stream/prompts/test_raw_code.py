"""Where the answer is code alone, a ban of Markdown is one of code fences: its other signs mean something in code."""

import pytest

from turnsignal.stream.prompts.reader import read_prompt

FENCES = "pattern.forbid(regex='```')"


def asked(prompt: str) -> list[str]:
    return [one.check for one in read_prompt(prompt).proposals if one.doubt is None]


@pytest.mark.parametrize(
    "order",
    [
        "Output raw SQL.",
        "Return only the query.",
        "Respond with nothing but the bash command.",
        "Write valid YAML, and nothing else.",
        "Only the Python code.",
    ],
)
def test_no_markdown_in_raw_code_means_no_fences(order: str) -> None:
    assert asked(f"{order} Do not use markdown.") == [FENCES]


@pytest.mark.parametrize(
    "order", ["You help people who write code.", "Return the code and explain it.", "You explain SQL."]
)
def test_beside_text_markdown_is_all_of_it(order: str) -> None:
    (one,) = asked(f"{order} Do not use markdown.")
    assert one != FENCES


def test_a_dash_that_is_asked_for_is_no_list_and_no_markdown() -> None:
    reading = read_prompt("No lists, no markdown. Start each line of a speaker with a dash.")
    assert [one.doubt for one in reading.proposals] == ["contradicts “Start each line of a speaker with a dash.”"] * 2


def test_a_limit_for_each_of_two_platforms_is_doubtful() -> None:
    reading = read_prompt("You are Bo. Keep answers under 50 words on mobile and under 200 words on the web.")
    assert [one.doubt for one in reading.proposals] == ["names another limit for each platform"] * 2


@pytest.mark.parametrize(
    "role", ["Write TypeScript.", "You are a coding assistant.", "You review code of our app.", "You are a Rust tutor."]
)
def test_a_sign_of_statements_is_doubtful_where_code_is_written(role: str) -> None:
    (proposal,) = read_prompt(f"{role} Never use semicolons.").proposals
    assert proposal.doubt == f"may be of code (“{role}”)"


def test_a_sign_of_statements_is_one_of_prose_elsewhere() -> None:
    (proposal,) = read_prompt("You help readers of a newspaper. Never use semicolons.").proposals
    assert proposal.doubt is None
