"""A few draws of `make claims`: comparisons keep their promise, and see what is broken; the script prints it all."""

import pytest

from tests.measuring.claims import (
    BROKEN,
    POLITE,
    SILENT,
    SPOKEN,
    broken,
    cited_by_place,
    conversations,
    covered,
    cut_anywhere,
    dealt,
    dealt_to_users,
    foreign,
    moved,
    on_platforms,
    spoken,
    thanked,
)
from turnsignal.stream.reports.release_totals import ConversationScores

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def well() -> list[ConversationScores]:
    return conversations(600, 1)


def test_conversations_dealt_by_chance_seldom_make_a_claim_though_raw_intervals_often_would(
    well: list[ConversationScores],
) -> None:
    found = list(dealt(40, well, 2, 150, 150))
    assert sum(one.anything for one in found) <= 6  # more than 6 of 40 at 5 %: once in 300 times
    assert sum(one.unadjusted for one in found) >= 8


def test_a_canary_beside_many_seldom_makes_a_claim(well: list[ConversationScores]) -> None:
    assert sum(one.anything for one in dealt(30, well, 3, 560, 30)) <= 5


def test_traffic_that_moves_to_a_platform_that_is_worse_off_names_no_release_worse() -> None:
    old = on_platforms(400, 7)
    found = list(moved(20, old, on_platforms(400, 8), 9))
    assert sum(bool(one.worse) for one in found) <= 3
    assert sum(one.unadjusted for one in found) >= 15, "the means of all do move"
    assert all(one.worse for one in moved(4, old, on_platforms(400, 8, "answers_errors"), 9))


def test_users_dealt_to_releases_that_are_the_same_seldom_make_a_claim(well: list[ConversationScores]) -> None:
    found = list(dealt_to_users(40, well, 10))
    assert sum(one.anything for one in found) <= 6  # more than 6 of 40 at 5 %: once in 300 times


@pytest.mark.parametrize("language", SPOKEN)
def test_users_who_move_to_another_language_name_no_release_worse(
    language: str, well: list[ConversationScores]
) -> None:
    two = well, spoken(300, 11, language)
    found = list(moved(20, two, two, 12))
    assert sum(one.anything for one in found) <= 3
    assert sum(one.unadjusted for one in found) >= 10, "the means of all do move"


def test_a_recording_that_is_cut_anywhere_seldom_makes_a_claim() -> None:
    assert sum(one is not None and one.anything for one in cut_anywhere(6, 40)) <= 2


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_release_is_named_and_nothing_of_it_is_better(name: str, well: list[ConversationScores]) -> None:
    kind, share = BROKEN[name]
    found = list(broken(4, well, conversations(300, 5, kind, share), 6))
    assert all(one.worse or one.changed for one in found)
    assert not [one.better for one in found if one.better]


def test_a_release_that_answers_in_another_language_is_named_and_nothing_of_it_is_better(
    well: list[ConversationScores],
) -> None:
    found = list(broken(4, well, foreign(300, 5), 6))
    assert all("same_language" in one.worse for one in found)
    assert not [one.better for one in found if one.better]


@pytest.mark.parametrize("dead", [False, True])
def test_citing_by_the_place_is_named_and_no_ranking_of_it_is_better(
    dead: bool, well: list[ConversationScores]
) -> None:
    found = list(broken(4, well, cited_by_place(300, 5, dead=dead), 6))
    assert all("nDCG@5" in one.changed for one in found)
    assert not [one.better for one in found if one.better]


@pytest.mark.parametrize("name", SILENT)
def test_a_release_that_does_not_answer_is_named_and_nothing_of_it_is_better(
    name: str, well: list[ConversationScores]
) -> None:
    found = list(broken(4, well, SILENT[name](well, 5), 6))
    assert all(one.worse for one in found)
    assert not [one.better for one in found if one.better]


@pytest.mark.parametrize("name", POLITE)
def test_a_release_whose_failures_are_thanked_is_named_and_nothing_of_it_is_better(
    name: str, well: list[ConversationScores]
) -> None:
    found = list(broken(4, well, thanked(300, 5, POLITE[name]), 6))
    assert all("unanswered" in one.worse for one in found)
    assert not [one.better for one in found if one.better]


@pytest.mark.parametrize("level", [0.5, 0.9, 0.99])
def test_intervals_of_clustered_rates_cover_as_often_as_they_say(level: float) -> None:
    assert 0.92 <= covered(level, 100, 400, 1) <= 0.98
