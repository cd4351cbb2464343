"""Verdicts as a judge app writes them, on the exchanges that a processor has written."""

from collections.abc import Iterable
from typing import Any

from turnsignal.stream.judging.exchanges import EXCHANGE_RECORDS, ExchangeRecord
from turnsignal.stream.judging.inquiry import Judgement
from turnsignal.stream.judging.judges import Judge, make_judge
from turnsignal.stream.judging.rubric_files import choose_rubric
from turnsignal.stream.judging.verdicts import make_verdict
from turnsignal.stream.records.verdicts import VERDICTS, Unjudged, Verdict
from turnsignal.stream.records.wire import EXCHANGES, OutputRecord
from turnsignal.stream.suite import Suite
from turnsignal.stream.testing import FakeRecord

#: a suite's part of two judges, one for each stage
JUDGES = """
[exchanges]
share = 1.0
[[judges]]
rubric = "follow_up"
model = "scripted:rules"
name = "strong"
[[judges]]
rubric = "groundedness"
model = "scripted:overlap"
"""


def judges_of(suite: Suite) -> list[Judge]:
    """The judges of a suite, ready to be asked."""
    return [make_judge(part, suite.judging, choose_rubric(part.rubric)) for part in suite.judges]


def exchanges(outputs: Iterable[OutputRecord]) -> list[ExchangeRecord]:
    return [EXCHANGE_RECORDS.validate_json(out.value or b"") for out in outputs if out.topic == EXCHANGES]


def judgement(exchange: ExchangeRecord, judge: Judge) -> Judgement:
    """An answer that follows from ids alone, under any fingerprint: a value, or every fifth time none."""
    number = sum(f"{exchange.conversation_id}{exchange.turn_id}{exchange.stage}{judge.part.name}".encode())
    if number % 5 == 0:
        return Judgement(reasoning="the endpoint answered 503", unscored=Unjudged.PROVIDER)
    return Judgement("yes" if number % 3 else "no", number % 11 / 10, "Because of its second sentence.")


def verdicts(outputs: Iterable[OutputRecord], suite: Suite) -> list[Verdict]:
    """One verdict for each exchange and judge of its stage."""
    return [
        make_verdict(exchange, judge, judgement(exchange, judge))
        for exchange in exchanges(outputs)
        for judge in judges_of(suite)
        if judge.chosen.rubric.stage == exchange.stage
    ]


def record(verdict: Verdict, offset: int = 0, **more: Any) -> FakeRecord:
    """A verdict as its topic delivers it."""
    for name, value in more.items():
        setattr(verdict, name, value)
    key = verdict.conversation_id.encode()
    return FakeRecord(offset, key, VERDICTS.dump_json(verdict), round(verdict.time * 1000))
