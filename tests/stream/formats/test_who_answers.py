"""Who answers users, of two that are asked the same."""

from turnsignal.stream.formats.who_answers import Answerer, AskedBoth, comes_before

REWRITER = Answerer(100, 100, 100, 0, 0, 0, 9.0, "Word the last question so that it stands alone.", "small")
ASSISTANT = Answerer(100, 100, 100, 0, 0, 0, 20.0, "You help the customers of a shop.", "large")


def test_who_is_asked_right_before_an_answer_with_those_before_it_is_a_step() -> None:
    both = AskedBoth(times=80, first=80, quotes=70)
    assert comes_before(REWRITER, ASSISTANT, both)
    assert not comes_before(ASSISTANT, REWRITER, both.turned())


def test_who_is_asked_before_one_that_is_shown_its_answer_may_be_whom_users_see() -> None:
    assert not comes_before(ASSISTANT, REWRITER, AskedBoth(times=80, first=80, quoted=70))
