"""History: days of simulated traffic as Prometheus would have scraped them from real workers, in a few seconds.

The numbers are the workers' own: traffic goes through the pipeline into their metric objects, and their pages are kept
every few minutes with the time of the simulation. Only what a worker measures of itself (lags, durations, tables) is
made up here, as there is no worker. What comes out is one file for `promtool tsdb create-blocks-from openmetrics`.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from zlib import crc32

from grafana.preview.judging import JUDGES, JudgeWorker
from turnsignal.agents.metrics.exposition import WorkerMetrics
from turnsignal.stream.judging.judges import judged_scorers
from turnsignal.stream.pipeline.metric_family import JUDGE, SCORE, WATCH
from turnsignal.stream.pipeline.processor import PartitionProcessor
from turnsignal.stream.pipeline.scoring import describe_scorers, policy_of, scorer_names
from turnsignal.stream.pipeline.series import SeriesProcessor
from turnsignal.stream.pipeline.truth_scoring import OF_TRUTH, TRUTH_SCORERS
from turnsignal.stream.records.feedback import VOTE
from turnsignal.stream.records.wire import SERIES
from turnsignal.stream.redaction import Redaction
from turnsignal.stream.simulation import Regression, SimulatedRecord, Traffic, simulate
from turnsignal.stream.suite import Suite, parse_suite
from turnsignal.stream.testing import FakeRecord

EVERY = 240.0  #: seconds from scrape to scrape
HOUR = 3600.0
WORSE = "2026-01-06"  #: the version that retrieves worse

_TOPICS = {
    SCORE: ("turnsignal.turns", "turnsignal.forget", "turnsignal.feedback", "turnsignal.verdicts"),
    WATCH: ("turnsignal.series",),
}
_PORTS = {SCORE: 9108, WATCH: 9109, JUDGE: 9110}
_VERSION, _REVISION = "0.1.0", "8968a80"
_OPENMETRICS = "application/openmetrics-text"


@dataclass(frozen=True)
class Story:
    """What happened, under a job's name of its own.

    hours: of traffic; kept: hours from and to which pages are kept; versions: that answer, one after the other; worse:
    the hour at which the last version is released, whose retrieval is worse, None for never; assistants: who answers.
    """

    job: str
    hours: float = 32.25
    kept: Sequence[tuple[float, float]] = ((5.0, 32.25),)
    versions: Sequence[str] = ("2026-01-01",)
    worse: tuple[float, str] | None = (28.0, WORSE)
    assistants: Sequence[str] = ("support", "billing")
    start: float = 1_767_571_200.0
    rate: float = 0.25

    @property
    def end(self) -> float:
        """The time of the last page, seconds since 1970."""
        return self.start + self.hours * HOUR


class Workers:
    """One worker of each app over one partition, without a broker."""

    def __init__(self, suite: Suite) -> None:
        self._judge = JudgeWorker(suite, version=_VERSION, revision=_REVISION)
        self.pages = {app: _metrics(app, suite) for app in _TOPICS} | {JUDGE: self._judge.page}
        self._scoring = PartitionProcessor(suite, topic=_TOPICS[SCORE][0])
        self._series = SeriesProcessor({}, _TOPICS[WATCH][0], 0, policy=policy_of(suite))
        self._read = self._observed = 0
        self._verdicts: list[FakeRecord] = []

    def close(self) -> None:
        """Let go of what the judges ask with."""
        self._judge.close()

    def work(self, records: Iterable[SimulatedRecord], time: float) -> None:
        """Work through a batch of turns, and through the observations that come of it."""
        turns, feedback = list[FakeRecord](), list[FakeRecord]()
        for record in records:
            kind = feedback if record.value is not None and b'"kind":' in record.value[:200] else turns
            kind.append(FakeRecord(self._read, record.key, record.value, round(record.time * 1000)))
            self._read += 1
        batch = self._scoring.process(turns, time, feedback=feedback, verdicts=self._verdicts)
        self._scoring.accept(batch)
        self.pages[SCORE].apply(batch.deltas, time)
        self._verdicts = self._judge.work(batch.outputs, time)
        series = [out for out in batch.outputs if out.topic == SERIES]
        observed = [
            FakeRecord(self._observed + at, out.key, out.value, round(time * 1000)) for at, out in enumerate(series)
        ]
        self._observed += len(observed)
        watched = self._series.process(observed)
        self._series.accept(watched)
        self.pages[WATCH].apply(watched.deltas, time)
        self._measure_themselves(len(turns), time)

    def _measure_themselves(self, turns: int, time: float) -> None:
        busy = turns / EVERY
        wave = crc32(str(int(time)).encode()) % 100 / 100  # the same for the same time
        for app, stage in ((SCORE, "inline"), (WATCH, "watch")):
            page = self.pages[app]
            for topic in _TOPICS[app]:
                lag = 40 * wave * busy * len(topic) / 20 if topic.endswith(("turns", "series")) else 0.0
                page.set("consumer_lag_messages", round(lag), topic, "0")
                page.set("position_stalled_seconds", 0, topic, "0")
            page.set("position_starts", 0, "0")
            page.set("pending_turns", round(3 * wave))
            page.set("worker_recovering", 0)
            page.set("table_entries", len(self._scoring.store) if app == SCORE else 40, f"{app}-0")
            page.set("table_recovery_remaining_messages", 0, f"{app}-0")
            page.observe("end_to_end_latency_seconds", [0.02 + 0.3 * wave, 0.05 + wave], stage)
            page.observe("transaction_duration_seconds", [0.01 + 0.04 * wave] * 3)
            page.count("transactions_total", "committed", by=30)


class Pages:
    """Pages as they were at many times, put together as one: what promtool reads wants a family's series together."""

    def __init__(self) -> None:
        self._families: dict[str, list[str]] = {}

    def keep(self, page: str, time: float, **labels: str) -> None:
        """Keep a page of OpenMetrics text as of a time; labels: those that Prometheus adds."""
        added = ",".join(f'{name}="{value}"' for name, value in labels.items())
        kept: list[str] = []
        samples = 0
        for line in page.splitlines():
            if line.startswith("# HELP "):
                kept = self._families.setdefault(line.split(" ")[2], [])
                heads = not kept
            if line.startswith("#"):
                if line != "# EOF" and heads:
                    kept.append(line)
                continue
            samples += 1
            series, _, value = line.partition(" # ")[0].rpartition(" ")  # exemplars cannot be put in afterwards
            name, brace, rest = series.partition("{")
            kept.append(f"{name}{{{added}{f',{rest}' if brace else '}'} {value} {time:.0f}")
        for name, number in (("up", 1), ("scrape_samples_scraped", samples)):
            kept = self._families.setdefault(name, [f"# HELP {name} Of Prometheus itself.", f"# TYPE {name} gauge"])
            kept.append(f"{name}{{{added}}} {number} {time:.0f}")

    def write(self, path: Path) -> None:
        """Write all of them as one file."""
        with path.open("w", encoding="utf-8") as file:
            for lines in self._families.values():
                file.write("\n".join(lines))
                file.write("\n")
            file.write("# EOF\n")


