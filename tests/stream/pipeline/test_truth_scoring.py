"""What is known of a turn is scored where the turn says it, live and in a replay, and nothing is paid elsewhere."""

from typing import Any

import orjson

from turnsignal.stream.conversations.state import restore
from turnsignal.stream.diagnosis import DIAGNOSES
from turnsignal.stream.pipeline.processor import PartitionProcessor
from turnsignal.stream.pipeline.scoring import scorer_names
from turnsignal.stream.pipeline.truth_scoring import OF_TRUTH, TRUTH_SCORERS, failing_stage_of
from turnsignal.stream.records.scores import Unscored
from turnsignal.stream.records.turns import Truth
from turnsignal.stream.records.wire import DEAD_LETTERS
from turnsignal.stream.suite import Suite
from turnsignal.stream.testing import T0, FakeTurn, Played, reply, user

KNOWN = {"agents": ["billing", "shipping"], "doc_ids": ["a"]}


def scores(answer: FakeTurn) -> dict[str, Any]:
    (row,) = Played().say(user("u1", 0), answer).rows("response", answer.turn_id)
    return {score["scorer"]: score for score in row["scores"]}


def test_the_agents_that_were_asked_are_scored_against_those_that_should_have_been() -> None:
    exact = scores(reply("a1", 1, routed_to=["shipping", "Billing"], truth=KNOWN))["routing"]
    missed = scores(reply("a1", 1, routed_to=["billing"], truth=KNOWN))["routing"]
    assert (exact["value"], exact["label"]) == (1.0, "exact")
    assert (missed["value"], missed["label"], missed["explanation"]) == (0.0, "missed", "not sent to shipping")


def test_the_one_cited_document_is_scored_against_the_relevant_ones() -> None:
    texts = {"See [a].": "right", "See [b].": "wrong", "See there.": "no_citation", "See [a][b].": "several_citations"}
    for text, label in texts.items():
        article = scores(reply("a1", 1, text, truth=KNOWN))["cited_article"]
        assert (article["value"], article["label"]) == (float(label == "right"), label)


def test_a_document_that_was_not_retrieved_is_the_wrong_one() -> None:
    article = scores(reply("a1", 1, "See [doc_9].", retrieved=[{"doc_id": "doc_1"}], truth={"doc_ids": ["doc_9"]}))
    assert article["cited_article"]["label"] == "wrong"


def test_a_turn_without_truth_has_neither_score_nor_reason() -> None:
    assert not set(OF_TRUTH) & scores(reply("a1", 1, routed_to=["billing"])).keys()


def test_the_stage_is_the_first_that_was_wrong_and_what_comes_after_it_is_skipped() -> None:
    wrong = scores(reply("a1", 1, "No [doc_1.", routed_to=["x"], truth={"agents": ["y"], "doc_ids": ["z"]}))["stage"]
    assert (wrong["label"], wrong["value"], wrong["explanation"]) == ("routing", None, "routing is the first to fail")
    missed = scores(reply("a1", 1, routed_to=["billing", "shipping"], truth=KNOWN | {"doc_ids": ["z"]}))["stage"]
    assert missed["explanation"] == "retrieval is the first to fail; right: routing"
    format_ = scores(reply("a1", 1, "See [a][b][a][b].", truth={"doc_ids": ["a"]}))["stage"]
    assert (format_["label"], format_["explanation"]) == (
        "format",
        "format is the first to fail; right: retrieval, generation; not known: routing, chunks",
    )


def test_an_answer_of_which_nothing_known_was_wrong_has_no_failing_stage() -> None:
    right = scores(reply("a1", 1, routed_to=["billing", "shipping"], truth=KNOWN))["stage"]
    assert right["label"] == "none"
    assert right["explanation"] == "none fails; right: routing, retrieval, generation, format; not known: chunks"


def test_a_right_document_without_the_passage_fails_at_its_chunks() -> None:
    documents = [{"doc_id": "a", "text": "Opening hours are nine to five."}]
    truth = {"doc_ids": ["a"], "chunks": ["The warranty lasts two years from purchase."]}
    assert scores(reply("a1", 1, retrieved=documents, truth=truth))["stage"]["label"] == "chunks"


def test_an_error_in_place_of_an_answer_fails_at_generation() -> None:
    answer = reply("a1", 1, "Internal error 500.", routed_to=["billing", "shipping"], truth=KNOWN)
    assert scores(answer)["stage"]["label"] == "generation"


