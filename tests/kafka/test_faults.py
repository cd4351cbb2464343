"""Every fault in short form, and one mixed seed; `make faults` runs them all over ten seeds.

Whatever is killed, stopped, slowed or taken away: no score row missing, none unexpected, none twice; every state,
summary, dead letter and series as the oracle says; and the workers are back at work by themselves.
"""

from pathlib import Path

import pytest

from agents.brokers import Broker, GivenBroker
from tests.kafka.faults.play import Result, play
from tests.kafka.faults.scenarios import FAULTS, mixed

pytestmark = pytest.mark.kafka

OURS_ONLY = ("crash_broker", "outage")  #: what cannot be done to somebody else's broker


def check(result: Result) -> None:
    logs = "".join(f"\n--- {name}\n{text[-6000:]}" for name, text in result.logs.items())
    assert result.comparison.clean, f"{result.comparison}\n{result.why}{logs}"
    assert set(result.exits) == {0}, f"{result.exits}{logs}"


@pytest.mark.parametrize("name", FAULTS)
def test_nothing_is_lost_or_doubled(name: str, broker: Broker, fresh_prefix: str, tmp_path: Path) -> None:
    if name in OURS_ONLY and isinstance(broker, GivenBroker):
        pytest.skip("TURNSIGNAL_BROKERS names a broker that is not ours to crash")
    script, mischief = FAULTS[name]
    result = play(
        script,
        broker,
        fresh_prefix,
        tmp_path,
        turns=2_400,
        seconds=6.0,
        workers=3 if name == "join_and_leave" else 2,
        mischief=(mischief,),
        outage=9.0,  # longer than a commit may take, so that the workers give up and come back
        patience=0.6,
    )
    check(result)
    assert result.comparison.rows > 1_500
    if mischief:
        assert f"mischief: {mischief}" in result.logs["worker-0"]


def test_nothing_is_lost_or_doubled_when_everything_happens(broker: Broker, fresh_prefix: str, tmp_path: Path) -> None:
    mischief = ("hang_await", "hang_cpu", "slow")
    script = mixed(2) if isinstance(broker, GivenBroker) else mixed(1)  # the first one has a crash of the broker
    result = play(
        script, broker, fresh_prefix, tmp_path, turns=6_000, seconds=18.0, workers=3, mischief=mischief, patience=0.6
    )
    check(result)
