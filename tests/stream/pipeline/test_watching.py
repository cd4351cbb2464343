"""Detection in the watch app: what it calls live, after a restart and in a replay, and what it must not call."""

from collections.abc import Sequence
from functools import cache

import msgspec
import pytest

from tests.stream.detection.simulated import DAY, START, traffic
from turnsignal.stream.detection.backtest import back_test
from turnsignal.stream.detection.detector import PAGE, TICKET
from turnsignal.stream.detection.incidents import newest
from turnsignal.stream.detection.policy import AlertPolicy
from turnsignal.stream.errors import SchemaError
from turnsignal.stream.pipeline.series import SeriesProcessor
from turnsignal.stream.pipeline.series_state import restore_series
from turnsignal.stream.records.decisions import ACCEPT, Decision
from turnsignal.stream.records.observations import Observation, ObservedRow, pack
from turnsignal.stream.records.regressions import (
    ACCEPTED,
    BACK,
    CLOSED,
    FORGOTTEN,
    OPENED,
    RAISED,
    Incident,
    read_incident,
)
from turnsignal.stream.records.wire import DEAD_LETTERS, REGRESSIONS
from turnsignal.stream.testing import FakeRecord

POLICY = AlertPolicy(frozenset({"nDCG@5"}), qualities={"nDCG@5": "relevancy", "citation.format": "instructions"})
SCORERS = ("nDCG@5", "citation.format")
CHANGE = START + 4.5 * DAY


def rows(observations: Sequence[Observation]) -> list[ObservedRow]:
    return [(o.conversation_id, o.time, SCORERS, (o.value,) * 2, (o.n, o.total) * 2) for o in observations]


@cache
def dropped(days: float = 6.0, drop: float = 0.3) -> list[Observation]:
    return list(traffic(1, days, 2_000.0, drop=drop, drop_at=CHANGE))


@cache
def recovered() -> list[Observation]:
    return list(traffic(2, 3.0, 2_000.0, start=START + 6.2 * DAY))


def records(
    observations: Sequence[Observation], size: int = 40, *, version: str = "v1", assistant: str = "support"
) -> list[FakeRecord]:
    packed = [
        record
        for start in range(0, len(observations), size)
        for record in pack(assistant, version, 0, rows(observations[start : start + size]))
    ]
    return [FakeRecord(offset, assistant.encode(), value, -1) for offset, value in enumerate(packed)]


def watching(store: dict[bytes, bytes] | None = None, policy: AlertPolicy = POLICY) -> SeriesProcessor:
    processor = SeriesProcessor({} if store is None else store, "series", 0, policy=policy)
    processor.read_store()
    return processor


def called(processor: SeriesProcessor, fed: Sequence[FakeRecord], step: int = 10) -> list[Incident]:
    written = []
    for start in range(0, len(fed), step):
        batch = processor.process(fed[start : start + step])
        processor.accept(batch)
        written += [read_incident(out.value or b"") for out in batch.outputs if out.topic == REGRESSIONS]
    return written


def test_an_incident_is_written_as_it_opens_is_raised_and_closes_under_one_id() -> None:
    written = called(watching(), records([*dropped(), *recovered()]))
    assert {incident.id for incident in written} == {written[0].id}
    assert [incident.event for incident in written if incident.event in (OPENED, RAISED, CLOSED)] in (
        [OPENED, RAISED, CLOSED],
        [OPENED, CLOSED],
    )
    opened, last = written[0], written[-1]
    assert CHANGE < opened.time == opened.opened < CHANGE + 0.5 * DAY
    assert (last.closed_by, last.tier, last.assistant) == (BACK, PAGE, "support")
    assert all(change.closed for change in last.changes)


def test_an_incident_says_all_that_an_engineer_has_to_know() -> None:
    incident = called(watching(), records(dropped()))[-1]
    by_scorer = {change.scorer: change for change in incident.changes}
    ndcg = by_scorer["nDCG@5"]
    assert (ndcg.meaning, ndcg.direction, ndcg.tier, ndcg.version) == ("worse", "lower", PAGE, "v1")
    assert ndcg.low < ndcg.change < ndcg.high < 0
    assert ndcg.after == pytest.approx(ndcg.before + ndcg.change)
    assert abs(ndcg.since - CHANGE) < 0.2 * DAY
    assert ndcg.promise == "without a change, one page in 30 days of the scorer that pages of this assistant at most"
    assert (incident.before and incident.before.row, incident.after and incident.after.row) == (
        "high/high/high",
        "low/high/low",
    )
    assert (incident.instruction, incident.ranks) == ("citation.format", "1 to 5 in the context")
    assert len(set(incident.conversations)) == 5
    worse = {o.conversation_id for o in dropped() if o.time >= CHANGE}
    assert set(incident.conversations) <= worse


