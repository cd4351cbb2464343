"""Asides: calls that answered nobody, in a log without traces to tell them by.

    call 1   a classifier's instructions, "Where is my card?"             gets: billing
    call 2   the assistant's instructions, "Where is my card?"            gets: In the app, under Cards.
    call 3   "A title for: Where is my card? In the app, under Cards."    gets: {"title": "Card"}

Call 1 is one: no history has an answer that was given under its instructions, and what it asks, or quotes, is asked
under others, whose answers come back. Call 3 is one, as it quotes the exchange before it.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence, Set
from hashlib import blake2b
from itertools import islice
from typing import NamedTuple

from turnsignal.stream.formats.heads import Head, digested
from turnsignal.stream.formats.instructions import instructions_of, lasting
from turnsignal.stream.formats.messages import spoken_in
from turnsignal.stream.formats.protocol import Call, Message
from turnsignal.stream.formats.quotations import SHORT, digest_of, digests_quoted, template_of
from turnsignal.stream.text.visible import one_line

LEFT_OUT = "calls beside the conversation left out: intents, titles and the like"
TO_KEEP = "read them with `turnsignal convert FILE --keep-asides --out turns.jsonl`"
_NOTHING = bytes(SHORT)
_NO_INSTRUCTIONS = digest_of("")
_FIRST = 8  #: messages in which the first exchange is looked for
_FEWEST = 3  #: calls under instructions that answer nobody,
_SHARE = 0.5  #: and how many of them are about what others are: those fail, or are spared
TOGETHER = 120.0  #: seconds between calls that ask the same,
_RARE = 12  #: and calls that say so at most: a greeting or a form's lines are everybody's
_LOOKED_AT = 100
_BACK = 50  #: of so many one may come back by chance
_SHOWN = 60  #: characters of an answer
_READ = 200  #: characters of what is asked, in which it is told that something is to be translated
_TRANSLATES = re.compile(r"\b(?:translat|[üu]bersetz|tradu[czi]|vertaal)", re.IGNORECASE)
_AT_LENGTH = 9  #: words
_OWN = 40  #: characters of a question and its answer that others are not likely to say, too


def opening_of(call: Call, framed: str = "") -> bytes:
    """Return digests of a call's instructions, question and answer, and of what tells others like it.

    The answer as a history repeats it, and as a user would, and the exchange; the first exchange, the last answer, the
    last exchange and the first answer that are sent before the question; and, where that is more than one plain line,
    how it begins and what it may quote. Each is SHORT bytes long; b"" where it is no call. framed: what it quotes, as
    the log shows.
    """
    spoken = spoken_in(call.inputs)
    if not spoken or not call.outputs or spoken[-1].role != "user":
        return b""
    instructions, question = lasting(instructions_of(call)), spoken[-1].text
    answers = spoken_in(call.outputs)[:1]
    answer = digested(answers[0])[1][:SHORT] + digest_of(answers[0].text.strip()) if answers else 2 * _NOTHING
    opening = digest_of(instructions) + digest_of(question.strip()) + answer + _last_of([*spoken[-_FIRST:], *answers])
    before = _before(spoken)
    if quoted := digests_quoted(question) + (digest_of(framed) if framed else b""):
        begun = digest_of(f"{instructions}\0{template_of(question)}")
        return opening + (before or 4 * _NOTHING) + begun + quoted
    return opening + before


def begun_by(opening: bytes) -> tuple[bytes, bytes, bytes]:
    """Return the digests of a call's instructions, and of the first exchange and answer that it sends, or nothing."""
    return _instructions(opening), _something(_exchange(opening)), _something(opening[8 * SHORT : 9 * SHORT])


def sends_history(opening: bytes) -> bool:
    """Say whether the call of an opening sends an exchange before its question."""
    return _something(_exchange(opening)) != b""


def quoted_by(opening: bytes) -> Iterator[bytes]:
    """Give the digests of what the question of a call may quote."""
    return _quoted(opening)


