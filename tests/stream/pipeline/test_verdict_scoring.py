"""Verdicts have one row each, and leave the same behind in whatever order they come among turns, and however often."""

import itertools
from dataclasses import replace
from importlib.resources import files
from itertools import groupby
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.examples import examples
from tests.stream.judging.judged import JUDGES, exchanges, judges_of, record, verdicts
from turnsignal.stream import judging
from turnsignal.stream.conversations.state import VERSION, restore
from turnsignal.stream.judging.inquiry import Judgement
from turnsignal.stream.judging.verdicts import make_unjudged, make_verdict
from turnsignal.stream.pipeline.batch_result import BatchResult
from turnsignal.stream.pipeline.processor import PartitionProcessor
from turnsignal.stream.pipeline.scoring import policy_of
from turnsignal.stream.pipeline.series import SeriesProcessor, restore_series
from turnsignal.stream.records.observations import read_observations
from turnsignal.stream.records.scores import SCORE_RECORDS
from turnsignal.stream.records.summaries import SUMMARIES
from turnsignal.stream.records.verdicts import VERDICTS, Unjudged, Verdict, VerdictStep
from turnsignal.stream.records.wire import CONVERSATIONS, SCORES, SERIES, OutputRecord
from turnsignal.stream.suite import Suite, parse_suite
from turnsignal.stream.testing import T0, FakeRecord, decoded, reply, user

SUITE, UNJUDGED = parse_suite(JUDGES), parse_suite("[exchanges]\nshare = 1.0")
DOCUMENTS = [{"doc_id": "a", "text": "The colour is set under settings."}]
GROUNDED, STRONG = "groundedness(by=groundedness)", "follow_up(by=strong)"
EARLY, CLOSED, END = 30, 4_000, 20_000

TALK = [
    user("u1", 0),
    reply("a1", 5, retrieved=DOCUMENTS),
    user("u2", 20, "No, I meant the red one."),
    reply("a2", EARLY, retrieved=DOCUMENTS),
    user("u3", 50, "Thank you, that helps a lot!"),
    reply("a3", 55, retrieved=DOCUMENTS),
    reply("a2b", 45, retrieved=DOCUMENTS),  # comes late, and takes the follow-up of a2
    user("other", CLOSED, conversation="d"),  # time passes: the conversation closes
    user("u4", CLOSED + 10, "And how do I reset it?"),
    reply("a4", CLOSED + 20, retrieved=DOCUMENTS),
    user("other2", END, conversation="d"),
]
RECORDS = [turn.record(offset) for offset, turn in enumerate(TALK)]


def a_processor(suite: Suite = SUITE, **more: Any) -> PartitionProcessor:
    return PartitionProcessor(suite, **more)


def run(processor: PartitionProcessor, *parts: list[FakeRecord]) -> list[OutputRecord]:
    """Work through turns, then verdicts, then turns again and so on, a batch each; return all that is written."""
    outputs = []
    for number, part in enumerate(parts):
        batch = processor.process(part, T0) if number % 2 == 0 else processor.process((), T0, verdicts=part)
        processor.accept(batch)
        outputs += batch.outputs
    return outputs


def judge(processor: PartitionProcessor, *spoken: Verdict) -> BatchResult:
    batch = processor.process((), T0, verdicts=[record(verdict) for verdict in spoken])
    processor.accept(batch)
    return batch


def rows(outputs: list[OutputRecord], stage: str) -> list[Any]:
    return [row for row in decoded(outputs) if row["stage"] == stage]


ALL = verdicts(run(a_processor(), RECORDS), SUITE)
SPOKEN = [record(verdict, offset) for offset, verdict in enumerate(ALL)]


# -- a row ---------------------------------------------------------------------------------------------------


