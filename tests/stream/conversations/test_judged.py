"""What a conversation remembers of judges: the same in any order, bounded, and never a guess."""

import itertools

import msgspec
import pytest

from turnsignal.stream.conversations.judged import (
    MAX_BYTES,
    MAX_EXCHANGES,
    MAX_MARKS,
    Fate,
    JudgedMemory,
    VerdictFacts,
)

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
            assert memory.take(said(1, name)) is Fate.COUNTED
            assert memory.awaiting == left
        assert set(memory.means()) == {A, B, C}


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
    assert early.take(said(1, A)) is Fate.COUNTED
    early.replace("row-1")
    late.replace("row-1")
    assert late.take(said(1, A)) is Fate.REPLACED
    assert early == late
    assert (early.means(), early.awaiting) == ({}, 0)


def test_beyond_its_bounds_the_oldest_exchanges_are_added_up() -> None:
    memory = JudgedMemory()
    for number in range(3 * MAX_EXCHANGES):
        memory.expect(f"row-{number}", float(number), [A])
        memory.take(said(number, A, 1.0, inclusion=0.5))
    assert len(memory.exchanges) == MAX_EXCHANGES
    assert memory.means()[A] == (3 * MAX_EXCHANGES, 2 * 3 * MAX_EXCHANGES * 10_000, 2 * 3 * MAX_EXCHANGES * 10_000**2)
    assert memory.mean_of(A) == memory.means()[A]


@pytest.mark.parametrize("exchanges", [1, 40])
def test_however_many_verdicts_come_it_stays_within_its_bytes(exchanges: int) -> None:
    memory = JudgedMemory()
    for number in range(MAX_MARKS + 300):
        judge = f"groundedness(by=judge_{number % 120:037d})"
        memory.take(said(number % exchanges, judge, 0.123, version=number, inclusion=1e-9))
    assert sum(len(exchange.marks) for exchange in memory.exchanges) <= MAX_MARKS
    assert len(msgspec.msgpack.encode(memory)) <= MAX_BYTES
