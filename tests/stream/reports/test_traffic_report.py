"""Rows and turns read together: labels of questions and of answers, and what is left out, counted."""

from datetime import UTC, datetime, timedelta
from typing import Any

import orjson
import pytest

from turnsignal.stream.records.turns import decode_turn
from turnsignal.stream.reports.article_text import describe_overlap
from turnsignal.stream.reports.row_signals import RowSignals
from turnsignal.stream.reports.traffic_report import TrafficReport
from turnsignal.stream.suite import Suite

HELPED, ASKED_AGAIN = {"follow_up": 0.9}, {"follow_up": 0.2}


def report(
    *turns: dict[str, Any],
    rows: dict[str, dict[str, float]],
    unranked: dict[tuple[str, str | None], str] | None = None,
    superseded: str = "",
    suite: Suite | None = None,
) -> dict[str, Any]:
    """Report on turns of conversations; rows: scores by conversation, of its answer t2; superseded: one where t3 is."""
    suite = suite or Suite()
    signals = RowSignals("nDCG@5", suite.thresholds.model_dump())
    for name, scores in rows.items():
        named = [{"scorer": scorer, "value": value} for scorer, value in scores.items()]
        row = {"conversation_id": name, "turn_id": "t2", "stage": "response", "scores": named}
        signals.add(orjson.dumps(row))
    if superseded:
        about = {"conversation_id": superseded, "scores": [{"scorer": scorer, "value": 0.9} for scorer in HELPED]}
        signals.add(orjson.dumps(about | {"turn_id": "t3", "stage": "response"}))
        signals.add(
            orjson.dumps(about | {"turn_id": "t2", "stage": "follow_up", "outcome": "superseded", "scores": []})
        )
    made = TrafficReport(suite, signals, unranked=unranked)
    for turn in turns:
        made.add(decode_turn(orjson.dumps({"timestamp": "2026-01-01T00:00:00Z", **turn})))
    return made.as_json()


def asked(name: str = "c", text: str = "How?", **fields: Any) -> dict[str, Any]:
    return {"conversation_id": name, "turn_id": "t1", "role": "user", "text": text, **fields}


def answered(name: str = "c", turn: str = "t2", text: str = "Like this.", **fields: Any) -> dict[str, Any]:
    return {"conversation_id": name, "turn_id": turn, "role": "assistant", "text": text, **fields}


def failed(made: dict[str, Any]) -> dict[str, int]:
    return {stage["stage"]: stage["failed"] for stage in made["waterfall"]["stages"] if stage["failed"]}


def test_labels_may_stand_on_the_question_or_on_the_answer() -> None:
    truth = {"truth": {"doc_ids": ["d1"]}}
    wrong = {"retrieved": [{"doc_id": "d2"}]}
    for turns in ([asked(**truth), answered(**wrong)], [asked(), answered(**wrong, **truth)]):
        made = report(*turns, rows={"c": HELPED})
        assert failed(made) == {"retrieval": 1}
        assert made["answers"]["with_truth"] == 1


def test_labels_of_a_question_do_not_outlive_it() -> None:
    later = asked() | {"turn_id": "t3"}
    turns = [asked(truth={"doc_ids": ["d1"]}), later, answered(retrieved=[{"doc_id": "d2"}])]
    made = report(*turns, rows={"c": HELPED})
    assert made["answers"]["with_truth"] == 0
    assert failed(made) == {}


def test_labels_on_some_of_the_turns_decide_there_and_the_diagnosis_elsewhere() -> None:
    made = report(
        *(asked("a"), answered("a", truth={"doc_ids": ["d1"]}, retrieved=[{"doc_id": "d1"}])),
        *(asked("b"), answered("b")),
        rows={"a": HELPED | {"nDCG@5": 0.0}, "b": HELPED | {"nDCG@5": 0.0}},
    )
    assert failed(made) == {"retrieval": 1}
    assert made["known_by"]["retrieval"] == {"truth": 1, "diagnosis": 1}


def test_an_answer_that_is_an_error_fails_whatever_the_user_says() -> None:
    made = report(asked(), answered(text="Internal error 500."), rows={"c": HELPED})
    assert failed(made) == {"generation": 1}


@pytest.mark.parametrize(
    ("said", "fails"), [("Turn on the hall lights", {}), ("thanks!", {}), ("How?", {"generation": 1})]
)
def test_ok_is_an_answer_to_a_command_and_to_thanks(said: str, fails: dict[str, int]) -> None:
    assert failed(report(asked(text=said), answered(text="OK"), rows={"c": HELPED})) == fails


def test_what_the_suite_calls_failing_fails() -> None:
    suite = Suite.model_validate({"conversations": {"failed": ("^computer says no",)}})
    assert failed(report(asked(), answered(text="Computer says no."), rows={"c": HELPED}, suite=suite)) == {
        "generation": 1
    }


