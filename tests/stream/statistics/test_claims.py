"""A change is named where it is shown and worth it, and nothing is called better where the evidence became less."""

import random
from collections.abc import Mapping

import pytest

from turnsignal.stream.statistics.claims import claims
from turnsignal.stream.statistics.closing_habit import ClosingHabit
from turnsignal.stream.statistics.conversation_length import ConversationLength
from turnsignal.stream.statistics.directions import BY_USERS
from turnsignal.stream.statistics.intervals import Difference
from turnsignal.stream.statistics.rankings import RankingDoubts, cited_by_place, said_nothing, says_nothing
from turnsignal.stream.statistics.traffic_shift import TrafficShift


def delta(value: float, p: float) -> Difference:
    return Difference(value, value - 0.1, value + 0.1, 100, p)


RISE, FALL = delta(0.2, 1e-9), delta(-0.2, 1e-9)


def verdicts(primary: str = "clarification_free", least: float = 0.01, **deltas: Difference) -> dict[str, str]:
    found = claims(deltas, {}, primary, least, ())
    return {name: claim.change for name, claim in found.items()}


def test_the_primary_figure_is_tested_apart_and_the_others_pay_for_their_number() -> None:
    many = {f"nDCG@{i}": delta(0.2, 0.02) if i == 1 else delta(0.01, 0.9) for i in range(1, 11)}
    found = claims({"follow_up": delta(0.2, 0.02), **many}, {}, "follow_up", 0.01, ())
    assert (found["follow_up"].change, found["follow_up"].adjusted) == ("better", 0.04)
    assert (found["nDCG@1"].change, found["nDCG@1"].adjusted) == ("no difference shown", pytest.approx(0.4))


def test_what_never_differs_costs_nothing_and_whether_users_were_helped_counts_most() -> None:
    same = {f"format.{i}": delta(0.0, 1.0) for i in range(100)}
    assert claims({"compliance": delta(-0.2, 0.02), **same}, {}, "", 0.01, ())["compliance"].change == "worse"
    moving = {f"format.{i}": delta(0.01, 0.9) for i in range(8)}
    found = claims({"unanswered": delta(0.2, 0.005), "compliance": delta(-0.2, 0.005), **moving}, {}, "", 0.01, ())
    assert (found["unanswered"].change, found["compliance"].change) == ("worse", "no difference shown")


def test_a_difference_that_is_not_worth_naming_is_not_named() -> None:
    assert verdicts(compliance=delta(0.004, 1e-9)) == {"compliance": "too small to name"}
    assert verdicts(compliance=delta(0.004, 1e-9), least=0.0) == {"compliance": "better"}


@pytest.mark.parametrize(
    ("name", "rise", "fall"),
    [
        ("resolved", "better", "worse"),
        ("nDCG@5", "better", "worse"),
        ("citation.format", "better", "worse"),
        ("clarified", "changed", "changed"),
        ("abandoned", "worse", "better"),
        ("silent", "worse", "changed"),
        ("clarification_free(per=conversation)", "better", "worse"),
        ("unanswered", "worse", "better"),
        ("uncited", "worse", "changed"),
        ("dangling", "worse", "better"),
        ("coverage(follow_up)", "changed", "changed"),
        ("checks_applied", "changed", "changed"),
        ("answer_seconds", "worse", "changed"),
        ("documents", "changed", "changed"),
        ("citations_per_answer", "changed", "changed"),
        ("same_documents", "changed", "changed"),
        ("answers_with_documents", "changed", "worse"),
        ("vote", "better", "worse"),
        ("same_language", "better", "worse"),
    ],
)
def test_what_a_rise_and_a_fall_are_called(name: str, rise: str, fall: str) -> None:
    assert verdicts(**{name: RISE}) == {name: rise}
    assert verdicts(**{name: FALL}) == {name: fall}


@pytest.mark.parametrize(
    ("lost", "change"),
    [
        ("silent", RISE),
        ("unanswered", RISE),
        ("uncited", RISE),
        ("dangling", RISE),
        ("cited", FALL),
        ("citation.resolves", FALL),
        ("checks_applied", FALL),
        ("coverage(nDCG@5)", FALL),
        ("answers_with_documents", FALL),
        ("vote", FALL),
        ("same_language", FALL),
        ("short_first_answers", RISE),
        ("same_documents", RISE),
    ],
)
def test_nothing_is_better_where_the_evidence_became_less(lost: str, change: Difference) -> None:
    found = claims({"nDCG@5": RISE, lost: change}, {}, "follow_up", 0.01, ())
    assert found["nDCG@5"].change == "changed"
    assert found["nDCG@5"].why.startswith(f"not called better: {lost} ")
    assert claims({"nDCG@5": FALL, lost: change}, {}, "follow_up", 0.01, ())["nDCG@5"].change == "worse"


def test_answers_that_are_shorter_without_what_a_model_thinks_aloud_hold_nothing_back() -> None:
    deltas = {"clarification_free": RISE, "short_first_answers": delta(0.15, 1e-9)}
    shorter = claims({**deltas, "answers_with_leftovers": delta(-0.1, 1e-9)}, {}, "follow_up", 0.01, ())
    assert shorter["clarification_free"].change == "changed"
    mended = claims({**deltas, "answers_with_leftovers": delta(-0.6, 1e-9)}, {}, "follow_up", 0.01, ())
    assert (mended["clarification_free"].change, mended["answers_with_leftovers"].change) == ("better", "better")


