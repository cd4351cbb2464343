"""A real single-node Apache Kafka as a process, kept in one directory.

Guarantees about transactions and crashes can only be tested on a real broker, and not every machine has Docker. The
process has its own session, so that it outlives the command that started it and does not get that command's signals. A
later command finds it by DIR/kafka.json.
"""

import base64
import fcntl
import os
import random
import shutil
import signal
import socket
import subprocess
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

import orjson
from confluent_kafka import KafkaError, KafkaException, Producer
from confluent_kafka.admin import AdminClient, NewTopic

from turnsignal.agents.kafka.jars import DEPLOY, fetch_jars, find_java
from turnsignal.stream.errors import TurnsignalError

START_SECONDS = 180.0
STOP_SECONDS = 30.0
PROBE_TOPIC = "turnsignal-probe"  #: a start is over when a record sent to this topic is acknowledged

# Below the range from which Linux and macOS take the ports of outgoing connections (32768 and 49152 upwards): a client
# that keeps trying a stopped broker on localhost would sooner or later be given its port, and keep it from starting.
_PORTS = range(20_000, 30_000)

# One node on a busy machine: small pools, one replica of everything, no wait for members. The broker's session has the
# length that Kafka gives it: a shorter one makes a start after kill -9 wait for less (11.5 s, and 4 with 2 s), but a
# machine that has no time for the broker for as long fences the only one there is, and every client loses it.
PROPERTIES = {
    "process.roles": "broker,controller",
    "node.id": "1",
    "controller.listener.names": "CONTROLLER",
    "inter.broker.listener.name": "PLAINTEXT",
    "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
    "num.network.threads": "2",
    "num.io.threads": "2",
    "background.threads": "2",
    "log.cleaner.dedupe.buffer.size": "16777216",
    "log.segment.bytes": "268435456",
    "auto.create.topics.enable": "false",
    "offsets.topic.replication.factor": "1",
    "offsets.topic.num.partitions": "4",
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
    "transaction.state.log.num.partitions": "4",
    "share.coordinator.state.topic.replication.factor": "1",
    "share.coordinator.state.topic.min.isr": "1",
    "group.initial.rebalance.delay.ms": "0",
    "group.min.session.timeout.ms": "1000",
}


class KafkaStatus(NamedTuple):
    """The state of a broker; pid is None if it does not run."""

    pid: int | None
    address: str
    directory: Path
    log: Path


