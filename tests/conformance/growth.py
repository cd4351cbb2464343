"""Growth: how much more work a text of twice the length is, counted and not timed wherever Python can see it.

`steps` counts the lines of Python that run: the same on every machine. What C does for one line (a search, a copy, a
regular expression) is not seen, so `times` compares processor times over one large doubling, with a wide bound; and
expressions that come from users run on RE2, whose time is linear by construction.
"""

import gc
import sys
from collections.abc import Callable
from time import process_time
from types import FrameType
from typing import Any

TELLING = 0.05  #: seconds of processor time below which a ratio is noise; a turn is no longer than what takes them


def steps(call: Callable[[], object]) -> int:
    """Count the lines of Python that a call runs."""
    count = 0

    def trace(frame: FrameType, event: str, arg: Any) -> Any:
        nonlocal count
        count += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        call()
    finally:
        sys.settrace(before)
    return count


def is_linear(work: Callable[[int], int], sizes: tuple[int, int, int] = (250, 500, 1_000)) -> bool:
    """Say whether work at four times the size is at most five times the work; the square would be sixteen times.

    What a call costs at any size, up to 500 lines, is allowed on top. What nests down to a bound grows faster until it
    is there: so what is not linear at once may be at eight times the sizes.
    """
    return _grows_linearly(work, sizes) or _grows_linearly(work, (8 * sizes[0], 8 * sizes[1], 8 * sizes[2]))


def _grows_linearly(work: Callable[[int], int], sizes: tuple[int, int, int]) -> bool:
    small, double, large = sizes
    most = work(large)
    return most <= 500 or most <= 5 * work(small) + 500 or most <= 2.5 * work(double) + 500


def ratio_of_times(call: Callable[[int], Callable[[], object]], small: int = 50_000, large: int = 200_000) -> float:
    """Return how many times longer a call takes at the large size: 4 where it is linear, 16 where it is the square.

    call: given a size, prepares what is timed. 0 where the large one takes less than `TELLING`. The shortest of a few
    times stands for a call: what else a machine does makes a call longer and never shorter. So the large size, which
    costs, is timed anew only while it seems to grow by more than the size does.
    """
    ready = call(large)
    if (longest := seconds(ready)) < TELLING:
        return 0.0
    small_one = call(small)
    shortest = max(min(seconds(small_one) for _ in range(5)), 1e-3)
    for _ in range(6):
        if longest <= 1.5 * large / small * shortest:
            break
        longest = min(longest, seconds(ready))
    return longest / shortest if longest >= TELLING else 0.0


def seconds(call: Callable[[], object]) -> float:
    """Time one call on the processor, without collections of what other tests left behind."""
    gc.disable()
    try:
        begin = process_time()
        call()
        return process_time() - begin
    finally:
        gc.enable()
