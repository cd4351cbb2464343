"""What a conversation remembers of judges: the same in any order, bounded, and never a guess."""

import itertools

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.examples import examples
from turnsignal.stream.conversations.judged import (
    MAX_BYTES,
    MAX_EXCHANGES,
    MAX_MARKS,
    Fate,
    JudgedMemory,
    VerdictFacts,
)
from turnsignal.stream.records.verdicts import MOST_VERSION

A, B, C = "groundedness(by=a)", "groundedness(by=b)", "follow_up(by=c)"


def said(
    exchange: int, scorer: str, value: float | None = 0.5, version: int = 1, inclusion: float = 1.0
) -> VerdictFacts:
    return VerdictFacts(
        f"{exchange}{scorer}{version}", f"row-{exchange}", float(exchange), scorer, version, value, inclusion
    )


def test_several_judges_of_one_stage_are_awaited_each_whatever_their_names() -> None:
    for names in itertools.permutations((A, B, C)):
        memory = JudgedMemory()
        memory.expect("row-1", 1.0, names)
        assert memory.awaiting == 3
        for left, name in zip((2, 1, 0), names, strict=True):
            assert memory.take(said(1, name))[0] is Fate.COUNTED
            assert memory.awaiting == left
        assert set(memory.means()) == {A, B, C}


def test_the_largest_version_of_a_rubric_is_remembered() -> None:
    memory = JudgedMemory()
    memory.expect("row-1", 1.0, [A])
    assert memory.take(said(1, A, version=MOST_VERSION))[0] is Fate.COUNTED
    assert memory.current()[0].marks[0].version == MOST_VERSION


def test_a_newer_rubric_counts_in_the_place_of_the_older_one_whichever_came_first() -> None:
    for order in itertools.permutations((said(1, A, 0.2), said(1, A, 0.8, version=2), said(1, A, None, version=3))):
        memory = JudgedMemory()
        memory.expect("row-1", 1.0, [A])
        for verdict in order:
            memory.take(verdict)
        assert memory.means()[A].mean == 0.8
        assert memory.means()[A].n == 1


def test_a_verdict_on_a_row_that_was_replaced_does_not_count_before_or_after() -> None:
    early, late = JudgedMemory(), JudgedMemory()
    for memory in (early, late):
        memory.expect("row-1", 1.0, [A])
    assert early.take(said(1, A))[0] is Fate.COUNTED
    early.replace("row-1")
    late.replace("row-1")
    assert late.take(said(1, A))[0] is Fate.REPLACED
    assert early == late
    assert (early.means(), early.awaiting) == ({}, 0)


def test_beyond_its_bounds_the_oldest_exchanges_are_added_up() -> None:
    memory = JudgedMemory()
    for number in range(3 * MAX_EXCHANGES):
        memory.expect(f"row-{number}", float(number), [A])
        memory.take(said(number, A, 1.0, inclusion=0.5))
    assert len(memory.current()) == MAX_EXCHANGES
    assert memory.means()[A] == (3 * MAX_EXCHANGES, 2 * 3 * MAX_EXCHANGES * 10_000, 2 * 3 * MAX_EXCHANGES * 10_000**2)
    assert memory.take(said(4 * MAX_EXCHANGES, A))[1] == (3 * MAX_EXCHANGES, 3.0 * MAX_EXCHANGES)


@pytest.mark.parametrize("exchanges", [1, 40])
def test_however_many_verdicts_come_it_stays_within_its_bytes(exchanges: int) -> None:
    memory = JudgedMemory()
    for number in range(MAX_MARKS + 300):
        judge = f"groundedness(by=judge_{number % 120:037d})"
        memory.take(said(number % exchanges, judge, 0.123, version=number, inclusion=1e-9))
        memory.expect(f"row-{number % exchanges}", float(number % exchanges), [])
    marks = [
        len(exchange.marks) for exchange in {id(each): each for each in memory.exchanges + memory.current()}.values()
    ]
    assert sum(marks) <= MAX_MARKS
    assert len(msgspec.msgpack.encode(memory)) <= MAX_BYTES


def test_what_is_complete_is_packed_and_counts_as_before() -> None:
    memory = JudgedMemory()
    for number in range(10):
        memory.expect(f"row-{number}", float(number), [A, B])
        memory.take(said(number, B, 0.2))
        assert len(memory.exchanges) == 1
        memory.take(said(number, A, None if number == 9 else number / 10))
    assert memory.exchanges == []
    assert memory.means() == {A: (9, 90_000, 10_000 * 36_000), B: (10, 100_000, 10_000 * 20_000)}
    assert memory.take(said(3, A, 0.3))[0] is Fate.DUPLICATE
    assert memory.take(said(3, A, 0.8, version=2))[0] is Fate.COUNTED
    assert memory.means()[A].total == 10_000 * (36_000 - 3_000 + 8_000)
    memory.replace("row-4")
    assert memory.means()[B].n == 9
    assert memory.take(said(4, C, 0.8))[0] is Fate.REPLACED
    assert len(memory.current()) == 9


@examples(100)
@given(st.data())
def test_what_is_remembered_does_not_depend_on_the_order_of_turns_and_verdicts(data: st.DataObject) -> None:
    numbers = range(5)
    spoken = [said(number, name, number / 5) for number in numbers for name in data.draw(st.permutations((A, B, C)))]
    spoken += [said(2, A, 0.9, version=2), said(3, B, None, version=2)]
    replaced = data.draw(st.sets(st.sampled_from(numbers)))

    def run(steps: list[VerdictFacts | int]) -> JudgedMemory:
        memory, came = JudgedMemory(), set[int]()
        for step in steps:
            if isinstance(step, VerdictFacts):
                memory.take(step)
            elif step not in came:
                came.add(step)
                memory.expect(f"row-{step}", float(step), [A, B])
            else:
                memory.replace(f"row-{step}")
        return memory

    steps = [*numbers, *replaced, *spoken]
    mixed = run(data.draw(st.permutations([*steps, *spoken[:4]])))
    assert mixed == run(steps)
    assert msgspec.msgpack.encode(mixed) == msgspec.msgpack.encode(run(steps))


def test_what_an_older_version_remembered_is_taken_over() -> None:
    memory = JudgedMemory()
    for number in range(3):
        memory.expect(f"row-{number}", float(number), [A, B])
        memory.take(said(number, A, 0.5))
    memory.take(said(0, B, 0.5))
    # As it was stored before: everything one by one, with the judges that were to judge it.
    older = msgspec.convert([memory.scorers, [], [0] * 6], JudgedMemory)
    older.exchanges = memory.current()
    for exchange in older.exchanges:
        exchange.expected = [0, 1]
    older.tidy()
    assert older == memory
    assert older.awaiting == 2
