"""Confidences: how often each follow-up rule is right on messages that it was not made from.

    python tests/measuring/confidences.py FOLDER... --mappings tests/measuring > stream/follow_ups/confidences.toml

FOLDER: sets of parts that rules were not made from (`parts.py`, `everyday.py`), or folders of such sets. A rule that
calls a clarification is right where the label does; one that reads a message as going on, where it does not. Where n is
small the share says little, so it is drawn towards the share of all rules of its kind, as if PRIOR more messages had
been seen there (a beta prior).
"""

import argparse
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from turnsignal.agents.measure.run import LabelledRecording, choose_mapping, find_sets
from turnsignal.stream.agreement.comparisons import FollowUpsCompared
from turnsignal.stream.suite import Suite

PRIOR = 10


class Decided(FollowUpsCompared):
    """What each rule decided, beside the labels: (rule, is it a clarification, was that right)."""

    def decisions(self) -> Iterator[tuple[str, bool, bool]]:
        """Give the decisions; messages that no rule recognises have none."""
        for key, (truth, _, _) in self._wanted.items():
            score = self._scores.get(key)
            if score is not None and score["value"] is not None:
                called = score["free"] == 0.0
                yield score["explanation"], called, called is truth


def decide(folder: Path, mappings: Path) -> Iterator[tuple[str, bool, bool]]:
    """Replay one labelled set and give every decision on it."""
    mapping = choose_mapping(folder, mappings)
    for labels in mapping.follow_ups:
        if labels.on != "user":
            continue  # says something of the answer, not of the message
        compared = Decided(labels.model_copy(update={"policy": "strict"}))
        for row in LabelledRecording(folder, mapping, [(labels, compared)]).replay(
            mapping.suited(Suite(), folder.name), time.time()
        ):
            compared.on_row(row)
        yield from compared.decisions()


def spell(decisions: Sequence[tuple[str, bool, bool]], command: str) -> str:
    """Spell the table as TOML."""
    seen: Counter[tuple[str, bool]] = Counter((rule, called) for rule, called, _ in decisions)
    right: Counter[tuple[str, bool]] = Counter((rule, called) for rule, called, was_right in decisions if was_right)
    pooled = {kind: _share(right, seen, kind) for kind in (True, False)}
    lines = [
        "# How often each follow-up rule is right on messages that it was not made from; made, not written, by",
        f"#   {command}",
        "# confidence = (right + prior × share of its kind) / (n + prior); rules not listed have their kind's share.",
        f"prior = {PRIOR}",
        f"clarifying = {pooled[True]:.3f}",
        f"continuing = {pooled[False]:.3f}",
        "",
        "[rules]",
    ]
    for (rule, called), n in sorted(seen.items(), key=lambda one: (-one[1], one[0])):
        good = right[rule, called]
        confidence = (good + PRIOR * pooled[called]) / (n + PRIOR)
        lines.append(f'"{rule}" = {{ n = {n}, right = {good}, confidence = {confidence:.2f} }}')
    return "\n".join(lines) + "\n"


def _share(right: Mapping[Any, int], seen: Mapping[Any, int], kind: bool) -> float:
    n = sum(count for (_, called), count in seen.items() if called is kind)
    return sum(count for (_, called), count in right.items() if called is kind) / n if n else 0.5


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folders", type=Path, nargs="+", metavar="FOLDER")
    parser.add_argument("--mappings", type=Path, required=True)
    options = parser.parse_args()
    folders = [folder for given in options.folders for folder in find_sets([given])]
    names = " ".join(f"{folder.parent.name}/{folder.name}" for folder in folders)
    decisions = [one for folder in folders for one in decide(folder, options.mappings)]
    print(spell(decisions, f"tests/measuring/confidences.py on {names}"), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