@pytest.mark.parametrize(
    ("loss", "verdict"),
    [
        (delta(0.05, 0.04), "better"),  # too unsure to be named, and too little to explain what rose
        (delta(0.05, 1e-9), "changed"),  # little, and named
        (delta(0.15, 0.04), "changed"),  # unsure, and enough to explain it
        (delta(0.15, 0.06), "better"),
    ],
)
def test_a_loss_holds_back_what_is_better_where_it_is_named_or_can_explain_it(loss: Difference, verdict: str) -> None:
    assert verdicts(clarification_free=RISE, unanswered=loss)["clarification_free"] == verdict


def test_a_mean_over_fewer_answers_is_not_better_though_nothing_else_says_so() -> None:
    found = claims({"nDCG@5": RISE, "compliance": RISE}, {"nDCG@5": FALL, "compliance": RISE}, "follow_up", 0.01, ())
    assert (found["nDCG@5"].change, found["compliance"].change) == ("changed", "better")


def test_fewer_ranked_answers_hold_back_rankings_and_not_what_users_say() -> None:
    deltas = {"nDCG@5": RISE, "clarification_free": RISE, "coverage(nDCG@5)": FALL}
    found = claims(deltas, {}, "clarification_free", 0.01, RANKED)
    assert (found["nDCG@5"].change, found["clarification_free"].change) == ("changed", "better")
    heard_less = claims({**deltas, "coverage(follow_up)": FALL}, {}, "clarification_free", 0.01, RANKED)
    assert heard_less["clarification_free"].why == "not called better: coverage(follow_up) fell"


LONGER, SHORTER = ConversationLength(delta(0.09, 1e-9), 1.9), ConversationLength(delta(-0.09, 1e-9), 0.5)


@pytest.mark.parametrize(
    ("length", "by_answer", "verdict"),
    [
        (LONGER, delta(-0.01, 0.5), "changed"),
        (LONGER, delta(0.1, 1e-9), "changed"),
        (LONGER, delta(-0.1, 1e-9), "worse"),  # answers are met worse, too
        (LONGER, None, "worse"),  # and who would know?
        (ConversationLength(delta(0.01, 1e-9), 1.07), delta(0.0, 0.9), "worse"),  # hardly longer
        (ConversationLength(delta(0.09, 0.1), 1.9), delta(0.0, 0.9), "worse"),  # longer by chance
        (SHORTER, delta(0.0, 0.9), "worse"),
        (None, delta(0.0, 0.9), "worse"),
    ],
)
def test_longer_conversations_of_as_good_answers_are_not_worse(
    length: ConversationLength | None, by_answer: Difference | None, verdict: str
) -> None:
    of_answers = {} if by_answer is None else {"clarification_free": by_answer}
    deltas = {"clarification_free(per=conversation)": FALL, "abandoned": RISE, **of_answers}
    found = claims(deltas, {}, "clarification_free", 0.01, (), length=length)
    assert {found[name].change for name in ("clarification_free(per=conversation)", "abandoned")} == {verdict}
    if verdict == "changed":
        assert found["abandoned"].why == "not called worse: conversations have 1.9 times as many questions"


@pytest.mark.parametrize(
    ("length", "more", "verdict"),
    [
        (LONGER, {"resolved": delta(0.0, 0.9)}, "changed"),
        (ConversationLength(delta(0.02, 1e-9), 1.1), {"resolved": RISE}, "better"),
        (LONGER, {"resolved": delta(0.0, 0.9), "abandoned": FALL}, "better"),
        (LONGER, {}, "better"),  # nobody knows who was helped
        (SHORTER, {"resolved": delta(0.0, 0.9)}, "better"),
        (ConversationLength(delta(0.09, 0.1), 1.9), {"resolved": delta(0.0, 0.9)}, "better"),  # longer by chance
    ],
)
def test_users_who_ask_anew_instead_of_complaining_make_nothing_better(
    length: ConversationLength, more: dict[str, Difference], verdict: str
) -> None:
    found = claims({"clarification_free": RISE, **more}, {}, "clarification_free", 0.01, (), length=length)
    assert found["clarification_free"].change == verdict


HALVED = ConversationLength(delta(-0.09, 1e-9), 0.5, (delta(0.15, 1e-9), 0.2))  # and more answers are thanked for
LEFT = ConversationLength(delta(-0.09, 1e-9), 0.5, (delta(0.05, 0.2), 0.2))  # and hardly more are
HARDLY = ConversationLength(delta(-0.09, 1e-9), 0.5, (delta(0.02, 1e-9), 0.02))  # nobody thanks


@pytest.mark.parametrize(
    ("length", "more", "verdict"),
    [
        (HALVED, {"abandoned": delta(0.0, 0.9)}, "changed"),
        (LEFT, {"abandoned": delta(0.0, 0.9)}, "worse"),  # who leaves does not thank
        (HARDLY, {"abandoned": delta(0.0, 0.9)}, "worse"),
        (SHORTER, {"abandoned": delta(0.0, 0.9)}, "worse"),
        (HALVED, {"abandoned": RISE}, "worse"),
        (HALVED, {"clarification_free(per=conversation)": FALL}, "worse"),
        (HALVED, {}, "worse"),  # nobody knows who complains
        (LONGER, {"abandoned": delta(0.0, 0.9)}, "worse"),
    ],
)
def test_users_who_need_to_ask_less_do_not_leave(
    length: ConversationLength, more: dict[str, Difference], verdict: str
) -> None:
    found = claims({"silent": RISE, "resolved": FALL, **more}, {}, "clarification_free", 0.01, (), length=length)
    assert {found["silent"].change, found["resolved"].change} == {verdict}