def test_a_verdict_is_a_row_of_its_own_that_says_who_judged_what_at_which_price() -> None:
    processor = a_processor()
    first = next(verdict for verdict in ALL if verdict.value is not None and verdict.stage == "follow_up")
    first.cost = 0.002
    run(processor, RECORDS[:7])
    batch = judge(processor, first)
    (row,) = decoded(batch.outputs)
    read = SCORE_RECORDS.validate_python(row)
    assert (read.stage, read.turn_id, read.follow_up, read.time) == ("verdict", "a1", "u2", T0 + 20)
    assert read.source is None
    assert read.scores[0].scorer == STRONG
    assert read.scores[0].value == first.value
    assert read.scores[0].explanation == "Because of its second sentence."
    assert read.verdict is not None
    assert (read.verdict.row, read.verdict.judge, read.verdict.cost) == (first.row, "strong", 0.002)
    first.cost = 0.0


def test_what_was_not_judged_is_an_unscored_row_with_its_reason_and_moves_no_mean() -> None:
    processor = a_processor()
    outputs = run(processor, RECORDS[:2])
    grounded = judges_of(SUITE)[1]
    batch = judge(processor, make_unjudged(exchanges(outputs)[0], grounded, Unjudged.BUDGET, "the money is spent"))
    (row,) = decoded(batch.outputs)
    assert row["scores"] == [
        {"scorer": GROUNDED, "value": None, "unscored": "budget", "explanation": "the money is spent"}
    ]
    assert batch.deltas.judged_unscored == {("default", None, GROUNDED, "budget"): 1}
    assert not batch.deltas.judged_weight
    assert batch.deltas.judged_times == []
    described = processor.describe(b"c")
    assert described is not None
    assert (described["judged"], described["awaiting"]) == ({}, 0)


def test_every_reason_of_a_verdict_is_a_reason_of_a_score() -> None:
    processor = a_processor()
    outputs = run(processor, RECORDS[:2])
    exchange, grounded = exchanges(outputs)[0], judges_of(SUITE)[1]
    for reason in Unjudged:
        exchange.row = reason.value
        batch = judge(processor, make_unjudged(exchange, grounded, reason, "so"))
        assert decoded(batch.outputs)[0]["scores"][0]["unscored"] == reason


# -- any order -----------------------------------------------------------------------------------------------


def newest(outputs: list[OutputRecord]) -> dict[tuple[str, str], Any]:
    """The newest row of each conversation and stage, but for which row it replaces."""
    return {(row["conversation_id"], row["stage"]): row | {"replaces": None} for row in decoded(outputs)}


def final(outputs: list[OutputRecord], processor: PartitionProcessor) -> list[Any]:
    """Everything that must not depend on how turns and verdicts interleave."""
    written = [out.value for out in outputs if out.topic == SCORES and b'"stage":"close"' not in (out.value or b"")]
    of_rules = [value for value in written if b'"stage":"verdict"' not in (value or b"")]
    closes = {orjson.dumps(row | {"replaces": None}) for row in rows(outputs, "close") if row["conversation_id"] == "d"}
    last = {out.key: out.value for out in outputs if out.topic == CONVERSATIONS}
    judged = sorted({value or b"" for value in written} - {value or b"" for value in of_rules})
    return [of_rules, judged, closes, last, dict(processor.store), newest(outputs)["c", "close"]]


EXPECTED = a_processor()
WANTED = final(run(EXPECTED, RECORDS, SPOKEN), EXPECTED)


@examples(60)
@given(st.data())
def test_rows_and_final_state_are_the_same_however_turns_and_verdicts_interleave(data: st.DataObject) -> None:
    again = data.draw(st.lists(st.sampled_from(SPOKEN), max_size=6))
    spoken = data.draw(st.permutations([*SPOKEN, *again]))
    places = sorted(data.draw(st.lists(st.integers(0, len(RECORDS)), min_size=len(spoken), max_size=len(spoken))))
    mixed: list[tuple[bool, FakeRecord]] = []
    for at, turn in enumerate([*RECORDS, None]):
        mixed += [(True, verdict) for verdict, place in zip(spoken, places, strict=True) if place == at]
        mixed += [] if turn is None else [(False, turn)]
    processor, outputs = a_processor(), []
    for is_verdict, part in groupby(mixed, key=lambda pair: pair[0]):
        batch = [found for _, found in part]
        outputs += run(processor, *([[], batch] if is_verdict else [batch]))
        processor = a_processor(store=processor.store) if data.draw(st.booleans()) else processor
        processor.read_store()
    assert final(outputs, processor) == WANTED


