"""Live traffic: what a turn costs at rates that people run, from produce to committed score.

Half of the turns are users' and half are answers, and everybody waits seconds before writing again, so that no
conversation comes twice in a batch. Beside our worker run a loop that does the same work with the same guarantees at
the same commit interval, a bare transactional echo, which is the floor for who commits, and a raw echo, which commits
nothing and waits for nobody.
"""

import os
import re
import threading
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import orjson
from confluent_kafka import Consumer, Producer, TopicPartition
from load import Turn
from meanwhile import meanwhile
from scraping import EVERY, scraped
from session import PARTITIONS, Row, Session, Variant
from tables import Rounds, Target, number, table

from turnsignal.agents.kafka.process import free_ports
from turnsignal.agents.kafka.topics import topic_names
from turnsignal.agents.settings import Settings
from turnsignal.stream.simulation import steady

SECTION = "live"
OURS, LOOP = "turnsignal exactly once", "confluent-kafka loop, transactions"
ECHO, RAW = "transactional aiokafka echo", "raw aiokafka echo"
SCRAPED, NO_METRICS = f"turnsignal, scraped every {EVERY:.0f} s", "turnsignal, metrics off"  # at the usual rate alone
EARLY = "turnsignal, read uncommitted"
USUAL = 500  #: turns per second that the targets are about
APART = 4  #: seconds between two turns of one conversation
WARM = 3.0  #: seconds that are not counted
_INTERVAL = Settings.from_env({"TURNSIGNAL_BROKERS": "localhost:9092"}).commit_interval

_TURN_ID = re.compile(rb'"turn_id":"([^"]+)"')
_ECHOED = re.compile(rb'"conversation_id":"([^"]+)","turn_id":"([^"]+)"')
Seen = dict[tuple[str, str], float]


class Kind(NamedTuple):
    """A variant.

    script, env: how it is started; read: how its records name the turn; commits: how to count its transactions by their
    markers in each partition of its changelog, which are all its own, or one for all; None where it has no changelog;
    scraped: whether its page is read meanwhile; everywhere: at all rates, or at the usual one alone; early: whether its
    rows are read before they are committed, so that some may be read twice.
    """

    script: str
    env: dict[str, str]
    read: Callable[[bytes], tuple[str, str]]
    commits: Callable[[Collection[int]], int] | None
    scraped: bool = False
    everywhere: bool = True
    early: bool = False


def measure(session: Session) -> None:
    """Run all variants at each rate, interleaved."""
    sizes = session.sizes
    for rate in sizes.rates:
        before, live = make_turns(rate, WARM + sizes.live_seconds)
        for round_ in range(-1 if rate == sizes.rates[0] else 0, sizes.rounds):
            for name, kind in _VARIANTS.items():  # a broker that was just started compiles itself in round −1
                if not kind.everywhere and (rate != USUAL or round_ < 0):
                    continue
                (port,) = free_ports(1)
                prefix = session.new_prefix("live")
                label = f"{prefix}-{kind.script[:4]}"
                session.make_topics(prefix, *([f"{label}-changelog"] if kind is _VARIANTS[LOOP] else []))
                env = {"BENCH_TURNS": "1000000000", "TURNSIGNAL_METRICS_PORT": str(port), **kind.env}
                variant = session.start(kind.script, prefix, label, env)
                try:
                    with scraped(port if kind.scraped else None):
                        row = Run(session, [variant], prefix, kind, rate).measure(before, live)
                finally:
                    variant.end()
                    session.drop_topics(prefix)
                if round_ >= 0:
                    session.keep({"section": f"{SECTION} {rate}", "variant": name, "round": round_, **row})


def make_turns(rate: int, seconds: float) -> tuple[list[Turn], list[Turn]]:
    """Return what was said before, so that every later turn gives a row; and the turns to be sent at the rate."""
    count = rate * APART
    laps = int(seconds / APART) + 4
    pairs = list(steady(count * laps, count, seed=1, start=float(int(time.time()) - 3600)))
    turns = [Turn(i, *pair, 0) for i, pair in enumerate(pairs)]
    before = turns[:count] + turns[count : 2 * count : 2]
    live = [turns[(lap + (2 if i % 2 == 0 else 1)) * count + i] for lap in range(laps - 2) for i in range(count)]
    return before, live


class _Marks(NamedTuple):
    """The state of things at one moment: seconds, CPU seconds of worker and broker, ends of partitions."""

    at: float
    worker: float
    broker: float | None
    ends: dict[tuple[str, int], int]


