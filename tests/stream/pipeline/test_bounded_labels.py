import unicodedata

import pytest

from turnsignal.stream.errors import ConfigError
from turnsignal.stream.pipeline.bounded_labels import BoundedLabels, LabelGuard, name_label

HOUR = 3600.0


def test_a_clean_value_passes_and_is_no_overflow():
    guard = LabelGuard()
    assert guard.admit("2026-11-21_rc.1+build@eu:3", 0.0) == "2026-11-21_rc.1+build@eu:3"
    assert guard.overflow == 0


@pytest.mark.parametrize("hostile", ["\ud800", "a\x00b", "a\nb", "v1\n", "\u202ev1", "v 1", 'v"1', "{}", "é", "x" * 65])
def test_an_unclean_value_becomes_other_and_is_counted(hostile):
    guard = LabelGuard()
    assert guard.admit(hostile, 0.0) == "other"
    assert guard.overflow == 1
    assert hostile not in guard.live


def test_a_value_that_was_not_given_is_none_and_no_overflow():
    guard = LabelGuard()
    assert [guard.admit(None, 0.0), guard.admit("", 0.0)] == ["none", "none"]
    assert guard.overflow == 0


def test_values_that_are_the_same_after_nfc_share_one_place():
    guard = LabelGuard(limit=1)
    kelvin = "\u212a1"
    assert unicodedata.normalize("NFC", kelvin) == "K1"
    assert guard.admit("K1", 0.0) == "K1"
    assert guard.admit(kelvin, 0.0) == "K1"
    assert guard.overflow == 0


def test_a_run_of_combining_marks_is_refused_before_it_is_normalized():
    assert LabelGuard().admit("a" + "\u0301\u0316" * 100_000, 0.0) == "other"


def test_the_twenty_first_value_becomes_other_while_the_twenty_are_in_use():
    guard = LabelGuard()
    for number in range(20):
        assert guard.admit(f"v{number}", 0.0) == f"v{number}"
    assert guard.admit("v20", 10.0) == "other"
    assert guard.admit("v0", 10.0) == "v0"
    assert guard.overflow == 1
    assert guard.take_evicted() == []


def test_the_longest_unused_value_gives_way_after_an_hour_and_is_reported_once():
    guard = LabelGuard(limit=2)
    guard.admit("old", 0.0)
    guard.admit("older", 1.0)
    guard.admit("old", 2.0)
    assert guard.admit("new", HOUR) == "other"
    assert guard.admit("new", HOUR + 1.0) == "new"
    assert guard.take_evicted() == ["older"]
    assert guard.take_evicted() == []


def test_an_evicted_value_stays_away_for_an_hour_even_if_there_is_room():
    guard = LabelGuard(limit=1)
    guard.admit("a", 0.0)
    guard.admit("b", HOUR)
    assert guard.take_evicted() == ["a"]
    assert guard.admit("a", 2 * HOUR - 1.0) == "other"
    assert guard.admit("a", 2 * HOUR) == "a"
    assert guard.take_evicted() == ["b"]


def test_a_flood_of_made_up_values_neither_evicts_those_in_use_nor_grows_the_guard():
    guard = LabelGuard(limit=3)
    for minute in range(600):
        assert guard.admit("release", minute * 60.0) == "release"
        for number in range(10):
            guard.admit(f"made-up-{minute}-{number}", minute * 60.0)
    assert len(guard.live) == 3 + 2  # "none" and "other" always pass
    assert len(guard.take_evicted()) <= 2 * 10
    assert len(guard._places._away) <= 2 * 3


def test_a_clock_that_jumps_back_evicts_nothing():
    guard = LabelGuard(limit=1)
    guard.admit("a", 1_000_000.0)
    assert guard.admit("b", 0.0) == "other"


def test_declared_values_are_beside_the_limit_and_never_evicted():
    guard = LabelGuard(limit=1, declared=["support", "sales"])
    guard.admit("seen", 0.0)
    assert guard.admit("later", 5 * HOUR) == "later"
    assert guard.take_evicted() == ["seen"]
    assert guard.admit("support", 5 * HOUR) == "support"


def test_a_declared_value_that_cannot_be_a_label_is_refused_at_start():
    with pytest.raises(ConfigError, match="got 'my assistant'"):
        LabelGuard(declared=["my assistant"])


def test_no_place_means_that_nobody_is_admitted():
    assert not BoundedLabels(0).admit("a", 0.0)


def test_a_declared_name_is_its_own_label():
    assert name_label("nDCG(order=retrieval)@10") == "nDCG(order=retrieval)@10"
    assert name_label("keywords.forbidden(words='käse')") == "keywords.forbidden(words='käse')"


@pytest.mark.parametrize("name", ["", "a\nb", "\ud800", "x" * 121, "ü" * 100, "\u202e"])
def test_a_name_that_cannot_be_a_label_is_cut_to_printable_120_bytes_with_its_digest(name):
    label = name_label(name)
    assert label.isprintable()
    assert len(label.encode()) <= 120
    assert label[-9] == "#"


def test_two_long_names_never_share_a_label():
    assert name_label("x" * 200 + "a") != name_label("x" * 200 + "b")
    assert name_label("a\nb") != name_label("a?b")
