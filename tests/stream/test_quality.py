"""Releases are told with n and intervals, compared in the order of time, and passed over where there are too few."""

from stream.quality import Quality, Went

SCORERS = ("nDCG@5", "wasted_context", "follow_up", "clarification_free")


def quality(*groups: tuple[str, float, int, str, float]) -> Quality:
    """Groups of (version, first, how many, outcome, nDCG); every conversation has two follow-ups of 0.8."""
    found = Quality(SCORERS)
    for version, first, count, outcome, ndcg in groups:
        for i in range(count):
            wobble = 0.1 * (i % 2)
            values = found.values([1, ndcg - wobble, 1, 0.5 + wobble, 2, 1.6, 2, 1 if i % 4 == 0 else 2])
            found.add(Went(("support", version), outcome, first + i, 3, values))
    return found


def test_outcomes_and_means_carry_n_and_an_interval() -> None:
    (row,) = quality(("v1", 0.0, 60, "resolved", 0.9), ("v1", 0.0, 20, "abandoned", 0.9)).rows(30)
    figures = row["figures"]
    assert (row["conversations"], figures["resolved"]["value"], figures["clarified"]["value"]) == (80, 0.75, 0.0)
    assert figures["resolved"]["low"] < 0.75 < figures["resolved"]["high"]
    assert (figures["nDCG@5"]["value"], figures["nDCG@5"]["n"]) == (0.85, 80)
    # One follow-up in eight asked to clarify.
    assert figures["clarification_free"]["value"] == 0.875


def test_below_the_minimum_it_is_silent_and_says_so() -> None:
    (row,) = quality(("v1", 0.0, 12, "resolved", 0.9)).rows(30)
    assert row["silent"] == "n too small: 12 < 30"
    assert "figures" not in row


def test_a_release_is_compared_with_the_one_before_it_in_time() -> None:
    found = quality(
        ("b", 1000.0, 50, "resolved", 0.4), ("a", 2000.0, 50, "resolved", 0.9), ("c", 0.0, 5, "resolved", 0.1)
    )
    (change,) = found.comparisons(30)
    assert (change["before"], change["after"]) == ("b", "a")
    assert change["deltas"]["nDCG@5"]["value"] == 0.5
    assert change["deltas"]["nDCG@5"]["verdict"] == "better"
    assert change["deltas"]["follow_up"]["verdict"] == "no difference shown"


def test_more_of_what_should_be_low_is_worse() -> None:
    found = quality(
        ("v1", 0.0, 80, "resolved", 0.9), ("v2", 1000.0, 40, "resolved", 0.9), ("v2", 1000.0, 40, "abandoned", 0.9)
    )
    deltas = found.comparisons(30)[0]["deltas"]
    assert (deltas["abandoned"]["verdict"], deltas["resolved"]["verdict"]) == ("worse", "worse")


def test_parts_merge_into_the_whole() -> None:
    one, other = ("v1", 0.0, 300, "resolved", 0.9), ("v2", 1000.0, 40, "clarified", 0.7)
    merged = quality(one)
    merged.merge(quality(other))
    assert merged.rows(30) == quality(one, other).rows(30)


def test_nothing_gives_nothing() -> None:
    assert Quality(SCORERS).rows(30) == [] == Quality(SCORERS).comparisons(30)
    assert Quality(SCORERS).pooled("follow_up").n == 0
