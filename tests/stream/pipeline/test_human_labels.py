"""Labels of people meet verdicts on the same answers: each pair once, whichever comes first."""

import itertools
from typing import Any

import orjson

from tests.stream.judging.judged import JUDGES, exchanges, judges_of, record
from turnsignal.stream.conversations.state import restore
from turnsignal.stream.judging.inquiry import Judgement
from turnsignal.stream.judging.verdicts import make_unjudged, make_verdict
from turnsignal.stream.pipeline.processor import PartitionProcessor
from turnsignal.stream.records.verdicts import Unjudged
from turnsignal.stream.suite import parse_suite
from turnsignal.stream.testing import T0, FakeRecord, reply, user

SUITE = parse_suite(JUDGES)
DOCUMENTS = [{"doc_id": "a", "text": "The colour is set under settings."}]
TURNS = [user("u1", 0), reply("a1", 5, retrieved=DOCUMENTS), user("u2", 20, "No, I meant the red one.")]
RECORDS = [turn.record(offset) for offset, turn in enumerate(TURNS)]
FIRST = PartitionProcessor(SUITE).process(RECORDS, T0).outputs


def label(name: str, scorer: str, offset: int = 0, **more: Any) -> FakeRecord:
    fields = {"id": name, "conversation_id": "c", "turn_id": "a1", "kind": "label", "scorer": scorer, "rater": name}
    return FakeRecord(
        offset, b"c", orjson.dumps(fields | {"timestamp": "2025-06-15T16:00:00Z"} | more), round(T0 * 1000)
    )


def verdict(stage: str, value: float) -> FakeRecord:
    exchange = next(exchange for exchange in exchanges(FIRST) if exchange.stage == stage)
    judge = next(judge for judge in judges_of(SUITE) if judge.chosen.rubric.stage == stage)
    return record(make_verdict(exchange, judge, Judgement("said", value, "So.")))


def meet(*steps: tuple[str, FakeRecord]) -> tuple[dict[Any, int], bytes]:
    """Take records in one by one, each by a processor of its own; return what met, and the state."""
    store: dict[bytes, bytes] = {}
    met: dict[Any, int] = {}
    for kind, step in steps:
        processor = PartitionProcessor(SUITE, store=store)
        processor.read_store()
        result = processor.process([step] if kind == "turn" else (), T0, **({kind: [step]} if kind != "turn" else {}))
        processor.accept(result)
        for meeting, count in result.deltas.judge_anchors.items():
            met[meeting] = met.get(meeting, 0) + count
    return met, store[b"c"]


GROUNDED, STRONG = verdict("response", 0.9), verdict("follow_up", 0.2)
LABELS = [label("l1", "groundedness", value=0.8), label("l2", "groundedness", value=0.1)]
LABELS += [label("l3", "follow_up(by=strong)", value=0.0), label("l4", "sentiment", value=0.0)]
TALK = [("turn", turn) for turn in RECORDS]
SPOKEN = [("verdicts", GROUNDED), ("verdicts", STRONG), *(("feedback", each) for each in LABELS)]
WANTED = {
    ("groundedness", "good", "good"): 1,
    ("groundedness", "bad", "good"): 1,
    ("strong", "bad", "bad"): 1,
}


def test_each_label_and_verdict_on_an_answer_meet_once_in_any_order() -> None:
    _, state = meet(*TALK, *SPOKEN)
    for order in itertools.islice(itertools.permutations(SPOKEN), 0, 720, 7):
        met, left = meet(*TALK, *order, *order[:3])  # what comes again meets nobody
        assert met == WANTED
        assert restore(left).judged == restore(state).judged


def test_labels_that_come_before_their_turn_meet_verdicts_all_the_same() -> None:
    assert meet(*SPOKEN[2:], *TALK, *SPOKEN[:2])[0] == WANTED
    assert meet(*SPOKEN, *TALK)[0] == WANTED
    assert meet(SPOKEN[2], SPOKEN[0], *TALK, *SPOKEN[1:2], *SPOKEN[3:])[0] == WANTED


def test_a_class_counts_as_the_rubric_values_it_and_others_meet_nobody() -> None:
    good, bad = label("l1", "groundedness", label="inferable"), label("l2", "groundedness", label="of another rubric")
    met, _ = meet(*TALK, ("feedback", label("l3", "task_utility", value=1.0)), ("verdicts", GROUNDED))
    assert met == {}
    met, _ = meet(*TALK, ("feedback", bad), ("verdicts", GROUNDED), ("feedback", good))
    assert met == {("groundedness", "good", "good"): 1}


def test_a_verdict_without_a_value_meets_nobody() -> None:
    exchange = next(exchange for exchange in exchanges(FIRST) if exchange.stage == "response")
    unjudged = record(make_unjudged(exchange, judges_of(SUITE)[1], Unjudged.BUDGET, "spent"))
    assert meet(*TALK, ("verdicts", unjudged), ("feedback", LABELS[0]))[0] == {}
    assert meet(*TALK, ("feedback", LABELS[0]), ("verdicts", unjudged))[0] == {}
