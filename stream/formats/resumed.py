"""Resumed conversations: those that go on another one under an id of their own, and send its history along.

    session 1   "How do I pay?"                         gets: By card, in your account.
    session 2   "How do I pay?" "By card, …" "And how?"  gets: Under Billing.

Session 2 goes on session 1: the last exchange that its first call sends was logged there, and nowhere else. Some
services give each call an id of its own; then every conversation is as long as its last call says.
"""

from collections.abc import Sequence, Set

from turnsignal.stream.formats.asides import exchange_of, last_exchange
from turnsignal.stream.formats.linking import Head
from turnsignal.stream.formats.protocol import Assumed

RESUMED = "conversations that go on another one, whose history they send, taken for one with it"


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
    before: dict[str, str] = {}
    for name, head in sorted(first.items(), key=lambda pair: (pair[1].start, pair[1].number)):
        source = given.get(last_exchange(openings[head.number]))
        if source is not None and source.conversation not in (None, name) and source.start <= head.start:
            before[name] = before.get(str(source.conversation), str(source.conversation))
    for at, head in enumerate(heads):
        if head.conversation in before:
            heads[at] = head._replace(conversation=before[head.conversation])
    assumed[RESUMED] += len(before)
