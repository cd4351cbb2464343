"""Tumbling windows: `[start, start + size)`, kept for a while after their end."""

import pytest

from stream.windows import Window, WindowSpec, expire, find, window_at

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


def test_a_window_is_made_once() -> None:
    windows: list[Window] = []
    first = window_at(windows, SPEC, 10.0, 10.0, 2)
    assert first == Window(300.0, 0.0, [0, 0, 0, 0])
    assert window_at(windows, SPEC, 20.0, 20.0, 2) is first
    assert window_at(windows, SPEC, 300.0, 300.0, 2) is not first
    assert [window.start for window in windows] == [0.0, 300.0]


def test_a_late_time_goes_into_its_own_window_while_that_is_kept() -> None:
    windows: list[Window] = []
    window_at(windows, SPEC, 1100.0, 1100.0, 1)
    late = window_at(windows, SPEC, 10.0, 1199.0, 1)
    assert late is not None
    assert late.start == 0.0


def test_an_expired_window_takes_nothing_even_if_it_is_still_there() -> None:
    windows: list[Window] = []
    window_at(windows, SPEC, 10.0, 10.0, 1)
    assert window_at(windows, SPEC, 20.0, 1200.0, 1) is None
    assert window_at([], SPEC, 20.0, 1200.0, 1) is None


def test_sizes_are_kept_apart() -> None:
    windows: list[Window] = []
    hour = WindowSpec(3600.0, 3600.0)
    window_at(windows, SPEC, 0.0, 0.0, 1)
    assert find(windows, hour, 0.0) is None
    window_at(windows, hour, 0.0, 0.0, 1)
    assert [window.size for window in windows] == [300.0, 3600.0]


def test_windows_that_have_expired_or_are_no_longer_configured_leave() -> None:
    windows = [Window(300.0, 0.0, []), Window(300.0, 300.0, []), Window(60.0, 1200.0, [])]
    assert expire(windows, [SPEC], 1200.0) == [Window(300.0, 300.0, [])]
