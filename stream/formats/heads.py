"""Heads: what `linking` has to know of a call, digests of what was said before and after it.

Only these are held in memory, some hundred bytes a call.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from hashlib import blake2b
from itertools import islice
from sys import intern, maxsize
from typing import NamedTuple

from turnsignal.stream.formats.endings import DIGEST, NO_END, End, end_of, word_by_word
from turnsignal.stream.formats.messages import shown_of, spoken_in
from turnsignal.stream.formats.protocol import Call, Message
from turnsignal.stream.formats.repeats import TELLING

APART = 60.0  #: seconds between the beginnings of conversations that have no times
_ENDS = 8  #: in a history, where another call may have ended
_MARKS = re.compile(r"[\[【][^\[\]【】]{1,64}[\]】](?!\()")
_OWN = 20  #: characters of a message that not everybody says
_SIGNS = ".,;:!?"
_APART = 1.0  #: seconds between two messages that were said one after the other
_HELD, _HELD_TEXT = 4_096, 2_000  #: texts whose digests are held, and characters of one

Who = tuple[str | None, str | None, str | None]  #: an assistant, a user, and an id that others may have as well


class Head(NamedTuple):
    """What `link` has to know of a call: its number, its ids, and digests of what was said before and after it.

    start, messages, line, number: calls are taken in this order; number is also the place in the list; who: assistant,
    user, and an id that others may have as well, None for what it does not name; before: where in its history another
    call may have ended, the last first, each DIGEST bytes long; asked, after: what was said before and after its
    answer; answered: not for the first time; repeats, leaves: the end of its history before and after its answer;
    earlier: like before, of the answers before the last one, of which so many are telling; request: an id that calls
    of one question share; said_at: when the first message was said, by its own time;
    is_own: whether it sends one message alone, with more words than everybody says; is_finished: whether it is a record
    of all that was said, without times.
    """

    start: float
    messages: int
    line: int
    number: int
    origin: str
    conversation: str | None
    response: str | None
    previous: str | None
    who: Who
    before: bytes
    asked: bytes
    after: bytes
    answered: bool
    repeats: End = NO_END
    leaves: End = NO_END
    earlier: bytes = b""
    telling: int = 0
    request: str | None = None
    said_at: float | None = None
    is_own: bool = False
    is_finished: bool = False

    @property
    def is_answered(self) -> bool:
        """Whether it got an answer, or called a tool."""
        return self.after != self.asked


def head_of(number: int, call: Call, sent: bytes = b"") -> Head:
    """Work out what `link` has to know of a call; of one that names its conversation, it is little.

    sent: the history before its question, as `history_in` gives it, where another call sent that.
    """
    if call.conversation is not None:
        start, conversation = in_order(call)[0], intern(call.conversation)
        who = _who(None, _known(call.fields.get("user_id")), None)
        return Head(start, 0, 0, number, "", conversation, call.response, None, who, b"", b"", b"", answered=False)
    inputs, outputs = call.inputs, call.outputs
    is_whole = not outputs and bool(inputs) and inputs[-1].role == "assistant"  # nobody words it anew
    if is_whole and not inputs[-1].called:
        inputs, outputs = inputs[:-1], inputs[-1:]  # a record of all that was said ends with its own answer
    history = _History()
    history.recall(sent)
    for message in inputs:
        history.take(message)
    before, answered, asked = history.ends(), history.answered, history.said
    earlier = history.earlier()
    # Of finished conversations without times, in which others may say the same, nobody goes on word by word alone.
    is_finished = is_whole and call.start is None
    repeats = NO_END if is_finished else word_by_word(end_of(history.spoken)) if is_whole else end_of(history.spoken)
    repeats = _end_in(sent) if sent else repeats
    is_own = not sent and len(history.spoken) == 1 and len(history.spoken[0][0].text.strip()) >= _OWN
    for message in first_choice(outputs):
        history.take(message)
    is_answer = bool(spoken_in(outputs))
    after = history.said if is_answer else history.called
    leaves = end_of(history.spoken) if is_answer and not is_finished else NO_END
    who = _who(_known(call.fields.get("assistant")), _known(call.fields.get("user_id")), call.named)
    order = (*in_order(call), number)
    named = (*order, call.origin, None, call.response, call.previous, who)
    said_at = _first_said(history.spoken)
    of_words = before, asked, after, answered, repeats, leaves, *earlier
    return Head(*named, *of_words, said_at=said_at, is_own=is_own, is_finished=is_finished)


def history_in(messages: Sequence[Message]) -> bytes:
    """Return of what was said before a question what `head_of` needs: bytes, as many calls have one.

    By what its end is known, then each message, an answer or not, by its digest.
    """
    spoken = [(message, digested(message)[1]) for message in messages]
    end = end_of(spoken)
    if not end.words:
        return b""
    known = bytes((end.is_telling, end.are_answers_telling)) + end.words[-2 * DIGEST :][:DIGEST]
    return known + b"".join(bytes((message.role == "assistant",)) + digest for message, digest in spoken)


def _said_in(history: bytes) -> list[tuple[bool, bytes]]:
    """Return of each message of a history whether it is an answer, and its digest."""
    starts = range(2 + DIGEST, len(history), 1 + DIGEST)
    return [(bool(history[at]), history[at + 1 : at + 1 + DIGEST]) for at in starts]


def _end_in(history: bytes) -> End:
    """Return by what the end of a history is known."""
    answers = [digest for is_answer, digest in _said_in(history) if is_answer]
    words = b"".join((*answers[-2:-1], history[2 : 2 + DIGEST], answers[-1]))
    return End(words, b"", is_telling=bool(history[0]), are_answers_telling=bool(history[1]))


def _first_said(spoken: Sequence[tuple[Message, bytes]]) -> float | None:
    """Return when the first message was said, by its own time; None where none is logged.

    Nor where the next was said at that moment, too: then a program gave its messages a time as it sent them.
    """
    first = spoken[0][0].time if spoken else None
    if first is None:
        return None
    times = (message.time for message, _ in islice(spoken, 1, None))
    following = next((time for time in times if time is not None), None)
    return first if following is None or following - first >= _APART else None


def digested(message: Message) -> tuple[str, bytes]:
    """Return a message's role, and a digest of its words; spaces do not count, nor do marks of an answer's sources."""
    text = message.text
    return message.role, (_digest_again if len(text) <= _HELD_TEXT else _digest)(message.role, text)


def _digest(role: str, text: str) -> bytes:
    if role != "assistant":
        words = " ".join(text.split())
    else:  # many apps keep an answer without the marks, and send that again
        words = " ".join(shown_of(text).split())
        if "[" in words or "【" in words:
            words = _MARKS.sub("", words.replace(" [", "[").replace(" 【", "【"))
        for mark in _SIGNS:
            words = words.replace(f" {mark}", mark)
    return blake2b(f"{role}\0{words}".encode("utf-8", "replace"), digest_size=DIGEST).digest()


_digest_again = lru_cache(_HELD)(_digest)  # each message is looked at several times


def first_choice(outputs: list[Message]) -> list[Message]:
    """Leave out what a call answered, too, in other words: a history goes on from one choice."""
    others = {id(message) for message in spoken_in(outputs)[1:]}
    return [message for message in outputs if id(message) not in others] if others else outputs


def words_of(call: Call) -> bytes:
    """Return a digest of all that a call sent and got."""
    messages = (*call.inputs, *call.outputs)
    spelled = [f"{message.role}\0{message.text}\0{' '.join(message.called)}\0" for message in messages]
    return blake2b("".join(spelled).encode("utf-8", "replace"), digest_size=DIGEST).digest()


def in_order(call: Call) -> tuple[float, int, int]:
    """Order calls of one moment by their histories: one that goes on from another has a longer one.

    One that sends nothing that was said goes on by an id, from a tool's call or a response: it is none of the first.
    """
    length = len(call.inputs) if any(map(_is_said, call.inputs)) else maxsize
    return (call.start if call.start is not None else call.line * APART, length, call.line)


def _is_said(message: Message) -> bool:
    return message.role in ("user", "assistant") and bool(message.called or message.text.strip())


class _History:
    """What was said until now. said: its digest; called: with the calls of tools since; answered: a user's question."""

    def __init__(self) -> None:
        self.said = self.called = b""
        self.asked = self.answered = False
        self._said = self._called = blake2b(digest_size=DIGEST)
        self.spoken: list[tuple[Message, bytes]] = []  # each beside its digest
        self._ends: list[tuple[bool, bytes]] = []  # whether it is an answer
        self._length = 0  # characters of all answers
        self._long: list[bool] = []  # of each answer, whether it and those before it are enough to be known by
        self._asked = b""  # what was said before the last answer

    def take(self, message: Message) -> None:
        """Go on with a message; what a tool returned says nothing."""
        if message.called:
            self._called = self._called.copy()
            for called in message.called:
                self._called.update(f"\0{called}\0".encode("utf-8", "replace"))
            self.called = self._called.digest()
            self._ends.append((False, self.called))
        elif spoken_in([message]):
            digest = digested(message)[1]
            self.spoken.append((message, digest))
            self._length += len(message.text) if message.role == "assistant" else 0
            self._go_on(digest, is_answer=message.role == "assistant")

    def recall(self, history: bytes) -> None:
        """Begin with what another call sent of it."""
        for is_answer, digest in _said_in(history):
            self._go_on(digest, is_answer=is_answer)

    def _go_on(self, digest: bytes, *, is_answer: bool) -> None:
        self.asked = self.asked or not is_answer
        self._asked = self.said if is_answer else self._asked
        self._said.update(digest)
        self._called = self._said.copy()
        self.said = self.called = self._said.digest()
        if is_answer:
            self.answered = self.answered or self.asked
            self._ends.append((True, self.said))
            self._long.append(self._length >= TELLING)

    def ends(self) -> bytes:
        """Return where another call may have ended, the last first: the last answer, calls of tools, its question.

        The question is where a call ended of which the answer is not logged.
        """
        answers = 0
        chosen: list[bytes] = []
        for is_answer, digest in reversed(self._ends):
            answers += is_answer
            if not is_answer or answers == 1:
                chosen.append(digest)
        return b"".join((*chosen[:_ENDS], self._asked))

    def earlier(self) -> tuple[bytes, int]:
        """Return where it had come to earlier, the last first, and how many of them are known by what was said.

        What followed was said by others, or is not logged.
        """
        ends = [digest for is_answer, digest in self._ends if is_answer]
        return b"".join(ends[-_ENDS - 1 : -1][::-1]), sum(self._long[-_ENDS - 1 : -1])


@lru_cache(4096)
def _who(assistant: str | None, user: str | None, named: str | None) -> Who:
    return assistant, user, named


def _known(value: object) -> str | None:
    return None if value is None else str(value)
