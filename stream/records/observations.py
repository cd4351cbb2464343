"""Observations: what the scorers said of one release in one batch, as one record of `turnsignal.series`.

In columns over the rows of the batch, in their order. A row names its set of scorers instead of each of them, and says
beside every value how many earlier ones its scorer has in the conversation, and their sum: whoever reads on needs no
memory of conversations to tell what is new in a value.

    {"schema": 2, "assistant": "support", "version": "v2", "lane": 0,
     "scorers": ["nDCG@5", "compliance", "follow_up"], "sets": [[0, 1], [2]],
     "conversations": ["c1", "c1"], "times": [1750000000.0, 1750000020.0], "rows": [0, 1],
     "values": [[0.63, 1.0], [0.2]], "earlier": [[1, 1.0, 1, 1.0], []]}
"""

from collections.abc import Iterator, Sequence
from itertools import repeat
from typing import Annotated, NamedTuple

import msgspec
import orjson

from turnsignal.stream.text.timestamps import LATEST

SCHEMA = 2
#: In one record at most, so that the longest ids and numbers stay below the broker's limit of a megabyte.
MAX_ROWS, MAX_VALUES = 400, 8_000

#: count and sum of the earlier values of each scorer in the row, in its order; nothing where there are none of any
Earlier = Sequence[float]

_MOST_EARLIER = 1e12  # earlier values of all scorers in a row

_Value = Annotated[float, msgspec.Meta(ge=0, le=1)]


class Observation(NamedTuple):
    """One value of one scorer.

    time: event time, seconds since 1970; value: 0–1; n, total: count and sum of its scorer's
    earlier values in the conversation; weight: the inverse of the probability with which it was asked for.
    """

    conversation_id: str
    time: float
    value: float
    n: float
    total: float
    weight: float = 1.0


Row = list[tuple[str, Observation]]  #: what the scorers say of one answer


class Observations(msgspec.Struct, tag_field="schema", tag=SCHEMA, gc=False):
    """One record, as it is written and read.

    version: None where turns name none; scorers: each once; sets: of positions in `scorers`; rows: the set of each row;
    values: in the order of the row's set; earlier: for each of them, the count and the sum of the earlier ones in the
    conversation, nothing where there are none of any; lane: which part of a busy assistant's conversations this is;
    weights: of each row, the inverse of the probability with which judges were asked; nothing where all weigh 1.
    """

    assistant: str
    version: str | None
    scorers: list[str]
    sets: list[list[int]]
    conversations: list[str]
    times: list[float]
    rows: list[int]
    values: list[list[_Value]]
    earlier: list[list[float]]
    lane: Annotated[int, msgspec.Meta(ge=0, le=2**31)] = 0
    weights: list[Annotated[float, msgspec.Meta(ge=1, le=1e6)]] = []

    def by_row(self) -> Iterator[Row]:
        """Take the columns apart: of each row its scorers, and what they say."""
        names = [[self.scorers[scorer] for scorer in chosen] for chosen in self.sets]
        weights = self.weights or repeat(1.0, len(self.rows))
        rows = zip(self.conversations, self.times, self.rows, self.values, self.earlier, weights, strict=True)
        for conversation_id, time, row, values, earlier, weight in rows:
            before = zip(earlier[::2], earlier[1::2], strict=True) if earlier else repeat((0.0, 0.0))
            yield [
                (scorer, Observation(conversation_id, time, value, n, total, weight))
                for scorer, value, (n, total) in zip(names[row], values, before, strict=False)
            ]


class _Single(msgspec.Struct, tag_field="schema", tag=1, gc=False):
    """A record of schema 1: one scorer, and nothing of what was earlier."""

    assistant: str
    version: str | None
    scorer: str
    conversations: list[str]
    times: list[float]
    values: list[_Value]


_decode = msgspec.json.Decoder(Observations | _Single).decode


def read_observations(value: bytes) -> Observations:
    """Read a record of this schema or of the one before.

    Raises ValueError that says what is wrong with it.
    """
    try:
        read = _decode(value)
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
        raise ValueError(str(error)) from None
    observed = _widen(read) if isinstance(read, _Single) else read
    _check(observed)
    return observed


def _widen(single: _Single) -> Observations:
    size = len(single.values)
    head = (single.assistant, single.version, [single.scorer], [[0]], single.conversations, single.times)
    return Observations(*head, [0] * size, [[value] for value in single.values], [[] for _ in range(size)])


