"""What was asked or written down otherwise is said, and explains as much as it can and no more."""

import math

import pytest

from turnsignal.stream.statistics.claims import claims
from turnsignal.stream.statistics.intervals import Difference
from turnsignal.stream.statistics.other_ids import Replaced
from turnsignal.stream.statistics.record_changes import Circumstances, record_changes


def delta(value: float, p: float = 1e-9) -> Difference:
    return Difference(value, value - 0.05, value + 0.05, 100, p)


NOBODY_HEARD = {"coverage(follow_up)": delta(-0.5), "silent": delta(0.5), "resolved": delta(-0.4)}


def verdicts(
    deltas: dict[str, Difference],
    words: float = 0.0,
    around: float = 0.0,
    expected: dict[str, Difference] | None = None,
    length: float = 1.0,
    unthanked: bool = False,
    thinning: float = 1.0,
    by_complaints: dict[str, Difference] | None = None,
    **beside: Difference,
) -> dict[str, str]:
    ranked = "nDCG@5", "nDCG(order=retrieval)@5"
    known = Circumstances(words, expected or {}, by_complaints or {}, (around, "hello!"), 0.2, ranked=ranked)._replace(
        length=length, unthanked=unthanked, thinning=thinning
    )
    changes = record_changes(deltas, beside, known)
    return {name: one.change for name, one in claims(deltas, {}, "", 0.01, (), changes=changes).items()}


@pytest.mark.parametrize(
    ("followed", "verdict"),
    [(delta(-0.02, 0.5), "changed"), (delta(-0.24), "changed"), (delta(-0.26), "worse"), (delta(-0.5), "worse")],
)
def test_users_who_write_what_nobody_can_read_are_not_users_who_leave(followed: Difference, verdict: str) -> None:
    said = verdicts(NOBODY_HEARD, answers_followed=followed)
    assert (said["silent"], said["resolved"]) == (verdict, verdict)


def test_what_is_hidden_explains_no_complaints_and_no_more_than_there_was_to_read() -> None:
    deltas = {**NOBODY_HEARD, "clarification_free": delta(-0.1), "failed": delta(0.1)}
    said = verdicts(deltas, answers_followed=delta(0.0, 1.0))
    assert (said["clarification_free"], said["failed"]) == ("worse", "worse")
    few = {"coverage(follow_up)": delta(-0.11), "silent": delta(0.6)}
    assert verdicts(few, answers_followed=delta(0.0, 1.0))["silent"] == "worse"
    chance = {"coverage(follow_up)": delta(-0.5, 0.2), "silent": delta(0.6)}
    assert verdicts(chance, answers_followed=delta(0.0, 1.0))["silent"] == "worse"


def test_where_texts_come_to_be_readable_more_resolved_ones_are_not_better() -> None:
    deltas = {"coverage(follow_up)": delta(0.5), "silent": delta(-0.3), "resolved": delta(0.4), "abandoned": delta(0.1)}
    assert verdicts(deltas, answers_followed=delta(0.0, 1.0))["resolved"] == "changed"


def test_answers_in_a_row_may_lack_the_messages_between_them() -> None:
    assert verdicts({"answers_in_parts": delta(0.4), "silent": delta(0.6)})["silent"] == "changed"
    assert verdicts({"answers_in_parts": delta(0.15), "silent": delta(0.6)})["silent"] == "worse"


def test_answers_that_come_before_their_questions_tell_no_time_and_nothing_of_who_was_answered() -> None:
    deltas = {name: delta(0.4) for name in ("unanswered", "answer_seconds", "abandoned", "failed")}
    said = verdicts(deltas, answers_before_questions=delta(0.3))
    assert said == {"unanswered": "changed", "answer_seconds": "changed", "abandoned": "changed", "failed": "worse"}
    few_fail = verdicts({"failed": delta(0.09)}, answers_before_questions=delta(0.3))
    assert few_fail == {"failed": "changed"}, "of fewer answers that count, more fail"
    assert verdicts(deltas, answers_before_questions=delta(0.05))["unanswered"] == "worse"


@pytest.mark.parametrize(("words", "verdict"), [(0.0, "worse"), (0.1, "worse"), (0.2, "changed")])
def test_other_questions_need_other_shares_of_documents_and_are_answered_no_worse_for_it(
    words: float, verdict: str
) -> None:
    said = verdicts({"answers_with_documents": delta(-0.4), "failed": delta(0.2)}, words)
    assert said == {"answers_with_documents": verdict, "failed": "worse"}


