from typing import Any

import pytest

from turnsignal.stream.diagnosis import Level
from turnsignal.stream.records.turns import Document, Truth
from turnsignal.stream.truth.stages import (
    Basis,
    Produced,
    Signals,
    Stage,
    StageFinding,
    find_stages,
    first_failing,
    judged_stages,
)

GOOD = Signals(Level.HIGH, Level.HIGH, Level.HIGH)


def documents(*names: str, **fields: Any) -> list[Document]:
    return [Document(doc_id=name, **fields) for name in names]


def failing(truth: Truth | None, produced: Produced, signals: Signals = GOOD) -> Stage | None:
    return first_failing(find_stages(truth, produced, signals))


def test_nothing_is_judged_behind_the_first_failing_stage() -> None:
    findings = find_stages(
        Truth(agents=["faq"], doc_ids=["d1"]),
        Produced(["billing"], documents("d2")),
        Signals(Level.LOW, Level.LOW, Level.LOW),
    )
    assert first_failing(findings) is Stage.ROUTING
    assert list(judged_stages(findings)) == [(Stage.ROUTING, StageFinding(False, Basis.TRUTH))]


def test_a_stage_of_which_nothing_is_known_is_passed_over() -> None:
    findings = find_stages(None, Produced(), Signals(instructions=Level.LOW))
    assert first_failing(findings) is Stage.FORMAT
    assert [stage for stage, _ in judged_stages(findings)] == [Stage.FORMAT]
    assert first_failing(find_stages(None, Produced(), Signals())) is None


@pytest.mark.parametrize("asked", [["Search ", "billing"], ["billing", "search", "billing"]])
def test_agents_are_the_same_in_any_order_and_case(asked: list[str]) -> None:
    assert failing(Truth(agents=["billing", "search"]), Produced(asked)) is None


@pytest.mark.parametrize("asked", [["billing"], ["billing", "search", "faq"], []])
def test_agents_that_are_left_out_or_asked_without_need_fail(asked: list[str]) -> None:
    assert failing(Truth(agents=["billing", "search"]), Produced(asked)) is Stage.ROUTING


def test_where_nobody_wrote_down_who_was_asked_routing_is_not_known() -> None:
    assert failing(Truth(agents=["billing"]), Produced(None)) is None


def test_labelled_documents_decide_whatever_the_citations_say() -> None:
    truth = Truth(doc_ids=["d9"])
    low = Signals(Level.LOW, Level.HIGH, Level.HIGH)
    assert failing(truth, Produced(documents=documents("d1", "d9")), low) is None
    assert failing(truth, Produced(documents=documents("d1", "d2"))) is Stage.RETRIEVAL
    assert failing(truth, Produced()) is Stage.RETRIEVAL
    assert failing(Truth(doc_ids=[]), Produced(), low) is Stage.RETRIEVAL  # no document is known: the diagnosis says so


def test_labelled_documents_have_to_be_among_the_first() -> None:
    late = [*documents("d1", "d2", "d3", "d4", "d5"), Document("d9")]
    assert failing(Truth(doc_ids=["d9"]), Produced(documents=late)) is Stage.RETRIEVAL
    late[5].rank, late[0].rank = 1, 6
    assert failing(Truth(doc_ids=["d9"]), Produced(documents=late)) is None


def test_half_of_the_labelled_documents_that_fit_are_enough() -> None:
    labelled = Truth(doc_ids=[f"d{number}" for number in range(20)])
    assert failing(labelled, Produced(documents=documents("d0", "d1", "d2", "x", "y"))) is None
    assert failing(labelled, Produced(documents=documents("d0", "d1", "x", "y", "z"))) is Stage.RETRIEVAL


def test_the_right_document_with_the_wrong_passage_fails_at_chunks() -> None:
    truth = Truth(doc_ids=["d1"], chunks=["Refunds take five working days"])
    right = documents("d1", text="In general, refunds take about five working days.")
    wrong = documents("d1", text="Whoever wants a refund may write to the support team.")
    assert failing(truth, Produced(documents=right)) is None
    assert failing(truth, Produced(documents=wrong)) is Stage.CHUNKS
    assert failing(truth, Produced(documents=documents("d1"))) is None  # texts that are not given say nothing


def test_what_the_user_says_counts_for_more_than_what_is_cited_and_a_verdict_for_most() -> None:
    truth, produced = Truth(doc_ids=["d1"]), Produced(None, documents("d1", "d2"), ["d2"])
    assert failing(truth, produced, Signals()) is Stage.GENERATION
    assert failing(truth, produced, Signals(follow_ups=Level.HIGH)) is None
    assert failing(truth, produced, Signals(follow_ups=Level.HIGH, approved=False)) is Stage.GENERATION
    assert failing(truth, produced, Signals(follow_ups=Level.LOW, approved=True)) is None


def test_an_answer_that_is_an_error_fails_at_generation_whatever_follows() -> None:
    assert failing(None, Produced(), Signals(Level.HIGH, Level.HIGH, Level.HIGH, failed=True)) is Stage.GENERATION


def test_what_a_finding_rests_on_is_said() -> None:
    findings = find_stages(Truth(doc_ids=["d1"]), Produced(documents=documents("d1")), GOOD)
    assert {stage: finding.basis for stage, finding in findings.items()} == {
        Stage.RETRIEVAL: Basis.TRUTH,
        Stage.GENERATION: Basis.DIAGNOSIS,
        Stage.FORMAT: Basis.DIAGNOSIS,
    }
