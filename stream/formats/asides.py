"""Asides: calls that answered nobody, in a log without traces to tell them by.

    call 1   a classifier's instructions, "Where is my card?"             gets: billing
    call 2   the assistant's instructions, "Where is my card?"            gets: In the app, under Cards.
    call 3   "A title for: Where is my card? In the app, under Cards."    gets: {"title": "Card"}

Call 1 is one: no history has an answer that was given under its instructions, and what it asks, or quotes, is asked
under others, whose answers come back. Call 3 is one: it quotes the exchange before it, and gets a few words.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from hashlib import blake2b
from itertools import islice
from typing import NamedTuple

from turnsignal.stream.formats.linking import Head, digested
from turnsignal.stream.formats.messages import spoken_in
from turnsignal.stream.formats.protocol import Assumed, Call, Message
from turnsignal.stream.formats.quotations import SHORT, digest_of, quotations_in, template_of

LEFT_OUT = "calls beside the conversation left out: intents, titles and the like"
_NOTHING = bytes(SHORT)
_READ = 200  #: characters of the instructions
_FIRST = 8  #: messages in which the first exchange is looked for
_FEWEST = 3  #: calls under instructions that answer nobody,
_SHARE = 0.8  #: and how many of them ask what others ask
_TOGETHER = 120.0  #: seconds between calls that ask the same
_LOOKED_AT = 100
_BEFORE = 3  #: calls of a trace that a call may be about
_VERDICT = 4  #: words that are more than a guard says
_AT_ONCE = 5.0  #: seconds after an answer, within which no person pastes it
_TITLED = 9  #: words that are more than a title has,
_QUOTES = "\"'”’*` "  #: and what may stand around one
_QUOTED = 8  #: characters that are no quotation by chance,
_EXCHANGED = 16  #: and those of a question with its answer


def opening_of(call: Call) -> bytes:
    """Return digests of a call's instructions, its question and its answer, and of what tells others like it.

    These are the first exchange and the last answer that it sends before its question, and, where the question is more
    than one plain line, how it begins and what it may quote. Each is SHORT bytes long; b"" where it is no call.
    """
    spoken = spoken_in(call.inputs)
    if not spoken or not call.outputs or spoken[-1].role != "user":
        return b""
    instructions, question = instructions_of(call), spoken[-1].text
    answer = next((digested(message)[1][:SHORT] for message in spoken_in(call.outputs)), _NOTHING)
    opening = digest_of(instructions) + digest_of(question.strip()) + answer
    before = _before(spoken)
    if quotations := quotations_in(question):
        begun = digest_of(f"{instructions}\0{template_of(question)}")
        return opening + (before or 2 * _NOTHING) + begun + quotations
    return opening + before


def begun_by(opening: bytes) -> tuple[bytes, bytes]:
    """Return the digests of a call's instructions and of the first exchange that it sends, empty without one."""
    return _instructions(opening), opening[3 * SHORT : 4 * SHORT] if sends_history(opening) else b""


def sends_history(opening: bytes) -> bool:
    """Say whether the call of an opening sends an exchange before its question."""
    return opening[3 * SHORT : 4 * SHORT] not in (b"", _NOTHING)


def asides_in(openings: Sequence[bytes], heads: Sequence[Head]) -> set[int]:
    """Return the numbers of calls that answer nobody, by their openings."""
    repeated = {opening[4 * SHORT : 5 * SHORT] for opening in openings if sends_history(opening)}
    answering = [opening for opening in openings if _answer(opening) in repeated]
    if not answering:  # answers come back altered
        answering = [opening for opening in openings if sends_history(opening)]
    conversing = set(map(_instructions, answering))
    suspicions = _suspicions(openings, conversing, set(map(_prompt, answering)))
    if not suspicions or not conversing:
        return set()
    wanted = {question for suspicion in suspicions for question in suspicion.questions}
    asked: dict[bytes, list[int]] = {}
    for at, opening in enumerate(openings):
        if _instructions(opening) in conversing:
            for question in wanted.intersection((_question(opening), *_quoted(opening))):
                asked.setdefault(question, []).append(at)
    together = [suspicion for suspicion in suspicions if _is_asked_beside(suspicion, asked, heads)]
    calls, beside = (Counter(suspicion.under for suspicion in each) for each in (suspicions, together))
    usual = {under for under, times in calls.items() if times >= _FEWEST and beside[under] >= _SHARE * times}
    return {suspicion.at for suspicion in suspicions if suspicion.under in usual}


class _Suspicion(NamedTuple):
    """A call that may answer nobody. under: its instructions; questions: of which one is what it asks, or quotes."""

    at: int
    under: bytes
    questions: tuple[bytes, ...]