@pytest.mark.parametrize(("needs", "verdict"), [(-0.09, "worse"), (-0.12, "worse"), (0.3, "worse"), (-0.15, "changed")])
def test_questions_of_which_fewer_get_documents_by_all_their_words_explain_three_times_as_many(
    needs: float, verdict: str
) -> None:
    expected = {"answers_with_documents": delta(needs)}
    said = verdicts({"answers_with_documents": delta(-0.4), "failed": delta(0.2)}, expected=expected)
    assert said == {"answers_with_documents": verdict, "failed": "worse"}


@pytest.mark.parametrize(
    ("free", "p", "verdict"),
    [(-0.06, 0.01, "changed"), (-0.06, 0.2, "worse"), (0.06, 0.01, "worse"), (-0.03, 0.01, "worse")],
)
def test_harder_questions_explain_three_times_as_many_complaints_and_what_goes_beyond_is_worse(
    free: float, p: float, verdict: str
) -> None:
    expected = {"clarification_free": delta(free, p), "resolved": delta(free, p)}
    deltas = {"clarification_free": delta(-0.15), "follow_up": delta(-0.15), "resolved": delta(-0.15)}
    said = verdicts(deltas | {"failed": delta(0.2)}, expected=expected)
    assert said == dict.fromkeys(deltas, verdict) | {"failed": "worse"}


@pytest.mark.parametrize(
    ("ranks", "p", "verdict"),
    [(-0.05, 0.01, "changed"), (-0.05, 0.2, "worse"), (0.05, 0.01, "worse"), (-0.01, 0.01, "worse")],
)
def test_questions_that_are_searched_worse_in_both_releases_make_none_worse(
    ranks: float, p: float, verdict: str
) -> None:
    deltas, expected = {"nDCG@5": delta(-0.1), "clarification_free": delta(-0.1)}, {"ranks": delta(ranks, p)}
    said = verdicts(deltas, expected=expected)
    assert said == {"nDCG@5": verdict, "clarification_free": "worse"}


def test_easier_questions_make_no_release_better() -> None:
    deltas, expected = {"clarification_free": delta(0.15)}, {"clarification_free": delta(0.06, 0.01)}
    assert verdicts(deltas)["clarification_free"] == "better"
    assert verdicts(deltas, expected=expected)["clarification_free"] == "changed"


def test_what_users_say_is_better_though_citations_are_listed_at_the_end_now() -> None:
    deltas = {"clarification_free": delta(0.1), "cited": delta(-0.6)}
    assert verdicts(deltas)["clarification_free"] == "changed"
    listed = verdicts(deltas, sources_listed=delta(0.6))
    assert listed == {"clarification_free": "better", "cited": "changed"}


@pytest.mark.parametrize(
    ("free", "complained", "followed", "thinning", "verdict"),
    [
        (0.1, delta(0.0, 0.9), delta(0.2), 0.5, "changed"),
        (0.1, delta(-0.1), delta(0.2), 0.5, "better"),
        (0.1, delta(0.0, 0.9), delta(0.0, 0.9), 1.0, "better"),
        (0.1, delta(0.0, 0.9), delta(0.2), 0.8, "better"),  # as many complaints would be a share of 0.04 less
        (-0.1, delta(0.0, 0.9), delta(-0.2), 2.0, "changed"),
        (-0.1, delta(0.1), delta(-0.2), 2.0, "worse"),
        (-0.1, delta(0.0, 0.9), delta(0.0, 0.9), 1.0, "worse"),
        (-0.1, delta(0.04, 0.09), delta(-0.2), 1.2, "worse"),  # not shown to be more, and a share of 0.02 more
    ],
)
def test_as_many_complaints_among_more_messages_are_not_fewer_nor_more_among_fewer(
    free: float, complained: Difference, followed: Difference, thinning: float, verdict: str
) -> None:
    beside = {"answers_clarified": complained, "answers_followed": followed}
    found = verdicts({"clarification_free": delta(free)}, thinning=thinning, **beside)
    assert found == {"clarification_free": verdict}


@pytest.mark.parametrize(("thanks", "verdict"), [(-0.05, "worse"), (-0.02, "changed"), (0.05, "changed")])
def test_who_leaves_without_a_thanks_has_no_less_to_ask(thanks: float, verdict: str) -> None:
    beside = {"answers_clarified": delta(0.0, 0.9), "answers_followed": delta(-0.2), "answers_thanked": delta(thanks)}
    assert verdicts({"clarification_free": delta(-0.1)}, thinning=2.0, **beside) == {"clarification_free": verdict}


