"""What stands beside messages: the question that they are the history of, and what came back.

    {"history": [{"role": …}, …], "question": "How?", "answer": "So."}     question, answer
    {"prompt": [{"role": …}, …], "response_id": "r1", "text": "So."}        (the messages end with the question) text

Names alone do not tell an answer from its id, its state or its time: its values are looked at, and what later records
repeat as the assistant's words is the answer, whatever its name.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from turnsignal.stream.formats.messages import read_message, read_messages, spoken
from turnsignal.stream.formats.one_text import words_in
from turnsignal.stream.formats.protocol import Message, Record
from turnsignal.stream.formats.values import mapping, nested, seconds
from turnsignal.stream.formats.vendors import vendor_of

_KEYS = 40  #: beside messages that are looked at
_REPEATED = 20  #: characters of a text that nobody repeats by chance
_MANY = 3  #: records of which one text is said in all is no answer
_HOLDING = {"body", "text", "content", "contents", "message", "messages", "payload", "json", "data", "object", "string"}
_ANSWERS = {"answer", "answers", "response", "responses", "output", "outputs", "completion", "completions", "reply"}
_ANSWERS |= {"replies", "result", "results", "generation", "generations", "generated", "assistant", "bot", "ai"}
_QUESTIONS = {"question", "query", "input", "inputs", "prompt", "user", "human", "customer", "request", "utterance"}
_ASKED = {"question", "query", "utterance"}  #: of them, what can be nothing else
_NEITHER = {"id", "status", "state", "time", "at", "ms", "type", "kind", "model", "code", "reason", "source", "format"}
_NEITHER |= {"token", "tokens", "count", "score", "latency", "duration", "error", "name", "class", "url", "path"}
_NEITHER |= {"expected", "reference", "ideal", "gold", "golden", "target", "truth", "rejected", "previous", "system"}
_NEITHER |= {"template", "instruction", "instructions", "standalone", "rewritten", "condensed", "rephrased"}
_WORDED = 5  #: texts of which one is of several words at least, as "Tomorrow." is an answer, too
_EAST = "\u2e80"  #: from here on scripts are written without spaces


class Beside(NamedTuple):
    """Keys of what stands beside messages. question: empty where they end with it; answer: where none is known."""

    question: str
    answer: str


class Occurrence(NamedTuple):
    """Messages as a record has them, none where nothing was said before, and the objects that hold them."""

    messages: Any
    holders: Sequence[Record]

    def beside(self, key: str) -> Any:
        """Return what stands under a key in the innermost of the objects that has it."""
        return next((nested(holder[key]) for holder in self.holders if key in holder), None)


def find_beside(occurrences: Sequence[Occurrence], path: Sequence[str]) -> Beside | None:
    """Find the answer beside messages, and the question where they are its history; None without either.

    An answer that nobody can tell is empty. path: keys that lead to the messages, and so to no question.
    """
    histories = [_spoken_in(each.messages) for each in occurrences]
    known = {
        role: {message.text.strip() for history in histories for message in history if message.role == role}
        for role in ("user", "assistant")
    }
    columns = {
        key: [each.beside(key) for each in occurrences]
        for key in dict.fromkeys(key for each in occurrences for key in _keys(each, path))
    }
    ends = Counter(history[-1].role for history in histories if history)
    question = ""
    if ends["assistant"] >= ends["user"]:
        question = _best(columns, "user", _QUESTIONS, known["user"], histories) or ""
        if not question:
            return None  # the messages are the whole of what was said
    others = {key: values for key, values in columns.items() if key != question}
    answer = _best(others, "assistant", _ANSWERS, known["assistant"], histories)
    if answer is None:
        return Beside(question, "") if set(words_in(question)) & _ASKED else None
    return Beside(question, answer)


def find_response(occurrences: Sequence[Occurrence]) -> Beside | None:
    """Find what a vendor's API returned, beside the request that it answers; None without any."""
    requests = [each for each in occurrences if isinstance(each.messages, dict)]
    keys = Counter(key for each in requests for key in each.holders[0] if vendor_of(mapping(each.beside(key))))
    return next((Beside("", key) for key, times in keys.most_common(1) if 2 * times > len(occurrences)), None)


