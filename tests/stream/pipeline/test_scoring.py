"""Scorers run over one response or follow-up: a value, or a reason why there is none, and never an exception."""

from datetime import UTC, datetime
from typing import Any

import orjson
import pytest

from turnsignal.stream.checks.citations import Format
from turnsignal.stream.checks.platform import Slack
from turnsignal.stream.checks.protocol import CheckResult, Result
from turnsignal.stream.conversations.exchanges import Exchange, Response
from turnsignal.stream.conversations.pairing import PendingResponse
from turnsignal.stream.measures.order import in_order, in_retrieval_order
from turnsignal.stream.pipeline.follow_up_scoring import FollowUpScorer
from turnsignal.stream.pipeline.scoring import (
    BUDGET,
    FOLLOW_UPS,
    ResponseScorer,
    Scored,
    relevancy_name,
    scorer_names,
    thresholds,
)
from turnsignal.stream.records.scores import Outcome, Unscored
from turnsignal.stream.records.turns import Document, Truth, Turn
from turnsignal.stream.suite import Suite, parse_suite

SUITE = Suite()
FIVE = [Document(f"doc_{n}") for n in range(1, 6)]


def turn(text: str, documents: list[Document] | None = None, **more: Any) -> Turn:
    stamp = datetime(2025, 6, 15, tzinfo=UTC)
    return Turn("c", "a1", "assistant", text, stamp, FIVE if documents is None else documents, **more)


def said(scored: Scored) -> dict[str, Any]:
    return {score["scorer"]: score for score in orjson.loads(orjson.dumps(scored.scores))}


def scores(text: str, documents: list[Document] | None = None, suite: Suite = SUITE, **more: Any) -> dict[str, Any]:
    return said(ResponseScorer(suite).score(turn(text, documents, **more)))


def test_every_scored_name_is_a_name_of_the_suite() -> None:
    scored = ResponseScorer(SUITE).score(turn("See the page [2]."))
    assert set(scored.scorers) <= set(scorer_names(SUITE))
    assert len(scored.scorers) == len(scored.values)
    assert all(0 <= value <= 1 for value in scored.values)


def test_what_is_cited_beside_the_text_counts_as_what_is_cited_in_it() -> None:
    beside = {"annotations": [{"type": "file_citation", "file_id": f"doc_{n}"} for n in (2, 4)]}
    suite = parse_suite('checks = [{ check = "citation.required" }]')
    in_text, delivered, both = (
        ResponseScorer(suite).score(turn(text, metadata=metadata))
        for text, metadata in (
            ("Open it [doc_2]. Wait [doc_4].", None),
            ("Open it. Wait.", beside),
            ("Open it [doc_2]. Wait [doc_4].", beside),
        )
    )
    assert said(delivered)["nDCG@5"]["value"] == pytest.approx(0.6509, abs=5e-5)
    assert said(in_text) == said(delivered) == said(both)
    assert said(both)["citation.required"]["value"] == 1.0
    assert (in_text.cited, in_text.markers) == (delivered.cited, delivered.markers) == (both.cited, both.markers)


def test_what_is_delivered_and_was_not_retrieved_is_dangling() -> None:
    scored = ResponseScorer(SUITE).score(turn("Open it.", metadata={"citations": [{"file_id": "gone"}]}))
    assert said(scored)["nDCG@5"]["unscored"] == Unscored.ALL_DANGLING
    assert scored.faults == ("dangling",)


def test_a_suite_may_leave_out_what_is_beside_the_text() -> None:
    suite = parse_suite('[citations]\nstyles = ["doc_id"]')
    found = scores("Open it.", suite=suite, metadata={"citations": [{"doc_id": "doc_2"}]})
    assert found["nDCG@5"]["unscored"] == Unscored.NO_CITATIONS


@pytest.mark.parametrize(
    ("text", "documents", "reason"),
    [
        ("See the page [1].", [], Unscored.NO_RETRIEVAL),
        ("See the page.", FIVE, Unscored.NO_CITATIONS),
        ("See the page [9].", FIVE, Unscored.ALL_DANGLING),
    ],
)
def test_what_cannot_be_ranked_is_unscored_with_a_reason(text: str, documents: list[Document], reason: str) -> None:
    scored = ResponseScorer(SUITE).score(turn(text, documents))
    assert ("nDCG@5", reason) in scored.unscored
    assert said(scored)["nDCG@5"] == {"scorer": "nDCG@5", "value": None, "unscored": reason}
    assert scored.relevancy is None


