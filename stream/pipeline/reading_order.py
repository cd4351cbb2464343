"""Reading order: several inputs of one partition as one sequence, by the broker's times, each in its own order."""

from collections.abc import Mapping, Sequence
from heapq import merge
from itertools import repeat

from turnsignal.stream.records.wire import Record


def in_time(inputs: Mapping[str, Sequence[Record]]) -> list[tuple[Record, str]]:
    """Merge records by the broker's times, each with its topic. inputs: topic → records, nearly always of one alone."""
    tagged = [zip(records, repeat(topic), strict=False) for topic, records in inputs.items() if records]
    return list(tagged[0] if len(tagged) == 1 else merge(*tagged, key=lambda pair: pair[0].timestamp) if tagged else ())
