"""Apps: how a Faust app is put together around a task manager, and run.

One Faust consumer feeds all agents of an app and one full buffer stops them all, so each app has one agent and a
process of its own.
"""

import asyncio
import contextlib
import logging
import os
import signal
import sys
import time
from collections.abc import Sequence
from typing import Any, cast

from aiohttp import web
from mode import Service

from turnsignal.agents.kafka.unpacking import Bounds
from turnsignal.agents.pages.content import Page
from turnsignal.agents.pages.listening import Activity, BoundedSite, listen, make_runner
from turnsignal.agents.pages.peers import Peers
from turnsignal.agents.pages.views import make_views
from turnsignal.agents.process.logs import log_to_stderr
from turnsignal.agents.process.memory import kept_memory
from turnsignal.agents.settings import Settings
from turnsignal.agents.worker.batches import BatchStream
from turnsignal.agents.worker.consumer import AddressedAssignor, PartitionApp, PartitionWorker
from turnsignal.agents.worker.fetch_pace import FetchPace
from turnsignal.agents.worker.neighbours import Neighbours, own_address
from turnsignal.agents.worker.open_files import raise_limit
from turnsignal.agents.worker.preflight import check_access
from turnsignal.agents.worker.supervisor import ALIVE, INSTANCE, MOVED, SUPERVISOR_PIPE
from turnsignal.agents.worker.tables import StateTables, show_state
from turnsignal.agents.worker.tasks import TaskManager

logger = logging.getLogger("turnsignal.apps")

TAKE_OVER_SECONDS = 86_400.0  #: longer than any
TICK = 1.0  #: seconds between looks at silent partitions, and between signs of life


def build_app(settings: Settings, task_manager: TaskManager, pages: Sequence[Page] = ()) -> PartitionApp:
    """Put an app together: one agent over its inputs, the views, and the ticks.

    pages: what it has to show beside its health.
    """
    spec = task_manager.spec
    app = PartitionApp(
        settings.app_id(spec.name),
        # Faust gives a take-over this long, and then never tries again; ours ends by its own deadlines.
        **settings.faust() | {"broker_request_timeout": TAKE_OVER_SECONDS},
        Stream=BatchStream,
        TableManager=StateTables,
        PartitionAssignor=AddressedAssignor,
        datadir=os.environ.get("TMPDIR", "/tmp")
        + f"/{settings.app_id(spec.name)}",  # Faust insists; nothing is kept there
    )
    app.task_manager = task_manager
    task_manager.work.on_moved = lambda: sign_of_life(MOVED)
    drains = settings.drain_timeout if spec.deferral is not None else 0.0
    app.consumer_options = consumer_options(settings, settings.app_id(spec.name), drains)
    app.consumer_topics = spec.inputs
    app.bounds = Bounds(settings.max_batch_bytes)
    app.fetch_pace = FetchPace(settings.commit_interval)
    show_state(app, task_manager)
    source = app.topic(*spec.inputs, key_serializer="raw", value_serializer="raw")

    async def work(stream: BatchStream) -> None:
        await task_manager.run(stream)

    app.read_by(work, source, f"turnsignal.{spec.name}")
    app.service(_make_views_service(settings, task_manager, app, pages))
    app.service(_make_ticks_service(task_manager))
    return app


def consumer_options(settings: Settings, group: str, drains: float = 0.0) -> dict[str, Any]:
    """Return aiokafka's consumer options: committed records only, positions committed by nobody but us.

    drains: seconds that a rebalance may take longer, for what is deferred.
    """
    return {
        **settings.aiokafka(),
        "client_id": settings.prefix,
        "group_id": group,
        "group_instance_id": settings.instance or os.environ.get(INSTANCE),
        "enable_auto_commit": False,
        "auto_offset_reset": "none",  # positions are explicit; an offset out of range must not be skipped in silence
        "isolation_level": "read_committed",
        "max_poll_records": settings.max_poll_records,
        "max_poll_interval_ms": int(settings.poll_interval * 1000),
        "session_timeout_ms": int(settings.session_timeout * 1000),
        "heartbeat_interval_ms": int(settings.heartbeat_interval * 1000),
        "rebalance_timeout_ms": int((settings.rebalance_timeout + drains) * 1000),
        "request_timeout_ms": int(max(40.0, settings.session_timeout + 10) * 1000),
        "fetch_max_wait_ms": 50,
        "max_partition_fetch_bytes": 8_388_608,
        "check_crcs": False,  # agents.kafka.unpacking does, and has more to say of a wrong one
    }


