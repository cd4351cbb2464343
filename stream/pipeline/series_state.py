"""The state of a series: how many observations there were, a rolling mean per version, and the detector."""

from collections.abc import Sequence

import msgspec
import orjson

from turnsignal.stream.detection.columns import Given
from turnsignal.stream.detection.detector import MAX_VERSIONS, Detector
from turnsignal.stream.errors import SchemaError, UnreadableStateError

#: Of the state's layout. New fields are added at the end, with a default, and then it is raised. Version 1 was JSON.
VERSION = 4
HALF_LIFE = 500  #: observations after which a value weighs half as much in the rolling mean
BEFORE_ALL = float("-inf")  #: stream time before anything has come

_DECAY = 0.5 ** (1 / HALF_LIFE)


class Rolling(msgspec.Struct, array_like=True, gc=False):
    """A count, and an exponentially weighted mean whose weights add up to `weight` (so that the start is unbiased).

    A judged value weighs by the inverse of its sampling probability besides, so that the mean is one over all answers
    and not over those that were asked about most. last: event time of the newest observation, seconds since 1970.
    """

    count: int = 0
    weight: float = 0.0
    total: float = 0.0
    last: float = 0.0

    def take_in(self, column: Sequence[Given]) -> None:
        """Take in observations, in their order."""
        held, total, last = self.weight, self.total, self.last
        for (_, _, _, time, _, _, weight), value, _, _ in column:
            held = held * _DECAY + weight
            total = total * _DECAY + weight * value
            if time > last:
                last = time
        self.count += len(column)
        self.weight, self.total, self.last = held, total, last

    def get(self) -> float | None:
        """Return the rolling mean, None before the first observation."""
        return self.total / self.weight if self.count else None


class Series(msgspec.Struct, array_like=True):
    """One assistant's scorer: a rolling mean per version, the one used last standing last.

    version: of the layout; offset: input position it has taken in; clock: stream time of the partition then; lane:
    which part of the assistant's conversations it is of; detector: None where nobody watches, and in what version 3
    wrote.
    """

    version: int = VERSION
    offset: int = -1
    clock: float = BEFORE_ALL
    assistant: str = ""
    scorer: str = ""
    versions: dict[str, Rolling] = {}
    lane: int = 0
    detector: Detector | None = None

    def rolling_of(self, name: str) -> Rolling:
        """Return the rolling mean of a version, the one used last from now on."""
        rolling = self.versions.pop(name, None) or Rolling()
        self.versions[name] = rolling
        if len(self.versions) > MAX_VERSIONS:
            del self.versions[next(iter(self.versions))]
        return rolling

    def snapshot(self) -> bytes:
        """Encode as one MessagePack array, in the order of the fields.

        Not by orjson, whose every result keeps 4 kB for as long as it lives.
        """
        return _encode(self)


class _SeriesHead(msgspec.Struct, array_like=True):
    """What every version begins with."""

    version: int


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(Series).decode
_decode_head = msgspec.msgpack.Decoder(_SeriesHead).decode


def restore_series(value: bytes) -> Series:
    """Read a snapshot back; fields that an older version did not have yet get their defaults.

    Raises SchemaError for a newer version than this code knows.
    """
    try:
        if value.startswith(b"["):
            return _restore_json(value)
        head = _decode_head(value)
        if head.version > VERSION:
            raise SchemaError.newer("series", VERSION, head.version)
        series = _decode(value)
    except (msgspec.DecodeError, ValueError, TypeError, OverflowError, RecursionError) as error:
        msg = f"expected the state of a series, got {len(value)} bytes that do not read as one: {error}"
        raise UnreadableStateError(msg) from None
    series.version = VERSION
    return series


def _restore_json(value: bytes) -> Series:
    """Read version 1."""
    version, *data = orjson.loads(value)
    if not isinstance(version, int) or version < 1:
        msg = f"expected 1 as the first of its items, got {version!r}"
        raise ValueError(msg)
    if version != 1:
        raise SchemaError.newer("series", VERSION, version)
    assistant, scorer, offset, rows = data
    versions = msgspec.convert({name: rest for name, *rest in rows}, dict[str, Rolling])
    clock = max((rolling.last for rolling in versions.values()), default=BEFORE_ALL)
    return Series(VERSION, offset, clock, assistant, scorer, versions)