@pytest.mark.parametrize(
    ("clarified", "follow_ups", "verdict"), [(0.6, 0.64, "changed"), (0.6, 0.9, "worse"), (0.3, 0.64, "worse")]
)
def test_users_who_leave_instead_of_asking_excuse_no_more_complaints_than_fewer_follow_ups_make(
    clarified: float, follow_ups: float, verdict: str
) -> None:
    shorter = ConversationLength(delta(-0.09, 1e-9), 0.8, clarified=clarified, follow_ups=follow_ups)
    deltas = {"clarification_free": FALL, "follow_up": FALL, "abandoned": delta(0.0, 0.9)}
    by_length = claims(deltas, {}, "clarification_free", 0.01, (), length=shorter)
    assert {by_length["clarification_free"].change, by_length["follow_up"].change} == {verdict}


def test_figures_of_the_same_follow_ups_are_held_back_together() -> None:
    deltas = {"clarification_free": delta(0.15, 1e-9), "follow_up": delta(0.4, 1e-9), "unanswered": delta(0.2, 1e-9)}
    held = claims(deltas, {}, "clarification_free", 0.01, ())
    assert (held["clarification_free"].change, held["follow_up"].change) == ("changed", "changed")
    assert held["follow_up"].why == held["clarification_free"].why


def test_thanks_for_answers_that_cite_half_as_much_make_nothing_better() -> None:
    for cited, p, verdict in ((-0.12, 1e-9, "changed"), (-0.12, 0.4, "better"), (-0.03, 1e-9, "better")):
        deltas = {"clarification_free": RISE, "citations_per_answer": delta(cited, p)}
        assert claims(deltas, {}, "clarification_free", 0.01, ())["clarification_free"].change == verdict


def test_a_release_that_makes_users_ask_for_the_rest_is_not_better_for_what_they_say_then() -> None:
    deltas = {"clarification_free": RISE, "resolved": RISE, "abandoned": delta(0.0, 0.9)}
    found = claims(deltas, {}, "clarification_free", 0.01, (), length=LONGER)
    assert {found["clarification_free"].change, found["resolved"].change} == {"changed"}
    assert found["resolved"].why.endswith("no fewer of them hold a complaint: users may have to ask for the rest")
    given_up = claims({**deltas, "abandoned": FALL}, {}, "clarification_free", 0.01, (), length=LONGER)
    assert {given_up["clarification_free"].change, given_up["resolved"].change} == {"better"}


def test_shorter_conversations_of_as_good_answers_are_not_better_and_failing_ones_are_worse() -> None:
    deltas = {"clarification_free(per=conversation)": RISE, "abandoned": FALL, "clarification_free": delta(0.0, 0.9)}
    found = claims(deltas, {}, "clarification_free", 0.01, (), length=SHORTER)
    assert {claim.change for claim in found.values()} == {"changed", "no difference shown"}
    found = claims({**deltas, "silent": RISE, "failed": RISE}, {}, "clarification_free", 0.01, (), length=SHORTER)
    assert (found["silent"].change, found["failed"].change) == ("worse", "worse")


@pytest.mark.parametrize(
    ("waste", "cited", "verdicts_of_waste"),
    [
        (0.01, delta(-0.006, 1e-9), "changed"),  # a sentence less in each answer: 4 % fewer citations
        (0.01, delta(-0.006, 0.6), "changed"),
        (-0.01, delta(0.006, 0.6), "changed"),
        (0.01, delta(0.006, 0.6), "worse"),  # more of them are cited
        (0.1, delta(-0.006, 0.6), "worse"),  # more than that accounts for
    ],
)
def test_what_nobody_cites_is_no_worse_than_by_the_citations_that_went(
    waste: float, cited: Difference, verdicts_of_waste: str
) -> None:
    deltas = {"wasted_context": delta(waste, 1e-9), "citations_per_answer": cited}
    assert claims(deltas, {}, "follow_up", 0.01, RANKED)["wasted_context"].change == verdicts_of_waste


@pytest.mark.parametrize(
    ("failed", "unanswered", "verdict"),
    [(0.0, 0.15, "worse"), (0.0, 0.0, "worse"), (-0.1, 0.1, "worse"), (-0.1, 0.02, "changed"), (-0.2, 0.0, "changed")],
)
def test_messages_that_nobody_answers_are_worse_unless_as_many_failed_before(
    failed: float, unanswered: float, verdict: str
) -> None:
    deltas = {"failed": delta(failed, 0.2), "unanswered": delta(unanswered, 0.2), "no_answer": delta(0.15, 1e-9)}
    assert claims(deltas, {}, "", 0.01, ())["no_answer"].change == verdict


def test_no_figures_make_no_claims() -> None:
    assert claims({}, {}, "follow_up", 0.01, ()) == {}


RANKED = ("nDCG@5", "wasted_context")