@pytest.mark.parametrize("step", [7, *(pytest.param(n, marks=pytest.mark.slow) for n in (1, 1000))])
def test_restored_in_the_middle_and_in_a_replay_the_same_is_called(step: int) -> None:
    fed = records([*dropped(), *recovered()])
    whole = called(watching(), fed, 100)
    store: dict[bytes, bytes] = {}
    pieces = [
        incident
        for start in range(0, len(fed), 30)
        for incident in called(watching(store), fed[start : start + 30], step)
    ]
    assert pieces == whole
    assert list(newest(whole).values()) == back_test([[record.value or b"" for record in fed]], POLICY).incidents


@pytest.mark.slow
@pytest.mark.parametrize("step", [7, 1000])
def test_what_is_written_and_kept_does_not_depend_on_how_many_records_are_taken_in_at_once(step: int) -> None:
    """Releases of two assistants by turns, of which one breaks, and a record that cannot be read before every tenth."""
    values, observed = list[bytes](), [*dropped(), *recovered()]
    for number, start in enumerate(range(0, len(observed), 10)):
        for assistant, version in (("support", f"v{number % 3}"), ("sales", "")):
            values += pack(assistant, version, 0, rows(observed[start : start + 10]))
        values += [b"{"] * (number % 10 == 0)
    fed = [FakeRecord(offset, b"a", value, -1) for offset, value in enumerate(values)]
    written, stores = [], []
    for size in (1, step):
        processor = watching()
        results = []
        for start in range(0, len(fed), size):
            results.append(processor.process(fed[start : start + size]))
            processor.accept(results[-1])
        written.append([(out.topic, out.key, out.value) for result in results for out in result.outputs])
        stores.append(processor.store)
    assert written[0] == written[1]
    assert {topic for topic, _, _ in written[0]} == {REGRESSIONS, DEAD_LETTERS}
    assert stores[0] == stores[1]


def test_what_was_silent_for_a_week_is_forgotten_live_and_in_a_replay() -> None:
    later = [o._replace(time=o.time + 8.0 * DAY) for o in recovered()]
    fed = records([*dropped(), *later])
    whole = called(watching(), fed)
    assert whole[-1].closed_by == FORGOTTEN
    assert back_test([[record.value or b"" for record in fed]], POLICY).incidents == list(newest(whole).values())


def risen_then_dropped() -> list[FakeRecord]:
    """Instructions are kept better from a day on, and half a day later retrieval becomes worse."""
    better = list(traffic(1, 6.0, 2_000.0, drop=-0.15, drop_at=CHANGE))
    worse = list(traffic(1, 6.0, 2_000.0, drop=0.3, drop_at=CHANGE + 0.5 * DAY))
    both = [
        (w.conversation_id, w.time, SCORERS, (w.value, b.value), (w.n, w.total, b.n, b.total))
        for w, b in zip(worse, better, strict=True)
    ]
    packed = [record for start in range(0, len(both), 40) for record in pack("support", "v1", 0, both[start:][:40])]
    return [FakeRecord(offset, b"support", value, -1) for offset, value in enumerate(packed)]


@pytest.mark.parametrize("step", [pytest.param(1, marks=pytest.mark.slow), 100])
def test_what_looks_better_and_what_became_worse_later_are_two_incidents(step: int) -> None:
    fed = risen_then_dropped()
    written = called(watching(), fed)
    incidents = newest(written).values()
    assert [{change.meaning for change in incident.changes} for incident in incidents] == [{"changed"}, {"worse"}]
    better, worse = incidents
    assert better.opened < CHANGE + 0.5 * DAY < worse.opened
    assert (better.tier, worse.tier) == (TICKET, PAGE)
    store: dict[bytes, bytes] = {}
    pieces = [
        incident
        for start in range(0, len(fed), 30)
        for incident in called(watching(store), fed[start : start + 30], step)
    ]
    assert pieces == written
    assert back_test([[record.value or b"" for record in fed]], POLICY).incidents == list(incidents)


def test_accepting_what_became_worse_leaves_what_became_better_open() -> None:
    processor = watching()
    _, worse = newest(called(processor, risen_then_dropped())).values()
    decided = Decision(ACCEPT, "support", 0, worse.time, worse.id)
    batch = processor.process([], [FakeRecord(0, b"support", decided.encode(), -1)])
    (closed,) = [read_incident(out.value or b"") for out in batch.outputs if out.topic == REGRESSIONS]
    assert (closed.id, closed.event, closed.closed_by) == (worse.id, CLOSED, ACCEPTED)


def test_a_batch_that_came_to_nothing_leaves_no_trace() -> None:
    fed, store = records(dropped()), dict[bytes, bytes]()
    cut = sum(o.time < CHANGE for o in dropped()) // 40
    assert called(watching(store), fed[:cut]) == []
    assert watching(store).process(fed[cut:]).outputs
    assert called(watching(store), fed[cut:]) == called(watching(), fed) != []


def test_what_is_kept_of_a_scorer_stays_small_whatever_the_traffic() -> None:
    processor = watching()
    for n, record in enumerate(records(dropped())):
        builds = msgspec.json.decode(record.value or b"") | {"version": f"build-{n}-{'x' * 80}"}
        processor.accept(processor.process([FakeRecord(n, b"support", msgspec.json.encode(builds), -1)]))
    assert max(map(len, processor.store.values())) < 20_000


