"""Routing: which agents a question was sent to, against those that it belongs to, as one of six labels.

Labels are compared as the routing report compares them: in small letters, without spaces around them.
"""

from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import NamedTuple

from turnsignal.stream.text.visible import visible

_NAMED = 3  #: labels that a sentence names
_LONGEST = 40  #: characters of each


class RoutingLabel(StrEnum):
    """Say how a question was routed."""

    EXACT = "exact"  #: to the agents that it belongs to, and no others
    PARTIAL = "partial"  #: to some of them, and to others instead of the rest
    MISSED = "missed"  #: not to all of them, and to no others
    EXTRA = "extra"  #: to all of them, and to others besides
    WRONG = "wrong"  #: to others alone
    OUT_OF_SCOPE = "out_of_scope"  #: to somebody, while it belongs to nobody


class Routed(NamedTuple):
    """How a question was routed, and a sentence that names the agents."""

    label: RoutingLabel
    sentence: str

    @property
    def is_exact(self) -> bool:
        """Whether it was sent to the agents that it belongs to, and to no others."""
        return self.label is RoutingLabel.EXACT


def compare_routing(expected: Sequence[str], routed: Sequence[str]) -> Routed:
    """Compare the agents that were asked with those that should have been; none of either is an answer, too.

    >>> compare_routing(["billing", "shipping"], ["Billing"])
    Routed(label=<RoutingLabel.MISSED: 'missed'>, sentence='not sent to shipping')
    """
    mine, theirs = agents_of(expected), agents_of(routed)
    missed = [label for label in mine if label not in theirs]
    extra = [label for label in theirs if label not in mine]
    right = len(missed) < len(mine)
    if not missed and not extra:
        return Routed(RoutingLabel.EXACT, f"sent to {_name(mine)}, as it should be")
    if not mine:
        return Routed(RoutingLabel.OUT_OF_SCOPE, f"sent to {_name(extra)}; it belongs to nobody")
    if not extra:
        return Routed(RoutingLabel.MISSED, f"not sent to {_name(missed)}")
    if not missed:
        return Routed(RoutingLabel.EXTRA, f"sent to {_name(extra)} besides")
    if right:
        return Routed(RoutingLabel.PARTIAL, f"sent to {_name(extra)} instead of {_name(missed)}, the rest is right")
    return Routed(RoutingLabel.WRONG, f"sent to {_name(extra)}; it belongs to {_name(missed)}")


def agents_of(labels: Iterable[str]) -> dict[str, None]:
    """Return labels as they are compared: in small letters, each once, in their order, which does not count."""
    return dict.fromkeys(in_small_letters(labels))


def in_small_letters(labels: Iterable[str]) -> list[str]:
    """Return labels in the spelling in which they are compared, without the empty ones.

    >>> in_small_letters([" Billing", "", "OutOfScope"])
    ['billing', 'outofscope']
    """
    return [label for given in labels if (label := given.strip().lower())]


def _name(labels: Iterable[str]) -> str:
    """Name the first of some labels, which come from strangers: cut, and with nothing hidden in them."""
    every = list(labels)
    names = [visible(label if len(label) <= _LONGEST else f"{label[:_LONGEST]}…") for label in every[:_NAMED]]
    more = [f"{len(every) - _NAMED} more"] if len(every) > _NAMED else []
    return " and ".join(filter(None, (", ".join((names + more)[:-1]), *(names + more)[-1:]))) or "nobody"
