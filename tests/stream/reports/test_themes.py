"""Themes: the sentence says which way the figure moved, the claim whether that is worse, better or neither."""

from collections.abc import Iterator
from typing import Any

import pytest

from turnsignal.stream.reports.findings import Finding, find
from turnsignal.stream.reports.themes import OTHER, RANKING, THEMES, Theme
from turnsignal.stream.statistics.directions import CHANGED, DIRECTIONS, HIGH, family


def delta(value: float, verdict: str, **given: Any) -> dict[str, Any]:
    return {"value": value, "low": value - 0.1, "high": value + 0.1, "n": 50, "verdict": verdict, **given}


def findings(*comparisons: dict[str, Any], least_change: float = 0.01) -> list[Finding]:
    """Return what is found where the release v3 of each assistant, a, b and so on, differs so from v2."""
    rows = [
        {"assistant": chr(ord("a") + at), "before": "v2", "after": "v3", "deltas": deltas}
        for at, deltas in enumerate(comparisons)
    ]
    quality = [{"assistant": "a", "version": version, "conversations": 50} for version in ("v2", "v3")]
    empty: dict[str, Any] = {"quality": quality, "review": [], "diagnosis": [], "scores": []}
    return find({**empty, "comparisons": rows, "suite": {"least_change": least_change}})


def sentences(*comparisons: dict[str, Any], **given: Any) -> list[str]:
    return [finding.sentence for finding in findings(*comparisons, **given)]


def figures(theme: Theme) -> tuple[str, ...]:
    return theme.figures or {RANKING: ("nDCG@5",), OTHER: ("coverage(follow_up)", "checks_applied")}[theme]


def possible(figure: str) -> Iterator[tuple[float, str]]:
    """Give every way in which a figure moves, with every claim that there is of it: its own, or that taken back."""
    for value, claim in zip((0.2, -0.2), DIRECTIONS.get(family(figure), HIGH), strict=True):
        yield from ((value, each) for each in {claim, CHANGED})


@pytest.mark.parametrize("theme", [*THEMES, OTHER], ids=lambda theme: theme.rises)
def test_every_sentence_of_a_theme_is_said_of_some_change(theme: Theme) -> None:
    moves = [(figure, *move) for figure in figures(theme) for move in possible(figure)]
    told = {sentences({figure: delta(value, claim)})[0] for figure, value, claim in moves}
    for phrase in (theme.rises, theme.falls, *(theme.unjudged or ())):
        assert any(sentence.startswith(f"v3 {phrase} (a): ") for sentence in told), phrase
    assert all(theme.rests_on in sentence for sentence in told if "better" in sentence.split(": ")[0])


@pytest.mark.parametrize("theme", [*THEMES, OTHER], ids=lambda theme: theme.rises)
def test_a_rise_and_a_fall_are_never_told_alike_whatever_is_claimed(theme: Theme) -> None:
    for figure in figures(theme):
        told = {value: set[str]() for value in (0.2, -0.2)}
        for value, claim in possible(figure):
            told[value].add(sentences({figure: delta(value, claim)})[0].split(" (a): ")[0])
        assert told[0.2].isdisjoint(told[-0.2])
        assert theme.unjudged is not None or {len(phrases) for phrases in told.values()} == {1}


@pytest.mark.parametrize(
    ("figure", "value", "phrase"),
    [
        ("answers_with_documents", 0.21, "finds documents more often"),
        ("answers_with_documents", -0.21, "finds documents less often"),
        ("silent", -0.1, "leaves fewer users silent"),
        ("silent", 0.1, "leaves more users silent"),
        ("answer_seconds", -0.3, "answers faster"),
        ("answer_seconds", 0.3, "answers more slowly"),
        ("cited", 0.2, "cites documents more often"),
        ("cited", -0.2, "cites documents less often"),
        ("documents", -0.4, "passes fewer documents"),
        ("documents", 0.4, "passes more documents"),
        ("citations_per_answer", 0.4, "cites more documents in an answer"),
        ("cites_all_documents", -0.4, "cites all of its documents less often"),
        ("same_first_answers", -0.4, "begins less often with short answers, or with the same to many"),
        ("asks_back", -0.4, "asks something back less often, before it answers"),
        ("answers_in_parts", -0.4, "answers less often in several messages"),
        ("same_language", -0.2, "answers more often in another language than the question's"),
        ("answers_with_leftovers", -0.2, "shows users fewer tags of the model, or variables that nobody filled in"),
        ("wasted_context", 0.2, "cites less of what it retrieves"),
        ("dangling", -0.2, "invents fewer citations"),
        ("vote", -0.2, "gets fewer thumbs up"),
        ("failed", -0.2, "fails to answer less often"),
        ("compliance", 0.2, "keeps instructions more often"),
        ("nDCG@5", 0.2, "scores higher on retrieval"),
        ("nDCG@5", -0.2, "scores lower on retrieval"),
        ("resolved", -0.2, "is met with good follow-ups less often"),
        ("abandoned", 0.2, "is met with good follow-ups less often"),
        ("abandoned", -0.2, "is met with good follow-ups more often"),
        ("clarified", 0.2, "has more conversations that go on after a clarification"),
        ("coverage(follow_up)", -0.2, "leaves less to score"),
    ],
)
def test_what_is_merely_changed_says_which_way_and_why_it_is_not_called_more(
    figure: str, value: float, phrase: str
) -> None:
    (finding,) = findings({figure: delta(value, "changed", why="not called better: vote fell by 0.05")})
    assert finding.change == "changed"
    assert finding.sentence.startswith(f"v3 {phrase} (a): {figure} ")
    assert finding.sentence.endswith("), not called better: vote fell by 0.05")


