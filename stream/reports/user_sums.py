"""User sums: what the conversations of each user come to, since conversations of one user are alike.

Releases are often dealt to users, not to conversations: whoever has a canary keeps it. Then users stand for themselves,
and their conversations do not. So values are added up by user (by a digest of who it is), in bounded memory: beyond so
many users, those whose digests end alike share a row, and rows stand for themselves as users do (random groups). Which
share one depends on neither order nor division.
"""

from collections.abc import Sequence
from hashlib import blake2b
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

MOST_ROWS = 256  #: of users, or of groups of them
_BITS = 24  #: of a digest, by which users are told apart as long as there is room
_BYTES = 6  #: of a digest
#: What stands where a user is not known: many people, and none of them.
_NOBODY = frozenset(
    (
        "0",
        "-1",
        "-",
        "anonymous",
        "anon",
        "guest",
        "unknown",
        "none",
        "null",
        "nil",
        "undefined",
        "n/a",
        "na",
        "default",
    )
)

Row = npt.NDArray[np.float64]


def digest(user_id: str) -> int | None:
    """Return a digest of a user; None where it names nobody.

    >>> digest("Anonymous"), digest("u-17") == digest("u-17")
    (None, True)
    """
    if not user_id.strip() or user_id.strip().casefold() in _NOBODY:
        return None
    return int.from_bytes(blake2b(user_id.encode("utf-8", "replace"), digest_size=_BYTES).digest())


class UserSums:
    """Rows of sums by user: `add` a conversation's values, `merge` the parts. most: rows that are kept."""

    __slots__ = ("_bits", "_conversations", "_rows", "most", "width")

    def __init__(self, width: int, most: int = MOST_ROWS) -> None:
        self.width, self.most = width, most
        self._bits = _BITS
        self._rows: dict[int, Row] = {}
        self._conversations: dict[int, float] = {}  # of the users with the smallest digests

    def __len__(self) -> int:
        return len(self._rows)

    @property
    def is_exact(self) -> bool:
        """Whether every user has a row of its own."""
        return self._bits == _BITS

    def add(self, user: int, values: Sequence[float] | Row, at: int = 0) -> None:
        """Add values of a user, from the column `at` on."""
        row = self._row(user & ((1 << self._bits) - 1))
        row[at : at + len(values)] += values
        self._make_room()

    def count(self, user: int) -> None:
        """Count a conversation of a user."""
        self._conversations[user] = self._conversations.get(user, 0.0) + 1
        if len(self._conversations) > 2 * self.most:
            self._conversations = dict(self._smallest())

    def merge(self, other: "UserSums") -> None:
        """Add another part's; of the two bounds, the smaller holds."""
        self.most = min(self.most, other.most)
        self._bits = min(self._bits, other._bits)
        self._regroup()
        mask = (1 << self._bits) - 1
        for user, values in other._rows.items():
            self._row(user & mask)[:] += values
        for user, n in other._conversations.items():
            self._conversations[user] = self._conversations.get(user, 0.0) + n
        self._conversations = dict(self._smallest())
        self._make_room()

    def columns(self, *at: int) -> "GroupedColumns":
        """Return some columns, a row per user or group of them."""
        keys = sorted(self._rows)
        rows = np.stack([self._rows[key] for key in keys]) if keys else np.zeros((0, self.width))
        return GroupedColumns(self._bits, np.array(keys, dtype=np.int64), [rows[:, column] for column in at])

    def overlap(self, other: "UserSums") -> float:
        """Return how far conversations are of the same users here and there: 0 of none, 1 where shares are equal.

        Of the users with the smallest digests, who are a sample like any.
        """
        mine, theirs = dict(self._smallest()), dict(other._smallest())
        ends = [max(known) for known in (mine, theirs) if len(known) == self.most]
        last = min(ends, default=1 << 8 * _BYTES)
        here, there = (sum(n for user, n in known.items() if user <= last) for known in (mine, theirs))
        if not here or not there:
            return 0.0
        return sum(min(mine[user] / here, theirs[user] / there) for user in mine.keys() & theirs if user <= last)

    def _smallest(self) -> list[tuple[int, float]]:
        return sorted(self._conversations.items())[: self.most]

    def _row(self, key: int) -> Row:
        row = self._rows.get(key)
        if row is None:
            row = self._rows[key] = np.zeros(self.width)
        return row

    def _make_room(self) -> None:
        while len(self._rows) > self.most:
            self._bits -= 1
            self._regroup()

    def _regroup(self) -> None:
        mask, rows = (1 << self._bits) - 1, self._rows
        self._rows = {}
        for key, values in rows.items():
            self._row(key & mask)[:] += values


class GroupedColumns(NamedTuple):
    """Columns of sums by user, or by group of users. bits: by how many of their digests; keys: those, in order."""

    bits: int
    keys: npt.NDArray[np.int64]
    columns: list[Row]