class Run:
    """One variant at one rate, in one process or several that share its partitions."""

    def __init__(self, session: Session, variants: Sequence[Variant], prefix: str, kind: Kind, rate: int) -> None:
        self._session, self._variants, self._kind, self._rate = session, variants, kind, rate
        self._inputs, self._scores = topic_names(prefix)["turns"], topic_names(prefix)["scores"]
        self._topics = {name: count for name, count in session.topics(prefix).items() if name != self._inputs}
        options = {"bootstrap.servers": session.brokers, "group.id": f"{prefix}-marks", "enable.auto.commit": False}
        self._counter = Consumer({**options, "isolation.level": "read_committed", "enable.partition.eof": True})
        self._seen: Seen = {}
        self._read = [0, 0]  # turns, and their bytes

    def measure(self, before: list[Turn], live: list[Turn]) -> Row:
        """Produce at a steady rate, see when each turn's record can be read, and count what was written."""
        with meanwhile(self._watch):
            with ThreadPoolExecutor(1) as aside:
                sent, first, last = self._feed(before, iter(live), aside)
            time.sleep(3)
        records, size, markers = self._count(first.ends, last.ends)
        commits = self._kind.commits
        self._counter.close()
        took = sorted(self._seen[turn] - at for turn, at in sent.items() if turn in self._seen)
        turns, seconds = len(sent), last.at - first.at
        cpu = {"cpu_us": (last.worker - first.worker) / turns * 1e6}
        if first.broker is not None and last.broker is not None:
            cpu["broker_us"] = (last.broker - first.broker) / turns * 1e6
            cpu["both_us"] = cpu["cpu_us"] + cpu["broker_us"]
        row = {"turns": turns, "missing": turns - len(took), **cpu, **_quantiles(took)}
        row |= {"records": records / turns, "bytes": size / turns, "read_bytes": self._read[1] / self._read[0]}
        return row | ({} if commits is None else {"transactions": commits(markers) / seconds})

    def _feed(self, before: list[Turn], live: Iterator[Turn], aside: ThreadPoolExecutor) -> tuple[Seen, _Marks, _Marks]:
        options = {"bootstrap.servers": self._session.brokers, "partitioner": "murmur2_random", "linger.ms": 0}
        producer = Producer({**options, "acks": 1, "queue.buffering.max.messages": 1_000_000})
        for turn in before:
            self._send(producer, turn, {})
        producer.flush(60)
        self._await_answers(producer, live)
        sent: Seen = {}
        first = None
        began = time.monotonic()
        for index in range(int(self._rate * (WARM + self._session.sizes.live_seconds))):
            coming = next(live, None)
            if coming is None:
                break
            pause = began + index / self._rate - time.monotonic()
            if pause > 0:
                time.sleep(pause)
            if first is None and index >= self._rate * WARM:
                first = aside.submit(self._mark)
            self._send(producer, coming, sent if first is not None else {})
        last = self._mark()
        producer.flush(10)
        assert first is not None, "there are seconds to measure"
        return sent, first.result(), last

    def _await_answers(self, producer: Producer, live: Iterator[Turn]) -> None:
        """Send turns until the pipeline answers, at whatever speed it starts."""
        deadline = time.monotonic() + 60
        while len(self._seen) < 20:
            ended = [variant for variant in self._variants if variant.process.poll() is not None]
            if ended or time.monotonic() > deadline:
                silent = (ended or self._variants)[0]
                msg = f"{silent.name} did not answer; its log is {silent.log}"
                raise RuntimeError(msg)
            for _ in range(20):
                self._send(producer, next(live), {})
            producer.flush(5)
            time.sleep(0.5)
        time.sleep(2)

    def _send(self, producer: Producer, turn: Turn, sent: Seen) -> None:
        named = _TURN_ID.search(turn.value)
        sent[turn.key.decode(), named[1].decode() if named else ""] = time.monotonic()
        self._read[0] += 1
        self._read[1] += len(turn.key) + len(turn.value)
        producer.produce(self._inputs, turn.value, turn.key)
        producer.poll(0)

    def _watch(self, over: threading.Event) -> None:
        isolation = "read_uncommitted" if self._kind.early else "read_committed"
        options = {"group.id": self._scores, "enable.auto.commit": False, "isolation.level": isolation}
        consumer = Consumer({"bootstrap.servers": self._session.brokers, **options, "fetch.wait.max.ms": 100})
        partitions = range(self._topics[self._scores])
        consumer.assign([TopicPartition(self._scores, number, 0) for number in partitions])
        while not over.is_set():
            message = consumer.poll(0.1)  # not consume(n, t), which would wait t for n of them
            if message is not None and message.error() is None:
                self._seen.setdefault(self._kind.read(message.value()), time.monotonic())
        consumer.close()

    def _mark(self) -> _Marks:
        broker = self._session.broker_pid
        spent = sum(cpu_seconds(variant.process.pid) for variant in self._variants)
        brokers = None if broker is None else cpu_seconds(broker)
        at = time.monotonic()
        return _Marks(at, spent, brokers, self._session.ends(self._topics))

    def _count(
        self, first: dict[tuple[str, int], int], last: dict[tuple[str, int], int]
    ) -> tuple[int, int, Collection[int]]:
        """Return how many records were written in between, their bytes, and the markers of each changelog partition."""
        changed = {place: end for place, end in last.items() if end > first.get(place, 0)}
        self._counter.assign([TopicPartition(*place, first.get(place, 0)) for place in changed])
        records = size = 0
        markers = {place: end - first.get(place, 0) for place, end in changed.items() if place[0].endswith("changelog")}
        left = set(changed)
        while left and (message := self._counter.poll(10)) is not None:
            place = message.topic(), message.partition()
            if message.error() is not None or message.offset() >= changed[place]:
                left.discard(place)
                continue
            records += 1
            size += len(message.key() or b"") + len(message.value() or b"")
            if place in markers:
                markers[place] -= 1
        return records, size, markers.values() or (0,)


