"""Records of a partition gather for a while after each commit, unless many wait, and go on as one batch."""

import asyncio

import pytest
from faust.types import TP

from tests.kafka.faults.oracle import Kept
from turnsignal.agents.worker.batches import PartitionBatch, RecordBuffer

PLACE = TP("turns", 0)
LONG = 3600.0


def records(first: int, count: int) -> list[Kept]:
    return [Kept(0, offset, b"c-1", b"{}", 0) for offset in range(first, first + count)]


def make_buffer(limit: int = 2000) -> RecordBuffer:
    buffer = RecordBuffer(limit)
    buffer.open({0, 1})
    return buffer


async def batch_at_once(buffer: RecordBuffer) -> PartitionBatch | None:
    """Return the batch that can be taken without any time passing."""
    taking = asyncio.get_running_loop().create_task(buffer.take())
    for _ in range(10):
        await asyncio.sleep(0)
    if taking.done():
        return taking.result()
    taking.cancel()
    return None


async def partition_at_once(buffer: RecordBuffer) -> int | None:
    batch = await batch_at_once(buffer)
    return None if batch is None else batch.partition


async def pause_after_a_batch(buffer: RecordBuffer, pause: float) -> None:
    buffer.put(PLACE, records(0, 1))
    assert await batch_at_once(buffer) is not None
    buffer.done(0, pause)


async def test_the_first_record_after_a_pause_waits_for_nothing() -> None:
    buffer = make_buffer()
    await pause_after_a_batch(buffer, 0.001)
    buffer.put(PLACE, records(1, 1))
    assert (await buffer.take()).size == 1  # when the pause is over, whoever waits gets it
    buffer.done(0, 0.001)
    while buffer._pauses:
        await asyncio.sleep(0)
    buffer.put(PLACE, records(2, 1))
    assert await batch_at_once(buffer) is not None


async def test_few_records_gather_while_their_partition_pauses() -> None:
    buffer = make_buffer()
    await pause_after_a_batch(buffer, LONG)
    buffer.put(PLACE, records(1, 60))
    assert await batch_at_once(buffer) is None
    buffer.put(PLACE, records(61, 39))
    assert await batch_at_once(buffer) is None
    buffer.put(PLACE, records(100, 1))
    batch = await batch_at_once(buffer)
    assert batch is not None
    assert (batch.size, batch.positions(None)) == (100, {"turns": 101})


async def test_a_partition_in_which_many_wait_already_does_not_pause() -> None:
    buffer = make_buffer()
    buffer.put(PLACE, records(0, 1))
    assert await batch_at_once(buffer) is not None
    buffer.put(PLACE, records(1, 100))
    buffer.done(0, LONG)
    assert await batch_at_once(buffer) is not None


async def test_what_fills_a_batch_is_many_however_small_the_batch() -> None:
    buffer = make_buffer(limit=7)
    await pause_after_a_batch(buffer, LONG)
    buffer.put(PLACE, records(1, 7))
    batch = await batch_at_once(buffer)
    assert batch is not None
    assert batch.size == 7


async def test_another_partition_does_not_pause_with_it() -> None:
    buffer = make_buffer()
    await pause_after_a_batch(buffer, LONG)
    buffer.put(TP("turns", 1), records(0, 1))
    batch = await batch_at_once(buffer)
    assert batch is not None
    assert batch.partition == 1


async def test_time_passes_for_a_partition_only_after_its_pause() -> None:
    buffer = make_buffer()
    await pause_after_a_batch(buffer, LONG)
    buffer.punctuate({0})
    assert await batch_at_once(buffer) is None
    buffer.done(0)
    assert await batch_at_once(buffer) == PartitionBatch(0, {})


@pytest.mark.parametrize("taken_away", [RecordBuffer.close, lambda buffer: None])
async def test_whoever_is_given_a_partition_anew_does_not_wait_for_its_pause(taken_away) -> None:
    buffer = make_buffer()
    await pause_after_a_batch(buffer, LONG)
    taken_away(buffer)
    buffer.open({0})
    buffer.put(PLACE, records(1, 1))
    assert await batch_at_once(buffer) is not None


