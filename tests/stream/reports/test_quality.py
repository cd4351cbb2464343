"""Releases are told with n and intervals, compared in the order of time, and passed over where there are too few."""

import math
from array import array

import numpy as np
import pytest

from turnsignal.stream.reports.first_answers import first_answer
from turnsignal.stream.reports.quality import Quality
from turnsignal.stream.reports.release_totals import OTHER_PLATFORMS, ConversationScores
from turnsignal.stream.reports.scales import DOCUMENTS_GIVEN, SECONDS
from turnsignal.stream.statistics.directions import BETTER, CHANGED, SAME, WORSE

SCORERS = ("nDCG@5", "wasted_context", "follow_up", "clarification_free", "cited", "dangling")
PRIMARY = ("clarification_free", 0.01)
V1, V2 = ("support", "v1"), ("support", "v2")
CHANGES = (BETTER, WORSE, CHANGED)
# What is written down otherwise: figures of the record.
_RECORDED = (
    *(3, 2.0, 3, 0.0, 3, 0.0, 3, 0.0, 3, 0.0, 3, 0.0, 3, 0.0, 3, 1.0, 3, 0.0, 1, 0.3),
    *(*(3, 0.0) * 5, *(0, 0.0) * 4, *(3, 0.0) * 4),
    *(0, 0.0, 0, 0.0, 3, 0.0, 3, 0.0, 0, 0.0, 3, 0.0),
)  # of the record
_UNRETRIEVED = (3, 0.0, 0, 0.0, 0, 0.0, 0, 0.0)  # answers with documents, how many, citations, and votes
_NONE_OF_TWO = (0, 0.0, 0, 0.0)  # answers with two documents or more, and those that cite any of them
_COVERED = (0, 0.0, 0, 0.0)  # filled in where conversations are added up
_UNTOLD = (0, 0.0)  # languages of answers
_WHOLE = (3, 0.0)  # answers in several messages
_CLEAN = (*(3, 0.0) * 4,)  # answers with leftovers of a model, and those that ask something back, again, and only
_UNASKED = (0, 0.0, 0, 0.0)  # answers that ask in closing, of two kinds


def values(ndcg: float, clarified: float = 0.0, wasted: float = 0.5, seconds: float = 4.0) -> "array[float]":
    """Three answers, of which one is ranked; two follow-ups."""
    latency = 3 * SECONDS.fraction(seconds)
    cited, dangling, failed, applied = (3, 3.0), (3, 0.0), (3, 0.0), (3, 3.0)
    follow_ups, free = (2, 1.6), (2, 2.0 - clarified)
    seen = [*_RECORDED, *_UNRETRIEVED, *failed, *applied, *_NONE_OF_TWO, *_UNTOLD, *_WHOLE, *_CLEAN, *_UNASKED]
    return array("d", [1, ndcg, 1, wasted, *follow_ups, *free, *cited, *dangling, *_COVERED, *seen, 3, latency, 3])


def quality(*groups: tuple[str, float, int, str, float], seconds: float = 4.0) -> Quality:
    """Groups of (version, first, how many, outcome, nDCG); every conversation has two follow-ups of 0.8."""
    found = Quality(SCORERS)
    for version, first, count, outcome, ndcg in groups:
        for i in range(count):
            wobble, release = 0.1 * (i % 2), ("support", version)
            part = values(ndcg - wobble, float(i % 4 == 0), 0.5 + wobble, seconds * (1 + i % 3))
            found.add(
                ConversationScores(
                    release, outcome, first + i, first + i, first + i, False, 3, {release: part}, first + 60 * i
                )
            )
    return found