class KafkaProcess:
    """A broker in a directory: start, stop, crash, and start again on the same ports and data.

    directory: made when it is not there; holds kafka.json (ports, pid), server.properties, server.log and data/;
    properties: broker settings that go before ours; kept, so that a later command starts it with the same;
    say: takes a line for the person who waits.
    """

    def __init__(
        self,
        directory: Path | str,
        *,
        properties: Mapping[str, str] | None = None,
        say: Callable[[str], None] = lambda _: None,
    ) -> None:
        self.directory = Path(directory).resolve()
        if "," in str(self.directory):
            msg = f"expected a directory without a comma in its path (Kafka splits log.dirs there): {self.directory}"
            raise TurnsignalError(msg)
        self.log = self.directory / "server.log"
        self.say = say
        state = self._read_state()
        self.properties: dict[str, str] = {**state.get("properties", {}), **(properties or {})}
        self.cluster = base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")  #: its id, for new data
        self.port: int
        self.controller_port: int
        self.port, self.controller_port = (state["port"], state["controller_port"]) if state else free_ports(2)

    @property
    def address(self) -> str:
        """Host and port to bootstrap from."""
        return f"127.0.0.1:{self.port}"

    @property
    def pid(self) -> int | None:
        """The broker's process id, or None if it does not run; another process with a reused id does not count."""
        state = self._read_state()
        return state["pid"] if state and _is_running(state["pid"], state["instance"]) else None

    def start(self, timeout: float = START_SECONDS) -> float:
        """Start the broker unless it runs, and wait until it acknowledges a record.

        Returns the seconds that it took. Raises TurnsignalError with the end of its log when it exits or stays silent.
        """
        jars, java = fetch_jars(self.say), find_java()
        began = time.monotonic()
        self.directory.mkdir(parents=True, exist_ok=True)
        with self._lock():
            for attempts_left in (2, 1, 0):
                fresh = not (self.directory / "data" / "meta.properties").exists()
                if not self.pid:
                    self._launch(java, jars)
                if self._port_opens(began + timeout):
                    break
                # Another process took a port between our check and Kafka's bind: a new broker may move.
                if not (fresh and attempts_left and "Address already in use" in self._log_end()):
                    raise self._failure("ended, or did not open its port in time")
                self.port, self.controller_port = free_ports(2)
            try:
                await_acknowledgement(self.address, timeout - (time.monotonic() - began))
            except TurnsignalError as error:
                raise self._failure(str(error)) from None
        return time.monotonic() - began

    def stop(self) -> float:
        """End the broker cleanly (SIGTERM, after 30 s SIGKILL); return the seconds that it took."""
        return self._end(signal.SIGTERM)

    def crash(self) -> float:
        """End the broker as kill -9 does; ports and data stay; return the seconds that it took."""
        return self._end(signal.SIGKILL)

    def restart(self) -> float:
        """Stop and start; return the seconds that both took."""
        return self.stop() + self.start()

    def status(self) -> KafkaStatus:
        """Return whether it runs, and its address, directory and log."""
        return KafkaStatus(self.pid, self.address, self.directory, self.log)

    def _launch(self, java: str, jars: Path) -> None:
        """Format the data directory if need be, start the JVM, and remember it."""
        properties = self.directory / "server.properties"
        properties.write_text(self._render_properties(), encoding="ascii")
        if not (self.directory / "data" / "meta.properties").exists():
            self._format(java, jars, properties)
        instance = uuid.uuid4().hex
        command = [
            java,
            "-Xmx256m",
            "-XX:+ExitOnOutOfMemoryError",
            "-Djava.awt.headless=true",
            f"-Dlog4j2.configurationFile={DEPLOY / 'log4j2.properties'}",
            f"-Dturnsignal.instance={instance}",
            *("-cp", f"{jars}/*", "kafka.Kafka", str(properties)),
        ]
        with self.log.open("ab") as log:
            redirect = [(os.POSIX_SPAWN_DUP2, log.fileno(), stream) for stream in (1, 2)]
            silence = (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0)
            # Not subprocess: its objects warn when a child outlives them, and this child is meant to.
            pid = os.posix_spawn(java, command, os.environ, file_actions=[silence, *redirect], setsid=True)
        self._write_state(pid, instance)
        # The parent goes on a moment before the child's command line, which tells it apart, can be read.
        patience = time.monotonic() + 1.0
        while not self.pid and time.monotonic() < patience:
            time.sleep(0.002)

    def _format(self, java: str, jars: Path, properties: Path) -> None:
        # An id may begin with a hyphen, which `-t` would take for another option.
        how = ["format", f"--cluster-id={self.cluster}", "-c", str(properties)]
        tool = ["-cp", f"{jars}/*", "kafka.tools.StorageTool", *how]
        done = subprocess.run([java, "-Xmx64m", *tool], capture_output=True, text=True, timeout=60, check=False)
        if done.returncode:
            msg = f"Kafka could not format {self.directory / 'data'}: {(done.stdout + done.stderr).strip()[:600]}"
            raise TurnsignalError(msg)

    def _render_properties(self) -> str:
        listener = f"PLAINTEXT://{self.address}"
        settings = PROPERTIES | {
            "controller.quorum.voters": f"1@127.0.0.1:{self.controller_port}",
            "listeners": f"{listener},CONTROLLER://127.0.0.1:{self.controller_port}",
            "advertised.listeners": listener,
            "log.dirs": str(self.directory / "data"),
        }
        settings.update(self.properties)
        return "".join(f"{name}={_escape(value)}\n" for name, value in settings.items())

    def _port_opens(self, deadline: float) -> bool:
        """Wait for the listener; False if the process ended or the deadline passed."""
        while self.pid and time.monotonic() < deadline:
            with suppress(OSError), socket.create_connection(("127.0.0.1", self.port), 0.5):
                return True
            time.sleep(0.05)
        return False

    def _end(self, how: signal.Signals) -> float:
        began = time.monotonic()
        pid = self.pid
        if pid is None:
            return 0.0
        os.kill(pid, how)
        while self.pid:
            if how is not signal.SIGKILL and time.monotonic() > began + STOP_SECONDS:
                how = signal.SIGKILL
                os.kill(pid, how)
            time.sleep(0.02)
        return time.monotonic() - began

    @contextmanager
    def _lock(self) -> Iterator[None]:
        """Let one command at a time start a broker here."""
        with (self.directory / "lock").open("w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield

    def _read_state(self) -> dict[str, Any]:
        try:
            state: dict[str, Any] = orjson.loads((self.directory / "kafka.json").read_bytes())
        except FileNotFoundError:
            return {}
        return state

    def _write_state(self, pid: int, instance: str) -> None:
        ports = {"port": self.port, "controller_port": self.controller_port}
        state = {**ports, "pid": pid, "instance": instance, "properties": self.properties}
        temporary = self.directory / "kafka.json.new"
        temporary.write_bytes(orjson.dumps(state, option=orjson.OPT_INDENT_2))
        temporary.replace(self.directory / "kafka.json")

    def _log_end(self) -> str:
        with suppress(FileNotFoundError):
            return self.log.read_text(encoding="utf-8", errors="replace")[-4000:]
        return ""

    def _failure(self, what: str) -> TurnsignalError:
        last = "\n".join(f"    {line[:300]}" for line in self._log_end().splitlines()[-12:])
        return TurnsignalError(f"the broker in {self.directory} {what}; the end of {self.log}:\n{last}")


def free_ports(count: int) -> tuple[int, ...]:
    """Find ports on localhost that nobody listens on, and that no outgoing connection will be given."""
    with ExitStack() as listeners:
        ports: list[int] = []
        for port in random.sample(_PORTS, len(_PORTS)):
            listener = listeners.enter_context(socket.socket())
            with suppress(OSError):
                listener.bind(("127.0.0.1", port))
                ports.append(port)
            if len(ports) == count:
                return tuple(ports)
    msg = f"expected {count} free ports between {_PORTS.start} and {_PORTS.stop}, found {len(ports)}"
    raise TurnsignalError(msg)


def await_acknowledgement(address: str, timeout: float) -> None:
    """Send a record to the probe topic until the broker acknowledges it.

    timeout: seconds. Raises TurnsignalError with the last refusal. An open port says little: after a crash the listener
    is back seconds before the partitions have leaders.
    """
    deadline = time.monotonic() + timeout
    client = {"bootstrap.servers": address, "log_level": 0, "retry.backoff.ms": 50, "reconnect.backoff.max.ms": 200}
    refusal = "it gave no reason"
    while time.monotonic() < deadline:
        try:
            admin = AdminClient(client)
            admin.create_topics([NewTopic(PROBE_TOPIC, 1, 1)], request_timeout=5)[PROBE_TOPIC].result(10)
        except KafkaException as error:
            if error.args[0].code() != KafkaError.TOPIC_ALREADY_EXISTS:
                refusal = str(error)
                time.sleep(0.1)
                continue
        refused: list[KafkaError | None] = []
        producer = Producer({**client, "message.timeout.ms": 5000, "topic.metadata.refresh.fast.interval.ms": 50})
        producer.produce(PROBE_TOPIC, b"", on_delivery=lambda error, _, refused=refused: refused.append(error))
        producer.flush(6)
        if refused and refused[0] is None:  # an error that is compared with None raises TypeError
            return
        refusal = "; ".join(error.str() for error in refused if error is not None) or refusal
    msg = f"did not acknowledge a record within {timeout:.0f} s: {refusal}"
    raise TurnsignalError(msg)


def _is_running(pid: int, instance: str) -> bool:
    """Return whether this is still the process with the instance id; also reaps a child that has ended."""
    with suppress(ChildProcessError):
        os.waitpid(pid, os.WNOHANG)
    try:
        command = Path(f"/proc/{pid}/cmdline").read_text(errors="replace")
    except OSError:  # it is gone, or this is macOS
        ps = ["ps", "-ww", "-o", "args=", "-p", str(pid)]
        command = subprocess.run(ps, capture_output=True, text=True, check=False).stdout if shutil.which("ps") else ""
    return instance in command


def _escape(value: str) -> str:
    """Escape a value for a .properties file, which Java reads as Latin-1 with \\uXXXX beyond ASCII."""
    units = value.replace("\\", "\\\\").encode("utf-16-be", "surrogatepass")
    codes = (int.from_bytes(units[at : at + 2]) for at in range(0, len(units), 2))
    return "".join(chr(code) if code < 128 else f"\\u{code:04x}" for code in codes)
