"""A prompt that says the same again and again is read once, and a longer one than is read has no sure check."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnsignal.stream.prompts.reader import read_prompt
from turnsignal.stream.prompts.repeats import without_repeats
from turnsignal.stream.prompts.sentences import placed_sentences

RULES = "# Style\n- Never use emojis.\n- At most 60 words.\n\nBe kind. Never use tables.\n\n"


@pytest.mark.parametrize(
    "piece", [RULES, "- no emojis\n", "Never use emojis, but one emoji is fine now. ", "- be kind\n- use no slang\n"]
)
def test_what_comes_again_behind_itself_is_read_once(piece: str) -> None:
    once, often = read_prompt(piece), read_prompt(piece * 40)
    assert (often.proposals, often.uncovered) == (once.proposals, once.uncovered)
    assert len(placed_sentences(piece * 40).placed) == len(placed_sentences(piece).placed)


def test_the_same_words_below_another_heading_are_read_again() -> None:
    reading = read_prompt("# Captions\n- At most 20 words.\n\n# Style\n- At most 20 words.\n")
    assert [(one.check, one.doubt) for one in reading.proposals] == [
        ("length.number_words(at_most=20,by_spaces=true)", None)
    ]


@given(st.text("abc", max_size=40))
def test_what_comes_before_a_piece_that_is_kept_is_unchanged(text: str) -> None:
    kept = without_repeats(text)
    pairs = set(pairwise(text))
    assert set(pairwise(kept)) <= pairs
    assert set(kept) == set(text)
    assert kept[:1] == [*text[:1]]


def test_what_is_not_read_is_listed_and_leaves_no_check_sure() -> None:
    prompt = "Never use emojis. At most 60 words. Be kind. Emojis are fine on birthdays."
    reading = read_prompt(prompt, most=2)
    assert {one.doubt for one in reading.proposals} == {"what stands behind the first 2 sentences is not read"}
    assert [one.rpartition(") ")[2] for one in reading.uncovered] == ["Be kind.", "Emojis are fine on birthdays."]
    assert (reading.covered, reading.doubtful) == (0, 2)
