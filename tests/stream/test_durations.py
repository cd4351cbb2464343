"""Durations: one reading for suites, settings and options."""

import math

import pytest
from pydantic import TypeAdapter, ValidationError

from turnsignal.agents.settings import Settings
from turnsignal.stream.durations import Duration, DurationOrForever, DurationOrZero, read_duration
from turnsignal.stream.suite import parse_suite

READINGS = [
    ("250ms", 0.25),
    ("90", 90.0),
    ("1.5 m", 90.0),
    (" 24h ", 86_400.0),
    ("7d", 604_800.0),
    ("2w", 1_209_600.0),
]


@pytest.mark.parametrize(("written", "seconds"), READINGS)
def test_a_suite_and_a_setting_read_the_same_duration(written: str, seconds: float) -> None:
    assert read_duration(written) == seconds
    assert parse_suite(f'[conversations]\nretention = "{written}"\nidle = 0.1\ngrace = 0.1').limits.retention == seconds
    given = {"TURNSIGNAL_BROKERS": "kafka:9092", "TURNSIGNAL_RETENTION_TURNS": written}
    assert Settings.from_env(given).retention_turns == seconds


@pytest.mark.parametrize(
    "written", ["soon", "1 month", "-1s", "1e3", "٣s", "", True, None, "forever", math.inf, "9" * 400]
)
def test_what_is_no_duration_is_refused(written: object) -> None:
    with pytest.raises(ValidationError):
        TypeAdapter(Duration).validate_python(written)


def test_zero_and_for_ever_are_durations_only_where_they_mean_something() -> None:
    assert TypeAdapter(DurationOrZero).validate_python("0") == 0.0
    assert TypeAdapter(DurationOrForever).validate_python("forever") == math.inf
    with pytest.raises(ValidationError):
        TypeAdapter(Duration).validate_python(0)
    with pytest.raises(ValidationError):
        TypeAdapter(DurationOrZero).validate_python("forever")