def test_a_log_that_leaves_out_thanks_makes_no_follow_up_worse() -> None:
    deltas = {"clarification_free": delta(-0.1), "follow_up": delta(-0.5)}
    beside = {"answers_clarified": delta(0.0, 0.9), "answers_followed": delta(-0.2)}
    assert set(verdicts(deltas, thinning=2.0, **beside).values()) == {"changed"}


def test_users_who_leave_a_longer_answer_without_a_thanks_had_something_left_to_ask() -> None:
    deltas = {"silent": delta(0.4), "resolved": delta(-0.4)}
    as_before = verdicts(deltas, length=3.0, answers_thanked=delta(0.0))
    assert as_before == {"silent": "changed", "resolved": "changed"}
    assert verdicts(deltas, length=3.0, answers_thanked=delta(-0.15)) == {"silent": "worse", "resolved": "worse"}


def test_a_log_that_leaves_thanks_out_leaves_the_other_messages_in() -> None:
    deltas = {"silent": delta(0.3), "resolved": delta(-0.3)}
    left_out = verdicts(deltas, unthanked=True, answers_thanked=delta(-0.2), answers_followed=delta(-0.2))
    assert left_out == {"silent": "changed", "resolved": "changed"}
    left = verdicts(deltas, unthanked=True, answers_thanked=delta(-0.2), answers_followed=delta(-0.45))
    assert left == {"silent": "worse", "resolved": "worse"}


def test_where_more_conversations_begin_with_a_complaint_as_many_later_ones_are_not_the_answers() -> None:
    deltas = {"clarification_free": delta(-0.2), "abandoned": delta(0.1), "cited": delta(-0.2)}
    moods = dict.fromkeys(("clarification_free", "resolved", "abandoned"), delta(-0.1))
    worldly = verdicts(deltas, by_complaints=moods, begun_with_complaint=delta(0.2))
    assert worldly == {"clarification_free": "changed", "abandoned": "changed", "cited": "worse"}
    unanswered = verdicts(
        {"unanswered": delta(0.3), "resolved": delta(-0.1)}, by_complaints=moods, begun_with_complaint=delta(0.2)
    )
    assert unanswered == {"unanswered": "worse", "resolved": "changed"}, "no mood leaves a message without an answer"
    much_worse = verdicts({"clarification_free": delta(-0.5)}, by_complaints=moods, begun_with_complaint=delta(0.2))
    assert much_worse == {"clarification_free": "worse"}, "too many"
    assert verdicts({"clarification_free": delta(0.2)}, by_complaints=moods, begun_with_complaint=delta(0.2)) == {
        "clarification_free": "better"
    }
    assert verdicts({"clarification_free": delta(0.2)}, by_complaints=moods, begun_with_complaint=delta(-0.2)) == {
        "clarification_free": "changed"
    }


def test_a_topic_that_is_asked_about_in_words_of_a_complaint_accounts_for_no_complaints_of_answers() -> None:
    deltas = {"clarification_free": delta(-0.2), "follow_up": delta(-0.3)}
    for by, verdict in ((0.0, "worse"), (-0.06, "changed")):
        move = Difference(by, by - 0.04, by + 0.04, 100, 0.01)
        topic = verdicts(deltas, by_complaints={"clarification_free": move}, begun_with_complaint=delta(0.25))
        assert set(topic.values()) == {verdict}
    (change,) = record_changes(deltas, {"begun_with_complaint": delta(0.25)}, Circumstances())
    assert change.note.startswith("25% more conversations begin with a complaint"), "it is said all the same"
    assert change.most == {}


def test_where_users_come_back_to_what_was_answered_nothing_is_better() -> None:
    deltas = {"clarification_free": delta(0.1), "resolved": delta(0.1), "failed": delta(-0.1)}
    back = verdicts(deltas, begun_with_recall=delta(0.1))
    assert back == {"clarification_free": "changed", "resolved": "changed", "failed": "better"}
    assert set(verdicts(deltas, begun_with_recall=delta(-0.1)).values()) == {"better"}
    worse = {name: delta(-one.value) for name, one in deltas.items()}
    assert set(verdicts(worse, begun_with_recall=delta(0.1)).values()) == {"worse"}


@pytest.mark.parametrize("moved", [0.5, -0.5])
def test_labels_of_documents_by_other_ids_make_nothing_better_or_worse(moved: float) -> None:
    deltas, renamed = (
        {"cited_article": delta(moved), "R(on=truth)@5": delta(moved)},
        Circumstances(replaced=Replaced(0.98, True)),
    )
    (change,) = record_changes(deltas, {}, renamed)
    assert change.note.startswith("98% of what came before is replaced by documents that never did")
    claimed = claims(deltas, {}, "", 0.01, (), changes=[change])
    assert {one.change for one in claimed.values()} == {"changed"}
    assert record_changes({"nDCG@5": delta(moved)}, {}, renamed) == [], "without labels it is no matter"
    (few,) = record_changes(deltas, {}, Circumstances(replaced=Replaced(0.3, True)))
    assert claims(deltas, {}, "", 0.01, (), changes=[few])["cited_article"].change in ("better", "worse"), "too few"


