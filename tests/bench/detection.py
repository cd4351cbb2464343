"""How soon a change is called, and how often none is, beside what others would do: OBSERVABILITY 4.6 and 4.7.

    python tests/bench/detection.py [--histories 20] [--per-day 10000] [--changes 100]

Each history of 14 days teaches one detector what is usual; then come 30 days without a change, in which every call is
a false alarm, and many times 2,000 values without and then some with one. CUSUM runs over the same de-correlated
residuals with its threshold set to as many false alarms as the tickets had: it knows what nobody knows beforehand.
"""

import argparse
import sys
from collections.abc import Iterable, Sequence
from statistics import median
from typing import NamedTuple

import msgspec
from session import ROOT
from tables import table

sys.path.insert(0, str(ROOT))

from tests.stream.detection.simulated import DAY, traffic
from turnsignal.stream.detection.detector import LOWER, PAGE, TICKET, USUAL, Detector, Paging
from turnsignal.stream.records.observations import Observation

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
        if detector.take("v1", observation, PAGING):
            detector.alarms.clear()
    return Learned(_encode(detector), detector.clock)


def false_alarms(learned: Learned, observations: Iterable[Observation]) -> dict[str, int]:
    """Count what is called of lower values where nothing has changed; each call closes at once."""
    detector, counts = _decode(learned.state), {PAGE: 0, TICKET: 0}
    for observation in observations:
        for alarm in detector.take("v1", observation, PAGING):
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
        for alarm in detector.take("v1", observation, PAGING):
            if alarm.direction == LOWER and alarm.scope == USUAL:
                found[alarm.tier] = min(found[alarm.tier], max(number, 0))
                found[TICKET] = min(found.values())
        if found[PAGE] < MOST:
            break
    return found


def surprises(learned: Learned, observations: Iterable[Observation]) -> list[float]:
    """Return the de-correlated residuals that a detector would bet on, with what it has learned by now."""
    baseline = _decode(learned.state).baseline
    alike, found = baseline.alike, []
    for _, time, value, n, total in observations:
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
    found: dict[tuple[float, str], list[int]] = {}
    for drop in DROPS:
        for seed in range(changes):
            one = learned[seed % histories]
            observations = change(5_000 + seed, kind, drop, per_day, one.now + seed % 24 / 24 * DAY)
            for tier, delay in delays(one, observations).items():
                found.setdefault((drop, tier), []).append(delay)
            found.setdefault((drop, "CUSUM"), []).append(cusum_delay(surprises(one, observations), bar))
    promise = {TICKET: f"{WATCHED / 7:.1f}", PAGE: "1.0", "CUSUM": "–"}
    return [
        [
            f"{kind}, {name}",
            f"{totals.get(name, max(totals[TICKET], 1)) / histories:.2f}",
            str(most.get(name, "–")),
            promise[name],
            *(f"{median(found[drop, name]):.0f} ({sorted(found[drop, name])[int(0.9 * changes)]})" for drop in DROPS),
        ]
        for name in (TICKET, PAGE, "CUSUM")
    ]


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
    options = parser.parse_args()
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
