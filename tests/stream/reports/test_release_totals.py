"""Totals of a release are the same in whatever order conversations come, and in however many parts."""

import random
from array import array

import numpy as np
import pytest

from turnsignal.stream.reports.first_answers import first_answer
from turnsignal.stream.reports.release_totals import (
    MOMENTS,
    OTHER_PLATFORMS,
    ConversationScores,
    ReleaseTotals,
    parts_of_both,
)
from turnsignal.stream.reports.user_sums import digest

V1 = ("support", "v1")


def went(outcome: str, language: str = "", user: str | None = None) -> ConversationScores:
    known = (V1, outcome, 0.0, 0.0, 0.0, False, 1, {V1: array("d", [1, 1.0, 1])}, 0.0, 2)
    return ConversationScores(*known, first_answer("web", "Hello."), language, None if user is None else digest(user))


def totals_of(seen: list[tuple[str, str]]) -> ReleaseTotals:
    totals = ReleaseTotals(0.0, np.zeros((1, MOMENTS)))
    for platform, language in seen:
        totals.count(went("resolved"))
        totals.stratum(platform, language).count(went("resolved"))
    return totals


def told(totals: ReleaseTotals, *, platform: bool = False, language: bool = False) -> dict[str, int]:
    parts = totals.by(platform=platform, language=language)
    return {name or other: part.outcomes.total() for (name, other), part in parts.items()}


def test_of_very_many_platforms_the_same_ones_are_told_apart_whatever_the_order_and_the_number_of_parts() -> None:
    seen = [(f"p{number:02}", "en") for number in range(70) for _ in range(number % 4 + 1)]
    expected = {f"p{number:02}": number % 4 + 1 for number in range(64)} | {OTHER_PLATFORMS: 1 + 2 + 3 + 4 + 1 + 2}
    for seed in range(20):
        random.Random(seed).shuffle(seen)
        assert told(totals_of(seen), platform=True) == expected
        whole = totals_of(seen[:70])
        whole.merge(totals_of(seen[70:]))
        assert told(whole, platform=True) == expected
        assert whole.placed


def test_platforms_that_one_of_two_releases_does_not_keep_apart_are_among_the_others_of_both() -> None:
    few = totals_of([("web", "en"), ("ios", "en"), ("ios", "en")])
    many = totals_of([("web", "en"), ("web", "en"), *((f"j{number:02}", "en") for number in range(64))])
    for before, after in ((few, many), (many, few)):
        parts = parts_of_both(before, after, platform=True, language=False)
        found = {name: sorted(of.outcomes.total() for of in sides) for (name, _), sides in parts.items()}
        assert found == {OTHER_PLATFORMS: [1, 2]}
    two = totals_of([("web", "en"), ("fax", "en")])
    assert [name for name, _ in parts_of_both(few, two, platform=True, language=False)] == ["web"]


def test_of_many_languages_those_that_rules_read_are_kept_and_others_count_as_not_told() -> None:
    codes = ["en", "nl", "sv", "fi", "ja", "ko", "tr", "de", "pl", "cs", "ru"]
    seen = [(f"p{at % 3}", code) for at, code in enumerate(codes * 5)] + [("p9", "ar")] * 3
    expected = {"en": 5, "nl": 5, "de": 5, "ar": 3, "cs": 5, "fi": 5, "ja": 5, "ko": 5}
    for seed in range(20):
        random.Random(seed).shuffle(seen)
        whole = totals_of(seen[:20])
        whole.merge(totals_of(seen[20:]))
        for totals in (totals_of(seen), whole):
            assert told(totals, language=True) == expected
            assert sum(told(totals, platform=True).values()) == len(seen), "no conversation is lost to its platform"


def test_parts_by_platform_and_language_leave_out_what_is_not_known() -> None:
    totals = totals_of([("web", "en"), ("web", ""), ("", "en"), ("slack", "de")])
    both = totals.by(platform=True, language=True)
    assert {name: part.outcomes.total() for name, part in both.items()} == {("slack", "de"): 1, ("web", "en"): 1}
    assert (told(totals, platform=True), told(totals, language=True)) == ({"slack": 1, "web": 2}, {"de": 1, "en": 2})


def test_conversations_in_a_language_that_rules_do_not_read_are_known_apart() -> None:
    totals = ReleaseTotals(0.0, np.zeros((1, MOMENTS)))
    for one in (went("silent", "sv"), went("silent", "en"), went("unanswered", "sv", "u1"), went("silent", "sv", "u1")):
        totals.count(one)
    assert (totals.outcomes["silent"], totals.unread["silent"], totals.unread.total()) == (3, 2, 3)
    silent, unanswered = totals.users.columns(totals.outcome("silent"), totals.outcome("unanswered")).columns
    assert (silent.tolist(), unanswered.tolist()) == ([0.0], [1.0])


@pytest.mark.parametrize("named", [0, 150, 300])
def test_conversations_with_and_without_a_user_are_summed_up_apart(named: int) -> None:
    totals = ReleaseTotals(0.0, np.zeros((1, MOMENTS)))
    for number in range(300):
        user = digest(f"u{number % 50}") if number < named else None
        totals.update(array("d", [2, float(number % 3), 3]), 0.0, user)
    assert (totals.sums(0).n, totals.sums_alone(0).n, totals.scored_alone(0).n) == (300, 300 - named, 300 - named)
    turns, values, answers = totals.users.columns(0, 1, 2).columns
    alone = totals.sums_alone(0)
    assert turns.sum() + alone.turns == totals.sums(0).turns == 600
    assert values.sum() + alone.total == totals.sums(0).total
    assert (len(turns), answers.sum()) == (min(50, named), 3 * named)