def history_of(opening: bytes) -> bytes:
    """Return digests of what a call sends before its question, b"" without an exchange."""
    return opening[5 * SHORT : 9 * SHORT] if sends_history(opening) else b""


class LeftOut:
    """Calls that were left out as asides, though a user may have read what they answered."""

    def __init__(self) -> None:
        self._calls = self._at_length = self._translated = 0
        self._shown = ""

    def add(self, call: Call) -> None:
        """Take in a call that was left out."""
        text = "".join(message.text for message in spoken_in(call.outputs)[:1]).strip()
        asked = (instructions_of(call), *(message.text[:_READ] for message in spoken_in(call.inputs)[-1:]))
        if _TRANSLATES.search("\n".join(asked)):
            self._translated += 1
            return
        self._calls += 1
        if len(text.split(None, _AT_LENGTH)) >= _AT_LENGTH and not text.startswith(("{", "[")):
            self._at_length += 1
            self._shown = self._shown or one_line(text, _SHOWN)

    def doubts(self, *, quoted: bool) -> list[str]:
        """Say how to read them where most answer at length. quoted: with the first answer of them."""
        doubts = []
        if self._translated:
            doubts.append(
                f"{self._translated:,} calls that translate what is asked, or answered, are left out, and what was "
                "said is read in the language in which histories have it: to read what users typed and saw, log that "
                "beside the calls (a record for each exchange, or a root span with its input and output)"
            )
        if 2 * self._at_length > self._calls:
            shown = f", such as “{self._shown}”" if quoted else ""
            doubts.append(
                f"{self._calls:,} calls are left out as beside the conversation, as their answers come back in no "
                f"history{shown}: where users saw these, {TO_KEEP}"
            )
        return doubts


def shown_examples(openings: Sequence[bytes]) -> set[bytes]:
    """Return the instructions under which every call sends the same exchanges, as a prompt's examples are."""
    sent: dict[bytes, bytes] = {}
    times = Counter[bytes]()
    others: set[bytes] = set()
    for opening in openings:
        if opening and (under := _instructions(opening)) not in others:
            times[under] += 1
            if not (history := history_of(opening)) or sent.setdefault(under, history) != history:
                others.add(under)
                sent.pop(under, None)
    return {under for under in sent if times[under] >= _FEWEST}


def asides_in(openings: Sequence[bytes], heads: Sequence[Head]) -> set[int]:
    """Return the numbers of calls that answer nobody, by their openings."""
    shown = shown_examples(openings)
    sending = [opening for opening in openings if sends_history(opening) and _instructions(opening) not in shown]
    repeated = set(map(_last_answer, sending))
    answering = [opening for opening in openings if answer_of(opening) in repeated] or sending  # or they come altered
    translated = _translated(openings, answering, sending)
    answering = [*answering, *_drafts(openings, answering, translated)]
    suspicions = _suspicions(openings, answering, translated)
    if not suspicions or not answering:
        return set()
    others = _Others(openings, heads, set(map(_instructions, answering)), suspicions)
    calls, beside = Counter[bytes](), Counter[bytes]()
    for suspicion in suspicions:
        calls[suspicion.under] += 1
        beside[suspicion.under] += others.are_beside(suspicion)
    usual = {under for under, times in calls.items() if times >= _FEWEST and beside[under] >= _SHARE * times}
    return {suspicion.at for suspicion in suspicions if suspicion.under in usual}


def _drafts(openings: Sequence[bytes], answering: Sequence[bytes], translated: Set[bytes]) -> list[bytes]:
    """Return the calls under instructions whose answers, each another one, are what the answering ones are asked.

    translated: instructions under which that is the question itself.
    """
    asked = set(map(question_of, answering))
    calls = Counter(map(_instructions, openings))
    drafts = {(_instructions(opening), _plain_answer(opening)) for opening in openings} if asked else set()
    sent_on = Counter(under for under, answer in drafts if answer in asked and under not in translated)
    return [opening for opening in openings if 2 * sent_on[_instructions(opening)] >= calls[_instructions(opening)]]