@pytest.mark.parametrize("also", [{"abandoned": delta(0.2)}, {"failed": delta(0.2)}])
def test_other_documents_that_labels_call_wrong_are_if_anything_else_is_worse(also: dict[str, Difference]) -> None:
    deltas = {"cited_article": delta(-0.5), **also}
    changes = record_changes(deltas, {}, Circumstances(replaced=Replaced(0.98, True)))
    assert claims(deltas, {}, "", 0.01, (), changes=changes)["cited_article"].change == "worse"
    better = {**deltas, "cited_article": delta(0.5)}
    assert claims(better, {}, "", 0.01, (), changes=changes)["cited_article"].change == "changed"


def test_documents_that_come_otherwise_than_those_before_may_be_what_nobody_asked_for() -> None:
    other = Circumstances(replaced=Replaced(0.98, False))
    for value, verdict in ((-0.5, "worse"), (0.5, "changed")):
        changes = record_changes({"cited_article": delta(value)}, {}, other)
        assert changes[0].note
        assert (
            claims({"cited_article": delta(value)}, {}, "", 0.01, (), changes=changes)["cited_article"].change
            == verdict
        )


def test_what_labels_of_other_ids_say_does_not_speak_against_a_ranking() -> None:
    deltas = {"cited_article": delta(0.5), "nDCG@5": delta(-0.2)}
    changes = record_changes(deltas, {}, Circumstances(replaced=Replaced(0.98, True)))
    assert claims(deltas, {}, "", 0.01, ("nDCG@5",), changes=changes)["nDCG@5"].change == "worse"


def test_users_who_no_longer_complain_the_next_day_may_do_so_at_once() -> None:
    deltas = {"resolved": delta(-0.3), "abandoned": delta(0.3), "failed": delta(0.3)}
    mended = verdicts(deltas, begun_with_recall=delta(-0.1))
    assert mended == {"resolved": "changed", "abandoned": "changed", "failed": "worse"}
    assert verdicts({"resolved": delta(-0.5)}, begun_with_recall=delta(-0.1))["resolved"] == "worse", "too many"


@pytest.mark.parametrize(
    ("silent", "free", "verdict"), [(-0.2, -0.3, "changed"), (-0.2, -0.4, "worse"), (0.2, -0.3, "worse")]
)
def test_who_is_asked_to_say_what_is_wrong_complains_instead_of_leaving(
    silent: float, free: float, verdict: str
) -> None:
    deltas = {"silent": delta(silent), "clarification_free": delta(free), "resolved": delta(0.0, 1.0)}
    assert verdicts(deltas, invites_correction=delta(0.9))["clarification_free"] == verdict
    assert verdicts(deltas)["clarification_free"] == "worse"


def test_who_only_replies_that_it_did_not_help_explains_no_other_complaints() -> None:
    deltas = {"silent": delta(-0.2), "clarification_free": delta(-0.3), "resolved": delta(0.0, 1.0)}
    changes = record_changes(deltas, {"invites_correction": delta(0.9)}, Circumstances(replies=0.3))
    assert claims(deltas, {}, "", 0.01, (), changes=changes)["clarification_free"].change == "worse"


def test_complaints_which_are_read_more_often_were_not_hidden_before() -> None:
    deltas = {"coverage(follow_up)": delta(0.3), "resolved": delta(-0.3)}
    same = delta(0.0, 1.0)
    assert verdicts(deltas, answers_followed=same, answers_clarified=delta(0.1))["resolved"] == "changed"
    assert verdicts(deltas, answers_followed=same, answers_clarified=delta(0.5))["resolved"] == "worse"


def test_who_wants_an_answer_shorter_does_not_say_that_it_was_good() -> None:
    deltas = {"clarification_free": delta(0.1), "resolved": delta(0.15), "failed": delta(-0.1)}
    shorter = verdicts(deltas, answers_reformatted=delta(0.1))
    assert shorter == {"clarification_free": "changed", "resolved": "changed", "failed": "better"}
    assert set(verdicts(deltas, answers_reformatted=delta(0.02)).values()) == {"better"}
    back = {name: delta(-one.value) for name, one in deltas.items()}
    assert verdicts(back, answers_reformatted=delta(-0.1))["clarification_free"] == "changed"