def test_rows_of_rules_and_their_means_are_what_they_would_be_without_judges() -> None:
    def of_rules(outputs: list[OutputRecord]) -> list[Any]:
        return [row for row in decoded(outputs) if row["stage"] != "verdict" and "by=" not in str(row["scores"])]

    ruled, judged = a_processor(UNJUDGED), a_processor()
    without, mixed = run(ruled, RECORDS), run(judged, RECORDS[:4], SPOKEN, RECORDS[4:])
    assert of_rules(mixed) == of_rules(without)
    assert rows(without, "verdict") == []
    for key, value in ruled.store.items():
        assert restore(value).score_windows == restore(judged.store[key]).score_windows


def test_a_verdict_that_came_before_is_counted_and_has_no_effect() -> None:
    processor = a_processor(skip_applied=True)
    run(processor, RECORDS[:7], SPOKEN[:3])
    before = dict(processor.store)
    batch = processor.process((), T0, verdicts=SPOKEN[:3])
    assert (batch.outputs, batch.changes) == ([], before)
    assert batch.deltas.records["turnsignal.verdicts", "duplicate"] == 3
    assert batch.deltas.verdicts == {"duplicate": 3}
    assert not batch.deltas.judged_weight


# -- closing -------------------------------------------------------------------------------------------------


def test_a_conversation_closes_without_waiting_and_is_summed_up_anew_with_the_last_verdict() -> None:
    processor = a_processor()
    awaited = verdicts(run(a_processor(), RECORDS[:7]), SUITE)
    standing = [verdict for verdict in awaited if (verdict.turn_id, verdict.stage) != ("a2", "follow_up")]
    outputs = run(processor, RECORDS[:8])
    (first,) = [
        SUMMARIES.validate_json(out.value or b"") for out in outputs if out.key == b"c" and out.topic == CONVERSATIONS
    ]
    assert (first.awaiting, first.outcome, GROUNDED in first.scores) == (len(standing), "clarified", False)
    for verdict in standing[:-1]:
        assert [out.topic for out in judge(processor, verdict).outputs if out.topic == CONVERSATIONS] == []
    batch = judge(processor, standing[-1])
    (value,) = [out.value for out in batch.outputs if out.topic == CONVERSATIONS]
    anew = SUMMARIES.validate_json(value or b"")
    assert (anew.awaiting, anew.closes, anew.closed_at) == (0, 1, first.closed_at)
    assert anew.scores[GROUNDED]["n"] == len([v for v in standing if v.stage == "response" and v.value is not None])
    (ruled,), (again,) = rows(outputs, "close"), rows(batch.outputs, "close")
    assert again["replaces"] == ruled["id"] != again["id"]
    assert again["scores"][: len(ruled["scores"])] == ruled["scores"]
    assert [score["scorer"] for score in again["scores"][len(ruled["scores"]) :]] == ["conversation(by=strong)"]


