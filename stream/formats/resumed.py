"""Resumed conversations: those that go on another one under an id of their own, and send its history along.

    session 1   "How do I pay?"                         gets: By card, in your account.
    session 2   "How do I pay?" "By card, …" "And how?"  gets: Under Billing.

Session 2 goes on session 1: the last exchange that its first call sends was logged there, and nowhere else, and the
user is the same. Where several conversations have that exchange, as a "thanks" has one answer, it is the one in which
all was said that the call sends; where that are several, too, it is none. What many go on from was said to many, as a
cache answers those who ask the same. Where each call has an id of its own, `request_ids` says what it is.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence, Set

import msgspec

from turnsignal.stream.formats.asides import exchange_of, last_exchange, question_of
from turnsignal.stream.formats.endings import DIGEST
from turnsignal.stream.formats.heads import Head, head_of
from turnsignal.stream.formats.protocol import Assumed, Call

RESUMED = "conversations that go on another one, whose history they send, taken for one with it"
_BRANCHES = 2  #: questions that one exchange is gone on with, at most, as one of them was edited,
_CALLS = 3  #: and conversations that do, as some were sent again;
_FORKS = 10  #: those of one user, who may be everybody


def resume(
    heads: list[Head],
    openings: Sequence[bytes],
    asides: Set[int],
    assumed: Assumed,
    answers: Callable[[], Iterable[Call]],
) -> None:
    """Give the calls of conversations that go on another one its id, in place.

    asides: calls that are in none; answers: gives all calls anew.
    """
    given: dict[bytes, Head | None] = {}  # an exchange → the call that it was; None where several were
    first: dict[str, Head] = {}
    for head, opening in zip(heads, openings, strict=True):
        if head.conversation is None or head.number in asides:
            continue
        if exchange := exchange_of(opening):
            known = given.setdefault(exchange, head)
            if known is not None and known.conversation != head.conversation:
                given[exchange] = None
        begun = first.setdefault(head.conversation, head)
        if head.start < begun.start:
            first[head.conversation] = head
    going_on: dict[bytes, list[bytes]] = {}  # an exchange → what was asked next, in conversations that begin with it
    for head in first.values():
        if exchange := last_exchange(opening := openings[head.number]):
            going_on.setdefault(exchange, []).append(question_of(opening))
    whole = _Whole(heads, openings, first, given, answers)
    before: dict[str, str] = {}
    for name, head in sorted(first.items(), key=lambda pair: (pair[1].start, pair[1].number)):
        source, next_asked = given.get(last := last_exchange(openings[head.number])), going_on.get(last, [])
        if last and source is None and last in given:
            source, next_asked = whole.source(head)
        if source is None or source.conversation in (None, name) or source.start > head.start:
            continue
        users = (head.who[1], source.who[1])
        if None not in users:
            if users[0] != users[1] or len(next_asked) > _FORKS:
                continue
        elif len(next_asked) > _CALLS or len(set(next_asked)) > _BRANCHES:
            continue
        before[name] = before.get(str(source.conversation), str(source.conversation))
    for at, head in enumerate(heads):
        if head.conversation in before:
            heads[at] = head._replace(conversation=before[head.conversation])
    assumed[RESUMED] += len(before)


class _Whole:
    """Calls by all that was said until after them, for those that begin a conversation with what several have."""

    def __init__(
        self,
        heads: Sequence[Head],
        openings: Sequence[bytes],
        first: Mapping[str, Head],
        given: Mapping[bytes, Head | None],
        answers: Callable[[], Iterable[Call]],
    ) -> None:
        lasts = {head.number: last_exchange(openings[head.number]) for head in first.values()}
        wanted = {last for last in lasts.values() if last and last in given and given[last] is None}
        self._given: dict[bytes, list[Head]] = {}
        self._sent: dict[int, bytes] = {}
        self._next: dict[bytes, list[bytes]] = {}
        for head, answer in zip(heads, answers() if wanted else (), strict=bool(wanted)):
            is_source = head.conversation is not None and exchange_of(openings[head.number]) in wanted
            is_begun = lasts.get(head.number) in wanted
            if is_source or is_begun:
                known = head_of(head.number, msgspec.structs.replace(answer, conversation=None))
                if is_source:
                    self._given.setdefault(known.after, []).append(head)
                if is_begun:
                    self._sent[head.number] = sent = known.before[:DIGEST]
                    self._next.setdefault(sent, []).append(question_of(openings[head.number]))

    def source(self, head: Head) -> tuple[Head | None, list[bytes]]:
        """Return the call of the one other conversation in which all was said that a call sends, and what is asked."""
        sent = self._sent.get(head.number, b"")
        others = {each.conversation: each for each in self._given.get(sent, ()) if each.start <= head.start}
        others.pop(head.conversation, None)
        return next(iter(others.values())) if len(others) == 1 else None, self._next.get(sent, [])
