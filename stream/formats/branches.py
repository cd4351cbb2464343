"""Branches: what was said in a conversation beside what was said last.

    call 1   sends: How?             gets: So.         call 3   sends: How? So. When?   gets: Now.    instead of "Why?"
    call 2   sends: How? So. Why?    gets: Because.    call 4   sends: How? So. Why? Because. Who?    gets: They.

Call 4 goes back to the branch of call 2. So do chats beside each other under one id.
"""

from collections.abc import Sequence

from turnsignal.stream.formats.heads import digested
from turnsignal.stream.formats.protocol import Message
from turnsignal.stream.formats.repeats import CUT, READ, Passage, signs_of, typed

_ALIKE = 8  #: answers that begin alike, of which one may be what came back cut
_EXCHANGE = 2  #: messages that are a branch, at least
_TELLING = 2  #: letters and numbers of what is no emoji


class Branches:
    """What was said in a conversation, in whichever of its branches, by what was said right before it.

    By what words say, as `signs_of` reads it: histories come back without markup, cut, in other spaces.
    """

    def __init__(self) -> None:
        self._waiting: list[tuple[Message | None, Message]] = []  # each with the one before it
        self._after: dict[tuple[int, int], Message] = {}
        self._anywhere: dict[int, Message] = {}
        self._asked: dict[int, tuple[Message, int]] = {}  # an answer → what it was given to
        self._begun: dict[str, list[tuple[Message, int]]] = {}  # how answers begin → these

    def add(self, history: Passage, begun: int) -> None:
        """Take in what a history says from a place on."""
        messages = history.messages
        self._waiting += [(messages[at - 1] if at else None, messages[at]) for at in range(begun, len(messages))]

    def repeated_by(self, asked: Passage, outputs: Sequence[Message]) -> Passage:
        """Return the first messages of a call that were said one after the other, its answer among them."""
        self._take_in()
        known = Passage([], [])
        sent = [*asked.messages, *outputs[:1]]
        digests = [*asked.digests, *map(digested, outputs[:1])]
        before = 0
        for at, message in enumerate(sent):
            key = _key_of(message)
            original = self._after.get((before, key)) if at else self._anywhere.get(key)
            if original is None and at < len(asked.messages):
                answer = sent[at + 1] if message.role == "user" and at + 1 < len(asked.messages) else None
                original, key = self._asked_for(message, answer) or self._given_cut(message, before) or (None, key)
            if original is None:
                break
            known.messages.append(original)
            known.digests.append(digests[at])
            before = key
        return known if len(known.digests) >= _EXCHANGE else Passage([], [])

    def _take_in(self) -> None:
        """Index what was said since the last time; most conversations have no branches, and need none of it."""
        for previous, message in self._waiting:
            key = _key_of(message)
            self._anywhere[key] = message
            if message.role == "assistant":
                alike = self._begun.setdefault(signs_of(message.text)[0][:CUT], [])
                alike.append((message, key))
                del alike[:-_ALIKE]
            if previous is not None:
                before = _key_of(previous)
                self._after[before, key] = message
                if message.role == "assistant" != previous.role:
                    self._asked[key] = previous, before
        self._waiting.clear()

    def _asked_for(self, plain: Message, answer: Message | None) -> tuple[Message, int] | None:
        """Return the question that was sent with more around it, and got an answer."""
        sent = self._asked.get(_key_of(answer)) if answer is not None else None
        return sent if sent is not None and typed(sent[0].text, plain.text) else None

    def _given_cut(self, cut: Message, before: int) -> tuple[Message, int] | None:
        """Return the answer that came back cut, as it was given after the same question; before: 0 for any."""
        letters, numbers = signs_of(cut.text)
        alike = self._begun.get(letters[:CUT], ()) if cut.role == "assistant" and len(letters) >= CUT else ()
        after = ((each, key) for each, key in alike if not before or (before, key) in self._after)
        for each, key in after:
            given_letters, given_numbers = signs_of(each.text)
            if given_letters.startswith(letters) and given_numbers.startswith(numbers):
                return each, key
        return None


def _key_of(message: Message) -> int:
    """Return what a message is known by: its letters and numbers, where these tell it from others."""
    letters, numbers = signs_of(message.text)
    if len(letters) + len(numbers) < _TELLING or len(message.text) > READ:
        return hash(digested(message))
    return hash((message.role, letters, numbers))
