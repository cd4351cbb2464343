"""Listening: the sockets of /metrics are taken before anything else, and nobody holds a connection for ever.

aiohttp waits without end for the rest of a request, so a stranger with a thousand half-sent ones would take all of a
worker's file descriptors. Here a connection has a time to say something, and the newest takes the place of the one that
has been silent the longest, so that probes and scrapes are answered through a flood.
"""

import asyncio
import errno
import logging
import math
import socket
import time
from collections.abc import Callable, Iterable

from aiohttp import web
from aiohttp.http_exceptions import HttpProcessingError
from aiohttp.typedefs import Handler
from aiohttp.web_protocol import RequestHandler

from turnsignal.stream.errors import ConfigError

MAX_CONNECTIONS = 100
REQUEST_SECONDS = 10.0  #: from connecting to the end of the first request's headers
IDLE_SECONDS = 75.0  #: from an answer to the end of the next request's headers

_SWEEP = 1.0  #: seconds between looks at silent connections


def listen(host: str, port: int) -> list[socket.socket]:
    """Take the address: a socket for each that the host name has, or one when any port will do.

    Raises ConfigError, one line, when it is taken, not this machine's, or not allowed.
    """
    sockets: list[socket.socket] = []
    try:
        if port > 65_535:
            raise OverflowError("no port is above 65535")
        addresses = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        for family, _, _, _, address in addresses if port else addresses[:1]:
            try:
                sockets.append(socket.create_server(address[:2], family=family, backlog=MAX_CONNECTIONS))
            except OSError as error:  # such as ::1 of localhost on a machine without IPv6
                if not sockets or error.errno not in (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT):
                    raise
    except (OSError, OverflowError, UnicodeError) as error:
        for sock in sockets:
            sock.close()
        reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
        reason = reason.partition(" (while")[0]  # the address is named already
        msg = (
            f"TURNSIGNAL_METRICS_PORT: expected a free address of this machine to serve /metrics on, got {host}:{port}:"
            f" {reason}; set another port (watch takes the one above score's) or another TURNSIGNAL_METRICS_HOST"
        )
        raise ConfigError(msg) from None
    return sockets


class Activity:
    """Since when each connection is silent.

    clock: monotonic seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._due: dict[RequestHandler, float] = {}

    @web.middleware
    async def middleware(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Note that a connection has asked and was answered."""
        self._due[request.protocol] = math.inf
        try:
            return await handler(request)
        finally:
            self._due[request.protocol] = self._clock() + IDLE_SECONDS

    def due(self, connection: RequestHandler) -> float:
        """When a connection has been silent for too long; infinite while it is answered."""
        return self._due.setdefault(connection, self._clock() + REQUEST_SECONDS)

    def end_silent(self, connections: Iterable[RequestHandler]) -> None:
        """End the connections that have been silent for too long; there are no others than these."""
        now = self._clock()
        self._due = {connection: self.due(connection) for connection in connections}
        for connection, due in self._due.items():
            if due <= now:
                _end(connection)

    def make_room(self, connections: Iterable[RequestHandler]) -> None:
        """Keep the number of connections below the largest: end those that have been silent the longest."""
        still_open = sorted((one for one in connections if one.transport is not None), key=self.due)
        for connection in still_open[: max(0, len(still_open) - MAX_CONNECTIONS + 1)]:
            _end(connection)


def _end(connection: RequestHandler) -> None:
    transport = connection.transport
    connection.force_close()
    if transport is not None:
        transport.abort()  # a close waits for whoever does not read


class BoundedSite(web.BaseSite):
    """Serve a socket to a bounded number of connections, each for a bounded time of silence."""

    def __init__(self, runner: web.AppRunner, sock: socket.socket, activity: Activity) -> None:
        super().__init__(runner)
        self._sock = sock
        self._activity = activity
        self._sweeping: asyncio.Task[None] | None = None

    @property
    def name(self) -> str:
        """The address, as a URL."""
        host, port = self._sock.getsockname()[:2]
        return f"http://{f'[{host}]' if ':' in host else host}:{port}"

    async def start(self) -> None:
        """Begin to answer."""
        await super().start()
        server = self._runner.server
        assert server is not None

        def make_connection() -> RequestHandler:
            self._activity.make_room(server.connections)
            return server()

        async def sweep() -> None:
            while True:
                self._activity.end_silent(server.connections)
                await asyncio.sleep(_SWEEP)

        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(make_connection, sock=self._sock, backlog=MAX_CONNECTIONS)
        self._sweeping = asyncio.create_task(sweep())

    async def stop(self) -> None:
        """Answer nothing more."""
        if self._sweeping is not None:
            self._sweeping.cancel()
        await super().stop()


def quiet_about_strangers(record: logging.LogRecord) -> bool:
    """Filter aiohttp's log: a request that is no HTTP is one line for who debugs, not a traceback."""
    error = record.exc_info[1] if record.exc_info else None
    if not isinstance(error, HttpProcessingError | web.RequestPayloadError | ConnectionError):
        return True
    record.levelno, record.levelname = logging.DEBUG, "DEBUG"
    record.msg, record.args = "%s: %s", (record.getMessage(), str(error).splitlines()[0][:200] if str(error) else "")
    record.exc_info = record.exc_text = None
    return logging.getLogger(record.name).isEnabledFor(logging.DEBUG)


def make_runner(app: web.Application) -> web.AppRunner:
    """Put an application into a runner that keeps no access log."""
    logger = logging.getLogger("turnsignal.http")
    logger.addFilter(quiet_about_strangers)  # the same function is added once
    return web.AppRunner(app, access_log=None, logger=logger, keepalive_timeout=IDLE_SECONDS)