def test_ranks_beyond_the_cutoff_are_poor_and_the_explanation_says_where() -> None:
    ten = [Document(f"doc_{n}") for n in range(1, 11)]
    score = scores("One [doc_6], two [doc_10].", ten)["nDCG@5"]
    assert (score["value"], score["label"]) == (0.0, "poor")
    assert "6 to 10" in score["explanation"]


def test_wasted_context_is_the_share_that_is_never_cited() -> None:
    assert scores("One [1], two [2].")["wasted_context"]["value"] == pytest.approx(0.6)


def test_retrieval_order_is_told_apart_from_context_order() -> None:
    documents = [Document("a", retrieval_rank=2), Document("b", retrieval_rank=1)]
    found = scores("Only this [b].", documents)
    assert found["nDCG(order=retrieval)@10"]["value"] == 1.0
    assert found["nDCG@10"]["value"] == pytest.approx(0.6309, abs=1e-4)


def test_retrieval_order_is_unscored_unless_every_document_says_its_place() -> None:
    found = scores("Only this [b].", [Document("a", retrieval_rank=2), Document("b")])
    assert found["nDCG(order=retrieval)@10"]["unscored"] == "not_applicable"


def test_measures_on_the_truth_need_the_truth() -> None:
    suite = parse_suite('[retrieval]\nmeasures = ["P(on=truth)@1"]')
    name = suite.parsed_measures[0].name
    assert scores("Text.", suite=suite)[name]["unscored"] == "no_judgments"
    assert scores("Text.", suite=suite, truth=Truth(doc_ids=["doc_1"]))[name]["value"] == 1.0


def test_documents_are_ordered_by_rank_each_once_and_by_place_without_one() -> None:
    assert in_order([Document("a"), Document("b")]) == (["a", "b"], (1, 2))
    assert in_order([Document("a", rank=2), Document("b", rank=1)]) == (["b", "a"], (1, 2))
    assert in_order([Document("a", rank=1), Document("a", rank=2), Document("b", rank=3)]) == (["a", "b"], (1, 3))
    assert in_order([]) == ([], ())
    assert in_retrieval_order([Document("a", retrieval_rank=3), Document("b", retrieval_rank=1)]) == ["b", "a"]


def test_checks_bind_only_whom_they_name() -> None:
    suite = parse_suite('[[checks]]\ncheck = "punctuation.no_comma"\nassistants = ["bot"]\nversions = ["v2"]')
    assert "punctuation.no_comma" not in scores("a, b", suite=suite)
    assert "punctuation.no_comma" not in scores("a, b", suite=suite, assistant="bot", version="v1")
    assert scores("a, b", suite=suite, assistant="bot", version="v2")["punctuation.no_comma"]["value"] == 0.0


def test_without_an_applicable_check_compliance_is_unscored() -> None:
    suite = parse_suite("checks = []")
    assert scores("Text.", suite=suite)["compliance"]["unscored"] == "not_applicable"


def test_compliance_is_weighted() -> None:
    suite = parse_suite(
        '[[checks]]\ncheck = "punctuation.no_comma"\nweight = 3.0\n[[checks]]\ncheck = "case.lower"\nweight = 1.0'
    )
    assert scores("a, b", suite=suite)["compliance"]["value"] == 0.25


def test_a_failed_check_says_where_and_why() -> None:
    failed = scores("a, b", suite=parse_suite('[[checks]]\ncheck = "punctuation.no_comma"'))["punctuation.no_comma"]
    assert (failed["value"], failed["label"], failed["span"]) == (0.0, "fail", [1, 2])
    assert failed["explanation"]


def test_a_check_that_raises_is_an_error_and_stops_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(self: Format, response: Response) -> CheckResult:
        raise RuntimeError("broken")

    monkeypatch.setattr(Format, "evaluate", broken)
    scored = ResponseScorer(SUITE).score(turn("See the page [1]."))
    assert said(scored)["citation.format"]["unscored"] == "error"
    assert "RuntimeError" in said(scored)["citation.format"]["explanation"]
    assert dict(scored.findings)["citation.format"] is Result.ERROR
    assert said(scored)["compliance"]["value"] == 1.0


def test_a_measure_that_raises_leaves_the_checks(monkeypatch: pytest.MonkeyPatch) -> None:
    suite = Suite()
    scorer = ResponseScorer(suite)

    def broken(*_: object) -> float:
        raise ZeroDivisionError

    monkeypatch.setattr(type(suite.parsed_measures[0]), "__call__", broken)
    found = said(scorer.score(turn("See the page [1].")))
    assert found["nDCG@5"]["unscored"] == "error"
    assert found["compliance"]["value"] == 1.0