@pytest.mark.parametrize(
    ("values", "outcome"),
    [((0.9, 0.9), "resolved"), ((0.2, 0.9), "clarified"), ((0.9, 0.2), "abandoned"), ((None, None), "silent")],
)
def test_judges_of_follow_ups_say_how_a_conversation_went(values: tuple[float | None, ...], outcome: str) -> None:
    suite = parse_suite(JUDGES[: JUDGES.rindex("[[judges]]")])
    processor, (strong,) = a_processor(suite), judges_of(suite)
    talk = [
        user("u1", 0),
        reply("a1", 5),
        user("u2", 9, "Hm?"),
        reply("a2", 12),
        user("u3", 15, "Aha"),
        reply("a3", 20),
    ]
    outputs = run(processor, [turn.record(offset) for offset, turn in enumerate(talk)])
    asked = [exchange for exchange in exchanges(outputs) if exchange.stage == "follow_up"]
    answers = [Judgement(None, value, unscored=Unjudged.NO_SIGNAL if value is None else None) for value in values]
    judge(processor, *(make_verdict(e, strong, answer) for e, answer in zip(asked, answers, strict=True)))
    batch = processor.process([user("x", CLOSED, conversation="d").record(9)], T0)
    score = rows(batch.outputs, "close")[-1]["scores"][-1]
    assert (score["scorer"], score["label"]) == ("conversation(by=strong)", outcome)


@pytest.mark.parametrize("answered", [True, False])
@pytest.mark.parametrize("reason", [Unjudged.SAMPLED_OUT, Unjudged.BUDGET])
def test_of_conversations_that_a_judge_was_not_asked_about_not_even_the_unanswered_have_a_value(
    reason: Unjudged, answered: bool
) -> None:
    score = score_of_conversation(0.5, [Judgement(unscored=reason)] * 2, last="Done." if answered else "")
    assert (score["value"], score["unscored"]) == (None, "sampled_out")


def test_a_conversation_of_which_a_judge_was_asked_about_a_part_has_no_value() -> None:
    score = score_of_conversation(0.5, [Judgement(None, 0.9), Judgement(unscored=Unjudged.SAMPLED_OUT)])
    assert (score["value"], score["unscored"]) == (None, "sampled_out")


OF_EXCHANGE = {Unjudged.NO_SIGNAL, Unjudged.NOT_APPLICABLE, Unjudged.NO_RETRIEVAL, Unjudged.NO_JUDGMENTS}
NOT_ASKED = {Unjudged.SAMPLED_OUT, Unjudged.BUDGET}


@pytest.mark.parametrize("read", [0.9, 0.2])
@pytest.mark.parametrize("reason", sorted({*Unjudged} - OF_EXCHANGE - NOT_ASKED - {Unjudged.TIE, Unjudged.QUORUM}))
def test_a_conversation_has_no_value_where_one_follow_up_was_not_read_whatever_was_read_in_others(
    reason: Unjudged, read: float
) -> None:
    for answers in itertools.permutations([Judgement(None, read), Judgement(unscored=reason)]):
        score = score_of_conversation(1.0, list(answers))
        assert (score["value"], score["unscored"]) == (None, "unread")


@pytest.mark.parametrize("reason", sorted(OF_EXCHANGE))
def test_a_follow_up_that_says_nothing_of_the_answer_counts_for_nothing(reason: Unjudged) -> None:
    assert score_of_conversation(1.0, [Judgement(None, 0.2), Judgement(unscored=reason)])["label"] == "abandoned"


@pytest.mark.parametrize("reason", [Unjudged.TIE, Unjudged.QUORUM])
def test_jurors_who_do_not_agree_have_read_the_follow_up_and_those_who_fail_have_not(reason: Unjudged) -> None:
    votes = [VerdictStep("juror", "a", "related", 0.9), VerdictStep("juror", "b", "other", unscored=Unjudged.NO_SIGNAL)]
    failed = VerdictStep("juror", "c", unscored=Unjudged.TIMEOUT)
    cheaper = VerdictStep("small", "s", unscored=Unjudged.PROVIDER)
    for steps, value in (([cheaper, *votes], 1.0), ([*votes, failed], None)):
        split = Judgement(unscored=reason, steps=steps)
        assert score_of_conversation(1.0, [split, Judgement(None, 0.9)])["value"] == value


