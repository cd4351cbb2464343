from hypothesis import given
from hypothesis import strategies as st

from turnsignal.stream.truth.passages import containment, coverage, rouge_l, split_words

TEXTS = st.lists(st.sampled_from(["a", "b", "c", "d"]), max_size=12).map(" ".join)


def longest(mine: tuple[str, ...], theirs: tuple[str, ...]) -> int:
    """The longest common subsequence by its definition."""
    rows = [0] * (len(theirs) + 1)
    for word in mine:
        before = rows[:]
        for place, other in enumerate(theirs, 1):
            rows[place] = before[place - 1] + 1 if word == other else max(before[place], rows[place - 1])
    return rows[-1]


@given(TEXTS, TEXTS)
def test_rouge_l_is_that_of_its_definition(expected: str, given: str) -> None:
    mine, theirs = split_words(expected), split_words(given)
    common = longest(mine, theirs)
    figures = rouge_l(expected, given)
    assert figures.recall == (common / len(mine) if mine else 0)
    assert figures.precision == (common / len(theirs) if theirs else 0)
    assert figures.f1 == (0 if not common else 2 * figures.precision * figures.recall / sum(figures[:2]))


def test_texts_without_blanks_are_compared_sign_by_sign() -> None:
    assert rouge_l("密码重置链接", "重置密码的链接").f1 > 0.5
    assert containment("パスワード", "パスワードを変更") == 1


def test_a_passage_counts_as_covered_with_most_of_its_words_in_their_order() -> None:
    text = "Refunds are paid within five working days of the return"
    assert coverage(["refunds within five days"], [text]) == 1
    assert coverage(["days five within refunds"], [text]) == 0
    assert coverage(["", "..."], [text]) == 0
    assert coverage(["refunds within five days"], []) == 0


def test_the_longest_texts_take_little_time() -> None:
    long = "word and other words " * 10_000
    assert len(split_words(long)) == 2_000
    assert containment(long, long) == 1
