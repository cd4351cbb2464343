"""Fetches follow each other at a pace where they bring little, and at once after a silence or where much waits."""

import asyncio
from collections.abc import Iterator
from itertools import accumulate
from types import SimpleNamespace

from turnsignal.agents.worker.consumer import PartitionThread
from turnsignal.agents.worker.fetch_pace import FetchPace

REST = 0.02


def pauses(*fetches: tuple[float, int], node: int = 1, pace: FetchPace | None = None) -> list[float]:
    """Return the pauses before fetches, each given by when it may begin and how many records the one before brought."""
    pace = pace or FetchPace(REST)
    offsets = accumulate(brought for _, brought in fetches)
    return [
        round(pace.pause(node, [("turns", [(0, offset, 1)])], now), 6)
        for (now, _), offset in zip(fetches, offsets, strict=True)
    ]


def every(seconds: float, count: int) -> Iterator[float]:
    return (number * seconds for number in range(count))


def test_records_that_come_one_by_one_gather_between_two_fetches() -> None:
    assert pauses((10.0, 0), (10.001, 1), (10.021, 1)) == [0.0, 0.019, 0.019]


def test_what_comes_after_a_silence_is_followed_at_once() -> None:
    assert pauses((10.0, 0), (10.5, 1)) == [0.0, 0.0]


def test_a_fetch_that_brought_nothing_has_waited_at_the_broker() -> None:
    assert pauses((10.0, 0), (10.001, 0)) == [0.0, 0.0]


def test_a_backlog_is_fetched_without_a_pause() -> None:
    assert pauses((10.0, 0), (10.001, 100), (10.002, 5_000)) == [0.0, 0.0, 0.0]


def test_a_position_that_goes_back_is_no_reason_to_wait() -> None:
    assert pauses((10.0, 50), (10.001, -30)) == [0.0, 0.0]


def test_brokers_are_asked_each_at_a_pace_of_its_own() -> None:
    pace = FetchPace(REST)
    assert pauses((10.0, 0), (10.001, 1), pace=pace) == [0.0, 0.019]
    assert pace.pause(2, [("turns", [(1, 0, 1)])], 10.002) == 0.0


def test_no_pause_is_kept_where_the_commit_interval_is_none() -> None:
    pace = FetchPace(0.0)
    assert not any(pace.pause(1, [("turns", [(0, number, 1)])], now) for number, now in enumerate(every(0.001, 50)))


def test_a_partition_that_comes_to_a_broker_later_counts_from_where_it_is() -> None:
    pace = FetchPace(REST)
    assert pace.pause(1, [("turns", [(0, 10, 1)])], 10.0) == 0.0
    assert pace.pause(1, [("turns", [(0, 10, 1), (1, 90, 1)])], 10.001) == 0.0


async def test_aiokafka_fetches_at_our_pace_and_a_fetch_that_waits_ends_quietly_when_partitions_go() -> None:
    sent: list[int] = []

    async def fetch(_assignment: object, node: int, _request: object) -> bool:
        sent.append(node)
        return True

    def request(offset: int) -> SimpleNamespace:
        return SimpleNamespace(topics=[("turns", [(0, offset, 1)])])

    fetcher = SimpleNamespace(_proc_fetch_request=fetch)
    app, loop = SimpleNamespace(fetch_pace=FetchPace(1_000.0)), asyncio.get_running_loop()
    consumer = SimpleNamespace(_fetcher=fetcher)
    thread = SimpleNamespace(_ensure_consumer=lambda: consumer, app=app, thread_loop=loop)
    PartitionThread._pace_fetches(thread)  # type: ignore[arg-type]
    assert await fetcher._proc_fetch_request(None, 1, request(0))
    second = asyncio.ensure_future(fetcher._proc_fetch_request(None, 1, request(1)))
    await asyncio.sleep(0)
    assert sent == [1]
    second.cancel()
    assert await second is False
    assert sent == [1]