def asked_in(occurrence: Occurrence, question: str) -> list[Any]:
    """Return the messages of a request, with the question behind its history."""
    messages = occurrence.messages if isinstance(occurrence.messages, list) else []
    text = occurrence.beside(question) if question else None
    if not isinstance(text, str) or not text.strip():
        return messages
    last = read_message(messages[-1], Counter()) if messages and isinstance(messages[-1], dict) else None
    is_there = last is not None and last.role == "user" and text.strip() in last.text
    return messages if is_there else [*messages, {"role": "user", "content": text}]


def answer_in(value: Any) -> Any:
    """Return an answer as chat interfaces have it: the last message of a list, the text in an object."""
    if not isinstance(value, dict | list) or "choices" in mapping(value):
        return value
    answers = [message for message in read_messages(value, Counter()) if message.role == "assistant"]
    if isinstance(value, list):
        return {"role": "assistant", "content": answers[-1].text} if answers else value
    texts = [] if answers else spoken(value, "assistant", Counter())
    return texts[-1].text if texts else value


def _keys(occurrence: Occurrence, path: Sequence[str]) -> Iterator[str]:
    for holder in occurrence.holders[:2]:
        for key in list(holder)[:_KEYS]:
            if isinstance(key, str) and key not in path and not _NEITHER & set(words_in(key)):
                yield key


def _spoken_in(messages: Any) -> list[Message]:
    return [message for message in read_messages(messages, Counter()) if message.role in ("user", "assistant")]


def _best(
    columns: dict[str, list[Any]], role: str, names: set[str], known: set[str], histories: Sequence[Sequence[Message]]
) -> str | None:
    """Return the key under which most of what somebody says stands, by what is repeated of it, then by its name."""
    ranks: dict[str, tuple[int, int, float]] = {}
    for key, values in columns.items():
        texts = [_text(value, role) for value in values]
        words = words_in(key)
        bare = [word for word in words if word not in _HOLDING] or (words if role == "user" else [])
        is_named = bool(bare) and (bare[-1] in names or (role == "user" and bare[-1] in _HOLDING))
        are_messages = 2 * sum(map(_is_spoken, values)) > sum(map(bool, texts)) > 0
        if not (are_messages or _is_speech(texts, is_named=is_named)) or _is_within(texts, role, histories):
            continue
        repeated = sum(len(text) >= _REPEATED and text in known for text in texts)
        if repeated or is_named:
            ranks[key] = (repeated, -len(words) if is_named else -_KEYS, sum(map(len, texts)) / len(texts))
    return max(sorted(ranks), key=ranks.__getitem__, default=None)


def _text(value: Any, role: str) -> str:
    """Return the text that a value holds, empty where it holds none."""
    if isinstance(value, str):
        return value.strip()
    if not isinstance(value, dict | list) or not value:
        return ""
    read = [message for message in spoken(value, role, Counter()) if message.role == role]
    return read[-1].text.strip() if read else ""


def _is_spoken(value: Any) -> bool:
    """Say whether a value is messages of chat interfaces, or choices of them, rather than a text."""
    return isinstance(value, dict | list) and bool("choices" in mapping(value) or read_messages(value, Counter()))


def _is_speech(texts: Iterable[str], *, is_named: bool) -> bool:
    """Say whether texts are what people or models say, rather than ids, times, states or one text for all.

    is_named: they stand under a name of what is said, where a service that fails says one sentence to all.
    """
    given = [text for text in texts if text]
    worded = sum((" " in text or max(text) >= _EAST) and seconds(text) is None for text in given)
    is_one = len(given) >= _MANY and len(set(given)) == 1
    return bool(given) and _WORDED * worded >= len(given) and (is_named or not is_one)


def _is_within(texts: Sequence[str], role: str, histories: Sequence[Sequence[Message]]) -> bool:
    """Say whether most texts stand among the messages beside them already; what many say proves nothing."""
    times = Counter(texts)
    pairs = [(text, each) for text, each in zip(texts, histories, strict=True) if text and times[text] < _MANY]
    within = sum(any(each.role == role and each.text.strip() == text for each in history) for text, history in pairs)
    return 2 * within > len(pairs)
