"""Who is shown on a page that has room for a few releases."""

from turnsignal.stream.pipeline.bounded_labels import COOLDOWN, OTHER
from turnsignal.stream.pipeline.release_labels import DRILL, MAX_TAKEN, ReleaseLabels


def used(labels: ReleaseLabels, now: float, *releases: tuple[str, str]) -> list[bool]:
    return [labels.admit(release, now) for release in releases]


def test_a_new_release_takes_the_place_of_the_longest_unused_one_that_was_replaced() -> None:
    labels = ReleaseLabels(3)
    assert used(labels, 0.0, ("a", "1"), ("a", "2"), ("a", "3"))[-1]
    assert used(labels, 5.0, ("a", "1"), ("a", "3")) == [True, True]
    assert used(labels, 6.0, ("a", "4")) == [True]
    assert labels.take_evicted() == [("a", "2")]
    assert used(labels, 7.0, ("a", "1"), ("a", "2"), ("a", "3"), ("a", "4")) == [True, False, True, True]


def test_the_newest_of_another_assistant_and_its_own_stay() -> None:
    labels = ReleaseLabels(2)
    assert used(labels, 0.0, ("a", "1"), ("b", "1")) == [True, True]
    assert used(labels, 1.0, ("a", "2")) == [False]
    assert used(labels, COOLDOWN, ("b", "1")) == [True]
    assert used(labels, COOLDOWN, ("a", "2")) == [True]  # nobody has used what it replaces for an hour
    assert labels.take_evicted() == [("a", "1")]


def test_made_up_versions_take_two_places_an_hour_and_not_what_is_served() -> None:
    labels = ReleaseLabels(4)
    used(labels, 0.0, *(("a", f"{number}") for number in range(4)))
    evicted = []
    for number in range(500):
        now = 1.0 + number
        assert used(labels, now, ("a", "3")) == [True]
        used(labels, now, ("a", f"made-up-{number}"))
        evicted += labels.take_evicted()
    assert len(evicted) == MAX_TAKEN
    assert ("a", "3") not in evicted


def test_other_gives_way_and_is_no_release() -> None:
    labels = ReleaseLabels(2)
    assert used(labels, 0.0, ("a", "1"), ("b", OTHER)) == [True, True]
    assert used(labels, 1.0, ("a", "2")) == [True]
    assert labels.take_evicted() == [("b", OTHER)]
    assert labels.admit((OTHER, OTHER), 3.0)


def test_a_release_that_comes_back_is_not_new() -> None:
    labels = ReleaseLabels(2)
    used(labels, 0.0, ("a", "1"), ("a", "2"), ("a", "3"))
    assert used(labels, 2 * COOLDOWN, ("a", "2"), ("a", "3")) == [True, True]
    assert used(labels, 2 * COOLDOWN + 1.0, ("a", "1")) == [False]
    labels.drop(("a", "3"))
    assert used(labels, 2 * COOLDOWN + 2.0, ("a", "1")) == [True]


def test_drills_have_places_of_their_own_which_a_later_one_takes_at_once() -> None:
    labels = ReleaseLabels(1)
    drills = [(f"{DRILL}{number}", version) for number in range(2) for version in ("v1", "v2")]
    assert used(labels, 0.0, ("a", "1"), *drills) == [True] * 5
    assert labels.take_evicted() == [drills[0]]
    assert ("a", "1") in labels
    assert drills[0] not in labels
    assert used(labels, 1.0, *((f"{DRILL}made-up", str(number)) for number in range(50))).count(True) == MAX_TAKEN
