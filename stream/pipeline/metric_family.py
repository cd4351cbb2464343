"""Metric family: what one metric is called and how it is shown, beside the field that counts it."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import field
from functools import partial
from math import prod
from typing import Any, NamedTuple

from turnsignal.stream.records.environments import ENVIRONMENTS

Words = tuple[str, ...] | Mapping[str, tuple[str, ...]]  #: what a label can say, by app where apps say different things

SCORE, JUDGE, WATCH = "score", "judge", "watch"  #: apps


class Family(NamedTuple):
    """One metric, as the exposition, rules and dashboards read it.

    kind: counter, gauge or histogram; labels: their names, a contract with rules and dashboards; help: one sentence for
    Prometheus; words: what a label can say, for each label whose words are ours; begun: whether every combination of
    words is shown at 0 from the start; most: combinations of words that one release can have, where not all meet; apps:
    which ones move it, () for all; bounds: of a histogram's buckets.
    """

    kind: str
    labels: tuple[str, ...]
    help: str
    words: Mapping[str, Words] = {}
    begun: bool = True
    most: int | None = None
    apps: tuple[str, ...] = ()
    bounds: tuple[float, ...] = ()

    def words_of(self, label: str, app: str | None = None) -> tuple[str, ...]:
        """Return what a label can say in an app (by default in any of them), () where its words are not ours."""
        words = ENVIRONMENTS if label == "environment" else self.words.get(label, ())
        if not isinstance(words, Mapping):
            return words
        every = [word for known, those in words.items() if app in (None, known) for word in those]
        return tuple(dict.fromkeys(every))

    def count_series(self, sizes: Mapping[str, int]) -> int:
        """Return how many series there can be at most; sizes: how many values a label has whose words are not ours."""
        lines = len(self.bounds) + 3 if self.bounds else 1
        words = [len(self.words_of(label)) or 1 for label in self.words]
        others = [sizes.get(label, 1) for label in self.labels if label not in self.words]
        return lines * (self.most or prod(words)) * prod(others)


def counter(
    name: str,
    text: str,
    *labels: str,
    begun: bool = True,
    most: int | None = None,
    apps: tuple[str, ...] = (SCORE,),
    **words: Words,
) -> Any:
    """Declare a field as a counter. labels: first those whose words are not ours, then each with its words."""
    family = Family("counter", (*labels, *words), text, words, begun, most, apps)
    return field(default_factory=partial(defaultdict, int), metadata={name: family})


def weights(name: str, text: str, *labels: str) -> Any:
    """Declare a field as a counter of what is no whole number."""
    family = Family("counter", labels, text, begun=False, apps=(SCORE,))
    return field(default_factory=partial(defaultdict, float), metadata={name: family})


def ratios(name: str, text: str, *labels: str, bounds: tuple[float, ...]) -> Any:
    """Declare a field as a histogram of values 0–1."""
    family = Family("histogram", labels, text, apps=(SCORE,), bounds=bounds)
    return field(default_factory=partial(defaultdict, list), metadata={name: family})


def newest(name: str, text: str, *labels: str) -> Any:
    """Declare a field as a gauge that shows the value of the last batch."""
    return field(default_factory=dict, metadata={name: Family("gauge", labels, text, begun=False, apps=(SCORE,))})


def latched(name: str, text: str, *labels: str, most: int | None = None, **words: Words) -> Any:
    """Declare a field as a gauge of the watch app, that stays until a value of None takes it away."""
    family = Family("gauge", (*labels, *words), text, words, False, most, (WATCH,))
    return field(default_factory=dict, metadata={name: family})
