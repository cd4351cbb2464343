"""Tumbling windows: `[start, start + size)`, kept for a while after their end."""

from collections.abc import Sequence

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnsignal.stream.conversations.windows import MergedScores, ScoreWindows, Window, WindowLayout, WindowSpec

SPEC = WindowSpec(size=300.0, keep=900.0)


@pytest.mark.parametrize(
    ("time", "start"), [(0.0, 0.0), (299.999, 0.0), (300.0, 300.0), (-1.0, -300.0), (1_750_000_000.0, 1_749_999_900.0)]
)
def test_a_time_belongs_to_one_window_its_start_included_its_end_not(time: float, start: float) -> None:
    assert SPEC.start(time) == start
    assert start <= time < start + SPEC.size


def test_a_window_expires_when_its_keep_has_passed_since_its_end() -> None:
    assert not SPEC.expired(0.0, 1199.9)
    assert SPEC.expired(0.0, 1200.0)


PLACES = (0,)
HOUR = WindowSpec(3600.0, 3600.0)


def score_windows(*times: float, specs: Sequence[WindowSpec] = (SPEC,)) -> tuple[ScoreWindows, list[int]]:
    """Rows of value 1 at these times, in the order of arrival."""
    kept, last, expired = ScoreWindows(), float("-inf"), []
    for time in times:
        last = max(last, time)
        expired.append(kept.add(WindowLayout(specs, 1), time, last, PLACES, (1.0,)))
    return kept, expired


def test_rows_of_one_window_wait_together_and_move_on_when_the_next_window_begins() -> None:
    kept, _ = score_windows(10.0, 20.0)
    assert (kept.since, kept.until, kept.pending, kept.merged) == (0.0, 300.0, [2, 2.0], b"")
    kept.add(WindowLayout([SPEC], 1), 300.0, 300.0, PLACES, (0.5,))
    assert (kept.since, kept.until, kept.pending) == (300.0, 600.0, [1, 0.5])
    assert kept.merge_pending(WindowLayout([SPEC], 1), 300.0) == MergedScores(
        [3, 2.5], [Window(300.0, 0.0, [2, 2.0]), Window(300.0, 300.0, [1, 0.5])]
    )


def test_settling_twice_says_the_same() -> None:
    kept, _ = score_windows(10.0, 310.0)
    assert kept.merge_pending(WindowLayout([SPEC], 1), 310.0) == kept.merge_pending(WindowLayout([SPEC], 1), 310.0)


def test_a_late_row_goes_into_its_own_window_while_that_is_kept() -> None:
    kept, expired = score_windows(1100.0, 10.0)
    assert expired == [0, 0]
    assert {window.start: window.means for window in kept.merge_pending(WindowLayout([SPEC], 1), 1199.0).windows} == {
        900.0: [1, 1.0],
        0.0: [1, 1.0],
    }


def test_a_row_too_late_for_its_window_counts_over_the_life_of_the_conversation_only() -> None:
    kept, expired = score_windows(1200.0, 20.0)
    assert expired == [0, 1]
    assert kept.merge_pending(WindowLayout([SPEC], 1), 1200.0) == MergedScores(
        [2, 2.0], [Window(300.0, 1200.0, [1, 1.0])]
    )


def test_each_size_has_its_own_windows() -> None:
    kept, _ = score_windows(0.0, 310.0, specs=[SPEC, HOUR])
    assert kept.merge_pending(WindowLayout([SPEC, HOUR], 1), 310.0).windows == [
        Window(300.0, 0.0, [1, 1.0]),
        Window(3600.0, 0.0, [2, 2.0]),
        Window(300.0, 300.0, [1, 1.0]),
    ]


def test_windows_that_have_expired_leave() -> None:
    kept, _ = score_windows(0.0, 310.0)
    assert [window.start for window in kept.merge_pending(WindowLayout([SPEC], 1), 1200.0).windows] == [300.0]


def test_without_windows_everything_is_life_long() -> None:
    kept, _ = score_windows(5.0, 1e9, 7.0, specs=[])
    assert kept.merge_pending(WindowLayout([], 1), 1e9) == MergedScores([3, 3.0], [])


@given(st.lists(st.tuples(st.integers(0, 4000), st.sampled_from([0.0, 0.25, 1.0])), max_size=30), st.data())
def test_waiting_and_moving_on_changes_no_sum(rows: list[tuple[int, float]], data: st.DataObject) -> None:
    specs, kept, last = [SPEC, HOUR], ScoreWindows(), -1.0
    life, windows = [0, 0.0], {}
    for time, value in rows:
        last = max(last, float(time))
        kept.add(WindowLayout(specs, 1), float(time), last, PLACES, (value,))
        if data.draw(st.booleans()):
            kept = msgspec.msgpack.decode(msgspec.msgpack.encode(kept), type=ScoreWindows)
        gone = data.draw(st.integers(0, 4)) == 0
        if gone:
            kept.retract(WindowLayout(specs, 1), float(time), last, PLACES, (value,))
        for spec in specs:
            start = spec.start(float(time))
            if not gone and not spec.expired(start, last):
                n, total = windows.get((spec.size, start), (0, 0.0))
                windows[spec.size, start] = (n + 1, total + value)
        life = life if gone else [life[0] + 1, life[1] + value]
    settled = kept.merge_pending(WindowLayout(specs, 1), last)
    alive = {
        key: [*sums]
        for key, sums in windows.items()
        if not next(s for s in specs if s.size == key[0]).expired(key[1], last)
    }
    assert settled.means == life
    assert {(w.size, w.start): w.means for w in settled.windows if w.means[0]} == alive
