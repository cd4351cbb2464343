"""The demo: a broker, workers and conversations, and a live view of what comes out, on one machine and then gone.

The workers are the real ones, supervised, in processes of their own. The view reads what any consumer could read: the
committed rows of the topics, the group's positions, and /metrics.
"""

import contextlib
import math
import secrets
import socket
import sys
import threading
import time
from collections.abc import Mapping
from contextlib import ExitStack
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from types import MappingProxyType
from typing import Any, NamedTuple

import orjson
from confluent_kafka import KafkaException
from rich.console import Console
from rich.live import Live

from turnsignal.agents.app_table import APPS, apps_of
from turnsignal.agents.demo.ending import REJECTS, SENT, WORKER_LOG, SentTurns, conclude, spare_files
from turnsignal.agents.demo.judged import VERDICTS_FILE, JudgedTotals, write_suite
from turnsignal.agents.demo.live_statistics import BadExchange, LiveStatistics
from turnsignal.agents.demo.load_generator import LoadGenerator, RecordedLoad, SimulatedLoad
from turnsignal.agents.demo.terminal_view import (
    FinalView,
    Texts,
    View,
    Vitals,
    describe_headlines,
    describe_state,
)
from turnsignal.agents.demo.topic_reader import RowReader, SystemWatch
from turnsignal.agents.environment import PREFIX
from turnsignal.agents.files.reading import Recording, TurnFile
from turnsignal.agents.kafka.brokers import Broker, GivenBroker, MockBroker, Say, find_broker
from turnsignal.agents.kafka.process import free_ports
from turnsignal.agents.kafka.topics import admin_client, create_topics, topic_names
from turnsignal.agents.observe.run import DIRECTORY, StartedPrograms, worker_addresses
from turnsignal.agents.process.interrupts import Interrupts
from turnsignal.agents.report.ending import format_ending
from turnsignal.agents.report.escaping import plain
from turnsignal.agents.report.tables import print_lines
from turnsignal.agents.settings import Settings
from turnsignal.agents.worker.supervisor import Supervisor, worker_command
from turnsignal.stream.errors import ConfigError, TurnsignalError
from turnsignal.stream.records.wire import DEAD_LETTERS, SCORES, VERDICTS
from turnsignal.stream.suite import load_suite

QUIET_SECONDS = 3.0  #: without a verdict, after which the judges count as done
DRAIN_SECONDS = 60.0  #: for what was sent to be scored, after the end
JOIN_SECONDS = 30.0  #: for the workers to join, before turns are sent all the same
METRICS_PORT = 9108

_REFRESH = 0.5  #: seconds between drawings
_TELL = 5.0  #: seconds between lines where there is no terminal
_LOG_SHOWN = 5  #: last lines of the worker's log when nothing came out


class Options(NamedTuple):
    """What was asked for.

    seconds: None for ever; speed: None for what suits; directory: None for a new one in ./out; read_as: how the files
    were read, as `HowToRead.as_json` has it; observed: with Prometheus and what else is installed; judge: who answers
    for the demo's judges, "" for nobody.
    """

    seconds: float | None = 60.0
    files: tuple[Path | TurnFile, ...] = ()
    speed: float | None = None
    mock: bool = False
    directory: Path | None = None
    read_as: Mapping[str, str] = MappingProxyType({})
    observed: bool = False
    judge: str = ""


def run_demo(options: Options, env: Mapping[str, str], console: Console) -> int:
    """Run the demo; return the exit code: 0, or 128 and the signal that came before anything was scored.

    Raises TurnsignalError when there is no broker, or it does not work; ConfigError for a wrong setting.
    """
    stamp = datetime.now(UTC).strftime("%Y%m%d-%H%M%S")
    out = options.directory or Path("out") / f"demo-{stamp}"
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        msg = f"{out}: expected a directory that can be written to, got: {error.strerror}"
        raise TurnsignalError(msg) from None
    spare_files(out, options.files)

    say = partial(console.print, markup=False, highlight=False, soft_wrap=True)
    with Interrupts() as interrupts, TemporaryDirectory(prefix="turnsignal-demo-") as scratch:
        try:
            return _run_on_broker(options, env, Path(scratch), out, console, say, interrupts)
        except KeyboardInterrupt:
            say("Interrupted before the first score.")
            return interrupts.exit_code


