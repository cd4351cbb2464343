from typing import Any

import pytest

from turnsignal.stream.diagnosis import Level
from turnsignal.stream.records.turns import Document, Truth
from turnsignal.stream.truth.stages import (
    AnswerStage,
    Basis,
    Signals,
    StageFinding,
    SystemOutput,
    find_stages,
    first_failing,
    judged_stages,
)

GOOD = Signals(Level.HIGH, Level.HIGH, Level.HIGH)


def documents(*names: str, **fields: Any) -> list[Document]:
    return [Document(doc_id=name, **fields) for name in names]


def failing(truth: Truth | None, produced: SystemOutput, signals: Signals = GOOD) -> AnswerStage | None:
    return first_failing(find_stages(truth, produced, signals))


def test_nothing_is_judged_behind_the_first_failing_stage() -> None:
    findings = find_stages(
        Truth(agents=["faq"], doc_ids=["d1"]),
        SystemOutput(["billing"], documents("d2")),
        Signals(Level.LOW, Level.LOW, Level.LOW),
    )
    assert first_failing(findings) is AnswerStage.ROUTING
    assert list(judged_stages(findings)) == [(AnswerStage.ROUTING, StageFinding(False, Basis.TRUTH))]


def test_a_stage_of_which_nothing_is_known_is_passed_over() -> None:
    findings = find_stages(None, SystemOutput(), Signals(instructions=Level.LOW))
    assert first_failing(findings) is AnswerStage.FORMAT
    assert [stage for stage, _ in judged_stages(findings)] == [AnswerStage.FORMAT]
    assert first_failing(find_stages(None, SystemOutput(), Signals())) is None


@pytest.mark.parametrize("asked", [["Search ", "billing"], ["billing", "search", "billing"]])
def test_agents_are_the_same_in_any_order_and_case(asked: list[str]) -> None:
    assert failing(Truth(agents=["billing", "search"]), SystemOutput(asked)) is None


@pytest.mark.parametrize("asked", [["billing"], ["billing", "search", "faq"], []])
def test_agents_that_are_left_out_or_asked_without_need_fail(asked: list[str]) -> None:
    assert failing(Truth(agents=["billing", "search"]), SystemOutput(asked)) is AnswerStage.ROUTING


def test_where_nobody_wrote_down_who_was_asked_routing_is_not_known() -> None:
    assert failing(Truth(agents=["billing"]), SystemOutput(None)) is None


def test_labelled_documents_decide_whatever_the_citations_say() -> None:
    truth = Truth(doc_ids=["d9"])
    low = Signals(Level.LOW, Level.HIGH, Level.HIGH)
    assert failing(truth, SystemOutput(documents=documents("d1", "d9")), low) is None
    assert failing(truth, SystemOutput(documents=documents("d1", "d2"))) is AnswerStage.RETRIEVAL
    assert failing(truth, SystemOutput()) is AnswerStage.RETRIEVAL
    assert (
        failing(Truth(doc_ids=[]), SystemOutput(), low) is AnswerStage.RETRIEVAL
    )  # no document is known: the diagnosis says so


def test_labelled_documents_have_to_be_among_the_first() -> None:
    late = [*documents("d1", "d2", "d3", "d4", "d5"), Document("d9")]
    assert failing(Truth(doc_ids=["d9"]), SystemOutput(documents=late)) is AnswerStage.RETRIEVAL
    late[5].rank, late[0].rank = 1, 6
    assert failing(Truth(doc_ids=["d9"]), SystemOutput(documents=late)) is None


def test_chunks_of_one_document_are_one_document_of_the_first() -> None:
    chunks = [
        *documents("d1", "d1", "d1", "d1", "d1", text="other words"),
        Document("d9", text="Refunds take five days"),
    ]
    truth = Truth(doc_ids=["d9"], chunks=["refunds take five days"])
    assert find_stages(truth, SystemOutput(documents=chunks), GOOD)[AnswerStage.RETRIEVAL].is_right
    assert failing(truth, SystemOutput(documents=chunks)) is None
    later = [*chunks[:5], *documents("d2", "d3", "d4", "d5"), chunks[5]]
    assert failing(truth, SystemOutput(documents=later)) is AnswerStage.RETRIEVAL


def test_half_of_the_labelled_documents_that_fit_are_enough() -> None:
    labelled = Truth(doc_ids=[f"d{number}" for number in range(20)])
    assert failing(labelled, SystemOutput(documents=documents("d0", "d1", "d2", "x", "y"))) is None
    assert failing(labelled, SystemOutput(documents=documents("d0", "d1", "x", "y", "z"))) is AnswerStage.RETRIEVAL


def test_the_right_document_with_the_wrong_passage_fails_at_chunks() -> None:
    truth = Truth(doc_ids=["d1"], chunks=["Refunds take five working days"])
    right = documents("d1", text="In general, refunds take about five working days.")
    wrong = documents("d1", text="Whoever wants a refund may write to the support team.")
    assert failing(truth, SystemOutput(documents=right)) is None
    assert failing(truth, SystemOutput(documents=wrong)) is AnswerStage.CHUNKS
    assert failing(truth, SystemOutput(documents=documents("d1"))) is None  # texts that are not given say nothing


def test_what_the_user_says_counts_for_more_than_what_is_cited_and_a_verdict_for_most() -> None:
    truth, produced = Truth(doc_ids=["d1"]), SystemOutput(None, documents("d1", "d2"), ["d2"])
    assert failing(truth, produced, Signals()) is AnswerStage.GENERATION
    assert failing(truth, produced, Signals(follow_ups=Level.HIGH)) is None
    assert failing(truth, produced, Signals(follow_ups=Level.HIGH, approved=False)) is AnswerStage.GENERATION
    assert failing(truth, produced, Signals(follow_ups=Level.LOW, approved=True)) is None


def test_an_answer_that_is_an_error_fails_at_generation_whatever_follows() -> None:
    assert (
        failing(None, SystemOutput(), Signals(Level.HIGH, Level.HIGH, Level.HIGH, failed=True))
        is AnswerStage.GENERATION
    )


def test_what_a_finding_rests_on_is_said() -> None:
    findings = find_stages(Truth(doc_ids=["d1"]), SystemOutput(documents=documents("d1")), GOOD)
    assert {stage: finding.basis for stage, finding in findings.items()} == {
        AnswerStage.RETRIEVAL: Basis.TRUTH,
        AnswerStage.GENERATION: Basis.DIAGNOSIS,
        AnswerStage.FORMAT: Basis.DIAGNOSIS,
    }
