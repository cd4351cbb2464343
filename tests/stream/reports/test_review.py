"""A check's verdict follows from who fails it; where too few fail, nothing is said."""

import pytest

from turnsignal.stream.reports.review import ADVICE, Review, instructions
from turnsignal.stream.statistics.intervals import Clusters


def verdict(applicable: int, fails: int, good_fails: int, *, usual: float = 0.6, n: int = 1000) -> str:
    """Judge one check, one answer a conversation; n: all answers, of which a share `usual` is good."""
    review, passed = Review(), Clusters()
    for i in range(applicable):
        passed.add(1, 0 if i < fails else 1)
    for i in range(n):
        failed = [("rule", 1, int(i < good_fails))] if i < fails else []
        review.add(1, int(i < usual * n), failed)
    (row,) = review.rows({"rule": passed}, {}, 30)
    assert row["advice"] == ADVICE[row["verdict"]]
    return row["verdict"]


@pytest.mark.parametrize(
    ("applicable", "fails", "good_fails", "expected"),
    [
        (300, 0, 0, "never fails"),
        (299, 0, 0, "too few to say"),
        (0, 0, 0, "too few to say"),
        (30, 30, 20, "always fails"),
        (20, 20, 10, "too few to say"),
        (500, 50, 50, "fails only where the answer was otherwise good"),
        (500, 50, 46, "fails more where the answer was otherwise good"),
        (500, 50, 10, "fails more where the answer was bad"),
        (500, 50, 30, "no link to good answers shown"),
        (500, 29, 29, "too few to say"),
    ],
)
def test_a_verdict_follows_from_the_counts(applicable: int, fails: int, good_fails: int, expected: str) -> None:
    assert verdict(applicable, fails, good_fails) == expected


def test_failing_on_good_answers_says_nothing_where_nearly_all_answers_are_good() -> None:
    assert verdict(500, 50, 50, usual=0.97) == "no link to good answers shown"


def test_many_fails_in_few_conversations_are_few() -> None:
    review, passed = Review(), Clusters()
    for _ in range(10):
        passed.add(20, 10)
        review.add(20, 12, [("rule", 10, 10)])
    (row,) = review.rows({"rule": passed}, {}, 30)
    assert (row["fails"], row["verdict"]) == (100, "too few to say")
    assert row["why"] == "n too small: 10 < 30 conversations with a failing answer"


def test_parts_merge_into_the_whole() -> None:
    one, other, whole = Review(), Review(), Review()
    one.add(3, 2, [("rule", 1, 1)])
    other.add(1, 0, [("rule", 1, 0)])
    one.merge(other)
    whole.add(3, 2, [("rule", 1, 1)])
    whole.add(1, 0, [("rule", 1, 0)])
    assert one == whole


def test_a_check_is_named_in_the_words_of_the_prompt_where_the_suite_has_them() -> None:
    passed = Clusters()
    passed.add(2, 1)
    rows = Review().rows({"a": passed, "b": passed}, {"a": "Never name\x1b[31m prices. " + "x" * 90}, 30)
    assert instructions({"review": rows}) == {"a": "“Never name�[31m prices. " + "x" * 55 + "…”", "b": "b"}
