"""Exchange records to verdicts in one partition: what is committed, and from where a worker after this one goes on."""

from typing import Any

import pytest

from tests.kafka.faults.oracle import Kept
from tests.stream.judging.exchanges import an_exchange
from tests.stream.judging.test_docket import FIRST, NOON, served
from turnsignal.stream.judging.docket_state import STATE
from turnsignal.stream.judging.exchanges import EXCHANGE_RECORDS
from turnsignal.stream.pipeline.docket_processor import DocketProcessor, JudgedResult
from turnsignal.stream.records.verdicts import VERDICTS, Unjudged
from turnsignal.stream.redaction import Redaction

TOPIC = "turnsignal.exchanges"
ROOM = {"openai": 9}


def record(offset: int, value: bytes | None = None, **changes: Any) -> Kept:
    fields = {"conversation_id": f"c{offset}", "row": f"row-{offset}", "response": f"Answer {offset}."} | changes
    exchange = EXCHANGE_RECORDS.dump_json(an_exchange(**fields)) if value is None else value
    return Kept(0, offset, b"c", exchange, round(NOON * 1000))


class Partition:
    """A processor, its store, and the calls that it has named."""

    def __init__(self, store: dict[bytes, bytes] | None = None, **more: Any) -> None:
        self.store = {} if store is None else store
        self.sent: list[Any] = []
        more = {"most_held": 4, "redaction": None} | more
        self.processor = DocketProcessor(
            [FIRST], None, 1e9, store=self.store, on_accepted=lambda _, batch: self.sent.extend(batch.calls), **more
        )

    def work(self, *records: Kept, capacity: dict[str, int] | None = None) -> JudgedResult:
        batch = self.processor.process(records, NOON, ROOM if capacity is None else capacity)
        self.processor.accept(batch)
        return batch

    def answer(self, index: int = 0) -> None:
        call = self.sent.pop(index)
        self.processor.settle(call, served(call), 1_000)


def verdicts(batch: JudgedResult) -> list[tuple[str, Unjudged | None]]:
    written = [VERDICTS.validate_json(output.value or b"") for output in batch.outputs if output.topic == "verdicts"]
    return [(verdict.row, verdict.unscored) for verdict in written]


def test_the_position_is_the_lowest_undecided_exchange_until_nothing_is_held() -> None:
    partition = Partition()
    assert partition.work(record(5), record(6)).positions == {TOPIC: 5}
    partition.answer(1)
    batch = partition.work()
    assert (verdicts(batch), batch.positions) == ([("row-6", None)], {TOPIC: 5})
    partition.answer()
    assert partition.work().positions == {TOPIC: 7}
    assert partition.work().positions is None, "behind what came, markers of transactions included"


def test_what_is_sent_was_committed_before_and_nothing_is_committed_where_nothing_changed() -> None:
    partition = Partition()
    batch = partition.processor.process([record(0)], NOON, ROOM)
    assert (len(batch.calls), partition.sent) == (1, [])
    partition.processor.accept(batch)
    assert len(partition.sent) == 1
    again = partition.work()
    assert (again.outputs, again.changes) == ([], {})


def test_no_more_is_taken_in_than_there_is_room_for() -> None:
    partition = Partition()
    batch = partition.work(*(record(offset) for offset in range(9)), capacity={})
    assert batch.consumed == {TOPIC: 4}
    assert partition.processor.docket.room == 0


def test_what_cannot_be_read_is_a_dead_letter_and_holds_nobody_up() -> None:
    partition = Partition()
    batch = partition.work(record(0, b"no exchange"), record(1, b""), record(2, stage="response"))
    assert [dict(output.headers or ())["reason"] for output in batch.outputs] == [b"not_json", b"not_json"]
    assert batch.positions == {TOPIC: 2}
    assert batch.deltas.records == {(TOPIC, "dead_letter"): 2, (TOPIC, "queued"): 1}


@pytest.mark.parametrize(
    "changes",
    [
        {"time": 1e300},
        {"time": -1e18},
        {"conversation_id": ""},
        {"conversation_id": "a\nb"},
        {"turn_id": "a\n"},
        {"turn_id": "t" * 1_000},
        {"follow_up_id": ""},
        {"suite": "s" * 300},
        {"version": "v" * 300},
        {"row": "r" * 300},
        {"inclusion": 0.0},
    ],
    ids=str,
)
def test_nobody_is_asked_about_an_exchange_whose_verdict_its_readers_would_refuse(changes: dict[str, Any]) -> None:
    partition = Partition()
    batch = partition.work(record(0, **changes), record(1))
    assert [output.topic for output in batch.outputs] == ["dead_letters"]
    assert [call.offset for call in partition.sent] == [1]


def test_where_records_are_gone_the_docket_begins_at_the_first_that_is_there() -> None:
    first = Partition()
    first.work(record(1_000_000), record(1_000_001))
    assert first.processor.docket.room == 2, "what expired before the first start takes no room"
    second = Partition(first.store)
    assert second.work(record(2_000_000)).positions == {TOPIC: 2_000_000}
    assert second.processor.docket.room == 3


def test_a_position_that_somebody_has_set_back_is_begun_anew() -> None:
    first = Partition()
    first.work(record(7), record(8))
    for _ in range(2):
        first.answer()
    first.work()
    second = Partition(first.store)
    assert second.processor.read_store() == 8
    batch = second.work(record(3, row="again", response="Another answer."))
    assert batch.positions == {TOPIC: 3}
    assert [call.offset for call in second.sent] == [3]


def test_who_leaves_has_lost_no_attempt_but_the_money_of_what_is_in_flight_counts() -> None:
    first = Partition()
    first.work(record(0))
    first.processor.leave()
    last = first.work(record(1))
    assert STATE in last.changes
    assert [call.offset for call in first.sent] == [0], "nothing new is named"
    second = Partition(first.store)
    second.work(record(0), record(1))
    assert [(call.offset, call.attempt) for call in second.sent] == [(0, 1), (1, 1)]
    killed = Partition(first.store)
    killed.work(record(0), record(1))
    assert [(call.offset, call.attempt) for call in killed.sent] == [(0, 2), (1, 2)]


def test_what_identifies_people_is_taken_out_before_anything_is_named() -> None:
    partition = Partition(redaction=Redaction())
    batch = partition.work(record(0, prompt="I am jo@example.org"))
    assert "jo@example.org" not in str(partition.sent[0].material.parts)
    assert batch.deltas.redactions == {"email": 1}
