"""A build asks whether the newest release of each assistant is worse: older ones do not answer for it."""

from typing import Any

import pytest

from turnsignal.stream.reports.newest_release import NewestRelease, newest_releases


def summary(*releases: tuple[str, str, float], compared: tuple[tuple[str, str, str, str], ...]) -> dict[str, Any]:
    """Releases as (assistant, version, first), comparisons as (assistant, before, after, verdict of `cited`)."""
    return {
        "quality": [
            {"assistant": assistant, "version": version, "first": first, "not_compared": "3 whole conversations"}
            for assistant, version, first in releases
        ],
        "comparisons": [
            {"assistant": assistant, "before": before, "after": after, "deltas": {"cited": {"verdict": verdict}}}
            for assistant, before, after, verdict in compared
        ],
    }


def test_a_release_that_was_mended_is_not_failed_for_the_one_before_it() -> None:
    releases = ("a", "v1", 1.0), ("a", "v2", 2.0), ("a", "v3", 3.0)
    compared = ("a", "v1", "v2", "worse"), ("a", "v2", "v3", "better")
    assert newest_releases(summary(*releases, compared=compared)) == [NewestRelease("a v3", {"cited": "better"})]


def test_of_two_that_answer_side_by_side_the_one_that_is_tried_counts() -> None:
    releases = ("a", "canary", 1.0), ("a", "main", 1.5)
    found = newest_releases(summary(*releases, compared=(("a", "main", "canary", "worse"),)))
    assert found == [NewestRelease("a canary", {"cited": "worse"})]


def test_messages_that_nobody_answers_name_no_version_and_are_no_release() -> None:
    given = summary(("a", "v1", 1.0), ("a", "v2", 1.0), ("a", "", 1.5), compared=(("a", "v1", "v2", "worse"),))
    given["quality"][2]["version"] = None
    (one,) = newest_releases(given)
    assert (one.name, one.verdicts) == ("a v2", {"cited": "worse"})
    given["comparisons"][0]["after"] = None  # a release that ceased to name its version is one
    (one,) = newest_releases(given)
    assert one.name == "a (no version)"


def test_a_newest_release_with_too_little_is_not_known() -> None:
    releases = ("a", "v1", 1.0), ("a", "v2", 2.0), ("a", "v3", 3.0), ("b", "v1", 1.0)
    (one,) = newest_releases(summary(*releases, compared=(("a", "v1", "v2", "worse"),)))
    assert one.not_known([]) == "a v3 has 3 whole conversations"


def test_a_canary_that_is_too_small_says_so_though_it_began_before_the_release_beside_it() -> None:
    given = summary(("a", "canary", 1.0), ("a", "main", 1.5), compared=())
    del given["quality"][1]["not_compared"]
    (one,) = newest_releases(given)
    assert one.not_known([]) == "a canary has 3 whole conversations"


def test_what_got_worse_while_traffic_moved_is_not_known_of_the_primary_figure_and_of_those_that_are_asked_for() -> (
    None
):
    given = summary(("a", "v1", 1.0), ("a", "v2", 2.0), compared=(("a", "v1", "v2", "changed"),))
    (row,) = given["comparisons"]
    row["deltas"]["cited"] |= {"untold": True, "why": "web has 80%; too few"}
    row["primary"] = "follow_up"
    (one,) = newest_releases(given)
    assert one.not_known([]) == ""
    assert one.not_known(["cited"]) == "cited of a v2 got worse, and web has 80%; too few"
    (one,) = newest_releases({**given, "comparisons": [row | {"primary": "cited"}]})
    assert one.not_known([]) == "cited of a v2 got worse, and web has 80%; too few"


def test_a_score_that_too_few_conversations_have_is_not_known() -> None:
    one = NewestRelease("a v2", {"cited": "no difference shown"})
    assert (one.not_known(["cited"]), one.not_known([])) == ("", "")
    assert one.not_known(["cited", "vote"]) == "a v2 has too few conversations with vote"


@pytest.mark.parametrize(("side", "read"), [("v1", 10), ("v2", 10), ("v2", 60)])
def test_where_most_follow_ups_are_in_other_languages_nobody_can_tell_how_users_fared(side: str, read: int) -> None:
    given = summary(("a", "v1", 1.0), ("a", "v2", 2.0), compared=(("a", "v1", "v2", "no difference shown"),))
    rows = {version: {"n": 90, "unscored": {"language": 10}} for version in ("v1", "v2")}
    rows[side] = {"n": read, "unscored": {"language": 50}}
    of = {"scorer": "clarification_free", "assistant": "a"}
    given["scores"] = [of | {"version": version} | row for version, row in rows.items()]
    (one,) = newest_releases(given)
    said = "50 of 60 follow-ups are in languages that the rules do not read" if read < 50 else ""
    assert one.not_known(["silent"]).startswith(said)
    assert bool(one.not_known([])) == bool(said)
    assert one.not_known(["cited"]) == ""


def test_each_of_several_that_are_tried_beside_one_baseline_counts_whichever_began_last() -> None:
    releases = ("a", "v1", 1.0), ("a", "v3", 1.2), ("a", "v2", 1.5)
    given = summary(*releases, compared=(("a", "v1", "v2", "better"), ("a", "v1", "v3", "worse")))
    for row in given["comparisons"]:
        row["baseline_by"] = "name"
    found = {one.name: one.verdicts["cited"] for one in newest_releases(given)}
    assert found == {"a v2": "better", "a v3": "worse"}


@pytest.mark.parametrize(
    ("versions", "verdict", "is_known"),
    [
        (("0b77de1", "f3a91c2"), "better", False),
        (("0b77de1", "f3a91c2"), "no difference shown", True),
        (("v1", "v2"), "better", True),
    ],
)
def test_of_names_that_do_not_count_up_the_one_that_is_worse_may_be_the_new_one(
    versions: tuple[str, str], verdict: str, *, is_known: bool
) -> None:
    given = summary(*(("a", name, 1.0) for name in versions), compared=(("a", *versions, verdict),))
    given["comparisons"][0]["baseline_by"] = "name"
    (one,) = newest_releases(given)
    assert (one.not_known([]) == one.not_known(["cited"]) == "") is is_known
    del given["comparisons"][0]["baseline_by"]  # one came after the other
    (one,) = newest_releases(given)
    assert one.not_known([]) == ""


def test_what_got_worse_or_is_merely_written_down_otherwise_is_not_known_of_whether_users_were_helped() -> None:
    given = summary(("a", "v1", 1.0), ("a", "v2", 2.0), compared=(("a", "v1", "v2", "changed"),))
    untold = {"verdict": "changed", "untold": True, "why": "not called worse: texts are hidden"}
    given["comparisons"][0]["deltas"] = {"nDCG@5": untold}
    (one,) = newest_releases(given)
    assert one.not_known([]) == ""
    given["comparisons"][0]["deltas"]["silent"] = untold
    (one,) = newest_releases(given)
    assert one.not_known([]) == "silent of a v2 got worse, and texts are hidden"


def test_where_no_follow_up_is_recognised_nobody_can_tell_how_users_fared() -> None:
    given = summary(("a", "v1", 1.0), ("a", "v2", 2.0), compared=(("a", "v1", "v2", "no difference shown"),))
    of = {"scorer": "follow_up", "assistant": "a"}
    given["scores"] = [
        of | {"version": "v1", "n": 40, "unscored": {"no_signal": 60}},
        of | {"version": "v2", "n": 1, "unscored": {"no_signal": 99}},
    ]
    (one,) = newest_releases(given)
    assert one.not_known([]).startswith("no rule recognises what 99 of 100 follow-ups say")
