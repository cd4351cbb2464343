"""Findings: one sentence for what several assistants and scorers say alike, and only for what is named."""

from typing import Any

import pytest

from turnsignal.stream.reports.findings import find
from turnsignal.stream.reports.themes import THEMES
from turnsignal.stream.reports.unscored import unscored
from turnsignal.stream.statistics.directions import DIRECTIONS, OUTCOMES, UNANSWERED_OF_ALL

INSIDE = {"value": -0.1, "low": -0.15, "high": -0.05, "p": 0.01}


def delta(value: float, verdict: str = "worse", **given: Any) -> dict[str, Any]:
    return {"value": value, "low": value - 0.1, "high": value + 0.1, "n": 50, "verdict": verdict, **given}


OR_CITES = ", or cites the wrong ones of what it retrieves"


def compared(assistant: str, before: str | None = "v2", after: str | None = "v3", **deltas: Any) -> dict[str, Any]:
    return {"assistant": assistant, "before": before, "after": after, "deltas": deltas}


def summary(*comparisons: dict[str, Any], **sections: Any) -> dict[str, Any]:
    quality = [{"assistant": "a", "version": version, "conversations": 50} for version in ("v2", "v3")]
    empty: dict[str, Any] = {"quality": quality, "review": [], "diagnosis": [], "scores": []}
    empty["suite"] = {"least_change": 0.01}
    return {**empty, "comparisons": list(comparisons), **sections}


def sentences(*comparisons: dict[str, Any], **sections: Any) -> list[str]:
    return [found.sentence for found in find(summary(*comparisons, **sections))]


def test_what_all_assistants_and_several_measures_say_is_one_sentence() -> None:
    both = {"nDCG@5": delta(-0.55), "RR": delta(-0.3), "wasted_context": delta(0.2), "coverage(nDCG@5)": delta(0.1)}
    rows = [compared(name, **both) for name in ("billing", "search")]
    rows.append(compared("support", **{"nDCG@5": delta(-0.58), "follow_up": delta(0.0, "no difference shown")}))
    (found,) = [one for one in find(summary(*rows)) if "retrieves" in one.sentence]
    assert found.sentence == "v3 retrieves worse in all three assistants: nDCG@5 −0.55 to −0.58" + OR_CITES
    assert [row["assistant"] for row in found.evidence if row["figure"] == "nDCG@5"] == ["billing", "search", "support"]


@pytest.mark.parametrize(
    ("by", "why"), [("conversations", "with more conversations that"), ("name", "the first by its")]
)
def test_which_of_two_side_by_side_is_the_baseline_is_said_once(by: str, why: str) -> None:
    rows = [compared(name, **{"nDCG@5": delta(-0.5)}) | {"baseline_by": by} for name in ("billing", "search")]
    (said,) = [sentence for sentence in sentences(*rows) if "baseline" in sentence]
    assert said.startswith(f"v2 and v3 answer side by side: v2, {why}")
    assert said.endswith("is the baseline; --baseline names another")


def test_where_only_some_assistants_changed_they_are_named() -> None:
    same = delta(0.0, "no difference shown")
    rows = [compared("billing", **{"nDCG@5": delta(-0.5)}), compared("search", **{"nDCG@5": same})]
    (found,) = sentences(*rows)
    assert found == "v3 retrieves worse in billing (of 2 assistants): nDCG@5 −0.50 (−0.60 to −0.40)" + OR_CITES


