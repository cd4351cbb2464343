"""Series keep counts and rolling means, one observation at a time."""

import sys
import tracemalloc
from collections.abc import MutableMapping
from pathlib import Path

import msgspec
import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnsignal.stream.detection.columns import Given
from turnsignal.stream.detection.detector import Detector, Paging
from turnsignal.stream.errors import Reason, SchemaError
from turnsignal.stream.pipeline.series import MAX_NAME, SeriesProcessor
from turnsignal.stream.pipeline.series_state import (
    HALF_LIFE,
    MAX_VERSIONS,
    VERSION,
    Rolling,
    Series,
    restore_series,
)
from turnsignal.stream.records.observations import Observation, pack
from turnsignal.stream.records.wire import DEAD_LETTERS
from turnsignal.stream.testing import FakeRecord

T0 = 1_750_000_000.0
DATA = Path(__file__).parents[2] / "data"


class Packed:
    def __init__(self, offset: int, values: list[float], version: str | None = "v1", **other: object) -> None:
        self.offset, self.key, self.timestamp = offset, b"support|nDCG@5", 0
        columns = {"conversations": ["c"] * len(values), "times": [float(offset)] * len(values), "values": values}
        record = {"schema": 1, "assistant": "support", "version": version, "scorer": "nDCG@5", **columns, **other}
        self.value: bytes | None = orjson.dumps(record)


class Columns:
    """A record as it is written now: a row per set of scorers, each with one value for all of them."""

    def __init__(self, offset: int, *sets: tuple[str, ...], assistant: str = "support", lane: int = 0) -> None:
        self.offset, self.key, self.timestamp = offset, assistant.encode(), 0
        rows = [(f"c{n}", float(offset), scorers, (0.5,) * len(scorers), ()) for n, scorers in enumerate(sets)]
        (self.value,) = pack(assistant, "v1", lane, rows)


def one_value(value: float) -> Given:
    return (0, (("s",), (0,)), "c", 1.0, 1.0, 0, 1.0), value, 0.0, 0.0


def processor(store: MutableMapping[bytes, bytes] | None = None, **options: int) -> SeriesProcessor:
    return SeriesProcessor({} if store is None else store, "turnsignal.series", 0, **options)


def test_the_rolling_mean_of_a_constant_is_the_constant_from_the_first_observation_on() -> None:
    rolling = Rolling()
    assert rolling.get() is None
    for _ in range(3 * HALF_LIFE):
        rolling.take_in([one_value(0.25)])
        assert rolling.get() == pytest.approx(0.25)


def test_a_value_weighs_half_after_a_half_life() -> None:
    rolling = Rolling()
    rolling.take_in([one_value(value) for value in [1.0] * 20_000 + [0.0] * HALF_LIFE])
    assert rolling.get() == pytest.approx(0.5, abs=0.001)


def test_the_rolling_mean_of_judged_values_is_over_all_answers_and_not_over_those_asked_about_most() -> None:
    """One answer in fifty is asked about where rules are sure, and each of those where they are not."""
    rows = [(f"sure-{n}", 1.0, ("follow_up(by=strong)",), (1.0,), ()) for n in range(2)]
    rows += [(f"unsure-{n}", 1.0, ("follow_up(by=strong)",), (0.0,), ()) for n in range(20)]
    (value,) = pack("support", "v1", 0, rows, [50.0, 50.0, *[1.0] * 20])
    kept = processor()
    kept.accept(kept.process([FakeRecord(0, b"support", value, -1)]))
    (versions,) = [restore_series(state).versions for state in kept.store.values()]
    assert versions["v1"].count == 22
    assert versions["v1"].get() == pytest.approx(100 / 120, abs=0.01)


def test_versions_are_told_apart_and_survive_a_restore() -> None:
    kept = processor()
    kept.accept(kept.process([Packed(0, [1.0, 0.0]), Packed(1, [0.5], version="v2")]))
    series = restore_series(kept.store[b"support|nDCG@5"])
    assert {name: (r.count, r.get()) for name, r in series.versions.items()} == {
        "v1": (2, pytest.approx(0.5, abs=0.001)),
        "v2": (1, 0.5),
    }


def test_a_record_feeds_the_series_of_each_of_its_scorers() -> None:
    kept = processor()
    batch = kept.process([Columns(3, ("nDCG@5", "compliance"), ("follow_up",), ("compliance",))])
    kept.accept(batch)
    assert counts(kept) == {"support|nDCG@5": 1, "support|compliance": 2, "support|follow_up": 1}
    assert {restore_series(value).offset for value in kept.store.values()} == {3}
    assert batch.deltas.records == {("turnsignal.series", "watched"): 1}


