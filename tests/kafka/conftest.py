"""A real broker for the tests of promises: one per session, and for each test topics of its own."""

import os
import uuid
from collections.abc import Iterator

import pytest

from tests.kafka.faults.cluster import STEADY
from tests.kafka.faults.oracle import committed
from tests.kafka.faults.play import wait
from turnsignal.agents.kafka.brokers import Broker, find_broker
from turnsignal.agents.kafka.topics import create_topics
from turnsignal.agents.settings import Settings
from turnsignal.stream.errors import TurnsignalError

# A broker that lives for minutes does not earn back what Java's second compiler and its parallel collectors cost: half
# of its processor time (600 transactions: 27 s, and 13 without).
os.environ.setdefault("JDK_JAVA_OPTIONS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")

# Small enough that tests of too large records stay small; a broker of one's own keeps its limit.
MAX_RECORD = 4 * 1024 * 1024


@pytest.fixture(scope="session")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    """A running broker; skipped where there is none, except under CI, where that is a failure."""
    try:
        found = find_broker(
            os.environ,
            directory=tmp_path_factory.mktemp("kafka"),
            properties=STEADY | {"message.max.bytes": str(MAX_RECORD), "replica.fetch.max.bytes": str(MAX_RECORD)},
            say=print,
        )
    except TurnsignalError as error:
        if os.environ.get("CI"):
            pytest.fail(f"CI is set and there is no broker: {error}", pytrace=False)
        pytest.skip(str(error))
    with found:
        yield found


@pytest.fixture
def fresh_prefix() -> str:
    """A prefix that no test had before, so that one test's topics and groups are never another's."""
    return f"test-{uuid.uuid4().hex[:12]}"


@pytest.fixture
def settings(broker: Broker, fresh_prefix: str) -> Settings:
    """Settings for the session's broker and a prefix of its own; the topics are not made yet."""
    environment = {name: value for name, value in os.environ.items() if name.startswith("TURNSIGNAL_")}
    own = {"TURNSIGNAL_BROKERS": broker.address, "TURNSIGNAL_PREFIX": fresh_prefix, "TURNSIGNAL_METRICS_PORT": "0"}
    return Settings.from_env(environment | own)


@pytest.fixture
def fresh_topics(settings: Settings) -> Settings:
    """The same settings, with the topics made, and positions asked for, as every worker does before it writes.

    On a broker that never had a group, the first question makes it keep positions; until then a transaction that sends
    some waits for ever.
    """
    create_topics(settings)
    wait(lambda: committed(settings)[0] == 0, 30, "the group's coordinator to be there")
    return settings
