"""How long a worker's pages take beside /healthz, with many open conversations: python -m tests.bench.pages.

One process serves, this one asks, each kind of page in turn. Printed: median, p99 in milliseconds, and p99 as a
multiple of /healthz's; then /healthz again while the worst conversations are searched for without end.
"""

import argparse
import asyncio
import http.client
import multiprocessing
import statistics
import threading
import time
from contextlib import AbstractContextManager
from multiprocessing.connection import Connection

from aiohttp import web

from tests.bench.meanwhile import meanwhile
from turnsignal.agents.metrics.exposition import WorkerMetrics
from turnsignal.agents.pages import conversations
from turnsignal.agents.pages.conversations import ConversationPages
from turnsignal.agents.pages.recent_rows import RecentRows
from turnsignal.agents.pages.views import Health, make_views
from turnsignal.stream.pipeline.processor import PartitionProcessor
from turnsignal.stream.records.wire import Unplaced
from turnsignal.stream.simulation import Traffic, simulate
from turnsignal.stream.suite import Suite

BROWSER = {"Accept": "text/html"}
WELL = Health(seconds_since_progress=1.0, assigned=True, partitions=1, recovery_remaining=0, broker_reachable=True)


def serve(wanted: int, pipe: Connection) -> None:
    """Serve the pages of a partition with so many conversations; say port and some ids."""
    suite, rows = Suite(), RecentRows()
    processor = PartitionProcessor(suite)
    traffic = [(line.key, line.value) for line in simulate(Traffic(turns=20_000, seed=1)) if line.key]
    records = [Unplaced(key, value, offset) for offset, (key, value) in enumerate(traffic)]
    for start in range(0, len(records), 500):
        batch = processor.process(records[start : start + 500], 0.0)
        processor.accept(batch)
        rows.update(batch)
    ids = [key.decode() for key, _ in rows.newest()][:200]
    originals = list(processor.store.items())
    for number in range(wanted // len(originals)):
        processor.store.update((b"%d-%s" % (number, key), value) for key, value in originals)
    shown = ConversationPages(suite, lambda: [processor], rows)
    conversations.ANSWER_SECONDS = 0.0  # every list is searched for

    async def run() -> None:
        runner = web.AppRunner(make_views(WorkerMetrics(), lambda: WELL, shown.pages()))
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        pipe.send((runner.addresses[0][1], len(processor.store), ids))
        await asyncio.Event().wait()

    asyncio.run(run())


def ask(connection: http.client.HTTPConnection, path: str, headers: dict[str, str]) -> float:
    """Return the milliseconds of one answer."""
    began = time.perf_counter()
    connection.request("GET", path, headers=headers)
    answer = connection.getresponse()
    answer.read()
    assert answer.status == 200, (path, answer.status)
    return (time.perf_counter() - began) * 1000


def searching(port: int) -> AbstractContextManager[None]:
    """Have lists searched for, one after the other, until the end of this context."""

    def search(over: threading.Event) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
        while not over.is_set():
            ask(connection, "/conversations", {})

    return meanwhile(search)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--conversations", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=3_000)
    options = parser.parse_args()
    here, there = multiprocessing.Pipe()
    server = multiprocessing.Process(target=serve, args=(options.conversations, there), daemon=True)
    server.start()
    port, kept, ids = here.recv()
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
    kinds = {"/healthz": [], "/conversations/ID, JSON": [], "/conversations/ID, page": []}
    for number in range(options.rounds):
        conversation = f"/conversations/{ids[number % len(ids)]}"
        kinds["/healthz"].append(ask(connection, "/healthz", {}))
        kinds["/conversations/ID, JSON"].append(ask(connection, conversation, {}))
        kinds["/conversations/ID, page"].append(ask(connection, conversation, BROWSER))
    lists = [ask(connection, "/conversations", BROWSER) for _ in range(3)]
    with searching(port):
        kinds["/healthz, while searching"] = [ask(connection, "/healthz", {}) for _ in range(options.rounds)]
    server.terminate()
    print(f"{kept:,} conversations, {options.rounds:,} of each")
    own = statistics.quantiles(kinds["/healthz"], n=100)[98]
    for name, times in kinds.items():
        p99 = statistics.quantiles(times, n=100)[98]
        print(f"{name:28} median {statistics.median(times):7.2f}  p99 {p99:7.2f}  {p99 / own:5.2f} x /healthz")
    print(f"{'/conversations, page':28} median {statistics.median(lists):7.0f}")


if __name__ == "__main__":
    main()
