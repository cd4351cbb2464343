"""The lab of one fault run: workers, turns, what is done to them, and what came of it beside what both oracles say.

Whatever is waited for is a condition with a limit: the group has its partitions, the positions are at their ends.
"""

import re
import signal
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from confluent_kafka import TopicPartition
from confluent_kafka.admin import (
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    OffsetSpec,
    ResourceType,
)

from tests.kafka.faults.comparison import Comparison, compare, compare_pairs, differing_states, explain
from tests.kafka.faults.oracle import (
    Kept,
    committed,
    ends,
    foretell,
    foretell_series,
    reached_ends,
    read_outcome,
    read_states,
    read_topic,
    read_turns,
)
from tests.kafka.faults.traffic import Feed, make_suite, make_traffic
from tests.kafka.faults.workers import FaultyWorker, wait
from turnsignal.agents.kafka.topics import create_topics, topic_names
from turnsignal.agents.settings import Settings

CATCH_UP_SECONDS = 180.0  #: after the last turn and the last fault; a worker that is not back by then is lost
SHORT_CATCH_UP_SECONDS = 120.0  #: the same for a few thousand turns
START_SECONDS = 120.0
INPUTS = {"score": "turns", "watch": "series"}


class Moment(NamedTuple):
    """Something happens after so many seconds; mended: from then on the workers have to get back to work."""

    at: float
    act: Callable[[], object]
    mended: bool = False


class Result(NamedTuple):
    """What a run gave.

    behind: seconds from the last turn to the last commit; back: from the worst moment at which all was mended until
    what was there then was committed; why: the first differences; exits: exit codes of the supervisors; ended: children
    that ended though nobody killed them.
    """

    comparison: Comparison
    behind: float
    seconds: float
    why: str
    logs: dict[str, str]
    exits: list[int | None]
    back: float = 0.0
    ended: int = 0

    @property
    def lines(self) -> int:
        """Lines that the workers logged."""
        return sum(text.count("\n") for text in self.logs.values())

    @property
    def tracebacks(self) -> int:
        """Tracebacks that the workers logged."""
        return sum(text.count("Traceback (most recent") for text in self.logs.values())


