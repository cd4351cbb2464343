"""Assistants and versions from strangers become labels together, or are counted as other."""

from turnsignal.stream.pipeline.bounded_labels import MAX_VALUES
from turnsignal.stream.pipeline.release_guard import MAX_DRILLS, ReleaseGuard
from turnsignal.stream.pipeline.release_labels import DRILL


def test_what_has_no_place_is_other_and_counted_by_what_was_refused() -> None:
    guard = ReleaseGuard(1)
    assert guard.admit("support", "v1", 0.0) == ("support", "v1")
    assert guard.admit("sales", "v1", 1.0) == ("other", "other")
    assert guard.admit("support", "a version", 2.0) == ("other", "other")
    assert guard.overflow == {"assistant": 0, "version": 1, "release": 2}


def test_drills_take_no_place_of_assistants() -> None:
    guard = ReleaseGuard(100)
    drills = [guard.admit_assistant(f"{DRILL}{number}", 0.0) for number in range(MAX_DRILLS + 1)]
    assert drills == [*(f"{DRILL}{number}" for number in range(MAX_DRILLS)), "other"]
    assert "other" not in {guard.admit_assistant(f"a{number}", 0.0) for number in range(MAX_VALUES)}


def test_an_opening_turn_is_of_no_release_until_it_was_answered_without_a_version() -> None:
    guard = ReleaseGuard(1)
    assert guard.admit("sales", None, 0.0, opening=True) == ("sales", "none")
    assert guard.admit("support", None, 1.0) == ("support", "none")
    assert guard.admit("support", None, 4_000.0, opening=True) == ("support", "none")
    assert guard.admit("sales", None, 4_001.0) == ("other", "other")  # its place is in use
    assert guard.overflow["release"] == 1