def test_outcomes_and_means_carry_n_and_an_interval() -> None:
    (row,) = quality(("v1", 0.0, 60, "resolved", 0.9), ("v1", 0.0, 20, "abandoned", 0.9)).rows(30)
    figures = row["figures"]
    assert (row["conversations"], figures["resolved"]["value"], figures["clarified"]["value"]) == (80, 0.75, 0.0)
    assert figures["resolved"]["low"] < 0.75 < figures["resolved"]["high"]
    assert (figures["nDCG@5"]["value"], figures["nDCG@5"]["n"]) == (0.85, 80)
    # One follow-up in eight asked to clarify.
    assert figures["clarification_free"]["value"] == 0.875


def test_beside_a_mean_stand_its_coverage_and_the_mean_of_conversation_means() -> None:
    found = Quality(SCORERS)
    for i in range(40):
        part = found.empty()
        long = i % 2 == 0
        part[-1] = 9 if long else 1
        part[0], part[1] = (9, 9.0) if long else (1, 0.0)
        found.add(ConversationScores(V1, "resolved", 0.0, 0.0, 0.0, False, int(part[-1]), {V1: part}, 0.0))
    (row,) = found.rows(30)
    ndcg = row["figures"]["nDCG@5"]
    assert (ndcg["value"], ndcg["mean_of_conversations"]["value"], ndcg["coverage"]) == (0.9, 0.5, 1.0)
    assert row["figures"]["coverage(follow_up)"]["value"] == 0.0
    assert row["answers_per_conversation"] == 5.0


def test_below_the_minimum_a_release_has_figures_and_is_not_compared() -> None:
    found = quality(("v1", 0.0, 12, "resolved", 0.9), ("v2", 1000.0, 50, "resolved", 0.4))
    few, many = found.rows(30)
    assert few["not_compared"] == "12 whole conversations of 30 needed"
    assert (few["figures"]["resolved"]["value"], few["figures"]["nDCG@5"]["n"]) == (1.0, 12)
    assert "not_compared" not in many
    assert found.comparisons(30, *PRIMARY) == []


def test_the_figures_of_one_conversation_say_how_little_is_known() -> None:
    (row,) = quality(("v1", 0.0, 1, "resolved", 0.5)).rows(30)
    ndcg = row["figures"]["nDCG@5"]
    assert (ndcg["value"], ndcg["n"]) == (0.5, 1)
    assert ndcg["high"] - ndcg["low"] > 0.95


def test_a_release_is_compared_with_the_one_before_it_in_time() -> None:
    found = quality(
        ("b", 1000.0, 50, "resolved", 0.4), ("a", 2000.0, 50, "resolved", 0.9), ("c", 0.0, 5, "resolved", 0.1)
    )
    (change,) = found.comparisons(30, *PRIMARY)
    assert (change["before"], change["after"], change["primary"]) == ("b", "a", "clarification_free")
    assert change["deltas"]["nDCG@5"]["value"] == 0.5
    assert change["deltas"]["nDCG@5"]["verdict"] == "better"
    assert change["deltas"]["nDCG@5"]["adjusted"] <= 0.05
    assert change["deltas"]["follow_up"]["verdict"] == "no difference shown"


@pytest.mark.parametrize("ahead", ["v1", "v2"])
def test_which_of_two_side_by_side_comes_first_decides_nothing(ahead: str) -> None:
    ndcg = {"v1": 0.4, "v2": 0.9}
    found = quality(*((version, 0.0 if version == ahead else 4.0, 50, "resolved", ndcg[version]) for version in ndcg))
    (change,) = found.comparisons(30, *PRIMARY)
    assert (change["before"], change["after"], change["baseline_by"]) == ("v1", "v2", "name")
    assert change["deltas"]["nDCG@5"]["verdict"] == "better"
    assert [row["version"] for row in found.rows(30)] == ["v1", "v2"]
    (change,) = found.comparisons(30, *PRIMARY, "v2")
    assert (change["before"], change["after"], "baseline_by" in change) == ("v2", "v1", False)


