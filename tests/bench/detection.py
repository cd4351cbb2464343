"""How soon a change is called, and how often none is, beside what others would do: OBSERVABILITY 4.6 and 4.7.

    python tests/bench/detection.py [--histories 20] [--per-day 10000] [--changes 100]

Each history of 14 days teaches one detector what is usual; then come 30 days without a change, in which every call is
a false alarm, and many times 2,000 values without and then some with one. CUSUM runs over the same de-correlated
residuals with its threshold set to as many false alarms as the tickets had: it knows what nobody knows beforehand.
Beside them what is in use elsewhere, as it comes: a mean over an hour, and river's ADWIN and Page-Hinkley.

Another table plants the simulator's own regressions, after four days of its traffic: how many values it takes. The last
has months of it without any.
"""

import argparse
import math
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from statistics import median
from typing import Any, NamedTuple

import msgspec
from session import ROOT
from tables import table

sys.path.insert(0, str(ROOT))

from tests.stream.detection.simulated import DAY, traffic
from turnsignal.stream.detection.backtest import back_test
from turnsignal.stream.detection.detector import LOWER, PAGE, TICKET, USUAL, Detector, Paging
from turnsignal.stream.pipeline.processor import PartitionProcessor
from turnsignal.stream.pipeline.scoring import policy_of
from turnsignal.stream.records.observations import Observation, read_observations
from turnsignal.stream.records.wire import SERIES
from turnsignal.stream.simulation import Regression, Traffic, simulate
from turnsignal.stream.simulation.traffic import Kind
from turnsignal.stream.suite import Suite
from turnsignal.stream.testing import FakeRecord

LEARNED, WATCHED = 14.0, 30.0  #: days of a history, and of the traffic in which nothing changes
DROPS = (0.05, 0.10)
BEFORE, MOST = 2_000, 12_000  #: values before a change and after it
SLACK = 0.018  #: of CUSUM over de-correlated residuals, tuned by simulation
BARS = [step / 4 for step in range(20, 161)]  #: among which its threshold is chosen

PAGING = Paging(frozenset({LOWER}), 1)
_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(Detector).decode


class Learned(NamedTuple):
    """A detector after its history, to be begun with anew, and the stream time then."""

    state: bytes
    now: float


def learn(seed: int, kind: str, per_day: float) -> Learned:
    """Teach a detector; what it calls meanwhile is accepted."""
    detector = Detector()
    for observation in traffic(seed, LEARNED, per_day, kind):
        if detector.update("v1", observation, PAGING):
            detector.alarms.clear()
    return Learned(_encode(detector), detector.clock)


def false_alarms(learned: Learned, observations: Iterable[Observation]) -> dict[str, int]:
    """Count what is called of lower values where nothing has changed; each call closes at once."""
    detector, counts = _decode(learned.state), {PAGE: 0, TICKET: 0}
    for observation in observations:
        for alarm in detector.update("v1", observation, PAGING):
            if alarm.scope == USUAL and alarm.direction == LOWER:
                counts[alarm.tier] += 1
        alarms = detector.alarms
        if alarms and (LOWER not in alarms or alarms[LOWER].tier == PAGE or _is_low(detector)):
            _release(detector)
    return counts


def _is_low(detector: Detector) -> bool:
    """Say whether the evidence of a ticket has gone again."""
    return detector.lower.value() < 5_000.0


def _release(detector: Detector) -> None:
    for name in list(detector.alarms):
        detector._close(detector.alarms[name])


def delays(learned: Learned, observations: Sequence[Observation]) -> dict[str, int]:
    """Count the values after a change until it is called, by tier; what is not, takes all of them."""
    detector = _decode(learned.state)
    found = {PAGE: MOST, TICKET: MOST}
    for number, observation in enumerate(observations, 1 - BEFORE):
        for alarm in detector.update("v1", observation, PAGING):
            if alarm.direction == LOWER and alarm.scope == USUAL:
                found[alarm.tier] = min(found[alarm.tier], max(number, 0))
                found[TICKET] = min(found.values())
        if found[PAGE] < MOST:
            break
    return found


