"""What holds for all tests: how many examples Hypothesis tries, what comes first, when Python looks for garbage."""

import gc
import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy is imported, as the command does

import pytest
from hypothesis import settings

# Nothing is asserted of times: a machine may be busy.
settings.register_profile("quick", max_examples=10, deadline=None)
settings.register_profile("whole", deadline=None)
settings.load_profile("whole")


def pytest_configure() -> None:
    gc.disable()  # while thousands of tests are collected, all of which stay: it took half of the time


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put first the files of which all tests are slow: processes that take what comes next end together then."""
    slow: dict[object, bool] = {}
    for item in items:
        slow[item.path] = slow.get(item.path, True) and item.get_closest_marker("slow") is not None
    items.sort(key=lambda item: not slow[item.path])


def pytest_collection_finish() -> None:
    gc.freeze()
    gc.set_threshold(100_000, 50, 100)  # rarely: it took a twelfth of the time of `make check`
    gc.enable()
