"""Releases are compared in the order of time; side by side, no chance decides which one is the baseline."""

import pytest

from turnsignal.stream.errors import ConfigError
from turnsignal.stream.reports.release_order import Period, check_baseline, steps, version_key

HOUR = 3600.0


def period(
    version: str | None, first: float = 0.0, last: float = 10 * HOUR, n: int = 300, answered: int | None = None
) -> Period:
    return Period(("support", version), first, last, n, n if answered is None else answered)


def compared(*periods: Period, baseline: str | None = None) -> list[tuple[str | None, str | None, str]]:
    by_time = sorted(periods, key=lambda each: each.first)
    return [(step.before[1], step.after[1], step.by) for step in steps(by_time, baseline)]


@pytest.mark.parametrize("ahead", ["1.9", "1.10"])
def test_of_two_halves_of_an_experiment_the_first_by_its_version_is_the_baseline(ahead: str) -> None:
    halves = [period(version, 0.0 if version == ahead else 300.0) for version in ("1.9", "1.10")]
    assert compared(*halves) == [("1.9", "1.10", "name")]


@pytest.mark.parametrize("ahead", ["v1", "v2"])
def test_a_canary_is_compared_with_what_has_clearly_more_conversations(ahead: str) -> None:
    sizes = {"v1": 45, "v2": 1400}
    sides = [period(version, 0.0 if version == ahead else 100.0, n=n) for version, n in sizes.items()]
    assert compared(*sides) == [("v2", "v1", "conversations")]


@pytest.mark.parametrize(
    ("old", "new"), [("v1", "v2"), ("1.9", "1.10"), ("2026-11-02", "2026-11-10"), ("2.0-rc1", "2.0")]
)
@pytest.mark.parametrize("share", [0.2, 0.67, 0.88])
def test_however_conversations_are_shared_the_higher_number_is_what_is_tried(old: str, new: str, share: float) -> None:
    sides = [period(old, n=round(300 * (1 - share))), period(new, n=round(300 * share))]
    assert compared(*sides) == [(old, new, "name")]


@pytest.mark.parametrize("names", [("blue", "green"), ("3f9a2", "41c2b"), ("v1", "w2"), ("prod", "v2")])
def test_of_names_that_do_not_count_up_the_one_with_clearly_more_is_the_baseline(names: tuple[str, str]) -> None:
    few, many = names
    assert compared(period(few, n=100), period(many, n=200)) == [(many, few, "conversations")]


@pytest.mark.parametrize("ahead", ["v1", "v2"])
@pytest.mark.parametrize(("n", "answered"), [(300, 0), (300, 6), (900, 9)])
def test_what_answers_hardly_anybody_is_no_baseline_of_what_answers_beside_it(
    ahead: str, n: int, answered: int
) -> None:
    dead = period("v1", 0.0 if ahead == "v1" else 100.0, n=n, answered=answered)
    assert compared(dead, period("v2", 0.0 if ahead == "v2" else 100.0)) == [("v2", "v1", "conversations")]


@pytest.mark.parametrize(
    ("second", "what"),
    [
        (period("v1", first=24 * HOUR, last=34 * HOUR), "a rollback: it came later"),
        (period("v1", first=2 * HOUR, last=20 * HOUR, n=3000), "it was rolled out while the other went on"),
        (period("v1", first=6 * HOUR, last=16 * HOUR), "more than half of both was apart"),
        (period(None, first=60.0), "what has no version is none that was dealt"),
    ],
)
def test_what_came_later_is_compared_with_what_was_there(second: Period, what: str) -> None:
    assert compared(period("v2"), second) == [("v2", second.release[1], "")], what


@pytest.mark.parametrize(("old", "new"), [("v1", "v2"), ("2026.44", "2026.45"), ("2026-11-02", "2026-11-10")])
@pytest.mark.parametrize(("begins", "ends"), [(0.2, 5.8), (18.0, 23.8)])
def test_a_release_of_some_hours_is_tried_against_the_lower_version_whichever_a_recording_begins_with(
    old: str, new: str, begins: float, ends: float
) -> None:
    """Six days: the old one answers from 6 to 22 or to 18 h, the new one by night or in the evening."""
    by_day = period(old, 6 * HOUR, (5 * 24 + (22.0 if begins < 6 else begins)) * HOUR)
    part = period(new, begins * HOUR, (5 * 24 + ends) * HOUR)
    assert [pair[:2] for pair in compared(by_day, part)] == [(old, new)]


def test_of_releases_by_turns_a_line_says_which_one_is_the_baseline_where_the_higher_version_came_first() -> None:
    day, night = period("v1", 6 * HOUR, 142 * HOUR), period("v2", 0.0, 126 * HOUR)
    assert compared(day, night) == [("v1", "v2", "name")]


@pytest.mark.parametrize(
    ("first", "second", "by", "what"),
    [
        (period("v2", 0.0, 40 * HOUR), period("v1", 6 * HOUR, 142 * HOUR), "", "it was rolled back"),
        (period("v2", 0.0, 142 * HOUR), period("v1", 48 * HOUR, 142 * HOUR), "", "it came back after two days"),
        (period("green", 0.0, 126 * HOUR), period("blue", 6 * HOUR, 142 * HOUR), "", "names do not count up"),
        (period("v1", 0.0, 142 * HOUR), period("v2", 6 * HOUR, 142 * HOUR), "", "a canary of the higher version"),
        (period("v2", 0.0, 142 * HOUR, 3_000), period("v1", 6 * HOUR, 142 * HOUR, 100), "conversations", "hardly any"),
    ],
)
def test_what_came_first_stays_the_baseline(first: Period, second: Period, by: str, what: str) -> None:
    assert compared(first, second) == [(first.release[1], second.release[1], by)], what


def test_of_three_side_by_side_each_is_compared_with_the_baseline_and_the_next_with_the_last() -> None:
    together = [period(version, at) for at, version in enumerate(("c", "a", "b"))]
    later = period("d", 20 * HOUR, 30 * HOUR)
    assert compared(*together, later) == [("a", "b", "name"), ("a", "c", "name"), ("c", "d", "")]


def test_a_baseline_that_is_named_is_what_all_others_are_compared_with() -> None:
    releases = [period("v1"), period("v2", 24 * HOUR, 30 * HOUR), period("v3", 48 * HOUR, 50 * HOUR)]
    assert compared(*releases, baseline="v2") == [("v2", "v1", ""), ("v2", "v3", "")]
    assert compared(*releases, baseline="elsewhere") == [("v1", "v2", ""), ("v2", "v3", "")], "of another assistant"


def test_a_baseline_that_there_is_not_is_refused_with_those_that_there_are() -> None:
    with pytest.raises(ConfigError, match=r"expected one of v2, v10; got 'v3'"):
        check_baseline("v3", [("support", "v10"), ("support", "v2"), ("sales", None)])
    with pytest.raises(ConfigError, match="no answer names a version"):
        check_baseline("v3", [("support", None)])
    check_baseline(None, [])


@pytest.mark.parametrize(
    "versions", [["v1", "v2", "v10"], ["1.9.3", "1.10.0-rc1", "1.10.0", "2"], ["2026-11-02", "2026-11-10"], ["A", "b"]]
)
def test_versions_stand_in_their_order_and_other_names_by_letters(versions: list[str]) -> None:
    last_first = versions[::-1]
    assert sorted(last_first, key=version_key) == versions