@pytest.mark.parametrize(
    ("beside", "change", "why"),
    [
        ("documents", FALL, "fewer documents per answer"),
        ("documents", RISE, "more documents per answer"),
        ("documents", delta(-0.2, 0.3), "fewer documents per answer"),
        ("follow_up", FALL, "follow_up, which fell"),
        ("clarification_free", FALL, "clarification_free, which fell"),
        ("abandoned", RISE, "abandoned, which rose"),
        ("documents", delta(-0.026, 1e-9), "fewer documents per answer"),
    ],
)
def test_no_ranking_is_better_beside_other_numbers_of_documents_or_unhappier_users(
    beside: str, change: Difference, why: str
) -> None:
    deltas = {"nDCG@5": RISE, "wasted_context": FALL, "compliance": RISE, beside: change}
    found = claims(deltas, {}, "follow_up", 0.01, RANKED)
    for name in RANKED:
        assert (found[name].change, found[name].why) == ("changed", f"not called better: beside {why}")
    assert found["compliance"].change == "better"
    worse = claims({"nDCG@5": FALL, beside: change}, {}, "follow_up", 0.01, RANKED)
    given_more = (beside, change) == ("documents", RISE)  # of the same search, some are cited that came too late before
    assert worse["nDCG@5"].change == ("changed" if given_more else "worse")


def test_a_ranking_is_better_beside_about_as_many_documents_and_happier_users() -> None:
    deltas = {"nDCG@5": RISE, "documents": delta(-0.006, 1e-9), "follow_up": RISE, "abandoned": FALL}
    found = claims(deltas, {}, "follow_up", 0.01, RANKED)
    assert (found["nDCG@5"].change, found["documents"].change) == ("better", "too small to name")


def test_a_primary_that_should_be_low_is_worse_where_it_rises() -> None:
    found = claims({"nDCG@5": RISE, "dangling": FALL, "abandoned": RISE}, {}, "abandoned", 0.01, RANKED)
    assert found["nDCG@5"].why == "not called better: beside abandoned, which rose"


def test_a_ranking_of_which_everything_is_cited_is_not_better() -> None:
    deltas = {"nDCG@5": RISE, "wasted_context": FALL, "cites_all_documents": delta(0.3, 1e-9)}
    found = claims(deltas, {}, "follow_up", 0.01, RANKED)
    why = "not called better: beside more answers that cite all their documents"
    assert [found[name].why for name in deltas] == [why, why, ""]
    assert {claim.change for claim in found.values()} == {"changed"}


@pytest.mark.parametrize(("cited", "why"), [(0.16, "beside more citations"), (-0.16, "beside fewer citations")])
def test_beside_another_number_of_citations_a_ranking_is_neither_better_nor_worse(cited: float, why: str) -> None:
    for name in RANKED:
        for moved in (RISE, FALL):
            deltas = {name: moved, "citations_per_answer": delta(cited, 1e-9), "compliance": moved}
            found = claims(deltas, {}, "follow_up", 0.01, RANKED)
            assert (found[name].change, found[name].why.partition(": ")[2]) == ("changed", f"{why} per answer")
            assert found["compliance"].change == ("better" if moved is RISE else "worse")
            truth = claims({"nDCG(on=truth)@5": moved, **deltas}, {}, "follow_up", 0.01, RANKED)["nDCG(on=truth)@5"]
            assert truth.change == found["compliance"].change


def test_a_ranking_that_fell_further_than_by_its_citations_is_worse() -> None:
    some = {"citations_per_answer": delta(-0.02, 1e-9)}  # an eighth fewer
    assert claims({"nDCG@5": delta(-0.1, 1e-9), **some}, {}, "follow_up", 0.01, RANKED)["nDCG@5"].change == "changed"
    assert claims({"nDCG@5": delta(-0.5, 1e-9), **some}, {}, "follow_up", 0.01, RANKED)["nDCG@5"].change == "worse"
    same = {"citations_per_answer": delta(-0.02, 0.3)}
    assert claims({"nDCG@5": delta(-0.1, 1e-9), **same}, {}, "follow_up", 0.01, RANKED)["nDCG@5"].change == "worse"


@pytest.mark.parametrize("documents", [0.1, -0.1])
def test_what_is_not_cited_is_neither_more_nor_less_beside_other_numbers_of_documents(documents: float) -> None:
    for moved in (RISE, FALL):
        deltas = {"wasted_context": moved, "documents": delta(documents, 1e-9)}
        assert claims(deltas, {}, "follow_up", 0.01, RANKED)["wasted_context"].change == "changed"
    few = {"wasted_context": RISE, "documents": delta(0.01, 1e-9)}
    assert claims(few, {}, "follow_up", 0.01, RANKED)["wasted_context"].change == "worse"


@pytest.mark.parametrize("parts", [0.6, -0.6])
def test_what_one_of_several_messages_says_is_neither_better_nor_worse_than_a_whole_answer(parts: float) -> None:
    moved = {"cited": FALL, "compliance": FALL, "nDCG@5": RISE, "dangling": FALL}
    beside = {"failed": RISE, "clarification_free": FALL, "same_language": FALL}
    found = claims(moved | beside | {"answers_in_parts": delta(parts, 1e-9)}, {}, "compliance", 0.01, ["nDCG@5"])
    assert {found[name].change for name in (*moved, "answers_in_parts")} == {"changed"}
    assert found["cited"].why == f"not called worse: answers_in_parts {'rose' if parts > 0 else 'fell'} by 0.60"
    assert {found[name].change for name in beside} == {"worse"}