def test_documents_are_not_said_to_be_right_where_citations_say_nothing_of_them() -> None:
    turns, rows = [], {}
    for number in range(80):
        name, version = f"c{number}", "v1" if number < 40 else "v2"
        turns += [asked(name), answered(name, version=version)]
        rows[name] = (ASKED_AGAIN if number % 2 else HELPED) | {"nDCG@5": 1.0 if number >= 40 or number % 4 else 0.0}
    believed = report(*turns, rows=rows)
    assert "its documents were right, but citations cannot tell" in " ".join(believed["says"])
    why = "97% of answers cite just the first of their documents, 57% before"
    made = report(*turns, rows=rows, unranked={("default", "v2"): why})
    said = " ".join(made["says"])
    assert "Retrieval is known of none of 40 answers in v2, of 40 of 40 in v1: it cannot be compared." in said
    assert "documents were right, but citations" not in said
    assert "fails less" not in {change["verdict"] for change in made["compared"]["stages"]}
    assert f"Retrieval of v2 (default) is not judged by what was cited: {why}." in made["notes"]


def test_answers_that_the_replay_has_not_scored_are_counted() -> None:
    made = report(asked(), answered(), answered(turn="t4"), rows={"c": ASKED_AGAIN})
    assert made["answers"]["read"] == 1
    assert made["answers"]["not_scored"] == 1
    assert any("has not scored: 1" in note for note in made["notes"])


def test_routing_articles_and_labelled_figures_are_there_only_where_labels_are() -> None:
    bare = report(asked(), answered(), rows={"c": HELPED})
    assert (bare["routing"], bare["articles"], bare["labelled"]["figures"]) == (None, None, {})
    truth = {"agents": ["faq"], "doc_ids": ["d1"], "domain": "money"}
    made = report(asked(), answered(truth=truth, routed_to=["FAQ"], retrieved=[{"doc_id": "d1"}]), rows={"c": HELPED})
    assert made["routing"]["exact_match"]["value"] == 1
    assert made["articles"]["labels"] == {"no_citation": 1}
    assert made["labelled"]["figures"]["documents: R@5"]["value"] == 1


def twice(*cited: str) -> dict[str, Any]:
    """Report on two questions, each of which is answered out of each of these articles in turn."""
    shelf = [{"doc_id": "old", "text": "Refunds."}, {"doc_id": "new", "text": "Returns."}]
    turns: list[dict[str, Any]] = []
    for number, name in enumerate(cited):
        for question in ("when", "what"):
            key = f"{question}{number}"
            turns += [asked(key, f"{question} is it paid?"), answered(key, text=f"See [{name}].", retrieved=shelf)]
    return report(*turns, rows={turn["conversation_id"]: HELPED for turn in turns})


def conversations(question: str, *cited: str, opening: str = "", **labels: Any) -> dict[str, Any]:
    """Report on a conversation for each cited article, in which this is asked, after an opening where there is one."""
    shelf = [{"doc_id": "old", "text": "Refunds."}, {"doc_id": "new", "text": "Returns."}]
    turns: list[dict[str, Any]] = []
    for number, name in enumerate(cited):
        begin = [asked(f"c{number}", opening) | {"turn_id": "t0"}] if opening else []
        answer = answered(f"c{number}", text=f"See [{name}].", retrieved=shelf)
        turns += [*begin, asked(f"c{number}", question, **labels), answer]
    return report(*turns, rows={f"c{number}": HELPED for number in range(len(cited))})


def test_articles_that_are_cited_in_turn_for_two_questions_are_named_without_any_label() -> None:
    made = twice("old", "new", "old")
    assert made["articles"] is None
    assert made["overlap"]["in_turn"] == [{"articles": ["new", "old"], "questions": 2}]
    assert "No articles" not in describe_overlap(made["overlap"])


def test_an_article_that_is_cited_by_mistake_now_and_then_overlaps_with_none() -> None:
    assert twice(*["old"] * 9, "new")["overlap"]["in_turn"] == []
    assert twice(*["old"] * 4, "new")["overlap"]["in_turn"] == [{"articles": ["new", "old"], "questions": 2}]


def test_a_question_that_goes_on_from_another_is_not_the_same_elsewhere() -> None:
    made = conversations("How exactly?", "old", "new", opening="Hello, when is it paid back?")
    assert made["overlap"]["in_turn"] == []


def test_articles_are_cited_by_name_where_what_was_retrieved_is_not_known() -> None:
    beside = (
        {"metadata": {"citations": [{"document_id": "old"}]}},
        {"metadata": {"citations": [{"document_id": "new"}]}},
    )
    turns = [
        turn
        for question in ("How?", "When?")
        for number, given in enumerate(beside)
        for turn in (asked(f"{question}{number}", question), answered(f"{question}{number}", **given))
    ]
    made = report(*turns, rows={turn["conversation_id"]: HELPED for turn in turns})
    assert made["overlap"]["in_turn"] == [{"articles": ["new", "old"], "questions": 2}]


