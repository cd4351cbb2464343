"""Live comparison: conversations at the same age, by the release that began them, and few looks."""

from typing import Any

from tests.agents.demo.rows import follow_up, response
from turnsignal.agents.demo.live_comparison import MAX_CONVERSATIONS, MAX_ROWS, LiveComparison
from turnsignal.stream.suite import parse_suite

SUITE = parse_suite("")


def answer(number: int, version: str | None, ndcg: float, time: float, **more: Any) -> dict[str, Any]:
    return response(version, ndcg, conversation_id=f"c{number}", id=f"r{number}@{time}", time=time, **more)


def release(comparison: LiveComparison, version: str, ndcg: float, start: float, n: int) -> None:
    """Begin a conversation per minute, in each of which nDCG is now a little above the mean, now below."""
    for number in range(n):
        swing = 0.05 if number % 2 else -0.05
        comparison.on_row(answer(round(start) + number, version, ndcg + swing, start + 60.0 * number))


def test_a_release_that_retrieves_worse_is_named_with_the_time_of_its_first_answer() -> None:
    comparison = LiveComparison(SUITE)
    release(comparison, "v1", 0.9, 10_000.0, 60)
    release(comparison, "v2", 0.2, 20_000.0, 100)
    (finding,) = [finding for finding in comparison.findings() if finding.changes]
    assert (finding.assistant, finding.before, finding.after, finding.since) == ("support", "v1", "v2", 20_000.0)
    assert finding.changes == {"nDCG@5": "worse"}
    assert finding.conversations == 67  # the older two thirds


def test_releases_that_answer_side_by_side_from_the_beginning_have_not_changed_since_one_another() -> None:
    comparison = LiveComparison(SUITE)
    for number in range(300):
        version, ndcg = ("v1", 0.9) if number % 2 else ("v2", 0.5)
        comparison.on_row(answer(number, version, ndcg + number % 3 / 100, 10_000.0 + 60.0 * number))
    assert comparison.findings() == []
    release(comparison, "v3", 0.1, 40_000.0, 100)
    (finding,) = comparison.findings()
    assert (finding.before, finding.after, finding.changes) == ("v1", "v3", {"nDCG@5": "worse"})


def test_what_rises_is_not_called_better_since_rows_do_not_show_what_it_hides() -> None:
    comparison = LiveComparison(SUITE)
    release(comparison, "v1", 0.2, 10_000.0, 60)
    release(comparison, "v2", 0.9, 20_000.0, 100)
    assert [finding.changes for finding in comparison.findings()] == [{"nDCG@5": "changed"}]


def test_where_nothing_differs_nothing_is_named_but_that_it_was_compared() -> None:
    comparison = LiveComparison(SUITE)
    release(comparison, "v1", 0.9, 10_000.0, 60)
    release(comparison, "v2", 0.9, 20_000.0, 100)
    assert [(finding.after, finding.changes) for finding in comparison.findings()] == [("v2", {})]


def test_too_few_conversations_are_not_compared() -> None:
    comparison = LiveComparison(SUITE)
    release(comparison, "v1", 0.9, 10_000.0, 60)
    release(comparison, "v2", 0.2, 20_000.0, 40)  # of which 27 are old enough
    assert comparison.findings() == []


def test_what_an_older_conversation_came_to_later_does_not_count() -> None:
    """v1's conversations go bad after hours; v2 is not that old, and would look better."""
    comparison = LiveComparison(SUITE)
    release(comparison, "v1", 0.9, 10_000.0, 60)
    for number in range(60):
        for hour in range(1, 5):
            comparison.on_row(answer(10_000 + number, "v1", 0.0, 10_000.0 + 60 * number + 3600.0 * hour))
    release(comparison, "v2", 0.9, 40_000.0, 100)
    assert [finding.changes for finding in comparison.findings()] == [{}]


def test_a_conversation_counts_for_the_release_that_began_it() -> None:
    """v2 takes over what v1 began, and only there everything is bad."""
    comparison = LiveComparison(SUITE)
    release(comparison, "v1", 0.9, 10_000.0, 60)
    release(comparison, "v2", 0.9, 20_000.0, 60)
    for number in range(60):
        comparison.on_row(answer(10_000 + number, "v2", 0.0, 20_000.0 + 60 * number))
    assert [finding.changes for finding in comparison.findings()] == [{}]


def test_a_release_is_looked_at_again_when_it_has_doubled_and_not_before() -> None:
    comparison = LiveComparison(SUITE)
    release(comparison, "v1", 0.9, 10_000.0, 60)
    seen = []
    for number in range(250):
        swing = 0.05 if number % 2 else -0.05
        comparison.on_row(answer(20_000 + number, "v2", 0.9 + swing, 20_000.0 + 60 * number))
        seen += [finding.conversations for finding in comparison.findings()]
    assert sorted(set(seen)) == [30, 60, 120]


def test_a_partition_that_lags_holds_the_comparison_back() -> None:
    comparison = LiveComparison(SUITE)
    release(comparison, "v1", 0.9, 10_000.0, 60)
    release(comparison, "v2", 0.2, 20_000.0, 60)
    comparison.on_row(answer(9_999, "v2", 0.2, 22_000.0, source={"partition": 1}))
    assert comparison.findings() == []  # up to there, v2 has too few
    comparison.on_row(answer(9_998, "v2", 0.2, 23_600.0, source={"partition": 1}))
    assert [finding.changes for finding in comparison.findings()] == [{"nDCG@5": "worse"}]


def test_a_follow_up_that_is_corrected_counts_as_it_was_corrected() -> None:
    comparison = LiveComparison(SUITE)
    for version, start, bad in (("v1", 10_000.0, False), ("v2", 20_000.0, True)):
        for number in range(100):
            key, time = f"c{version}{number}", start + 60.0 * number
            comparison.on_row(response(version, 0.9, conversation_id=key, id=f"r{key}", time=time))
            rows = [("first", 0.1 if number % 10 else 0.9), ("second", 0.9 if number % 10 else 0.8)]
            for row, value in rows[: 1 if bad else 2]:
                more = {"replaces": f"{key}-first"} if row == "second" else {}
                comparison.on_row(
                    follow_up(f"{key}-{row}", version, value, "x", conversation_id=key, time=time + 10, **more)
                )
    (finding,) = comparison.findings()
    assert (finding.after, finding.changes["follow_up"]) == ("v2", "worse")


def test_what_strangers_send_is_bounded() -> None:
    comparison = LiveComparison(SUITE)
    for number in range(MAX_CONVERSATIONS + 10):
        comparison.on_row(answer(number, f"v{number}", 0.5, 10_000.0 + number))
    for number in range(MAX_ROWS + 10):
        comparison.on_row(answer(MAX_CONVERSATIONS, "v1", 0.5, 20_000.0 + number))
    comparison.on_row(follow_up("lost", "v1", 0.5, "x", conversation_id="nobody's"))
    assert len(comparison._conversations) == MAX_CONVERSATIONS
    assert max(len(held.rows) for held in comparison._conversations.values()) == MAX_ROWS
    assert comparison.findings() == []
