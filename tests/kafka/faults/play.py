"""One fault run: workers, turns, a script of faults, and what came of it beside what the oracle says."""

import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from confluent_kafka import KafkaException

from agents.brokers import Broker
from agents.settings import Settings
from agents.topics import create_topics, topic_names
from tests.kafka.faults.comparison import Comparison, compare, explain
from tests.kafka.faults.oracle import committed, ends, foretell, read_outcome, read_states, read_turns
from tests.kafka.faults.scenarios import Moment, Scene, Script
from tests.kafka.faults.traffic import SUITE, Feed, make_suite, make_traffic
from tests.kafka.faults.workers import FaultyWorker

CATCH_UP_SECONDS = 180.0  #: after the last turn and the last fault; a worker that is not back by then is lost


class Result(NamedTuple):
    """What a run gave. behind: seconds from the last turn to the last commit; why: the first differences."""

    comparison: Comparison
    behind: float
    seconds: float
    why: str
    logs: dict[str, str]
    exits: list[int | None]


def make_settings(
    broker: Broker, prefix: str, directory: Path, delivery: str = "exactly_once", patience: float = 1.0
) -> Settings:
    """Give settings with short timeouts and small batches, so that many are in flight when something happens.

    patience: what the timeouts are multiplied by.
    """
    directory.mkdir(parents=True, exist_ok=True)
    suite = directory / "suite.toml"
    suite.write_text(SUITE, encoding="utf-8")
    told = {
        "TURNSIGNAL_BROKERS": broker.address,
        "TURNSIGNAL_PREFIX": prefix,
        "TURNSIGNAL_METRICS_PORT": "0",
        "TURNSIGNAL_DELIVERY": delivery,
        "TURNSIGNAL_SUITE": str(suite),
        "TURNSIGNAL_MAX_POLL_RECORDS": "300",
        "TURNSIGNAL_SESSION_TIMEOUT": f"{4 * patience}s",
        "TURNSIGNAL_HEARTBEAT_INTERVAL": f"{0.5 * patience}s",
        "TURNSIGNAL_REBALANCE_TIMEOUT": f"{6 * patience}s",
        "TURNSIGNAL_POLL_INTERVAL": f"{4 * patience}s",
        "TURNSIGNAL_TRANSACTION_TIMEOUT": f"{6 * patience}s",
        "TURNSIGNAL_STALL_TIMEOUT": f"{8 * patience}s",
    }
    return Settings.from_env(told)


def play(
    script: Script,
    broker: Broker,
    prefix: str,
    directory: Path,
    *,
    turns: int,
    seconds: float,
    seed: int = 0,
    workers: int = 2,
    mischief: tuple[str, ...] = (),
    outage: float = 60.0,
    delivery: str = "exactly_once",
    patience: float = 1.0,
) -> Result:
    """Run a script against fresh topics.

    seconds: how long the turns are spread over; mischief: what the first workers do on SIGHUP.
    """
    began = time.monotonic()
    settings = make_settings(broker, prefix, directory, delivery, patience)
    create_topics(settings)
    kinds = [*mischief, *[""] * workers]
    cast = [FaultyWorker(f"worker-{number}", settings, directory, kinds[number]) for number in range(workers)]
    scene = Scene(cast, broker, seconds, settings.session_timeout, settings.stall_timeout, outage)
    try:
        for worker in cast:
            worker.start()
        wait(lambda: all(worker.working for worker in cast), 90, "the workers to have partitions", cast)
        fed = _feed(settings, script(scene), turns, seconds, seed)
        last = time.monotonic()
        wait(lambda: committed(settings) == ends(settings), CATCH_UP_SECONDS, "all turns to be committed", cast)
        expected = foretell(read_turns(settings), make_suite(), topic_names(prefix)["turns"], batch=25)
        with suppress(TimeoutError):  # then the comparison says what differs
            wait(lambda: read_states(settings) == expected.states, 30, "the last conversations to be closed")
        behind = time.monotonic() - last
        for worker in cast:
            worker.terminate()
        exits = [worker.join() for worker in cast]
        found = read_outcome(settings)
        comparison = compare(expected, found, fed)
        why = "" if comparison.clean else explain(expected, found)
        logs = {worker.name: worker.log_text() for worker in cast}
        return Result(comparison, behind, time.monotonic() - began, why, logs, exits)
    finally:
        for worker in cast:
            worker.kill()


def _feed(settings: Settings, moments: list[Moment], turns: int, seconds: float, seed: int) -> int:
    began = time.monotonic()

    def meanwhile() -> None:
        while moments and time.monotonic() - began >= moments[0].at:
            moments.pop(0).act()

    feed = Feed(settings, turns / seconds, gap_every=turns // 3, gap=min(3.0, seconds / 10))
    fed = feed.run(make_traffic(turns, seed), meanwhile)
    while moments:  # what comes after the last turn
        meanwhile()
        time.sleep(0.05)
    return fed


def wait(condition: Callable[[], bool], timeout: float, what: str, workers: list[FaultyWorker] | None = None) -> None:
    """Wait for a condition; a broker that is not there yet counts as not yet."""
    until = time.monotonic() + timeout
    while time.monotonic() < until:
        with suppress(KafkaException):
            if condition():
                return
        time.sleep(0.2)
    said = "".join(f"\n--- {worker.name}\n{worker.log_text()[-3000:]}" for worker in workers or [])
    msg = f"expected {what} within {timeout:.0f} s{said}"
    raise TimeoutError(msg)
