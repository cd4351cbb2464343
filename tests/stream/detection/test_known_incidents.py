"""What is known to have gone wrong beside alerts that would have fired: hits, delays, misses, false ones."""

from collections.abc import Callable
from typing import Any

from turnsignal.stream.detection.backtest import BackTest
from turnsignal.stream.detection.detector import DAY
from turnsignal.stream.detection.known_incidents import ASSISTANTS, KnownIncident, find_quiet, match_incidents
from turnsignal.stream.detection.watched_series import WatchedSeries
from turnsignal.stream.records.regressions import Incident, ScorerChange

WATCHED = WatchedSeries({("support", 0, "nDCG@5"): 1.0 * DAY})


def called(
    name: str, opened: float, assistant: str = "support", tier: str = "page", direction: str = "lower"
) -> Incident:
    change: Any = ("nDCG@5", "relevancy", "worse", direction, "usual", tier, opened, opened, "v2", None)
    numbers: Any = (0.8, 0.6, -0.2, -0.3, -0.1, 100, 4.0, 3.0, "")
    return Incident(name, "opened", opened, assistant, 0, tier, opened, opened, "v2", [ScorerChange(*change, *numbers)])


def history(*incidents: Incident, days: float = 60.0) -> BackTest:
    return BackTest(list(incidents), 1_000, 0, 0.0, days * DAY, series=WATCHED)


def test_a_known_incident_is_hit_by_the_first_call_after_its_begin() -> None:
    known = KnownIncident("bad prompt", "support", 10 * DAY)
    matched = match_incidents(history(called("b", 10.5 * DAY), called("a", 10.25 * DAY), called("c", 9 * DAY)), [known])
    ((hit_known, incident, delay),) = matched.hits
    assert (hit_known, incident.id, delay) == (known, "a", 0.25 * DAY)
    assert [one.id for one in matched.false] == ["c"]
    assert matched.misses == []


def test_a_call_of_another_assistant_or_of_a_rise_is_no_hit() -> None:
    known = KnownIncident("bad prompt", "support", 10 * DAY)
    others = called("a", 10.1 * DAY, assistant="sales"), called("b", 10.1 * DAY, direction="higher")
    matched = match_incidents(history(*others), [known])
    assert (matched.hits, matched.misses) == ([], [known])
    assert matched.false_pages == 2


def test_an_end_bounds_how_late_a_call_may_be_and_a_missing_one_gives_a_week() -> None:
    late = history(called("a", 14 * DAY))
    assert match_incidents(late, [KnownIncident("x", None, 10 * DAY, 11 * DAY)]).misses
    assert match_incidents(late, [KnownIncident("x", None, 10 * DAY)]).hits
    assert match_incidents(history(called("a", 18 * DAY)), [KnownIncident("x", None, 10 * DAY)]).misses


def test_what_was_before_or_after_the_recording_is_neither_hit_nor_miss() -> None:
    known = [KnownIncident("before", None, -1.0), KnownIncident("after", None, 61 * DAY)]
    matched = match_incidents(history(), known)
    assert (matched.outside, matched.misses) == (known, [])
    assert match_incidents(BackTest([], 0, 0, float("inf"), float("-inf")), known).outside == known


def test_what_began_before_any_series_of_its_assistant_was_watched_is_no_miss_but_may_be_a_hit() -> None:
    early, other = KnownIncident("early", "support", 0.9 * DAY), KnownIncident("other", "sales", 10 * DAY)
    matched = match_incidents(history(), [early, other])
    assert (matched.misses, matched.unwatched) == ([], [early, other])
    assert [known["name"] for known in matched.as_json()["unwatched"]] == ["early", "other"]
    assert len(match_incidents(history(called("a", 1.1 * DAY)), [early]).hits) == 1
    assert match_incidents(history(), [KnownIncident("any", None, 1.0 * DAY)]).misses


def test_where_nothing_is_watched_no_setting_is_tried() -> None:
    assert find_quiet(lambda _: history()._replace(series=WatchedSeries()), []) == []


def with_false_pages(counts: dict[int, int]) -> Callable[[int], BackTest]:
    return lambda assistants: history(*(called(f"{n}", n * DAY) for n in range(counts[assistants])))


def test_the_quietest_setting_tried_is_the_first_with_one_false_page_in_30_days() -> None:
    tried = find_quiet(with_false_pages({1: 9, 10: 4, 100: 2, 1_000: 0}), [])
    assert [(each.assistants, each.false_pages, each.false_per_month) for each in tried] == [
        (1, 9, 4.5),
        (10, 4, 2.0),
        (100, 2, 1.0),
    ]


def test_where_no_setting_is_quiet_all_were_tried() -> None:
    tried = find_quiet(with_false_pages(dict.fromkeys(ASSISTANTS, 5)), [])
    assert [each.assistants for each in tried] == list(ASSISTANTS)


def test_a_page_that_a_known_incident_explains_is_not_false() -> None:
    (tried,) = find_quiet(lambda _: history(called("a", 3.0 * DAY)), [KnownIncident("x", "support", 2.9 * DAY)])
    assert (tried.false_pages, tried.hits) == (0, 1)
