"""Finished conversations: records of all that was said, without times, which are conversations of their own.

    record 1   Hello – Hello!
    record 2   Hello – Hello! – How? – So.
    record 3   Hello – Hello! – Why? – Because.

A log that keeps a conversation anew after each answer has such records, too, and there each longer one goes on from
another. Where hardly any does, those that begin alike are of several who said the same, and none goes on from another.
"""

from collections.abc import Iterable
from itertools import chain

from turnsignal.stream.formats.endings import DIGEST
from turnsignal.stream.formats.heads import Head

_HARDLY = 0.25  #: of the longer records, as many different ones that are gone on from


def stand_alone(heads: Iterable[Head]) -> bool:
    """Say whether finished conversations go on from no other one, whatever they begin with."""
    finished = [head for head in heads if head.is_finished]
    ends = {head.after for head in finished}
    longer = [head for head in finished if head.answered]
    return len(ends.intersection(chain.from_iterable(map(_begun_by, longer)))) < _HARDLY * len(longer)


def _begun_by(head: Head) -> list[bytes]:
    """Return what was said until each earlier answer of a record."""
    digests = head.before[:DIGEST] + head.earlier
    return [digests[at : at + DIGEST] for at in range(0, len(digests), DIGEST)]
