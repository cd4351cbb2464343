"""Running means in one flat list."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnsignal.stream.conversations.means import add, empty, mean, named, retract


def test_means_by_place() -> None:
    means = empty(2)
    add(means, (0, 2), (0.5, 1.0))
    add(means, (0,), (1.0,))
    assert (mean(means, 0), mean(means, 2)) == (0.75, 1.0)
    assert named(means, ["nDCG@5", "compliance"]) == {
        "nDCG@5": {"n": 2, "mean": 0.75},
        "compliance": {"n": 1, "mean": 1.0},
    }


def test_no_observation_is_no_mean() -> None:
    assert mean(empty(1), 0) is None
    assert named(empty(1), ["nDCG@5"]) == {}


def test_the_last_one_taken_out_leaves_nothing_behind() -> None:
    means = empty(1)
    add(means, (0,), (0.1,))
    add(means, (0,), (0.2,))
    retract(means, (0,), (0.1,))
    retract(means, (0,), (0.2,))
    assert means == [0, 0]


@given(st.lists(st.floats(0, 1), min_size=1), st.data())
def test_what_is_taken_out_might_never_have_been_there(values: list[float], data: st.DataObject) -> None:
    gone = data.draw(st.sets(st.integers(0, len(values) - 1), max_size=len(values) - 1))
    means = empty(1)
    for value in values:
        add(means, (0,), (value,))
    for index in gone:
        retract(means, (0,), (values[index],))
    left = [value for index, value in enumerate(values) if index not in gone]
    assert means[0] == len(left)
    assert mean(means, 0) == pytest.approx(sum(left) / len(left), abs=1e-12)
