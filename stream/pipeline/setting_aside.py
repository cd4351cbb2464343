"""Setting aside: one way for every app to count a record that is no use to it, and to write its dead letter."""

from turnsignal.stream.errors import Reason
from turnsignal.stream.pipeline.metric_deltas import MetricDeltas
from turnsignal.stream.records.dead_letters import dead_letter
from turnsignal.stream.records.wire import OutputRecord, Record


def counted_letter(
    record: Record, topic: str, partition: int, reason: Reason, detail: str, deltas: MetricDeltas, *, full: bool = False
) -> OutputRecord:
    """Count a record that is set aside, and return its dead letter (see `dead_letter`).

    What never had a place on the topic is none of the records that were read there.
    """
    deltas.dead_letters[topic, reason] += 1
    if record.offset >= 0:
        deltas.records[topic, "dead_letter"] += 1
    return dead_letter(record, topic, partition, reason, detail, full=full)
