"""Records that cannot be worked on, in each of the three apps: set aside, and counted as every other bad record is."""

from typing import Any

import pytest

from tests.stream.judging.test_docket import FIRST
from turnsignal.stream.errors import Reason
from turnsignal.stream.pipeline.docket_processor import DocketProcessor
from turnsignal.stream.pipeline.metric_deltas import MetricDeltas
from turnsignal.stream.pipeline.metric_family import JUDGE, SCORE, WATCH
from turnsignal.stream.pipeline.processor import PartitionProcessor
from turnsignal.stream.pipeline.series import SeriesProcessor
from turnsignal.stream.records.wire import Unplaced
from turnsignal.stream.suite import Suite
from turnsignal.stream.testing import FakeRecord

TURNS, EXCHANGES, SERIES = "turnsignal.turns", "turnsignal.exchanges", "turnsignal.series"
#: app → the topic that it reads, its processor, and what `process` is given beside records
PROCESSORS: dict[str, tuple[str, Any, tuple[Any, ...]]] = {
    SCORE: (TURNS, PartitionProcessor(Suite(), topic=TURNS), (0.0,)),
    JUDGE: (EXCHANGES, DocketProcessor([FIRST], None, 1e9, None, {}, EXCHANGES), (0.0, {})),
    WATCH: (SERIES, SeriesProcessor({}, SERIES, 0), ()),
}


@pytest.mark.parametrize("app", PROCESSORS)
def test_what_cannot_be_worked_on_and_what_cannot_be_read_are_dead_letters_among_the_records(app: str) -> None:
    topic, processor, more = PROCESSORS[app]
    aside = processor.set_aside(topic, FakeRecord(6, b"c", b"{}"), "it ended two workers")
    assert [dict(out.headers or ())["reason"] for out in aside.outputs] == [b"poison"]
    for batch in (aside, processor.process([FakeRecord(7, b"c", b"no record of ours")], *more)):
        assert sum(batch.deltas.dead_letters.values()) == 1
        assert batch.deltas.records == {(topic, "dead_letter"): 1}


def test_what_never_had_a_place_on_a_topic_is_a_dead_letter_and_no_record_that_was_read() -> None:
    deltas = MetricDeltas()
    deltas.on_dead_letter(Unplaced(b"c", None), TURNS, Reason.POISON)
    assert (deltas.dead_letters, deltas.records) == ({(TURNS, Reason.POISON): 1}, {})
