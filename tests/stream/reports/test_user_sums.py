"""Sums by user are the same in whatever order and parts conversations come, and in bounded memory."""

import random

import numpy as np
import pytest

from turnsignal.stream.reports.user_sums import UserSums, digest

Seen = list[tuple[str, float]]


def summed(seen: Seen, most: int = 32) -> UserSums:
    sums = UserSums(2, most)
    for name, value in seen:
        user = digest(name)
        assert user is not None
        sums.add(user, [1.0, value])
        sums.count(user)
    return sums


def table(sums: UserSums) -> tuple[int, list[int], list[float]]:
    found = sums.columns(0, 1)
    return found.bits, found.keys.tolist(), [*found.columns[0].tolist(), *found.columns[1].tolist()]


def test_what_one_user_said_is_added_up() -> None:
    sums = summed([("ann", 1.0), ("bob", 0.0), ("ann", 0.5)])
    counts, values = sums.columns(0, 1).columns
    assert sorted(zip(counts.tolist(), values.tolist(), strict=True)) == [(1.0, 0.0), (2.0, 1.5)]
    assert sums.is_exact


def test_names_for_nobody_are_no_user() -> None:
    assert [digest(name) for name in ("anonymous", " Guest ", "", "0", "null")] == [None] * 5


@pytest.mark.parametrize("users", [20, 33, 2_000])
def test_rows_are_the_same_in_whatever_order_and_parts(users: int) -> None:
    seen = [(f"u{number}", number % 5 / 4) for number in range(users) for _ in range(1 + number % 3)]
    whole = summed(seen)
    assert len(whole) <= 32
    assert whole.is_exact == (users <= 32)
    for seed in range(5):
        random.Random(seed).shuffle(seen)
        part = summed(seen[: len(seen) // 3])
        part.merge(summed(seen[len(seen) // 3 :]))
        assert table(part) == table(summed(seen)) == table(whole)
        assert part.overlap(whole) == pytest.approx(1.0)


def test_users_of_both_sides_are_told_from_users_of_one_however_many_there_are() -> None:
    for users in (20, 5_000):
        names = [f"u{number}" for number in range(users)]
        mine, theirs = (summed([(name, 1.0) for name in names[at::2]]) for at in (0, 1))
        both = [summed([(name, 1.0) for name in names]) for _ in range(2)]
        assert (mine.overlap(theirs), both[0].overlap(both[1])) == (0.0, pytest.approx(1.0))


def test_a_side_without_users_overlaps_with_none() -> None:
    assert UserSums(2).overlap(summed([("ann", 1.0)])) == 0.0


def test_a_row_is_added_to_from_any_column_on() -> None:
    sums = UserSums(3)
    sums.add(7, np.array([1.0, 2.0]), 1)
    sums.add(7, [5.0])
    assert [column.tolist() for column in sums.columns(0, 1, 2).columns] == [[5.0], [1.0], [2.0]]
