"""A claim: what is said of one figure of a comparison, and why not more."""

from typing import NamedTuple

from turnsignal.stream.statistics.directions import BETTER, CHANGED, WORSE
from turnsignal.stream.statistics.intervals import Difference


class Claim(NamedTuple):
    """What is said of one figure.

    adjusted: at most `PROMISE` where it is named; why: that, or what it hides; untold: it got worse, and whether the
    release is why nobody can tell; not_better: why it is not called that.
    """

    change: str
    adjusted: float
    why: str = ""
    untold: bool = False
    not_better: str = ""


def withdraw(claim: Claim, why: str, *words: str) -> Claim:
    """Return a claim of one of these words as one of a mere change; without words, of better or worse."""
    if claim.change not in (words or (BETTER, WORSE)):
        return claim
    not_better = why if claim.change == BETTER else claim.not_better
    return claim._replace(change=CHANGED, why=f"not called {claim.change}: {why}", not_better=not_better)


def beside_figure(name: str, delta: Difference) -> str:
    """Say beside what a figure is not better."""
    return f"beside {name}, which {'rose' if delta.value > 0 else 'fell'}"


def by(delta: Difference) -> str:
    """Say which way a figure moved, and how far."""
    return f"{'rose' if delta.value > 0 else 'fell'} by {abs(delta.value):.2f}"