def test_the_same_response_is_scored_the_same_the_second_time() -> None:
    scorer = ResponseScorer(SUITE)
    texts = ["See the page [1].", "# Title\n\nSee [1][2][3][4].", "No marker.", "See the page [1]."]
    first = [orjson.dumps(scorer.score(turn(text, platform="slack")).scores) for text in texts]
    assert first == [orjson.dumps(ResponseScorer(SUITE).score(turn(text, platform="slack")).scores) for text in texts]
    assert first[0] == first[3]
    assert any(isinstance(check, Slack) for _, check in SUITE.parsed_checks)


def test_relevancy_is_the_first_measure_on_citations_in_context_order() -> None:
    assert relevancy_name(SUITE) == "nDCG@5"
    assert relevancy_name(parse_suite('[retrieval]\nmeasures = ["nDCG(order=retrieval)@10", "RR"]')) == "RR"
    assert relevancy_name(parse_suite("[retrieval]\nmeasures = []")) == ""


CITING = [
    ("See the page [2].", 1.0, 0.0),
    ("See the page [2] and [9].", 1.0, 1.0),
    ("See the page [9].", 0.0, 1.0),
    ("See the page.", 0.0, "no_citations"),
    ("See the page. Sources: [1] FAQ [2] Manual", 0.0, "no_citations"),
    ("", 0.0, "no_citations"),
]


@pytest.mark.parametrize(("text", "cited", "dangling"), CITING, ids=[text for text, _, _ in CITING])
def test_shares_of_answers_that_cite_and_that_cite_what_is_not_there(
    text: str, cited: float, dangling: float | str
) -> None:
    found = scores(text)
    assert found["cited"]["value"] == cited
    assert dangling in (found["dangling"]["value"], found["dangling"].get("unscored"))


def test_without_documents_nobody_can_say_whether_an_answer_cites() -> None:
    found = scores("See the page [2].", [])
    assert [found[name]["unscored"] for name in ("cited", "dangling")] == ["no_retrieval", "no_retrieval"]


def test_an_answer_that_cites_nothing_has_no_compliance_to_gain() -> None:
    cites, silent = scores("Open **it** [9].", platform="web"), scores("Open it.", platform="web")
    assert cites["compliance"]["value"] == pytest.approx(5 / 6)
    assert (silent["compliance"]["value"], silent["compliance"]["unscored"]) == (None, "not_applicable")
    assert (silent["cited"]["value"], silent["cited"]["label"]) == (0.0, "uncited")


def test_a_fault_in_plain_text_on_the_web_weighs_as_much_as_anywhere() -> None:
    text = "Open it [9]."
    assert scores(text, platform="web")["compliance"] == scores(text)["compliance"]
    assert scores(text, platform="web")["compliance"]["value"] == 0.8


def test_compliance_says_of_how_many_checks_it_is() -> None:
    found = scores("Open it [9].")["compliance"]
    assert (found["applied"], found["explanation"]) == (5, "4 of 5 checks passed that applied, of 8 in all")
    assert scores("Open it.")["compliance"]["applied"] == 0


EXEMPTING = """exempt = ["I can only help with Acme."]
checks = [{ check = "punctuation.no_comma" }, { check = "citation.required" }]
"""


def test_no_check_binds_a_response_that_is_prescribed_word_for_word() -> None:
    suite = parse_suite(EXEMPTING)
    exempt = scores(" I can only help with Acme.\n", suite=suite)
    assert {score["unscored"] for name, score in exempt.items() if not name.startswith(("nDCG", "wasted"))} == {
        "not_applicable"
    }
    assert scores("I can only help with Acme. Bye", suite=suite)["citation.required"]["value"] == 0.0


@pytest.mark.parametrize("text", ["I can't help.", "I can’t help."])
@pytest.mark.parametrize("prescribed", ["I can't help.", "I can’t help."])
def test_a_prescribed_response_is_exempt_with_either_apostrophe(prescribed: str, text: str) -> None:
    suite = parse_suite(EXEMPTING.replace("I can only help with Acme.", prescribed))
    assert scores(text, suite=suite)["compliance"]["unscored"] is not None


def test_an_exemption_is_part_of_the_fingerprint_and_none_is_not() -> None:
    assert parse_suite(EXEMPTING).fingerprint != parse_suite(EXEMPTING.replace("Acme", "Bolt")).fingerprint
    assert parse_suite("exempt = []").fingerprint == Suite().fingerprint


def test_wasted_context_and_what_is_better_the_lower_have_no_threshold() -> None:
    assert set(thresholds(SUITE)) == {*scorer_names(SUITE), "vote"} - {"wasted_context", "dangling"}


ANSWER = PendingResponse("default", None, None, None, relevancy=0.9, compliance=1.0)


