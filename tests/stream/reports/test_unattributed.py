"""Conversations without a version belong to the release that stood around their time."""

from typing import Any

import pytest

from tests.stream.reports.test_quality import SCORERS, values
from turnsignal.stream.reports.quality import Quality
from turnsignal.stream.reports.release_totals import ConversationScores

UNANSWERED = "unanswered(of=assistant)"
PRIMARY = ("clarification_free", 0.01)


def answered(
    version: str | None, time: float, outcome: str = "resolved", assistant: str = "support"
) -> ConversationScores:
    release = (assistant, version)
    return ConversationScores(release, outcome, time, time, time, False, 3, {release: values(0.9)}, time + 5, 4)


def unanswered(time: float, assistant: str = "support") -> ConversationScores:
    return ConversationScores((assistant, None), "unanswered", time, time, time, False, 0, {}, time, 1)


def settled(*some: ConversationScores) -> Quality:
    """Divide them among three parts, as a replay does."""
    parts = [Quality(SCORERS) for _ in range(3)]
    for number, went in enumerate(some):
        parts[number % 3].add(went)
    for part in parts[1:]:
        parts[0].merge(part)
    parts[0].finish(30)
    return parts[0]


def every(minutes: float, begin: int, end: int) -> list[float]:
    return [60.0 * minutes * i for i in range(begin, end)]


def counts(found: Quality) -> dict[Any, tuple[int, int]]:
    rows = found.rows(1)
    return {row["version"]: (row["conversations"], row.get("attributed", 0)) for row in rows}


def test_a_question_without_an_answer_belongs_to_the_release_that_stood_around_its_time() -> None:
    old, new = every(1, 0, 100), every(1, 100, 200)
    gone = new[5::3]
    some = [*[answered("v1", t) for t in old], *[answered("v2", t) for t in new if t not in gone]]
    found = settled(*some, *map(unanswered, gone))
    assert counts(found) == {"v1": (100, 0), "v2": (100, len(gone))}
    (row,) = found.comparisons(30, *PRIMARY)
    verdicts = {name: delta["verdict"] for name, delta in row["deltas"].items()}
    assert verdicts["unanswered"] == verdicts["resolved"] == "worse"
    assert "better" not in verdicts.values()
    assert row["attributed"] == {"v2": len(gone)}


@pytest.mark.parametrize("assistant", ["support", "default", "gateway"])
def test_an_error_without_a_version_counts_for_the_release_in_whose_place_it_was_written(assistant: str) -> None:
    some = [answered("v1", t) for t in every(1, 0, 60)] + [answered("v2", t) for t in every(2, 30, 90)]
    some += [answered(None, t + 60, "unanswered", assistant) for t in every(2, 32, 70)]
    assert counts(settled(*some)) == {"v1": (60, 0), "v2": (98, 38)}


def test_an_error_without_a_version_within_a_conversation_counts_for_the_release_that_answered_there() -> None:
    release, nobody = ("support", "v1"), ("support", None)
    parts = {release: values(0.9), nobody: values(0.9)}
    found = settled(ConversationScores(nobody, "unanswered", 0.0, 0.0, 0.0, False, 6, parts, 5.0, 8))
    assert counts(found) == {"v1": (1, 1)}
    assert found.rows(1)[0]["answers_per_conversation"] == 6


def test_a_release_that_answers_nobody_is_told_as_a_silence_and_named() -> None:
    found = settled(*[answered("v1", t) for t in every(1, 0, 100)], *map(unanswered, every(1, 100, 160)))
    (silence,) = found.silences()
    assert silence == {"assistant": "support", "since": 6000.0, "until": None, "conversations": 60}
    (row,) = found.comparisons(30, *PRIMARY)
    assert (row["before"], row["after"], row["deltas"]["unanswered"]["verdict"]) == ("v1", None, "worse")


def test_a_silence_between_two_releases_makes_neither_look_worse() -> None:
    some = [answered("v1", t) for t in every(1, 0, 100)] + [answered("v2", t) for t in every(1, 160, 260)]
    found = settled(*some, *map(unanswered, every(1, 100, 160)))
    assert counts(found) == {"v1": (100, 0), None: (60, 0), "v2": (100, 0)}
    pairs = [(row["before"], row["after"]) for row in found.comparisons(30, *PRIMARY)]
    assert pairs == [("v1", None), ("v1", "v2")]
    assert found.silences()[0]["until"] == 9605.0


def test_the_last_few_questions_belong_to_the_release_that_had_answered_before() -> None:
    found = settled(*[answered("v1", t) for t in every(1, 0, 40)], *map(unanswered, every(1, 40, 45)))
    assert (counts(found), found.silences()) == ({"v1": (45, 5)}, [])


def test_where_releases_answer_side_by_side_the_share_of_all_is_compared() -> None:
    times = every(1, 0, 600)
    some = [answered("v1", t) for n, t in enumerate(times) if t < 18000.0 or n % 2]
    some += [answered("v2", t) for n, t in enumerate(times) if t >= 18000.0 and n % 4 == 0]
    gone = [t for n, t in enumerate(times) if 18000.0 < t < 35700.0 and n % 4 == 2]
    found = settled(*some, *map(unanswered, gone))
    assert counts(found)["v2"] == (75, 0)
    (row,) = found.comparisons(30, *PRIMARY)
    assert row["deltas"][UNANSWERED]["verdict"] == "worse"
    assert row["apart"] == len(gone)


def test_where_nothing_carries_a_version_nothing_is_attributed() -> None:
    found = settled(*[answered(None, t) for t in every(1, 0, 40)], *map(unanswered, every(3, 0, 10)))
    assert counts(found) == {None: (50, 0)}
