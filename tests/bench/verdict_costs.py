"""What verdicts cost the score app: CPU per turn with two judges' verdicts coming in, beside the same turns without.

    python tests/bench/verdict_costs.py [--rounds 9] [--share 1.0] [--together | --worker]

Three processors work through the same turns by turns, batch by batch: without judges, with exchanges queued for two
judges of every conversation (or of a share of them), and with their verdicts, too: one verdict for each turn. A verdict
comes two batches after its turn, when nothing else touches its conversation, so that it is read and written for the
verdict alone; --together: beside the next turn of its conversation. CPU time of the processor, without Kafka; the
median over the rounds of the ratio within a round, with its interval. --worker: of a score worker on a broker instead,
at a batch a second, with the queue of exchanges and with verdicts, too.
"""

import argparse
import gc
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parents[2]))  # run as a file, like its neighbours

from load import Turn
from session import SIZES, Session
from tables import Measured, Target, table, target_table
from verdict_traffic import measure_worker

from turnsignal.agents.kafka.brokers import find_broker
from turnsignal.stream.judging.exchanges import EXCHANGE_RECORDS
from turnsignal.stream.judging.inquiry import Judgement
from turnsignal.stream.judging.judges import Judge, JudgePart, PricePart
from turnsignal.stream.judging.rubric_files import choose_rubric
from turnsignal.stream.judging.verdicts import make_verdict
from turnsignal.stream.pipeline.processor import PartitionProcessor
from turnsignal.stream.records.verdicts import VERDICTS
from turnsignal.stream.records.wire import EXCHANGES
from turnsignal.stream.simulation import steady
from turnsignal.stream.suite import Suite, parse_suite

BATCH = 500  #: turns, about what a worker gets from a partition under load
BEHIND = 2  #: batches between a turn and the verdicts on it, which are half way to its conversation's next turn
CONVERSATIONS = 2_000
WORKER_BATCHES = 22  #: of a worker's round, each sent within a second; the first ten are not counted
START = 1767225600.0  #: of event time, 2026-01-01
LIMIT = 1.1
RUBRICS = {"response": "task_utility", "follow_up": "follow_up"}
VARIANTS = ("plain", "queued", "judged")
_REASONING = "The answer names the setting that the user asked for, and says where it is; nothing is left open."


class Load(NamedTuple):
    """Batches of turns, and the verdicts that come with each of them."""

    turns: list[list[Turn]]
    verdicts: list[list[Turn]]


