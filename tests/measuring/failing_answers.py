"""Failing answers: how well answers that are none are told from answers, on messages of our own.

    python tests/measuring/failing_answers.py [--part later_kept]

`tests/data/answers` has short messages of assistants in seven languages, labelled before version 3 of `failures.toml`
was made: `language class | message`. Half of them fail, half only look alike: a no that is the answer, what to do about
an error, help beside something that could not be done, a quotation. A message is in the kept part where sha256 of it is
a multiple of three; rules are made from the open part, figures are those of the kept one, of which only sums are
printed. One person wrote them and the rules, and some say in one language what another part says in another: the words
of others are further off.

The `later` parts, split in halves, were written for version 5: what helps beside a failure (an alternative, what was
reached in the end, a question that narrows, a limit behind an answer), and templates, codes and stumps. Half of them
were written before its patterns, half after most of them.
"""

import argparse
from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from turnsignal.stream.follow_ups.failures import Failures
from turnsignal.stream.statistics.intervals import wilson

MESSAGES = Path(__file__).parents[1] / "data" / "answers"
#: Part → how many parts of equal size its set has, of which the kept one is one.
PARTS = {"open": 3, "kept": 3, "later_open": 2, "later_kept": 2}
#: Classes of answers that are none; every other class is an answer.
FAILING = frozenset(
    (
        *("refusal", "notfound", "unknown", "rephrase", "handoff", "error"),
        *("limit", "timeout", "empty", "foreign", "template"),
    )
)


class Message(NamedTuple):
    """One message: its language, the class that its author meant, and its text."""

    language: str
    kind: str
    text: str

    @property
    def fails(self) -> bool:
        """Whether the message is no answer."""
        return self.kind in FAILING


class Counts(NamedTuple):
    """How many messages were rightly and wrongly called failing, and how many failing ones were not."""

    right: int
    wrong: int
    missed: int


def is_kept(text: str, parts: int) -> bool:
    """Say whether a message belongs to the kept part of a set that has so many."""
    return int(sha256(text.encode()).hexdigest(), 16) % parts == 0


def messages(part: str) -> Iterator[Message]:
    """Give the messages of a part."""
    for line in (MESSAGES / f"{part}.txt").read_text(encoding="utf-8").splitlines():
        labels, text = (field.strip() for field in line.split("|", 1))
        language, kind = labels.split()
        yield Message(language, kind, text)


def count(told: Iterable[Message]) -> Counts:
    """Count what the built-in patterns say of messages."""
    failures, right, wrong, missed = Failures(), 0, 0, 0
    for message in told:
        called = failures.is_failing(message.text.replace("\\n", "\n"))
        right += called and message.fails
        wrong += called and not message.fails
        missed += message.fails and not called
    return Counts(right, wrong, missed)


def report(part: str) -> str:
    """Write precision and recall with 95 % intervals, then what was missed and wrongly called by language and class."""
    told = list(messages(part))
    counts = count(told)
    lines = [
        f"failing answers, {part} part: {len(told)} messages, {sum(one.fails for one in told)} of them failing",
        f"  precision {_rate(counts.right, counts.right + counts.wrong)}",
        f"  recall    {_rate(counts.right, counts.right + counts.missed)}",
    ]
    for name in ("language", "kind"):
        for value in sorted({getattr(one, name) for one in told}):
            some = [one for one in told if getattr(one, name) == value]
            of = count(some)
            lines.append(f"  {value:<9} {len(some):>4}: {of.wrong} wrongly called failing, {of.missed} missed")
    return "\n".join(lines)


def _rate(hits: int, of: int) -> str:
    if not of:
        return "none"
    _, low, high, _ = wilson(hits, of)
    return f"{hits / of:.3f} ({low:.3f}–{high:.3f}), {hits} of {of}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the figures of one part."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--part", choices=PARTS, default="kept")
    print(report(parser.parse_args(arguments).part))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
