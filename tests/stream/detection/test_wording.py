"""What is said of when a change began: the time, the time or before, and never 1970 where nobody knows it."""

import msgspec

from turnsignal.stream.detection.incidents import beginning
from turnsignal.stream.detection.wording import describe_change, lines_of
from turnsignal.stream.records.regressions import OPENED, UNKNOWN, Incident, ScorerChange, read_incident

NOON = 1_749_988_800.0  # 2025-06-15 12:00 UTC
CHANGE = ScorerChange(
    "nDCG@5", "relevancy", "worse", "lower", "usual", "page", NOON, NOON - 3600, "v2", None,
    0.8, 0.6, -0.2, -0.25, -0.15, 22, 6.1, 5.4, "one page in 30 days at most",
)  # fmt: skip


def since(when: float, *, or_before: bool = False) -> ScorerChange:
    return msgspec.structs.replace(CHANGE, since=when, or_before=or_before)


def test_a_change_says_whether_it_may_have_begun_before() -> None:
    known, or_before, unknown = since(NOON), since(NOON, or_before=True), since(UNKNOWN)
    assert describe_change(known).endswith(", 22 values since 2025-06-15 12:00 UTC, now of v2")
    expected = ", 22 values since 2025-06-15 12:00 UTC or before (not watched until then), now of v2"
    assert describe_change(or_before).endswith(expected)
    assert describe_change(unknown).endswith(", 22 values since the first that was watched, or before, now of v2")


def test_an_incident_began_with_the_first_of_its_changes_of_which_that_is_known() -> None:
    assert beginning([since(NOON), since(NOON - 60.0)]) == (NOON - 60.0, False)
    assert beginning([since(NOON, or_before=True), since(NOON - 60.0)]) == (NOON - 60.0, False)
    assert beginning([since(NOON), since(NOON - 60.0, or_before=True)]) == (NOON - 60.0, True)
    assert beginning([since(NOON), since(UNKNOWN)]) == (NOON, True)
    assert beginning([since(UNKNOWN)]) == (UNKNOWN, True)


def test_a_record_that_an_older_version_dated_to_1970_is_described_anew_and_others_stand() -> None:
    old = Incident("a", OPENED, NOON, "support", 0, "page", NOON, 0.0, "v2", [since(UNKNOWN)], text=["since 1970"])
    text = "".join(lines_of(read_incident(old.encode())))
    assert "1970" not in text
    assert "22 values since the first that was watched" in text
    assert lines_of(msgspec.structs.replace(old, changes=[CHANGE])) == ["since 1970"]