def test_a_judged_conversation_says_with_what_probability_it_was_judged() -> None:
    assert score_of_conversation(0.25, [Judgement(None, 0.9)] * 2)["inclusion"] == 0.25
    assert score_of_conversation(0.25, [Judgement(None, 0.9)] * 2, last="")["value"] == 0.0
    assert "inclusion" not in score_of_conversation(1.0, [Judgement(None, 0.9)] * 2)


def score_of_conversation(inclusion: float, answers: list[Judgement], last: str = "Done.") -> dict[str, Any]:
    suite = parse_suite(JUDGES[: JUDGES.rindex("[[judges]]")])
    processor, (strong,) = a_processor(suite), judges_of(suite)
    talk = [user("u1", 0), reply("a1", 5), user("u2", 9, "Hm?"), reply("a2", 12), user("u3", 15, "Aha")]
    outputs = run(processor, [turn.record(offset) for offset, turn in enumerate([*talk, reply("a3", 20, last)])])
    asked = [exchange for exchange in exchanges(outputs) if exchange.stage == "follow_up"]
    made = [make_verdict(e, strong, answer) for e, answer in zip(asked, answers, strict=True)]
    for verdict in made:
        verdict.inclusion = inclusion
    judge(processor, *made)
    batch = processor.process([user("x", CLOSED, conversation="d").record(9)], T0)
    score: dict[str, Any] = rows(batch.outputs, "close")[-1]["scores"][-1]
    assert score["scorer"] == "conversation(by=strong)"
    return score


# -- a rubric in a file ---------------------------------------------------------------------------------------


@pytest.fixture
def own_rubrics(tmp_path: Path) -> str:
    """A suite's part of the judges of `JUDGES`, with copies of their rubrics as files."""
    suite = JUDGES
    for name in ("follow_up", "groundedness"):
        own = tmp_path / f"{name}.toml"
        own.write_text(files(judging).joinpath("rubrics", own.name).read_text(encoding="utf-8"), encoding="utf-8")
        suite = suite.replace(f'"{name}"', f'"{own}"')
    return suite


def test_a_rubric_in_a_file_reaches_rows_and_summaries_as_one_that_comes_with_turnsignal(own_rubrics: str) -> None:
    own = a_processor(parse_suite(own_rubrics))
    assert final(run(own, RECORDS, SPOKEN), own) == WANTED


def test_where_the_file_is_not_there_its_verdicts_count_all_the_same(own_rubrics: str, tmp_path: Path) -> None:
    for rubric in tmp_path.iterdir():
        rubric.unlink()
    own = a_processor(parse_suite(own_rubrics))
    run(own, RECORDS, SPOKEN)
    described, wanted = own.describe(b"c"), EXPECTED.describe(b"c")
    assert described is not None
    assert wanted is not None
    assert (described["judged"], described["awaiting"]) == (wanted["judged"], 0)


# -- what does not fit ---------------------------------------------------------------------------------------


def test_a_verdict_after_retention_gives_its_row_only() -> None:
    processor = a_processor()
    run(processor, [user("x", 500_000, conversation="d").record(0)])
    batch = judge(processor, ALL[0])
    assert [row["stage"] for row in decoded(batch.outputs)] == ["verdict"]
    assert (batch.changes, batch.deltas.verdicts, dict(batch.deltas.judged_weight)) == ({}, {"late": 1}, {})
    again = judge(processor, ALL[0])
    assert (again.outputs, again.deltas.verdicts) == ([], {"duplicate": 1})