@pytest.mark.parametrize(("ahead", "dead"), [("v1", "v1"), ("v1", "v2"), ("v2", "v1"), ("v2", "v2")])
def test_a_release_that_answers_nobody_is_worse_than_the_one_beside_it(ahead: str, dead: str) -> None:
    healthy = "v2" if dead == "v1" else "v1"
    found = quality((healthy, 0.0 if ahead == healthy else 4.0, 50, "resolved", 0.9))
    for i in range(50):
        first = i + (0.0 if ahead == dead else 4.0)
        found.add(ConversationScores(("support", dead), "unanswered", first, first, first, False, 0, {}, math.inf))
    (change,) = found.comparisons(30, *PRIMARY)
    assert (change["before"], change["after"], change["side_by_side"]) == (healthy, dead, True)
    assert change["deltas"]["unanswered"]["verdict"] == "worse"


def test_a_primary_figure_of_too_few_is_said_to_be_missing() -> None:
    found = quality(("v1", 0.0, 50, "resolved", 0.4), ("v2", 2000.0, 50, "resolved", 0.9))
    assert found.comparisons(30, "nDCG@10", 0.01)[0]["primary"] is None


def test_more_of_what_should_be_low_is_worse() -> None:
    found = quality(
        ("v1", 0.0, 80, "resolved", 0.9), ("v2", 1000.0, 40, "resolved", 0.9), ("v2", 1000.0, 40, "abandoned", 0.9)
    )
    deltas = found.comparisons(30, *PRIMARY)[0]["deltas"]
    assert (deltas["abandoned"]["verdict"], deltas["resolved"]["verdict"]) == ("worse", "worse")


def test_twice_as_slow_to_answer_is_worse_and_told_as_a_ratio() -> None:
    found = quality(("v1", 0.0, 80, "resolved", 0.9))
    found.merge(quality(("v2", 1000.0, 80, "resolved", 0.9), seconds=8.0))
    delta = found.comparisons(30, *PRIMARY)[0]["deltas"]["answer_seconds"]
    assert (delta["value"], delta["unit"], delta["verdict"]) == (pytest.approx(1.0, abs=0.05), "ratio - 1", "worse")
    assert found.rows(30)[0]["figures"]["answer_seconds"]["value"] == pytest.approx(4.0 * 6 ** (1 / 3), rel=0.01)


def test_parts_merge_into_the_whole() -> None:
    one, other = ("v1", 0.0, 300, "resolved", 0.9), ("v2", 1000.0, 40, "clarified", 0.7)
    merged = quality(one)
    merged.merge(quality(other))
    assert merged.rows(30) == quality(one, other).rows(30)


def cut(*times: tuple[float, float, bool], idle: float = 1800.0) -> Quality:
    """Conversations as (first turn, last turn, first turn was an answer)."""
    found = Quality(SCORERS, idle)
    for first, last, headless in times:
        found.add(ConversationScores(V1, "resolved", first, last, last, headless, 3, {V1: values(0.5)}, first))
    return found


def test_conversations_that_the_recording_cuts_are_left_out_and_counted() -> None:
    whole = [(60.0 * i, 60.0 * i + 30, False) for i in range(40)]
    found = cut(*whole, (50_000.0, 50_200.0, False), (51_000.0, 51_900.0, False), (10.0, 20.0, True))
    found.finish()
    (row,) = found.rows(30)
    assert (row["conversations"], row["left_out"]) == (40, {"headless": 1, "young": 2})
    assert row["figures"]["nDCG@5"]["n"] == 40
    # Checks are reviewed over all of them.
    assert found.pooled("nDCG@5").n == 43


def test_an_answer_that_begins_a_conversation_later_is_a_greeting() -> None:
    found = cut((0.0, 30.0, False), (4000.0, 4030.0, True), (9000.0, 9030.0, False))
    found.finish()
    assert found.rows(2)[0]["left_out"] == {"young": 1}


