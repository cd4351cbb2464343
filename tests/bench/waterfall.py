"""Whether the waterfall names what was planted, whether a gain's interval holds the simulated gain, and what it costs.

    python tests/bench/waterfall.py [--recordings 100] [--turns 1500] [--cost 200000]

Planted: recordings of the simulator with one kind of regression each, every other one with labels, through a replay;
the stage that is to be mended first has to be the planted one in 95 of 100.

Gains: simulated answers have a fate at every stage, also at those that the gate hides, and moods that the answers of a
conversation share. So it is known of each answer what mending a stage would have made of it; the gain is the mean of
that over very many. The interval has to hold it in 90 to 98 of 100. With one mood for all stages, answers that fail one
are the harder ones for the next: printed beside it, to show how far off the gain is then.

Cost: CPU and memory of a replay of so many turns, and of the report on it, each in a process of its own.
"""

import argparse
import os
import random
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

from turnsignal.agents.files.simulating import make_traffic, write_simulation
from turnsignal.agents.replaying.reporting import report_traffic
from turnsignal.agents.replaying.result import read_result
from turnsignal.agents.replaying.run import replay_files
from turnsignal.stream.reports.answers import Answers
from turnsignal.stream.reports.waterfall import Waterfall, waterfall
from turnsignal.stream.suite import Suite
from turnsignal.stream.truth.stages import AnswerStage, Basis, StageFinding

PLANTED = {
    "retrieves_worse": AnswerStage.RETRIEVAL,
    "answers_worse": AnswerStage.GENERATION,
    "breaks_format": AnswerStage.FORMAT,
}
#: chance that an answer gets through a stage
PASSES = {
    AnswerStage.ROUTING: 0.9,
    AnswerStage.RETRIEVAL: 0.75,
    AnswerStage.CHUNKS: 0.9,
    AnswerStage.GENERATION: 0.8,
    AnswerStage.FORMAT: 0.95,
}
MOOD = 0.12  #: standard deviation of a conversation's part of that chance
NOW = 2e9

Fates = dict[AnswerStage, bool]


def name_planted(kind: str, seed: int, turns: int) -> AnswerStage | None:
    """Return the stage that a report on a recording with this regression would mend first."""
    with TemporaryDirectory() as name:
        folder, suite = Path(name), Suite()
        traffic = make_traffic(turns, seed, [f"labelled={seed % 2}"], f"0:v1:{kind}")
        write_simulation(traffic, folder / "turns.jsonl")
        replay_files([folder / "turns.jsonl"], folder / "out", suite, NOW, workers=1)
        report = report_traffic(read_result(folder / "out"), [folder / "turns.jsonl"], suite)
        flow = waterfall(report.answers.of_version())
    return None if flow is None or flow.first is None else flow.first.stage


def simulated(seed: int, conversations: int, *, one_mood: bool) -> Iterator[tuple[int, Fates]]:
    """Give answers by conversation, each with its fate at every stage."""
    draw = random.Random(seed)
    for conversation in range(conversations):
        shared = draw.gauss(0, MOOD)
        moods = {stage: shared if one_mood else draw.gauss(0, MOOD) for stage in AnswerStage}
        for _ in range(1 + int(draw.expovariate(0.3))):
            yield conversation, {stage: draw.random() < chance + moods[stage] for stage, chance in PASSES.items()}


def estimated(fates: Iterator[tuple[int, Fates]]) -> Waterfall:
    """Return the waterfall of answers, which sees no fate behind the first bad one."""
    answers = Answers()
    for conversation, of in fates:
        findings = {stage: StageFinding(right, Basis.TRUTH) for stage, right in of.items()}
        answers.add(str(conversation), "v1", findings)
    flow = waterfall(answers.of_version())
    assert flow is not None
    return flow


def gained(fates: Iterator[tuple[int, Fates]]) -> dict[AnswerStage, float]:
    """Return by stage what share of answers would become good were it always right."""
    n, would = 0, dict.fromkeys(AnswerStage, 0)
    for _, of in fates:
        n += 1
        wrong = [stage for stage, right in of.items() if not right]
        if len(wrong) == 1:
            would[wrong[0]] += 1
    return {stage: count / n for stage, count in would.items()}


def held(recordings: int, conversations: int, *, one_mood: bool) -> dict[AnswerStage, tuple[int, float, float]]:
    """Return by stage in how many recordings the interval holds the gain, the gain, and the mean estimate."""
    gains = gained(simulated(0, 60_000, one_mood=one_mood))
    counts, totals = dict.fromkeys(AnswerStage, 0), dict.fromkeys(AnswerStage, 0.0)
    for seed in range(1, recordings + 1):
        for figures in estimated(simulated(seed, conversations, one_mood=one_mood)).stages:
            assert figures.gain is not None
            counts[figures.stage] += figures.gain.low <= gains[figures.stage] <= figures.gain.high
            totals[figures.stage] += figures.gain.value
    return {stage: (counts[stage], gains[stage], totals[stage] / recordings) for stage in AnswerStage}


_MEASURED = """
import resource, sys
from turnsignal.agents.cli import main
sys.argv = ["turnsignal", *sys.argv[1:]]
try:
    main()
except SystemExit:
    pass
used = resource.getrusage(resource.RUSAGE_SELF)
print(f"{used.ru_utime + used.ru_stime:.2f} {used.ru_maxrss / 1024:.0f}", file=sys.stderr)
"""


def cost_of(*arguments: str | Path, environment: Mapping[str, str] | None = None) -> tuple[float, int]:
    """Return seconds of CPU and megabytes of memory of a command; environment: more variables."""
    command = [sys.executable, "-c", _MEASURED, *map(str, arguments)]
    env = {**os.environ, **(environment or {})}
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=env)
    seconds, memory = done.stderr.split()[-2:]
    return float(seconds), int(memory)


def costs(turns: int) -> Iterator[str]:
    """Give a line for the replay of so many turns, and one for the report on it."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        write_simulation(make_traffic(turns, 1, ["rate=50"]), folder / "turns.jsonl")
        replayed = cost_of("replay", folder / "turns.jsonl", "--out", folder / "out", "--workers", "1", "--json")
        reported = cost_of("report", folder / "out", "--html", folder / "report.html", "--json")
    for what, (seconds, memory) in (("replay", replayed), ("report", reported)):
        yield f"{what} of {turns:,} turns: {seconds:.1f} s of CPU, {memory} MB"
    yield f"report beside replay: {reported[0] / replayed[0]:.2f} of the CPU, {reported[1] / replayed[1]:.2f} of memory"


def main() -> None:
    """Print the figures; 0 of a thing leaves it out."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--recordings", type=int, default=100)
    parser.add_argument("--turns", type=int, default=1_500)
    parser.add_argument("--conversations", type=int, default=300)
    parser.add_argument("--cost", type=int, default=200_000)
    given = parser.parse_args()
    for kind, planted in PLANTED.items():
        if given.recordings:
            named = sum(name_planted(kind, seed, given.turns) is planted for seed in range(given.recordings))
            print(f"{kind}: {planted.value} is named first in {named} of {given.recordings} recordings", flush=True)
    for one_mood in (False, True):
        if given.recordings:
            print("moods of each stage" if not one_mood else "one mood for all stages: harder answers fail more stages")
            for stage, (count, gain, mean) in held(given.recordings, given.conversations, one_mood=one_mood).items():
                print(f"  {stage.value}: held in {count} of {given.recordings}; gain {gain:.3f}, estimated {mean:.3f}")
    if given.cost:
        for line in costs(given.cost):
            print(line)


if __name__ == "__main__":
    main()
