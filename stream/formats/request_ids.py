"""Ids of requests where those of conversations are looked for: each names one question, and none comes back.

    s1   "How do I pay?"                                  gets: By card.
    s2   "How do I pay?" "By card." "thanks"              gets: You're welcome.

A gateway may number requests as its users number sessions. That shows where calls send histories: what s2 sends was
said under another id, and nothing of it under its own. Then calls are linked by their words, as without ids; calls of
one id, as one question takes when it needs a tool, stay together, and a conversation is named by its first id.
"""

from collections import Counter
from collections.abc import Iterable, Sequence, Set

import msgspec

from turnsignal.stream.formats.asides import exchange_of, last_exchange, question_of, sends_history
from turnsignal.stream.formats.heads import Head, head_of
from turnsignal.stream.formats.protocol import Assumed, Call

REQUESTS = "ids that each name one request, taken for none of a conversation: calls were linked by their histories"
_COME_BACK = 0.1  #: of the ids under which histories are sent, those that may name several questions
_ELSEWHERE = (
    0.5  #: of the histories, those whose last exchange is logged under another id; and of these, different ones
)


def are_requests(heads: Sequence[Head], openings: Sequence[bytes], asides: Set[int]) -> bool:
    """Say whether the conversations that calls name are requests. asides: calls that are in none."""
    given: dict[bytes, set[str]] = {}  # an exchange → the ids of calls that it was
    asked: dict[str, set[bytes]] = {}
    sending: dict[str, list[bytes]] = {}  # an id → the last exchange of each history
    for head, opening in zip(heads, openings, strict=True):
        if head.conversation is None or head.number in asides or not opening:
            continue
        asked.setdefault(head.conversation, set()).add(question_of(opening))
        if exchange := exchange_of(opening):
            given.setdefault(exchange, set()).add(head.conversation)
        if sends_history(opening):
            sending.setdefault(head.conversation, []).append(last_exchange(opening))
    sent = [(exchange, name) for name, exchanges in sending.items() for exchange in exchanges if exchange]
    elsewhere = [exchange for exchange, name in sent if given.get(exchange, set()) - {name}]
    if not elsewhere or len(elsewhere) < _ELSEWHERE * len(sent) or len(set(elsewhere)) < _ELSEWHERE * len(elsewhere):
        return False
    return sum(len(asked[name]) > 1 for name in sending) <= _COME_BACK * len(sending)


def unnamed(heads: Sequence[Head], answers: Iterable[Call], assumed: Assumed) -> list[Head]:
    """Return what linking has to know of calls whose ids are those of requests, which it then keeps together by.

    A call that sends its question alone goes on from where another of its request does.
    """
    ids = Counter(head.conversation for head in heads if head.conversation is not None)
    assumed[REQUESTS] += len(ids)
    again: list[Head] = []
    sent: dict[str, Head] = {}  # a request → its call that sends a history
    for head, answer in zip(heads, answers, strict=True):
        known = head_of(head.number, msgspec.structs.replace(answer, conversation=None))
        again.append(known._replace(request=head.conversation))
        if head.conversation is not None and known.answered:
            sent.setdefault(head.conversation, known)
    for at, head in enumerate(again):
        if not head.answered and (other := sent.get(head.request or "")) is not None:
            again[at] = head._replace(before=other.before, earlier=other.earlier, telling=other.telling)
    return again