def surprises(learned: Learned, observations: Iterable[Observation]) -> list[float]:
    """Return the de-correlated residuals that a detector would bet on, with what it has learned by now."""
    baseline = _decode(learned.state).baseline
    alike, found = baseline.intraclass_correlation, []
    for _, time, value, n, total, *_ in observations:
        usual = baseline.mean(time)
        found.append(usual - value - alike * (n * usual - total) / (1.0 + (n - 1.0) * alike))
    return found


def cusum(surprising: Sequence[float], bars: Sequence[float]) -> list[int]:
    """Count how often CUSUM with each threshold calls, when every call begins it anew."""
    counts = []
    for bar in bars:
        level, count = 0.0, 0
        for surprise in surprising:
            level += surprise - SLACK
            if level < 0.0:
                level = 0.0
            elif level >= bar:
                level, count = 0.0, count + 1
        counts.append(count)
    return counts


def cusum_delay(surprising: Sequence[float], bar: float) -> int:
    """Count the values after a change until CUSUM calls."""
    level = 0.0
    for number, surprise in enumerate(surprising, 1 - BEFORE):
        level = max(0.0, level + surprise - SLACK)
        if level >= bar:
            if number > 0:
                return number
            level = 0.0
    return MOST


def change(seed: int, kind: str, drop: float, per_day: float, start: float) -> list[Observation]:
    """Draw a stretch of traffic in which the change comes after `BEFORE` values."""
    days = 2.0 * (BEFORE + MOST) / per_day + 0.5
    times = [observation.time for observation in traffic(seed, days, per_day, kind, start=start)]
    observations = traffic(seed, days, per_day, kind, start=start, drop=drop, drop_at=times[BEFORE])
    return list(observations)[: BEFORE + MOST]


def measure(kind: str, histories: int, changes: int, per_day: float) -> list[list[str]]:
    """Return the lines of the table for scores or for binaries."""
    learned = [learn(seed, kind, per_day) for seed in range(histories)]
    alarms, quiet = [], []
    for seed, one in enumerate(learned):
        observations = list(traffic(1000 + seed, WATCHED, per_day, kind, start=one.now))
        alarms.append(false_alarms(one, observations))
        quiet.append(surprises(one, observations))
    totals = {tier: sum(one[tier] for one in alarms) for tier in (TICKET, PAGE)}
    most = {tier: max(one[tier] for one in alarms) for tier in (TICKET, PAGE)}
    bar = _as_many(quiet, max(totals[TICKET], 1))
    others = {name: [0, 0] for name in RIVALS}
    for one, seed in zip(learned, range(histories), strict=True):
        observations = list(traffic(1000 + seed, WATCHED, per_day, kind, start=one.now))
        for name, make in RIVALS.items():
            count = count_calls(make(_usual(one)), observations)
            others[name] = [others[name][0] + count, max(others[name][1], count)]
    found: dict[tuple[float, str], list[int]] = {}
    for drop in DROPS:
        for seed in range(changes):
            one = learned[seed % histories]
            observations = change(5_000 + seed, kind, drop, per_day, one.now + seed % 24 / 24 * DAY)
            for tier, delay in delays(one, observations).items():
                found.setdefault((drop, tier), []).append(delay)
            found.setdefault((drop, "CUSUM"), []).append(cusum_delay(surprises(one, observations), bar))
            for name, make in RIVALS.items():
                found.setdefault((drop, name), []).append(delay_of(make(_usual(one)), observations))
    promise = {TICKET: f"{WATCHED / 7:.1f}", PAGE: "1.0", "CUSUM": "–"}
    return [
        [
            f"{kind}, {name}",
            f"{(others[name][0] if name in others else totals.get(name, max(totals[TICKET], 1))) / histories:.2f}",
            str(others[name][1] if name in others else most.get(name, "–")),
            promise.get(name, "–"),
            *(f"{median(found[drop, name]):.0f} ({sorted(found[drop, name])[int(0.9 * changes)]})" for drop in DROPS),
        ]
        for name in (TICKET, PAGE, "CUSUM", *RIVALS)
    ]