def cpu_seconds(pid: int) -> float:
    """Return what a process has spent of the CPU."""
    numbers = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(numbers[11]) + int(numbers[12])) / os.sysconf("SC_CLK_TCK")


def _read_echo(value: bytes) -> tuple[str, str]:
    named = _ECHOED.search(value)
    return (named[1].decode(), named[2].decode()) if named else ("", "")


def _read_row(value: bytes) -> tuple[str, str]:
    """Name the turn that completed a row: the follow-up, or the response itself; a series record has none."""
    row = orjson.loads(value)
    return row.get("conversation_id", ""), row.get("follow_up") or row.get("turn_id", "")


_COMMITS = {"BENCH_TRANSACTIONS": "on", "BENCH_INTERVAL": str(_INTERVAL)}
WORKER = Kind("score_worker.py", {}, _read_row, sum)
_VARIANTS = {
    OURS: WORKER,
    LOOP: Kind("confluent_loop.py", _COMMITS, _read_row, max),
    ECHO: Kind("echo.py", _COMMITS, _read_echo, None),
    RAW: Kind("echo.py", {}, _read_echo, None),
    SCRAPED: Kind("score_worker.py", {}, _read_row, sum, scraped=True, everywhere=False),
    NO_METRICS: Kind("score_worker.py", {"BENCH_METRICS": "off"}, _read_row, sum, everywhere=False),
    EARLY: Kind("score_worker.py", {}, _read_row, sum, everywhere=False, early=True),
}


def _quantiles(took: list[float]) -> dict[str, float]:
    at = {"p50_ms": 0.5, "p99_ms": 0.99}
    return {name: took[min(len(took) - 1, int(len(took) * q))] * 1000 for name, q in at.items()} if took else {}


def report(rows: list[Row]) -> tuple[str, list[Target]]:
    """Return the table, and the targets at the usual rate."""
    lines = []
    rates = sorted({int(row["section"].split()[1]) for row in rows if row["section"].startswith(f"{SECTION} ")})
    for rate in rates:
        rounds = Rounds(rows, f"{SECTION} {rate}")
        for name in rounds.variants:
            fields = (("cpu_us", 0), ("broker_us", 0), ("records", 2), ("bytes", 0), ("transactions", 0))
            waits = (("p50_ms", 1), ("p99_ms", 1), ("missing", 0))
            shown = [number(rounds.median(name, field), digits) for field, digits in (*fields, *waits)]
            lines.append([f"{rate:,}", name, *shown])
    head = ["turns/s", "", "worker CPU µs per turn", "broker CPU µs", "records written", "bytes", "transactions/s"]
    usual, trickle = Rounds(rows, f"{SECTION} {USUAL}"), Rounds(rows, f"{SECTION} {min(rates, default=0)}")
    beside = f"at {USUAL} turns/s, beside"
    written = usual.measured(OURS, lambda row: float(row["records"]))
    metrics = usual.compare(SCRAPED, NO_METRICS, lambda a, b: (a["cpu_us"] / b["cpu_us"] - 1) * 100)
    commits = trickle.measured(OURS, lambda row: row["transactions"] * _INTERVAL / PARTITIONS)
    return table([*head, "p50 ms", "p99 ms", "turns with no row"], lines), [
        Target(f"records written per turn at {USUAL} turns/s", written, 2.2, unit=""),
        Target(
            f"CPU of worker and broker {beside} the loop with transactions", usual.ratio(OURS, LOOP, "both_us"), 1.1
        ),
        Target(f"p50 {beside} the transactional echo", usual.ratio(OURS, ECHO, "p50_ms"), 2),
        Target(f"p99 {beside} the transactional echo", usual.ratio(OURS, ECHO, "p99_ms"), 3),
        Target(f"p99 {beside} the same unscraped", usual.ratio(SCRAPED, OURS, "p99_ms"), 1.2),
        Target(f"what metrics cost at {USUAL} turns/s, scraped every {EVERY:.0f} s", metrics, 5, unit=" %"),
        Target(f"transactions of a partition in a commit interval, at {min(rates, default=0)} turns/s", commits, 1),
    ]