@pytest.mark.parametrize("parts", [delta(0.1, 1e-9), delta(0.6, 0.3), delta(0.01, 1e-9)])
def test_a_figure_that_fell_further_than_by_answers_in_several_messages_is_worse(parts: Difference) -> None:
    assert verdicts(cited=FALL, compliance=FALL, answers_in_parts=parts)["cited"] == "worse"


def test_a_ranking_is_not_worse_than_that_of_answers_which_cited_all() -> None:
    mended = {"nDCG@5": FALL, "wasted_context": RISE, "cites_all_documents": delta(-0.9, 1e-9)}
    found = claims(mended, {}, "follow_up", 0.01, RANKED)
    why = "not called worse: beside fewer answers that cite all their documents"
    assert [(found[name].change, found[name].why) for name in ("nDCG@5", "wasted_context")] == [("changed", why)] * 2
    few = {**mended, "cites_all_documents": delta(-0.05, 1e-9)}
    assert claims(few, {}, "follow_up", 0.01, RANKED)["nDCG@5"].change == "worse"


def test_a_ranking_is_not_worse_than_one_by_the_place_unless_users_say_so() -> None:
    why = cited_by_place((delta(0.4, SURE), 0.98))
    assert why == "before, 98% of answers cited just the first of their documents"
    assert cited_by_place((delta(0.4, SURE), 0.8)) == cited_by_place((delta(0.01, 0.4), 0.98)) == ""
    assert cited_by_place(None) == ""
    found = claims({"nDCG@5": FALL}, {}, "follow_up", 0.01, RANKED, doubts=RankingDoubts(by_place=why))
    assert (found["nDCG@5"].change, found["nDCG@5"].why) == ("changed", f"not called worse: {why}")
    unhappy = claims(
        {"nDCG@5": FALL, "follow_up": FALL}, {}, "follow_up", 0.01, RANKED, doubts=RankingDoubts(by_place=why)
    )
    assert unhappy["nDCG@5"].change == "worse"


def test_fewer_failing_answers_are_not_better_where_as_many_conversations_get_none() -> None:
    moved = {"failed": FALL, "clarification_free": RISE, "silent": delta(0.0, 0.9)}
    found = claims(moved | {"unanswered": delta(-0.01, 0.7)}, {}, "clarification_free", 0.01, ())
    assert {found[name].change for name in ("failed", "clarification_free")} == {"changed"}
    assert found["failed"].why.endswith("answers may be missing")
    worse = claims(moved | {"unanswered": delta(0.0, 0.9), "clarification_free": FALL}, {}, "compliance", 0.01, ())
    assert worse["clarification_free"].change == "worse", "what did not fall vetoes nothing"
    backed = claims(moved | {"unanswered": FALL}, {}, "clarification_free", 0.01, ())
    assert {backed[name].change for name in ("failed", "clarification_free", "unanswered")} == {"better"}


def test_fewer_answers_with_documents_are_worse_and_the_words_say_what_that_hides() -> None:
    found = claims({"answers_with_documents": FALL, "cited": RISE}, {}, "follow_up", 0.01, ())
    assert found["answers_with_documents"].change == "worse"
    assert found["answers_with_documents"].why.startswith("cited, dangling and ranking measures say nothing")
    assert found["cited"].change == "changed"


def test_no_ranking_is_better_beside_more_documents_that_nobody_cites() -> None:
    found = claims({"nDCG@5": RISE, "wasted_context": RISE, "compliance": RISE}, {}, "follow_up", 0.01, RANKED)
    assert (found["nDCG@5"].change, found["compliance"].change) == ("changed", "better")
    assert found["nDCG@5"].why == "not called better: beside more documents that nobody cites"


def test_answers_that_cite_by_the_place_or_get_few_or_the_same_documents_say_nothing_of_a_ranking() -> None:
    towards_all, half_way = {"cites_from_top": delta(0.4, 1e-9)}, {"cites_from_top": delta(0.2, 1e-9)}
    assert says_nothing(towards_all, 0.97, 0.0) == "97% of answers cite just the first of their documents, 57% before"
    assert says_nothing(half_way, 0.8, 0.0) == ""
    assert says_nothing({"cites_from_top": delta(0.01, 0.4)}, 0.97, 0.0) == "", "as many as before: no new habit"
    alike = "the same few documents come for most questions (98% of what is retrieved, 8% before)"
    assert says_nothing({**towards_all, "same_documents": delta(0.9, 1e-9)}, 0.97, 0.98) == alike
    assert says_nothing({"same_documents": delta(0.1, 1e-9)}, 0.0, 0.2) == "", "a topic of the day"
    assert says_nothing({"documents": delta(-0.2, 0.3)}, 0.0, 0.0) == "answers get half as many documents, or fewer"
    assert says_nothing({"documents": delta(-0.05, 1e-9)}, 0.0, 0.0) == ""
    assert says_nothing({}, 0.0, 0.0) == ""


