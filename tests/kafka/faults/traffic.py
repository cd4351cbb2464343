"""What is fed in the fault runs: simulated traffic over a rough road, and a suite under which much happens.

Conversations close, return, and are forgotten within a run, by event time only: the wall clock never closes one, so
that an oracle which knows nothing of when a worker worked can say what must come out.
"""

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson
from confluent_kafka import Producer

from turnsignal.agents.kafka.topics import partition_for, topic_names
from turnsignal.agents.settings import Settings
from turnsignal.stream.simulation import SimulatedRecord, Traffic, simulate
from turnsignal.stream.suite import Suite, parse_suite

RATE = 5.0  #: turns per second of event time
#: What timeouts are multiplied by in `make test`, where a machine that does other work too starts a worker in half a
#: minute; a session of a few seconds would end before its member is back, and every end of one makes more work for all.
PATIENCE = 2.0
SUITE = """
name = "faults"
[conversations]
idle = "5m"
retention = "1h"
grace = "1m"
silence = 1_000_000_000
[[windows]]
size = "1m"
keep = "5m"
[[windows]]
size = "10m"
keep = "10m"
[exchanges]
share = 0.3
"""


def make_settings(
    broker: Any, prefix: str, directory: Path, delivery: str = "exactly_once", patience: float = PATIENCE, **more: str
) -> Settings:
    """Give settings with short timeouts and small batches, so that many are in flight when something happens.

    broker: anything with an address; patience: what the timeouts are multiplied by; more: variables, without their
    prefix.
    """
    directory.mkdir(parents=True, exist_ok=True)
    suite = directory / "suite.toml"
    suite.write_text(SUITE, encoding="utf-8")
    told = {
        "BROKERS": broker.address,
        "PREFIX": prefix,
        "METRICS_PORT": "0",
        "DELIVERY": delivery,
        "SUITE": str(suite),
        "MAX_POLL_RECORDS": "300",
        "SESSION_TIMEOUT": f"{4 * patience}s",
        "HEARTBEAT_INTERVAL": f"{0.5 * patience}s",
        "REBALANCE_TIMEOUT": f"{6 * patience}s",
        "DRAIN_TIMEOUT": f"{1.5 * patience}s",
        "POLL_INTERVAL": f"{4 * patience}s",
        "TRANSACTION_TIMEOUT": f"{6 * patience}s",
        "STALL_TIMEOUT": f"{8 * patience}s",
    }
    return Settings.from_env({f"TURNSIGNAL_{name}": value for name, value in (told | more).items()})


def make_suite() -> Suite:
    """Return the suite of all fault runs."""
    return parse_suite(SUITE)


def make_traffic(turns: int, seed: int) -> Iterator[SimulatedRecord]:
    """Give records whose event times end about now: a timestamp in the future is then one for the broker too."""
    return simulate(
        Traffic(
            seed=seed,
            turns=turns,
            start=time.time() - turns / RATE - 3600.0,
            rate=RATE,
            day_night=False,
            open_conversations=200,
            document_chars=(40, 160),
            gaps=0.05,
            hot=0.02,
            superseded=0.05,
            disorder=0.05,
            late=0.02,
            late_seconds=500.0,
            duplicates=0.03,
            conflicts=0.01,
            naive=0.02,
            malformed=0.02,
        )
    )


def last_words(partitions: int, number: int = 1) -> Iterator[tuple[bytes, bytes]]:
    """Give one more turn per partition, half an hour later than all others, on a full minute.

    number: which feed of this topic they end; each has ten minutes of its own.

    Idle conversations are looked for by the minute; on a full minute nothing depends on when somebody last looked.
    """
    stamp = (time.time() // 60 + 1) * 60.0 - 3600.0 + 1200.0 + 600.0 * number
    for partition in range(partitions):
        name = next(n for n in range(10_000) if partition_for(b"last-%d" % n, partitions) == partition)
        turn = {"conversation_id": f"last-{name}", "turn_id": f"t{number}", "role": "user", "text": "That was it."}
        when = datetime.fromtimestamp(stamp, UTC).isoformat()
        yield b"last-%d" % name, orjson.dumps({**turn, "timestamp": when})


@dataclass
class Feed:
    """Write records to the turns topic.

    pace: turns per second, 0 is as fast as it goes; gap_every, gap: after so many records nothing comes for so many
    seconds; number: which feed of this topic it is; options: more of librdkafka's for the producer.
    """

    settings: Settings
    pace: float = 0.0
    gap_every: int = 0
    gap: float = 0.0
    number: int = 1
    options: dict[str, Any] = field(default_factory=dict)
    fed: int = 0

    def run(self, records: Iterable[SimulatedRecord], meanwhile: Callable[[], None] = lambda: None) -> int:
        """Write all records; `meanwhile` is called now and then, and may break things.

        An unreachable broker is waited for: what is fed is fed once.
        """
        options = self.settings.producer() | {"message.timeout.ms": 300_000, "enable.idempotence": True, "log_level": 0}
        producer = Producer(options | self.options)
        transactional = "transactional.id" in self.options
        if transactional:
            producer.init_transactions(60)
            producer.begin_transaction()
        topic = topic_names(self.settings.prefix)["turns"]
        began = time.monotonic()
        for record in records:
            while True:
                try:
                    producer.produce(topic, record.value, record.key)
                    break
                except BufferError:
                    producer.poll(0.1)
            self.fed += 1
            if self.fed % 100 == 0:
                producer.poll(0)
                meanwhile()
                ahead = self.fed / self.pace - (time.monotonic() - began) if self.pace else 0.0
                if ahead > 0:
                    time.sleep(ahead)
            if self.gap_every and self.fed % self.gap_every == 0:
                time.sleep(self.gap)
                began += self.gap
        for key, value in last_words(self.settings.partitions, self.number):
            producer.produce(topic, value, key)
        until = time.monotonic() + 300
        while producer.flush(0.5):
            meanwhile()
            assert time.monotonic() < until, "the feed could not be written within 300 s"
        if transactional:
            producer.commit_transaction(60)
        return self.fed + self.settings.partitions
