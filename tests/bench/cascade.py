"""The cascade: how many calls of the strong judge it saves, and what that costs in agreement with known labels.

    python tests/bench/cascade.py [FOLDER OF mtrag_followup]

Exchanges are those of simulated traffic, whose truth is known, and of a public set with labels by annotators. The rules
are the real ones; no model can be had here, so both judges are scripted from the labels: the strong one is wrong in
5 % of the exchanges, the small one in 12 %, those 5 % among them, so that it never mends the strong one; it hedges (a
label near the threshold) in half of those that it would get wrong and in a tenth of the rest. Half of the
conversations, by a hash, are kept apart: one setting for all sets is chosen on the other half, and only what is kept is
quoted. Everything is a mean over draws of the two judges.
"""

import random
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from hashlib import blake2b
from itertools import product
from math import sqrt
from pathlib import Path
from statistics import stdev
from typing import NamedTuple

import orjson

from turnsignal.agents.files.judging import read_exchanges
from turnsignal.stream.judging.deliberation import Deliberation
from turnsignal.stream.judging.exchanges import ExchangeRecord
from turnsignal.stream.judging.inquiry import Judgement
from turnsignal.stream.judging.judges import Judge, JudgePart, JudgingPart, make_judge
from turnsignal.stream.judging.panels import CascadePart
from turnsignal.stream.judging.rubric_files import choose_rubric
from turnsignal.stream.judging.verdicts import make_verdict
from turnsignal.stream.simulation import Traffic, simulate
from turnsignal.stream.suite import Suite

STRONG_ERROR, SMALL_ERROR = 0.05, 0.12
HEDGED_WRONG, HEDGED_RIGHT = 0.5, 0.1
RULES, MARGINS = (1.0, 0.95, 0.9, 0.85, 0.8, 0.7), (0.0, 0.15, 0.3)
MAY_LOSE = 1.0  #: points on what is open, at the upper end of the interval: a small set must show it, too
CLARIFYING = {"correction", "adjustment", "repeat", "misunderstanding", "frustration", "clarification"}
RUBRIC = choose_rubric("follow_up")


class Labelled(NamedTuple):
    """An exchange, and whether the user had to clarify."""

    exchange: ExchangeRecord
    clarifies: bool

    @property
    def is_kept(self) -> bool:
        """Whether it is of the half that nothing was chosen on."""
        return blake2b(self.exchange.conversation_id.encode(), digest_size=8, person=b"cascade").digest()[0] < 128


class Point(NamedTuple):
    """One setting. fewer: calls of the strong judge that are saved; lost: points of agreement, with its error."""

    rules: float
    margin: float
    fewer: float
    lost: float
    alone: float
    by_rules: float
    small_calls: float
    error: float

    @property
    def most(self) -> float:
        """Points that it loses at most, at the upper end of the 95 % interval."""
        return self.lost + 1.96 * self.error


def of_simulation(turns: int) -> list[Labelled]:
    """Return the exchanges of simulated traffic."""
    truth = {}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "turns.jsonl"
        with path.open("wb") as file:
            for record in simulate(Traffic(seed=14, turns=turns, gaps=0.0, superseded=0.0)):
                if record.value is not None:
                    file.write(record.value + b"\n")
                known = record.truth["follow_up"]
                if known not in (None, "other"):
                    truth[record.truth["conversation_id"], record.truth["turn_id"]] = known in CLARIFYING
        return list(_labelled(path, Suite(), truth))


def of_folder(folder: Path) -> list[Labelled]:
    """Return the exchanges of a set whose user turns carry `labels.follow_up_type`."""
    import gzip

    path, truth = folder / "turns.jsonl.gz", {}
    with gzip.open(path) as file:
        for record in map(orjson.loads, file):
            if label := (record.get("labels") or {}).get("follow_up_type"):
                truth[record["conversation_id"], record["turn_id"]] = label in CLARIFYING
    suite = Suite()
    whole = suite.conversations.model_copy(update={"retention": 365 * 86_400.0})
    return list(_labelled(path, suite.model_copy(update={"conversations": whole}), truth))


def _labelled(path: Path, suite: Suite, truth: dict[tuple[str, str], bool]) -> Iterator[Labelled]:
    for exchange in read_exchanges([path], suite, time.time()):
        known = truth.get((exchange.conversation_id, exchange.follow_up_id or ""))
        if exchange.stage == "follow_up" and known is not None:
            yield Labelled(exchange, known)


