"""User spread: how uncertain a figure is where conversations of one user are alike, and a difference of two releases.

Users who have only one of two releases stand for themselves, and their conversations do not: the variance of a mean is
the cluster-robust one over users. Users who have both are alike in both, which takes itself out of the difference:
there, conversations stand for themselves, but for what one user has more of on one side.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from turnsignal.stream.reports.answers import clusters
from turnsignal.stream.reports.user_sums import GroupedColumns, UserSums
from turnsignal.stream.statistics.intervals import Clusters, Estimate, mean_over_turns, of_one_turn

_MOSTLY_THE_SAME = 0.5  #: overlap of two releases' users from which on they are taken for users of both


class UserSpread(NamedTuple):
    """What users have to do with one mean.

    by_conversation: the mean as if conversations stood for themselves; bits, keys: as in `GroupedColumns`; pull: how
    far each user, or group of them, moves the mean; alone: its variance by conversations whose user is not known.
    """

    by_conversation: Estimate
    bits: int
    keys: npt.NDArray[np.int64]
    pull: npt.NDArray[np.float64]
    alone: float

    def moved_to(self, bits: int) -> dict[int, float]:
        """Return the pulls by fewer bits of the digests."""
        pulls: dict[int, float] = {}
        for key, pull in zip((self.keys & ((1 << bits) - 1)).tolist(), self.pull.tolist(), strict=True):
            pulls[key] = pulls.get(key, 0.0) + pull
        return pulls


def mean_by_user(
    users: UserSums, at: tuple[int, int], whole: Clusters, alone: Callable[[], Clusters], step: float = 0.0
) -> tuple[Estimate, UserSpread | None]:
    """Return a mean over turns whose uncertainty is that of users, and what these have to do with it.

    at: columns of counts and of totals; whole: sums of all conversations, alone: of those whose user is not known;
    step: as in `mean_over_turns`.
    """
    if not len(users):
        return mean_over_turns(whole, step), None
    return _by_user(users.is_exact, users.columns(*at), whole, alone(), step)


def _by_user(
    is_exact: bool, table: GroupedColumns, whole: Clusters, alone: Clusters, step: float
) -> tuple[Estimate, UserSpread]:
    turns, totals = table.columns
    sums = clusters(turns, totals)
    sums.merge(alone)
    independent = None if is_exact else _independent(turns, whole, alone)
    mean = mean_over_turns(sums, step, independent)._replace(n=round(whole.n))
    pull = (totals - mean.value * turns) / whole.turns
    meat = alone.total2 - 2 * mean.value * alone.cross + mean.value**2 * alone.turns2
    by_conversation = mean_over_turns(whole, step)
    return mean, UserSpread(by_conversation, table.bits, table.keys, pull, meat / whole.turns**2)


def rate_by_user(
    users: UserSums, at: tuple[int, tuple[int, ...]], count: int, n: int
) -> tuple[Estimate, UserSpread | None]:
    """Return a rate among n conversations, n ≥ 1, as `mean_by_user` does a mean; at: the totals of several columns."""
    among, hits = at
    if not len(users):
        return mean_over_turns(_singles(n, count)), None
    table = users.columns(among, *hits)
    turns, totals = table.columns[0], sum(table.columns[1:], np.zeros(len(table.keys)))
    others = _singles(n - round(turns.sum()), count - round(totals.sum()))
    return _by_user(users.is_exact, table._replace(columns=[turns, totals]), _singles(n, count), others, 0.0)


def _singles(n: int, count: int) -> Clusters:
    return of_one_turn(n, count, count)


def compared_estimates(
    after: tuple[Estimate, UserSpread | None], before: tuple[Estimate, UserSpread | None], overlap: float
) -> tuple[Estimate, Estimate]:
    """Return two means as they are to be compared; overlap: how far the users of both releases are the same."""
    (new, mine), (old, theirs) = after, before
    if mine is None or theirs is None or overlap < _MOSTLY_THE_SAME:
        return new, old
    pair = mine.by_conversation, theirs.by_conversation
    known = sum(one.value * (1 - one.value) / one.size for one in pair)
    bits = min(mine.bits, theirs.bits)
    here, there = mine.moved_to(bits), theirs.moved_to(bits)
    keys = here.keys() | there.keys()
    if known <= 0 or len(keys) < 2:
        return pair
    by_user = sum((here.get(key, 0.0) - there.get(key, 0.0)) ** 2 for key in sorted(keys))
    wider = (by_user * len(keys) / (len(keys) - 1) + mine.alone + theirs.alone) / known
    if wider <= 1:
        return pair
    return (
        pair[0]._replace(size=pair[0].size / wider, degrees=min(pair[0].degrees, new.degrees)),
        pair[1]._replace(size=pair[1].size / wider, degrees=min(pair[1].degrees, old.degrees)),
    )


def _independent(turns: npt.NDArray[np.float64], whole: Clusters, alone: Clusters) -> float:
    """Return how many users of equal weight there are, as groups of them tell (Kish 1965).

    Squares of groups are those of their users and, by chance, of the pairs that share a group.
    """
    groups, total = len(turns), float(turns.sum())
    squares = (float(turns @ turns) - total * total / groups) / (1 - 1 / groups)
    of_conversations = whole.turns2 - alone.turns2
    users = total * total / max(squares, of_conversations, 1.0)
    return min(whole.n, alone.n + users)