def _translated(openings: Sequence[bytes], answering: Sequence[bytes], sending: Sequence[bytes]) -> set[bytes]:
    """Return the instructions under which questions are put into other words, and histories have them in these.

    What is sent on of others is a draft: histories have what its user asked.
    """
    conversing, asked = set(map(_instructions, answering)), set(map(question_of, answering))
    returned = set(map(last_exchange, sending)) - {b""}
    kept = {question_of(opening) for opening in answering if exchange_of(opening) in returned}
    got = {(_instructions(opening), _plain_answer(opening)) for opening in openings if opening} if kept else set()
    times = Counter(under for under, _ in got if under not in conversing)  # of each answer once: many say yes
    sent_on = Counter(under for under, answer in got if answer in asked)
    back = Counter(under for under, answer in got if answer in kept)
    return {
        under
        for under, n in times.items()
        if n >= _FEWEST and sent_on[under] >= _SHARE * n and back[under] * _BACK >= max(sent_on[under], 1)
    }


class _Suspicion(NamedTuple):
    """A call that may answer nobody.

    under: its instructions, or how its prompt begins; question: of a call under instructions of its own, in the words
    that it puts it in, else b""; quoted: what it may quote.
    """

    at: int
    under: bytes
    question: bytes
    quoted: tuple[bytes, ...]


def _suspicions(openings: Sequence[bytes], answering: Sequence[bytes], translated: Set[bytes]) -> list[_Suspicion]:
    """Return the calls under instructions whose answers nobody repeats, and those with such a prompt.

    answering: the other calls; the prompt of a search quotes its question, too; translated: instructions under which
    others get their questions.
    """
    conversing, prompts = set(map(_instructions, answering)), set(map(_prompt, answering))
    suspicions = []
    for at, opening in enumerate(openings):
        instructions, prompt = _instructions(opening), _prompt(opening)
        if opening and instructions not in conversing:
            under = prompt if prompt and instructions == _NO_INSTRUCTIONS else instructions
            question = _plain_answer(opening) if instructions in translated else question_of(opening)
            suspicions.append(_Suspicion(at, under, question, tuple(_quoted(opening))))
        elif prompt and prompt not in prompts and not sends_history(opening):  # else its user quotes what was said
            suspicions.append(_Suspicion(at, prompt, b"", tuple(_quoted(opening))))
    return suspicions


class _Others:
    """The calls that answer somebody, by what they were asked, what their questions quote, and what they answered."""

    def __init__(
        self,
        openings: Sequence[bytes],
        heads: Sequence[Head],
        conversing: set[bytes],
        suspicions: Sequence[_Suspicion],
    ) -> None:
        self._openings = openings
        self._heads = heads
        self._asked: dict[bytes, list[int]] = {}
        self._quoting: dict[bytes, list[int]] = {}
        self._answered: dict[bytes, list[int]] = {}
        self._times: Counter[bytes] = Counter()  # of calls that ask or quote the same
        wanted = {digest for suspicion in suspicions for digest in (suspicion.question, *suspicion.quoted)}
        for at, opening in enumerate(openings):
            asked, quoted = wanted.intersection((question_of(opening),)), wanted.intersection(_quoted(opening))
            self._times.update(asked | quoted)
            if _instructions(opening) in conversing:
                answered = wanted.intersection((_plain_answer(opening),))
                by_place = (self._asked, asked), (self._quoting, quoted), (self._answered, answered)
                for places, digests in by_place:
                    for digest in digests:
                        places.setdefault(digest, []).append(at)

    def are_beside(self, suspicion: _Suspicion) -> bool:
        """Say whether one of them is about the same, at the same place."""
        digests = (suspicion.question, *suspicion.quoted) if suspicion.question else suspicion.quoted
        indices = (self._asked, self._answered, self._quoting) if suspicion.question else (self._asked, self._answered)
        own = self._openings[suspicion.at]
        return any(
            _are_different(own, other := self._openings[at])
            and not _goes_on(own, other)
            and self._are_together(suspicion.at, at, digest)
            for places in indices
            for digest in digests
            for at in islice(places.get(digest, ()), _LOOKED_AT)
        )

    def _are_together(self, at: int, other_at: int, digest: bytes) -> bool:
        """Say whether two calls are of one moment of a conversation: where not both name it, few say what both do."""
        head, other = self._heads[at], self._heads[other_at]
        if abs(head.start - other.start) > TOGETHER:
            return False
        if head.conversation is not None and other.conversation is not None:
            return head.conversation == other.conversation
        is_one = all(None in pair or pair[0] == pair[1] for pair in zip(head.who[1:], other.who[1:], strict=True))
        return is_one and self._times[digest] <= _RARE