def test_exchanges_that_are_logged_twice_are_no_users_who_ask_again_and_answers_still_fail() -> None:
    deltas = {"clarification_free": delta(-0.3), "resolved": delta(-0.3), "compliance": delta(-0.3)}
    said = verdicts(deltas, logged_again=delta(0.2))
    assert said == {"clarification_free": "changed", "resolved": "changed", "compliance": "worse"}
    assert verdicts(deltas, logged_again=delta(0.09))["clarification_free"] == "worse", "more than three times as many"
    assert verdicts(deltas, logged_again=delta(0.2, 0.3))["clarification_free"] == "worse", "by chance"


def test_documents_that_are_logged_elsewhere_are_not_lost() -> None:
    deltas = {"answers_with_documents": delta(-0.8), "cited": delta(-0.6), "failed": delta(0.2)}
    said = verdicts(deltas, documents_elsewhere=delta(0.8))
    assert said == {"answers_with_documents": "changed", "cited": "changed", "failed": "worse"}
    assert verdicts(deltas, documents_elsewhere=delta(0.05))["answers_with_documents"] == "worse"


def test_beside_a_sentence_that_most_answers_came_to_hold_nothing_fails_less_and_more_may_fail() -> None:
    deltas = {"failed": delta(-0.3), "unanswered": delta(-0.3), "clarification_free": delta(0.1)}
    assert set(verdicts(deltas).values()) == {"better"}
    said = verdicts(deltas, around=0.5)
    assert said == {"failed": "changed", "unanswered": "changed", "clarification_free": "better"}, "users say so"
    worse = {"failed": delta(0.3), "unanswered": delta(0.3)}
    assert set(verdicts(worse, around=0.5).values()) == {"worse"}


def test_replies_to_what_a_release_asks_back_make_it_neither_better_nor_worse() -> None:
    deltas = {"asks_back": delta(-0.3), "clarification_free": delta(-0.11), "answers_with_documents": delta(-0.45)}
    said = verdicts(deltas)
    assert said == {"asks_back": "changed", "clarification_free": "changed", "answers_with_documents": "changed"}
    assert verdicts(deltas | {"clarification_free": delta(-0.15)})["clarification_free"] == "worse", "more than that"
    complained = verdicts(deltas | {"asks_back": delta(0.3)}, answers_clarified=delta(0.1))
    assert complained["clarification_free"] == "worse", "who only replies does not complain"
    more = {"asks_back": delta(0.3), "clarification_free": delta(0.08)}
    assert verdicts(more)["clarification_free"] == "changed"
    unread = {"asks_back": delta(0.3), "coverage(follow_up)": delta(-0.3), "silent": delta(0.3)}
    assert verdicts(unread, answers_followed=delta(0.0, 1.0))["silent"] == "worse", "nobody hid what they wrote"


def test_times_that_were_written_down_roughly_tell_of_no_slower_answers() -> None:
    assert verdicts({"answer_seconds": delta(0.4)})["answer_seconds"] == "worse"
    assert verdicts({"answer_seconds": delta(0.4)}, stamped_roughly=delta(-0.5))["answer_seconds"] == "changed"


def test_where_users_write_once_more_with_no_answer_between_failing_ones_may_be_missing() -> None:
    deltas = {"failed": delta(-0.15), "unanswered": delta(-0.08)}
    assert set(verdicts(deltas).values()) == {"better"}
    assert set(verdicts(deltas, asked_in_a_row=delta(0.05)).values()) == {"changed"}
    assert verdicts(deltas, asked_in_a_row=delta(0.03))["failed"] == "better", "far fewer than failed"
    assert set(verdicts({"failed": delta(0.15)}, asked_in_a_row=delta(0.05)).values()) == {"worse"}
    (change,) = record_changes({}, {"asked_in_a_row": delta(0.05)}, Circumstances())
    assert change.note.startswith("5% more answers come behind several messages in a row"), "whatever fails"


@pytest.mark.parametrize("name", ["masked_markers", "sources_listed", "documents_named", "lower_case"])
def test_citations_that_stand_elsewhere_or_were_masked_are_not_missing(name: str) -> None:
    deltas = {"cited": delta(-0.9), "citation.resolves": delta(-0.5), "failed": delta(0.2)}
    said = verdicts(deltas, **{name: delta(0.5)})
    assert said == {"cited": "changed", "citation.resolves": "changed", "failed": "worse"}
    assert verdicts(deltas, **{name: delta(0.2)})["cited"] == "worse", "far more"
    (change,) = record_changes(deltas, {}, Circumstances(cut=-0.6))
    assert change.note.startswith("fewer answers are cut off at one length, 60% of them")


