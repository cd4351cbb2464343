"""What the words of first questions tell of figures that moved; a release that answers worse moves nothing by them."""

import random

import pytest

from turnsignal.stream.reports.first_questions import FirstQuestions, Opening, words_asked

EASY = ["change my address please", "send the invoice again", "cancel my order today", "find a receipt"]
HARD = ["boiler shows error seven", "heating stays cold tonight", "wifi drops every hour", "engine makes a noise"]


def release(seed: int, hard: float, complaints: tuple[float, float]) -> FirstQuestions:
    """Return 300 questions, some of them hard; complaints: probability of each follow-up, for easy and hard ones."""
    draw = random.Random(seed)
    asked = FirstQuestions()
    for _ in range(300):
        is_hard = draw.random() < hard
        question = draw.choice(HARD if is_hard else EASY)
        free = sum(draw.random() >= complaints[is_hard] for _ in range(2))
        outcome = "resolved" if free == 2 else "abandoned"
        asked.add(Opening(words_asked(question), is_hard, 2.0, float(free), outcome))
    return asked


def test_questions_that_go_worse_in_both_releases_account_for_more_complaints() -> None:
    before, after = release(1, 0.3, (0.1, 0.5)), release(2, 0.7, (0.1, 0.5))
    moves = after.expected(before)
    assert moves["clarification_free"].value == pytest.approx(-0.16, abs=0.04)
    assert moves["resolved"].value == pytest.approx(-0.4 * (0.81 - 0.25), abs=0.06)
    assert moves["answers_with_documents"].value == pytest.approx(0.4, abs=0.06)
    assert max(moves[name].p for name in ("clarification_free", "resolved", "abandoned")) < 0.001
    back = before.expected(after)
    assert back["clarification_free"].value == pytest.approx(-moves["clarification_free"].value)


def test_a_release_that_answers_the_same_questions_worse_is_asked_nothing_else() -> None:
    moves = release(3, 0.5, (0.4, 0.8)).expected(release(4, 0.5, (0.1, 0.3)))
    assert abs(moves["clarification_free"].value) < 0.03


def test_parts_merge_into_the_whole_and_what_nobody_asked_tells_nothing() -> None:
    whole, part = release(1, 0.3, (0.1, 0.5)), FirstQuestions()
    part.merge(whole)
    other = release(2, 0.7, (0.1, 0.5))
    assert other.expected(part) == other.expected(whole)
    assert other.other_words(part) == other.other_words(whole) > 0
    assert FirstQuestions().expected(whole) == {}
    assert FirstQuestions().other_words(whole) == 0.0
    unread = FirstQuestions()
    unread.add(Opening(words_asked("boiler shows error")))
    assert unread.expected(whole).keys() == {"answers_with_documents"}, "nobody followed it up"