def test_a_verdict_of_an_unknown_exchange_has_a_row_and_moves_no_mean_of_the_conversation() -> None:
    processor = a_processor()
    run(processor, RECORDS[:2])
    ALL[0].row, row = "no such row", ALL[0].row
    batch = judge(processor, ALL[0])
    ALL[0].row = row
    assert [row["stage"] for row in decoded(batch.outputs)] == ["verdict"]
    assert batch.deltas.verdicts == {"waits": 1}
    described = processor.describe(b"c")
    assert described is not None
    assert described["judged"] == {}


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (None, "tombstone"),
        (b"{", "not_json"),
        (b'{"schema": 1}', "missing_field"),
        (b'{"schema": 2, "id": "x"}', "wrong_type"),
        (orjson.dumps(orjson.loads(SPOKEN[0].value or b"") | {"conversation_id": "e"}), "key_mismatch"),
        (orjson.dumps(orjson.loads(SPOKEN[0].value or b"") | {"value": 2.0}), "wrong_type"),
        (orjson.dumps(orjson.loads(SPOKEN[0].value or b"") | {"value": None, "unscored": None}), "missing_field"),
        (orjson.dumps(orjson.loads(SPOKEN[0].value or b"") | {"reasoning": "x" * 2_001}), "too_large"),
    ],
)
def test_an_unreadable_verdict_is_a_dead_letter_with_its_reason(value: bytes | None, reason: str) -> None:
    processor = a_processor()
    batch = processor.process((), T0, verdicts=[FakeRecord(4, b"c", value, 0)])
    (letter,) = batch.outputs
    headers = dict(letter.headers or [])
    assert (headers["topic"], headers["reason"]) == (b"turnsignal.verdicts", reason.encode())
    assert batch.changes == {}


def test_a_conversation_forgotten_long_before_a_verdict_has_its_row_and_is_forgotten_again() -> None:
    processor = a_processor()
    run(processor, RECORDS[:4])
    processor.accept(processor.process((), T0, [FakeRecord(0, b"c", None, 0)]))
    batch = judge(processor, ALL[0])
    assert [row["stage"] for row in decoded(batch.outputs)] == ["verdict"]
    assert processor.describe(b"c") is None
    processor.accept(processor.process([user("x", 500_000, conversation="d").record(0)], T0))
    assert b"c" not in processor.store


def test_a_verdict_on_its_way_does_not_bring_back_a_conversation_that_is_erased() -> None:
    processor = a_processor()
    run(processor, RECORDS[:4])
    asked = round(ALL[0].time * 1000) + 60_000
    processor.accept(processor.process((), T0, [FakeRecord(0, b"c", None, asked)]))
    for _ in range(2):
        batch = judge(processor, ALL[0])
        assert (batch.outputs, batch.deltas.verdicts) == ([], {"forgotten": 1})
    assert b"c" not in processor.store
    later = judge(a_processor(), ALL[0])
    assert later.changes[b"c"] is not None, "one that comes before its turn waits"


def test_a_verdict_from_before_a_request_waits_for_no_turn_though_its_time_is_ahead() -> None:
    processor, asked = a_processor(), round(ALL[0].time * 1000) + 60_000
    ahead = VERDICTS.dump_json(replace(ALL[0], time=ALL[0].time + 3_600))
    processor.accept(processor.process((), T0, [FakeRecord(0, b"c", None, asked)]))
    batch = processor.process((), T0, verdicts=[FakeRecord(0, b"c", ahead, asked - 1_000)])
    assert (batch.outputs, batch.changes) == ([], {})
    returned = processor.process((), T0, verdicts=[FakeRecord(1, b"c", ahead, asked + 60_000)])
    assert returned.changes[b"c"] is not None, "a conversation may come back"


def test_a_conversation_that_came_back_has_rows_of_its_new_verdicts_and_of_none_from_before_the_request() -> None:
    processor, asked = a_processor(), round((T0 + END) * 1000)
    run(processor, RECORDS[:4])
    processor.accept(processor.process((), T0, [FakeRecord(0, b"c", None, asked)]))
    run(processor, RECORDS[:4])
    value = VERDICTS.dump_json(ALL[0])
    before, after = (FakeRecord(0, b"c", value, asked + seconds * 1000) for seconds in (-1, 60))
    assert processor.process((), T0, verdicts=[before]).outputs == []
    assert len(processor.process((), T0, verdicts=[after]).outputs) > 0