def test_citations_of_documents_that_are_no_longer_logged_are_not_invented() -> None:
    fewer = delta(-math.log(5 / 3) / math.log(1000))
    deltas = {"documents": fewer, "dangling": delta(0.3), "cited": delta(-0.1), "failed": delta(0.2)}
    said = verdicts(deltas)
    assert (said["dangling"], said["cited"], said["failed"]) == ("changed", "changed", "worse")
    assert verdicts(deltas | {"dangling": delta(0.5)})["dangling"] == "worse", "more than are missing"
    assert verdicts(deltas | {"documents": delta(0.0)})["dangling"] == "worse"


def test_documents_in_the_order_of_their_ids_are_in_no_order_of_a_search() -> None:
    deltas = {"nDCG@5": delta(-0.2), "failed": delta(0.2)}
    assert verdicts(deltas, documents_sorted=delta(0.9)) == {"nDCG@5": "changed", "failed": "worse"}
    assert verdicts(deltas, documents_sorted=delta(0.1))["nDCG@5"] == "worse"


def test_documents_that_are_put_last_on_purpose_are_ranked_as_before_by_the_search() -> None:
    deltas = {"nDCG@5": delta(-0.3), "nDCG(order=retrieval)@5": delta(0.0, 0.8), "failed": delta(0.2)}
    turned = verdicts(deltas, cites_last=delta(0.5))
    assert (turned["nDCG@5"], turned["failed"]) == ("changed", "worse")
    assert verdicts(deltas, cites_last=delta(0.1))["nDCG@5"] == "worse", "a reranker that shuffles"
    deltas["nDCG(order=retrieval)@5"] = delta(-0.3)
    assert verdicts(deltas, cites_last=delta(0.5))["nDCG@5"] == "worse", "the search itself puts them last"
    assert verdicts({"nDCG@5": delta(-0.3)}, cites_last=delta(0.5))["nDCG@5"] == "worse", "nobody knows"


def test_answers_that_cite_what_was_searched_for_before_are_said_and_excuse_nothing() -> None:
    (change,) = record_changes({"nDCG@5": delta(-0.2)}, {"cites_earlier": delta(0.4)}, Circumstances(ranked=["nDCG@5"]))
    retrieved = "more answers cite only documents that an earlier answer of their conversation retrieved"
    assert change.note == f"{retrieved}, 40% of them: no ranking can be told of these"
    assert verdicts({"nDCG@5": delta(-0.2)}, cites_earlier=delta(0.4))["nDCG@5"] == "worse"


def test_questions_of_another_day_behind_an_answer_do_not_complain_of_it() -> None:
    deltas = {"clarification_free": delta(0.08), "resolved": delta(0.3), "failed": delta(0.2)}
    said = verdicts(deltas, resumed=delta(0.3))
    assert said == {"clarification_free": "changed", "resolved": "changed", "failed": "worse"}
    assert verdicts({"clarification_free": delta(-0.3)}, resumed=delta(0.3))["clarification_free"] == "worse"
    fewer = {"answers_with_documents": delta(-0.13)}  # who replies to a check-in needs none
    assert verdicts(fewer, resumed=delta(0.14)) == {"answers_with_documents": "changed"}
    assert verdicts({"answers_with_documents": delta(-0.3)}, resumed=delta(0.14)) == {"answers_with_documents": "worse"}


@pytest.mark.parametrize(("resumed", "free", "verdict"), [(0.3, -0.02, "worse"), (-0.3, 0.02, "better")])
def test_questions_of_another_day_do_not_complain_so_that_more_complaints_beside_them_are_users_who_came_back(
    resumed: float, free: float, verdict: str
) -> None:
    said = verdicts({"clarification_free": delta(free)}, resumed=delta(resumed))
    assert said["clarification_free"] == verdict
    assert verdicts({"clarification_free": delta(-free)}, resumed=delta(resumed))["clarification_free"] == "changed"