def test_stages_are_counted_by_labels_and_by_the_diagnosis_apart() -> None:
    labelled = reply("a1", 1, routed_to=["x"], truth={"agents": ["y"]})
    played = Played().say(user("u1", 0), labelled, user("u2", 2, "No, I meant the other colour."))
    assert dict(played.batch.deltas.failing_stages) == {
        ("default", None, "routing", "truth"): 1,
        ("default", None, "generation", "diagnosis"): 1,
    }
    synthetic = [turn._replace(more={**turn.more, "environment": "synthetic"}) for turn in (user("u1", 0), labelled)]
    assert dict(Played().say(*synthetic).batch.deltas.other_failing_stages) == {("synthetic", "routing"): 1}


def test_every_row_of_the_diagnosis_has_a_stage_but_the_one_that_knows_nothing() -> None:
    stages = {diagnosis.row: failing_stage_of(diagnosis.row) for diagnosis in DIAGNOSES.values()}
    assert [row for row, stage in stages.items() if not stage] == ["unknown/unknown/unknown"]
    assert set(stages.values()) == {"retrieval", "generation", "format", "none", ""}
    assert stages["low/low/low"] == "retrieval"
    assert stages["high/unknown/low"] == "format"


def test_hostile_truth_costs_a_bounded_time_and_ends_nothing() -> None:
    many = [f"https://example.com/{number}?utm_source=x" for number in range(300)]
    documents = [{"doc_id": f"d{number}", "url": "https://[", "text": "word " * 2_000} for number in range(300)]
    truth = {"doc_ids": many, "chunks": ["word " * 3_000] * 30, "agents": ["\x00" * 200] * 100}
    known = scores(reply("a1", 1, retrieved=documents, routed_to=["x" * 200] * 1_000, truth=truth))
    assert (known["routing"]["label"], known["stage"]["label"]) == ("wrong", "routing")
    assert len(orjson.dumps([known[name] for name in OF_TRUTH])) < 1_000


def test_what_is_not_known_of_a_turn_with_truth_is_unscored_with_its_reason() -> None:
    nothing = scores(reply("a1", 1, truth={"query_type": "how to", "doc_ids": []}))
    unrouted = scores(reply("a1", 1, truth={"agents": ["billing"]}))
    assert [nothing[name]["unscored"] for name in OF_TRUTH] == [Unscored.NO_JUDGMENTS] * 3
    assert unrouted["routing"]["unscored"] == Unscored.NOT_APPLICABLE


def test_labels_as_one_text_are_refused_as_a_dead_letter_that_says_so() -> None:
    played = Played().say(user("u1", 0), reply("a1", 1, truth={"agents": "billing, shipping"}))
    (letter,) = [out for out in played.outputs if out.topic == DEAD_LETTERS]
    assert "truth.agents" in dict(letter.headers)["detail"].decode()


def test_known_truth_on_half_of_the_answers_moves_its_own_means_alone() -> None:
    said = [user("u1", 0), reply("a1", 1, routed_to=["billing"], truth={"agents": ["billing"]})]
    said += [user("u2", 2), reply("a2", 3), user("u3", 4), reply("a3", 5, routed_to=["x"], truth={"agents": ["y"]})]
    with_truth = Played().say(*said).about()["scores"]
    without = Played().say(*(turn._replace(more={**turn.more, "truth": None}) for turn in said)).about()["scores"]
    assert with_truth.pop("routing") == {"n": 2, "mean": 0.5}
    assert with_truth == without


def test_the_state_of_a_conversation_without_truth_is_what_it_was() -> None:
    store: dict[bytes, bytes] = {}
    Played(store=store).say(user("u1", 0), reply("a1", 1), user("u2", 2), reply("a2", 700))
    assert len(PartitionProcessor(Suite(), store).conversation(b"c").score_windows.pending) == 2 * (  # type: ignore[union-attr]
        len(scorer_names(Suite())) - len(TRUTH_SCORERS)
    )


def test_truth_that_comes_late_in_a_conversation_joins_the_means_that_were_kept_before() -> None:
    known = {"routed_to": ["billing"], "truth": {"agents": ["billing"]}}
    early, late = reply("a1", 1), reply("a2", 900, **known)
    played = Played().say(user("u1", 0), early, user("u2", 2)).say(late).say(user("u3", 901)).say(reply("a3", 902))
    assert played.about()["scores"]["routing"] == {"n": 1, "mean": 1.0}
    played.say(reply("a4", 10, **known), now=T0).close()
    (summary,) = played.written("conversations")
    assert summary["scores"]["routing"] == {"n": 2, "mean": 1.0}


