"""How many releases a page has room for."""

from turnsignal.agents.metrics.room import Room
from turnsignal.agents.settings import METRICS_SERIES
from turnsignal.stream.pipeline.metric_family import JUDGE, WATCH


def test_four_judges_of_the_built_in_suite_leave_room_for_24_releases() -> None:
    assert Room(scorers=19, checks=8, judged=4).count_releases(METRICS_SERIES) >= 24


def test_a_page_of_alerts_has_room_for_24_releases_and_what_eight_assistants_have_of_no_version() -> None:
    assert Room(scorers=24, checks=0, app=WATCH).count_releases(METRICS_SERIES) >= 24 + 8


def test_a_suite_that_is_larger_than_the_page_still_shows_a_release() -> None:
    assert Room(scorers=900, checks=0).count_releases(4_000) == 1


def test_a_page_that_shows_nothing_by_release_has_room_all_the_same() -> None:
    assert Room(scorers=1, checks=0, app=JUDGE).per_release == 0
    assert Room(scorers=1, checks=0, app=JUDGE).count_releases(METRICS_SERIES) >= 1
