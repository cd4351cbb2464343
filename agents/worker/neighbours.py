"""Neighbours: where the pages of this worker and of the others of its app are, and what the front page says.

Each worker tells its group its address when it joins, and with its partitions it is told who has the others.
"""

import socket
from collections.abc import Iterator, Mapping
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from faust.types import TP

from turnsignal.agents.kafka.topics import partition_for
from turnsignal.agents.worker.consumer import PartitionApp
from turnsignal.agents.worker.tasks import TaskManager

MAX_SHOWN = 100  #: partitions on the front page

_WILDCARDS = ("0.0.0.0", "::")


def own_address(sock: socket.socket, brokers: str) -> str:
    """Return the address of a listening socket as others reach it, as a URL.

    Where it listens on every address of this machine, that is the one from which the first broker is reached.
    """
    host, port = sock.getsockname()[:2]
    if host in _WILDCARDS:
        host = _towards(brokers.split(",")[0]) or socket.gethostname()
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"


def _towards(address: str) -> str | None:
    """Return this machine's address on the way to another one; nothing is sent."""
    host, _, port = address.rpartition(":")
    try:
        addresses = socket.getaddrinfo(host.strip("[]"), int(port), type=socket.SOCK_DGRAM)
        with socket.socket(addresses[0][0], socket.SOCK_DGRAM) as probe:
            probe.connect(addresses[0][4])
            own: str = probe.getsockname()[0]
            return own
    except (OSError, ValueError):
        return None


class Neighbours:
    """The workers of one app, as this one sees them."""

    def __init__(self, app: PartitionApp, task_manager: TaskManager) -> None:
        self._app = app
        self._task_manager = task_manager

    def owner_of(self, key: bytes) -> str | None:
        """Return the address of the other worker that has a key's partition; None when there is none."""
        topic = self._task_manager.spec.inputs[0]
        owners = {number: url for url, topics in self._dealt_out() for number in topics.get(topic, ())}
        address = owners.get(partition_for(key, len(owners))) if owners else None
        return None if address == self._own else address

    def others(self) -> list[str]:
        """Return the addresses of the other workers."""
        return [url for url, _ in self._dealt_out() if url != self._own]

    def describe_worker(self) -> dict[str, Any]:
        """Return what the front page says of this worker."""
        task_manager, numbers = self._task_manager, sorted(self._task_manager.tasks)
        try:
            installed = version("turnsignal")
        except PackageNotFoundError:
            installed = ""
        return {
            "app": task_manager.spec.name,
            "version": installed,
            "partitions": [self._describe(number) for number in numbers[:MAX_SHOWN] if number in task_manager.tasks],
            "left_out": max(0, len(numbers) - MAX_SHOWN),
            "peers": sorted(self.others())[:MAX_SHOWN],
        }

    @property
    def _own(self) -> str:
        return str(self._app.conf.canonical_url)

    def _dealt_out(self) -> Iterator[tuple[str, Mapping[str, list[int]]]]:
        """Yield which partitions of which topics each worker was dealt, by its address."""
        yield from self._app.assignor.external_topic_distribution.items()

    def _describe(self, number: int) -> dict[str, Any]:
        task, source = self._task_manager.tasks[number], self._task_manager.source
        inputs = []
        for topic, position in task.positions.items():
            end = source.end_of(TP(topic, number)) if source is not None else None
            lag = None if end is None else max(0, end - position)
            inputs.append({"topic": topic, "position": position, "lag": lag})
        return {"partition": number, "entries": len(task.processor.store), "inputs": inputs}
