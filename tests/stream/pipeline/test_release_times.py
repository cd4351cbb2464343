"""Answers without a version are of the release that had come when their conversation began."""

import pytest

from tests.stream.test_replay import turn
from turnsignal.stream.pipeline.release_times import ReleaseTimes, with_release
from turnsignal.stream.records.turns import decode_turn

BASE = decode_turn(turn("c", "1", "user", "Hello", 0)).time


def named(*turns: bytes, released: tuple[float, ...]) -> list[str | None]:
    release_times = ReleaseTimes(BASE + second for second in released)
    decoded = [decode_turn(each) for each in turns]
    for each in decoded:
        release_times.name(each)
    return [each.version for each in decoded]


def test_a_conversation_that_began_before_a_release_stays_of_the_one_before() -> None:
    before, since = ReleaseTimes([BASE + 30]).names
    asked, answered = turn("c", "1", "user", "How?", 29), turn("c", "2", "assistant", "So.", 31)
    later = turn("d", "1", "user", "How?", 30), turn("d", "2", "assistant", "So.", 32)
    assert named(asked, *later, answered, released=(30,)) == [None, None, since, before]


def test_what_comes_under_an_id_whose_conversation_is_forgotten_begins_another() -> None:
    release_times = ReleaseTimes([BASE + 10], forgotten_after=30)
    answers = [decode_turn(turn("c", str(second), "assistant", "So.", second)) for second in (0, 20, 59)]
    assert [release_times.name(each) for each in answers] == [False, True, False]
    assert [each.version for each in answers] == [release_times.names[at] for at in (0, 0, 1)]


def test_an_answer_that_names_its_version_keeps_it() -> None:
    answers = [turn("c", "1", "assistant", "So.", 0, version="v1"), turn("c", "2", "assistant", "So.", 40)]
    assert named(*answers, released=(30,)) == ["v1", ReleaseTimes([BASE + 30]).names[0]]


def test_several_times_are_several_releases_in_their_order() -> None:
    answers = [turn(f"c{second}", "1", "assistant", "So.", second) for second in (0, 20, 40)]
    assert named(*answers, released=(40, 20, 20)) == [*ReleaseTimes([BASE + 20, BASE + 40]).names]


@pytest.mark.parametrize(
    ("time", "since"),
    [(0.0, "since 1970-01-01 00:00"), (1.0, "since 1970-01-01 00:00:01"), (-60, "since 1969-12-31 23:59")],
)
def test_releases_are_named_by_their_time(time: float, since: str) -> None:
    assert ReleaseTimes([time]).names[-1] == since


@pytest.mark.parametrize("name", [*ReleaseTimes([0.0, BASE]).names])
def test_a_name_that_is_a_time_has_its_own_preposition(name: str) -> None:
    assert with_release("in", name) == name
    assert with_release("in", "since 2nd build") == "in since 2nd build"
