"""A length right after a part of the answer was named may be the part's; of two limits of one kind, one may be."""

import pytest

from turnsignal.stream.prompts.reader import read_prompt

ROLE = "You are Bo, an assistant.\n\n"


def doubts(prompt: str) -> list[str | None]:
    return [one.doubt for one in read_prompt(ROLE + prompt).proposals]


@pytest.mark.parametrize(
    ("prompt", "part"),
    [
        ("Open with a hook. Use no more than two sentences.", "hook"),
        ("Open with a hook. Make it punchy. Use no more than two sentences.", "hook"),
        ("- Finish with a call to action. Max 12 words.", "call to action"),
        ("- Give an overview of the offer. At least 40 words.", "overview of the"),
        ("Then tell the story. Keep it under 60 words.", "story"),
        ("Include one example. At most 2 sentences.", "example"),
        ("Start every reply with a summary. No more than 3 bullets.", "summary"),
    ],
)
def test_a_length_after_a_part_may_be_the_parts(prompt: str, part: str) -> None:
    assert doubts(prompt) == [f"may concern a part of the answer ({part})"]


@pytest.mark.parametrize(
    "prompt",
    [
        "Open with a hook.\n\nUse no more than two sentences.",
        "- Open with a hook.\n- Use no more than two sentences.",
        "Open with a hook. No emojis.",
        "Open with a hook. Answers have no more than 60 words.",
        "Open with a hook. Be nice to children. Use no more than 60 words.",
        "Give a direct answer. Use at most three sentences.",
        "Help users with their bills. Use at most three sentences.",
        "Answer the user's question. Use at most three sentences.",
    ],
)
def test_a_length_of_its_own_is_the_answers(prompt: str) -> None:
    assert doubts(prompt) == [None]


def test_the_tighter_of_two_limits_is_doubtful_and_the_looser_holds_if_it_names_the_answer() -> None:
    prompt = "- Keep answers under 100 words.\n- Use at most 50 words.\n"
    assert doubts(prompt) == [None, "another limit stands in “Keep answers under 100 words.”"]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Use at most 90 words.", "Write at most 50 words."),
        ("Use at least 3 bullets.", "Use 4 to 6 bullets."),
        ("Use at least 90 words.", "Write at most 50 words."),
    ],
)
def test_two_limits_of_one_kind_are_both_doubtful(first: str, second: str) -> None:
    reasons = doubts(f"- {first}\n- Be kind.\n- {second}\n")
    assert len(reasons) >= 2
    assert None not in reasons


def test_limits_of_two_platforms_are_both_sure() -> None:
    assert doubts("On Slack, use at most 40 words.\n\nOn web, use at most 90 words.") == [None, None]


@pytest.mark.parametrize(
    "other",
    [
        "Answers are at least 150 words so that readers see it all.",
        "## Refunds\n- At least 150 words.",
        "The description has at least 150 words.",
    ],
)
def test_a_limit_that_another_sentence_does_not_let_hold_is_doubtful(other: str) -> None:
    assert doubts(f"- Answers are at most 80 words.\n\n## Depth\n- Be kind.\n- {other}\n")[0] is not None


def test_a_part_that_is_shorter_contradicts_nothing() -> None:
    assert doubts("- At least 150 words.\n- The title has at most 8 words.\n")[0] is None


@pytest.mark.parametrize("rule", ['The reply ends with "Bye".', "End with a question.", "Use at most 40 words."])
def test_what_an_answer_in_json_ends_with_or_its_length_is_of_a_part(rule: str) -> None:
    reasons = doubts(f"- Output JSON only.\n- Be kind.\n- {rule}\n")
    assert reasons[0] is None
    assert "may be about a part of the JSON" in (reasons[1] or "")


def test_the_subject_of_a_limit_is_seen_beside_citations() -> None:
    assert None not in doubts("Abstracts must be under 250 words and must not contain citations.")
