"""What the words of first questions tell of figures that moved; a release that answers worse moves nothing by them."""

import random

import pytest

from turnsignal.stream.reports.first_questions import FirstQuestions, Opening, words_around, words_asked
from turnsignal.stream.text.client_labels import without_labels

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
        asked.add(
            Opening(words_asked(question), None, is_hard, 2.0, float(free), outcome, 1.0, 1.0 - complaints[is_hard])
        )
    return asked


def test_questions_that_go_worse_in_both_releases_account_for_more_complaints() -> None:
    before, after = release(1, 0.3, (0.1, 0.5)), release(2, 0.7, (0.1, 0.5))
    moves = after.expected(before)
    assert moves["clarification_free"].value == pytest.approx(-0.16, abs=0.04)
    assert moves["resolved"].value == pytest.approx(-0.4 * (0.81 - 0.25), abs=0.06)
    assert moves["answers_with_documents"].value == pytest.approx(0.4, abs=0.06)
    assert moves["ranks"].value == pytest.approx(-0.16, abs=0.03)
    assert max(moves[name].p for name in ("clarification_free", "resolved", "abandoned")) < 0.001
    back = before.expected(after)
    assert back["clarification_free"].value == pytest.approx(-moves["clarification_free"].value)


def test_a_release_that_answers_the_same_questions_worse_is_asked_nothing_else() -> None:
    moves = release(3, 0.5, (0.4, 0.8)).expected(release(4, 0.5, (0.1, 0.3)))
    assert abs(moves["clarification_free"].value) < 0.03
    assert abs(moves["ranks"].value) < 0.03


def complaining(seed: int, share: float, complaints: tuple[float, float]) -> FirstQuestions:
    """Return 300 questions, some of which complain; complaints: how likely each follow-up is one, behind both kinds."""
    draw, asked = random.Random(seed), FirstQuestions()
    for _ in range(300):
        complains = draw.random() < share
        free = sum(draw.random() >= complaints[complains] for _ in range(2))
        outcome = "resolved" if free == 2 else "abandoned"
        asked.add(Opening(words_asked("it is down"), None, False, 2.0, float(free), outcome, complains=complains))
    return asked


def test_who_begins_with_a_complaint_and_goes_on_so_accounts_for_more_of_them() -> None:
    moves = complaining(1, 0.5, (0.1, 0.5)).by_complaints(complaining(2, 0.1, (0.1, 0.5)))
    assert moves["clarification_free"].value == pytest.approx(-0.16, abs=0.04)
    assert moves["abandoned"].value == pytest.approx(0.4 * (0.81 - 0.25), abs=0.06)
    assert moves["clarification_free"].p < 0.001


def test_a_topic_asked_about_in_words_of_a_complaint_that_is_answered_as_well_accounts_for_none() -> None:
    moves = complaining(1, 0.5, (0.3, 0.3)).by_complaints(complaining(2, 0.1, (0.1, 0.1)))
    assert moves["clarification_free"].low <= 0.0 <= moves["clarification_free"].high
    assert abs(moves["clarification_free"].low) < 0.05, "a release that is worse for all of them is so by no mood"
    assert FirstQuestions().by_complaints(complaining(1, 0.5, (0.1, 0.5))) == {}
    nobody = complaining(1, 0.0, (0.1, 0.1))
    assert {move.value for move in nobody.by_complaints(nobody).values()} == {0.0}


def around_of(question: str, other: str) -> bytes:
    return words_around(question, without_labels(question, other)[0])


def written(seed: int, hard: float, form: str) -> FirstQuestions:
    """Return 300 questions in a client's form, "{}" for none, a third of them without a second message."""
    draw, asked = random.Random(seed), FirstQuestions()
    for _ in range(300):
        question = form.format(draw.choice(HARD if draw.random() < hard else EASY))
        around = around_of(question, form.format("thanks a lot")) if draw.random() < 2 / 3 else None
        outcome = "silent" if around is None else draw.choice(("resolved", "abandoned"))
        asked.add(Opening(words_asked(question), around, False, 1.0, float(outcome == "resolved"), outcome))
    return asked


@pytest.mark.parametrize("form", ["Subject: a question\nMessage: {}", "[ticket 4711, web]\n{}", "Customer: {}"])
def test_a_form_that_the_client_begins_to_write_is_no_other_question(form: str) -> None:
    bare, framed = written(1, 0.5, "{}"), written(2, 0.5, form)
    assert framed.framed(bare) == bare.framed(framed) != set()
    assert framed.other_words(bare) == 0.0
    assert max(abs(move.value) for move in framed.expected(bare).values()) < 0.05
    assert written(3, 0.9, form).other_words(bare) > 0.1, "harder questions are seen in it"


def test_words_that_all_questions_came_to_have_are_no_clients_unless_another_message_tells() -> None:
    bare, framed = release(1, 0.5, (0.1, 0.5)), FirstQuestions()
    for _ in range(300):
        framed.add(Opening(words_asked("page help: change my address please")))
    assert framed.other_words(bare) > 0.9


def test_a_label_of_a_few_tells_what_is_asked_more() -> None:
    def labelled(topics: tuple[str, ...]) -> FirstQuestions:
        asked = FirstQuestions()
        for topic in topics * 60:
            question = f"Topic: {topic}\n{topic} please"
            asked.add(Opening(words_asked(question), around_of(question, f"Topic: {topic}\nthanks a lot")))
        return asked

    mine, theirs = labelled(("tax", "tax", "rent", "visa")), labelled(("tax", "rent", "visa", "visa"))
    assert mine.framed(theirs) == set()
    assert mine.other_words(theirs) == pytest.approx(0.25)


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