def _run_on_broker(
    options: Options,
    env: Mapping[str, str],
    scratch: Path,
    out: Path,
    console: Console,
    say: Say,
    interrupts: Interrupts,
) -> int:
    with ExitStack() as stack:
        with interrupts.let():
            directory = scratch / "kafka"
            broker = MockBroker() if options.mock else find_broker(env, allow_mock=True, directory=directory, say=say)
        say(f"Broker: {broker.kind}")
        stack.callback(broker.close)  # before the start, which can be interrupted
        with interrupts.let():
            broker.start()
            given = demo_environment(env, broker)
            if options.judge:
                suite = env.get(f"{PREFIX}SUITE", "").strip()
                given[f"{PREFIX}SUITE"] = str(write_suite(options.judge, Path(suite) if suite else None, scratch))
            settings = Settings.from_env(given)
        if isinstance(broker, GivenBroker):
            stack.callback(_remove_topics, settings, say)
        with interrupts.let():
            create_topics(settings)
            say(f"Topics: {settings.prefix}.…, {settings.partitions} partitions each")
            sent = SentTurns((scratch if options.files else out) / SENT)
            show = _Show(options, settings, given, broker, out, console, sent)
        programs = StartedPrograms(worker_addresses(given), DIRECTORY, env, say)
        if options.observed:
            stack.callback(programs.stop)
            programs.launch()
        with interrupts.let():
            programs.await_ready()
        return show.run(interrupts)


def demo_environment(env: Mapping[str, str], broker: Broker) -> dict[str, str]:
    """Give the workers' environment: the broker's address, a metrics port that is free, and names that are nobody's.

    On a broker of somebody's own the demo has a prefix of its own, and leaves no topics behind. The mock tells no
    positions, so that only /metrics says what was worked through: there, port 0 is any that is free.
    """
    given = {**env, f"{PREFIX}BROKERS": broker.address}
    if isinstance(broker, GivenBroker):
        prefix = env.get(f"{PREFIX}PREFIX", "").strip() or "turnsignal"
        given[f"{PREFIX}PREFIX"] = f"{prefix}-demo-{secrets.token_hex(3)}"
    if isinstance(broker, MockBroker):
        given |= {f"{PREFIX}PARTITIONS": "4", f"{PREFIX}REPLICATION": "1"}  # the mock makes nothing else
    port = env.get(f"{PREFIX}METRICS_PORT", "").strip()
    if not port:
        given[f"{PREFIX}METRICS_PORT"] = str(_free_ports(METRICS_PORT))
    elif port == "0" and isinstance(broker, MockBroker):
        given[f"{PREFIX}METRICS_PORT"] = str(_free_ports())
    return given


def _free_ports(*preferred: int) -> int:
    """Find a port that is free together with those of the other apps, those that are preferred first."""
    for port in (*preferred, *(free_ports(1)[0] for _ in range(50))):
        with contextlib.suppress(OSError), ExitStack() as probes:
            for app in APPS.values():
                probe = probes.enter_context(socket.socket())
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as the worker's own socket has it
                probe.bind(("127.0.0.1", port + app.port))
            return port
    msg = f"expected {len(APPS)} free ports in a row for /metrics, got none; set TURNSIGNAL_METRICS_PORT=0"
    raise TurnsignalError(msg)


