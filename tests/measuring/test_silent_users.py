"""The simulation of TurnsignalUsersSilent: it fires at a rise that stays, not at nights that are always so."""

import numpy as np
import pytest

from tests.measuring.silent_users import DAY, WINDOW, firings


@pytest.mark.parametrize(("rise", "fires"), [(0.0, 0), (0.1, 0), (0.3, 1)])
def test_a_rise_fires_once_it_holds(rise: float, fires: int) -> None:
    closed = np.full(6 * DAY, 20)
    silent = (closed * np.where(np.arange(6 * DAY) < 4 * DAY, 0.4, 0.4 + rise)).astype(int)
    begun = firings(closed, silent)
    assert len(begun) == fires
    assert all(4 * DAY < step < 4 * DAY + WINDOW for step in begun)


def test_nights_that_are_always_so_fire_at_no_time_and_few_conversations_say_nothing() -> None:
    night = np.arange(6 * DAY) % DAY < DAY // 2
    assert firings(np.full(6 * DAY, 20), np.where(night, 16, 4)) == []
    few = (np.arange(6 * DAY) % 10 == 0).astype(int)
    assert firings(few, few * (np.arange(6 * DAY) > 4 * DAY)) == []