def test_what_is_cut_does_not_depend_on_how_the_recording_is_divided() -> None:
    times = [(0.0, 30.0, False), (1000.0, 1200.0, True), (3000.0, 3100.0, False), (4000.0, 4100.0, False)]
    parts = cut(times[1])
    for one in (times[2], times[0], times[3]):
        parts.merge(cut(one))
    parts.finish()
    whole = cut(*times)
    whole.finish()
    assert parts.rows(2) == whole.rows(2)
    assert parts.rows(2)[0]["left_out"] == {"headless": 1, "young": 2}


def test_a_recording_of_whole_conversations_leaves_none_out() -> None:
    found = cut((0.0, 30.0, True), (10.0, 40.0, False), idle=0.0)
    found.finish()
    assert (found.rows(2)[0]["conversations"], found.rows(2)[0]["left_out"]) == (2, {})


def test_nothing_gives_nothing() -> None:
    assert Quality(SCORERS).rows(30) == [] == Quality(SCORERS).comparisons(30, *PRIMARY)
    assert Quality(SCORERS).pooled("follow_up").n == 0


def rollout(rng: np.random.Generator, count: int, hours: float = 2.0) -> Quality:
    """Conversations of about 20 minutes, all alike; half way, another release takes over, and so some of them.

    Every answer but the last is followed up, one follow-up in five asks to clarify, and some call that the outcome.
    """
    found = Quality(SCORERS, 1800.0)
    switch = hours * 1800
    for first in rng.uniform(0, hours * 3600, count):
        answers = 1 + int(rng.poisson(3))
        times = first + np.cumsum(rng.exponential(300, answers))
        asked = rng.random(answers - 1) < 0.2
        parts: dict[tuple[str, str], array[float]] = {}
        for number, time in enumerate(times.tolist()):
            part = parts.setdefault(("support", "v2" if time > switch else "v1"), found.empty())
            part[-1] += 1
            if number < answers - 1:  # of follow_up and clarification_free
                part[4:8] = array("d", [part[4] + 1, part[5] + 0.9, part[6] + 1, part[7] + 1 - asked[number]])
        last = float(times[-1])
        outcome = "clarified" if asked.any() else "resolved"
        found.add(
            ConversationScores(
                list(parts)[-1], outcome, float(first), last, last, False, answers, parts, float(times[0])
            )
        )
    found.add(
        ConversationScores(("else", "v1"), "resolved", 0.0, hours * 3600 + 9000, hours * 3600 + 9000, False, 0, {}, 0.0)
    )
    found.finish()
    return found


@pytest.mark.slow
def test_a_rollout_that_changes_nothing_is_not_named_though_long_conversations_go_on_into_it() -> None:
    rng = np.random.default_rng(1)
    named = 0
    for _ in range(30):
        (row,) = rollout(rng, 1500).comparisons(30, *PRIMARY)
        assert row["taken_over"] > 100
        named += any(delta["verdict"] in CHANGES for delta in row["deltas"].values())
    assert named <= 4  # before conversations stayed with the release that began them: 30


def test_a_conversation_that_a_release_took_over_is_shown_with_its_answers_and_compared_where_it_began() -> None:
    found = quality(("v1", 0.0, 40, "resolved", 0.9), ("v2", 1000.0, 40, "resolved", 0.9))
    went = ConversationScores(V2, "abandoned", 10.0, 1100.0, 1100.0, False, 6, {V1: values(0.5), V2: values(0.1)}, 10.0)
    found.add(went)
    found.finish()
    old, new = found.rows(30)
    assert (old["conversations"], new["conversations"], new["figures"]["nDCG@5"]["n"]) == (40, 41, 41)
    (change,) = found.comparisons(30, *PRIMARY)
    assert (change["taken_over"], change["deltas"]["abandoned"]["value"]) == (1, round(-1 / 41, 6))