def test_a_ranking_that_says_nothing_is_not_better_and_other_figures_may_be() -> None:
    deltas = {"nDCG@5": RISE, "compliance": RISE, "cited": FALL}
    found = claims(deltas, {}, "follow_up", 0.01, RANKED, doubts=RankingDoubts("all cite the first"))
    assert (found["nDCG@5"].change, found["nDCG@5"].why) == ("changed", "not called better: all cite the first")
    assert found["compliance"].why == "not called better: cited fell"
    del deltas["cited"]
    assert claims(deltas, {}, "follow_up", 0.01, RANKED, doubts=RankingDoubts("so"))["compliance"].change == "better"
    worse = claims({"nDCG@5": FALL}, {}, "follow_up", 0.01, RANKED, doubts=RankingDoubts("all cite the first"))
    assert worse["nDCG@5"].change == "worse"


def test_a_primary_of_which_nothing_is_left_is_worse_by_its_coverage() -> None:
    gone = {"coverage(follow_up)": FALL, "compliance": RISE}
    found = claims(gone, {}, "follow_up", 0.01, RANKED)
    assert (found["coverage(follow_up)"].change, found["compliance"].change) == ("worse", "changed")
    assert found["coverage(follow_up)"].why == "nothing is left that follow_up could be told by"
    assert claims(gone, {}, "compliance", 0.01, RANKED)["coverage(follow_up)"].change == "changed"
    assert (
        claims({"coverage(follow_up)": RISE}, {}, "follow_up", 0.01, RANKED)["coverage(follow_up)"].change == "changed"
    )


def test_what_moves_with_the_traffic_makes_chance_within_its_parts_look_no_surer() -> None:
    within = {f"nDCG@{i}": delta(0.2, 0.01) if i == 1 else delta(0.01, 0.9) for i in range(1, 6)}
    beside = {f"table.cells{i}": delta(-0.2, 1e-9) for i in range(5)}
    shift = TrafficShift("slack has more", "platforms", within)
    found = claims({**within, **beside}, {}, "follow_up", 0.01, RANKED, shift=shift)
    assert (found["nDCG@1"].change, found["nDCG@1"].adjusted) == ("no difference shown", pytest.approx(0.1))


def test_beside_traffic_that_moved_a_figure_of_no_part_is_changed_unless_nobody_answered() -> None:
    deltas = {"resolved": FALL, "vote": FALL, "unanswered": RISE, "failed": RISE}
    found = claims(
        deltas, {}, "resolved", 0.01, RANKED, shift=TrafficShift("60% write Swedish", "languages", {"resolved": FALL})
    )
    assert {name: claim.change for name, claim in found.items()} == {
        "resolved": "worse",
        "vote": "changed",
        "unanswered": "worse",
        "failed": "worse",
    }
    assert found["resolved"].why == "within languages, too; 60% write Swedish"


def test_beside_traffic_that_moved_fewer_failures_are_better_within_its_parts_and_nothing_else_is() -> None:
    deltas = {"resolved": RISE, "unanswered": FALL, "failed": FALL}
    moved = TrafficShift("25% are on whatsapp", "platforms", {"resolved": RISE, "failed": FALL})
    found = claims(deltas, {}, "resolved", 0.01, RANKED, shift=moved)
    assert {name: claim.change for name, claim in found.items()} == {
        "resolved": "changed",
        "unanswered": "changed",
        "failed": "better",
    }
    assert found["failed"].why == "within platforms, too; 25% are on whatsapp"


def test_answers_in_another_language_than_those_who_came_are_changed_where_the_old_languages_tell_nothing() -> None:
    same, fell = delta(0.0, 1.0), delta(-0.2, 1e-9)
    shift = TrafficShift("60% write Swedish", "languages")
    for within, verdict in (({"same_language": same}, "changed"), ({"same_language": fell}, "worse"), ({}, "changed")):
        found = claims({"same_language": fell}, {}, "follow_up", 0.01, RANKED, shift=shift._replace(within=within))
        assert found["same_language"].change == verdict
    assert claims({"same_language": same}, {}, "follow_up", 0.01, RANKED, shift=shift)["same_language"].change == (
        "no difference shown"
    )


SURE = 1e-9


def sure(**values: float) -> dict[str, Difference]:
    return {name: delta(value, SURE) for name, value in values.items()}


#: what a healthy release looks like after one that failed half of the time, and after one whose users left half of it
MENDED = sure(failed=-0.48, unanswered=-0.66, silent=0.07, resolved=0.4, clarified=0.08, abandoned=0.11)
STAYING = sure(silent=-0.47, unanswered=0.05, resolved=0.23, clarified=0.06, abandoned=0.13, clarification_free=-0.02)


def mirrored(deltas: Mapping[str, Difference]) -> dict[str, Difference]:
    return {name: Difference(-was.value, -was.high, -was.low, was.n, was.p) for name, was in deltas.items()}


def called(deltas: Mapping[str, Difference], unheard: float, word: str) -> set[str]:
    claimed = claims(deltas, {}, "clarification_free", 0.01, (), unheard=delta(unheard, SURE))
    return {name for name, claim in claimed.items() if claim.change == word}


def test_a_mended_release_is_better_by_what_it_answers_and_not_worse_by_whom_it_hears() -> None:
    assert called(MENDED, -0.59, "worse") == set()
    assert called(MENDED, -0.59, "better") == {"failed", "unanswered", "resolved"}
    assert called(mirrored(MENDED), 0.59, "worse") >= {"failed", "unanswered", "resolved"}
    found = claims(MENDED, {}, "clarification_free", 0.01, (), unheard=delta(-0.59, SURE))
    assert found["silent"].why == "not called worse: unanswered fell by 0.66"
    assert found["abandoned"].why == "not called worse: failed fell by 0.48"


