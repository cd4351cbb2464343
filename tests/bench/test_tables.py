"""The bench's marks: a target passes or is missed only where the rounds agree."""

import sys
from math import inf
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))  # the bench runs as a program, so its modules lie flat

from tables import Measured, Rounds, Target


def test_seven_rounds_have_an_interval_from_the_smallest_to_the_largest_and_five_have_none() -> None:
    assert Measured.of([7.0, 3.0, 1.0, 2.0, 4.0, 6.0, 5.0]) == Measured(4.0, 1.0, 7.0)
    assert Measured.of([float(n) for n in range(1, 10)]) == Measured(5.0, 2.0, 8.0)
    assert Measured.of([1.0, 2.0, 3.0, 4.0, 5.0]) == Measured(3.0, -inf, inf)
    assert Measured.of([]) is None


def test_a_target_is_not_resolved_where_its_interval_holds_the_limit() -> None:
    at_most = [Target("", Measured(1.0, low, high), 1.1).mark for low, high in ((0.9, 1.1), (1.0, 1.2), (1.2, 1.3))]
    assert at_most == ["pass", "not resolved", "**miss**"]
    at_least = [Target("", Measured(1.0, *ends), 1.1, False).mark for ends in ((1.1, 1.3), (1.0, 1.2), (0.8, 1.0))]
    assert at_least == ["pass", "not resolved", "**miss**"]
    assert Target("", Measured(0.5), 1.1).mark == "not resolved"
    assert Target("", None, 1.1).mark == "not measured"


def test_a_share_that_noise_has_turned_round_counts_against_us() -> None:
    rows = [
        {"section": "s", "variant": variant, "round": round_, "cpu_us": us}
        for round_, peer in enumerate((90.0, 120.0, 120.0))
        for variant, us in (("plain", 100.0), ("ours", 110.0), ("peer", peer))
    ]
    shares = Rounds(rows, "s").share_ratio("ours", "peer", "plain")
    assert shares is not None
    assert shares.value == 0.5
    assert Rounds(rows[:3], "s").share_ratio("ours", "peer", "plain") == Measured(inf)
