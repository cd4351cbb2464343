"""Rules that another rule breaks, counts that are none, denials by "nothing", and exceptions behind a reason."""

import pytest

from turnsignal.stream.prompts.reader import read_prompt


def sure(prompt: str) -> list[str]:
    """Return the checks that are active."""
    return [one.check for one in read_prompt(f"You are a bot. {prompt}").proposals if one.doubt is None]


@pytest.mark.parametrize(
    "prompt",
    [
        'Write in lowercase only. Always end with "Team Lumo".',
        'No commas. Start with "Hello, friend".',
        'At most 2 emojis. Start with "🎉🎉🎉".',
        'Max 5 words. End with "Thank you for calling Nordwind Bikes in Hamburg today".',
        "End with a question. Be kind. Put a disclaimer last.",
        "All lowercase. Be kind. Error codes look like ERR-42, copy them exactly.",
        "No commas. Be kind. Write prices like 1,000.00 USD.",
    ],
)
def test_what_one_rule_asks_for_and_another_forbids_is_for_a_person_to_decide(prompt: str) -> None:
    assert sure(prompt) == []


@pytest.mark.parametrize(
    ("prompt", "checks"),
    [
        ('Write in lowercase only. Always end with "team lumo".', 2),
        ('No commas. Start with "Hello friend".', 2),
        ('Max 50 words. End with "Bye".', 1),
        ('Max 5 words. Start with "Hi {{full name of the customer who is calling us}}".', 1),
    ],
)
def test_rules_that_go_together_stay_sure(prompt: str, checks: int) -> None:
    assert len(sure(prompt)) >= checks


@pytest.mark.parametrize(
    "limit",
    [
        "Keep answers to about three sentences.",
        "Keep it around three sentences.",
        "Write ~3 sentences.",
        "Three sentences, give or take.",
        "Keep replies around 2-3 sentences.",
        "Use approximately 3 bullet points.",
        "Write about two paragraphs.",
        "Answer in three sentences or so.",
    ],
)
def test_a_number_that_is_about_so_much_is_none_to_hold_answers_to(limit: str) -> None:
    assert sure(limit) == []


def test_a_plain_number_still_is() -> None:
    assert sure("Answer in at most three sentences.") == ["length.number_sentences(at_most=3,skip_markers=true)"]


@pytest.mark.parametrize(
    "denial",
    [
        "Wrap nothing in quotes.",
        "Nothing should be wrapped in quotes.",
        'Include "sorry" in no reply.',
        "Return nothing in JSON.",
        "Write nothing in English.",
        'Mention "refunds" or nothing.',
    ],
)
def test_nothing_denies(denial: str) -> None:
    assert sure(denial) == []


@pytest.mark.parametrize(
    ("rule", "check"),
    [
        ('Mention nothing about "refunds".', "keywords.forbidden_words(words=refunds)"),
        ("Write nothing longer than 50 words.", "length.number_words(at_most=50,by_spaces=true)"),
        ("Return nothing but JSON.", "format.json"),
        ("Return JSON and nothing else.", "format.json"),
    ],
)
def test_nothing_says_what_is_forbidden_or_all_that_is_wanted(rule: str, check: str) -> None:
    assert sure(rule) == [check]


@pytest.mark.parametrize(
    "prompt",
    [
        "No emojis. Use metric units. People love a joke now and then, so one emoji is OK on birthdays.",
        "No exclamation marks. Be kind. Customers enjoy warmth, hence one exclamation mark is allowed in greetings.",
        "No links. Be kind. People ask for maps a lot, so a map link is OK for directions.",
        "Answer only in English. Be kind. German is OK too.",
        "Answer only in English. Be kind. French customers should be helped in French.",
        "Respond in English. Be kind. Should the guest prefer French, use French.",
        "Answer only in English. Be kind. Spanish-speaking guests: switch to Spanish.",
        "Always answer in JSON. Be kind. Greetings get plain text.",
        "Always answer in JSON. Be kind. Help texts are markdown.",
        "No markdown. Be kind. Wrap code in triple backticks.",
        "No markdown. Be kind. Code goes in fenced blocks.",
    ],
)
def test_what_another_sentence_lets_off_is_doubtful_whatever_stands_before_it(prompt: str) -> None:
    assert sure(prompt) == []


def test_a_language_that_is_denied_or_only_named_changes_nothing() -> None:
    for beside in ("Never switch to Spanish.", "Our restaurant serves Italian food."):
        assert sure(f"Answer only in English. Be kind. {beside}") == ["language.is(code=en)"]
