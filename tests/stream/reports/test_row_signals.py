from typing import Any

import msgspec
import orjson
import pytest

from turnsignal.stream.diagnosis import Level
from turnsignal.stream.reports.row_signals import RowSignals
from turnsignal.stream.truth.stages import Signals

THRESHOLDS = {"relevancy": 0.5, "follow_ups": 0.5, "instructions": 1.0}
HIGH, LOW, UNKNOWN = Level.HIGH, Level.LOW, Level.UNKNOWN


def row(stage: str, turn: str = "t2", **scores: Any) -> bytes:
    named = [{"scorer": name.replace("ndcg", "nDCG@5"), "value": value} for name, value in scores.items()]
    return orjson.dumps({"conversation_id": "c", "turn_id": turn, "stage": stage, "scores": named, "id": "x"})


def read(*rows: bytes) -> RowSignals:
    signals = RowSignals("nDCG@5", THRESHOLDS)
    for line in rows:
        signals.add(line)
    return signals


def test_rows_of_an_answer_are_read_together() -> None:
    signals = read(row("response", ndcg=0.9, compliance=0.99), row("follow_up", follow_up=0.2), row("close", x=1))
    assert signals.get("c", "t2") == Signals(HIGH, LOW, LOW)
    assert signals.get("c", "t4") is None
    assert len(signals) == 1


def test_a_later_row_corrects_an_earlier_one_also_where_it_has_no_value() -> None:
    signals = read(row("response", ndcg=0.9), row("follow_up", follow_up=0.2), row("follow_up", follow_up=None))
    assert signals.get("c", "t2") == Signals(HIGH, UNKNOWN, UNKNOWN)


def test_a_verdict_beside_a_reference_approves_or_not_and_says_nothing_of_answers_without_a_row() -> None:
    rows = [
        row("response"),
        row("verdict", **{"factual_correctness(by=judge)": 0.0}),
        row("verdict", "t4", factual_correctness=1.0),
    ]
    assert read(*rows).get("c", "t2") == Signals(approved=False)
    assert read(*rows).get("c", "t4") is None


def test_rows_of_other_environments_are_counted_and_left_out() -> None:
    other = orjson.dumps(orjson.loads(row("response")) | {"environment": "synthetic"})
    assert read(other).elsewhere == 1
    assert read(other).get("c", "t2") is None


@pytest.mark.parametrize("line", [b"", b"[]", b"{}", b'{"conversation_id": 1}'])
def test_what_is_no_row_is_refused(line: bytes) -> None:
    with pytest.raises(msgspec.MsgspecError):
        read(line)
