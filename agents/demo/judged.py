"""Judging in a demo: the suite that asks a judge, and what its verdicts say and cost so far."""

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from pathlib import Path

from turnsignal.stream.errors import ConfigError
from turnsignal.stream.judging.judges import SCRIPTED
from turnsignal.stream.records.verdicts import VERDICTS, Unjudged, scorer_of
from turnsignal.stream.text.toml import parse_toml

VERDICTS_FILE = "verdicts.jsonl"
RUBRICS = {"judge": "follow_up", "reader": "groundedness"}  #: what each of the demo's judges is asked
EXAMPLE_INPUT, EXAMPLE_OUTPUT = 0.15, 0.6  #: for a million tokens: what a scripted judge is said to cost

_MODEL = "overlap"


def write_suite(model: str, given: Path | None, into: Path) -> Path:
    """Write a suite that asks a model about every exchange.

    model: `scripted`, or MODEL or ENDPOINT:MODEL; given: the suite in force. Raises ConfigError where that cannot be
    read, or has judges of its own.
    """
    try:
        text = "" if given is None else given.read_text(encoding="utf-8")
        known = parse_toml(text)
    except (OSError, ValueError) as error:
        msg = f"{given}: expected a suite in TOML, got {error}"
        raise ConfigError(msg) from None
    if "judges" in known:
        msg = (
            f"--judge: expected a suite without [[judges]], got {given} that has some, which are asked without --judge"
        )
        raise ConfigError(msg)
    if "exchanges" not in known:
        text += "\n[exchanges]\nshare = 1.0\n"
    if model == SCRIPTED:
        model = f"{SCRIPTED}:{_MODEL}"
        if "judging" not in known:
            text += f'\n[judging.prices."{model}"]\ninput = {EXAMPLE_INPUT}\noutput = {EXAMPLE_OUTPUT}\n'
    for name, rubric in RUBRICS.items():
        text += f'\n[[judges]]\nrubric = "{rubric}"\nname = "{name}"\nmodel = {_quoted(model)}\n'
    path = into / "suite.toml"
    path.write_text(text, encoding="utf-8")
    return path


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


@dataclass(slots=True)
class JudgedTotals:
    """What verdicts add up to, by scorer. last: when the newest came, on a clock that is handed in."""

    verdicts: Counter[str] = field(default_factory=Counter)
    judged: Counter[str] = field(default_factory=Counter)
    sums: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))
    reasons: Counter[str] = field(default_factory=Counter)
    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    cost: float = 0.0
    model: str = ""
    last: float = 0.0

    def on_verdict(self, value: bytes, now: float) -> None:
        """Take in a verdict as it stands on its topic."""
        verdict = VERDICTS.validate_json(value)
        scorer = scorer_of(verdict.judge.rubric, verdict.judge.name)
        self.last = now
        self.verdicts[scorer] += 1
        self.calls += verdict.attempts
        self.tokens_in += verdict.tokens.input
        self.tokens_out += verdict.tokens.output
        self.cost += verdict.cost
        self.model = f"{verdict.judge.provider}:{verdict.judge.asked}"
        if verdict.value is not None:
            self.judged[scorer] += 1
            self.sums[scorer] += verdict.value
        elif verdict.unscored is not None and verdict.unscored is not Unjudged.NOT_APPLICABLE:
            self.reasons[verdict.unscored.value] += 1

    def describe(self) -> str:
        """Tell in one line what judges say, "" before the first verdict."""
        parts = [
            f"{scorer} {self.sums[scorer] / n:.2f} of {n:,} ({n / self.verdicts[scorer]:.0%} judged)"
            for scorer, n in sorted(self.judged.items())
        ]
        return f"judged: {', '.join(parts)}" if parts else ""

    def describe_price(self) -> str:
        """Tell what judging cost, or would have cost where the judge is none."""
        tokens = f"{self.tokens_in:,} tokens in and {self.tokens_out:,} out in {self.calls:,} calls"
        if self.model.startswith(f"{SCRIPTED}:"):
            how = f"{EXAMPLE_INPUT:g} and {EXAMPLE_OUTPUT:g} for a million tokens in and out"
            return (
                f"{self.model} is no model and costs nothing; one at {how} would have cost {self.cost:.2f}: {tokens}."
            )
        price = f"{self.cost:.2f}" if self.cost else "what is not known, as [judging.prices] of the suite does not say"
        return f"{self.model} cost {price}: {tokens}."