def record(story: Story, pages: Pages) -> None:
    """Let a story happen, and keep what its workers show."""
    workers = Workers(parse_suite(JUDGES).redacted_by(Redaction()))
    for time, records in _batches(story):
        workers.work(records, time)
        if any(begin <= (time - story.start) / HOUR <= end for begin, end in story.kept):
            for app, metrics in workers.pages.items():
                page = metrics.render(_OPENMETRICS)[0].decode()
                pages.keep(page, time, job=story.job, instance=f"localhost:{_PORTS[app]}")
    workers.close()


def _batches(story: Story) -> Iterator[tuple[float, list[SimulatedRecord]]]:
    """Cut the traffic into what came between two scrapes; the time is that of the second one."""
    worse = story.worse and Regression(story.worse[0] * 60, story.worse[1], "retrieves_worse", 0.7)
    traffic = Traffic(
        seed=7,
        start=story.start,
        rate=story.rate,
        assistants=tuple(story.assistants),
        versions=tuple(story.versions),
        regression=worse or None,
        malformed=0.001,
        duplicates=0.002,
        late=0.002,
    )
    due, batch = story.start + EVERY, list[SimulatedRecord]()
    for came in simulate(traffic):
        while came.time >= due:
            yield due, batch
            due, batch = due + EVERY, []
            if due > story.end:
                return
        batch += _with_more(came)


