"""Settings by labels, keys of a schema, orders behind a case and the rest of a sentence with a check are listed."""

import pytest

from turnsignal.stream.prompts.reader import read_prompt


@pytest.mark.parametrize(
    "sentence",
    [
        "Currency: EUR",
        "Signature: Ada from Acme",
        "Spelling: British",
        "Pronouns: we",
        "Footer: the source",
        "If nothing fits return an empty array.",
        "When the list is empty output an empty object.",
        '{"total": number, "currency": "EUR" | "USD"}',
    ],
)
def test_what_sets_something_is_listed(sentence: str) -> None:
    assert sentence in read_prompt(f"You are Ada.\nNever use emojis.\n{sentence}\n").uncovered


@pytest.mark.parametrize("fact", ["Role: entity tagger", "Customer tier: {{tier}}"])
def test_facts_by_labels_are_not(fact: str) -> None:
    assert fact not in read_prompt(f"You are Ada.\nNever use emojis.\n{fact}\n").uncovered


@pytest.mark.parametrize(
    ("sentence", "rest"),
    [
        (
            "Respond in plain text, without any formatting, in at most two sentences.",
            "plain text, without any formatting",
        ),
        ("Write at most 50 words, without jargon.", "without jargon"),
        ("Answer in at most two sentences, in a friendly tone.", "in a friendly tone"),
    ],
)
def test_the_rest_of_a_sentence_with_a_check_is_listed(sentence: str, rest: str) -> None:
    reading = read_prompt(f"You are Ada. {sentence}")
    assert [one.doubt for one in reading.proposals] == [None]
    (listed,) = reading.uncovered
    assert rest.split(", ")[-1] in listed.partition("(no check: ")[2]


@pytest.mark.parametrize(
    "sentence",
    ["Use no commas.", "Write without emojis.", "Without exceeding 50 words, use no commas."],
)
def test_what_its_check_tells_is_not_listed(sentence: str) -> None:
    assert read_prompt(f"You are Ada. {sentence}").uncovered == ()