def _check(observed: Observations) -> None:
    """Refuse columns that do not fit together."""
    columns = (observed.times, observed.rows, observed.values, observed.earlier)
    if any(len(column) != len(observed.conversations) for column in columns):
        raise ValueError("columns of different lengths")
    if observed.weights and len(observed.weights) != len(observed.conversations):
        raise ValueError("columns of different lengths")
    if any(len(column) > MAX_VALUES for column in (observed.conversations, observed.scorers, observed.sets)):
        msg = f"more than {MAX_VALUES} rows, scorers or sets"
        raise ValueError(msg)
    if max(sum(map(len, observed.values)), sum(map(len, observed.sets))) > MAX_VALUES:
        msg = f"more than {MAX_VALUES} values, or as many in its sets"
        raise ValueError(msg)
    if len(set(observed.scorers)) < len(observed.scorers):
        raise ValueError("a scorer that is named twice")
    known = range(len(observed.scorers))
    for chosen in observed.sets:
        if len(set(chosen)) < len(chosen) or any(scorer not in known for scorer in chosen):
            raise ValueError("a set of scorers that are not there, or twice")
    if not all(-LATEST < time < LATEST for time in observed.times):
        raise ValueError("a time that no calendar has")
    sizes = [len(chosen) for chosen in observed.sets]
    for row, values, earlier in zip(observed.rows, observed.values, observed.earlier, strict=True):
        if not 0 <= row < len(sizes) or len(values) != sizes[row]:
            raise ValueError("a row whose values are not those of its set")
        if earlier and (len(earlier) != 2 * len(values) or not _is_possible(earlier[::2], earlier[1::2])):
            raise ValueError("a row whose earlier counts and sums do not fit its values")


def _is_possible(counts: Sequence[float], sums: Sequence[float]) -> bool:
    """Say whether values of 0–1 can have such counts and sums; what was taken back leaves a trace of rounding."""
    most = sum(counts)
    return min(counts) >= 0.0 and most <= _MOST_EARLIER and min(sums) >= -0.01 and sum(sums) <= most + 0.01


#: A row of a batch: conversation, event time, names and values side by side, and what was earlier.
ObservedRow = tuple[str, float, tuple[str, ...], tuple[float, ...], Earlier]


def columns(rows: Sequence[ObservedRow]) -> Iterator[tuple[str, Sequence[str], tuple[float, ...]]]:
    """Give scorer, conversations and values, for each set of scorers apart."""
    alike: dict[tuple[str, ...], list[ObservedRow]] = {}
    for row in rows:
        group = alike.get(row[2])
        if group is None:
            group = alike[row[2]] = []
        group.append(row)
    for scorers, group in alike.items():
        conversations = [row[0] for row in group]
        for scorer, column in zip(scorers, zip(*[row[3] for row in group], strict=True), strict=True):
            yield scorer, conversations, column


def pack(
    assistant: str, version: str | None, lane: int, rows: Sequence[ObservedRow], weights: Sequence[float] = ()
) -> list[bytes]:
    """Write the rows of one release as records: one, unless that would be too long. weights: of each row, () for 1."""
    if len(rows) <= MAX_ROWS and sum([len(row[3]) for row in rows]) <= MAX_VALUES:
        return [_pack(assistant, version, lane, rows, weights)]
    packed, start, values = [], 0, 0
    for end, row in enumerate(rows):
        if end - start >= MAX_ROWS or values + len(row[3]) > MAX_VALUES:
            packed.append(_pack(assistant, version, lane, rows[start:end], weights[start:end]))
            start, values = end, 0
        values += len(row[3])
    return [*packed, _pack(assistant, version, lane, rows[start:], weights[start:])]


def _pack(
    assistant: str, version: str | None, lane: int, rows: Sequence[ObservedRow], weights: Sequence[float]
) -> bytes:
    conversations, times, scorers, values, earlier = zip(*rows, strict=True)
    places: dict[str, int] = {}
    sets: dict[tuple[str, ...], int] = {}
    record = {
        "schema": SCHEMA,
        "assistant": assistant,
        "version": version,
        "lane": lane,
        "conversations": conversations,
        "times": times,
        "rows": [sets.setdefault(row, len(sets)) for row in scorers],
        "sets": [[places.setdefault(scorer, len(places)) for scorer in row] for row in sets],
        "scorers": list(places),
        "values": values,
        "earlier": earlier,
    }
    return orjson.dumps(record | {"weights": weights} if weights else record)
