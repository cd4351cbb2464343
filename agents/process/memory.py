"""Memory: settings of the garbage collector and the allocator for processes that work in batches.

By default Python's collector visits every long-lived object again and again, which is a seventh of a turn's cost; and
the C library returns each batch's memory to the kernel and fetches it again, page by page, for the next batch.
"""

import gc
from collections.abc import Iterator
from contextlib import contextmanager, suppress

_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3  # mallopt(3), glibc
_KEPT = 256 << 20  # bytes at the top of the heap
_LARGEST = 32 << 20  # bytes of one piece, the most that glibc takes


@contextmanager
def kept_memory() -> Iterator[None]:
    """Collect so rarely that a batch's objects are freed before, and keep freed memory for the next batch.

    Keeping memory lasts until the process ends, and works only with glibc.
    """
    import ctypes  # not for every command

    gc.freeze()
    with suppress(OSError, AttributeError):
        mallopt = ctypes.CDLL(None).mallopt
        mallopt(_TRIM_THRESHOLD, _KEPT)
        mallopt(_MMAP_THRESHOLD, _LARGEST)
    try:
        with rare_collections():
            yield
    finally:
        gc.unfreeze()


@contextmanager
def rare_collections() -> Iterator[None]:
    """Look for garbage seldom: where modules are imported there is none, and looking takes a twentieth of the time."""
    before = gc.get_threshold()
    gc.set_threshold(50_000, 20, 100)
    try:
        yield
    finally:
        gc.set_threshold(*before)
