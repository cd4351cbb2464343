"""Bodies: the messages of a model's request or response, in whatever its vendor wraps them."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from turnsignal.stream.formats.hints import paths_like
from turnsignal.stream.formats.messages import read_messages, role_of, spoken_in
from turnsignal.stream.formats.protocol import Assumed, Message
from turnsignal.stream.formats.values import mapping, nested

_DEPTH = 4  #: objects within objects in which messages are looked for
_TRIED = 20  #: values of a path in which messages are looked for
_MOST = 0.8  #: of them that have to be messages
_WRAPPERS = ("messages", "contents", "choices", "candidates", "message", "output", "input", "content")


def messages_in(value: Any, assumed: Assumed) -> list[Message]:
    """Read the messages that a request or a response holds; none where it is a text, or anything else.

    >>> from collections import Counter
    >>> messages_in({"choices": [{"message": {"role": "assistant", "content": "Hi"}}]}, Counter())[0].text
    'Hi'
    """
    value = nested(value)
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

    have_history: whether they repeat what was said before.
    """

    question: str
    answer: str
    have_history: bool


def calls_in(columns: Mapping[str, Sequence[Any]], of: int) -> CallPaths | None:
    """Find the request and the response in the paths of records; None where they are no calls of a model.

    of: how many records there are.
    """
    asked: dict[str, bool] = {}  # path → whether what was said before stands there, too
    answered: list[str] = []
    for path, values in columns.items():
        if len(values) * 2 < of or str(values[0])[:1] != "[":
            continue
        spoken = [[message.role for message in spoken_in(messages_in(value, Counter()))] for value in values[:_TRIED]]
        if sum(roles[-1:] == ["user"] for roles in spoken) >= _MOST * len(spoken):
            asked[path] = max(map(len, spoken)) > 1
        elif sum(set(roles) == {"assistant"} for roles in spoken) >= _MOST * len(spoken):
            answered.append(path)
    if not asked:
        return None
    messages = [path.removesuffix(".role") for path in columns if path.endswith(".role")]
    answered += [path for path in messages if {role_of(role) for role in columns[f"{path}.role"]} == {"assistant"}]
    answered += [path for path in paths_like(columns, "answer") if path not in asked and _are_texts(columns[path])]
    question = next(iter(asked))
    return CallPaths(question, answered[0], asked[question]) if answered else None


def _are_texts(values: Sequence[Any]) -> bool:
    """Say whether values are answers themselves, and no responses that hold them."""
    return sum(isinstance(nested(value), str) and " " in value for value in values) * 2 >= len(values)
