"""Records that cannot be worked on, in each of the three apps: set aside, and counted as every other bad record is."""

import pytest

from tests.stream.pipeline.test_docket_processor import TOPIC as EXCHANGES
from tests.stream.pipeline.test_docket_processor import Partition
from turnsignal.stream.errors import Reason
from turnsignal.stream.pipeline.batch_result import BatchResult
from turnsignal.stream.pipeline.docket_processor import DocketProcessor
from turnsignal.stream.pipeline.metric_deltas import MetricDeltas, pipeline_families
from turnsignal.stream.pipeline.metric_family import JUDGE, SCORE, WATCH
from turnsignal.stream.pipeline.processor import PartitionProcessor
from turnsignal.stream.pipeline.series import SeriesProcessor
from turnsignal.stream.records.wire import Unplaced
from turnsignal.stream.suite import Suite
from turnsignal.stream.testing import FakeRecord

Processor = PartitionProcessor | DocketProcessor | SeriesProcessor
TURNS, SERIES = "turnsignal.turns", "turnsignal.series"
PROCESSORS: dict[str, tuple[str, Processor]] = {
    SCORE: (TURNS, PartitionProcessor(Suite(), topic=TURNS)),
    JUDGE: (EXCHANGES, Partition().processor),
    WATCH: (SERIES, SeriesProcessor({}, SERIES, 0)),
}
RECORDS = {name: family for _, name, family in pipeline_families()}["records_total"]


def process(app: str, value: bytes) -> BatchResult:
    _, processor = PROCESSORS[app]
    came = [FakeRecord(7, b"c", value)]
    if isinstance(processor, DocketProcessor):
        return processor.process(came, 0.0, {})
    return processor.process(came) if isinstance(processor, SeriesProcessor) else processor.process(came, 0.0)


@pytest.mark.parametrize("app", PROCESSORS)
def test_what_cannot_be_worked_on_and_what_cannot_be_read_are_dead_letters_among_the_records(app: str) -> None:
    topic, processor = PROCESSORS[app]
    aside = processor.set_aside(topic, FakeRecord(6, b"c", b"{}"), "it ended two workers")
    assert [dict(out.headers or ())["reason"] for out in aside.outputs] == [b"poison"]
    for batch in (aside, process(app, b"no record of ours")):
        assert sum(batch.deltas.dead_letters.values()) == 1
        assert batch.deltas.records == {(topic, "dead_letter"): 1}


@pytest.mark.parametrize("app", PROCESSORS)
def test_each_app_shows_dead_letters_among_its_records_before_the_first(app: str) -> None:
    assert "dead_letter" in RECORDS.words_of("result", app)


def test_what_never_had_a_place_on_a_topic_is_a_dead_letter_and_no_record_that_was_read() -> None:
    deltas = MetricDeltas()
    deltas.on_dead_letter(Unplaced(b"c", None), TURNS, Reason.POISON)
    assert (deltas.dead_letters, deltas.records) == ({(TURNS, Reason.POISON): 1}, {})
