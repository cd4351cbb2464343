"""Operators' decisions: what is accepted is usual from then on, live, after a restart and in a replay."""

import msgspec
import pytest

from tests.stream.detection.simulated import DAY, START, traffic
from tests.stream.pipeline.test_watching import POLICY, called, dropped, records, watching
from turnsignal.stream.detection.backtest import back_test
from turnsignal.stream.detection.incidents import newest
from turnsignal.stream.pipeline.series import SeriesProcessor, restore_series
from turnsignal.stream.records.decisions import ACCEPT, REBASE, Decision, read_decision, series_key
from turnsignal.stream.records.observations import Observation
from turnsignal.stream.records.regressions import ACCEPTED, CLOSED, REBASED, Incident, read_incident
from turnsignal.stream.records.wire import DEAD_LETTERS, REGRESSIONS
from turnsignal.stream.testing import FakeRecord

DECISIONS = "turnsignal.decisions"


def decide(processor: SeriesProcessor, *decisions: Decision | bytes) -> list[Incident]:
    sent = [one if isinstance(one, bytes) else one.encode() for one in decisions]
    batch = processor.process([], [FakeRecord(n, b"support", value, -1) for n, value in enumerate(sent)])
    processor.accept(batch)
    return [read_incident(out.value or b"") for out in batch.outputs if out.topic == REGRESSIONS]


def lasting(days: float = 4.0) -> list[Observation]:
    """As bad as `dropped` ends, and so for days."""
    return list(traffic(9, days, 2_000.0, start=START + 6.1 * DAY, drop=0.3, drop_at=0.0))


def test_an_accepted_incident_closes_and_its_level_is_usual_from_then_on() -> None:
    processor = watching()
    incident = called(processor, records(dropped()))[-1]
    (*_, closed) = decide(processor, Decision(ACCEPT, "support", 0, START + 6.1 * DAY, incident.id))
    assert (closed.id, closed.event, closed.closed_by) == (incident.id, CLOSED, ACCEPTED)
    assert called(processor, records(lasting())) == []


def test_without_a_decision_the_incident_stays_open() -> None:
    processor = watching()
    called(processor, records(dropped()))
    assert all(incident.closed is None for incident in called(processor, records(lasting())))


def test_a_rebased_assistant_learns_anew_and_another_does_not() -> None:
    processor = watching()
    incident = called(processor, records(dropped()))[-1]
    assert decide(processor, Decision(REBASE, "sales", 0, 0.0)) == []
    (*_, closed) = decide(processor, Decision(REBASE, "support", 0, 0.0))
    assert (closed.id, closed.closed_by) == (incident.id, REBASED)
    for key, value in processor.store.items():
        if b"|" in key:
            detector = restore_series(value).detector
            assert detector is not None
            assert detector.baseline.known == 0


def test_a_decision_about_nothing_that_is_open_is_counted_and_changes_nothing() -> None:
    processor = watching()
    called(processor, records(dropped()))
    before = dict(processor.store)
    batch = processor.process([], [FakeRecord(0, b"", Decision(ACCEPT, "support", 0, 0.0, "another").encode(), -1)])
    assert (batch.changes, batch.outputs) == ({}, [])
    assert batch.deltas.records == {(DECISIONS, "unknown"): 1}
    assert batch.consumed == {"series": 0, DECISIONS: 1}
    assert processor.store == before


@pytest.mark.parametrize(
    "broken",
    [
        b"",
        b"{}",
        b'{"schema": 2, "kind": "accept"}',
        b'{"schema": 1, "kind": "explode", "assistant": "a", "lane": 0, "time": 0}',
        b'{"schema": 1, "kind": "accept", "assistant": "a", "lane": 0, "time": 0}',
        b'{"schema": 1, "kind": "rebase", "assistant": "a", "lane": 0, "time": 0, "incident": "x"}',
        b'{"schema": 1, "kind": "rebase", "assistant": "", "lane": 0, "time": 0}',
        b'{"schema": 1, "kind": "rebase", "assistant": "a", "lane": -1, "time": 0}',
    ],
)
def test_a_decision_that_cannot_be_read_is_a_dead_letter(broken: bytes) -> None:
    batch = watching().process([], [FakeRecord(7, b"x", broken, -1)])
    (letter,) = batch.outputs
    assert letter.topic == DEAD_LETTERS
    assert ("topic", DECISIONS.encode()) in (letter.headers or [])


def test_a_replay_hears_the_decisions_and_calls_the_same() -> None:
    processor = watching()
    live = called(processor, records(dropped()))
    accepted = Decision(ACCEPT, "support", 0, dropped()[-1].time + 1.0, live[-1].id)
    live += decide(processor, accepted)
    again = list(traffic(10, 3.0, 2_000.0, start=START + 10.2 * DAY, drop=0.6, drop_at=0.0))
    rest = records([*lasting(), *again])
    live += called(processor, rest)
    assert len(newest(live)) == 2
    sources = [[record.value or b"" for record in [*records(dropped()), *rest]]]
    assert back_test(sources, POLICY, [accepted]).incidents == list(newest(live).values())


def test_a_decision_has_the_key_of_the_series_it_is_about() -> None:
    assert (series_key("support", 0), series_key("support", 2)) == (b"support", b"support|2")
    written = Decision(REBASE, "support", 2, 1.0)
    assert read_decision(written.encode()) == written
    assert msgspec.json.decode(written.encode())["schema"] == 1
