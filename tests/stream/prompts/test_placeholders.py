"""A text with a hole is not said word for word."""

import pytest

from turnsignal.stream.prompts.reader import read_prompt


def sure(prompt: str) -> list[str]:
    return [one.check for one in read_prompt(prompt).proposals if one.doubt is None]


@pytest.mark.parametrize(
    "text",
    [
        "Dear Ms/Mr NAME,",
        "Hello USER",
        "Hi customer_name,",
        "Order #ORDER_ID",
        "Confidence: X%",
        "Best, Your Name",
        "Case CASENO",
    ],
)
def test_a_word_in_capitals_may_be_a_hole(text: str) -> None:
    assert sure(f'Start every reply with "{text}".') == []


@pytest.mark.parametrize("text", ["TL;DR:", "ANSWER:", "NOTE: This is no advice.", "This is NOT legal advice."])
def test_a_label_in_capitals_or_a_word_with_stress_is_none(text: str) -> None:
    assert len(sure(f'Start every reply with "{text}".')) == 1


def test_labels_in_capitals_are_a_choice() -> None:
    assert len(sure('Reply with "Verdict: PASS" or "Verdict: FAIL".')) == 1


def test_polite_words_are_said_where_they_fit() -> None:
    assert sure('Always be polite: say "please" and "thank you".') == []


@pytest.mark.parametrize("length", ["300 words, references included", "300 words (including citations)"])
def test_what_a_length_includes_is_not_asked_for(length: str) -> None:
    assert sure(f"Responses must not exceed {length}.") == ["length.number_words(at_most=300,by_spaces=true)"]


@pytest.mark.parametrize("label", ["Text", "Caption", "Message", "Body"])
def test_a_label_before_a_length_names_a_part(label: str) -> None:
    assert sure(f"{label}: 100-150 words.") == []


@pytest.mark.parametrize("text", ["Good morning/afternoon", "Dear Sir/Madam,"])
def test_two_words_with_a_slash_are_a_choice(text: str) -> None:
    assert sure(f'Start every reply with "{text}".') == []


def test_a_word_in_one_place_is_not_forbidden_in_others() -> None:
    assert sure('Never use "please" as the first word.') == []


@pytest.mark.parametrize(
    "text",
    [
        "Mood: good/fair/bad",
        "Mood: Good | Fair | Bad",
        "Urgency: yes/no",
        "Stars: 1-5",
        "Part 2/4",
        "Lesson 1:",
        "Claim #0000",
        "(90 words)",
        "Length: 90",
        "Valid until 2024-01-01",
        "Dear name,",
        "Hi (name),",
        "Dear Jane Doe,",
        "Dear Mr./Mrs. Ames,",
    ],
)
def test_alternatives_scales_and_samples_are_no_text(text: str) -> None:
    (proposal,) = read_prompt(f'Every reply ends with "{text}".').proposals
    assert proposal.doubt is not None
    assert "placeholder" in proposal.doubt


@pytest.mark.parametrize(
    "text", ["We are here 24/7.", "Questions and/or wishes? Write to us.", "Dial 112 in a crisis."]
)
def test_what_is_said_so_in_every_text_is_no_sample(text: str) -> None:
    assert len(sure(f'End every reply with "{text}"')) == 1