def test_releases_that_answer_side_by_side_keep_their_answers() -> None:
    found = quality(("v1", 0.0, 40, "resolved", 0.9), ("v2", 5.0, 40, "resolved", 0.9))
    for i in range(40):
        parts = {V1: values(0.9), V2: values(0.1)} if i % 2 else {V2: values(0.1), V1: values(0.9)}
        found.add(ConversationScores(V2, "resolved", 10.0 + i, 100.0, 100.0, False, 6, parts, 10.0 + i))
    found.finish()
    (change,) = found.comparisons(30, *PRIMARY)
    assert ("taken_over" in change, change["deltas"]["nDCG@5"]["n"]) == (False, 80)


def test_where_every_conversation_goes_on_for_ever_a_release_is_compared_by_its_answers() -> None:
    found = quality(("v1", 0.0, 40, "resolved", 0.9))
    for i in range(40):
        wobble = 0.1 * (i % 2)
        parts = {V1: values(0.9 - wobble), V2: values(0.3 - wobble)}
        found.add(ConversationScores(V2, "resolved", 10.0 + i, 9000.0, 9000.0, False, 6, parts, 10.0 + i))
    found.finish()
    (change,) = found.comparisons(30, *PRIMARY)
    assert ("taken_over" in change, change["deltas"]["nDCG@5"]["verdict"]) == (False, "worse")


def busy(rng: np.random.Generator, count: int = 400, hours: int = 8) -> Quality:
    """Conversations of two releases, one after the other, whose answers take long when there is much to do."""
    load = [0.0]
    for _ in range(60 * hours):
        load.append(0.9 * load[-1] + float(rng.normal(0, 0.3)))
    found = Quality(SCORERS)
    for minute in sorted(rng.uniform(0, 60 * hours, count).tolist()):
        release = V1 if minute < 30 * hours else V2
        part = values(0.5, seconds=4 * math.exp(load[int(minute)] + float(rng.normal(0, 0.3))))
        found.add(
            ConversationScores(
                release, "resolved", 60 * minute, 60 * minute, 60 * minute, False, 3, {release: part}, 60 * minute
            )
        )
    return found


def test_a_busy_hour_is_not_a_slower_release() -> None:
    rng = np.random.default_rng(3)
    told = [busy(rng).comparisons(30, *PRIMARY)[0]["deltas"]["answer_seconds"] for _ in range(60)]
    assert sum(delta["verdict"] in CHANGES for delta in told) <= 3  # as if every conversation stood for itself: 22


def first_answers(*groups: tuple[str, int, int, str, float]) -> Quality:
    """Groups of (version, how many, characters of the first answer, platform, share of clarifications)."""
    found = Quality(SCORERS)
    for at, (version, count, length, platform, clarified) in enumerate(groups):
        for i in range(count):
            release, first = ("support", version), 10_000.0 * at + i
            part = values(0.9, float(i < clarified * count))
            known = (release, "resolved", first, first, first, False, 3, {release: part}, first)
            text = chr(1000 + i) * length  # another one in each conversation
            found.add(ConversationScores(*known, first_answer=first_answer(platform, text)))
    found.finish()
    return found


def compared(found: Quality) -> dict[str, dict[str, object]]:
    (row,) = found.comparisons(30, *PRIMARY)
    deltas: dict[str, dict[str, object]] = row["deltas"]
    return deltas


def test_nothing_is_called_better_where_many_first_answers_became_short() -> None:
    as_long = first_answers(("v1", 200, 300, "web", 0.5), ("v2", 200, 260, "web", 0.1))
    assert compared(as_long)["clarification_free"]["verdict"] == BETTER
    short = first_answers(("v1", 200, 300, "web", 0.5), ("v2", 140, 300, "web", 0.1), ("v2", 60, 40, "web", 0.1))
    deltas = compared(short)
    assert deltas["short_first_answers"]["value"] == pytest.approx(0.3)
    assert deltas["clarification_free"]["verdict"] == CHANGED
    assert deltas["clarification_free"]["why"] == "not called better: short_first_answers rose"