def test_records_of_both_schemas_feed_the_same_series() -> None:
    kept = processor()
    kept.accept(kept.process([Packed(0, [0.5]), Columns(1, ("nDCG@5",)), Packed(2, [0.5])]))
    assert counts(kept) == {"support|nDCG@5": 3}


def test_lanes_of_an_assistant_are_series_of_their_own() -> None:
    kept = processor()
    kept.accept(kept.process([Columns(0, ("nDCG@5",)), Columns(1, ("nDCG@5",), lane=1)]))
    assert counts(kept) == {"support|nDCG@5": 1, "support|nDCG@5|1": 1}
    assert (kept.describe(b"support|nDCG@5|1") or {})["lane"] == 1


def test_a_record_applied_before_is_skipped_whole_and_a_new_one_is_taken_in_whole() -> None:
    kept = processor(skip_applied=True)
    long = Columns(5, *[("s" * 1000 + str(n),) for n in range(3)])  # names that are too long count as one series
    kept.accept(kept.process([long]))
    kept.accept(kept.process([long]))
    assert counts(kept) == {"other|other": 3}


def test_the_same_records_in_other_batches_give_the_same_state() -> None:
    records = [Packed(i, [i / 10, 1 - i / 10]) for i in range(10)]
    together, apart = processor(), processor()
    together.accept(together.process(records))
    for record in records:
        apart.accept(apart.process([record]))
    assert together.store == apart.store


def test_a_batch_that_was_never_committed_leaves_nothing_behind() -> None:
    first, second = Packed(0, [0.5, 0.25]), Packed(1, [1.0], version="v2")
    steady, broken = processor(), processor()
    for kept in (steady, broken):
        kept.accept(kept.process([first]))
    broken.process([second])
    for kept in (steady, broken):
        kept.accept(kept.process([second]))
    assert broken.store == steady.store


def test_a_record_that_was_applied_before_is_skipped_where_position_and_state_do_not_commit_together() -> None:
    kept = processor(skip_applied=True)
    kept.accept(kept.process([Packed(5, [1.0])]))
    before = dict(kept.store)
    kept.accept(kept.process([Packed(5, [1.0])]))
    assert kept.store == before


def test_versions_from_strangers_are_bounded() -> None:
    kept = processor()
    kept.accept(kept.process([Packed(i, [0.5], version=f"v{i}") for i in range(3 * MAX_VERSIONS)]))
    versions = restore_series(kept.store[b"support|nDCG@5"]).versions
    assert list(versions) == [f"v{i}" for i in range(2 * MAX_VERSIONS, 3 * MAX_VERSIONS)]


@pytest.mark.parametrize("broken", [b"", b"{}", orjson.dumps([1]), b"\xff"])
def test_an_unreadable_record_is_a_dead_letter_and_its_neighbours_count(broken: bytes) -> None:
    bad, good = Packed(0, []), Packed(1, [1.0])
    bad.value = broken
    kept = processor()
    batch = kept.process([bad, good])
    assert [output.topic for output in batch.outputs] == [DEAD_LETTERS]
    assert ("reason", Reason.WRONG_TYPE.encode()) in (batch.outputs[0].headers or [])
    assert batch.deltas.records["turnsignal.series", "dead_letter"] == sum(batch.deltas.dead_letters.values()) == 1
    assert len(batch.changes) == 1


def test_columns_of_different_lengths_are_a_dead_letter() -> None:
    assert processor().process([Packed(0, [1.0], times=[1.0, 2.0])]).outputs[0].topic == DEAD_LETTERS


# -- state of other versions ---------------------------------------------------------------------------------


def kept_series() -> Series:
    return Series(
        VERSION, 7, 5.0, "support", "nDCG@5", {"v1": Rolling(2, 1.5, 0.75, 4.0), "": Rolling(1, 1.0, 0.5, 5.0)}
    )


def test_state_that_version_1_wrote_is_read() -> None:
    assert restore_series((DATA / "series-state-1.json").read_bytes()) == kept_series()


def test_state_that_version_2_wrote_is_read() -> None:
    assert restore_series((DATA / "series-state-2.msgpack").read_bytes()) == kept_series()


