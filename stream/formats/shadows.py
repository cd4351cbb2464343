"""Shadows: answers of a model that is asked what another is, too, and that no user sees.

    10:00:00   gpt-4o, "Why?"                               gets: Because.
    10:00:01   gpt-5,  "Why?"                               gets: It depends.
    10:00:40   gpt-4o, "Why?" "Because." "And how?"         gets: So.
    10:00:41   gpt-5,  "Why?" "Because." "And how?"         gets: Hardly.

The histories tell: they go on from answers of the one, and from none of the other's. Where users choose between both,
they go on from either; who had a question answered again by another model, as he did not like what he got, had read it.
"""

from collections import Counter
from collections.abc import Iterator, Sequence, Set
from hashlib import blake2b
from itertools import permutations
from typing import Any

import numpy as np

from turnsignal.stream.formats.asides import exchange_of, history_of, last_exchange, question_of
from turnsignal.stream.formats.heads import Head
from turnsignal.stream.formats.quotations import NUMBER, SHORT, number_of

_SOON = 60.0  #: seconds between both
_READ = 10.0  #: and those within which nobody reads an answer, and has another
_FEWEST = 5  #: questions of which the answer of one came back, and not the other's,
_BACK = 50  #: and of so many the other's may come back, by chance


def shadows_in(openings: Sequence[bytes], heads: Sequence[Head], kinds: Sequence[int], asides: Set[int]) -> set[int]:
    """Return the numbers of the calls of shadows. kinds: who was asked each; asides: calls that are none."""
    rounds = list(_rounds(openings, heads, kinds, asides))
    if not rounds:
        return set()
    back = set(filter(None, map(last_exchange, openings)))
    pairs = [pair for asked in rounds for pair in permutations(asked, 2) if kinds[pair[0]] != kinds[pair[1]]]
    preferred = Counter[tuple[int, int]]()  # whose answer came back, and whose did not
    for at, other in pairs:
        if exchange_of(openings[at]) in back and exchange_of(openings[other]) not in back:
            preferred[kinds[at], kinds[other]] += 1
    shadows = {
        (kind, other)
        for (kind, other), times in preferred.items()
        if times >= _FEWEST and preferred[other, kind] * _BACK <= times
    }
    return {
        other
        for at, other in pairs
        if (kinds[at], kinds[other]) in shadows and heads[at].start - heads[other].start <= _READ
    }


def _rounds(
    openings: Sequence[bytes], heads: Sequence[Head], kinds: Sequence[int], asides: Set[int]
) -> Iterator[list[int]]:
    """Give the calls of several kinds that are asked the same within a minute, with the same before it."""
    each = (0 if at in asides else _asked(opening, heads[at]) for at, opening in enumerate(openings))
    asked: Any = np.fromiter(each, NUMBER, len(openings))
    order = np.argsort(asked, kind="stable")
    numbers, begins, times = np.unique(asked[order], return_index=True, return_counts=True)
    for at in np.flatnonzero((times > 1) & (numbers != 0)).tolist():
        group = sorted(order[begins[at] : begins[at] + times[at]].tolist(), key=lambda call: heads[call].start)
        together: list[int] = []
        for call in group:
            if together and heads[call].start - heads[together[0]].start > _SOON:
                yield from _of_several(together, kinds)
                together = []
            together.append(call)
        yield from _of_several(together, kinds)


def _of_several(together: list[int], kinds: Sequence[int]) -> Iterator[list[int]]:
    if len({kinds[at] for at in together}) > 1:
        yield together


def _asked(opening: bytes, head: Head) -> int:
    """Return a number of what a call is asked, and of what was said before; 0 where it is no call."""
    if not opening:
        return 0
    history = (head.conversation or "").encode("utf-8", "replace") + history_of(opening) + question_of(opening)
    return number_of(blake2b(history, digest_size=SHORT).digest())
