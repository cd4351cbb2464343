"""Series: what the watch app remembers of one assistant's scorer, observation by observation, in event order.

Here: how many there were, and a rolling mean per version. Detection of regressions works on the same records and is
kept in the same place.
"""

from collections.abc import MutableMapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

import orjson
from pydantic import Field, TypeAdapter, ValidationError, with_config

from stream.errors import Reason, SchemaError
from stream.outbox import Output, Record, dead_letter
from stream.pipeline import Batch
from stream.tallies import Tally

VERSION = 1  #: of the state's layout
HALF_LIFE = 500  #: observations after which a value weighs half as much in the rolling mean
MAX_VERSIONS = 20  #: told apart per series; the one unseen for longest leaves

_DECAY = 0.5 ** (1 / HALF_LIFE)


@with_config({"allow_inf_nan": False})
@dataclass(slots=True)
class Observations:
    """One packed record of `turnsignal.series`: what one scorer said of one release in one batch, in columns."""

    schema: Literal[1]
    assistant: str
    version: str | None
    scorer: str
    conversations: list[str]
    times: list[float]
    values: list[Annotated[float, Field(ge=0, le=1)]]


OBSERVATIONS: TypeAdapter[Observations] = TypeAdapter(Observations)


@dataclass(slots=True)
class Rolling:
    """A count, and an exponentially weighted mean whose weights add up to `weight` (so that the start is unbiased).

    last: event time of the newest observation, seconds since 1970.
    """

    count: int = 0
    weight: float = 0.0
    total: float = 0.0
    last: float = 0.0

    def update(self, value: float, time: float) -> None:
        """Take in one observation."""
        self.count += 1
        self.weight = self.weight * _DECAY + 1.0
        self.total = self.total * _DECAY + value
        self.last = max(self.last, time)

    def get(self) -> float | None:
        """Return the rolling mean, None before the first observation."""
        return self.total / self.weight if self.count else None


@dataclass(slots=True)
class Series:
    """One assistant's scorer: a rolling mean per version, and the input position it has taken in."""

    assistant: str
    scorer: str
    offset: int = -1
    versions: dict[str, Rolling] = field(default_factory=dict)

    def update(self, observed: Observations) -> None:
        """Take in a packed record."""
        name = observed.version or ""
        rolling = self.versions.pop(name, None) or Rolling()
        self.versions[name] = rolling  # last used stands last
        for value, time in zip(observed.values, observed.times, strict=True):
            rolling.update(value, time)
        if len(self.versions) > MAX_VERSIONS:
            del self.versions[next(iter(self.versions))]

    def snapshot(self) -> bytes:
        """Encode as one JSON array, the layout's version first."""
        versions = [[name, r.count, r.weight, r.total, r.last] for name, r in self.versions.items()]
        return orjson.dumps([VERSION, self.assistant, self.scorer, self.offset, versions])


def restore_series(value: bytes) -> Series:
    """Read a snapshot back.

    Raises SchemaError for a newer version than this code knows.
    """
    version, *data = orjson.loads(value)
    if version != VERSION:
        msg = f"expected series state of version {VERSION}, got {version}: start a turnsignal that knows it"
        raise SchemaError(msg)
    assistant, scorer, offset, versions = data
    return Series(assistant, scorer, offset, {name: Rolling(*rest) for name, *rest in versions})


class SeriesShard:
    """The series of one partition; the counterpart of `stream.pipeline.Shard`.

    store: series key → snapshot; topic, partition: where records come from; skip_applied: skip records that a series
    has taken in already.
    """

    def __init__(
        self, store: MutableMapping[bytes, bytes], topic: str, partition: int, *, skip_applied: bool = False
    ) -> None:
        self.store = store
        self.topic = topic
        self.partition = partition
        self._skip_applied = skip_applied

    def restored(self) -> int:
        """Return the last input offset that any series has taken in, −1 if none."""
        return max((restore_series(value).offset for value in self.store.values()), default=-1)

    def describe(self, key: bytes) -> dict[str, Any] | None:
        """Spell out what is kept of a series, for people."""
        value = self.store.get(key)
        if value is None:
            return None
        series = restore_series(value)
        versions = {
            name: {"n": rolling.count, "rolling_mean": rolling.get(), "last": rolling.last}
            for name, rolling in series.versions.items()
        }
        return {"assistant": series.assistant, "scorer": series.scorer, "versions": versions}

    def accept(self, batch: Batch) -> None:
        """Remember what a batch changed; call when it is safe."""
        for key, value in batch.changes.items():
            if value is not None:
                self.store[key] = value

    def work(self, records: Sequence[Record]) -> Batch:
        """Work through packed observations in their order."""
        live: dict[bytes, Series] = {}
        outputs: list[Output] = []
        tally = Tally()
        for record in records:
            try:
                observed = OBSERVATIONS.validate_json(record.value or b"")
                if len({len(observed.values), len(observed.times), len(observed.conversations)}) != 1:
                    raise ValueError("columns of different lengths")
            except (ValidationError, ValueError) as error:
                detail = f"expected observations as the score app writes them, got {str(error).splitlines()[0]}"
                outputs.append(dead_letter(record, self.topic, self.partition, Reason.WRONG_TYPE, detail))
                tally.dead_letters[self.topic, Reason.WRONG_TYPE] += 1
                continue
            series = self._take(live, f"{observed.assistant}|{observed.scorer}".encode(), observed)
            if self._skip_applied and record.offset <= series.offset:
                continue
            series.offset = record.offset
            series.update(observed)
            tally.records[self.topic, "watched"] += 1
        changes: dict[bytes, bytes | None] = {key: series.snapshot() for key, series in live.items()}
        return Batch(outputs, changes, tally, {self.topic: len(records)})

    def _take(self, live: dict[bytes, Series], key: bytes, observed: Observations) -> Series:
        series = live.get(key)
        if series is None:
            value = self.store.get(key)
            series = restore_series(value) if value is not None else Series(observed.assistant, observed.scorer)
            live[key] = series
        return series