def test_state_that_version_3_wrote_is_read() -> None:
    assert restore_series((DATA / "series-state-3.msgpack").read_bytes()) == kept_series()


def test_state_that_version_4_wrote_is_read() -> None:
    kept = kept_series()
    kept.detector = Detector()
    kept.detector.update("v1", Observation("c", T0, 0.75, 0, 0.0), Paging())
    assert restore_series((DATA / "series-state-4.msgpack").read_bytes()) == kept
    assert restore_series((DATA / "series-state-4-onsets.msgpack").read_bytes()) == kept
    assert (DATA / "series-state-4-first.msgpack").read_bytes() == kept.snapshot()  # fields behind: all are read


@pytest.mark.parametrize("fields", [3, 4, 5, 7])
def test_state_of_an_older_version_has_the_defaults_of_the_fields_that_came_later(fields: int) -> None:
    whole = msgspec.msgpack.decode(kept_series().snapshot())
    read = restore_series(msgspec.msgpack.encode([1, *whole[1:fields]]))
    assert msgspec.to_builtins(read) == [VERSION, *whole[1:fields], *msgspec.to_builtins(Series())[fields:]]


@pytest.mark.parametrize("rest", [["another layout"], [7, 5.0], [7, 5.0, "a", "s", {}, 0, None, "a field more"]])
def test_newer_state_is_refused_with_both_versions_and_what_to_do(rest: list[object]) -> None:
    newer = msgspec.msgpack.encode([VERSION + 1, *rest])
    with pytest.raises(SchemaError, match=f"series state of version {VERSION} or older, got {VERSION + 1}: .* start"):
        restore_series(newer)


def test_what_is_no_state_is_refused() -> None:
    with pytest.raises(SchemaError, match="got 4 bytes that do not read as one"):
        restore_series(b"what")


def test_a_snapshot_takes_the_memory_of_its_bytes() -> None:
    """Those of orjson kept 4 kB each: 32 kB for every assistant."""
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        snapshots = [kept_series().snapshot() for _ in range(1000)]
        taken = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    assert taken < 2 * sum(map(sys.getsizeof, snapshots))


# -- names that are made up ----------------------------------------------------------------------------------


def made_up(offset: int, assistant: str, day: float = 0.0, **other: object) -> Packed:
    times = [T0 + day * 86_400]
    packed = Packed(offset, [0.5], **({"assistant": assistant, "times": times} | other))
    packed.timestamp = int((T0 + day * 86_400) * 1000)
    return packed


def counts(kept: SeriesProcessor) -> dict[str, int]:
    """Observations by series."""
    series = {key.decode(): restore_series(value) for key, value in kept.store.items()}
    return {key: sum(rolling.count for rolling in one.versions.values()) for key, one in series.items()}


def test_beyond_the_limit_new_names_count_as_other_and_known_ones_as_before() -> None:
    kept = processor(limit=2)
    names = ["support", "sales", *[f"made-up-{n}" for n in range(1000)], "support"]
    batch = kept.process([made_up(n, name) for n, name in enumerate(names)])
    kept.accept(batch)
    assert counts(kept) == {"support|nDCG@5": 2, "sales|nDCG@5": 1, "other|nDCG@5": 1000}
    assert batch.deltas.overflow == {"series": 1000}


def test_scorers_and_assistants_that_are_made_up_do_not_make_the_state_grow_without_bound() -> None:
    kept = processor(limit=10)
    for start in range(0, 4000, 500):
        kept.accept(kept.process([made_up(n, f"a{n}", scorer=f"s{n}") for n in range(start, start + 500)]))
    assert len(kept.store) == 10 + 1000
    assert counts(kept)["other|other"] == 4000 - 10 - 999
    assert sum(counts(kept).values()) == 4000


