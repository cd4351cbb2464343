"""One transactional producer per partition, or one per worker fenced by the group's generation: what each costs.

    python tests/bench/producers.py [--partitions 64] [--brokers 3] [--rounds 20]

The second is what Kafka Streams does since KIP-447. Each way starts in a process of its own on the same brokers:
seconds from start to the first commit of every partition, open files and threads then, CPU of client and brokers for
a trickle (a record and a position for every partition, a transaction per partition or one for all), and, after a kill
−9 in the middle of a transaction, the seconds until another worker has the positions and commits from there. The
numbers are in agents/README.md, with the decision.
"""

import argparse
import json
import multiprocessing
import os
import signal
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import NewTopic
from session import ROOT
from tables import table

sys.path.insert(0, str(ROOT))

from tests.kafka.faults.cluster import Cluster

TIMEOUT_MS = 15_000  #: of a transaction, as TURNSIGNAL_TRANSACTION_TIMEOUT's default
SIDE_BY_SIDE = 16  #: partitions that a worker takes over at a time
WAYS = ("per partition", "per worker")


def main() -> None:
    """Print a table of both ways."""
    options = _read_arguments()
    context = multiprocessing.get_context("spawn")
    with (
        tempfile.TemporaryDirectory(prefix="turnsignal-producers-") as directory,
        Cluster(Path(directory), options.brokers) as cluster,
    ):
        lines, admin = [], cluster.admin()
        for way in WAYS:
            topic, group = f"in-{way.replace(' ', '-')}", f"group-{way.replace(' ', '-')}"
            made = admin.create_topics([NewTopic(topic, options.partitions, options.brokers)])
            made[topic].result(60)
            first = _Child(context, cluster, way, topic, group, options.partitions)
            figures = first.ask("start")
            before = _cpu_of([node.pid for node in cluster.nodes])
            figures |= first.ask(options.rounds)
            brokers = _cpu_of([node.pid for node in cluster.nodes]) - before
            figures["brokers_us"] = brokers / options.rounds / options.partitions * 1e6
            first.ask("leave open")
            first.kill()
            second = _Child(context, cluster, way, topic, group, options.partitions)
            figures["again"] = second.ask("start")["start"]
            second.kill()
            lines.append([way, *(f"{figures[name]:.4g}" for name in FIGURES)])
    print(table(["producers", *FIGURES.values()], lines))


FIGURES = {
    "start": "s to the first commits",
    "files": "open files",
    "threads": "threads",
    "client_us": "client CPU µs per partition and round",
    "brokers_us": "brokers' CPU µs per partition and round",
    "again": "s after a kill −9 in a transaction",
}


def _read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--partitions", type=int, default=64, help="of the input (default 64)")
    parser.add_argument("--brokers", type=int, choices=(1, 3), default=3, help="nodes of the cluster (default 3)")
    parser.add_argument("--rounds", type=int, default=20, help="records and commits of every partition (default 20)")
    return parser.parse_args()


class _Child:
    """A worker's producers in a process of their own, which answers one question at a time."""

    def __init__(self, context: Any, cluster: Cluster, *arguments: Any) -> None:
        self._mine, its = context.Pipe()
        self._process = context.Process(target=_serve, args=(its, cluster.address, *arguments))
        self._process.start()

    def ask(self, what: Any) -> dict[str, float]:
        self._mine.send(what)
        answer: dict[str, float] = json.loads(self._mine.recv())
        return answer

    def kill(self) -> None:
        os.kill(self._process.pid or 0, signal.SIGKILL)
        self._process.join()


def _serve(pipe: Connection, brokers: str, way: str, topic: str, group: str, partitions: int) -> None:
    worker = _Worker(brokers, way, topic, group, partitions)
    while True:
        match pipe.recv():
            case "start":
                figures = worker.start()
            case "leave open":
                figures = worker.leave_open()
            case rounds:
                figures = worker.trickle(rounds)
        pipe.send(json.dumps(figures))


class _Worker:
    """Producers and positions of all partitions of one worker."""

    def __init__(self, brokers: str, way: str, topic: str, group: str, partitions: int) -> None:
        self._options = {"bootstrap.servers": brokers, "log_level": 0, "transaction.timeout.ms": TIMEOUT_MS}
        self._way, self._topic, self._group_id, self._partitions = way, topic, group, partitions
        self._group = Consumer({"bootstrap.servers": brokers, "group.id": group, "log_level": 0})
        self._producers: list[tuple[Producer, range]] = []

    def start(self) -> dict[str, float]:
        """Fence, read the positions, and commit once from every partition."""
        began = time.monotonic()
        # A worker of the second way has an id of its own: another one's does not fence it.
        own = f"{self._group_id}-{os.getpid()}"
        ids = [own] if self._way == "per worker" else [f"{self._group_id}-{n}" for n in range(self._partitions)]
        with ThreadPoolExecutor(SIDE_BY_SIDE) as pool:
            producers = list(pool.map(self._make, ids))
            spans = [range(self._partitions)] if len(ids) == 1 else [range(n, n + 1) for n in range(self._partitions)]
            self._producers = list(zip(producers, spans, strict=True))
            self._group.committed([TopicPartition(self._topic, n) for n in range(self._partitions)], timeout=60)
            list(pool.map(self._commit, self._producers))
        return {
            "start": time.monotonic() - began,
            "files": len(os.listdir("/proc/self/fd")),
            "threads": len(os.listdir("/proc/self/task")),
        }

    def trickle(self, rounds: int) -> dict[str, float]:
        """Write and commit for every partition, some rounds."""
        began = time.process_time()
        with ThreadPoolExecutor(SIDE_BY_SIDE) as pool:
            for _ in range(rounds):
                list(pool.map(self._commit, self._producers))
        return {"client_us": (time.process_time() - began) / rounds / self._partitions * 1e6}

    def leave_open(self) -> dict[str, float]:
        """Begin transactions with records and positions in them, and do not end them."""
        for producer, span in self._producers:
            self._write(producer, span)
        return {}

    def _make(self, name: str) -> Producer:
        producer = Producer({**self._options, "transactional.id": name})
        producer.init_transactions(60)
        return producer

    def _write(self, producer: Producer, span: range) -> None:
        producer.begin_transaction()
        for number in span:
            producer.produce(self._topic, b"x" * 500, partition=number)
        offsets = [TopicPartition(self._topic, number, 1) for number in span]
        producer.send_offsets_to_transaction(offsets, self._group.consumer_group_metadata(), 60)
        producer.flush(60)

    def _commit(self, pair: tuple[Producer, range]) -> None:
        self._write(*pair)
        pair[0].commit_transaction(60)


def _cpu_of(pids: list[int]) -> float:
    """Return the CPU seconds that processes have used so far."""
    ticks = 0
    for pid in pids:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    main()