@pytest.mark.parametrize(
    ("figure", "change", "sentence"),
    [
        ("failed", delta(0.4), "v3 fails to answer more often (a): failed +0.40 (+0.30 to +0.50)"),
        ("clarification_free", delta(-0.2), "v3 helps its users less (a): clarification_free −0.20 (−0.30 to −0.10)"),
        (
            "same_documents",
            delta(0.9, "changed"),
            "v3 retrieves the same few documents more often, whatever is asked (a): ",
        ),
        ("same_documents", delta(-0.9, "changed"), "v3 retrieves the same few documents less often, whatever is asked"),
        ("same_first_answers", delta(-0.4, "changed"), "v3 begins less often with short answers, or with the same to"),
        ("citations_per_answer", delta(2.0, "changed", unit="ratio - 1"), "v3 cites more documents in an answer (a): "),
        ("dangling", delta(-0.2, "better"), "v3 invents fewer citations (a): dangling −0.20 (−0.30 to −0.10)"),
        ("answer_seconds", delta(1.0, unit="ratio - 1"), "v3 answers more slowly (a): answer_seconds +100% (+90% to"),
        (
            "compliance",
            delta(0.2, "changed", why="not called better: cited fell"),
            "v3 keeps instructions more often (a): ",
        ),
        ("table.cells", delta(-0.2), "v3 breaks instructions more often (a): table.cells −0.20"),
    ],
)
def test_each_kind_of_change_has_words_of_its_own(figure: str, change: dict[str, Any], sentence: str) -> None:
    (found,) = sentences(compared("a", **{figure: change}), review=[{"check": "table.cells", "fails": 0}])
    assert found.startswith(sentence)
    assert found.endswith("not called better: cited fell") is ("why" in change)


def test_users_who_may_only_thank_less_are_not_said_to_be_helped_less() -> None:
    why = "users thank less or leave: this cannot tell which"
    (found,) = sentences(compared("a", resolved=delta(-0.2, why=why)))
    assert found == f"v3 is met with good follow-ups less often (a): resolved −0.20 (−0.30 to −0.10), {why}"


def test_every_figure_with_a_direction_has_a_topic_of_its_own() -> None:
    named = {figure for theme in THEMES for figure in theme.figures}
    assert {*OUTCOMES, *DIRECTIONS, UNANSWERED_OF_ALL} - named == {"uncited", "checks_applied", "coverage"}


def test_the_gravest_comes_first_and_the_same_thing_is_not_said_twice() -> None:
    deltas = {"nDCG@5": delta(0.3, "better"), "follow_up": delta(-0.2), "resolved": delta(-0.1, "changed")}
    silence = {"assistant": "b", "since": 1_750_000_000.0, "until": None, "conversations": 1_500}
    found = find(summary(compared("a", **deltas), silences=[silence]))
    assert [one.change for one in found] == ["worse", "worse", "better"]
    assert found[0].sentence.startswith("nobody answers in b since 2025-06-15T15:06:40+00:00: 1,500 conversations")


def test_releases_that_are_too_small_to_compare_are_named_and_one_release_is_no_news() -> None:
    few = {"assistant": "a", "version": "v1", "conversations": 6, "not_compared": "6 whole conversations of 30 needed"}
    quality = [few | {"left_out": {}}, {"assistant": "a", "version": "v2", "conversations": 50, "left_out": {}}]
    said = "releases are not compared: v1 has 6 whole conversations of 30 needed"
    assert sentences(quality=quality) == [said]
    quality[0]["left_out"] = {"young": 1_200, "headless": 4, "other_environment": 9}
    assert sentences(quality=quality) == [
        f"{said}; the recording begins or ends within 1,204 others (if all are whole: replay --whole-conversations)"
    ]
    assert sentences(quality=quality[:1]) == []
    same = compared("a", **{"nDCG@5": delta(0.0, "no difference shown"), "RR": delta(0.0, "no difference shown")})
    assert sentences(same) == ["no change shown from one release to the next in 2 figures"]
    (sentence,) = sentences(same | {"primary": "RR"})
    assert sentence.endswith("; with so many conversations, one of RR by less than 0.16 would hardly be seen")


def test_an_assistant_that_was_renamed_with_its_release_is_said_to_be_another_one() -> None:
    rows = [
        {"assistant": name, "version": version, "conversations": 60} for name, version in (("a", "v1"), ("b", "v2"))
    ]
    said = sentences(quality=rows)
    assert "releases are not compared: each assistant has one (a v1 and b v2); was one renamed?" in said