def _are_different(opening: bytes, other: bytes) -> bool:
    """Say whether two calls are not one that was sent again, or went on with the results of a tool."""
    is_same_question = question_of(opening) == question_of(other) or _prompt(opening) == _prompt(other)
    return _instructions(opening) != _instructions(other) or not is_same_question


def _goes_on(opening: bytes, other: bytes) -> bool:
    """Say whether the last answer that a call sends is that of another: a user says "Yes" twice, or asks again."""
    return _last_answer(opening) == answer_of(other) != _NOTHING


def _instructions(opening: bytes) -> bytes:
    return opening[:SHORT]


def question_of(opening: bytes) -> bytes:
    """Return the digest of a call's question."""
    return opening[SHORT : 2 * SHORT]


def answer_of(opening: bytes) -> bytes:
    """Return the digest of a call's answer, as a history repeats it."""
    return opening[2 * SHORT : 3 * SHORT]


def _plain_answer(opening: bytes) -> bytes:
    return opening[3 * SHORT : 4 * SHORT]


def exchange_of(opening: bytes) -> bytes:
    """Return the digest of a call's question with its answer, and of those before where they are short, or nothing."""
    return _something(opening[4 * SHORT : 5 * SHORT])


def last_exchange(opening: bytes) -> bytes:
    """Return the digest of the last question with its answer that a call sends before its own; the same."""
    return _something(opening[7 * SHORT : 8 * SHORT])


def _something(digest: bytes) -> bytes:
    return b"" if digest == _NOTHING else digest


def _exchange(opening: bytes) -> bytes:
    return opening[5 * SHORT : 6 * SHORT]


def _last_answer(opening: bytes) -> bytes:
    return opening[6 * SHORT : 7 * SHORT]


def _prompt(opening: bytes) -> bytes:
    return opening[9 * SHORT : 10 * SHORT]


def _quoted(opening: bytes) -> Iterator[bytes]:
    return (opening[start : start + SHORT] for start in range(10 * SHORT, len(opening), SHORT))


def _last_of(spoken: Sequence[Message]) -> bytes:
    """Return a digest of the last exchange, with those before it where many say the same; of nothing where all do."""
    digests: list[bytes] = []
    length = 0
    for at in range(len(spoken) - 1, max(len(spoken) - _FIRST, 0) - 1, -1):
        message = spoken[at]
        digests.append(digested(message)[1])
        length += len(message.text)
        begins = message.role == "user" and (at == 0 or spoken[at - 1].role == "assistant")
        if begins and len(digests) > 1 and length >= _OWN:
            return blake2b(b"".join(reversed(digests)), digest_size=SHORT).digest()
    return _NOTHING


def _before(spoken: Sequence[Message]) -> bytes:
    """Return digests of the first exchange before a question, of the last answer and exchange, and of the first answer.

    Nothing without them.
    """
    exchange: list[bytes] = []
    for message in spoken[: min(_FIRST, len(spoken) - 1)]:
        if exchange or message.role == "user":
            role, digest = digested(message)
            exchange.append(digest)
            if role == "assistant":
                at = next(at for at in range(len(spoken) - 1, 0, -1) if spoken[at].role == "assistant")
                first = blake2b(b"".join(exchange), digest_size=SHORT).digest()
                last = digested(spoken[at])[1][:SHORT] + _last_of(spoken[max(at + 1 - _FIRST, 0) : at + 1])
                return first + last + digest[:SHORT]
    return b""
