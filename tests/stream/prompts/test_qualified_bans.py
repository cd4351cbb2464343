"""What need not be, bans of a form or a place, and what is said of a user's words bind no more than they say."""

import pytest

from turnsignal.stream.prompts.reader import read_prompt

ROLE = "You are the support assistant of a hosting company. You answer questions of customers.\n\n"


def sure(prompt: str) -> list[str]:
    return [one.check for one in read_prompt(prompt).proposals if one.doubt is None]


@pytest.mark.parametrize(
    "label",
    [
        "Not required:",
        "No need for:",
        "Not mandatory:",
        "You need not use:",
        "You don't need to include:",
        "Never necessary:",
        "## Not compulsory",
    ],
)
def test_what_need_not_be_is_not_forbidden(label: str) -> None:
    assert sure(f"{ROLE}{label}\n- headings\n- emojis\n") == []


@pytest.mark.parametrize(
    "label", ["Not allowed:", "Not permitted:", "You must not use:", "No-gos:", "You need to avoid:"]
)
def test_what_must_not_be_is_forbidden(label: str) -> None:
    assert len(sure(f"{ROLE}{label}\n- headings\n- emojis\n")) == 2


@pytest.mark.parametrize(
    "rule",
    [
        "No links in Markdown format.",
        "Never paste links in the Slack syntax.",
        "No code fences around the answer.",
        "Avoid parentheses around citations.",
        "No leading questions.",
        'Do not answer questions that contain "salary".',
        'Never process requests containing "sudo".',
        "Cite the documents you use.",
        "You MUST cite search results used.",
    ],
)
def test_a_ban_or_wish_of_some_is_none_of_all(rule: str) -> None:
    assert sure(f"{ROLE}- {rule}") == []


@pytest.mark.parametrize(
    "rule",
    [
        "No links in any format.",
        "No emojis in any shape or form.",
        "No lists, no bold around names.",
        "Never lead with a question.",
        'Do not write replies that mention "lawsuit".',
        "Always cite your sources.",
    ],
)
def test_a_ban_or_wish_of_all_is_read(rule: str) -> None:
    assert len(sure(f"{ROLE}- {rule}")) == 1


def test_fences_around_the_json_that_the_answer_is_are_any_fences() -> None:
    assert len(sure(f"{ROLE}Return only JSON, no code fences around it.")) == 2


@pytest.mark.parametrize("place", ["directly after each sentence", "right behind the sentence they support"])
def test_after_a_sentence_is_on_either_side_of_its_full_stop(place: str) -> None:
    assert "citation.placement(after_stop=true)" in sure(f"{ROLE}Put citations {place}.")


@pytest.mark.parametrize(
    "rule",
    [
        'Do not say "cheap" – say "affordable".',
        'Never write "cheap", write "affordable" instead.',
        'Avoid the word "cheap" (it\'s "affordable").',
    ],
)
def test_what_is_to_be_said_instead_is_not_forbidden(rule: str) -> None:
    assert sure(f"{ROLE}- {rule}") == ["keywords.forbidden_words(words=cheap)"]


@pytest.mark.parametrize(
    ("rules", "number"),
    [
        ("Do not use bullet points, headings, or any other formatting.", 2),
        ('Never begin with "Great question" or similar.', 1),
        ("Keep every message under 6 sentences and free of jargon.", 1),
        ("Always answer in German.\n- Never switch to English, even if the user writes in English.", 1),
        ('End every answer with "Crypto is volatile."\n- No disclaimers other than that.', 1),
        ("Answer length: short by default, longer for guides. No emojis. No tables.", 2),
        ("Always reply in English, also when the question is in Norwegian.", 1),
    ],
)
def test_what_lets_nothing_off_leaves_no_doubt(rules: str, number: int) -> None:
    assert len(sure(f"{ROLE}- {rules}")) == number


def test_where_to_cite_what_is_used_is_sure_and_that_it_is_cited_is_not() -> None:
    rule = "You must cite the search results used directly after each sentence."
    assert sure(f"{ROLE}- {rule}") == ["citation.placement(after_stop=true)"]
    assert "citation.required" in sure(f"{ROLE}- For every answer, cite the document used.")