class Lab:
    """One prefix on a broker, with workers.

    broker: to be crashed, stopped and started by whoever owns it; large: thousands of turns become tens of thousands;
    app: what workers run, if not told otherwise; ignored: what a case says need not be as the oracles say;
    compare_since: offsets of the turns from which on rows have to be right, by the plain pairing alone, where a case
    has lost what was before.
    """

    def __init__(
        self,
        broker: Any,
        settings: Settings,
        directory: Path,
        *,
        large: bool = False,
        seed: int = 0,
        app: str = "all",
    ) -> None:
        self.broker = broker
        self.settings = settings
        self.directory = directory
        self.large = large
        self.seed = seed
        self.app = app
        self.workers: list[FaultyWorker] = []
        self.ignored: set[str] = set()
        self.compare_since: dict[int, int] = {}
        self.fed = 0
        self.back = 0.0
        self._feeds = 0
        self._began = self._last = time.monotonic()
        self._kept: list[dict[int, list[Kept]]] = []
        self._watchers: list[threading.Thread] = []
        self.names = topic_names(settings.prefix)
        self.admin = AdminClient({**settings.confluent(), "log_level": 0})  # one: its answers end with it
        create_topics(settings)

    # -- workers -----------------------------------------------------------------------------------------------

    def add(self, **options: Any) -> FaultyWorker:
        """Make a worker that is not started yet."""
        settings = options.pop("settings", self.settings)
        options.setdefault("app", self.app)
        worker = FaultyWorker(f"worker-{len(self.workers)}", settings, self.directory, **options)
        self.workers.append(worker)
        return worker

    def start(self, count: int = 2, **options: Any) -> list[FaultyWorker]:
        """Start so many workers at once, and wait until they have all partitions."""
        workers = [self.add(**options) for _ in range(count)]
        for worker in workers:
            worker.start()
        self.await_members()
        return workers

    def await_members(self, timeout: float = START_SECONDS) -> None:
        """Wait until every worker that runs is a member of its groups, and every partition is somebody's."""
        apps = {
            app for worker in self.workers for app in (("score", "watch") if worker.app == "all" else (worker.app,))
        }

        found: dict[str, list[set[int]]] = {}

        def complete() -> bool:
            for app in apps:
                wanted = sum(worker.running and worker.app in (app, "all") for worker in self.workers)
                held = found[app] = self.members(app)
                if len(held) != wanted or sum(map(len, held)) != len(ends(self.settings, INPUTS[app])):
                    return False
            return True

        try:
            self.wait(complete, timeout, "every worker to be a member, and every partition to be somebody's")
        except TimeoutError as error:
            msg = f"{found}: {error}"
            raise TimeoutError(msg) from None

    def all_joined(self) -> bool:
        """Whether every app that the workers run has a member."""
        return all(self.members(app) for app in (("score", "watch") if self.app == "all" else (self.app,)))

    def members(self, app: str = "score") -> list[set[int]]:
        """Ask the broker which partitions each member of an app's group has."""
        group, topic = self.settings.app_id(app), self.names[INPUTS[app]]
        admin = AdminClient({**self.settings.confluent(), "log_level": 0})  # an older one may ask whom it knew
        found = admin.describe_consumer_groups([group], request_timeout=10)[group].result(15)
        return [
            {place.partition for place in member.assignment.topic_partitions if place.topic == topic}
            for member in found.members
            if member.assignment is not None
        ]

    def stop(self) -> None:
        """Tell all workers to finish, and wait until they have."""
        for worker in self.workers:
            worker.terminate()
        for worker in self.workers:
            worker.join()

    def refuses(
        self, worker: FaultyWorker, *words: str, app: str = "score", since: int = 0, timeout: float = 60.0
    ) -> str:
        """Wait for an app to refuse in words that are all in a line, and end with 2; return the line.

        since: bytes of its log that were there before.
        """
        found: list[str] = []

        def refused() -> bool:
            lines = worker.log_text(since).splitlines()
            found[:] = [line for line in lines if all(word in line for word in words)]
            return bool(found) or not worker.running

        self.wait(refused, timeout, f"{worker.name} to refuse with {words}")
        assert found, f"expected {worker.name} to refuse with {words}, got {worker.log_text()[-2000:]}"
        self.wait(lambda: worker.child_of(app) is None, 20, f"{worker.name} to end after {found[-1]}")
        if "still at work: none" not in worker.log_text(since):  # else its supervisor is about to end by itself
            worker.terminate()
        code = worker.join()
        assert code == 2, f"expected {worker.name} to end with 2, got {code}: {worker.log_text()[-2000:]}"
        self.workers.remove(worker)
        return found[-1]

    # -- turns -------------------------------------------------------------------------------------------------

    def feed(
        self,
        turns: int,
        seconds: float = 0.0,
        moments: Iterable[Moment] = (),
        options: Mapping[str, Any] | None = None,
    ) -> None:
        """Feed turns over so many seconds (0: as fast as it goes), and have things happen meanwhile."""
        due = sorted(moments, key=lambda moment: moment.at)
        began = time.monotonic()
        self._feeds += 1

        def meanwhile() -> None:
            while due and time.monotonic() - began >= due[0].at:
                moment = due.pop(0)
                moment.act()
                if moment.mended:
                    self.watch_return()

        pace, pause = (turns / seconds, min(3.0, seconds / 10)) if seconds else (0.0, 0.0)
        own = dict(options or {})
        feed = Feed(self.settings, pace, turns // 3, pause, number=self._feeds, options=own)
        self.fed += feed.run(make_traffic(turns, self.seed * 100 + self._feeds), meanwhile)
        while due:  # what comes after the last turn
            meanwhile()
            time.sleep(0.05)
        self._last = time.monotonic()

    def watch_return(self) -> None:
        """Measure from now how long it takes until every partition's next turn is committed."""
        self._watchers.append(threading.Thread(target=self._watch_return, args=(time.monotonic(),), daemon=True))
        self._watchers[-1].start()

    def _watch_return(self, began: float) -> None:
        there: dict[int, int] = {}

        def known() -> bool:
            there.update(ends(self.settings))
            return True

        def fed_since(since: float) -> bool:
            if time.monotonic() - since >= 2.0:  # nothing more is fed: then what is there has to do
                return True
            return all(end > there[partition] for partition, end in ends(self.settings).items())

        with suppress(TimeoutError):
            self.wait(known, CATCH_UP_SECONDS, "")
            self.wait(partial(fed_since, time.monotonic()), CATCH_UP_SECONDS, "")
            self.wait(known, CATCH_UP_SECONDS, "")
            self.wait(lambda: self._reached(there), CATCH_UP_SECONDS, "")
        self.back = max(self.back, time.monotonic() - began)

    def join_watchers(self) -> None:
        """Wait until what is measured has been."""
        while self._watchers:
            self._watchers.pop().join(CATCH_UP_SECONDS)

    def _reached(self, there: Mapping[int, int]) -> bool:
        at = committed(self.settings)
        return all(at[partition] >= end for partition, end in there.items())

    def is_caught_up(self) -> bool:
        """Whether all turns are committed, what was said of them, and whatever was asked to be forgotten."""
        return reached_ends(self.settings, ("turns", "feedback", "forget"))

    def caught_up(self, timeout: float | None = None) -> None:
        """Wait until that is so."""
        limit = CATCH_UP_SECONDS if self.large else SHORT_CATCH_UP_SECONDS
        self.wait(self.is_caught_up, timeout or limit, "all turns to be committed")

    def is_watch_caught_up(self) -> bool:
        """Whether watch has taken in all series that are there."""
        return self._watch_reached(self._last_series())

    def _last_series(self) -> dict[int, int]:
        """Return the offset of the last record of each partition that has any."""
        series = read_topic(self.settings, self.names["series"])
        return {number: records[-1].offset for number, records in series.items() if records}

    def _watch_reached(self, last: Mapping[int, int]) -> bool:
        at = committed(self.settings, "series", "watch")
        return all(at[number] > offset for number, offset in last.items())

    def watch_caught_up(self, timeout: float = 60.0) -> None:
        """Wait until that is so of those that are there now: the turns that they are of have been committed."""
        last = self._last_series()
        self.wait(lambda: self._watch_reached(last), timeout, "all series to be committed")

    def without_lag(self, name: str, app: str) -> None:
        """Wait until an app has committed a topic to its very end, transaction markers and all."""
        self.wait(lambda: reached_ends(self.settings, [name], app), 30, f"the lag of {app} in {name} to be 0")

    # -- topics ------------------------------------------------------------------------------------------------

    def expire(self, name: str) -> None:
        """Have retention remove everything from a topic, markers too; turns are remembered for the oracles."""
        if name == "turns":
            self._kept.append(read_turns(self.settings))
        self._set(name, {"retention.ms": "1", "segment.ms": "100"})

        def empty() -> bool:
            places = {TopicPartition(self.names[name], n): OffsetSpec.earliest() for n in ends(self.settings, name)}
            futures = self.admin.list_offsets(places)
            first = {place.partition: future.result(20).offset for place, future in futures.items()}
            return first == ends(self.settings, name)

        self.wait(empty, 60, f"retention to empty {name}")
        self._set(name, {"retention.ms": str(7 * 86_400_000), "segment.ms": str(7 * 86_400_000)})

    def _set(self, name: str, values: Mapping[str, str]) -> None:
        entries = [
            ConfigEntry(key, value, incremental_operation=AlterConfigOpType.SET) for key, value in values.items()
        ]
        resource = ConfigResource(ResourceType.TOPIC, self.names[name], incremental_configs=entries)
        self.admin.incremental_alter_configs([resource])[resource].result(30)

    def make_anew(self, name: str) -> None:
        """Delete a topic and make it again."""
        topic = self.names[name]
        if name == "turns":
            self._kept.append(read_turns(self.settings))
        self.admin.delete_topics([topic])[topic].result(30)
        self.wait(lambda: topic not in self.admin.list_topics(timeout=10).topics, 30, f"{topic} to be gone")
        create_topics(self.settings)

    # -- the end -----------------------------------------------------------------------------------------------

    def finish(self) -> Result:
        """Wait until all is done, stop the workers, and compare."""
        if any(worker.running for worker in self.workers):
            self.caught_up()
        topic = self.names["turns"]
        turns = self.turns()
        feedback = self.names["feedback"]
        expected = foretell(turns, make_suite(), topic, 25, read_topic(self.settings, feedback), feedback)
        if "states" not in self.ignored and not self.compare_since:
            with suppress(TimeoutError):  # then the comparison says what differs
                self.wait(lambda: read_states(self.settings) == expected.states, 30, "the last ones to be closed")
        behind = time.monotonic() - self._last
        self.join_watchers()
        watches = "watched" not in self.ignored and any(
            worker.running and worker.app == "all" for worker in self.workers
        )
        if watches:
            self.watch_caught_up()
        for worker in self.workers:
            worker.terminate()
        exits = [worker.join() for worker in self.workers]
        found = read_outcome(self.settings)
        for letter in [letter for letter in found.letters if letter[0][0] != topic]:
            del found.letters[letter]  # of other topics the oracles know nothing; a case that has some looks at them
        comparison = compare_pairs(compare(expected, found, self.fed), turns, found, topic, self.compare_since)
        if watches:
            series = foretell_series(
                read_topic(self.settings, self.names["series"]), self.names["series"], make_suite()
            )
            kept = read_states(self.settings, "series_changelog")
            comparison = comparison._replace(watched=differing_states(series, kept))
        if self.compare_since:
            self.ignored |= set(Comparison._fields[2:]) - {"pairs_missing", "pairs_unexpected", "pairs_twice"}
        comparison = comparison._replace(**dict.fromkeys(self.ignored, 0))
        why = "" if comparison.clean else explain(expected, found)
        logs = {path.stem: path.read_text(errors="replace") for path in sorted(self.directory.glob("worker-*.log"))}
        ended = sum(worker.exits for worker in self.workers)
        return Result(comparison, behind, time.monotonic() - self._began, why, logs, exits, self.back, ended)

    def turns(self) -> dict[int, list[Kept]]:
        """Return all turns that ever were, by partition, those first that retention or a deletion removed."""
        now = read_turns(self.settings)
        return {n: [record for was in self._kept for record in was.get(n, [])] + now[n] for n in now}

    def close(self) -> None:
        """Leave no process behind."""
        for worker in self.workers:
            worker.send(signal.SIGCONT)
            worker.kill()

    def wait(self, condition: Callable[[], bool], timeout: float, what: str) -> None:
        """Wait for a condition; a broker that is not there yet counts as not yet."""
        wait(condition, timeout, what, self.workers)

    def command(self, line: str) -> list[str]:
        """Return the command `turnsignal …` that a line tells its reader to run."""
        found = re.search(r"`turnsignal ([^`]+)`", line)
        assert found, f"expected a command in backquotes, got {line}"
        return found[1].split()
