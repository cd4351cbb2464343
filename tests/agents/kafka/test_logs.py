"""Reading a log asks for what is left of it, goes on after what passes, and ends with a reason otherwise."""

from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import Any

import pytest
from confluent_kafka import KafkaError

from tests.kafka.raw import batch, record
from turnsignal.agents.kafka import logs
from turnsignal.agents.kafka.fetching import PartitionFetch
from turnsignal.agents.kafka.logs import ReadDeniedError, read_log
from turnsignal.agents.settings import Settings
from turnsignal.stream.errors import TurnsignalError


class Brokers:
    """Brokers with partitions of one record a batch, of which each call gives one, or what was told beforehand.

    records: of each partition; told: answers of the next calls; asked: what was asked for; clock: which each call
    without an answer moves by a second.
    """

    def __init__(self, records: Mapping[int, int], told: Sequence[list[PartitionFetch]] = ()) -> None:
        self.records, self.told = records, list(told)
        self.asked: list[dict[int, int]] = []
        self.closed = 0
        self.now = 0.0

    def fetch(self, offsets: Mapping[int, int], _seconds: float) -> list[PartitionFetch]:
        self.asked.append(dict(offsets))
        answer = self.told.pop(0) if self.told else [self.of(*each) for each in offsets.items()]
        self.now += not any(fetched.data for fetched in answer)
        return answer

    def of(self, number: int, offset: int) -> PartitionFetch:
        end = self.records[number]
        return PartitionFetch(number, offset, 0, end, end, (), one(offset) if offset < end else b"")

    def __enter__(self) -> "Brokers":
        return self

    def __exit__(self, *_: object) -> None:
        self.closed += 1


def one(offset: int) -> bytes:
    return batch(record(0, b"k", b"%d" % offset), 1, base=offset)


def refusal(code: int, number: int = 0, offset: int = 0) -> PartitionFetch:
    return PartitionFetch(number, offset, code, -1, -1, (), b"")


@pytest.fixture
def settings(monkeypatch: pytest.MonkeyPatch) -> Settings:
    def find(*_: object) -> dict[int, tuple[int, int]]:
        return {0: (2, 4)}

    monkeypatch.setattr(logs, "find_log", find)
    return Settings(brokers="127.0.0.1:1")


def read(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, brokers: Brokers, ranges: logs.Ranges, **how: Any
) -> list[tuple[int, int]]:
    monkeypatch.setattr(logs, "TopicFetcher", lambda *_: brokers)
    monkeypatch.setattr(logs, "time", SimpleNamespace(monotonic=lambda: brokers.now))
    try:
        given = list(read_log(settings, "t", ranges, **{"committed": True, **how}))
    finally:
        assert brokers.closed == 1
    assert all(given)
    return [(each.partition, each.offset) for records in given for each in records]


def test_a_partition_that_is_done_is_not_asked_for_any_more(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    brokers = Brokers({0: 3, 1: 50})
    assert sorted(read(settings, monkeypatch, brokers, {0: (0, 3), 1: (0, 1), 2: (5, 5)})) == [
        (0, 0), (0, 1), (0, 2), (1, 0),
    ]  # fmt: skip
    assert brokers.asked == [{0: 0, 1: 0}, {0: 1}, {0: 2}]


@pytest.mark.parametrize("code", sorted(logs._FOR_A_WHILE))
def test_what_passes_is_asked_for_again(settings: Settings, monkeypatch: pytest.MonkeyPatch, code: int) -> None:
    brokers = Brokers({0: 1}, [[refusal(code)], []])
    assert read(settings, monkeypatch, brokers, {0: (0, 1)}) == [(0, 0)]


@pytest.mark.parametrize(
    ("code", "error"),
    [(KafkaError.TOPIC_AUTHORIZATION_FAILED, ReadDeniedError), (KafkaError.UNSUPPORTED_VERSION, TurnsignalError)],
)
def test_a_refusal_is_said(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, code: int, error: type[TurnsignalError]
) -> None:
    with pytest.raises(error, match=r"expected all of t, got: .* \(at 0@0\)"):
        read(settings, monkeypatch, Brokers({0: 1}, [[refusal(code)]]), {0: (0, 1)})


def test_what_retention_took_is_passed_over(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = [refusal(KafkaError.OFFSET_OUT_OF_RANGE)]
    assert read(settings, monkeypatch, Brokers({0: 4}, [gone]), {0: (0, 4)}) == [(0, 2), (0, 3)]
    assert read(settings, monkeypatch, Brokers({0: 4}, [gone]), {0: (0, 1)}) == []


def test_a_log_that_is_another_is_said(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = [refusal(KafkaError.OFFSET_OUT_OF_RANGE, offset=7)]
    with pytest.raises(TurnsignalError, match="got t-0 up to offset 4 instead of 7: was it made anew"):
        read(settings, monkeypatch, Brokers({0: 9}, [gone]), {0: (7, 9)})


def test_silence_is_said_with_what_is_missing_and_why(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    deaf = Brokers({0: 1, 1: 1})  # of what was there before
    with pytest.raises(TurnsignalError, match=r"expected all of t, got no answer for 30 s at 0@1, 1@1$"):
        read(settings, monkeypatch, deaf, {0: (0, 2), 1: (0, 2)})
    lost = [refusal(KafkaError.UNKNOWN_TOPIC_OR_PART)]
    with pytest.raises(TurnsignalError, match=r"no answer for 30 s at 0@0 \(Broker: Unknown topic or partition\)"):
        read(settings, monkeypatch, Brokers({0: 1}, [lost] * 40), {0: (0, 1)})


def test_a_range_ends_where_an_open_transaction_begins_for_who_reads_what_is_committed(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = PartitionFetch(0, 0, 0, 5, 1, (), one(0))
    told: list[tuple[int, int]] = []
    brokers = Brokers({0: 5}, [[held]])
    assert read(settings, monkeypatch, brokers, {0: (0, 5)}, progress=lambda *of: told.append(of)) == [(0, 0)]
    assert told[-1] == (5, 5)
    assert len(read(settings, monkeypatch, Brokers({0: 5}, [[held]]), {0: (0, 5)}, committed=False)) == 5


def test_an_answer_that_comes_twice_counts_once(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    brokers = Brokers({0: 2})
    brokers.told = [[brokers.of(0, 0), brokers.of(0, 0)]]
    assert read(settings, monkeypatch, brokers, {0: (0, 2)}) == [(0, 0), (0, 1)]


def test_lists_are_short_and_progress_is_told_after_each(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logs, "_AT_ONCE", 2)
    content = b"".join(record(place, b"k", b"v") for place in range(5))
    brokers = Brokers({0: 5}, [[PartitionFetch(0, 0, 0, 5, 5, (), batch(content, 5))]])
    told: list[tuple[int, int]] = []
    read(settings, monkeypatch, brokers, {0: (0, 5)}, progress=lambda *of: told.append(of))
    assert told == [(2, 5), (4, 5), (5, 5), (5, 5)]


def test_who_stops_in_the_middle_lets_go_of_the_brokers(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    brokers = Brokers({0: 3})
    monkeypatch.setattr(logs, "TopicFetcher", lambda *_: brokers)
    reading = read_log(settings, "t", {0: (0, 3)}, committed=True)
    next(reading)
    del reading
    assert brokers.closed == 1
