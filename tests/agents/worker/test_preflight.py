"""What the broker does not take is refused before a worker joins its group."""

import pytest

from turnsignal.agents.settings import Settings
from turnsignal.agents.worker.preflight import check_timeouts, warn_of_changelog
from turnsignal.stream.errors import ConfigError

LIMITS = {
    "transaction.max.timeout.ms": 900.0,
    "group.min.session.timeout.ms": 6.0,
    "group.max.session.timeout.ms": 1800.0,
}


def settings(**fields: float) -> Settings:
    return Settings.model_validate({"brokers": "127.0.0.1:9", **fields})


@pytest.mark.parametrize(
    ("field", "seconds", "reason"),
    [
        ("transaction_timeout", 1800, "at most 900 s, which is the broker's transaction.max.timeout.ms, got 1800 s"),
        ("session_timeout", 3600, "at most 1800 s, which is the broker's group.max.session.timeout.ms, got 3600 s"),
        ("session_timeout", 4, "at least 6 s, which is the broker's group.min.session.timeout.ms, got 4 s"),
    ],
)
def test_a_timeout_that_the_broker_does_not_take_is_named(field: str, seconds: float, reason: str) -> None:
    with pytest.raises(ConfigError, match=f"^TURNSIGNAL_{field.upper()}: expected {reason}$"):
        check_timeouts(settings(**{field: seconds}), LIMITS)


def test_limits_that_nobody_knows_refuse_nothing() -> None:
    check_timeouts(settings(session_timeout=3600, transaction_timeout=1800), {})


def test_a_changelog_that_takes_few_states_is_told(caplog: pytest.LogCaptureFixture) -> None:
    warn_of_changelog("state", None)
    warn_of_changelog("state", 1_048_588)
    assert caplog.text == ""
    warn_of_changelog("state", 70_000)
    assert "expected a max.message.bytes of state of at least 1040000, got 70000" in caplog.text