def test_nothing_is_called_better_beside_other_shares_of_platforms_and_what_is_worse_says_so() -> None:
    moved = (("v1", 120, 300, "slack"), ("v1", 80, 300, "web"), ("v2", 40, 300, "slack"), ("v2", 160, 300, "web"))
    why = "slack has 20% of the conversations, 60% before"
    better = compared(first_answers(*((*group, 0.5 if group[0] == "v1" else 0.1) for group in moved)))
    assert better["clarification_free"]["verdict"] == CHANGED
    assert better["clarification_free"]["why"] == f"not called better: {why}"
    worse = compared(first_answers(*((*group, 0.1 if group[0] == "v1" else 0.5) for group in moved)))
    assert worse["clarification_free"]["verdict"] == WORSE
    assert worse["clarification_free"]["why"] == f"within platforms, too; {why}"


def test_what_differs_between_platforms_only_is_not_called_worse_when_traffic_moves() -> None:
    """Slack has 30 % of clarifications, web 5 %, in both releases."""
    moved = first_answers(
        ("v1", 40, 300, "slack", 0.3),
        ("v1", 160, 300, "web", 0.05),
        ("v2", 160, 300, "slack", 0.3),
        ("v2", 40, 300, "web", 0.05),
    )
    deltas = compared(moved)
    free = deltas["clarification_free"]
    assert free["value"] == pytest.approx(-0.075)  # of two follow-ups each
    assert (free["verdict"], free["within_platforms"]["value"]) == (SAME, 0.0)
    assert free["why"] == "within platforms; slack has 80% of the conversations, 20% before"


def test_what_is_worse_in_each_of_many_languages_is_worse_although_one_of_them_grew() -> None:
    codes = ["en", "de", "fr", "es", "it", "pt", "nl", "sv", "da", "fi", "no", "pl", "cs", "sk", "hu", "ro", "bg", "el"]
    found = Quality(SCORERS)
    for at, (version, clarified) in enumerate((("v1", 0.1), ("v2", 0.6))):
        for code in codes:
            count = 400 if (version, code) == ("v2", "en") else 60
            for i in range(count):
                release, first = ("support", version), 10_000.0 * at + i
                part = values(0.9, float(i < clarified * count))
                known = (release, "resolved", first, first, first, False, 3, {release: part}, first)
                opening = first_answer("web", f"{code} {version} {i}" * 40)
                found.add(ConversationScores(*known, first_answer=opening, language=code))
    found.finish()
    free = compared(found)["clarification_free"]
    assert (free["verdict"], "within languages, too" in str(free["why"])) == (WORSE, True)


@pytest.mark.parametrize(
    ("names", "verdict", "why"), [(8, WORSE, "within platforms, too"), (100, CHANGED, "too few on both sides to tell")]
)
def test_platforms_that_strangers_make_up_hide_nothing(names: int, verdict: str, why: str) -> None:
    """Of each side, 1,000 conversations are on real platforms; a few on each of the others went well on both."""
    strangers = [(version, 12, 300, f"!{n:03}", 0.05) for n in range(names) for version in ("v1", "v2")]
    moved = [("v1", 500, 300, "web", 0.1), ("v1", 500, 300, "ios", 0.1)]
    moved += [("v2", 900, 300, "web", 0.6), ("v2", 100, 300, "ios", 0.6)]
    free = compared(first_answers(*moved, *strangers))["clarification_free"]
    assert free["verdict"] == verdict
    assert why in str(free["why"])
    assert free.get("untold", False) is (verdict == CHANGED), "a build that asks whether it is worse ends with 4"


def test_traffic_that_moves_among_platforms_that_count_together_makes_no_release_worse() -> None:
    """On each platform users clarify as often as before: zz and yy come behind the 64 that are kept apart."""
    kept = [(version, 10, 300, f"a{n:02}", 0.1) for n in range(64) for version in ("v1", "v2")]
    moved = [("v1", 40, 300, "zz", 0.7), ("v1", 360, 300, "yy", 0.05)]
    moved += [("v2", 360, 300, "zz", 0.7), ("v2", 40, 300, "yy", 0.05)]
    free = compared(first_answers(*kept, *moved))["clarification_free"]
    assert (free["verdict"], free["untold"]) == (CHANGED, True)


