"""The end of a history, by which a call without an id is recognised that repeats no more of it, or not word by word.

    call 1   sends: "Context: … Question: How?"          gets: So.
    call 2   sends: How? So. Why?                        gets: Because.    its history is not what call 1 said
    call 3   sends: Why? Because. And?                   gets: That.       its history begins in the middle

Who goes on from such an end repeats its last question, or what of it the user typed, and its last two answers as they
were given. Where the question does not come back, answers do that are long and were given once in the whole log.
"""

import re
from collections.abc import Sequence
from hashlib import blake2b
from typing import NamedTuple

from turnsignal.stream.formats.protocol import Message
from turnsignal.stream.formats.repeats import TELLING

DIGEST = 12  #: bytes
_READ = 400  #: characters at the end of a question
_CLOSED = re.compile(r"(?:</[^<>]*>\s*)+$")


class End(NamedTuple):
    """What the last answers of a history are recognised by.

    words: digests of the answer before the last, where there is one, of the last question's core, and of the last
    answer, each DIGEST bytes long; empty where nobody answered. is_telling: whether the answers are long.
    """

    words: bytes
    is_telling: bool


NO_END = End(b"", is_telling=False)


def core_of(question: str) -> str:
    """Return the end of a question, which is the same with or without documents before it.

    >>> core_of("Context:\\n1. none\\n\\nQuestion: How?\\nHelpful answer:"), core_of("How?")
    ('How?', 'How?')
    """
    text = question[-_READ:].rstrip()
    if text.endswith(">"):
        text = _CLOSED.sub("", text)
    lines = text.splitlines()
    line = next((line for line in reversed(lines) if line.strip() and not line.rstrip().endswith(":")), text)
    return line.rpartition(": ")[2].rpartition(">")[2].strip(" \"'`")


def end_of(messages: Sequence[tuple[Message, bytes]]) -> End:
    """Return by what the end of a history is recognised; each message stands beside its digest."""
    answers: list[tuple[Message, bytes]] = []
    question = ""
    for message, digest in reversed(messages):
        if message.role == "assistant":
            answers.append((message, digest))
        elif len(answers) == 1 and not question:
            question = message.text
        if len(answers) == 2:
            break
    if not answers:
        return NO_END
    core = blake2b(core_of(question).encode("utf-8", "replace"), digest_size=DIGEST).digest()
    words = b"".join((*(digest for _, digest in answers[1:]), core, answers[0][1]))
    return End(words, is_telling=sum(len(message.text) for message, _ in answers) >= TELLING)


def answers_of(words: bytes) -> bytes:
    """Return of an end's words what is enough where nobody else was given it."""
    return words[: -2 * DIGEST] + words[-DIGEST:]


def known_by(words: bytes) -> set[bytes]:
    """Return by what an end's words may be looked for: by two answers or one, with the question or without."""
    last = words[-2 * DIGEST :]
    return {words, answers_of(words), last, answers_of(last)} if words else set()
