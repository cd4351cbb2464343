"""Bodies: the messages of a model's request or response, in whatever its vendor wraps them."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from itertools import product
from operator import itemgetter
from typing import Any, NamedTuple

from turnsignal.stream.formats.hints import paths_like
from turnsignal.stream.formats.messages import read_messages, role_of, spoken_in
from turnsignal.stream.formats.pieces import joined
from turnsignal.stream.formats.protocol import Assumed, Message
from turnsignal.stream.formats.streams import is_stream
from turnsignal.stream.formats.values import at_path, mapping, nested

_DEPTH = 4  #: objects within objects in which messages are looked for
_TRIED = 50  #: records in which messages are looked for
_RARE = 4  #: of so many records one has a list of what was said before
_MOST = 0.8  #: of them that have to be messages
_WRAPPERS = ("messages", "contents", "choices", "candidates", "message", "output", "input", "content")


def messages_in(value: Any, assumed: Assumed) -> list[Message]:
    """Read the messages that a request or a response holds; none where it is a text, or anything else.

    >>> from collections import Counter
    >>> messages_in({"choices": [{"message": {"role": "assistant", "content": "Hi"}}]}, Counter())[0].text
    'Hi'
    """
    value = joined(value) or nested(value)
    for _ in range(_DEPTH):
        if not isinstance(value, dict) or _is_message(value):
            break
        value = next((inner for key in _WRAPPERS if isinstance(inner := nested(value.get(key)), dict | list)), None)
    if isinstance(value, list):
        value = [_message_of(item) for item in value]
        return read_messages(value, assumed) if any(map(_is_message, value)) else []
    return read_messages(value, assumed) if _is_message(value) else []


def _message_of(item: Any) -> Any:
    """Return the message of one of several answers; anything else as it is."""
    for key in ("message", "content"):
        if isinstance(item, dict) and not _is_message(item) and _is_message(inner := mapping(item.get(key))):
            return inner
    return item


def _is_message(value: Any) -> bool:
    return isinstance(value, dict) and (role_of(value.get("role")) or role_of(value.get("from"))) is not None


class CallPaths(NamedTuple):
    """Where the calls of a model hold what was asked and what was answered.

    history: where what was said before stands, if that is apart from the question; have_history: whether they repeat
    it, there or before the question.
    """

    question: str
    answer: str
    have_history: bool
    history: str | None = None


def calls_in(columns: Mapping[str, Sequence[Any]], records: Sequence[Any]) -> CallPaths | None:
    """Find the request and the response in the paths of records; None where they are no calls of a model.

    An answer under a name that nobody knows is the text that the histories of later calls repeat as the assistant's.
    """
    asked: dict[str, bool] = {}  # path → whether what was said before stands there, too
    answered: list[str] = []
    histories: dict[str, list[list[Message]]] = {}  # paths of what was said before → that, for each record
    for path, values in columns.items():
        if len(values) * _RARE < len(records) or not any(_may_hold(value) for value in values[:_TRIED]):
            continue
        given = [at_path(record, path) for record in records[:_TRIED]]
        spoken = [spoken_in(messages_in(value, Counter())) for value in given]
        roles = [[message.role for message in each] for each in spoken]
        most = _MOST * sum(value is not None for value in given)
        is_common = len(values) * 2 >= len(records)
        if is_common and sum(each[-1:] == ["user"] for each in roles) >= most:
            asked[path] = max(map(len, roles)) > 1
            histories[path] = spoken
        elif is_common and sum(set(each) == {"assistant"} for each in roles) >= most:
            answered.append(path)
        elif sum(each[-1:] == ["assistant"] and "user" in each for each in roles) >= _MOST * sum(map(bool, roles)) > 0:
            histories[path] = spoken
    messages = [path.removesuffix(".role") for path in columns if path.endswith(".role")]
    answered += [path for path in messages if {role_of(role) for role in columns[f"{path}.role"]} == {"assistant"}]
    if asked:
        question = next(iter(asked))
        again = _said_again(columns, records, histories[question], "assistant")
        answered += [*([again] if again else []), *_texts_like(columns, "answer", asked)]
        return CallPaths(question, answered[0], asked[question]) if answered else None
    for history, spoken in histories.items():
        questions = [_said_again(columns, records, spoken, "user"), *_texts_like(columns, "question", histories)]
        answers = [
            *answered,
            _said_again(columns, records, spoken, "assistant"),
            *_texts_like(columns, "answer", histories),
        ]
        for question, answer in product(filter(None, questions), filter(None, answers)):
            if question != answer:
                return CallPaths(question, answer, have_history=True, history=history)
    return None


def _may_hold(value: Any) -> bool:
    """Say whether a value may be a list of messages, or a stream's lines."""
    return isinstance(value, list) or (isinstance(value, str) and (value.startswith("[") or is_stream(value)))


def _said_again(
    columns: Mapping[str, Sequence[Any]], records: Sequence[Any], spoken: Sequence[Sequence[Message]], role: str
) -> str | None:
    """Return the path of the texts that most histories of other records hold as said by a role; None without any."""
    texts = {message.text.strip() for messages in spoken for message in messages if message.role == role} - {""}
    own = [{message.text.strip() for message in messages} for messages in spoken]
    counts: Counter[str] = Counter()
    for path, values in columns.items():
        if not any(isinstance(value, str) for value in values[:_TRIED]):
            continue
        for record, before in zip(records, own, strict=False):
            text = at_path(record, path)
            counts[path] += isinstance(text, str) and text.strip() in texts and text.strip() not in before
    path, n = max(counts.items(), key=itemgetter(1), default=("", 0))
    return path if n else None


def _texts_like(columns: Mapping[str, Sequence[Any]], field: str, without: Collection[str]) -> list[str]:
    return [path for path in paths_like(columns, field) if path not in without and _are_texts(columns[path])]


def _are_texts(values: Sequence[Any]) -> bool:
    """Say whether values are answers themselves, and no responses that hold them."""
    return sum(isinstance(nested(value), str) and " " in value for value in values) * 2 >= len(values)
