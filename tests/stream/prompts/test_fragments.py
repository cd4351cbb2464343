"""A rule without a subject goes on about the sentence before it, which may be of no answer."""

import pytest

from turnsignal.stream.prompts.reader import read_prompt

ROLE = "You are the support assistant of a web shop.\n\n"


def active(prompt: str) -> list[str]:
    return [one.check for one in read_prompt(ROLE + prompt).proposals if one.doubt is None]


@pytest.mark.parametrize("rules", ["No links. At most 90 words.", "Maximum 90 words. No links."])
@pytest.mark.parametrize(
    "before",
    [
        "Users can upload files.",
        "Customers describe the damage in a form.",
        "How it works: customers write reviews.",
        "The user's messages may be long.",
        "Documents come with a summary.",
        "The search tool takes a query.",
        "Send an SMS with `send_sms`.",
        "You can post to Slack with `post_message`.",
        "Write to memory with `save_note`.",
        "Close with a call to action.",
        "Add a title to each answer.",
        "Suggest a follow-up question.",
    ],
)
def test_what_follows_a_sentence_about_another_text_or_a_part_is_doubtful(before: str, rules: str) -> None:
    assert active(f"{before} {rules}") == []


@pytest.mark.parametrize(
    "before",
    [
        "Be friendly.",
        "Answer politely.",
        "You answer questions about orders.",
        "Customers ask about their orders.",
        "Use simple words.",
        "Close with a call to action.\n\nBe kind.",
    ],
)
def test_what_follows_a_sentence_about_the_answer_binds_it(before: str) -> None:
    assert len(active(f"{before} No links. At most 90 words.")) == 2


def test_a_ban_behind_a_part_binds_the_answer_where_no_length_is_named() -> None:
    assert active('Close with a call to action. Avoid the word "cheap". No emojis.')


def test_each_persona_has_rules_of_its_own() -> None:
    several = "You have two personas, Max and Lily.\n\n"
    assert active(f"{several}Max: at most 20 words.") == []
    assert active(f"{several}Max is brief. At most 20 words.") == []
    assert len(active(f"{several}Be brief. At most 20 words.")) == 1
