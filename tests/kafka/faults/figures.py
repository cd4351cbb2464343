"""How fast work goes on: `python -m tests.kafka.faults.figures` measures three figures on a broker of its own.

Settings are the product's defaults here, not the short ones of the fault runs: these are what a user waits for.
"""

import argparse
import asyncio
import signal
import statistics
import sys
import threading
import time
from pathlib import Path
from tempfile import mkdtemp

from confluent_kafka import Consumer, Producer, TopicPartition
from faust.types import TP

from tests.kafka.faults.cluster import Cluster
from tests.kafka.faults.lab import Lab, Moment
from tests.kafka.faults.oracle import committed, ends
from tests.kafka.faults.traffic import last_words
from turnsignal.agents.metrics.exposition import WorkerMetrics
from turnsignal.agents.score import make_spec
from turnsignal.agents.settings import Settings
from turnsignal.agents.worker.tasks import TaskManager
from turnsignal.stream.suite import load_suite


def make_lab(cluster: Cluster, directory: Path, partitions: int) -> Lab:
    """Make a lab whose workers run with the defaults."""
    prefix = directory.name
    told = {"BROKERS": cluster.address, "PREFIX": prefix, "METRICS_PORT": "0", "PARTITIONS": str(partitions)}
    directory.mkdir(parents=True)
    return Lab(cluster, Settings.from_env({f"TURNSIGNAL_{k}": v for k, v in told.items()}), directory)


def take_over(cluster: Cluster, directory: Path, partitions: int = 32, rounds: int = 5) -> list[float]:
    """Measure the take-over of one partition while all others are busy: seconds of each round."""
    lab = make_lab(cluster, directory, partitions)
    settings, names, stop = lab.settings, lab.names, threading.Event()
    group = settings.app_id("score")
    member = Consumer({**settings.confluent(), "group.id": group}).consumer_group_metadata()

    def be_busy(number: int) -> None:
        producer = Producer(settings.producer(f"{group}-{number}"))
        producer.init_transactions(60)
        while not stop.is_set():
            producer.begin_transaction()
            producer.produce(names["scores"], b"{}", b"busy", 0)
            producer.send_offsets_to_transaction([TopicPartition(names["turns"], number, 0)], member, 30)
            producer.commit_transaction(30)
            time.sleep(0.02)

    async def once() -> float:
        task_manager = TaskManager(settings, make_spec(settings, load_suite(None)), WorkerMetrics())
        began = time.monotonic()
        await task_manager.assign({TP(names["turns"], 0), TP(names["forget"], 0)})
        took = time.monotonic() - began
        task_manager.close()
        return took

    lab.wait(lambda: committed(settings)[0] == 0, 30, "the group's coordinator to be there")
    busy = [threading.Thread(target=be_busy, args=(number,), daemon=True) for number in range(1, partitions)]
    for thread in busy:
        thread.start()
    lab.wait(lambda: ends(settings, "scores")[0] > 20 * partitions, 120, "all others to be busy")
    try:
        return [asyncio.run(once()) for _ in range(rounds)]
    finally:
        stop.set()
        for thread in busy:
            thread.join(60)


def from_cold(cluster: Cluster, directory: Path, partitions: int = 64, workers: int = 4) -> tuple[float, float, int]:
    """Measure workers that start at once: seconds until all partitions are assigned, are worked on; exits."""
    lab = make_lab(cluster, directory, partitions)
    try:
        producer = Producer(lab.settings.producer())
        for key, value in last_words(partitions):  # one turn for each, waiting
            producer.produce(lab.names["turns"], value, key)
        producer.flush(30)
        began = time.monotonic()
        lab.start(workers, app="score")
        assigned = time.monotonic() - began
        lab.wait(lab.is_caught_up, 240, "every partition to be worked on")
        scored = time.monotonic() - began
        return assigned, scored, sum(worker.exits for worker in lab.workers)
    finally:
        lab.close()


def killed(cluster: Cluster, directory: Path, rounds: int = 5) -> list[float]:
    """Measure kill −9 of one of two workers under load: seconds until what was there then is committed."""
    lab = make_lab(cluster, directory, 8)
    try:
        first, *_ = lab.start(2, app="score")
        found = []
        for _ in range(rounds):
            lab.back = 0.0
            lab.feed(3_000, 20.0, [Moment(5.0, lambda: first.send(signal.SIGKILL), mended=True)])
            lab.caught_up(120)
            lab.join_watchers()
            found.append(lab.back)
            lab.await_members()
        return found
    finally:
        lab.close()


def main() -> int:
    """Measure what is asked for, and print a line for each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", action="append", choices=("take_over", "from_cold", "killed"))
    wanted = parser.parse_args().only or ["take_over", "from_cold", "killed"]
    directory = Path(mkdtemp(prefix="turnsignal-figures-"))
    with Cluster(directory / "kafka") as cluster:
        if "take_over" in wanted:
            _report("take-over of one partition, 31 busy elsewhere", take_over(cluster, directory / "takeover"))
        if "from_cold" in wanted:
            assigned, scored, exits = from_cold(cluster, directory / "cold")
            print(
                f"4 workers, 64 partitions, from cold: assigned {assigned:.1f} s, scored {scored:.1f} s, {exits} exits"
            )
        if "killed" in wanted:
            _report("kill -9 of a worker to all scored again", killed(cluster, directory / "killed"))
    return 0


def _report(what: str, seconds: list[float]) -> None:
    shown = ", ".join(f"{one:.2f}" for one in seconds)
    print(f"{what}: median {statistics.median(seconds):.2f} s, worst {max(seconds):.2f} s ({shown})", flush=True)


if __name__ == "__main__":
    sys.exit(main())