def test_without_a_release_to_name_it_says_how_users_fared() -> None:
    scores = [
        {"scorer": "clarification_free", "n": 30, "mean": 0.8},
        {"scorer": "clarification_free", "n": 10, "mean": 0.4},
        {"scorer": "follow_up", "n": 28, "mean": 0.5, "unscored": {"no_signal": 12, "gap": 3}},
    ]
    outcomes = [{"outcome": "unanswered", "n": 2}, {"outcome": "resolved", "n": 18}, {"outcome": "cut", "n": 9}]
    found = sentences(quality=[], scores=scores, outcomes=outcomes)
    said = "users had to clarify in 30% of 40 follow-ups in languages that are read"
    assert found == [
        f"{said}; no rule recognises what 12 of them say",
        "the last answer failed or never came in 10% of 20 conversations",
    ]


def test_where_most_follow_ups_are_not_recognised_it_says_that_complaints_may_be_missed() -> None:
    scores = [
        {"scorer": "clarification_free", "n": 40, "mean": 0.9},
        {"scorer": "follow_up", "n": 16, "mean": 0.5, "unscored": {"no_signal": 24}},
    ]
    said = "no rule recognises what 24 of them say, so complaints may be missed (`turnsignal judge` reads those)"
    assert any(sentence.endswith(said) for sentence in sentences(quality=[], scores=scores))


@pytest.mark.parametrize("verdict", ["changed", "better", ""])
def test_where_many_follow_ups_are_in_other_languages_it_says_that_complaints_may_be_missed(verdict: str) -> None:
    scores = [{"scorer": "clarification_free", "n": 40, "mean": 1.0, "unscored": {"language": 60, "gap": 5}}]
    moved = [compared("billing", cited=delta(0.2, verdict))] if verdict else []
    said = "60 of 100 follow-ups are in languages that rules do not read"
    said += ", so complaints may be missed (`turnsignal judge` reads those)"
    assert said in sentences(*moved, scores=scores)
    scores[0]["n"] = 300
    assert not any("do not read" in sentence for sentence in sentences(*moved, scores=scores))


def test_it_says_so_beside_a_change_that_is_not_for_the_worse_and_not_beside_one_that_is() -> None:
    scores = [
        {"scorer": "clarification_free", "n": 40, "mean": 0.9},
        {"scorer": "follow_up", "n": 16, "mean": 0.5, "unscored": {"no_signal": 24}},
    ]
    said = "no rule recognises what 24 of 40 follow-ups say"
    said += ", so complaints may be missed (`turnsignal judge` reads those)"
    for verdict, is_said in (("changed", True), ("better", True), ("worse", False)):
        moved = compared("billing", follow_up=delta(-0.2 if verdict == "worse" else 0.2, verdict))
        assert (said in sentences(moved, scores=scores)) is is_said, verdict


def test_broken_instructions_and_the_part_to_work_on_are_counted() -> None:
    review = [
        {"check": name, "fails": fails, "applicable": 100, "rate": {"value": fails / 100}}
        for name, fails in (("a", 3), ("b", 20), ("c", 0), ("d", 5), ("e", 4))
    ]
    rows = [("v1", "high/high/high", 90), ("v1", "low/low/high", 10), ("v2", "low/high/high", 100)]
    diagnosis = [{"version": version, "diagnosis": row, "n": n} for version, row, n in rows]
    broken, work = sentences(quality=[], review=review, diagnosis=diagnosis)
    assert broken == (
        "broken instructions: b in 20% of answers (20 of 100), d in 5% of answers (5 of 100), "
        "e in 4% of answers (4 of 100) and 1 more"
    )
    assert work == "where to work, of 200 exchanges: retrieval in 55% (v1 10%, v2 100%)"