def answer(model: str, labelled: Labelled, seed: int) -> str:
    """Return the label that a scripted judge gives, the same for the same draw."""
    exchange = labelled.exchange
    rng = random.Random(f"{seed} {exchange.conversation_id} {exchange.turn_id}")
    wrong = rng.random() < (SMALL_ERROR if model == "small" else STRONG_ERROR)
    if model == "small" and rng.random() < (HEDGED_WRONG if wrong else HEDGED_RIGHT):
        return "adjustment"
    return "correction" if labelled.clarifies != wrong else "related"


def judge_of(rules: float, margin: float) -> Judge:
    """Return the cascade of one setting."""
    cascade = CascadePart(rules=rules, small="scripted:small", margin=margin)
    part = JudgePart(rubric="follow_up", model="scripted:strong", name="cascade", cascade=cascade)
    return make_judge(part, JudgingPart(), RUBRIC)


def measure(items: Sequence[Labelled], rules: float, margin: float, draws: int) -> Point:
    """Return what a setting comes to."""
    judge = judge_of(rules, margin)
    calls = small = right = alone = by_rules = 0
    differences = [0.0] * len(items)
    for seed in range(draws):
        for number, item in enumerate(items):
            deliberation = Deliberation(judge, item.exchange)
            while deliberation.asks:
                (member,) = deliberation.asks
                calls += member.model == "strong"
                small += member.model == "small"
                label = answer(member.model, item, seed)
                judgement = Judgement(label, RUBRIC.rubric.values[label])
                deliberation.on_verdicts([make_verdict(item.exchange, member, judgement)])
            assert deliberation.judgement is not None
            assert deliberation.judgement.value is not None
            by_rules += deliberation.judgement.decided_by == "rules"
            is_right = (deliberation.judgement.value < 0.5) is item.clarifies
            was_right = (answer("strong", item, seed) == "correction") is item.clarifies
            right, alone = right + is_right, alone + was_right
            differences[number] += (was_right - is_right) / draws
    n = len(items) * draws
    lost, error = (alone - right) / n * 100, stdev(differences) / sqrt(len(items)) * 100
    return Point(rules, margin, 1 - calls / n, lost, alone / n * 100, by_rules / n, small / n, error)


def curve(name: str, items: Sequence[Labelled], draws: int) -> list[Point]:
    """Print and return the curve on the half that is open."""
    opened = [item for item in items if not item.is_kept]
    print(f"{name}: {len(opened):,} exchanges that are open, {draws} draws of the judges")
    print("  rules  margin   fewer calls   points lost   at most   decided by rules   calls of the small judge")
    points = [measure(opened, *setting, draws) for setting in product(RULES, MARGINS)]
    for point in sorted(points, key=lambda each: each.fewer):
        print(
            f"  {point.rules:5.2f}  {point.margin:6.2f}   {point.fewer:11.1%}   {point.lost:11.2f}   {point.most:7.2f}"
            f"   {point.by_rules:16.1%}   {point.small_calls:24.1%}"
        )
    return points


def choose(curves: Sequence[Sequence[Point]]) -> tuple[float, float]:
    """Return the setting that saves most calls on the worst set, of those shown to lose a point at most on each.

    Rules decide alone only where they are as sure as the judge that they stand for: on a few hundred exchanges a lower
    confidence may seem to lose nothing, and does elsewhere.
    """
    sure = [each for each in zip(*curves, strict=True) if each[0].rules >= 1 - STRONG_ERROR]
    settings = [each for each in sure if max(point.most for point in each) <= MAY_LOSE]
    best = max(settings, key=lambda each: min(point.fewer for point in each))
    return best[0].rules, best[0].margin


def main(arguments: Sequence[str]) -> None:
    """Print the curves, and what the chosen setting comes to on what is kept."""
    sets = [("simulated traffic", of_simulation(6_000), 10)]
    sets += [(Path(each).name, of_folder(Path(each)), 40) for each in arguments]
    rules, margin = choose([curve(*each) for each in sets])
    for name, items, draws in sets:
        kept = [item for item in items if item.is_kept]
        print(f"{name}, {len(kept):,} kept apart, margin {margin}")
        for confidence in sorted({0.9, rules, 1.0}):  # with 1, rules are a second opinion and never decide alone
            result = measure(kept, confidence, margin, draws)
            calls = f"{result.fewer:.1%} fewer calls of the strong judge, {result.small_calls:.1%} of the small one"
            lost = f"{result.lost:.2f} ± {1.96 * result.error:.2f} points lost of {result.alone:.1f}"
            print(f"  rules {confidence:.2f}: {calls}, {lost}")


if __name__ == "__main__":
    main(sys.argv[1:])
