"""Headlines: what changed, in a sentence with the figures that it rests on, and nothing more than was shown."""

import pytest

from tests.agents.demo.rows import follow_up, response
from turnsignal.agents.demo.headlines import headlines
from turnsignal.agents.demo.live_comparison import ReleaseChange
from turnsignal.agents.demo.live_statistics import LiveStatistics
from turnsignal.stream.suite import parse_suite

SINCE = 1_767_276_120.0  #: 2026-01-01 14:02 UTC


def statistics(*findings: ReleaseChange) -> LiveStatistics:
    known = LiveStatistics(parse_suite(""))
    for assistant in ("support", "billing"):
        for version, ndcg, value in (("v1", 0.81, 0.8), ("v2", 0.24, 0.6)):
            known.on_row(response(version, ndcg, assistant=assistant, conversation_id=assistant + version))
            known.on_row(follow_up(assistant + version, version, value, "x", assistant=assistant))
    known.findings = list(findings)
    return known


def finding(assistant: str, **verdicts: str) -> ReleaseChange:
    named = {name.replace("nDCG", "nDCG@5"): verdict for name, verdict in verdicts.items()}
    return ReleaseChange(assistant, "v1", "v2", SINCE, 40, named)


def test_a_release_that_answers_worse_is_named_with_the_time_and_the_figures() -> None:
    (headline,) = headlines(statistics(finding("support", nDCG="worse", follow_up="worse")), SINCE + 60)
    assert headline.sentence == "v2 of support answers worse since 14:02 UTC (event time)"
    assert headline.figures == ("nDCG@5 0.81 → 0.24", "follow-up 0.80 → 0.60")
    assert headline.change == "worse"


def test_what_holds_for_several_assistants_is_told_once() -> None:
    found = (finding("support", nDCG="worse"), finding("billing", nDCG="worse"))
    (headline,) = headlines(statistics(*found), SINCE + 60)
    assert headline.sentence == "v2 of support and billing retrieves worse since 14:02 UTC (event time)"
    assert headline.figures == ("nDCG@5 0.81 → 0.24",)


def test_the_worst_news_comes_first() -> None:
    found = (finding("billing", follow_up="changed"), finding("support", compliance="worse"))
    assert [headline.change for headline in headlines(statistics(*found), SINCE)] == ["worse", "changed"]


def test_a_time_of_another_day_has_its_date() -> None:
    (headline,) = headlines(statistics(finding("support", follow_up="changed")), SINCE + 90_000)
    assert headline.sentence == "v2 of support changed since 2026-01-01 14:02 UTC (event time)"


@pytest.mark.parametrize(
    ("known", "sentence"),
    [
        (LiveStatistics(parse_suite("")), "No scores yet"),
        (statistics(), "Nothing to compare yet: that takes a release after another, of 30 conversations each"),
        (
            statistics(finding("support"), finding("billing")),
            "Nothing shown to have changed: v2 against v1 (billing and support)",
        ),
    ],
)
def test_where_nothing_is_shown_it_says_so(known: LiveStatistics, sentence: str) -> None:
    (headline,) = headlines(known, SINCE)
    assert (headline.sentence, headline.figures) == (sentence, ())


def test_a_release_that_is_not_compared_yet_is_not_passed_over() -> None:
    known = statistics(finding("support"))
    known.on_row(response("v3", 0.1))
    (headline,) = headlines(known, SINCE)
    assert headline.sentence.endswith("v2 against v1 (support). Too early to tell: v3")


def test_a_figure_that_has_no_column_is_named_without_numbers() -> None:
    known = statistics()
    known.findings = [ReleaseChange("support", "v1", "v2", SINCE, 40, {"table.cells": "worse"})]
    (headline,) = headlines(known, SINCE)
    assert (headline.sentence, headline.figures) == (
        "v2 of support answers worse since 14:02 UTC (event time)",
        ("table.cells",),
    )