def test_a_verdict_of_a_time_that_is_far_ahead_does_not_wait_for_a_turn() -> None:
    processor, verdict = a_processor(), replace(ALL[0], time=253_402_300_799.0)
    batch = processor.process((), T0, verdicts=[FakeRecord(0, b"c", VERDICTS.dump_json(verdict), round(T0 * 1000))])
    assert len(batch.outputs) == 1
    assert batch.changes == {}


def test_state_with_verdicts_has_a_version_of_its_own_and_state_without_the_former() -> None:
    judged, unjudged = a_processor(), a_processor(UNJUDGED)
    run(judged, RECORDS[:2])
    run(unjudged, RECORDS[:2])
    assert (restore(judged.store[b"c"]).version, restore(unjudged.store[b"c"]).version) == (VERSION, 1)


# -- weights -------------------------------------------------------------------------------------------------


def test_a_score_weighs_by_the_inverse_of_its_sampling_probability() -> None:
    processor = a_processor()
    outputs = run(processor, RECORDS[:6])
    grounded = judges_of(SUITE)[1]
    first, second, _ = [exchange for exchange in exchanges(outputs) if exchange.stage == "response"]
    often, rare = (
        make_verdict(first, grounded, Judgement("x", 1.0)),
        make_verdict(second, grounded, Judgement("x", 0.0)),
    )
    often.inclusion, rare.inclusion = 1.0, 0.25
    batch = judge(processor, often, rare)
    assert batch.deltas.judged_weight == {("default", None, GROUNDED): 5.0}
    assert batch.deltas.judged_sum == {("default", None, GROUNDED): 1.0}
    described = processor.describe(b"c")
    assert described is not None
    assert described["judged"][GROUNDED] == {"n": 2, "mean": 0.2}
    (packed,) = [read_observations(out.value or b"") for out in batch.outputs if out.topic == SERIES]
    assert (packed.scorers, packed.weights, packed.values) == ([GROUNDED], [1.0, 4.0], [[1.0], [0.0]])
    assert not batch.deltas.scores


def test_judges_are_watched_as_scorers_are_and_may_be_ignored() -> None:
    processor = a_processor()
    outputs = run(processor, RECORDS)
    series = [out for out in judge(processor, *verdicts(outputs, SUITE)).outputs if out.topic == SERIES]
    packed = [FakeRecord(at, out.key, out.value, -1) for at, out in enumerate(series)]
    for ignored, watched in (("", True), (f'[alerts]\nignore = ["{GROUNDED}"]', False)):
        watch = SeriesProcessor({}, "series", 0, policy=policy_of(parse_suite(JUDGES + ignored)))
        watch.accept(watch.process(packed))
        described = watch.describe(f"default|{GROUNDED}".encode())
        assert described is not None
        assert described["versions"][""]["n"] == len([v for v in ALL if v.stage == "response" and v.value is not None])
        assert (restore_series(watch.store[f"default|{GROUNDED}".encode()]).detector is not None) is watched


def test_what_was_judged_outside_production_has_a_row_and_moves_nothing() -> None:
    processor = a_processor()
    turns = [user("u1", 0, environment="experiment"), reply("a1", 5, environment="experiment", retrieved=DOCUMENTS)]
    outputs = run(processor, [turn.record(offset) for offset, turn in enumerate(turns)])
    batch = judge(processor, *verdicts(outputs, SUITE))
    assert decoded(batch.outputs)[0]["environment"] == "experiment"
    assert not batch.deltas.judged_weight
    described = processor.describe(b"c")
    assert described is not None
    assert (described["judged"], described["awaiting"]) == ({}, 0)


def test_the_time_of_an_answer_that_got_a_judged_value_is_counted_with_its_row_and_once() -> None:
    processor = a_processor()
    (verdict, *_) = [one for one in verdicts(run(processor, RECORDS), SUITE) if one.value is not None]
    assert judge(processor, verdict).deltas.judged_times == [verdict.time]
    assert judge(processor, verdict).deltas.judged_times == []