def test_a_broken_instruction_that_one_release_breaks_more_is_told_of_each() -> None:
    review = [{"check": "a", "fails": 30, "applicable": 300, "rate": {"value": 0.1}}]
    scores = [
        {"assistant": name, "version": version, "scorer": "a", "n": 100, "mean": mean}
        for name, version, mean in (("x", "v1", 0.98), ("y", "v1", 0.96), ("x", "v2", 0.76))
    ]
    assert sentences(quality=[], review=review, scores=scores) == [
        "broken instructions: a in 10% of answers (30 of 300; v1 3%, v2 24%)"
    ]


def test_each_part_to_work_on_that_moved_is_told_of_each_release() -> None:
    rows = [("v1", "high/high/high", 600), ("v1", "high/low/high", 170), ("v1", "high/high/low", 30)]
    rows += [("v2", "high/high/high", 50), ("v2", "high/low/high", 16), ("v2", "high/high/low", 34)]
    diagnosis = [{"version": version, "diagnosis": row, "n": n} for version, row, n in rows]
    (work,) = sentences(quality=[], review=[], diagnosis=diagnosis)
    assert work == "where to work, of 900 exchanges: generation in 21%, prompt in 7.1% (v1 3.8%, v2 34%)"


def test_scorers_that_could_not_score_the_same_come_together_with_the_reasons() -> None:
    why = {"no_citations": 7, "no_retrieval": 3}
    rows = [
        {"scorer": "nDCG@5", "n": 5, "unscored": {"no_citations": 4}},
        {"scorer": "nDCG@5", "n": 1, "unscored": {"no_citations": 3, "no_retrieval": 3}},
        {"scorer": "RR", "n": 6, "unscored": why},
        {"scorer": "cited", "n": 16},
    ]
    assert [tuple(part) for part in unscored(rows)] == [
        (("nDCG@5", "RR"), 6, 16, (("no_citations", 7), ("no_retrieval", 3)))
    ]


def test_that_traffic_moved_is_said_first_and_figures_are_those_within_platforms() -> None:
    row = compared("a", clarification_free=delta(-0.2, within_platforms=INSIDE))
    shifted = "slack has 80% of the conversations, 20% before"
    first, second = sentences({**row, "shifted": shifted})
    assert first == f"with v3 (a), traffic moved: {shifted}; releases are compared within platforms"
    assert second == "v3 helps its users less (a): clarification_free −0.10 (−0.15 to −0.05)"


def test_that_users_moved_to_another_language_is_said_first_and_figures_are_those_within_languages() -> None:
    row = compared("a", clarification_free=delta(-0.2, within_languages=INSIDE))
    moved = {"shifted": "60% of the users write Swedish, 0% before", "moved": "languages"}
    first, second = sentences({**row, **moved})
    assert first == f"with v3 (a), traffic moved: {moved['shifted']}; releases are compared within languages"
    assert second == "v3 helps its users less (a): clarification_free −0.10 (−0.15 to −0.05)"
    (alone,) = sentences({**compared("a"), **moved})[:1]
    assert alone.endswith("; too few conversations are in languages that can be compared")


def test_a_change_of_releases_side_by_side_says_so_where_turns_name_no_users() -> None:
    row = compared("a", clarification_free=delta(-0.2))
    _, note = sentences({**row, "side_by_side": True, "with_user": 0.0})
    assert note.startswith("v3 answered beside the release before, and turns name no user_id: where users were dealt")
    assert len(sentences({**row, "side_by_side": True, "with_user": 1.0})) == 1
    assert len(sentences({**row, "side_by_side": False, "with_user": 0.0})) == 1


def test_few_users_behind_a_comparison_are_told_as_nobody_might_be_a_user() -> None:
    (none, note) = sentences({**compared("a"), "with_user": 0.4, "users": 2})
    assert none == "no change shown from one release to the next in 0 figures"
    assert note.startswith("2 users stand behind a release, and each counts once, whatever they ask")
    assert len(sentences({**compared("a"), "with_user": 0.4, "users": 30})) == 1
    assert len(sentences({**compared("a"), "with_user": 0.0, "users": 0})) == 1


