"""A drill's traffic is enough for the detectors to know what is usual, and for the regression in it to be called."""

from itertools import pairwise

import pytest

from turnsignal.stream.detection.backtest import BackTest, back_test
from turnsignal.stream.detection.detector import PAGE
from turnsignal.stream.pipeline.processor import PartitionProcessor
from turnsignal.stream.pipeline.scoring import policy_of
from turnsignal.stream.records.wire import SERIES
from turnsignal.stream.simulation import Traffic, simulate
from turnsignal.stream.simulation.drills import KINDS, SLICE, DrillTraffic, plant, slices
from turnsignal.stream.simulation.traffic import Kind
from turnsignal.stream.suite import Suite
from turnsignal.stream.testing import FakeRecord

END = 1_767_225_600.0


def watched(traffic: DrillTraffic) -> BackTest:
    """What the detectors call, in a partition that had come to the end of the drill before it began."""
    processor, series = PartitionProcessor(Suite(), topic="turns"), []
    before = simulate(Traffic(seed=9, start=END, conversations=1, assistants=("billing",)))
    records = [next(before), *traffic.healthy, *traffic.worse]
    for start in range(0, len(records), 100):
        part = enumerate(records[start : start + 100], start)
        result = processor.process([FakeRecord(offset, record.key, record.value, -1) for offset, record in part], 0.0)
        processor.accept(result)
        series += [output.value or b"" for output in result.outputs if output.topic == SERIES]
    return back_test([series], policy_of(Suite()))


@pytest.mark.parametrize("kind", [KINDS[0], *(pytest.param(kind, marks=pytest.mark.slow) for kind in KINDS[1:])])
def test_each_kind_is_called_of_v2_after_it_came(kind: Kind) -> None:
    traffic = plant("drill-1", END, kind)
    (incident,) = watched(traffic).incidents
    assert (incident.assistant, incident.version) == ("drill-1", "v2")
    assert incident.opened > traffic.starts
    assert kind == "answers_worse" or incident.tier == PAGE


@pytest.mark.slow
def test_the_same_without_it_calls_nobody() -> None:
    assert watched(plant("drill-1", END, worse=False)).incidents == []


def test_no_turn_is_newer_than_the_newest_that_the_stack_knows() -> None:
    traffic = plant("drill-1", END)
    assert max(record.truth["time"] for record in (*traffic.healthy, *traffic.worse)) <= END


def test_drills_share_no_conversation() -> None:
    first, second = plant("drill-1", END, seed=1), plant("drill-2", END, seed=2)
    assert not set(first.conversations) & set(second.conversations)


def test_conversations_that_are_not_kept_are_made_up_for() -> None:
    half = plant("drill-1", END, share=0.5, keep=lambda name: sum(name.encode()) % 2 == 0)
    whole = plant("drill-1", END)
    assert 0.85 * len(whole.healthy) < len(half.healthy) < 1.15 * len(whole.healthy)


def test_slices_are_short_and_lose_nothing() -> None:
    records = plant("drill-1", END).healthy
    parts = list(slices(records))
    assert [record for part in parts for record in part] == records
    assert all(part[-1].truth["time"] - part[0].truth["time"] <= SLICE for part in parts)
    assert all(before[-1].truth["time"] <= after[0].truth["time"] for before, after in pairwise(parts))
