"""Asides: calls that answered nobody, in a log without traces to tell them by.

    call 1   a classifier's instructions, "Where is my card?"             gets: billing
    call 2   the assistant's instructions, "Where is my card?"            gets: In the app, under Cards.
    call 3   "A title for: Where is my card? In the app, under Cards."    gets: {"title": "Card"}

Call 1 is one: no history has an answer that was given under its instructions, and what it asks is asked under others,
whose answers come back. Call 3 is one: it quotes the exchange before it, and gets a few words.
"""

import re
from collections import Counter
from collections.abc import Sequence
from hashlib import blake2b
from itertools import islice

from turnsignal.stream.formats.linking import Head, digested
from turnsignal.stream.formats.messages import spoken_in
from turnsignal.stream.formats.protocol import Assumed, Call, Message

LEFT_OUT = "calls beside the conversation left out: intents, titles and the like"
SHORT = 8  #: bytes of a digest
_NOTHING = bytes(SHORT)
_READ = 200  #: characters of the instructions
_FIRST = 8  #: messages in which the first exchange is looked for
_FEWEST = 3  #: calls under instructions that answer nobody,
_SHARE = 0.8  #: and how many of them ask what others ask
_TOGETHER = 120.0  #: seconds between calls that ask the same
_LOOKED_AT = 100
_BEFORE = 3  #: calls of a trace that a call may be about
_TRANSCRIPT = 8_000  #: characters at the end of a prompt, in which what was said may be quoted,
_QUOTATION = re.compile(r"^[ *#-]{0,8}(?:user|human|follow[ -]?up (?:input|question))[*\"]{0,3}: ?(.+)$", re.I | re.M)
_TITLE = 40  #: characters of the first line of such a prompt, to know others like it by
_VERDICT = 4  #: words that are more than a guard says
_AT_ONCE = 5.0  #: seconds after an answer, within which no person pastes it
_TITLED = 9  #: words that are more than a title has,
_QUOTES = "\"'”’*` "  #: and what may stand around one
_QUOTED = 8  #: characters that are no quotation by chance


def opening_of(call: Call) -> bytes:
    """Return digests of a call's instructions, its question and its answer, and of what it sends before its question.

    That are the first exchange, and the last answer. Each is SHORT bytes long; the last two are missing where a call
    begins with its question, all where it is no call.
    """
    spoken = spoken_in(call.inputs)
    if not spoken or not call.outputs or spoken[-1].role != "user":
        return b""
    instructions, question = instructions_of(call), spoken[-1].text
    if len(spoken) == 1 and (quoted := _QUOTATION.findall(question[-_TRANSCRIPT:])):
        instructions, question = instructions or question.partition("\n")[0][:_TITLE], quoted[-1]
    answer = next((digested(message)[1][:SHORT] for message in spoken_in(call.outputs)), _NOTHING)
    opening = _digest(instructions) + _digest(question.strip()) + answer
    exchange: list[bytes] = []
    for message in spoken[: min(_FIRST, len(spoken) - 1)]:
        if exchange or message.role == "user":
            role, digest = digested(message)
            exchange.append(digest)
            if role == "assistant":
                last = next(message for message in reversed(spoken) if message.role == "assistant")
                first = blake2b(b"".join(exchange), digest_size=SHORT).digest()
                return opening + first + digested(last)[1][:SHORT]
    return opening


def begun_by(opening: bytes) -> tuple[bytes, bytes]:
    """Return the digests of a call's instructions and of the first exchange that it sends, empty without one."""
    return opening[:SHORT], opening[3 * SHORT : 4 * SHORT]


def sends_history(opening: bytes) -> bool:
    """Say whether the call of an opening sends an exchange before its question."""
    return len(opening) > 3 * SHORT


def asides_in(openings: Sequence[bytes], heads: Sequence[Head]) -> set[int]:
    """Return the numbers of calls that answer nobody, by their openings."""
    repeated = {opening[4 * SHORT :] for opening in openings if sends_history(opening)}
    conversing = {opening[:SHORT] for opening in openings if opening[2 * SHORT : 3 * SHORT] in repeated}
    if not conversing:  # answers come back altered
        conversing = {opening[:SHORT] for opening in openings if sends_history(opening)}
    suspected = [at for at, opening in enumerate(openings) if opening and opening[:SHORT] not in conversing]
    if not suspected or not conversing:
        return set()
    wanted = {openings[at][SHORT : 2 * SHORT] for at in suspected}
    asked: dict[bytes, list[int]] = {}
    for at, opening in enumerate(openings):
        if opening[:SHORT] in conversing and (question := opening[SHORT : 2 * SHORT]) in wanted:
            asked.setdefault(question, []).append(at)
    together = [
        at for at in suspected if _is_asked_beside(heads[at], asked.get(openings[at][SHORT : 2 * SHORT], []), heads)
    ]
    calls, beside = (Counter(openings[at][:SHORT] for at in numbers) for numbers in (suspected, together))
    usual = {of for of, times in calls.items() if times >= _FEWEST and beside[of] >= _SHARE * times}
    return {at for at in suspected if openings[at][:SHORT] in usual}


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
    return is_short and len(answer) >= _QUOTED and question in sent[0].text and answer in sent[0].text


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


def _is_asked_beside(head: Head, others: Sequence[int], heads: Sequence[Head]) -> bool:
    return any(_are_together(head, heads[at]) for at in islice(others, _LOOKED_AT))


def _are_together(head: Head, other: Head) -> bool:
    if head.conversation is not None or other.conversation is not None:
        return head.conversation == other.conversation
    return abs(head.start - other.start) <= _TOGETHER


def _digest(text: str) -> bytes:
    return blake2b(text.encode("utf-8", "replace"), digest_size=SHORT).digest()