class _Show:
    """One run: workers, feeder, reader and view."""

    def __init__(
        self,
        options: Options,
        settings: Settings,
        env: Mapping[str, str],
        broker: Broker,
        out: Path,
        console: Console,
        sent: SentTurns,
    ) -> None:
        self._options = options
        self._settings = settings
        self._env = env
        self._broker = broker
        self._out = out
        self._console = console
        suite = load_suite(settings.suite)
        self._apps = apps_of(judged=bool(suite.judges))
        self._board = LiveStatistics(suite)
        self._judged = JudgedTotals()
        self._reader = RowReader(settings, out, {VERDICTS: VERDICTS_FILE} if suite.judges else None)
        self._look = SystemWatch(settings, self._apps)
        self._fed: float | None = None  # when everything was sent
        self._feeder = self._make_feeder()
        self._sent = self._feeder.kept = sent
        self._made = time.monotonic()
        self._began: float | None = None  # when the workers had joined: the time runs from then on
        self._news: list[str] = []
        self._note = ""
        self._worker_code: int | None = None

    def run(self, interrupts: Interrupts) -> int:
        """Run to the end, clean up, and say what came of it."""
        log_path = self._out / WORKER_LOG
        with log_path.open("wb") as log, self._reader:
            supervisor = self._supervisor = Supervisor(
                {app: worker_command(app) for app in self._apps}, self._settings.stall_timeout, self._env, log
            )
            workers = threading.Thread(target=self._supervise, name="supervisor")
            workers.start()
            self._feeder.start()
            try:
                with interrupts.let():
                    self._watch()
            except KeyboardInterrupt:
                self._note = "interrupted"
            finally:
                self._feeder.stop()
                supervisor.stop()
                workers.join()
                self._feeder.join(5.0)
                self._sent.close()
            self._take_in(0.5)
            self._look.refresh(math.inf, self._board.exchanges)
        if interrupts.sign and not self._board.rows:
            raise KeyboardInterrupt
        return self._conclude(log_path)

    def _make_feeder(self) -> LoadGenerator:
        options, now = self._options, time.time()
        topic = topic_names(self._settings.prefix)["turns"]
        if options.files:
            rejects = self._out / REJECTS
            return RecordedLoad(self._settings, topic, options.files, options.seconds, now, options.speed, rejects)
        return SimulatedLoad(self._settings, topic, options.seconds, now, options.speed)

    def _supervise(self) -> None:
        self._worker_code = self._supervisor.run()

    def _watch(self) -> None:
        """Show what comes in until the time is over and what was sent is scored."""
        console = self._console
        if console.is_terminal and not console.is_dumb_terminal:
            with Live(console=console, auto_refresh=False, screen=True) as live:
                view = partial(View, self._board, texts=self._texts)
                self._loop(lambda: live.update(view(vitals=self._vitals()), refresh=True), _REFRESH)
        else:
            self._loop(self._describe, _TELL)

    def _describe(self) -> None:
        """Print how it goes in a line, and what the comparisons say when that is news."""
        known, self._news = self._news, describe_headlines(self._board)
        news = [line for line in self._news if line not in known]
        for line in (*news, describe_state(self._board, self._vitals()), *filter(None, [self._judged.describe()])):
            self._console.print(line, markup=False, highlight=False, soft_wrap=True)

    def _texts(self, bad: BadExchange) -> Texts:
        return Texts(*self._feeder.texts.exchange(bad.conversation_id, bad.turn_id, bad.follow_ups))

    def _loop(self, show: Any, every: float) -> None:
        shown = 0.0
        while not self._over():
            self._take_in(0.1)
            now = time.monotonic()
            self._look.refresh(now, self._board.exchanges)
            if now - shown >= every:
                self._board.refresh()
                show()
                shown = now
        show()

    def _elapsed(self) -> float | None:
        """Return how long turns have been sent; None while the workers join."""
        now = time.monotonic()
        if self._began is None and (self._look.lag is not None or now - self._made >= JOIN_SECONDS):
            self._began = now
            self._feeder.begin()
        return None if self._began is None else now - self._began

    def _over(self) -> bool:
        elapsed, seconds = self._elapsed() or 0.0, self._options.seconds
        if self._worker_code is not None or self._supervisor.refused or self._feeder.failure:
            return True
        if seconds is not None and elapsed >= seconds:
            self._feeder.stop()
            self._note = self._note or "the time is over; scoring what was sent"
        if not self._feeder.done:
            return False
        if self._fed is None:
            self._fed = time.monotonic()
        late = seconds is not None and elapsed >= seconds + DRAIN_SECONDS
        settled = self._look.lag == 0 and self._look.at >= self._fed  # a look from before knows of less
        judges = "judge" not in self._apps or time.monotonic() - max(self._judged.last, self._fed) > QUIET_SECONDS
        return late or (settled and judges and self._reader.complete())

    def _take_in(self, seconds: float) -> None:
        for topic, value, headers in self._reader.read(seconds):
            if topic == VERDICTS and value is not None:
                self._judged.on_verdict(value, time.monotonic())
            elif topic == DEAD_LETTERS:
                self._board.on_dead_letter(headers.get("reason", b"?").decode("utf-8", "replace"))
            elif value is not None:
                row = orjson.loads(value)
                (self._board.on_row if topic == SCORES else self._board.on_summary)(row)

    def _vitals(self) -> Vitals:
        feeder, look = self._feeder, self._look
        elapsed = self._elapsed()
        note = self._note or ("waiting for the workers to join" if elapsed is None else "")
        return Vitals(
            self._broker.kind,
            elapsed,
            self._options.seconds,
            look.turns_per_second,
            look.exchanges_per_second,
            look.lag,
            feeder.sent,
            feeder.total,
            look.urls,
            note,
        )

    def _conclude(self, log_path: Path) -> int:
        statistics, feeder, console = self._board, self._feeder, self._console
        say = partial(console.print, markup=False, highlight=False, soft_wrap=True)
        say(
            f"Sent {feeder.sent:,} turns{f' of {feeder.total:,}' if feeder.total else ''}; "
            f"{statistics.rows:,} score rows,"
            f" {statistics.exchanges:,} exchanges, {statistics.conversations:,} closed conversations,"
            f" {statistics.dead_letters.total():,} dead letters."
        )
        if feeder.rejected:
            say(f"{feeder.rejected:,} lines could not be sent; see {self._out / REJECTS}")
        if self._look.lag:
            say(f"{self._look.lag:,} turns were still waiting to be scored when the demo ended.")
        if feeder.failure:
            raise TurnsignalError(feeder.failure)
        if not statistics.rows:
            return self._explain_nothing(log_path)
        self._show_result()
        if self._judged.verdicts:
            say(self._judged.describe())
            say(self._judged.describe_price())
        return 0

    def _show_result(self) -> None:
        """Show what a replay of the same turns shows; of too many, the live figures and where the rows are."""
        names = Recording(self._options.files).names()
        result = conclude(self._sent, self._out, self._settings, names, self._options.read_as, self._board.dead_letters)
        if result is not None:
            print_lines(self._console, format_ending(result, self._console.width, is_sample=not names))
            return
        self._board.refresh()
        self._console.print(FinalView(self._board, self._texts))
        self._console.print(f"Rows: {self._out}", markup=False, highlight=False, soft_wrap=True)

    def _explain_nothing(self, log_path: Path) -> int:
        lines = log_path.read_text("utf-8", "replace").splitlines()[-_LOG_SHOWN:]
        last_words = "\n".join(f"  {plain(line, 300)}" for line in lines) or "  nothing"
        msg = f"no score row came out; the last words of the workers in {log_path}:\n{last_words}"
        if self._worker_code == 2:
            raise ConfigError(msg)
        raise TurnsignalError(msg)


def _remove_topics(settings: Settings, say: Say) -> None:
    """Delete the demo's own topics from a broker that is somebody's own."""
    names = list(topic_names(settings.prefix).values())
    failed = []
    admin = admin_client(settings)  # by name: once it is gone, its futures fail
    for name, future in admin.delete_topics(names).items():
        try:
            future.result(30)
        except KafkaException as error:
            failed.append(f"{name}: {error.args[0].str()}")
    if failed:
        say(f"These topics of the demo could not be deleted: {'; '.join(failed)}")
    sys.stdout.flush()
