"""Stood: what users are known to have said, because a later history of their conversation has it.

What a program asks with a history comes back in none; what a user says does in each one after it. Of a conversation
without a name, a message is known by the answer before it, or, where a history begins with it, by the answer behind it.
"""

from array import array
from collections.abc import Iterator, Sequence
from hashlib import blake2b
from typing import Any

import numpy as np

from turnsignal.stream.formats.heads import digested
from turnsignal.stream.formats.messages import spoken_in
from turnsignal.stream.formats.protocol import Call, Message
from turnsignal.stream.formats.quotations import NUMBER, SHORT, number_of

_FIRST = 100_000  #: messages after which those that came twice are dropped for the first time


class StoodInHistories:
    """The users' messages of a log's histories, each once, as numbers."""

    def __init__(self) -> None:
        self._new = array("Q")
        self._known: Any = np.empty(0, NUMBER)
        self._most = _FIRST

    def add(self, call: Call) -> None:
        """Take in the history that a call sends before what it asks."""
        spoken = spoken_in(call.inputs)
        history = spoken[:-1] if spoken and spoken[-1].role == "user" else spoken
        name = _name(call)
        before = b""
        for at, message in enumerate(history):
            digest = digested(message)[1]
            if message.role == "user":
                if name:
                    self._new.append(_number(name, digest))
                if before:
                    self._new.append(_number(before, digest))
                elif at + 1 < len(history):
                    self._new.append(_number(digest, digested(history[at + 1])[1]))
            before = digest if message.role == "assistant" else b""
        if len(self._new) > self._most:
            self._drop_doubles()

    def conclude(self) -> None:
        """Put in order what was taken in."""
        self._drop_doubles()

    def _drop_doubles(self) -> None:
        self._known = np.union1d(self._known, np.frombuffer(self._new, NUMBER))
        self._new = array("Q")
        self._most = max(_FIRST, len(self._known))

    def has(self, number: int) -> bool:
        """Say whether a history has what one of `numbers_of` stands for."""
        at = int(np.searchsorted(self._known, np.uint64(number)))
        return at < len(self._known) and int(self._known[at]) == number

    def has_asked(self, call: Call) -> bool:
        """Say whether what a call asks stands in another's history of the same conversation."""
        return any(map(self.has, numbers_of(call)))


def numbers_of(call: Call) -> list[int]:
    """Return by what the user's message that a call asks is known in later histories; none where a system asks."""
    spoken = spoken_in(call.inputs)[-2:]
    if not spoken or spoken[-1].role != "user" or call.inputs[-1].role == "system":
        return []
    return list(_numbers(_name(call), spoken, spoken_in(call.outputs)[:1]))


def _numbers(name: bytes, spoken: Sequence[Message], answers: Sequence[Message]) -> Iterator[int]:
    asked = digested(spoken[-1])[1]
    if name:
        yield _number(name, asked)
        return
    if len(spoken) > 1 and spoken[0].role == "assistant":
        yield _number(digested(spoken[0])[1], asked)
    if answers:
        yield _number(asked, digested(answers[0])[1])


def _name(call: Call) -> bytes:
    return (call.conversation or call.session or "").encode("utf-8", "replace")


def _number(first: bytes, second: bytes) -> int:
    return number_of(blake2b(first + second, digest_size=SHORT).digest())