def test_what_became_worse_on_all_platforms_that_are_kept_apart_is_worse_whatever_moves_among_the_others() -> None:
    kept = [(version, 20, 300, f"a{n:02}", bad) for n in range(64) for version, bad in (("v1", 0.1), ("v2", 0.5))]
    moved = [("v1", 200, 300, "yy", 0.1), ("v2", 200, 300, "zz", 0.5)]
    free = compared(first_answers(*kept, *moved))["clarification_free"]
    assert (free["verdict"], "within platforms, too" in str(free["why"])) == (WORSE, True)


def test_a_platform_that_is_called_as_what_counts_together_is_one_like_any_other() -> None:
    named = [(version, 60, 300, OTHER_PLATFORMS, bad) for version, bad in (("v1", 0.1), ("v2", 0.6))]
    unnamed = [(version, 60, 300, "", bad) for version, bad in (("v1", 0.1), ("v2", 0.6))]
    assert compared(first_answers(*named, *unnamed))["clarification_free"]["verdict"] == WORSE
    beside = [(version, 60, 300, "web", bad) for version, bad in (("v1", 0.1), ("v2", 0.6))]
    free = compared(first_answers(*named[:1], *beside, *unnamed[1:]))["clarification_free"]
    assert free["verdict"] == WORSE


def test_what_became_worse_within_platforms_is_named_though_the_mean_hides_it() -> None:
    hidden = first_answers(
        ("v1", 160, 300, "slack", 0.5),
        ("v1", 40, 300, "web", 0.1),
        ("v2", 40, 300, "slack", 0.9),
        ("v2", 160, 300, "web", 0.4),
    )
    free = compared(hidden)["clarification_free"]
    assert free["value"] == pytest.approx(-0.04)
    assert free["verdict"] == WORSE
    assert free["within_platforms"]["value"] == pytest.approx(-0.175, abs=0.01)


def test_where_all_traffic_moved_nobody_can_tell_the_release_from_the_platform() -> None:
    free = compared(first_answers(("v1", 200, 300, "web", 0.05), ("v2", 200, 300, "slack", 0.4)))["clarification_free"]
    assert free["verdict"] == CHANGED
    assert free["why"].endswith("too few on both sides to tell the release from that")


@pytest.mark.parametrize("users", [0, 25])
@pytest.mark.parametrize(("many", "fewer"), [(6, 4), (5, 4), (10, 9), (20, 19), (2, 1)])
def test_a_document_fewer_in_every_answer_is_no_chance(many: int, fewer: int, users: int) -> None:
    found = Quality(("nDCG@5",))
    place = 2 * found.figures.index("documents")
    for version, first, documents, ndcg in (("v1", 0.0, many, 0.5), ("v2", 1000.0, fewer, 0.9)):
        for i in range(100 if users else 30):
            part = found.empty()
            part[0], part[1], part[-1] = 1, ndcg - 0.05 * (i % 2), 1
            part[place], part[place + 1] = 1, DOCUMENTS_GIVEN.fraction(documents)
            at = first + i
            went = ConversationScores(
                ("support", version), "resolved", at, at, at, False, 1, {("support", version): part}, at
            )
            user = 1000 * (version == "v2") + i % users if users else None
            found.add(went._replace(user=user))
    found.finish()
    deltas = compared(found)
    assert (deltas["documents"]["p"] < 1e-3, deltas["documents"]["value"]) == (
        True,
        pytest.approx(fewer / many - 1, abs=1e-3),
    )
    assert deltas["nDCG@5"]["why"] == "not called better: beside fewer documents per answer"
