"""Where conversations of a user are alike, a figure is as uncertain as users make it, and a difference, too."""

import numpy as np
import pytest

from turnsignal.stream.reports.user_spread import compared_estimates, mean_by_user, rate_by_user
from turnsignal.stream.reports.user_sums import UserSums, digest
from turnsignal.stream.statistics.intervals import Clusters, difference

Mean = tuple[UserSums, Clusters]


def of_users(rng: np.random.Generator, moods: dict[str, float], each: int = 10, most: int = 256) -> Mean:
    """Conversations of two turns by users of different moods."""
    users, whole = UserSums(2, most), Clusters()
    for name, mood in moods.items():
        user = digest(name)
        assert user is not None
        for _ in range(each):
            total = float(rng.binomial(2, mood))
            whole.add(2, total)
            users.add(user, [2.0, total])
            users.count(user)
    return users, whole


def moods(rng: np.random.Generator, count: int, side: str = "") -> dict[str, float]:
    return {f"u{side}{number}": mood for number, mood in enumerate(rng.beta(1, 1, count))}


def test_ten_conversations_of_a_user_are_hardly_more_than_one() -> None:
    rng = np.random.default_rng(1)
    users, whole = of_users(rng, moods(rng, 100))
    mean, spread = mean_by_user(users, (0, 1), whole, Clusters)
    assert spread is not None
    assert (mean.n, spread.by_conversation.n, mean.value) == (1000, 1000, spread.by_conversation.value)
    assert mean.size < spread.by_conversation.size / 4
    assert mean.degrees <= 99


def test_without_users_conversations_stand_for_themselves() -> None:
    _, whole = of_users(np.random.default_rng(1), {"a": 0.5})
    mean, spread = mean_by_user(UserSums(2), (0, 1), whole, Clusters)
    assert (spread, mean.n) == (None, 10)


def test_of_very_many_users_groups_tell_about_the_same_as_users_do() -> None:
    rng = np.random.default_rng(2)
    known = moods(rng, 4000)
    exact, whole = of_users(np.random.default_rng(3), known, 5, 10_000)
    groups, _ = of_users(np.random.default_rng(3), known, 5, 256)
    ours, theirs = (mean_by_user(users, (0, 1), whole, Clusters)[0] for users in (groups, exact))
    assert not groups.is_exact
    assert ours.size == pytest.approx(theirs.size, rel=0.3)
    assert 150 < ours.degrees < theirs.degrees


def test_a_rate_that_all_share_is_as_sure_as_there_are_users_also_where_these_are_grouped() -> None:
    for most in (10_000, 256):
        users = UserSums(2, most)
        for number in range(2000):
            user = digest(f"u{number % 1000}")
            assert user is not None
            users.add(user, [1.0, 1.0])
        mean, _ = rate_by_user(users, (0, (1,)), 2000, 2000)
        assert (mean.value, mean.n) == (1.0, 2000)
        assert mean.size == pytest.approx(1000, rel=0.35)


def test_equal_releases_dealt_by_user_seldom_differ_and_those_dealt_by_conversation_lose_nothing() -> None:
    rng = np.random.default_rng(5)
    naive = by_user = shared = 0
    for _ in range(200):
        sides = [of_users(rng, moods(rng, 40, side)) for side in "ab"]
        new, old = (mean_by_user(users, (0, 1), whole, Clusters) for users, whole in sides)
        assert new[1] is not None
        assert old[1] is not None
        overlap = sides[0][0].overlap(sides[1][0])
        naive += difference(new[1].by_conversation, old[1].by_conversation).p < 0.05
        by_user += difference(*compared_estimates(new, old, overlap)).p < 0.05
        everyone = moods(rng, 40)
        sides = [of_users(rng, everyone, 5) for _ in range(2)]
        new, old = (mean_by_user(users, (0, 1), whole, Clusters) for users, whole in sides)
        pair = compared_estimates(new, old, sides[0][0].overlap(sides[1][0]))
        shared += pair[0].size > 2 * new[0].size
    assert naive > 60, "as if conversations stood for themselves"
    assert by_user <= 18, "more of 200 at 5 %: once in 100 times"
    assert shared == 200, "users who are in both releases make their difference no less sure"