# -- what must not be called ---------------------------------------------------------------------------------


def healthy(days: float = 6.0, start: float = START, seed: int = 5) -> list[Observation]:
    return list(traffic(seed, days, 2_000.0, start=start))


def test_last_weeks_bad_turns_sent_again_call_nothing() -> None:
    processor = watching()
    assert called(processor, records(healthy(14.0))) == []
    assert called(processor, records([o for o in dropped() if o.time >= CHANGE])) == []


def test_a_clock_a_day_ahead_calls_nothing_and_hides_nothing() -> None:
    processor, fed = watching(), records(dropped())
    (ahead,) = records([Observation("c-ahead", START + 3 * DAY, 0.8, 0, 0.0)])
    assert called(processor, [*fed[:100], ahead]) == []
    assert [one.tier for one in newest(called(processor, fed[100:])).values()] == [PAGE]


@pytest.mark.slow
def test_an_hour_of_silence_and_a_release_per_turn_call_nothing() -> None:
    processor, found = watching(), []
    quiet = [o for o in healthy() if not START + 4 * DAY < o.time < START + 4 * DAY + 3600]
    for n, one in enumerate(quiet):
        version = f"build-{n}" if one.time > START + 3 * DAY else "v1"
        found += called(processor, records([one], version=version))
    assert found == []


@pytest.mark.parametrize(
    "broken",
    [
        b'{"schema": 2, "assistant": "support"',
        (
            b'{"schema":2,"assistant":"a","version":"v","lane":0,"scorers":["s"],"sets":[[0]],"conversations":["c"],'
            b'"times":[1.0],"rows":[0],"values":[[NaN]],"earlier":[[]]}'
        ),
        (
            b'{"schema":2,"assistant":"a","version":"v","lane":0,"scorers":["s"],"sets":[[0]],"conversations":["c"],'
            b'"times":[1.0,2.0],"rows":[0],"values":[[0.5]],"earlier":[[]]}'
        ),
        (
            b'{"schema":2,"assistant":"a","version":"v","lane":0,"scorers":["s"],"sets":[[0]],"conversations":["c"],'
            b'"times":[1.0],"rows":[0],"values":[[0.5]],"earlier":[[1.0,1e300]]}'
        ),
    ],
)
def test_a_record_that_cannot_be_read_is_a_dead_letter_and_the_next_is_called(broken: bytes) -> None:
    processor, fed = watching(), records(dropped())
    called(processor, fed[:100])
    batch = processor.process([FakeRecord(100, b"support", broken, -1)])
    assert [out.topic for out in batch.outputs] == [DEAD_LETTERS]
    assert batch.changes == {}
    assert [one.tier for one in newest(called(processor, fed[100:])).values()] == [PAGE]


@pytest.mark.parametrize(("time", "letters"), [(-1e-20, 0), (-1e9, 0), (253_402_300_799.0, 0), (1e18, 2), (1e300, 2)])
def test_times_that_no_calendar_has_are_dead_letters_and_the_ends_of_it_are_taken_in(time: float, letters: int) -> None:
    observed = [Observation(f"c{n}", time, 0.5, 0, 0.0) for n in range(50)]
    batch = watching().process(records(observed))
    assert [out.topic for out in batch.outputs] == [DEAD_LETTERS] * letters


def test_assistants_and_conversations_with_hostile_names_are_written_as_they_are() -> None:
    processor, name = watching(), '<b>"\u202e\n|x' * 20
    fed = []
    for record in records(dropped()):
        content = msgspec.json.decode(record.value or b"") | {"assistant": name[:80]}
        content["conversations"] = [f"{name}{one}" for one in content["conversations"]]
        fed.append(FakeRecord(record.offset, b"x", msgspec.json.encode(content), -1))
    incident = called(processor, fed)[-1]
    assert incident.assistant == name[:80]
    assert processor.describe(b"incident:" + incident.id.encode()) == incident.as_json()


def test_a_scorer_that_the_suite_ignores_is_not_watched_but_counted() -> None:
    processor = watching(policy=AlertPolicy(ignored=frozenset(SCORERS)))
    assert called(processor, records(dropped())) == []
    assert all(restore_series(value).detector is None for value in processor.store.values())


def test_a_series_that_is_forgotten_closes_its_part_of_an_incident() -> None:
    processor = watching()
    called(processor, records(dropped()))
    elsewhere = pack("other assistant", "v1", 0, rows([Observation("c", START + 30 * DAY, 0.5, 0, 0.0)]))
    (closed,) = newest(called(processor, [FakeRecord(9_999, b"x", value, -1) for value in elsewhere])).values()
    assert (closed.event, closed.closed_by) == (CLOSED, "forgotten")


def test_an_incident_of_a_newer_turnsignal_is_refused() -> None:
    with pytest.raises(SchemaError, match="incident state of version 1 or older, got 2: a newer"):
        watching({b"incident:1": b'{"schema": 2}'})
