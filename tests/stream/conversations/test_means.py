"""Running means in one flat list."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnsignal.stream.conversations.means import add, empty, mean, named, offsets, pick, retract


def test_means_by_place() -> None:
    means = empty(2)
    add(means, offsets([0, 2]), (0.5, 1.0))
    add(means, offsets([0]), (1.0,))
    assert (mean(means, 0), mean(means, 2)) == (0.75, 1.0)
    assert named(means, ["nDCG@5", "compliance"]) == {
        "nDCG@5": {"n": 2, "mean": 0.75},
        "compliance": {"n": 1, "mean": 1.0},
    }


def test_scorers_that_stand_together_are_added_and_picked_together_others_apart() -> None:
    means, at = empty(4), offsets([0, 2, 6])
    assert [(span.start, span.stop) for span in at] == [(0, 4), (6, 8)]
    add(means, at, (0.5, 1.0, 0.25))
    add(means, offsets([4]), (0.75,))
    assert means == [1, 0.5, 1, 1.0, 1, 0.75, 1, 0.25]
    assert pick(means, at) == [1, 0.5, 1, 1.0, 1, 0.25]


def test_means_of_scorers_that_are_not_there_yet_are_picked_as_nothing() -> None:
    means = empty(1)
    assert pick(means, offsets([0, 4])) == [0, 0, 0, 0]
    assert means == [0, 0]


def test_no_observation_is_no_mean() -> None:
    assert mean(empty(1), 0) is None
    assert named(empty(1), ["nDCG@5"]) == {}


def test_the_last_one_taken_out_leaves_nothing_behind() -> None:
    means = empty(1)
    add(means, offsets([0]), (0.1,))
    add(means, offsets([0]), (0.2,))
    retract(means, offsets([0]), (0.1,))
    retract(means, offsets([0]), (0.2,))
    assert means == [0, 0]


@given(st.lists(st.floats(0, 1), min_size=1), st.data())
def test_what_is_taken_out_might_never_have_been_there(values: list[float], data: st.DataObject) -> None:
    gone = data.draw(st.sets(st.integers(0, len(values) - 1), max_size=len(values) - 1))
    means = empty(1)
    for value in values:
        add(means, offsets([0]), (value,))
    for index in gone:
        retract(means, offsets([0]), (values[index],))
    left = [value for index, value in enumerate(values) if index not in gone]
    assert means[0] == len(left)
    assert mean(means, 0) == pytest.approx(sum(left) / len(left), abs=1e-12)