def main() -> None:
    """Compare, and print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--turns", type=int, default=20_000, help="turns a round; a quarter only warms up")
    parser.add_argument("--together", action="store_true", help="verdicts come beside the next turn")
    parser.add_argument("--share", type=float, default=1.0, help="of conversations that are judged (default all)")
    parser.add_argument("--worker", action="store_true", help="of a score worker on a broker")
    options = parser.parse_args()
    if options.worker:
        compare_workers(options.rounds, options.share)
        return
    load = make_load(options.turns, CONVERSATIONS // BATCH if options.together else BEHIND, options.share)
    gc.freeze()
    gc.set_threshold(50_000, 20, 100)  # as a worker does
    rounds = [compare(load, options.share) for _ in range(options.rounds)]
    shown = [[name, Measured.over([us[name] for us in rounds]).show(1)] for name in VARIANTS]
    shown.append(["queued ÷ plain", Measured.over([us["queued"] / us["plain"] for us in rounds]).show()])
    print(table(["CPU µs per turn", "median (interval)"], shown), end="\n\n")
    ratio = Measured.over([us["judged"] / us["queued"] for us in rounds])
    print(target_table([Target("with verdicts, beside the same queue without", ratio, LIMIT)]))


def compare_workers(rounds: int, share: float) -> None:
    """Compare score workers on a broker, and print the table."""
    load = make_load(WORKER_BATCHES * BATCH, BEHIND, share, start=float(int(time.time()) - 3600))
    spent: dict[str, list[float]] = {"queued": [], "judged": []}
    with tempfile.TemporaryDirectory(prefix="turnsignal-verdicts-") as name:
        directory = Path(name)
        suite = directory / "suite.toml"
        suite.write_text(suite_text(share))
        with find_broker(os.environ, directory=directory / "kafka", say=print) as broker:
            session = Session(broker.address, directory, SIZES["default"], directory / "rows.jsonl")
            for round_ in range(rounds):
                for variant in list(spent)[:: 1 if round_ % 2 == 0 else -1]:
                    verdicts = load.verdicts if variant == "judged" else [[] for _ in load.turns]
                    batches = list(zip(load.turns, verdicts, strict=False))
                    spent[variant].append(measure_worker(session, variant, suite, batches))
    shown = [[name, Measured.over(us).show(1)] for name, us in spent.items()]
    print(table(["CPU µs per turn of the worker", "median (interval)"], shown), end="\n\n")
    ratio = Measured.over([judged / queued for queued, judged in zip(*spent.values(), strict=True)])
    print(target_table([Target("a worker with verdicts, beside the same queue without", ratio, LIMIT)]))


def make_suite(variant: str, share: float) -> Suite:
    """Return the suite of one variant."""
    return Suite() if variant == "plain" else parse_suite(suite_text(share))


def suite_text(share: float) -> str:
    """Return the text of a suite with two judges of a share of the conversations."""
    judges = "".join(
        f'[[judges]]\nrubric = "{name}"\nmodel = "scripted:m"\nname = "{name}"\n' for name in RUBRICS.values()
    )
    return f"[exchanges]\nshare = {share}\n{judges}"


def make_load(count: int, behind: int, share: float, start: float = START) -> Load:
    """Make the turns, and verdicts on what a first pass queues, so many batches behind. start: of event time."""
    pairs = steady(count, CONVERSATIONS, seed=1, start=start)
    turns = [Turn(n, key, value, 0) for n, (key, value) in enumerate(pairs)]
    batches = [turns[at : at + BATCH] for at in range(0, count, BATCH)]
    judges = {stage: make_judge(rubric) for stage, rubric in RUBRICS.items()}
    processor, verdicts, offset = (
        PartitionProcessor(make_suite("judged", share)),
        [list[Turn]() for _ in range(behind)],
        0,
    )
    for batch in batches:
        done = processor.process(batch, 0.0)
        processor.accept(done)
        came = []
        for output in done.outputs:
            if output.topic == EXCHANGES:
                exchange = EXCHANGE_RECORDS.validate_json(output.value or b"")
                judge = judges[exchange.stage]
                label, value = next(iter(judge.chosen.rubric.values.items()))
                verdict = make_verdict(exchange, judge, Judgement(label, value, _REASONING))
                came.append(Turn(offset, output.key or b"", VERDICTS.dump_json(verdict, exclude_none=True), 0))
                offset += 1
        verdicts.append(came)
    return Load(batches, verdicts)


def make_judge(rubric: str) -> Judge:
    """Return the judge of a rubric."""
    part = JudgePart(rubric=rubric, model="scripted:m", name=rubric)
    return Judge(part, choose_rubric(rubric), "scripted", "m", PricePart(input=0.0, output=0.0))


def compare(load: Load, share: float) -> dict[str, float]:
    """Return CPU µs per turn of each variant, of the last three quarters."""
    processors = {name: PartitionProcessor(make_suite(name, share)) for name in VARIANTS}
    spent, warm = dict.fromkeys(VARIANTS, 0.0), len(load.turns) // 4
    for number in range(len(load.turns)):
        for name in VARIANTS[number % 3 :] + VARIANTS[: number % 3]:
            began = time.process_time()
            step(processors[name], load, number, judged=name == "judged")
            if number >= warm:
                spent[name] += time.process_time() - began
    counted = (len(load.turns) - warm) * BATCH
    return {name: seconds / counted * 1e6 for name, seconds in spent.items()}


def step(processor: PartitionProcessor, load: Load, number: int, *, judged: bool) -> None:
    """Work through one batch."""
    verdicts: Sequence[Turn] = load.verdicts[number] if judged else ()
    processor.accept(processor.process(load.turns[number], 0.0, verdicts=verdicts))


if __name__ == "__main__":
    main()