def test_names_that_are_too_long_count_as_other() -> None:
    kept = processor()
    long = "ä" * (MAX_NAME // 2 + 1)
    batch = kept.process([made_up(0, long), made_up(1, "support", version=long), made_up(2, "a", scorer="s" * 2000)])
    kept.accept(batch)
    assert counts(kept) == {"other|nDCG@5": 1, "support|nDCG@5": 1, "other|other": 1}
    assert list(restore_series(kept.store[b"support|nDCG@5"]).versions) == ["other"]
    assert batch.deltas.overflow == {"series": 3}


def test_a_series_that_nobody_fed_for_long_leaves_a_tombstone_and_its_room() -> None:
    kept = processor(limit=2)
    kept.accept(kept.process([made_up(0, "old"), made_up(1, "support"), made_up(2, "support", day=6)]))
    assert kept.process([made_up(3, "support", day=7)]).changes.keys() == {b"support|nDCG@5"}
    batch = kept.process([made_up(3, "new", day=7.1)])
    assert batch.changes[b"old|nDCG@5"] is None
    kept.accept(batch)
    assert counts(kept) == {"support|nDCG@5": 2, "new|nDCG@5": 1}


def test_a_series_that_comes_back_after_it_was_forgotten_begins_anew() -> None:
    kept = processor()
    kept.accept(kept.process([made_up(0, "support")]))
    kept.accept(kept.process([made_up(1, "support", day=8)]))
    assert counts(kept) == {"support|nDCG@5": 1}


def test_an_event_time_ahead_of_the_broker_makes_nothing_be_forgotten() -> None:
    kept = processor()
    ahead = made_up(1, "from the future", times=[T0 + 1e9])
    kept.accept(kept.process([made_up(0, "support"), ahead, made_up(2, "sales", day=1)]))
    assert len(kept.store) == 3


def test_state_from_before_the_limit_shrinks_a_bounded_number_at_a_time_and_the_newest_stay() -> None:
    before = processor()
    before.accept(before.process([made_up(n, f"a{n}") for n in range(5000)]))
    kept = processor(before.store, limit=100)
    kept.read_store()
    batch = kept.process([made_up(5000, "a4999")])
    assert list(batch.changes.values()).count(None) == 10
    kept.accept(batch)
    for n in range(5001, 5400):
        kept.accept(kept.process([made_up(n, "a4999")]))
    assert len(kept.store) == 100 + 1000
    assert b"a4000|nDCG@5" in kept.store


@given(
    st.lists(st.tuples(st.sampled_from("abcdef"), st.floats(0, 5), st.booleans(), st.booleans()), max_size=40),
)
def test_what_is_kept_does_not_depend_on_batches_and_restarts(fed: list[tuple[str, float, bool, bool]]) -> None:
    records, cuts, day = [], [], 0.0
    for n, (name, days, cut, restart) in enumerate(fed):
        day += days
        records.append(made_up(n, name, day))
        if cut:
            cuts.append((n + 1, restart))
    together = processor(limit=3)
    together.accept(together.process(records))
    apart, start = processor(limit=3), 0
    for end, restart in [*cuts, (len(records), False)]:
        apart.accept(apart.process(records[start:end]))
        start = end
        if restart:
            store = apart.store
            apart = processor(store, limit=3)
            assert apart.read_store() == max((restore_series(value).offset for value in store.values()), default=-1)
    assert apart.store == together.store


class Ticking:
    """A clock that goes on by a second whenever it is read."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self) -> float:
        self.seconds += 1.0
        return self.seconds


def test_a_batch_that_takes_too_long_ends_with_what_is_done_and_the_rest_makes_the_same_state() -> None:
    records = [Columns(offset, ("nDCG@5",), assistant=f"a{offset % 3}") for offset in range(7)]
    whole, parts, waiting, batches = processor(), processor(), list(records), 0
    whole.accept(whole.process(records))
    while waiting:
        batch = parts.process(waiting, clock=Ticking(), budget=3.0)
        parts.accept(batch)
        assert batch.consumed is not None
        waiting, batches = waiting[batch.consumed["turnsignal.series"] :], batches + 1
    assert batches == 3
    assert parts.store == whole.store


def test_a_decision_has_its_turn_when_observations_have_used_up_the_time() -> None:
    decision = Columns(0, ("nDCG@5",))
    decision.value = b"no decision"
    records = [Columns(offset, ("nDCG@5",)) for offset in range(3)]
    batch = processor().process(records, [decision, decision], clock=Ticking(), budget=0.5)
    assert batch.consumed == {"turnsignal.series": 1, "turnsignal.decisions": 1}


def test_a_batch_of_series_that_would_be_too_much_to_write_ends_early() -> None:
    sets = [tuple(f"scorer-{record}-{number}" for number in range(1_000)) for record in range(9)]
    records = [Columns(offset, scorers, assistant=f"a{offset}") for offset, scorers in enumerate(sets)]
    batch = processor().process(records, clock=lambda: 0.0)
    assert batch.consumed == {"turnsignal.series": 8, "turnsignal.decisions": 0}