GUESSING = sure(failed=-0.2, unanswered=-0.25, no_answer=-0.02, resolved=0.05, abandoned=0.07, clarification_free=-0.05)


@pytest.mark.parametrize(
    ("complained_of", "words"),
    [
        (delta(0.0, 1.0), {"failed": "better", "unanswered": "better", "abandoned": "changed"}),
        (delta(0.015, 0.05), {"failed": "better", "unanswered": "better", "abandoned": "changed"}),  # few of them
        (delta(0.05, 0.4), {"failed": "better", "unanswered": "better", "abandoned": "changed"}),  # by chance
        (delta(0.05, 0.2), {"failed": "changed", "unanswered": "changed", "abandoned": "changed"}),
        (delta(0.05, 0.01), {"failed": "changed", "unanswered": "changed", "abandoned": "worse"}),
        (delta(-0.05, 0.01), {"failed": "better", "unanswered": "better", "abandoned": "changed"}),
    ],
)
def test_a_release_that_guesses_what_the_one_before_declined_is_no_mended_one(
    complained_of: Difference, words: dict[str, str]
) -> None:
    """Whoever is answered again complains as often as others: of a mended release no more of each answer."""
    found = claims(GUESSING, {}, "clarification_free", 0.01, (), complained_of=complained_of)
    assert {name: found[name].change for name in words} == words
    assert found["no_answer"].change == words["failed"]
    worse = words["abandoned"] == "worse"
    assert (found["clarification_free"].change == "worse") is worse
    if worse:
        assert "of answers that answer 0.05 more are complained of" in found["failed"].why


def test_users_who_stay_are_not_held_against_a_release_whatever_they_say() -> None:
    assert called(STAYING, -0.42, "worse") == set()
    assert called(mirrored(STAYING), 0.42, "worse") == {"silent", "resolved"}


@pytest.mark.parametrize(
    ("beside", "unheard"),
    [
        (sure(silent=-0.1, resolved=-0.3, clarified=0.1, abandoned=0.3), -0.1),  # complaints are read more often
        (sure(failed=-0.02, unanswered=-0.02, resolved=-0.2, abandoned=0.22), -0.02),
        (sure(clarification_free=-0.2, **{"coverage(follow_up)": 0.2}), 0.0),
    ],
    ids=["complaints are read", "few answers fail less", "more can be read"],
)
def test_a_release_that_is_worse_stays_so_beside_a_smaller_gain(beside: dict[str, Difference], unheard: float) -> None:
    assert called(beside, unheard, "worse") & BY_USERS.keys()


def test_a_release_that_is_only_heard_more_is_neither_better_nor_worse() -> None:
    asks = sure(silent=-0.23, resolved=0.27, clarified=-0.08, abandoned=0.02, follow_up=0.1)
    assert called(asks, -0.25, "better") == set()
    claimed = claims(asks, {}, "clarification_free", 0.01, (), unheard=delta(-0.25, SURE))
    assert claimed["resolved"].why == "not called better: silent fell by 0.23"
    assert "resolved" in called({**asks, "clarification_free": RISE}, -0.25, "better")
    assert "resolved" in called({**asks, "silent": delta(-0.1, SURE)}, -0.12, "better")


def test_a_release_that_is_heard_more_and_complained_of_more_is_worse() -> None:
    asks_and_fails = sure(silent=-0.4, resolved=0.08, abandoned=0.37, unanswered=-0.05, clarification_free=-0.26)
    habit = ClosingHabit(0.4, 0.45, "98% of answers ask whether they helped, 2% before")
    claimed = claims(asks_and_fails, {}, "clarification_free", 0.01, (), unheard=delta(-0.45, SURE), habit=habit)
    assert claimed["clarification_free"].change == "worse"
    assert "better" not in {claim.change for claim in claimed.values()}


def test_users_who_spoke_up_instead_of_leaving_are_neither_better_nor_worse() -> None:
    speaking = sure(silent=-0.36, resolved=0.11, abandoned=0.14, clarified=0.11, clarification_free=-0.2)
    assert called(speaking, -0.36, "worse") == called(speaking, -0.36, "better") == set()
    assert called(mirrored(speaking), 0.36, "better") == set()
    none_content = {**speaking, "resolved": delta(-0.02, 0.6)}
    assert called(none_content, -0.36, "worse") >= {"abandoned", "clarification_free"}


def test_users_who_leave_instead_of_complaining_are_no_mended_release_where_content_ones_leave_too() -> None:
    leaving = sure(silent=0.23, resolved=-0.08, abandoned=-0.07, clarified=-0.05, clarification_free=0.09)
    assert called(leaving, 0.23, "worse") == {"silent", "resolved"}
    assert called({**leaving, **sure(unanswered=-0.03)}, 0.23, "worse") == {"silent", "resolved"}
    assert called(mirrored(leaving), -0.23, "worse") == set()
    mended = sure(silent=0.11, resolved=0.05, abandoned=-0.12, clarification_free=0.1)
    assert called(mended, 0.11, "worse") == set()


#: a release that begins to ask whether its answers helped: 15 of 100 conversations end in a reply to that
ASKS = sure(silent=-0.14, resolved=0.13, abandoned=0.03, clarification_free=0.1, follow_up=0.12)
REPLIED = ClosingHabit(0.25, 0.15, "98% of answers ask whether they helped, 2% before")


