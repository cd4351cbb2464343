"""Series keep counts and rolling means, one observation at a time."""

import orjson
import pytest

from stream.errors import Reason, SchemaError
from stream.outbox import DEAD_LETTERS
from stream.series import HALF_LIFE, MAX_VERSIONS, Rolling, SeriesShard, restore_series


class Packed:
    def __init__(self, offset: int, values: list[float], version: str | None = "v1", **other: object) -> None:
        self.offset, self.key, self.timestamp = offset, b"support|nDCG@5", 0
        columns = {"conversations": ["c"] * len(values), "times": [float(offset)] * len(values), "values": values}
        record = {"schema": 1, "assistant": "support", "version": version, "scorer": "nDCG@5", **columns, **other}
        self.value: bytes | None = orjson.dumps(record)


def shard(**options: bool) -> SeriesShard:
    return SeriesShard({}, "turnsignal.series", 0, **options)


def test_the_rolling_mean_of_a_constant_is_the_constant_from_the_first_observation_on() -> None:
    rolling = Rolling()
    assert rolling.get() is None
    for _ in range(3 * HALF_LIFE):
        rolling.update(0.25, 1.0)
        assert rolling.get() == pytest.approx(0.25)


def test_a_value_weighs_half_after_a_half_life() -> None:
    rolling = Rolling()
    for value in [1.0] * 20_000 + [0.0] * HALF_LIFE:
        rolling.update(value, 1.0)
    assert rolling.get() == pytest.approx(0.5, abs=0.001)


def test_versions_are_told_apart_and_survive_a_restore() -> None:
    kept = shard()
    kept.accept(kept.work([Packed(0, [1.0, 0.0]), Packed(1, [0.5], version="v2")]))
    series = restore_series(kept.store[b"support|nDCG@5"])
    assert {name: (r.count, r.get()) for name, r in series.versions.items()} == {
        "v1": (2, pytest.approx(0.5, abs=0.001)),
        "v2": (1, 0.5),
    }


def test_the_same_records_in_other_batches_give_the_same_state() -> None:
    records = [Packed(i, [i / 10, 1 - i / 10]) for i in range(10)]
    together, apart = shard(), shard()
    together.accept(together.work(records))
    for record in records:
        apart.accept(apart.work([record]))
    assert together.store == apart.store


def test_a_record_that_was_applied_before_is_skipped_where_position_and_state_do_not_commit_together() -> None:
    kept = shard(skip_applied=True)
    kept.accept(kept.work([Packed(5, [1.0])]))
    before = dict(kept.store)
    kept.accept(kept.work([Packed(5, [1.0])]))
    assert kept.store == before


def test_versions_from_strangers_are_bounded() -> None:
    kept = shard()
    kept.accept(kept.work([Packed(i, [0.5], version=f"v{i}") for i in range(3 * MAX_VERSIONS)]))
    versions = restore_series(kept.store[b"support|nDCG@5"]).versions
    assert list(versions) == [f"v{i}" for i in range(2 * MAX_VERSIONS, 3 * MAX_VERSIONS)]


@pytest.mark.parametrize("broken", [b"", b"{}", orjson.dumps([1]), b"\xff"])
def test_an_unreadable_record_is_a_dead_letter_and_its_neighbours_count(broken: bytes) -> None:
    bad, good = Packed(0, []), Packed(1, [1.0])
    bad.value = broken
    kept = shard()
    batch = kept.work([bad, good])
    assert [output.topic for output in batch.outputs] == [DEAD_LETTERS]
    assert ("reason", Reason.WRONG_TYPE.encode()) in (batch.outputs[0].headers or [])
    assert len(batch.changes) == 1


def test_columns_of_different_lengths_are_a_dead_letter() -> None:
    assert shard().work([Packed(0, [1.0], times=[1.0, 2.0])]).outputs[0].topic == DEAD_LETTERS


def test_newer_state_is_refused() -> None:
    with pytest.raises(SchemaError, match="expected series state of version 1, got 2"):
        restore_series(b'[2,"a"]')
