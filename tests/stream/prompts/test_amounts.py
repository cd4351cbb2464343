"""Numbers are read however they are written, and a limit holds of whole answers only if it counts all of a unit."""

import pytest

from turnsignal.stream.prompts.reader import read_prompt


def sure(prompt: str) -> list[str]:
    return [one.check for one in read_prompt(prompt).proposals if one.doubt is None]


@pytest.mark.parametrize(
    ("prompt", "bound"),
    [
        ("Maximum 1,000 words.", "at_most=1000"),
        ("No more than 1 000 words.", "at_most=1000"),
        ("At most 1.500 words.", "at_most=1500"),
        ("Answers have 800–1,000 words.", "at_least=800,at_most=1000"),
        ("1,200 words or more.", "at_least=1200"),
        ("Answer in at most two hundred words.", "at_most=200"),
        ("Answer in at most one hundred and fifty words.", "at_most=150"),
        ("Answer in at most twenty-five words.", "at_most=25"),
        ("Keep every reply under one thousand five hundred words.", "at_most=1499"),
    ],
)
def test_numbers_are_read_however_they_are_written(prompt: str, bound: str) -> None:
    assert sure(prompt) == [f"length.number_words({bound},by_spaces=true)"]


def test_half_a_broken_number_is_no_number() -> None:
    assert sure("Use at most 1.5 sentences.") == []


@pytest.mark.parametrize(
    "prompt",
    [
        "Use at most two example sentences per answer.",
        "Write at most three closing sentences.",
        "Use no more than three new words per answer.",
        "No more than two follow-up paragraphs.",
        "Use at most three long sentences.",
        "At most two nested bullets.",
    ],
)
def test_a_word_before_the_unit_may_leave_others_uncounted(prompt: str) -> None:
    (one,) = read_prompt(prompt).proposals
    assert str(one.doubt).startswith("may count only some of them")


@pytest.mark.parametrize("how", ["short", "complete", "full"])
def test_a_word_for_how_each_is_to_be_leaves_none_uncounted(how: str) -> None:
    assert sure(f"Answer in at most three {how} sentences.") == ["length.number_sentences(at_most=3,skip_markers=true)"]


@pytest.mark.parametrize(
    "prompt", ["Total length: 150 to 200 words", "Total under 200 words", "Don't go beyond 200 words."]
)
def test_a_length_in_total_is_of_the_answer(prompt: str) -> None:
    assert len(sure(prompt)) == 1


def test_what_to_say_when_nothing_is_known_is_no_case_of_the_rule_after_it() -> None:
    prompt = "If you don't know, say that you don't know. Use three sentences maximum and keep the answer concise."
    assert sure(prompt) == ["length.number_sentences(at_most=3,skip_markers=true)"]


@pytest.mark.parametrize(
    ("rule", "most"),
    [("Answer in one or two sentences, three at most.", 3), ("Use one to four sentences (six at most).", 6)],
)
def test_a_larger_number_at_most_stretches_the_limit(rule: str, most: int) -> None:
    (proposal,) = read_prompt(f"You are Bo, an assistant.\n\n{rule}").proposals
    assert (proposal.check, proposal.doubt) == (
        f"length.number_sentences(at_least=1,at_most={most},skip_markers=true)",
        None,
    )


@pytest.mark.parametrize(
    "prompt",
    [
        "At most two or three sentences.",
        "Two or three sentences max.",
        "Max length: 2-3 sentences.",
        "Limit answers to 2-3 sentences.",
        "Never exceed 2-3 sentences.",
        "Keep answers under 2-3 sentences.",
    ],
)
def test_a_range_that_is_an_upper_bound_has_no_lower_one(prompt: str) -> None:
    assert sure(prompt) == ["length.number_sentences(at_most=3,skip_markers=true)"]


@pytest.mark.parametrize("prompt", ["Keep answers to 2-3 sentences.", "Answer in only 2-3 sentences."])
def test_a_range_that_answers_are_kept_to_has_both_bounds(prompt: str) -> None:
    assert sure(prompt) == ["length.number_sentences(at_least=2,at_most=3,skip_markers=true)"]