def test_labels_that_contradict_answers_which_fail_nowhere_stand_in_the_first_sentence() -> None:
    made = conversations("When is it paid back?", *["old", "new"] * 20, truth={"doc_ids": ["new"]})
    doubt = "but of those, labels say that 20 cite a wrong article (40 answers have a labelled one)"
    assert made["says"] == [f"100 of 100 answers fail nowhere; {doubt}."]
    assert any("Such answers: 20." in note for note in made["notes"])
    fine = conversations("When is it paid back?", *["new"] * 40, truth={"doc_ids": ["new"]})
    assert fine["says"][0] == "100 of 100 answers fail nowhere."


@pytest.mark.parametrize(("ndcg", "notes"), [(0.9, 1), (0.0, 0)])
def test_where_labels_and_the_diagnosis_see_other_shares_fail_that_is_said(ndcg: float, notes: int) -> None:
    wrong = {"truth": {"doc_ids": ["d1"]}, "retrieved": [{"doc_id": "d2"}]}
    turns = []
    for number in range(60):
        name = f"c{number}"
        turns += [asked(name), answered(name, **(wrong if number < 20 else {}))]
    made = report(*turns, rows={f"c{number}": HELPED | {"nDCG@5": ndcg} for number in range(60)})
    said = [note for note in made["says"] if note.startswith("By labels, 100 of 100 answers fail at retrieval")]
    assert len(said) == notes


@pytest.mark.parametrize(("labelled", "known"), [(20, False), (60, True)])
def test_what_mending_a_stage_would_gain_is_told_only_where_it_is_known_of_most(labelled: int, *, known: bool) -> None:
    turns, truth = [], {"truth": {"doc_ids": ["d1"]}}
    for number in range(60):
        name, found = f"c{number}", "d1" if number % 2 else "d2"
        turns += [asked(name), answered(name, retrieved=[{"doc_id": found}], **(truth if number < labelled else {}))]
    made = report(*turns, rows={f"c{number}": HELPED | {"compliance": 1.0} for number in range(60)})
    gain = "What mending it would gain is not known: retrieval is known of"
    assert any(gain in said for said in made["says"]) is not known
    assert any(said.startswith("Mending it would make about 50 of those good") for said in made["says"]) is known


def test_pages_that_moved_are_told() -> None:
    passage = "refunds take five working days"
    truth = {"doc_ids": ["https://e.example/refunds"], "chunks": [passage]}
    moved = {"doc_id": "https://e.example/2026/returns", "text": f"In general {passage}."}
    made = report(asked(), answered(truth=truth, retrieved=[moved]), rows={"c": HELPED})
    assert made["labelled"]["moved"] == 1
    assert failed(made) == {}
    assert any("have moved" in note for note in made["notes"])


def test_a_failing_turn_before_the_answer_fails_nowhere() -> None:
    turns = [asked(), answered(text="One moment, let me look that up."), answered(turn="t3")]
    made = report(*turns, rows={"c": {}}, superseded="c")
    assert (failed(made), made["answers"]["read"]) == ({}, 1)


def test_a_line_behind_an_answer_out_of_documents_takes_it_no_place() -> None:
    turns = [asked(), answered(retrieved=[{"doc_id": "d1"}]), answered(turn="t3", text="I'll close this now.")]
    made = report(*turns, rows={"c": {"nDCG@5": 0.0}}, superseded="c")
    assert (failed(made), made["answers"]["read"]) == ({"retrieval": 1}, 1)


@pytest.mark.parametrize(("hours", "labels"), [(1, {"right": 1}), (30, {"wrong": 1})])
def test_what_a_superseded_answer_retrieved_may_be_cited_until_the_conversation_is_forgotten(
    hours: int, labels: dict[str, int]
) -> None:
    start, then = datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 1, 1, tzinfo=UTC) + timedelta(hours=hours)
    found = {"retrieved": [{"doc_id": "doc_7"}, {"doc_id": "doc_3"}], "timestamp": start.isoformat()}
    question = asked(truth={"doc_ids": ["doc_7"]}) | {"turn_id": "t0", "timestamp": then.isoformat()}
    cites = {"retrieved": [{"doc_id": "doc_8"}], "timestamp": then.isoformat()}
    turns = answered(turn="t1", text="Let me search.", **found), question, answered(text="So [doc_7].", **cites)
    made = report(*turns, rows={"c": HELPED})
    assert {name: n for name, n in made["articles"]["labels"].items() if n} == labels