def test_known_documents_tell_what_is_found_from_what_is_cited() -> None:
    (found,) = sentences(compared("a", **{"R(on=truth)@5": delta(-0.5)}))
    assert found == "v3 retrieves worse (a): R(on=truth)@5 −0.50 (−0.60 to −0.40)"
    (risen,) = sentences(compared("a", **{"R(on=truth)@5": delta(0.5, "better")}))
    assert risen == "v3 retrieves better (a): R(on=truth)@5 +0.50 (+0.40 to +0.60)"


def test_labels_tell_what_is_found_from_what_is_cited() -> None:
    stages: list[dict[str, Any]] = [
        {"assistant": "a", "version": version, "stage": stage, "n": n}
        for version, stage, n in (
            ("v2", "none", 90),
            ("v2", "retrieval", 9),
            ("v3", "none", 50),
            ("v3", "retrieval", 50),
        )
    ]
    worse = compared("a", **{"nDCG@5": delta(-0.5)})
    few = [{**row, "n": row["n"] // 9} for row in stages]
    others = [{**row, "assistant": "b"} for row in stages]
    for says_nothing in (few, others):
        assert sentences(worse, failing_stages=says_nothing)[0].endswith(OR_CITES)
    assert not sentences(worse, failing_stages=stages)[0].endswith(OR_CITES)
    stages[3]["stage"] = "generation"
    assert sentences(worse, failing_stages=stages)[0].endswith(OR_CITES)
    assert sentences(worse, failing_stages=stages[:2])[0].endswith(OR_CITES)


def test_wasted_context_alone_is_no_worse_retrieval() -> None:
    (alone,) = sentences(compared("a", wasted_context=delta(0.2)))
    assert alone.startswith("v3 cites less of what it retrieves (a): wasted_context +0.20")
    (both,) = sentences(compared("a", wasted_context=delta(0.2), **{"nDCG@5": delta(-0.1)}))
    assert both.startswith("v3 retrieves worse (a): nDCG@5 −0.10")


def test_what_moved_most_comes_first_after_what_the_primary_says() -> None:
    deltas = {
        "nDCG@5": delta(-0.02),
        "clarification_free": delta(-0.08),
        "answer_seconds": delta(0.3, unit="ratio - 1"),
    }
    row = compared("a", **deltas)
    helped, retrieved, slower = (text.split(" (a)")[0] for text in sentences(row))
    assert (helped, retrieved, slower) == ("v3 helps its users less", "v3 retrieves worse", "v3 answers more slowly")
    assert sentences({**row, "primary": "nDCG@5"})[0].startswith("v3 retrieves worse")


@pytest.mark.parametrize(
    ("figure", "rests_on"),
    [
        ("resolved", "by what they wrote next, and by that alone"),
        ("nDCG@5", "by where what is cited stood, and by that alone"),
    ],
)
def test_beside_what_is_better_stands_what_that_rests_on(figure: str, rests_on: str) -> None:
    assert sentences(compared("a", **{figure: delta(0.2, "better")}))[0].endswith(f"(+0.10 to +0.30), {rests_on}")
    assert rests_on not in sentences(compared("a", **{figure: delta(-0.2)}))[0]


def test_where_to_work_does_not_take_documents_for_right_whose_citations_say_nothing() -> None:
    rows = [
        {"assistant": "a", "version": version, "diagnosis": found, "n": n}
        for version in ("v2", "v3")
        for found, n in (("high/low/high", 60), ("low/high/high", 40))
    ]
    known = sentences(compared("a"), diagnosis=rows)[-1]
    assert known == "where to work, of 200 exchanges: generation in 60%, retrieval in 40%"
    one = compared("a") | {"unranked": "97% of answers cite just the first of their documents, 57% before"}
    said = sentences(one, diagnosis=rows)[-1]
    assert said.startswith("where to work is not known of 50% of 200 exchanges (v2 0%, v3 100%)")
    assert said.endswith("; citations of v3 do not say what was retrieved")


def test_a_release_whose_stages_are_not_known_does_not_look_better_by_that() -> None:
    rows = [("v1", "high/high/high", 160), ("v1", "high/low/high", 40), ("v2", "unknown/low/high", 60)]
    rows += [("v2", "unknown/high/high", 100), ("v2", "unknown/unknown/unknown", 40)]
    diagnosis = [{"version": version, "diagnosis": row, "n": n} for version, row, n in rows]
    assert sentences(diagnosis=diagnosis)[-1] == "where to work is not known of 50% of 400 exchanges (v1 0%, v2 100%)"


def test_where_answers_with_labels_first_fail_is_told_by_release() -> None:
    counts = [("v1", "none", 80), ("v1", "retrieval", 20), ("v2", "none", 40), ("v2", "retrieval", 52)]
    stages = [{"version": version, "stage": stage, "n": n} for version, stage, n in [*counts, ("v2", "generation", 8)]]
    told = sentences(failing_stages=stages)[-1]
    assert told == (
        "of 200 labelled answers, 36% first fail at retrieval (v1 20%, v2 52%), 4% at generation (v1 0%, v2 8%)"
    )
    assert sentences(failing_stages=stages[:1])[-1] == "of 80 labelled answers, none fails"
    assert sentences(failing_stages=stages[:1], pairing={"labels_cut": 1})[-1].endswith(
        "none fails (1 question with more than 8,000 characters of labels: some left out)"
    )


def test_labels_do_not_say_that_a_search_failed_where_no_documents_are_logged() -> None:
    stages = [
        {"assistant": "a", "version": "v1", "stage": stage, "n": n} for stage, n in (("retrieval", 30), ("none", 10))
    ]
    bare = {
        "assistant": "a",
        "version": "v1",
        "scorer": "cited",
        "n": 0,
        "mean": None,
        "unscored": {"no_retrieval": 40},
    }
    unknown = "of 30 labelled answers the stage is not known: no documents are logged with them"
    assert sentences(failing_stages=stages, scores=[bare])[-1] == f"of 10 labelled answers, none fails; {unknown}"
    assert sentences(failing_stages=stages[:1], scores=[bare])[-1] == unknown
    some = {**bare, "n": 1, "mean": 1.0}
    assert "75% first fail at retrieval" in sentences(failing_stages=stages, scores=[some])[-1]


def test_failed_answers_are_counted_beside_where_to_work() -> None:
    rows = [("v1", "high/low/high", 50), ("v1", "high/high/high", 50), ("v2", "unknown/unknown/unknown", 20)]
    diagnosis = [{"version": version, "diagnosis": row, "n": n} for version, row, n in [*rows, ("v2", rows[0][1], 80)]]
    quality = [
        {
            "version": name,
            "conversations": 100,
            "answers_per_conversation": 2.0,
            "figures": {"failed": {"value": share}},
        }
        for name, share in (("v1", 0.02), ("v2", 0.5))
    ]
    assert sentences(quality=quality, diagnosis=diagnosis)[-1] == (
        "where to work, of 200 exchanges: generation in 65% (v1 50%, v2 80%); not known in 10% (v1 0%, v2 20%);"
        " 104 of 400 answers failed (v1 2%, v2 50%)"
    )


def test_a_release_that_breaks_instructions_is_not_said_to_keep_them_better_by_single_checks() -> None:
    checks = [{"check": name, "fails": 0} for name in ("table.cells", "length.number_words")]
    deltas = {"table.cells": delta(0.1, "better"), "length.number_words": delta(-0.4), "compliance": delta(-0.2)}
    (broken,) = sentences(compared("a", **deltas), review=checks)
    assert broken.startswith("v3 breaks instructions more often (a): compliance −0.20")
    both = sentences(compared("a", **{**deltas, "compliance": delta(0.2, "better")}), review=checks)
    assert len(both) == 2, "where answers keep more over all, both are said"
