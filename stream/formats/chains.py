"""Chains: a call says which one it follows, by the id of a response or of the tool's call whose result it sends.

    resp_1                     "How do I pay?"              calls a tool (call_1)
    resp_2  follows resp_1     what call_1 returned         calls a tool (call_2)
    resp_3  follows resp_2     what call_2 returned         gets: By card.

Nobody says anything in resp_2, so it is no part of the conversation, but resp_3 follows resp_1 by it. A chain tells
the order, too, where times do not: those of responses are whole seconds, in which a tool's call and the answer fit.
"""

from collections.abc import Callable, Iterable, Sequence
from hashlib import blake2b
from typing import TypeVar

from turnsignal.stream.formats.protocol import Call

_KEY = 12  #: bytes of an id's digest
_NOWHERE = -1
_Linked = TypeVar("_Linked")


class Chains:
    """What calls that were left out follow, so that others which follow them are linked by them.

    Held are a digest and the id of what each follows: a hundred bytes or two a call that is left out, none of others.
    """

    def __init__(self) -> None:
        self._before: dict[bytes, str] = {}

    def __bool__(self) -> bool:
        return bool(self._before)

    def leave_out(self, calls: Iterable[Call]) -> None:
        """Take in calls of which nothing was taken: those in which nobody says anything."""
        for call in calls:
            self.pass_over(call.response, call.previous)
            for called in _called_by(call) if call.returned and call.conversation else ():
                self._put(_scoped(call.conversation, called), call.returned[0])

    def pass_over(self, response: str | None, previous: str | None) -> None:
        """Take in a response that is left out, and the one that it follows."""
        if response and previous:
            self._put(_key(response), previous)

    def followed(self, previous: str | None) -> str | None:
        """Return the response that one follows which is not left out, as far as that is known."""
        return self._walk(previous, _key) if previous and self._before else previous

    def settle(self, call: Call) -> None:
        """Have a call follow what is not left out."""
        call.previous = self.followed(call.previous)
        if call.returned and self._before:
            call.returned = [
                self._walk(each, lambda named: _scoped(call.conversation, named)) for each in call.returned
            ]

    def _put(self, key: bytes, before: str) -> None:
        self._before.setdefault(key, before)

    def _walk(self, named: str, key: Callable[[str], bytes]) -> str:
        """Go back to what is not left out, and have what lies on the way lead there at once: a chain may be long."""
        walked: dict[bytes, None] = {}
        while (at := key(named)) in self._before and at not in walked:  # ids that are made up may go round
            walked[at] = None
            named = self._before[at]
        for each in walked:
            self._before[each] = named
        return named


def in_chains(calls: Sequence[Call]) -> list[Call]:
    """Return calls of one conversation in their order, but none before the one that it follows.

    The response's id is sure. A tool's call may have an id that comes back, so that it counts within one second alone.
    """
    if not any(call.previous or call.returned for call in calls):
        return list(calls)
    before = _followed_by_id(calls, lambda call: call.response, lambda call: call.previous)
    calling: dict[tuple[int | None, str], int] = {}
    for at, call in enumerate(calls):
        for called in _called_by(call):
            calling.setdefault((_second(call), called), at)
    for at, call in enumerate(calls):
        if before[at] == _NOWHERE and call.returned:
            places = (calling.get((_second(call), each), _NOWHERE) for each in call.returned)
            before[at] = next((place for place in places if place != _NOWHERE), _NOWHERE)
    return _followed_first(calls, before)


def responses_in_chains(
    linked: Sequence[_Linked],
    response: Callable[[_Linked], str | None],
    previous: Callable[[_Linked], str | None],
) -> list[_Linked]:
    """Return what has ids of responses in its order, but nothing before what it follows."""
    if not any(map(previous, linked)):
        return list(linked)
    return _followed_first(linked, _followed_by_id(linked, response, previous))


def _followed_by_id(
    linked: Sequence[_Linked],
    response: Callable[[_Linked], str | None],
    previous: Callable[[_Linked], str | None],
) -> list[int]:
    """Return where that stands which each follows, the first of an id; nowhere for what follows none."""
    wanted = {named for each in linked if (named := previous(each))}
    places: dict[str, int] = {}
    for at, each in enumerate(linked):
        if (named := response(each)) in wanted and named is not None:
            places.setdefault(named, at)
    return [places.get(previous(each) or "", _NOWHERE) for each in linked]


def _followed_first(linked: Sequence[_Linked], before: Sequence[int]) -> list[_Linked]:
    """Move what stands behind those that follow it right before the first of them. before: places."""
    if all(place < at for at, place in enumerate(before)):
        return list(linked)
    is_taken = bytearray(len(linked))
    ordered: list[_Linked] = []
    for at in range(len(linked)):
        waiting: list[int] = []
        while at != _NOWHERE and not is_taken[at]:  # taken at once, as ids that are made up may go round
            is_taken[at] = True
            waiting.append(at)
            at = before[at]
        ordered += [linked[each] for each in reversed(waiting)]
    return ordered


def _called_by(call: Call) -> list[str]:
    return [called for message in call.outputs for called in message.called]


def _second(call: Call) -> int | None:
    return None if call.start is None else int(call.start // 1)


def _key(named: str) -> bytes:
    return blake2b(named.encode("utf-8", "replace"), digest_size=_KEY).digest()


def _scoped(conversation: str | None, called: str) -> bytes:
    """Return the key of a tool's call: counters and names of tools come back in other conversations."""
    return _key(f"{conversation}\0{called}")