def _make_views_service(
    settings: Settings, task_manager: TaskManager, app: PartitionApp, pages: Sequence[Page]
) -> type[Service]:
    class Views(Service):
        """Serve /metrics, /healthz, /readyz and the app's pages on the sockets that were taken at the start."""

        runner: web.AppRunner | None = None
        peers: Peers | None = None

        async def on_start(self) -> None:
            activity, neighbours = Activity(), Neighbours(app, task_manager)
            self.peers = Peers(neighbours.owner_of, neighbours.others)
            views = make_views(
                task_manager.metrics,
                task_manager.health,
                [self.peers.ask_too(page) for page in pages],
                facts=neighbours.describe_worker,
                shown=settings.shows_conversations,
                hosts=settings.hosts,
                activity=activity,
            )
            self.runner = make_runner(views)
            await self.runner.setup()
            for sock in app.sockets:
                await BoundedSite(self.runner, sock, activity).start()
            host, port = self.runner.addresses[0][:2]
            logger.info("pages on http://%s:%s, metrics on /metrics", host, port)

        async def on_stop(self) -> None:
            if self.peers is not None:
                await self.peers.close()
            if self.runner is not None:
                await self.runner.cleanup()

    return Views


def _make_ticks_service(task_manager: TaskManager) -> type[Service]:
    class Ticks(Service):
        """Let time pass on silent partitions, and tell the supervisor that the work goes on."""

        @Service.task
        async def tick(self) -> None:
            while not self.should_stop:
                task_manager.pass_time()
                task_manager.measure()
                if task_manager.health().alive:
                    sign_of_life()
                await self.sleep(TICK)

        @Service.task
        async def look_around(self) -> None:
            answered, since = True, time.monotonic()
            while not self.should_stop:
                await task_manager.check_broker()
                if (answers := task_manager.health().broker_reachable) != answered:
                    log_broker(answers, time.monotonic() - since)
                    answered, since = answers, time.monotonic()
                await self.sleep(2 * TICK if answers else TICK)

    return Ticks


def log_broker(answers: bool, seconds: float) -> None:
    """Say that the broker went or came back; seconds: how long it was there, or gone."""
    if answers:
        logger.info("the broker answers again, after %.0f s", seconds)
    else:
        logger.error("the broker does not answer; nothing is lost, the work goes on when it does")


def sign_of_life(sign: bytes = ALIVE) -> None:
    """Write a byte to the supervisor, if there is one; an orphan ends itself."""
    pipe = os.environ.get(SUPERVISOR_PIPE)
    if pipe is None:
        return
    try:
        os.write(int(pipe), sign)
    except OSError:
        os.kill(os.getpid(), signal.SIGTERM)


def run_app(app: PartitionApp) -> int:
    """Run an app until it is told to stop; return the exit code.

    Raises ConfigError when the address of /metrics is taken, or its topics are not there.
    """
    task_manager = cast("TaskManager", app.task_manager)
    log_to_stderr(task_manager.settings.secrets())
    raise_limit()
    app.sockets = listen(task_manager.settings.metrics_host, task_manager.settings.metrics_port)
    app.conf.canonical_url = own_address(app.sockets[0], task_manager.settings.brokers)
    check_access(task_manager.settings, task_manager.spec)
    with contextlib.suppress(ImportError):
        import uvloop

        asyncio.set_event_loop_policy(uvloop.EventLoopPolicy())
    # Never quieter than info: below it Faust sets the root logger to DEBUG, and every send becomes a log record.
    worker = PartitionWorker(
        app, loglevel="INFO", quiet=False, redirect_stdouts=False, override_logging=False, console_port=0
    )
    try:
        with kept_memory():
            worker.execute_from_commandline()
    except SystemExit as stop:
        return int(stop.code or 0)
    finally:
        task_manager.work.warn_of_letters(float("inf"))  # what the last minute had
        sys.stdout.flush()
    return 0