def _with_more(came: SimulatedRecord) -> Iterator[SimulatedRecord]:
    """Add to a turn what the simulation does not have: other environments, addresses, votes, labels."""
    lot = crc32(came.key or b"") % 100
    if came.value is None or lot >= 40 or not came.value.startswith(b"{"):
        yield came
        return
    try:
        turn = json.loads(came.value)
    except ValueError:
        yield came
        return
    if lot < 10:
        turn["environment"] = "experiment" if lot < 5 else "synthetic"
        _label(turn)
    elif lot < 14 and turn.get("role") == "user":
        turn["text"] = f"{turn.get('text')} (write to ann@example.com)"
    elif lot < 18:
        _label(turn)
    yield came._replace(value=json.dumps(turn).encode())
    if lot >= 14 and turn.get("role") == "assistant" and turn.get("turn_id"):
        up = crc32(came.value) % 100 < 80
        vote = {"kind": "vote", "id": f"f-{turn['turn_id']}", "vote": 1 if up else -1}
        about = {name: turn[name] for name in ("conversation_id", "turn_id", "timestamp") if name in turn}
        yield came._replace(value=json.dumps(vote | about).encode())
        label = {"kind": "label", "id": f"l-{turn['turn_id']}", "scorer": "groundedness", "value": 0.9 if up else 0.1}
        yield came._replace(value=json.dumps(label | about | {"rater": "ann"}).encode())


def _label(turn: dict[str, Any]) -> None:
    """Say of an answer which agent was asked and which should have been; now and then that is another one."""
    if turn.get("role") == "assistant":
        wrong = crc32(str(turn.get("turn_id")).encode() + str(turn.get("timestamp")).encode()) % 8 == 0
        turn["routed_to"] = ["orders" if wrong else "accounts"]
        turn["truth"] = turn.get("truth", {}) | {"agents": ["accounts"]}


def _metrics(app: str, suite: Suite) -> WorkerMetrics:
    if app == WATCH:
        scorers = [scorer.name for scorer in describe_scorers(suite)]
        return WorkerMetrics(
            app=WATCH,
            scorers=scorers,
            topics=_TOPICS[WATCH],
            version=_VERSION,
            revision=_REVISION,
        )
    checks = [check.name for _, check in suite.parsed_checks]
    metrics = WorkerMetrics(
        scorers=[*(name for name in scorer_names(suite) if name not in TRUTH_SCORERS), VOTE],
        seldom=OF_TRUTH,
        judged=judged_scorers(suite.judges),
        checks=checks,
        topics=_TOPICS[SCORE],
        version=_VERSION,
        revision=_REVISION,
    )
    metrics.declare(describe_scorers(suite))
    return metrics


#: A day and more, with a release that retrieves worse.
TOLD = Story("turnsignal")
#: A few hours of one release.
ONE_VERSION = Story("one", hours=6.0, kept=((0.0, 6.0),), worse=None, assistants=("support",), rate=0.1)
#: More releases at once than a page has room for, some under names that somebody made up to do harm.
MANY_VERSIONS = replace(
    ONE_VERSION,
    job="many",
    versions=(*(f"v{n}.{'x' * n}" for n in range(40)), "<b>bold</b>", 'a"} 1\nup 0', "\u202eltr", "v" * 200, "a|b.*"),
    rate=0.5,
)