class HourMean:
    """What many dashboards alert on: the mean of the last hour, 20 values or more, is 0.05 below the usual one."""

    def __init__(self, usual: float) -> None:
        self._usual = usual
        self._recent: deque[tuple[float, float]] = deque()
        self._total = 0.0
        self._below = False

    def update(self, value: float, time: float) -> bool:
        """Take in a value; say whether the mean has just fallen below."""
        self._recent.append((time, value))
        self._total += value
        while self._recent[0][0] <= time - 3_600.0:
            self._total -= self._recent.popleft()[1]
        below = len(self._recent) >= 20 and self._total / len(self._recent) < self._usual - 0.05
        crossed, self._below = below and not self._below, below
        return crossed


class River:
    """A drift detector of river's, which begins anew with each call."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self._make, self._detector = make, make()

    def update(self, value: float, time: float) -> bool:
        """Take in a value; say whether it calls."""
        self._detector.update(value)
        if self._detector.drift_detected:
            self._detector = self._make()
            return True
        return False


RIVALS: dict[str, Callable[[float], Any]] = {"1 h mean − 0.05": HourMean}
try:
    from river.drift import ADWIN, PageHinkley
except ImportError:
    print("river is not installed (extra `bench`): no ADWIN, no Page-Hinkley", file=sys.stderr)
else:
    RIVALS["ADWIN 0.002"] = lambda _: River(lambda: ADWIN(delta=0.002))
    RIVALS["Page-Hinkley"] = lambda _: River(lambda: PageHinkley(mode="down"))


def _usual(learned: Learned) -> float:
    baseline = _decode(learned.state).baseline
    return float(baseline.total / baseline.weight)


def count_calls(rival: Any, observations: Iterable[Observation]) -> int:
    """Count how often a rival calls."""
    return sum(rival.update(observation.value, observation.time) for observation in observations)


def delay_of(rival: Any, observations: Iterable[Observation]) -> int:
    """Count the values after a change until a rival calls; what it called before does not count."""
    for number, observation in enumerate(observations, 1 - BEFORE):
        if rival.update(observation.value, observation.time) and number > 0:
            return number
    return MOST


def simulated(traffic_of: Traffic) -> Iterator[tuple[str, Observation]]:
    """Score simulated traffic; give the observations of the scorers that are regressed here, by scorer."""
    processor, batch = PartitionProcessor(Suite(), topic="turns"), list[FakeRecord]()
    for offset, record in enumerate(simulate(traffic_of)):
        batch.append(FakeRecord(offset, record.key, record.value, -1))
        if len(batch) < 200:
            continue
        result = processor.process(batch, 0.0)
        processor.accept(result)
        batch = []
        for output in result.outputs:
            for row in read_observations(output.value or b"").by_row() if output.topic == SERIES else ():
                yield from row


def known_scorers() -> dict[str, bytes]:
    """Teach a detector of each scorer four days of the simulator's traffic; return their states."""
    history = Traffic(seed=5, turns=4 * 8_640, rate=0.1, day_night=False, assistants=("support",))
    detectors = {scorer: Detector() for _, scorer, _ in PLANTED}
    for scorer, observation in simulated(history):
        if scorer in detectors:
            detectors[scorer].update("v1", observation, PAGING)
    return {scorer: _encode(detector) for scorer, detector in detectors.items()}


def planted(state: bytes, kind: Kind, scorer: str, share: float, seed: int) -> dict[str, float]:
    """Plant a regression of the simulator's; return how many of a scorer's values pass until ticket and page."""
    detector, after = _decode(state), 0
    called: dict[str, float] = {}
    worse = Traffic(
        seed=seed,
        turns=round(MOST_TURNS[share]),
        rate=0.1,
        day_night=False,
        assistants=("support",),
        start=detector.clock,
        regression=Regression(0.0, "v2", kind, share),
    )
    for name, observation in simulated(worse):
        if name != scorer:
            continue
        after += 1
        for alarm in detector.update("v2", observation, PAGING):
            if alarm.direction == LOWER and alarm.scope == USUAL:
                called.setdefault(alarm.tier, after)
        if PAGE in called:
            break
    page = called.get(PAGE, math.inf)
    return {TICKET: called.get(TICKET, page), PAGE: page}