def test_what_rises_in_one_assistant_and_falls_in_another_is_told_of_each() -> None:
    more, less = ({"answers_with_documents": delta(value, "changed")} for value in (0.3, -0.2))
    assert sentences(more, less, more) == [
        "v3 finds documents more often in a and c (of 3 assistants): answers_with_documents +0.30",
        "v3 finds documents less often in b (of 3 assistants): answers_with_documents −0.20 (−0.30 to −0.10)",
    ]


def test_what_is_said_of_one_assistant_leaves_nothing_out_of_another() -> None:
    worse, changed = {"unanswered": delta(0.2, "worse")}, {"failed": delta(0.2, "changed")}
    assert [sentence.split(":")[0] for sentence in sentences(worse, changed)] == [
        "v3 fails to answer more often in a (of 2 assistants)",
        "v3 fails to answer more often in b (of 2 assistants)",
    ]
    assert len(sentences(worse | changed)) == 1
    scored = {"coverage(follow_up)": delta(0.2, "changed")}
    assert any(sentence.startswith("v3 leaves more to score in b") for sentence in sentences(worse, scored))


def test_figures_of_one_theme_that_move_apart_are_told_apart_and_those_that_agree_together() -> None:
    apart = {"resolved": delta(0.2, "changed"), "follow_up": delta(-0.1, "changed")}
    more, less = sentences(apart)
    assert more.startswith("v3 is met with good follow-ups more often (a): resolved +0.20")
    assert less.startswith("v3 is met with good follow-ups less often (a): follow_up −0.10")
    (finding,) = findings({"resolved": delta(-0.1, "worse"), "abandoned": delta(0.2, "worse")})
    assert finding.sentence.startswith("v3 helps its users less (a): resolved −0.10")
    assert [entry["figure"] for entry in finding.evidence] == ["resolved", "abandoned"]


def test_documents_that_nobody_cites_join_a_ranking_only_where_both_point_to_one_side() -> None:
    wasted = {"wasted_context": delta(0.2, "changed")}
    (joined,) = sentences({"nDCG@5": delta(-0.1, "changed"), **wasted})
    assert joined.startswith("v3 scores lower on retrieval (a): nDCG@5 −0.10")
    said = sentences({"nDCG@5": delta(0.1, "changed"), **wasted})
    assert [sentence.split(" (a)")[0] for sentence in said] == [
        "v3 cites less of what it retrieves",
        "v3 scores higher on retrieval",
    ]


@pytest.mark.parametrize(
    ("within", "sentence"),
    [
        ({"value": -0.1, "p": 0.01}, "v3 finds documents less often (a): answers_with_documents −0.10"),
        ({"value": -0.1, "p": 0.6}, "v3 finds documents more often (a): answers_with_documents +0.20"),
    ],
)
def test_the_sentence_is_of_the_difference_that_the_claim_rests_on(within: dict[str, Any], sentence: str) -> None:
    moved = delta(0.2, "changed", within_languages=within | {"low": -0.2, "high": 0.0})
    assert sentences({"answers_with_documents": moved})[0].startswith(sentence)


def test_that_more_can_be_scored_is_told_only_where_nothing_else_changed() -> None:
    more = {"coverage(follow_up)": delta(0.2, "changed")}
    assert sentences(more) == ["v3 leaves more to score (a): coverage(follow_up) +0.20 (+0.10 to +0.30)"]
    (alone,) = sentences({**more, "silent": delta(-0.2, "changed")})
    assert alone.startswith("v3 leaves fewer users silent")


def test_clarifications_that_went_on_are_told_only_where_users_say_nothing_else() -> None:
    (alone,) = sentences({"clarified": delta(0.2, "changed"), "abandoned": delta(-0.1, "better")})
    assert alone.startswith("v3 helps its users more (a): abandoned −0.10")


@pytest.mark.parametrize(("least_change", "first"), [(0.01, "resolved"), (0.1, "cites_all_documents")])
def test_what_is_told_first_moved_most_by_what_the_suite_calls_worth_naming(least_change: float, first: str) -> None:
    deltas = {"resolved": delta(0.11, "changed"), "cites_all_documents": delta(0.06, "changed")}
    assert f": {first} +" in sentences(deltas, least_change=least_change)[0]
