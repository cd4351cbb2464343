"""Comparing: what `turnsignal compare` and `turnsignal export` promise, in figures.

    python tests/bench/comparing.py [--only claims width cost export] [--pairs 4000] [--turns 20000] [--brokers …]

claims: comparisons of sides that do not differ, by conversation and naively by turn, and how often anything is claimed.
width: the paired interval beside the one of two releases, of one recording under two suites. cost: CPU time of
comparing two suites beside one replay. export: CPU time and the clock beside a bare consumer that writes the same
lines, and memory; needs --brokers, a real broker that may be filled.
"""

import argparse
import io
import resource
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import orjson
from tables import Measured, Target, target_table
from waterfall import cost_of

from turnsignal.agents.files.exporting import Wanted, export_topic
from turnsignal.agents.files.sample import write_sample
from turnsignal.agents.files.simulating import write_simulation
from turnsignal.agents.kafka.topics import create_topics, topic_names
from turnsignal.agents.settings import Settings
from turnsignal.stream.reports.paired import PairedScores
from turnsignal.stream.simulation import Traffic
from turnsignal.stream.statistics.directions import BETTER, CHANGED, WORSE
from turnsignal.stream.statistics.intervals import Clusters, clustered_mean, wilson
from turnsignal.stream.statistics.paired_difference import paired_difference

SCORERS = ("nDCG@5", "compliance", "follow_up", "cited", "routing", "dangling", "citation.format", "platform.web")
CONVERSATIONS = 60  #: of one simulated comparison
ROUNDS = 7
_COMMAND = [sys.executable, "-m", "turnsignal.agents.cli"]


def _differences(random: np.random.Generator) -> list[Any]:
    """Return, of each conversation, differences of no mean: turns × scorers, alike within a conversation."""
    turns = np.minimum(random.geometric(0.25, CONVERSATIONS), 30)
    spread, own = random.normal(0, 0.12, (CONVERSATIONS, len(SCORERS))), 0.15
    return [spread[at] + random.normal(0, own, (n, len(SCORERS))) for at, n in enumerate(turns)]


def measure_claims(pairs: int) -> list[Target]:
    """Compare sides that do not differ, so many times."""
    by_conversation = by_turn = claimed = 0
    for seed in range(pairs):
        scores, naive, first = PairedScores(), Clusters(), Clusters()
        for number, changes in enumerate(_differences(np.random.default_rng(seed))):
            for turn, change in enumerate(changes):
                row = {"conversation_id": f"c{number}", "turn_id": f"{turn}", "stage": "response"}
                before = [{"scorer": name, "value": 0.5} for name in SCORERS]
                after = [
                    {"scorer": name, "value": 0.5 + moved / 4} for name, moved in zip(SCORERS, change, strict=True)
                ]
                scores.add({**row, "scores": before}, {**row, "scores": after})
                naive.add(1, float(change[0]) / 4)
            first.add(len(changes), float(changes[:, 0].sum()) / 4)
        by_conversation += paired_difference(first).p < 0.05
        by_turn += paired_difference(naive).p < 0.05
        named = scores.claimed(scores.differences(), SCORERS[2], 0.0, 30).values()
        claimed += any(claim.change in (BETTER, WORSE, CHANGED) for claim in named)
    print(f"{pairs:,} comparisons of no difference; by turn {by_turn / pairs:.1%} would be called different\n")
    return [
        Target("called different by conversation, at 5 %", _percent(by_conversation, pairs), 6.0, unit=" %"),
        Target("comparisons with any adjusted claim", _percent(claimed, pairs), 6.0, unit=" %"),
    ]


def _percent(count: int, of: int) -> Measured:
    share = wilson(count, of)
    return Measured(share.value * 100, share.low * 100, share.high * 100)


def measure_width(directory: Path) -> list[Target]:
    """Replay the sample under two suites; set the paired intervals beside those of two releases of that many."""
    turns = write_sample(directory)
    (directory / "now.toml").write_text("")
    (directory / "next.toml").write_text("[follow_ups]\nstrict = { correction = 0.0, repeat = 0.1 }\n")
    suites = [f"--suite={directory / name}.toml" for name in ("now", "next")]
    done = subprocess.run(
        [*_COMMAND, "compare", str(turns), *suites, "--json", f"--out={directory / 'both'}"],
        check=True,
        capture_output=True,
    )
    figure = orjson.loads(done.stdout)["figures"]["follow_up"]
    widths = [_interval(directory / "both" / side, "follow_up") for side in ("before", "after")]
    unpaired = 2 * float(np.hypot(*(width / 2 for width in widths)))
    ratio = (figure["high"] - figure["low"]) / unpaired
    return [Target("width of the paired interval beside the unpaired one", Measured(ratio, ratio, ratio), 0.7)]


def _interval(side: Path, scorer: str) -> float:
    sums: dict[str, list[float]] = defaultdict(lambda: [0, 0.0])
    for line in (side / "scores.jsonl").read_bytes().splitlines():
        row = orjson.loads(line)
        for score in row["scores"]:
            if score["scorer"] == scorer and score.get("value") is not None:
                sums[row["conversation_id"]][0] += 1
                sums[row["conversation_id"]][1] += score["value"]
    clusters = Clusters()
    for n, total in sums.values():
        clusters.add(n, total)
    mean = clustered_mean(clusters)
    return mean.high - mean.low


