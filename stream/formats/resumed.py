"""Resumed conversations: those that go on another one under an id of their own, and send its history along.

    session 1   "How do I pay?"                         gets: By card, in your account.
    session 2   "How do I pay?" "By card, …" "And how?"  gets: Under Billing.

Session 2 goes on session 1: the last exchange that its first call sends was logged there, and nowhere else, and the
user is the same. Some services give each call an id of its own; then every conversation is as long as its last call
says. What many go on from was said to many, as a cache answers those who ask the same.
"""

from collections.abc import Sequence, Set

from turnsignal.stream.formats.asides import exchange_of, last_exchange, question_of
from turnsignal.stream.formats.linking import Head
from turnsignal.stream.formats.protocol import Assumed

RESUMED = "conversations that go on another one, whose history they send, taken for one with it"
_BRANCHES = 2  #: questions that one exchange is gone on with, at most, as one of them was edited,
_CALLS = 3  #: and conversations that do, as some were sent again;
_FORKS = 10  #: those of one user, who may be everybody


def resume(heads: list[Head], openings: Sequence[bytes], asides: Set[int], assumed: Assumed) -> None:
    """Give the calls of conversations that go on another one its id, in place. asides: calls that are in none."""
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
    before: dict[str, str] = {}
    for name, head in sorted(first.items(), key=lambda pair: (pair[1].start, pair[1].number)):
        exchange = last_exchange(openings[head.number])
        source = given.get(exchange)
        if source is None or source.conversation in (None, name) or source.start > head.start:
            continue
        users, next_asked = (head.who[1], source.who[1]), going_on[exchange]
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