@pytest.mark.parametrize("turned", [False, True], ids=["begins", "stops"])
def test_a_release_that_begins_or_stops_to_ask_in_closing_is_neither_better_nor_worse(turned: bool) -> None:
    deltas, habit = (mirrored(ASKS), REPLIED._replace(more=False)) if turned else (ASKS, REPLIED)
    claimed = claims(deltas, {}, "clarification_free", 0.01, (), habit=habit)
    assert {claimed[name].change for name in ASKS} == {"changed"}
    if turned:
        assert claimed["resolved"].why == f"not called worse: {habit.why}"


@pytest.mark.parametrize(
    ("changes", "worse"),
    [
        ({"resolved": -0.4, "silent": 0.5}, {"resolved", "silent"}),
        ({"unanswered": 0.12}, {"unanswered"}),
        ({"failed": 0.12}, {"failed"}),
    ],
)
def test_what_replies_do_not_account_for_is_worse_beside_them(changes: dict[str, float], worse: set[str]) -> None:
    habit = REPLIED._replace(more=False, unanswered=0.1)
    claimed = claims({**mirrored(ASKS), **sure(**changes)}, {}, "clarification_free", 0.01, (), habit=habit)
    assert {name for name, claim in claimed.items() if claim.change == "worse"} >= worse


def test_more_replies_do_not_excuse_more_complaints() -> None:
    deltas = {**ASKS, **sure(resolved=-0.1, abandoned=0.2, clarification_free=-0.2)}
    claimed = claims(deltas, {}, "clarification_free", 0.01, (), habit=REPLIED)
    assert claimed["clarification_free"].change == "worse"


@pytest.mark.parametrize(("helped", "verdict"), [(0.15, "worse"), (0.0, "changed")])
def test_fewer_replies_to_whether_it_helped_are_no_complaints_and_low_ratings_may_be(
    helped: float, verdict: str
) -> None:
    habit = REPLIED._replace(more=False, helped=helped)
    deltas = sure(**{"clarification_free(per=conversation)": -0.1})
    (claim,) = claims(deltas, {}, "", 0.01, (), habit=habit).values()
    assert claim.change == verdict


@pytest.mark.parametrize(("unheard", "verdict"), [(-0.3, "changed"), (0.05, "worse")])
def test_silence_in_the_place_of_failing_answers_is_no_loss(unheard: float, verdict: str) -> None:
    deltas = sure(silent=0.1, unanswered=unheard - 0.1, resolved=-unheard, compliance=0.1)
    found = claims(deltas, {}, "clarification_free", 0.01, (), unheard=delta(unheard, SURE))
    assert (found["silent"].change, found["compliance"].change) == (
        verdict,
        "better" if verdict == "changed" else "changed",
    )


def test_fewer_answers_have_documents_where_more_users_are_answered_and_give_thanks() -> None:
    fewer = {**MENDED, "answers_with_documents": delta(-0.03, SURE)}
    assert called(fewer, -0.59, "worse") == set()
    assert "failed" in called(fewer, -0.59, "better")
    assert "answers_with_documents" in called({**fewer, "answers_with_documents": delta(-0.7, SURE)}, -0.59, "worse")


@pytest.mark.parametrize("grown", ["cited", "answers_with_documents"])
def test_a_ranking_is_not_worse_than_one_of_hardly_any_answers(grown: str) -> None:
    found = claims({"nDCG@5": FALL, grown: delta(0.5, SURE)}, {}, "follow_up", 0.01, RANKED)
    assert (found["nDCG@5"].change, found["nDCG@5"].why) == ("changed", f"not called worse: {grown} rose by 0.50")
    few = claims({"nDCG@5": FALL, grown: delta(0.05, SURE)}, {}, "follow_up", 0.01, RANKED)
    assert few["nDCG@5"].change == "worse"


def test_a_ranking_is_not_worse_than_that_of_one_document_or_of_the_same_ones_for_all() -> None:
    why = said_nothing(None, 1.0)
    assert why == "before, there was hardly anything to rank: 1.0 documents per answer"
    found = claims({"nDCG@5": FALL}, {}, "follow_up", 0.01, RANKED, doubts=RankingDoubts(before=why))
    assert (found["nDCG@5"].change, found["nDCG@5"].why) == ("changed", f"not called worse: {why}")
    alike = said_nothing((delta(0.9, SURE), 0.98), 6.0)
    assert alike == "before, the same few documents came whatever was asked (98% of what was retrieved)"
    assert said_nothing((delta(0.1, SURE), 0.2), 6.0) == said_nothing(None, None) == ""


@pytest.mark.parametrize("seed", range(40))
def test_neither_of_two_releases_is_worse_by_its_users_than_the_other_and_the_other_than_it(seed: int) -> None:
    rng = random.Random(seed)
    names = [*BY_USERS, "clarified", "unanswered", "failed"]
    for _ in range(100):
        deltas = {name: delta(rng.uniform(-0.4, 0.4), rng.choice((SURE, 0.3))) for name in names}
        deltas = {name: deltas[name] for name in rng.sample(names, rng.randint(2, len(names)))}
        unheard = rng.uniform(-0.4, 0.4)
        for word in ("worse", "better"):
            here, there = called(deltas, unheard, word), called(mirrored(deltas), -unheard, word)
            assert not (here & BY_USERS.keys() and there & BY_USERS.keys()), (word, deltas)
