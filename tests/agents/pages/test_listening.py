"""Listening: the address is taken before anything else, and strangers hold no connection for ever."""

import asyncio
import logging
import os
import socket
import subprocess
import sys
from collections.abc import AsyncIterator

import pytest
from aiohttp import ClientSession

from turnsignal.agents.kafka.brokers import MockBroker
from turnsignal.agents.kafka.topics import create_topics
from turnsignal.agents.metrics.exposition import WorkerMetrics
from turnsignal.agents.pages.listening import (
    IDLE_SECONDS,
    MAX_CONNECTIONS,
    REQUEST_SECONDS,
    Activity,
    BoundedSite,
    listen,
    make_runner,
)
from turnsignal.agents.pages.views import Health, make_views
from turnsignal.agents.settings import Settings
from turnsignal.stream.errors import ConfigError

WELL = Health(seconds_since_progress=1.0, assigned=True, partitions=4, recovery_remaining=0, broker_reachable=True)
HALF = b"GET /metrics HTTP/1.1\r\nHost: x\r\nX: "


class Site:
    """A site on a port of its own, whose clock a test sets."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.activity = Activity(lambda: self.now)
        self.runner = make_runner(make_views(WorkerMetrics(), lambda: WELL, activity=self.activity))
        (self.sock,) = listen("127.0.0.1", 0)
        self.address = self.sock.getsockname()
        self.writers: list[asyncio.StreamWriter] = []

    async def connect(self, said: bytes) -> asyncio.StreamReader:
        """Connect, say something, and wait until the site has taken it in."""
        before = self.runner.server.requests_count, len(self.runner.server.connections)
        reader, writer = await asyncio.open_connection(*self.address)
        self.writers.append(writer)
        writer.write(said)
        await writer.drain()
        while (self.runner.server.requests_count, len(self.runner.server.connections)) == before:
            await asyncio.sleep(0)
        return reader

    def sweep(self) -> None:
        self.activity.end_silent(self.runner.server.connections)

    async def status(self, path: str = "/healthz") -> int:
        async with ClientSession() as session, session.get(f"http://127.0.0.1:{self.address[1]}{path}") as answer:
            return answer.status


async def ended(reader: asyncio.StreamReader) -> bool:
    """Wait until the other side has ended a connection, without a word."""
    try:
        return await reader.read() == b""
    except ConnectionResetError:
        return True


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    running = Site()
    await running.runner.setup()
    await BoundedSite(running.runner, running.sock, running.activity).start()
    yield running
    for writer in running.writers:
        writer.close()
    await running.runner.cleanup()


@pytest.mark.parametrize("said", [b"", HALF])
async def test_a_connection_without_a_whole_request_is_ended_after_its_time(site: Site, said: bytes) -> None:
    reader = await site.connect(said)
    site.sweep()
    site.now += REQUEST_SECONDS - 0.1
    site.sweep()
    assert site.runner.server.connections
    site.now += 0.2
    site.sweep()
    assert await ended(reader)


async def test_a_connection_that_was_answered_may_wait_for_its_next_request(site: Site) -> None:
    reader = await site.connect(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
    assert b"200 OK" in await reader.readuntil(b"\r\n")
    site.now += IDLE_SECONDS - 0.1
    site.sweep()
    assert [one for one in site.runner.server.connections if one.transport is not None]
    site.now += 0.2
    site.sweep()
    assert not [one for one in site.runner.server.connections if one.transport is not None]


async def test_more_connections_than_there_are_places_end_the_oldest_and_probes_are_answered(site: Site) -> None:
    oldest = await site.connect(HALF)
    for _ in range(3 * MAX_CONNECTIONS):
        site.now += 0.001
        site.writers.append((await asyncio.open_connection(*site.address))[1])
        await asyncio.sleep(0)
    assert await site.status() == 200
    assert len([one for one in site.runner.server.connections if one.transport is not None]) <= MAX_CONNECTIONS
    assert await ended(oldest)


@pytest.mark.parametrize(
    "said",
    [
        b"\x00\xff" * 100 + b"\r\n\r\n",
        b"GET /metrics HTTP/1.1\r\nHost: x\r\nno colon\r\n\r\n",
        b"GET /" + b"a" * 20_000 + b" HTTP/1.1\r\nHost: x\r\n\r\n",
        b"POST /metrics HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    ],
)
async def test_a_request_that_is_no_http_is_one_line_for_who_debugs(
    site: Site, said: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    assert b" 400 " in await (await site.connect(said)).readline()
    assert caplog.records == []
    caplog.set_level(logging.DEBUG, logger="turnsignal.http")
    assert b" 400 " in await (await site.connect(said)).readline()
    (record,) = [record for record in caplog.records if record.name == "turnsignal.http"]
    assert (record.levelno, record.exc_info) == (logging.DEBUG, None)
    assert "\n" not in record.getMessage()


def test_an_address_that_is_taken_is_refused_in_one_line() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        with pytest.raises(
            ConfigError, match=rf"^TURNSIGNAL_METRICS_PORT: .* 127\.0\.0\.1:{port}: Address already in use;"
        ):
            listen("127.0.0.1", port)


@pytest.mark.parametrize(("host", "port"), [("192.0.2.1", 0), ("no.such.host.invalid", 9108), ("127.0.0.1", 65_536)])
def test_an_address_that_cannot_be_had_is_refused_in_one_line(host: str, port: int) -> None:
    with pytest.raises(ConfigError, match=rf"^TURNSIGNAL_METRICS_PORT: .* {host}:{port}: ") as told:
        listen(host, port)
    assert "\n" not in str(told.value)


def test_every_address_of_localhost_is_taken() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
    sockets = listen("localhost", port)
    try:
        assert "127.0.0.1" in {sock.getsockname()[0] for sock in sockets}
    finally:
        for sock in sockets:
            sock.close()


@pytest.mark.slow
def test_a_worker_whose_address_is_taken_says_so_and_takes_no_partition() -> None:
    with MockBroker() as broker, socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        given = {"TURNSIGNAL_BROKERS": broker.address, "TURNSIGNAL_METRICS_PORT": str(port)}
        create_topics(Settings.from_env(given))
        command = [sys.executable, "-m", "turnsignal.agents.cli", "worker", "score", "--no-supervisor"]
        ended = subprocess.run(command, env=os.environ | given, capture_output=True, text=True, timeout=60, check=False)
    assert ended.returncode == 2
    (line,) = ended.stderr.splitlines()
    assert line.startswith("turnsignal: TURNSIGNAL_METRICS_PORT: expected a free address")
