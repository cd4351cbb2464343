"""A session: one broker, one load, and variants started in processes of their own, one at a time.

Whatever is compared runs in rounds, one variant after another within each, so that a noisy minute meets all of them;
what is reported is the median over the rounds, of ratios to the others in the same round.
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from confluent_kafka import TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic, OffsetSpec
from load import produce_turns, write_turns

from turnsignal.agents.kafka.topics import create_topics, topic_names
from turnsignal.agents.settings import Settings

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PATIENCE = 300.0  #: seconds for one variant
PARTITIONS = 4

Row = dict[str, Any]


class Sizes(NamedTuple):
    """How much is measured.

    rounds; turns per variant; rates of live traffic in turns per second, and for how many seconds; open conversations;
    batches; recovered conversations; replayed turns.
    """

    rounds: int
    turns: int
    rates: tuple[int, ...]
    live_seconds: float
    open_counts: tuple[int, ...]
    batches: int
    recovered: int
    replayed: int


SIZES = {
    "quick": Sizes(1, 20_000, (50, 500), 4, (20_000,), 16, 20_000, 20_000),
    "default": Sizes(7, 100_000, (50, 500, 5_000), 10, (100_000,), 40, 100_000, 200_000),
    "full": Sizes(9, 150_000, (50, 500, 5_000), 30, (100_000, 1_000_000), 80, 100_000, 500_000),
}


class Session:
    """What every section of the benchmark shares.

    rows: everything measured so far; broker_pid: of a broker that is a process of this machine, None for any other.
    """

    def __init__(
        self, brokers: str, directory: Path, sizes: Sizes, out: Path, *, broker_pid: int | None = None
    ) -> None:
        self.brokers, self.directory, self.sizes, self.broker_pid = brokers, directory, sizes, broker_pid
        self.load = directory / "turns"
        self.rows: list[Row] = []
        self._out = out
        self._number = 0
        self._admin = AdminClient({"bootstrap.servers": brokers, "log_level": 0})

    def make_load(self) -> None:
        """Make the turns of this run, unless they are made."""
        if not self.load.exists():
            write_turns(self.load, self.sizes.turns)

    def make_topics(self, prefix: str, *changelogs: str, partitions: int = PARTITIONS) -> None:
        """Make the topics of a prefix, and further changelogs beside them."""
        given = {"BROKERS": self.brokers, "PREFIX": prefix, "PARTITIONS": str(partitions)}
        create_topics(Settings.from_env({f"TURNSIGNAL_{name}": value for name, value in given.items()}))
        wanted = [NewTopic(name, partitions, 1) for name in changelogs]
        for future in (self._admin.create_topics(wanted) if wanted else {}).values():
            future.result(30)

    def fill(self, prefix: str, *changelogs: str) -> None:
        """Make the topics of a prefix and put the load on `turns`."""
        self.make_topics(prefix, *changelogs)
        produce_turns(self.load, self.brokers, topic_names(prefix)["turns"])

    def topics(self, prefix: str) -> dict[str, int]:
        """Return the topics of a prefix, with their numbers of partitions."""
        known = self._admin.list_topics(timeout=30).topics
        return {name: len(topic.partitions) for name, topic in known.items() if prefix in name}

    def ends(self, topics: Mapping[str, int]) -> dict[tuple[str, int], int]:
        """Return where each partition of some topics ends; all are asked at once, as there may be hundreds."""
        places = [TopicPartition(topic, number) for topic, count in topics.items() for number in range(count)]
        asked = self._admin.list_offsets(dict.fromkeys(places, OffsetSpec.latest()))
        return {(at.topic, at.partition): future.result(30).offset for at, future in asked.items()}

    def drop_topics(self, prefix: str) -> None:
        """Delete what a round has written; the disk is not endless."""
        for future in self._admin.delete_topics(list(self.topics(prefix))).values():
            with suppress(Exception):
                future.result(30)

    def new_prefix(self, what: str) -> str:
        """Return a prefix that no earlier round has used, not even on a broker that is kept."""
        self._number += 1
        return f"bench-{what}-{int(time.time())}-{self._number}"

    def start(self, script: str, prefix: str, name: str, env: Mapping[str, str]) -> "Variant":
        """Start a variant's process."""
        return Variant(self, script, prefix, name, env)

    def run(self, section: str, script: str, prefix: str, variant: str, round_: int, /, **env: str) -> Row:
        """Run a variant to its end, keep its row and return it."""
        name = env.pop("BENCH_NAME", f"{prefix}-{script.removesuffix('.py')}")
        numbers = self.start(script, prefix, name, env).row()
        row = {"section": section, "variant": variant, "round": round_, **numbers}
        if row.get("turns") and row.get("seconds"):
            row["us"] = row["seconds"] / row["turns"] * 1e6
            row["cpu_us"] = row.get("cpu_seconds", 0.0) / row["turns"] * 1e6
        self.keep(row)
        return row

    def keep(self, row: Row) -> None:
        """Keep a row, and write it down at once."""
        self.rows.append(row)
        with self._out.open("a") as file:
            file.write(json.dumps(row) + "\n")
        shown = " ".join(f"{k}={v:.4g}" if isinstance(v, float) else f"{k}={v}" for k, v in row.items())
        print(f"  {shown}", file=sys.stderr, flush=True)


class Variant:
    """A variant's process, and what it left."""

    def __init__(self, session: Session, script: str, prefix: str, name: str, env: Mapping[str, str]) -> None:
        self.name = name
        self._row = session.directory / f"{name}.json"
        self.log = session.directory / f"{name}.log"
        turns = session.sizes.turns
        given = {
            "PYTHONPATH": f"{ROOT}{os.pathsep}{HERE}",
            "BENCH_BROKERS": session.brokers,
            "BENCH_PREFIX": prefix,
            "BENCH_NAME": name,
            "BENCH_DIRECTORY": str(session.directory),
            "BENCH_LOAD": str(session.load),
            "BENCH_ROW": str(self._row),
            "BENCH_TURNS": str(turns * 19 // 20),
            "BENCH_WARM": str(turns * 2 // 5),
            "TURNSIGNAL_BROKERS": session.brokers,
            "TURNSIGNAL_PREFIX": prefix,
            "TURNSIGNAL_METRICS_PORT": "0",
        }
        clean = {k: v for k, v in os.environ.items() if not k.startswith(("TURNSIGNAL_", "BENCH_"))}
        with self.log.open("wb") as log:
            command = [sys.executable, str(HERE / "variants" / script)]
            self.process = subprocess.Popen(command, env={**clean, **given, **env}, cwd=ROOT, stdout=log, stderr=log)

    def row(self) -> Row:
        """Wait for the end and return what was measured."""
        try:
            self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.end()
        if not self._row.exists():
            end = self.log.read_text(errors="replace")[-2000:]
            msg = f"{self.name}: expected a row, got exit code {self.process.returncode} and this log:\n{end}"
            raise RuntimeError(msg)
        row: Row = json.loads(self._row.read_text())
        self._row.unlink()
        return row

    def end(self) -> None:
        """End the process: politely, then not."""
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