def _suspicions(openings: Sequence[bytes], conversing: set[bytes], answering: set[bytes]) -> list[_Suspicion]:
    """Return the calls under instructions whose answers nobody repeats, and those with such a prompt.

    conversing, answering: instructions and prompts of the other calls; that of a search quotes its question, too.
    """
    suspicions = []
    for at, opening in enumerate(openings):
        if opening and _instructions(opening) not in conversing:
            suspicions.append(_Suspicion(at, _instructions(opening), (_question(opening),)))
        if (prompt := _prompt(opening)) and prompt not in answering:
            suspicions.append(_Suspicion(at, prompt, tuple(_quoted(opening))))
    return suspicions


def _instructions(opening: bytes) -> bytes:
    return opening[:SHORT]


def _question(opening: bytes) -> bytes:
    return opening[SHORT : 2 * SHORT]


def _answer(opening: bytes) -> bytes:
    return opening[2 * SHORT : 3 * SHORT]


def _prompt(opening: bytes) -> bytes:
    return opening[5 * SHORT : 6 * SHORT]


def _quoted(opening: bytes) -> Iterator[bytes]:
    return (opening[start : start + SHORT] for start in range(6 * SHORT, len(opening), SHORT))


def _before(spoken: Sequence[Message]) -> bytes:
    """Return digests of the first exchange before a question, and of the last answer; nothing without them."""
    exchange: list[bytes] = []
    for message in spoken[: min(_FIRST, len(spoken) - 1)]:
        if exchange or message.role == "user":
            role, digest = digested(message)
            exchange.append(digest)
            if role == "assistant":
                last = next(message for message in reversed(spoken) if message.role == "assistant")
                return blake2b(b"".join(exchange), digest_size=SHORT).digest() + digested(last)[1][:SHORT]
    return b""


def without_asides(answers: Sequence[Call], assumed: Assumed) -> list[Call]:
    """Leave out of a trace's calls, in their order, those that are about one of the calls before them."""
    kept: list[Call] = []
    for call in answers:
        exchanges = ([*spoken_in(before.inputs)[-1:], *spoken_in(before.outputs)[:1]] for before in kept[-_BEFORE:])
        is_guard = any(_is_verdict(call, before) for before in kept[-_BEFORE:])
        if not is_guard and not any(is_about(call, exchange) for exchange in exchanges):
            kept.append(call)
    assumed[LEFT_OUT] += len(answers) - len(kept)
    return kept


def instructions_of(call: Call) -> str:
    """Return the beginning of what a call's system prompt says, empty without one."""
    return call.inputs[0].text[:_READ] if call.inputs and call.inputs[0].role == "system" else ""


def is_about(call: Call, exchange: Sequence[Message]) -> bool:
    """Say whether a call is about the exchange before it: it quotes question and answer at once, and gets few words."""
    sent, got = spoken_in(call.inputs)[-1:], spoken_in(call.outputs)[:1]
    if not sent or not got or [message.role for message in exchange] != ["user", "assistant"]:
        return False
    question, answer = (message.text.strip() for message in exchange)
    words = got[0].text.strip()
    is_title = len(words.split(None, _TITLED)) < _TITLED and not words.rstrip(_QUOTES).endswith((".", "?", "!", "…"))
    is_short = words.startswith(("{", "[")) or 2 * len(words) < len(answer) or is_title
    return is_short and bool(question and answer) and _quotes(sent[0].text, question, answer)


def _quotes(text: str, question: str, answer: str) -> bool:
    """Say whether a text quotes an exchange; few words may be there by chance, and stand in lines of their own."""
    if len(question + answer) >= _EXCHANGED:
        return answer in text.partition(question)[2]
    return bool(re.search(rf"\b{re.escape(question)}\s*\n.{{0,24}}\b{re.escape(answer)}", text))


def _is_verdict(call: Call, before: Call) -> bool:
    """Say whether a call is a guard's: right after an answer it sends that under other instructions, and gets a word.

    A step that polishes or translates the answer gets about as much as it sent.
    """
    sent, got, answer = (spoken_in(messages)[-1:] for messages in (call.inputs, call.outputs, before.outputs))
    if not sent or not got or not answer or instructions_of(call) == instructions_of(before):
        return False
    words, about = got[0].text.strip(), answer[0].text.strip()
    is_word = words.startswith(("{", "[")) or len(words.split(None, _VERDICT)) < _VERDICT
    is_at_once = before.end is None or call.start is None or call.start - before.end < _AT_ONCE
    return is_word and is_at_once and len(about) >= _QUOTED and len(words) < len(about) and about in sent[0].text


def _is_asked_beside(suspicion: _Suspicion, asked: dict[bytes, list[int]], heads: Sequence[Head]) -> bool:
    head = heads[suspicion.at]
    others = (at for question in suspicion.questions for at in islice(asked.get(question, ()), _LOOKED_AT))
    return any(at != suspicion.at and _are_together(head, heads[at]) for at in others)


def _are_together(head: Head, other: Head) -> bool:
    if head.conversation is not None or other.conversation is not None:
        return head.conversation == other.conversation
    return abs(head.start - other.start) <= _TOGETHER