def test_series_say_what_truth_had_said_before_in_the_conversation() -> None:
    known = {"routed_to": ["billing"], "truth": {"agents": ["billing"]}}
    played = Played().say(user("u1", 0), reply("a1", 1, **known)).say(user("u2", 2), reply("a2", 3, **known))
    first, second = (series for series in played.written("series") if "routing" in series["scorers"])
    at = [first["scorers"][position] for position in first["sets"][first["rows"][0]]].index("routing")
    assert first["earlier"][0] == []
    names = [second["scorers"][position] for position in second["sets"][second["rows"][-1]]]
    assert second["earlier"][-1][2 * names.index("routing") :][:2] == [1, 1.0]
    assert first["values"][0][at] == 1.0


def test_questions_with_known_answers_count_apart_from_production() -> None:
    answer = reply("a1", 1, routed_to=["x"], truth={"agents": ["y"]}, environment="synthetic")
    played = Played().say(user("u1", 0, environment="synthetic"), answer)
    deltas = played.batch.deltas
    assert deltas.other_scores["synthetic", "routing"] == [0.0]
    assert not [name for name in deltas.scores if name[2] == "routing"]


def test_300_classes_cost_one_bounded_sentence() -> None:
    many = [f"agent {number}" for number in range(300)]
    routing = scores(reply("a1", 1, routed_to=many[:150], truth={"agents": many}))["routing"]
    assert routing["label"] == "missed"
    assert len(orjson.dumps(routing)) < 200


def stage(played: Played, turn_id: str) -> str | None:
    (row,) = played.rows("response", turn_id)
    return next((score["label"] for score in row["scores"] if score["scorer"] == "stage"), None)


def test_an_answer_is_scored_by_the_labels_of_its_question() -> None:
    asked = user("u1", 0, truth={"doc_ids": ["z"]})
    looking = reply("a0", 1, "Let me look.", retrieved=[])
    played = Played().say(asked, looking, reply("a1", 2), user("u2", 3), reply("a2", 4))
    assert [stage(played, name) for name in ("a1", "a2")] == ["retrieval", None]
    late = Played().say(asked, reply("a1", 1), reply("a2", 4), user("u2", 3))
    assert stage(late, "a2") is None, "its own question may come late"


def test_labels_of_the_answer_itself_come_before_those_of_its_question() -> None:
    own = reply("a1", 1, "See [a].", truth={"doc_ids": ["a"]})
    assert stage(Played().say(user("u1", 0, truth={"doc_ids": ["z"]}), own), "a1") == "none"


def test_labels_of_a_question_say_nothing_of_the_answer_to_another() -> None:
    labelled = user("u1", 0, truth={"doc_ids": ["z"]})
    assert stage(Played().say(labelled, user("u2", 1), reply("a1", 2)), "a1") is None, "as a report has it"
    late = Played().say(user("u2", 5), labelled, reply("a1", 6))
    assert stage(late, "a1") is None, "a question that comes late was answered before, or never will be"
    earlier = Played().say(labelled, reply("a1", 1), user("u2", 5, truth={"doc_ids": ["y"]}), reply("a0", 2))
    assert stage(earlier, "a0") is None, "what is known of the second question says nothing of the first one's answer"


def test_labels_of_a_question_survive_a_restart() -> None:
    store: dict[bytes, bytes] = {}
    Played(store=store).say(user("u1", 0, truth={"doc_ids": ["z"]}))
    assert stage(Played(store=store).say(reply("a1", 1)), "a1") == "retrieval"


def test_labels_that_are_too_long_to_remember_are_left_out_kind_by_kind_and_counted() -> None:
    store: dict[bytes, bytes] = {}
    truth = {"doc_ids": ["z"], "chunks": ["x" * 5_000] * 2, "reference": "y", "query_type": "how"}
    played = Played(store=store).say(user("u1", 0, truth=truth))
    assert played.batch.deltas.pairing["labels_cut"] == 1
    labels = restore(store[b"c"]).labels
    assert labels is not None
    assert labels.truth == Truth(doc_ids=["z"], reference="y", query_type="how")
