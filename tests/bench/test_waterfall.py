"""What `python tests/bench/waterfall.py` prints, in small: planted stages are named, gains lie within intervals."""

import pytest

from tests.bench.waterfall import PLANTED, held, name_planted


@pytest.mark.slow
@pytest.mark.parametrize("kind", PLANTED)
def test_the_planted_stage_is_named_first(kind: str) -> None:
    assert [name_planted(kind, seed, 800) for seed in range(4)] == [PLANTED[kind]] * 4


@pytest.mark.slow
def test_a_gains_interval_holds_the_simulated_gain_in_95_of_100_recordings() -> None:
    for stage, (count, _, _) in held(400, 300, one_mood=False).items():
        assert 0.90 <= count / 400 <= 0.98, stage
