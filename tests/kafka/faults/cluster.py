"""Brokers that may be broken: one or three nodes, with listeners that go through a slow or silent network.

A test that takes a broker's network, disk or life away needs one that is its own: Java's, started by `KafkaProcess`.
"""

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from confluent_kafka.admin import AdminClient

from tests.kafka.faults.network import Network
from turnsignal.agents.kafka.process import KafkaProcess, free_ports

PASSWORD = "a-right-one"
NETWORKS = ("slow", "silent")
#: Retention is looked after at once, and a transaction of another program may stay open for long.
PROPERTIES = {
    "log.retention.check.interval.ms": "300",
    "log.initial.task.delay.ms": "300",
    "offset.metadata.max.bytes": "65536",
}
#: Of a broker that nobody crashes: two busy cores may have no time for its heartbeats for longer than Kafka's session
#: of 9 s, and then it is fenced, as if that helped where there is no other.
STEADY = {"broker.session.timeout.ms": "60000"}


class Cluster:
    """One broker or three in one directory, inside a `with` block; steady: nobody crashes them."""

    def __init__(self, directory: Path, count: int = 1, *, steady: bool = False) -> None:
        self.networks: dict[str, Network] = {}
        self._stack = ExitStack()
        self.nodes = [KafkaProcess(directory / f"node-{number}") for number in range(1, count + 1)]
        voters = ",".join(f"{n}@127.0.0.1:{node.controller_port}" for n, node in enumerate(self.nodes, 1))
        copies, enough = str(count), str(min(count, 2))
        common = (PROPERTIES | STEADY if steady else PROPERTIES) | {
            "controller.quorum.voters": voters,
            "offsets.topic.replication.factor": copies,
            "transaction.state.log.replication.factor": copies,
            "transaction.state.log.min.isr": enough,
        }
        for number, node in enumerate(self.nodes, 1):
            node.cluster = self.nodes[0].cluster
            node.properties = {**common, "node.id": str(number)}
        if count == 1:
            self.nodes[0].properties |= self._listeners(self.nodes[0])

    def _listeners(self, node: KafkaProcess) -> Mapping[str, str]:
        """Give the properties of listeners behind a slow network, a silent one, and one that asks for a password."""
        *ports, guarded = free_ports(len(NETWORKS) + 1)
        for name, port in zip(NETWORKS, ports, strict=True):
            self.networks[name] = self._stack.enter_context(Network(port))
        plain, safe = f"PLAINTEXT://{node.address}", f"GUARDED://127.0.0.1:{guarded}"
        near = [f"{name.upper()}://127.0.0.1:{port}" for name, port in zip(NETWORKS, ports, strict=True)]
        far = [f"{name.upper()}://{network.address}" for name, network in self.networks.items()]
        self.guarded = f"127.0.0.1:{guarded}"
        login = "org.apache.kafka.common.security.plain.PlainLoginModule required"
        protocols = "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,GUARDED:SASL_PLAINTEXT"
        return {
            "listeners": ",".join([plain, *near, safe, f"CONTROLLER://127.0.0.1:{node.controller_port}"]),
            "advertised.listeners": ",".join([plain, *far, safe]),
            "listener.security.protocol.map": f"{protocols},{','.join(f'{n.upper()}:PLAINTEXT' for n in NETWORKS)}",
            "listener.name.guarded.sasl.enabled.mechanisms": "PLAIN",
            "listener.name.guarded.plain.sasl.jaas.config": f'{login} user_worker="{PASSWORD}";',
        }

    @property
    def address(self) -> str:
        """Where to bootstrap from."""
        return ",".join(node.address for node in self.nodes)

    def start(self) -> None:
        """Start every node that does not run."""
        with ThreadPoolExecutor(len(self.nodes)) as pool:
            list(pool.map(lambda node: node.start(180.0), self.nodes))

    def crash(self) -> None:
        """Kill −9 every node."""
        for node in self.nodes:
            node.crash()

    def admin(self) -> AdminClient:
        """Return a client that manages topics and groups."""
        return AdminClient({"bootstrap.servers": self.address, "log_level": 0})

    def leader(self, topic: str, partition: int) -> KafkaProcess:
        """Return the node that leads a partition."""
        found: Any = self.admin().list_topics(topic, timeout=30).topics[topic].partitions[partition].leader
        return self.nodes[found - 1]

    def in_sync(self) -> bool:
        """Whether every replica of every partition is in sync."""
        topics = self.admin().list_topics(timeout=30).topics.values()
        return all(len(p.isrs) == len(p.replicas) for topic in topics for p in topic.partitions.values())

    def __enter__(self) -> Self:
        try:
            self.start()
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()
        for node in self.nodes:
            with suppress(ProcessLookupError):
                node.crash()