def quiet_table(months: int) -> str:
    """Print what is called in months of the simulator's traffic in which nothing changes, each known by itself."""
    lines = []
    for seed in range(months):
        quiet = Traffic(
            seed=200 + seed, turns=52_000, rate=0.02, day_night=True, assistants=("support",), correlation=0.2
        )
        processor, series = PartitionProcessor(Suite(), topic="turns"), list[bytes]()
        records = enumerate(simulate(quiet))
        while batch := [FakeRecord(at, one.key, one.value, -1) for at, one in islice(records, 400)]:
            result = processor.process(batch, 0.0)
            processor.accept(result)
            series += [output.value or b"" for output in result.outputs if output.topic == SERIES]
        called = back_test([series], policy_of(Suite())).as_json()
        lines.append([f"month {seed + 1}", f"{called['days']:.0f}", str(called[PAGE]), str(called[TICKET])])
        print(*lines[-1], file=sys.stderr, flush=True)
    return table(["all scorers of one assistant", "days", "pages (promised: 1)", "tickets"], lines)


#: What the prototype took: OBSERVABILITY 4.7, tickets.
PLANTED: tuple[tuple[Kind, str, tuple[int | None, ...]], ...] = (
    ("retrieves_worse", "nDCG@5", (20, 125, 392)),
    ("breaks_format", "citation.format", (11, 25, 91)),
    ("answers_worse", "follow_up", (87, 2205, None)),
)


#: Turns after which a share that was not called is given up.
MOST_TURNS = {1.0: 600, 0.3: 2_500, 0.1: 5_000}


def planted_table(draws: int = 12) -> str:
    """Print what the simulator's own regressions take: medians, as one draw may take thrice as long as another."""
    known, lines = known_scorers(), []
    for kind, scorer, prototype in PLANTED:
        for share, before in zip((1.0, 0.3, 0.1), prototype, strict=True):
            runs = [planted(known[scorer], kind, scorer, share, 100 + seed) for seed in range(draws)]
            counts = []
            for tier in (TICKET, PAGE):
                taken = sorted(run[tier] for run in runs)
                counts.append(f"{median(taken):.0f} ({taken[0]:.0f} to {taken[-1]:.0f})".replace("inf", "never"))
            lines.append([f"{kind}, share {share:g}: {scorer}", *counts, str(before or "never")])
    return table(["", "values until a ticket: median (range)", "until a page", "prototype's ticket, one draw"], lines)


def _as_many(quiet: Sequence[Sequence[float]], alarms: int) -> float:
    """Choose the least threshold with which CUSUM calls no more often."""
    low, high = 0, len(BARS) - 1
    while low < high:
        middle = (low + high) // 2
        if sum(cusum(one, [BARS[middle]])[0] for one in quiet) > alarms:
            low = middle + 1
        else:
            high = middle
    return BARS[low]


def main() -> int:
    """Print the table; the exit code is 1 when a promise is not kept."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--histories", type=int, default=20, help="of 14 days, each with 30 days of its own after it")
    parser.add_argument("--changes", type=int, default=100, help="of each size")
    parser.add_argument("--per-day", type=float, default=10_000, help="values a day")
    parser.add_argument("--months", type=int, default=10, help="of the simulator's traffic, in which nothing changes")
    parser.add_argument("--only", choices=("histories", "planted", "months"), help="one of the tables")
    options = parser.parse_args()
    if options.only in (None, "planted"):
        print(planted_table(), flush=True)
    if options.only in (None, "months"):
        print(quiet_table(options.months), flush=True)
    if options.only in ("planted", "months"):
        return 0
    lines = [
        line
        for kind in ("score", "binary")
        for line in measure(kind, options.histories, options.changes, options.per_day)
    ]
    names = [f"values until called, −{drop:.2f}: median (p90)" for drop in DROPS]
    print(table(["", "false alarms in 30 days", "worst history", "promised", *names], lines))
    return int(any(line[3] != "–" and float(line[2]) > float(line[3]) for line in lines))


if __name__ == "__main__":
    sys.exit(main())
