"""A worker that can read nothing says so, at once and then once a minute; nobody's words stand in its log."""

import logging

import pytest

from tests.agents.worker.test_batch_work import TURN, TURNS, make_work
from turnsignal.agents.worker.batch_attempt import BatchAttempt
from turnsignal.agents.worker.batches import PartitionBatch, RecordBuffer
from turnsignal.agents.worker.dead_letters import DeadLetterWarnings
from turnsignal.stream.errors import Reason
from turnsignal.stream.records.dead_letters import dead_letter
from turnsignal.stream.records.wire import SCORES, OutputRecord, Unplaced

ROW = OutputRecord(SCORES, b"c-1", b"{}")


def letter(offset: int, detail: str = "expected a conversation_id, got none") -> OutputRecord:
    return dead_letter(TURN._replace(offset=offset), TURNS.topic, 3, Reason.WRONG_TYPE, detail)


def test_dead_letters_are_said_at_once_and_then_once_a_minute_with_their_count_and_the_first() -> None:
    warnings = DeadLetterWarnings(quotes=False)
    warnings.add([ROW], 0.0)
    assert warnings.next_warning(0.0) is None
    warnings.add([ROW, letter(17)], 10.0)
    assert warnings.next_warning(10.5) == (
        "1 record became a dead letter within 1 s, first turnsignal.turns-3 offset 17: wrong_type: expected a"
        " conversation_id, got none; where each stood, and why:"
        " `turnsignal export dead_letters --last 1h --out letters.jsonl`"
    )
    for at in range(2_000):
        warnings.add([letter(18 + at), letter(5_000 + at)], 11.0 + at / 100)
        assert warnings.next_warning(11.0 + at / 100) is None
    told = warnings.next_warning(70.5) or ""
    assert told.startswith("4,000 records became dead letters within 60 s, first turnsignal.turns-3 offset 18: ")
    assert warnings.next_warning(500.0) is None


def test_what_came_is_not_quoted_in_the_log_though_the_letters_may_hold_it() -> None:
    warnings = DeadLetterWarnings(quotes=True)
    warnings.add([letter(17, "expected an object: my card is 4111")], 0.0)
    told = warnings.next_warning(0.0) or ""
    assert "4111" not in told
    assert "offset 17: wrong_type; where" in told


def test_what_never_had_a_place_is_said_without_one_and_a_long_reason_is_cut() -> None:
    warnings = DeadLetterWarnings(quotes=False)
    warnings.add([dead_letter(Unplaced(b"c-1", None), TURNS.topic, 3, Reason.POISON, "x" * 900)], 0.0)
    told = warnings.next_warning(0.0) or ""
    assert "first turnsignal.turns-3: poison: " in told
    assert "x" * 300 in told
    assert "x" * 301 not in told


async def test_a_worker_that_can_read_nothing_warns_of_it(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING, logger="turnsignal.work")
    work, task = make_work(RecordBuffer(10))
    records = [TURN._replace(offset=at, value=b'{"other": "product"}') for at in range(7, 10)]
    attempt = BatchAttempt(task, PartitionBatch(0, {TURNS.topic: records}))
    attempt.result = task.processor.process(records, 0.0)
    work._count(attempt)
    work.warn_of_letters(1e9)
    assert "3 records became dead letters within " in caplog.text
    assert "first turnsignal.turns-0 offset 7: " in caplog.text
    work._count(attempt)
    work.warn_of_letters(1e9)
    assert caplog.text.count("3 records became dead letters within ") == 1
    work.warn_of_letters(float("inf"))  # what is left is said when the worker ends
    assert caplog.text.count("3 records became dead letters within ") == 2
    work.close()
