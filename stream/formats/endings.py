"""The end of a history, by which a call without an id is recognised that repeats no more of it, or not word by word.

    call 1   sends: "Context: … Question: How?"          gets: So.
    call 2   sends: How? So. Why?                        gets: Because.    its history is not what call 1 said
    call 3   sends: Why? Because. And?                   gets: That.       its history begins in the middle

Who goes on from such an end repeats its last question, or what of it the user typed, and its last two answers as they
were given. Where the question does not come back, answers do that are long and were given once in the whole log. Where
all answers come back altered (cut, or with their sources), the last questions do, or how the last answer began.
"""

import re
from collections.abc import Sequence
from hashlib import blake2b
from typing import NamedTuple

from turnsignal.stream.formats.protocol import Message
from turnsignal.stream.formats.repeats import TELLING, likeness_of

DIGEST = 12  #: bytes
_BEGUN = 20  #: characters of an answer
_LETTERS = 20  #: of a question, and of its answer
_READ = 400  #: characters at the end of a question
_LABEL = re.compile(
    r"^\W{0,4}(?:[\w']{1,12} ){0,3}"
    r"(?:question|query|input|message|request|frage|anfrage|pregunta|domanda|pergunta|vraag)\W{0,3}:\s*",
    re.IGNORECASE | re.MULTILINE,
)
_CLOSED = re.compile(r"(?:</[^<>]*>\s*)+$")


class End(NamedTuple):
    """What the last answers of a history are recognised by.

    words: digests of the answer before the last, where there is one, of the last question's core, and of the last
    answer, each DIGEST bytes long; empty where nobody answered; questions: digests of the last two questions that were
    answered, where there are two, and of the last one with how its answer began; is_telling, are_answers_telling:
    whether the last messages, or the answers among them, are so long that nobody says them by chance; begun: a digest
    of the core of a last question with more behind it, where that is another; alike: one of the last question and
    answer as they come back cut, escaped or masked, empty where they are short; is_cut: no question stands before the
    answers.
    """

    words: bytes
    questions: bytes
    is_telling: bool
    are_answers_telling: bool
    begun: bytes = b""
    alike: bytes = b""
    is_cut: bool = False


NO_END = End(b"", b"", is_telling=False, are_answers_telling=False)


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
    return _unquoted(line)


def _core_before_more(question: str) -> str:
    """Return the same of a question with more behind it: of the paragraph with its label, else of the first one.

    >>> _core_before_more("Context: a\\n\\nQuestion: How?\\n\\nBe brief."), _core_before_more("How?\\n\\nContext: none")
    ('How?', 'How?')
    """
    text = question.lstrip()[:_READ]
    for label in _LABEL.finditer(tail := question[-_READ:]):
        text = tail[label.end() :]
    paragraph, empty, _ = text.partition("\n\n")
    return core_of(paragraph) if empty else _unquoted(text.partition("\n")[0])


def _unquoted(line: str) -> str:
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
    core = _digest(core_of(question).encode("utf-8", "replace"))
    begun = _digest(_core_before_more(question).encode("utf-8", "replace"))
    words = b"".join((*(digest for _, digest in answers[1:]), core, answers[0][1]))
    length = sum(len(message.text) for message, _ in answers)
    return End(
        words,
        _questions_of(messages),
        is_telling=length + len(question) >= TELLING,
        are_answers_telling=length >= TELLING,
        begun=begun if begun != core else b"",
        alike=_alike(question, answers[0][0].text),
        is_cut=not any(message.role == "user" for message, _ in messages[:-1]),
    )


def _alike(question: str, answer: str) -> bytes:
    """Return a digest of the first letters of a question and of its answer; nothing where they are few."""
    letters = [likeness_of(text)[:_LETTERS] for text in (question, answer)]
    is_telling = len("".join(letters)) >= 2 * _LETTERS
    return _digest("\0".join(letters).encode("utf-8", "replace")) if is_telling else b""


def _questions_of(messages: Sequence[tuple[Message, bytes]]) -> bytes:
    """Return digests of the last two questions that were answered, and of the last one with how its answer began."""
    last = max(at for at, (message, _) in enumerate(messages) if message.role == "assistant")
    begun = messages[last][0].text[:_BEGUN].encode("utf-8", "replace")
    asked = [digest for message, digest in messages[:last] if message.role == "user"][-2:]
    both = [b"".join(asked)] if asked[1:] else []
    return b"".join(_digest(words) for words in (*both, begun + b"\0" + b"".join(asked[-1:])))


def _digest(words: bytes) -> bytes:
    return blake2b(words, digest_size=DIGEST).digest()


def word_by_word(end: End) -> End:
    """Return an end that is looked for by its last question and two answers alone, or not at all.

    Records of all that was said begin alike in many conversations; one that is cut goes on from so much.
    """
    is_two = len(end.words) > 2 * DIGEST
    return End(end.words, b"", is_telling=False, are_answers_telling=False) if is_two and end.is_telling else NO_END


def sought_by(end: End) -> list[bytes]:
    """Return by what a call looks for the end that its history has: its words, then what suffices where it is long.

    That are the answers alone, the last exchange alone, as behind a summary, and the questions.
    """
    alone = [_answers_of(end.words)] if end.are_answers_telling else []
    others = [end.words[-2 * DIGEST :], *_each(end.questions)] if end.is_telling else []
    others += [end.alike] if end.alike else []
    return list(dict.fromkeys((end.words, *alone, *others)))


def known_by(end: End) -> set[bytes]:
    """Return by what an end may be looked for: by two answers or one, with the question or without, by questions."""
    words, last = end.words, end.words[-2 * DIGEST :]
    if not words:
        return set()
    begun = [ended[: -2 * DIGEST] + end.begun + ended[-DIGEST:] for ended in (words, last) if end.begun]
    begun += [end.alike] if end.alike else []
    return {words, _answers_of(words), last, _answers_of(last), *_each(end.questions), *begun}


def last_answer_of(end: End) -> bytes:
    """Return by what the last answer of an end alone is looked for."""
    return end.words[-DIGEST:]


def _each(digests: bytes) -> list[bytes]:
    return [digests[at : at + DIGEST] for at in range(0, len(digests), DIGEST)]


def _answers_of(words: bytes) -> bytes:
    return words[: -2 * DIGEST] + words[-DIGEST:]
