"""Ids of requests where those of conversations are looked for: each names one question, and none comes back.

    s1   "How do I pay?"                                  gets: By card.
    s2   "How do I pay?" "By card." "thanks"              gets: You're welcome.

A gateway may number requests as its users number sessions. That shows where calls send histories: what s2 sends was
said under another id, and nothing of it under its own. Then calls are linked by their words, as without ids; calls of
one id, as one question takes when it needs a tool, stay together, and a conversation is named by its first id.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence, Set

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

    def named() -> Iterator[tuple[str, bytes]]:
        for head, opening in zip(heads, openings, strict=True):
            if head.conversation is not None and head.number not in asides and opening:
                yield head.conversation, opening

    given: dict[bytes, str] = {}  # an exchange → the first id of a call that it was
    again: set[bytes] = set()  # those that calls of other ids were, too
    for name, opening in named():
        if (exchange := exchange_of(opening)) and given.setdefault(exchange, name) != name:
            again.add(exchange)
    sent, elsewhere = 0, Counter[bytes]()
    for name, opening in named():
        if sends_history(opening) and (exchange := last_exchange(opening)):
            sent += 1
            if exchange in again or given.get(exchange, name) != name:
                elsewhere[exchange] += 1
    times = elsewhere.total()
    if not times or times < _ELSEWHERE * sent or len(elsewhere) < _ELSEWHERE * times:
        return False
    asked: dict[str, set[bytes]] = {}
    for name, opening in named():
        asked.setdefault(name, set()).add(question_of(opening))
    sending = {name for name, opening in named() if sends_history(opening)}
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
