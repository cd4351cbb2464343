"""What holds for all tests: how many examples Hypothesis tries in `make check`, and when Python looks for garbage."""

import gc

from hypothesis import settings

# Nothing is asserted of times: a machine may be busy.
settings.register_profile("quick", max_examples=10, deadline=None)
settings.register_profile("whole", deadline=None)
settings.load_profile("whole")


def pytest_configure() -> None:
    gc.disable()  # while thousands of tests are collected, all of which stay: it took half of the time


def pytest_collection_finish() -> None:
    gc.freeze()
    gc.set_threshold(100_000, 50, 100)  # rarely: it took a twelfth of the time of `make check`
    gc.enable()
