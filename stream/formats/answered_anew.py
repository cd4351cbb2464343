"""Answered anew: first questions without an id or a user that were asked twice, as the first answer did not please.

    call 1   10:00:00   sends: "How do I move my seat?"                        gets: At the desk.
    call 2   10:00:20   sends: "How do I move my seat?"                        gets: In the app.
    call 3   10:01:10   sends: "How do I move my seat?" "In the app." "Thanks" gets: With joy.

Nobody goes on from the first answer, somebody does from the second right after it, and hardly anybody else asks that:
it was one user. What many ask, as a greeting or a button of a menu, tells nothing.
"""

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

from turnsignal.stream.formats.endings import DIGEST
from turnsignal.stream.formats.heads import Head
from turnsignal.stream.formats.protocol import Assumed

MAY_BE_ONE = (
    "conversations of one question that another asked within two minutes before, which may be one answered anew"
)
_SOON = 120.0  #: seconds between both
_RARE = 10  #: times that a question begins conversations, of which
_PAIRED = 0.4  #: so many stand beside another


def answered_anew(heads: Sequence[Head], assumed: Assumed) -> dict[int, int]:
    """Return the numbers of calls that were asked what the first call of a conversation was, each with that one's."""
    times = Counter(head.asked for head in heads if _begins(head))
    often = {asked for asked, n in times.items() if 1 < n <= _RARE}
    if not often:
        return {}
    by_question: dict[bytes, list[Head]] = {}
    for head in heads:
        if head.asked in often and _begins(head):
            by_question.setdefault(head.asked, []).append(head)
    wanted = {head.after for asked in by_question.values() for head in asked}
    gone_on = {digest for head in heads for digest in _ends(head) if digest in wanted}
    earlier: dict[int, int] = {}
    for asked in by_question.values():
        asked.sort(key=lambda head: (head.start, head.number))
        pairs = [(one, other) for one, other in pairwise(asked) if _may_be_one(one, other, gone_on)]
        if 2 * len(pairs) < _PAIRED * len(asked):
            continue
        for one, other in reversed(pairs):
            if other.after in gone_on:
                earlier[other.number] = one.number
                gone_on.add(one.after)  # whoever had it answered three times
            else:
                assumed[MAY_BE_ONE] += 1
    return earlier


def _begins(head: Head) -> bool:
    """Say whether a call may begin a conversation that nothing names, with words of its user's own."""
    is_unnamed = head.conversation is None and head.request is None and head.previous is None and head.who[1] is None
    return is_unnamed and head.is_own and head.is_answered and not head.answered


def _may_be_one(one: Head, other: Head, gone_on: set[bytes]) -> bool:
    is_soon = other.start - one.start <= _SOON and other.line != one.line
    return is_soon and one.who == other.who and one.after != other.after and one.after not in gone_on


def _ends(head: Head) -> list[bytes]:
    return [head.before[at : at + DIGEST] for at in range(0, len(head.before), DIGEST)]