def test_users_whose_thanks_are_no_longer_logged_do_not_turn_silent() -> None:
    deltas = {"silent": delta(0.2), "resolved": delta(-0.2), "failed": delta(0.2)}
    beside = {"answers_thanked": delta(-0.1)}
    (change,) = record_changes(deltas, beside, Circumstances(unthanked=True))
    assert change.note == "hardly a message thanks any more: are such messages left out of the log?"
    said = {name: one.change for name, one in claims(deltas, {}, "", 0.01, (), changes=[change]).items()}
    assert said == {"silent": "changed", "resolved": "changed", "failed": "worse"}
    assert record_changes(deltas, beside, Circumstances()) == [], "some thank still"
    (asked, _) = record_changes(deltas, beside, Circumstances(unthanked=True, length=0.4))
    said = {name: one.change for name, one in claims(deltas, {}, "", 0.01, (), changes=[asked]).items()}
    assert (asked, set(said.values())) == (change._replace(most={}, by_chance=False), {"worse"})
    complaining = beside | {"answers_clarified": delta(0.1)}
    assert record_changes(deltas, complaining, Circumstances(unthanked=True)) == [], "users have reason not to thank"
    (change,) = record_changes({"silent": delta(0.6)}, beside, Circumstances(unthanked=True))
    assert claims({"silent": delta(0.6)}, {}, "", 0.01, (), changes=[change])["silent"].change == "worse"


@pytest.mark.parametrize(
    ("hidden", "way", "verdict"), [(0.05, 1, "changed"), (0.001, 1, "better"), (0.05, -1, "changed")]
)
def test_complaints_that_a_question_takes_for_replies_are_neither_fewer_nor_more(
    hidden: float, way: int, verdict: str
) -> None:
    deltas = {"clarification_free": delta(way * 0.1), "resolved": delta(way * 0.5)}
    beside = {"answers_clarified": delta(-way * 0.05), "answers_clarified_unasked": delta(-way * (0.05 - hidden))}
    said = verdicts(deltas, **beside)
    assert said["clarification_free"] == verdict
    assert said["resolved"] == ("better" if way > 0 else "worse"), "so few explain no more than they can"


def test_messages_with_a_conversation_each_are_no_users_who_leave() -> None:
    deltas = {"silent": delta(0.6), "resolved": delta(-0.4), "clarification_free": delta(-0.2)}
    said = verdicts(deltas, begun_with_thanks=delta(0.1))
    assert said == {"silent": "changed", "resolved": "changed", "clarification_free": "worse"}
    assert verdicts(deltas, begun_with_thanks=delta(0.02))["silent"] == "worse", "so few parts do not explain as much"
    assert verdicts({"silent": delta(0.13)}, begun_with_thanks=delta(0.03))["silent"] == "changed"


@pytest.mark.parametrize(
    ("beside", "silent"),
    [
        ({"answers_in_parts": delta(-0.5)}, "changed"),
        ({"begun_with_thanks": delta(0.1)}, "changed"),
        ({"resumed": delta(0.2)}, "changed"),
    ],
    ids=["parts", "split", "threads"],
)
def test_how_messages_are_dealt_to_conversations_leaves_no_question_without_an_answer(
    beside: dict[str, Difference], silent: str
) -> None:
    deltas = {"unanswered": delta(0.4), "silent": delta(0.4), "resolved": delta(-0.3)}
    if "answers_in_parts" in beside:
        deltas, beside = deltas | beside, {}
    said = verdicts(deltas, **beside)
    assert (said["unanswered"], said["silent"]) == ("worse", silent)


@pytest.mark.parametrize(("thanks", "verdict"), [(-0.2, "changed"), (-0.05, "worse"), (None, "worse")])
def test_a_thanks_within_what_a_client_writes_looks_like_a_question_without_an_answer_and_nothing_else_does(
    thanks: float | None, verdict: str
) -> None:
    beside = {} if thanks is None else {"answers_thanked": delta(thanks)}
    said = verdicts({"unanswered": delta(0.3), "clarification_free": delta(-0.3)}, 0.95, **beside)
    assert (said["unanswered"], said["clarification_free"]) == (verdict, "changed")


def test_what_is_written_around_users_messages_makes_no_release_worse_and_is_said() -> None:
    deltas = {"clarification_free": delta(-0.3), "resolved": delta(-0.3), "failed": delta(0.2)}
    assert verdicts(deltas, 0.95) == {"clarification_free": "changed", "resolved": "changed", "failed": "worse"}
    assert verdicts(deltas, 0.4)["clarification_free"] == "worse", "other questions, and no more"
    (change,) = record_changes(deltas, {}, Circumstances(0.95))
    assert change.note.startswith("one word came into 95% of the first questions, or went out of as many")


def test_turns_behind_a_failing_answer_and_citations_of_another_part_make_nothing_better_or_worse() -> None:
    deltas = {"answers_in_parts": delta(0.3), "failed": delta(-0.15), "cited": delta(-0.7)}
    said = verdicts(deltas)
    assert (said["failed"], said["cited"]) == ("changed", "changed")


