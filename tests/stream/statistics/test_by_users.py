"""Where users say that it went better, rankings by citations and documents for complaints are not worse."""

import pytest

from turnsignal.stream.statistics.claims import claims
from turnsignal.stream.statistics.intervals import Difference


def delta(value: float, p: float = 1e-9) -> Difference:
    return Difference(value, value - 0.05, value + 0.05, 100, p)


def verdicts(deltas: dict[str, Difference]) -> dict[str, str]:
    return {name: one.change for name, one in claims(deltas, {}, "", 0.01, ("nDCG@5",)).items()}


FALLEN = {"nDCG@5": delta(-0.06), "answers_with_documents": delta(-0.05)}


@pytest.mark.parametrize(
    ("users", "expected"),
    [
        ({"clarification_free": delta(0.2)}, ("changed", "changed")),
        ({"clarification_free": delta(0.2, 0.3)}, ("changed", "changed")),
        ({"clarification_free": delta(-0.2)}, ("worse", "worse")),
        ({"clarification_free": delta(0.2), "abandoned": delta(0.3)}, ("worse", "changed")),
        ({"cited_article": delta(0.2, 0.3), "clarification_free": delta(-0.02, 0.8)}, ("changed", "worse")),
        ({}, ("worse", "worse")),
    ],
)
def test_happier_users_and_labels_say_more_of_retrieval_than_where_what_is_cited_stood(
    users: dict[str, Difference], expected: tuple[str, str]
) -> None:
    said = verdicts(FALLEN | users)
    assert (said["nDCG@5"], said["answers_with_documents"]) == expected


def test_a_ranking_that_fell_much_further_than_users_say_is_worse() -> None:
    assert verdicts({"nDCG@5": delta(-0.6), "clarification_free": delta(0.2)})["nDCG@5"] == "worse"
    assert verdicts({"nDCG@5": delta(-0.3), "cited_article": delta(0.2)})["nDCG@5"] == "changed"


def test_a_ranking_that_rose_beside_wrong_articles_or_more_complaints_is_not_better() -> None:
    assert verdicts({"nDCG@5": delta(0.2)})["nDCG@5"] == "better"
    assert verdicts({"nDCG@5": delta(0.2), "cited_article": delta(-0.2)})["nDCG@5"] == "changed"
    assert verdicts({"nDCG@5": delta(0.2), "clarification_free": delta(-0.03, 0.4)})["nDCG@5"] == "changed"
    assert verdicts({"nDCG@5": delta(0.2), "clarification_free": delta(-0.01, 0.4)})["nDCG@5"] == "better"


def test_fewer_complaints_account_for_as_many_documents_and_users_who_would_complain_for_less_than_half() -> None:
    def given(change: float, **users: Difference) -> str:
        return verdicts({"answers_with_documents": delta(change), **users})["answers_with_documents"]

    assert given(-0.3, clarification_free=delta(0.2)) == "changed"
    assert given(-0.3, clarification_free=delta(-0.04, 0.2)) == "changed", "an API may answer them"
    assert given(-0.3, clarification_free=delta(-0.06, 0.2)) == "worse", "by a third of them users may complain"
    assert given(-0.12, clarification_free=delta(0.0, 1.0)) == "worse", "too few users to know"
    assert given(-0.3, clarification_free=delta(0.0, 1.0), silent=delta(0.1)) == "worse"
    assert given(-0.6, clarification_free=delta(0.2)) == "worse", "a search that is gone"
    assert given(-0.3) == "worse", "nobody says anything"


@pytest.mark.parametrize(
    ("deltas", "verdict"),
    [
        ({"failed": delta(0.1), "clarification_free": delta(0.08)}, "changed"),
        ({"failed": delta(0.1), "clarification_free": delta(0.05)}, "worse"),
        ({"failed": delta(0.1), "clarification_free": delta(0.08, 0.2)}, "worse"),
        ({"failed": delta(0.1), "clarification_free": delta(0.08), "silent": delta(0.1)}, "worse"),
        ({"failed": delta(0.4), "clarification_free": delta(0.3)}, "worse"),
    ],
)
def test_what_is_declined_is_no_failure_where_as_many_complaints_went(
    deltas: dict[str, Difference], verdict: str
) -> None:
    said = verdicts(deltas | {"unanswered": delta(0.2), "cited": delta(-0.2)})
    assert {said["failed"], said["unanswered"], said["cited"]} == {verdict}