def test_a_follow_up_is_scored_under_both_policies_with_a_diagnosis() -> None:
    exchange = Exchange("Flights to Rome?", "There are three.", "Can you search for trains instead?")
    scored, reading = FollowUpScorer(SUITE).score(exchange, ANSWER, gap=False)
    found = said(scored)
    assert reading is not None
    assert found["follow_up"]["label"] == "adjustment"
    assert found["follow_up"]["value"] < found["follow_up(policy=precision)"]["value"]
    assert (found["follow_up"]["decided_by"], found["follow_up"]["confidence"]) == ("rules", reading.confidence)
    assert (found["diagnosis"]["value"], found["diagnosis"]["label"]) == (None, "high/low/high")


def test_with_a_gap_nothing_is_judged() -> None:
    scored, reading = FollowUpScorer(SUITE).score(Exchange("a", "b", "No, wrong!"), ANSWER, gap=True)
    assert reading is None
    assert scored.unscored == tuple((name, Unscored.GAP) for name in FOLLOW_UPS)
    assert said(scored)["diagnosis"]["label"] == "high/unknown/high"


@pytest.mark.parametrize("text", ["", " \n\t", "\u3000"])
def test_a_follow_up_that_says_nothing_judges_nothing(text: str) -> None:
    scored, reading = FollowUpScorer(SUITE).score(Exchange("How?", "So.", text), ANSWER, gap=False)
    assert reading is None
    assert {reason for _, reason in scored.unscored} == {Unscored.NOT_APPLICABLE}
    assert scored.values == ()


def test_checks_that_come_after_a_response_used_up_its_time_are_errors_and_counted_as_such() -> None:
    asked = iter([0.0, 0.1, 0.2, *[BUDGET] * 99])
    scored = ResponseScorer(SUITE, lambda: next(asked)).score(turn("Open it [doc_2]. " * 1_000))
    results = [result for _, result in scored.findings]
    assert Result.ERROR not in results[:2]
    assert set(results[2:]) == {Result.ERROR}
    late = said(scored)[scored.findings[2][0]]
    assert (late["value"], late["unscored"]) == (None, "error")
    assert "processor time" in late["explanation"]
    assert scored.relevancy is not None


def test_with_time_to_spare_a_response_is_scored_as_without_a_clock() -> None:
    for text in ("Open it [doc_2].", "Open it [doc_2]. " * 1_000, " " * 10_000):
        timed, plain = ResponseScorer(SUITE, lambda: 0.0).score(turn(text)), ResponseScorer(SUITE).score(turn(text))
        assert orjson.dumps(timed.scores) == orjson.dumps(plain.scores)
        assert timed.findings == plain.findings


def test_a_follow_up_that_no_rule_recognises_is_unscored_and_counts_as_free_of_clarification() -> None:
    scored, reading = FollowUpScorer(SUITE).score(Exchange("How?", "So.", "Does it snow there"), ANSWER, gap=False)
    found = said(scored)
    assert reading is not None
    assert found["follow_up"]["unscored"] == "no_signal"
    assert (found["clarification_free"]["value"], found["diagnosis"]["label"]) == (1.0, "high/unknown/high")
    assert (scored.scorers, scored.values) == (("clarification_free",), (1.0,))
    assert scored.unscored == (("follow_up", "no_signal"), ("follow_up(policy=precision)", "no_signal"))


def test_every_row_of_follow_ups_says_of_each_of_their_scorers_its_value_or_why_there_is_none() -> None:
    scorer = FollowUpScorer(SUITE)
    texts = ("No, wrong!", "Thanks!", "Does it snow there", "Nie, to nadal nie działa", " ")
    rows = [scorer.score(Exchange("How?", "So.", text), ANSWER, gap=gap)[0] for text in texts for gap in (False, True)]
    for scored in [*rows, scorer.leave(Unscored.NOT_APPLICABLE, ANSWER, Outcome.ENDED)]:
        assert set(FOLLOW_UPS) <= said(scored).keys()
        assert {*scored.scorers, *dict(scored.unscored)} == set(FOLLOW_UPS)


def test_a_follow_up_in_a_language_that_is_not_read_says_nothing() -> None:
    scored, _ = FollowUpScorer(SUITE).score(Exchange("How?", "So.", "Nie, to nadal nie działa"), ANSWER, gap=False)
    assert {score["unscored"] for name, score in said(scored).items() if name != "diagnosis"} == {"language"}
    assert scored.values == ()


def test_what_is_read_is_free_of_clarification_or_not() -> None:
    for text, free in (("No, I meant the other one", 0.0), ("Thanks!", 1.0)):
        scored, _ = FollowUpScorer(SUITE).score(Exchange("How?", "So.", text), ANSWER, gap=False)
        assert said(scored)["clarification_free"]["value"] == free, text
