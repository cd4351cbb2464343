"""Brokers: find a Kafka for the demo, the tests and the benchmarks on any machine.

Tried in this order: the broker in TURNSIGNAL_BROKERS; Docker; Java and Maven; and, for the demo only, the mock cluster
inside librdkafka, which needs only pip. Guarantees are tested on the first three, never on the mock.
"""

import shutil
import subprocess
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from pathlib import Path
from tempfile import mkdtemp
from types import TracebackType
from typing import Any, Self

from confluent_kafka import Producer

from turnsignal.agents.kafka.jars import find_java, find_maven, jars_directory, kafka_version
from turnsignal.agents.kafka.process import PROPERTIES, START_SECONDS, KafkaProcess, await_acknowledgement, free_ports
from turnsignal.agents.kafka.reaching import reach_broker
from turnsignal.agents.settings import Settings
from turnsignal.stream.errors import TurnsignalError

Say = Callable[[str], None]

IMAGE = "apache/kafka"
DOCKER_SECONDS = 3  #: an engine that does not answer within this time counts as absent
PULL_SECONDS = 600


class Broker(ABC):
    """A Kafka that can be started, stopped and crashed; it runs inside a `with` block.

    kind: a phrase that describes the broker to a person; address: host:port to bootstrap from, known once it is
    started; directory: where its data and log are kept, None if they are not on this machine's disk.
    """

    kind: str
    address: str = ""
    directory: Path | None = None

    @abstractmethod
    def start(self) -> None:
        """Start it and wait until it acknowledges a record.

        Called on entering the `with` block and after `stop` or `crash`. Must not change the address or lose the data.
        """

    @abstractmethod
    def stop(self) -> None:
        """End it cleanly. Must keep the data for the next `start`, except in the mock cluster."""

    @abstractmethod
    def crash(self) -> None:
        """End it as kill -9 does. Must not flush or close anything first."""

    def restart(self) -> None:
        """Stop and start."""
        self.stop()
        self.start()

    def close(self) -> None:
        """Release all resources. Called once, at the end of the `with` block; a local process leaves data and log."""
        self.stop()

    def __enter__(self) -> Self:
        try:
            self.start()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class GivenBroker(Broker):
    """The broker in TURNSIGNAL_BROKERS. It belongs to the user, so it is never stopped."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.address = settings.brokers
        self.kind = f"the broker that TURNSIGNAL_BROKERS names, {settings.brokers}"

    def start(self) -> None:
        """Check that it answers; raises TurnsignalError if it does not."""
        reach_broker(self.settings)

    def stop(self) -> None:
        """Refuse: it may serve others."""
        msg = f"expected a broker that turnsignal started, got {self.kind}; stop it where it was started"
        raise TurnsignalError(msg)

    def crash(self) -> None:
        """Refuse: it may serve others."""
        self.stop()

    def close(self) -> None:
        """Leave it as it is."""


class ContainerBroker(Broker):
    """The official Kafka image in Docker, on a port of this machine that does not change after crashes."""

    def __init__(self, properties: Mapping[str, str]) -> None:
        self.kind = f"Apache Kafka {kafka_version()} in Docker"
        self._properties = properties
        self._container: Any = None

    def start(self) -> None:
        """Run the container, or start the one that was stopped."""
        if self._container is None:
            self._container = self._run()
        else:
            self._container.get_wrapped_container().start()
        await_acknowledgement(self.address, START_SECONDS)

    def stop(self) -> None:
        """Stop the container; it keeps its data."""
        if self._container is not None:
            self._container.get_wrapped_container().stop(timeout=30)

    def crash(self) -> None:
        """Kill the container; it keeps its data."""
        self._container.get_wrapped_container().kill()

    def close(self) -> None:
        """Remove the container with its data."""
        if self._container is not None:
            self._container.stop()
            self._container = None

    def _run(self) -> Any:
        from testcontainers.core.container import DockerContainer

        (port,) = free_ports(1)
        container = DockerContainer(f"{IMAGE}:{kafka_version()}").with_bind_ports(9092, port)
        self.address = f"{container.get_docker_client().host()}:{port}"
        properties = {
            **PROPERTIES,
            "controller.quorum.voters": "1@localhost:9093",
            "listeners": "PLAINTEXT://0.0.0.0:9092,CONTROLLER://localhost:9093",
            "advertised.listeners": f"PLAINTEXT://{self.address}",
            **self._properties,
        }
        for name, value in properties.items():
            container = container.with_env(f"KAFKA_{name.upper().replace('.', '_')}", value)
        return container.start()


class ProcessBroker(Broker):
    """Apache Kafka as a process of this machine (`KafkaProcess`)."""

    def __init__(self, directory: Path, properties: Mapping[str, str], say: Say) -> None:
        self.process = KafkaProcess(directory, properties=properties, say=say)
        self.directory = self.process.directory
        self.kind = f"Apache Kafka {kafka_version()} as a local Java process in {self.directory}"

    def start(self) -> None:
        """Start the process."""
        self.process.start()
        self.address = self.process.address

    def stop(self) -> None:
        """End the process cleanly."""
        self.process.stop()

    def crash(self) -> None:
        """Kill the process."""
        self.process.crash()


class MockBroker(Broker):
    """The mock cluster inside librdkafka, which exists as long as this object.

    It has transactions, but creates a topic only on the first request for it, always with 4 partitions, and keeps about
    5 MB of each partition.
    """

    kind = "the mock cluster inside librdkafka (nothing outlives this process, about 5 MB are kept per partition)"

    def __init__(self) -> None:
        self._host: Producer | None = None

    def start(self) -> None:
        """Make the cluster and learn its address."""
        self._host = Producer({"bootstrap.servers": "mock:1", "test.mock.num.brokers": 1, "log_level": 0})
        (node,) = self._host.list_topics(timeout=10).brokers.values()
        self.address = f"{node.host}:{node.port}"

    def stop(self) -> None:
        """Drop the cluster and its data."""
        self._host = None

    def crash(self) -> None:
        """Refuse: it would come back empty, so a crash would test nothing."""
        msg = "expected a real broker to crash, got the mock cluster, which would come back empty"
        raise TurnsignalError(msg)


def find_broker(
    env: Mapping[str, str],
    *,
    allow_mock: bool = False,
    directory: Path | str | None = None,
    properties: Mapping[str, str] | None = None,
    say: Say = lambda _: None,
) -> Broker:
    """Choose the first available broker; it is not started yet.

    env: the environment, for TURNSIGNAL_…, JAVA_HOME and PATH; directory: where a local process keeps data and log, by
    default a new temporary one; properties: broker settings such as message.max.bytes, for a broker that we start;
    say: called with a line for the person who waits (a first fetch takes some seconds).
    Raises TurnsignalError that lists each kind of broker and why it is not available.
    """
    if env.get("TURNSIGNAL_BROKERS", "").strip():
        return GivenBroker(Settings.from_env(env))
    absent = ["TURNSIGNAL_BROKERS: not set"]
    try:
        _look_for_docker(env, say)
        return ContainerBroker(properties or {})
    except TurnsignalError as error:
        absent.append(f"Docker: {error}")
    try:
        _look_for_java(env)
        return ProcessBroker(Path(directory or mkdtemp(prefix="turnsignal-kafka-")), properties or {}, say)
    except TurnsignalError as error:
        absent.append(f"Java and Maven: {error}")
    if allow_mock:
        return MockBroker()
    looked = "".join(f"\n  - {line}" for line in absent)
    msg = f"expected a Kafka broker, or the means to start one; looked for{looked}"
    raise TurnsignalError(msg)


def _look_for_docker(env: Mapping[str, str], say: Say) -> None:
    """Check that an engine answers and has, or can pull, the image; raises TurnsignalError with the reason."""
    if find_spec("testcontainers") is None:
        raise TurnsignalError("the Python package testcontainers is not installed (it comes with turnsignal[test])")
    docker = shutil.which("docker", path=env.get("PATH"))
    if docker is None:
        raise TurnsignalError("no docker command on the PATH")
    image = f"{IMAGE}:{kafka_version()}"
    # The command, not the Python client: that one leaks its sockets when there is no engine.
    if refusal := _run(docker, "version", "--format", "{{.Server.Version}}", timeout=DOCKER_SECONDS):
        msg = f"no engine answers within {DOCKER_SECONDS} s: {refusal}"
        raise TurnsignalError(msg)
    if _run(docker, "image", "inspect", image, timeout=DOCKER_SECONDS):
        say(f"Pulling the Docker image {image} (once) …")
        if refusal := _run(docker, "pull", "--quiet", image, timeout=PULL_SECONDS):
            msg = f"an engine, but it cannot pull {image}: {refusal}"
            raise TurnsignalError(msg)


def _run(*command: str, timeout: float) -> str | None:
    """Run a command; return None on success, else its error output."""
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=timeout, check=False, stdin=subprocess.DEVNULL
        )
    except subprocess.TimeoutExpired:
        return f"nothing came within {timeout:.0f} s"
    return (done.stderr.strip() or f"exit code {done.returncode}")[:200] if done.returncode else None


def _look_for_java(env: Mapping[str, str]) -> None:
    """Check that a broker can run as a local process; raises TurnsignalError with the reason."""
    find_java(env)
    if not jars_directory().is_dir() and find_maven(env) is None:
        msg = f"there is Java, but neither Kafka's jars in {jars_directory()} nor mvn to fetch them"
        raise TurnsignalError(msg)