def _cpu_of_command(*arguments: str) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([*_COMMAND, *arguments], check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def measure_cost(directory: Path, turns: int) -> list[Target]:
    """Compare two suites, and replay once, in turn."""
    path = directory / "turns.jsonl"
    write_simulation(Traffic(seed=1, turns=turns), path)
    (directory / "now.toml").write_text("")
    suites = [f"--suite={directory / 'now.toml'}"] * 2
    ratios = []
    for _ in range(ROUNDS):
        once = _cpu_of_command("replay", str(path), f"--out={directory / 'one'}")
        ratios.append(_cpu_of_command("compare", str(path), *suites, f"--out={directory / 'two'}") / once)
    return [Target(f"CPU of comparing two suites beside one replay, {turns:,} turns", Measured.of(ratios), 2.2)]


def measure_export(directory: Path, turns: int, brokers: str) -> list[Target]:
    """Export a topic, and write the same lines with a bare consumer, in turn."""
    from confluent_kafka import Producer

    settings = Settings.from_env({"TURNSIGNAL_BROKERS": brokers, "TURNSIGNAL_PREFIX": f"bench{time.time_ns()}"})
    create_topics(settings)
    topic = topic_names(settings.prefix)["turns"]
    path = directory / "load.jsonl"
    write_simulation(Traffic(seed=2, turns=turns), path)
    producer = Producer(settings.producer() | {"enable.idempotence": True, "queue.buffering.max.messages": 500_000})
    for at, line in enumerate(path.open("rb")):
        with suppress(orjson.JSONDecodeError):
            producer.produce(topic, line.rstrip(b"\n"), orjson.loads(line)["conversation_id"])
        if not at % 10_000:
            producer.flush(60)
    assert producer.flush(60) == 0
    cpu, clock = [], []
    ours, bare = directory / "ours.jsonl", directory / "bare.jsonl"
    place = {"TURNSIGNAL_BROKERS": brokers, "TURNSIGNAL_PREFIX": settings.prefix}
    seconds, memory = cost_of("export", "turns", "--out", ours, environment=place)
    print(f"turnsignal export of {turns:,} turns: {seconds:.1f} s of CPU, {memory} MB\n", flush=True)
    ours.unlink()
    for number in range(ROUNDS):
        works = [(lambda: export_topic(settings, Wanted("turns"), ours)), (lambda: _consume(settings, topic, bare))]
        order = (0, 1) if number % 2 else (1, 0)  # neither always meets a disk that is busy with the other's lines
        measured = {which: _cpu_here(works[which]) for which in order}
        assert ours.stat().st_size == bare.stat().st_size
        ours.unlink()
        cpu.append(measured[1][0] / measured[0][0])
        clock.append(measured[1][1] / measured[0][1])
    return [
        Target(f"speed of export beside a bare consumer, {turns:,} turns, by CPU", Measured.of(cpu), 0.7, False),
        Target(
            f"speed of export beside a bare consumer, {turns:,} turns, by the clock", Measured.of(clock), 0.7, False
        ),
    ]


def _cpu_here(work: Callable[[], Any]) -> tuple[float, float]:
    cpu, wall = time.process_time(), time.perf_counter()
    work()
    return time.process_time() - cpu, time.perf_counter() - wall


def _consume(settings: Settings, topic: str, out: Path) -> None:
    """Write what a topic holds, as the shortest program does that reads what is committed up to its present end."""
    from confluent_kafka import Consumer, TopicPartition

    about = {"group.id": "bare", "isolation.level": "read_committed", "enable.auto.commit": False}
    consumer = Consumer({**settings.confluent(), **about, "enable.partition.eof": True})
    partitions = [TopicPartition(topic, number, 0) for number in consumer.list_topics(topic).topics[topic].partitions]
    consumer.assign(partitions)
    left = len(partitions)
    with io.BufferedWriter(io.FileIO(out, "w"), 1 << 20) as file:
        while left:
            for message in consumer.consume(10_000, 1.0):
                if message.error() is not None:
                    left -= 1
                else:
                    file.write(message.value() + b"\n")
    consumer.close()


def main() -> None:
    """Measure what was asked for, and print the targets."""
    parser = argparse.ArgumentParser(description="What comparing and exporting promise, in figures.")
    parser.add_argument("--only", nargs="+", choices=("claims", "width", "cost", "export"))
    parser.add_argument("--pairs", type=int, default=4_000)
    parser.add_argument("--turns", type=int, default=20_000)
    parser.add_argument("--brokers", default="")
    options = parser.parse_args()
    chosen = options.only or ["claims", "width", "cost", *(["export"] if options.brokers else [])]
    targets: list[Target] = []
    with tempfile.TemporaryDirectory(prefix="turnsignal-comparing-") as name:
        directory = Path(name)
        if "claims" in chosen:
            targets += measure_claims(options.pairs)
        if "width" in chosen:
            targets += measure_width(directory)
        if "cost" in chosen:
            targets += measure_cost(directory, options.turns)
        if "export" in chosen:
            targets += measure_export(directory, options.turns, options.brokers)
    print(target_table(targets))


if __name__ == "__main__":
    main()