def test_content_that_is_read_less_often_holds_a_gain_back_as_far_as_it_may_explain_it() -> None:
    read = "coverage(follow_up)"
    assert verdicts({"clarification_free": delta(0.2), read: delta(-0.05)})["clarification_free"] == "better"
    assert verdicts({"clarification_free": delta(0.2), read: delta(-0.12)})["clarification_free"] == "changed"
    assert verdicts({"clarification_free": delta(0.2), "silent": delta(0.05)})["clarification_free"] == "changed"


@pytest.mark.parametrize(
    ("beside", "is_said"),
    [
        ({}, True),
        ({"clarification_free": delta(-0.03, 0.03)}, True),  # of fewer messages, a larger share
        ({"abandoned": delta(0.03, 0.04)}, False),
        ({"clarification_free(per=conversation)": delta(-0.2)}, False),
        ({"failed": delta(0.2)}, False),
        ({"answers_with_documents": delta(-0.2)}, False),
    ],
)
def test_where_content_alone_turned_silent_it_is_said_that_users_may_only_thank_less(
    beside: dict[str, Difference], is_said: bool
) -> None:
    found = claims({"silent": delta(0.2), "resolved": delta(-0.2)} | beside, {}, "", 0.04, ())
    assert (found["silent"].change, found["resolved"].change) == ("worse", "worse")
    assert found["resolved"].why.startswith("users thank less or leave") is is_said


def test_fewer_failures_are_not_better_where_more_users_complain_of_what_is_said_instead() -> None:
    deltas = {"failed": delta(-0.1), "clarification_free": delta(-0.3), "abandoned": delta(0.3)}
    assert verdicts(deltas)["failed"] == "changed"
    assert verdicts({"failed": delta(-0.1), "clarification_free": delta(0.0, 0.9)})["failed"] == "better"


def test_where_more_users_leave_and_nothing_else_is_worse_it_is_said_that_they_may_be_content() -> None:
    def why(**others: Difference) -> str:
        return claims({"silent": delta(0.2), **others}, {}, "", 0.01, ())["silent"].why

    assert why() == "who leaves without a word may be content: this cannot tell"
    assert why(abandoned=delta(0.2)) == ""


@pytest.mark.parametrize(
    ("refused", "verdict"), [(None, "changed"), (0.1, "changed"), (0.08, "changed"), (0.05, "worse"), (0.0, "worse")]
)
def test_an_error_page_declines_nothing_however_few_complaints_are_left(refused: float | None, verdict: str) -> None:
    deltas = {"failed": delta(0.1), "clarification_free": delta(0.08), "unanswered": delta(0.2)}
    declining = None if refused is None else delta(refused)
    said = claims(deltas, {}, "", 0.01, (), refused=declining)
    assert {said["failed"].change, said["unanswered"].change} == {verdict}


def test_answers_that_came_in_the_place_of_none_may_cite_nothing() -> None:
    mended = {"unanswered": delta(-0.3), "resolved": delta(0.2), "cited": delta(-0.06)}
    said = verdicts(mended)
    assert (said["cited"], said["unanswered"]) == ("changed", "better")
    said = verdicts(mended | {"cited": delta(-0.2)})
    assert (said["cited"], said["unanswered"]) == ("worse", "changed"), "of so few these are not all"
    assert verdicts({"cited": delta(-0.05), "clarification_free": delta(0.25)})["cited"] == "changed"
    for fewer in (0.02, 0.15):
        assert verdicts({"cited": delta(-0.05), "clarification_free": delta(fewer)})["cited"] == "worse"