def test_that_more_users_want_a_person_is_said_and_excuses_nothing() -> None:
    wanted = {"answers_before_a_person": delta(0.12)}
    (change,) = record_changes({}, wanted, Circumstances())
    assert change.note == "users ask for a person behind 12% more answers"
    deltas = {"clarification_free": delta(-0.2)}
    assert verdicts(deltas, **wanted) == {"clarification_free": "worse"}
    assert record_changes({}, {"answers_before_a_person": delta(0.01)}, Circumstances()) == []


@pytest.mark.parametrize(("length", "words"), [(7.14, "7.1 times as long"), (0.31, "0.31 times as long")])
def test_answers_that_say_far_more_or_less_are_said_and_move_nothing(length: float, words: str) -> None:
    (change,) = record_changes({}, {}, Circumstances(length=length))
    assert change.note.endswith(words)
    assert record_changes({}, {}, Circumstances(length=1.9)) == []


def test_users_who_have_nothing_left_to_ask_do_not_make_a_fuller_answer_worse() -> None:
    longer = Circumstances(length=1.5)
    (change,) = record_changes({"silent": delta(0.2), "resolved": delta(-0.1)}, {}, longer)
    assert change.why == "first answers are 1.5 times as long, so that users may have less to ask, or leave"
    assert claims({"silent": delta(0.2)}, {}, "", 0.01, (), changes=[change])["silent"].change == "changed"
    assert claims({"silent": delta(0.5)}, {}, "", 0.01, (), changes=[change])["silent"].change == "worse", "too many"
    assert record_changes({"silent": delta(0.2)}, {}, Circumstances(length=1.1)) == []
    complaining = {"silent": delta(0.2), "abandoned": delta(0.2)}
    assert record_changes(complaining, {}, longer) == [], "more leave with a complaint"


def test_that_a_release_asks_back_explains_nothing_where_no_answer_comes_of_it() -> None:
    asks = {"asks_back": delta(0.5), "silent": delta(0.2), "resolved": delta(-0.2), "follow_up": delta(-0.2)}
    said = verdicts(asks | {"only_asks_back": delta(0.4)})
    assert {said[name] for name in ("only_asks_back", "silent", "resolved", "follow_up")} == {"worse"}
    ceases = {name: delta(-change.value) for name, change in asks.items()} | {"only_asks_back": delta(-0.4)}
    assert "worse" not in verdicts(ceases).values()


def test_who_replies_to_what_is_asked_back_is_not_silent_and_who_leaves_at_the_question_is() -> None:
    asks = {"asks_back": delta(0.5), "silent": delta(0.25), "resolved": delta(-0.25)}
    assert verdicts(asks)["silent"] == verdicts(asks)["resolved"] == "worse"
    left = verdicts(asks | {"only_asks_back": delta(0.15)})
    assert set(left.values()) == {"changed", "too small to name"}
    ceases = {"asks_back": delta(-0.5), "silent": delta(0.2)}
    assert verdicts(ceases)["silent"] == "changed", "who replied before has nothing to reply to"


def test_what_is_asked_in_the_same_words_again_explains_nothing() -> None:
    deltas = {"asks_back": delta(0.5), "follow_up": delta(-0.2), "asks_back_again": delta(0.02)}
    assert verdicts(deltas)["follow_up"] == "changed"
    said = verdicts(deltas | {"asks_back_again": delta(0.45)})
    assert (said["follow_up"], said["asks_back_again"]) == ("worse", "worse")


def test_a_release_that_only_asks_back_is_not_suspected_to_leave_thanks_out_of_its_log() -> None:
    thanks = {"answers_thanked": delta(-0.2)}
    unthanked = Circumstances(unthanked=True)
    assert any(change.note.startswith("hardly a message thanks") for change in record_changes({}, thanks, unthanked))
    only = {"only_asks_back": delta(0.9)}
    assert not record_changes(only, thanks, unthanked)


@pytest.mark.parametrize(
    ("hidden", "asks"), [(None, False), (delta(0.0, 1.0), False), (delta(0.04, 1e-4), False), (delta(0.3), True)]
)
def test_whether_texts_are_hidden_is_asked_only_where_some_are_seen_to_be(
    hidden: Difference | None, asks: bool
) -> None:
    beside = {"answers_followed": delta(0.1)} | ({} if hidden is None else {"texts_hidden": hidden})
    (change,) = record_changes({"coverage(follow_up)": delta(-0.2)}, beside, Circumstances())
    assert "of the messages behind answers can be read" in change.note
    assert ("hidden in the log" in change.note) is asks