async def test_a_pause_that_a_batch_overtook_does_not_shorten_the_next_one() -> None:
    buffer = make_buffer()
    await pause_after_a_batch(buffer, LONG)
    (before,) = buffer._pauses.values()
    buffer.put(PLACE, records(1, 100))
    assert await batch_at_once(buffer) is not None
    buffer.done(0, LONG)
    assert before.cancelled()
    buffer.put(PLACE, records(101, 1))
    assert await batch_at_once(buffer) is None


async def test_a_partition_that_ended_a_worker_lets_the_others_go_first_but_not_for_ever() -> None:
    now = [100.0]
    buffer = RecordBuffer(10, clock=lambda: now[0])
    buffer.suspects = {0}
    buffer.open({0, 1})
    buffer.put(TP("turns", 0), records(0, 3))
    assert await batch_at_once(buffer) is None  # what the other one has to do may not be read yet
    buffer.put(TP("turns", 1), records(7, 1))
    now[0] = 103.0
    assert await partition_at_once(buffer) == 1
    assert await batch_at_once(buffer) is None  # its batch is not safe yet
    buffer.done(1)
    assert await partition_at_once(buffer) == 0


async def test_others_that_never_have_nothing_to_do_do_not_keep_a_partition_waiting() -> None:
    now = [100.0]
    buffer = RecordBuffer(10, clock=lambda: now[0])
    buffer.suspects = {0}
    buffer.open({0, 1})
    for number in (0, 1):
        buffer.put(TP("turns", number), records(0, 3))
    assert await partition_at_once(buffer) == 1
    now[0] = 106.0
    assert await partition_at_once(buffer) == 0


async def test_a_partition_without_room_keeps_its_records_waiting_and_is_called_all_the_same() -> None:
    buffer, rooms = make_buffer(), {0: 0, 1: 9}
    buffer.capacity_of = rooms.__getitem__
    buffer.put(PLACE, records(0, 3))
    assert not buffer.has_space(0)
    assert not buffer.has_ready, "waiting for somebody outside is no stall"
    assert await batch_at_once(buffer) is None
    buffer.queue_batch(0)
    assert (await buffer.take()).size == 0
    buffer.done(0)
    rooms[0] = 2
    buffer.queue_batch(0)
    assert (await buffer.take()).size == 2, "no more than there is room for"


async def test_a_call_that_comes_while_a_partition_is_busy_is_not_lost() -> None:
    buffer = make_buffer()
    buffer.put(PLACE, records(0, 1))
    await buffer.take()
    buffer.queue_batch(0)
    buffer.punctuate(set())
    assert await batch_at_once(buffer) is None
    buffer.done(0)
    assert await partition_at_once(buffer) == 0


def test_of_a_batch_that_counts_nothing_nothing_is_committed_and_all_is_left() -> None:
    batch = PartitionBatch(0, {"turns": records(3, 4)}, {"turns": 99})
    assert (batch.consumed({}), batch.positions({}), batch.after({})) == (0, {}, batch.records)
    assert (batch.consumed(None), batch.positions(None), batch.after(None)) == (4, {"turns": 7}, {})


def test_positions_are_what_is_held_where_records_are_not_done_with() -> None:
    batch = PartitionBatch(0, {"turns": records(3, 4)}, {"turns": 99})
    assert batch.positions(None) == {"turns": 7}
    assert batch.positions(None, {"turns": 2}) == {"turns": 2}


async def test_partitions_at_work_are_those_with_records_a_batch_or_a_pause() -> None:
    buffer = make_buffer()
    buffer.open({0, 1, 2, 3})
    assert buffer.at_work == 0
    buffer.put(TP("turns", 0), records(0, 1))
    assert buffer.claim(1)
    assert buffer.claim(2)
    buffer.done(2, LONG)
    assert buffer.at_work == 3
