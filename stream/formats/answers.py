"""Answers: what stands beside the messages of a call, as a completion with choices, or as the answer itself."""

from typing import Any

from turnsignal.stream.formats.messages import refusal_of, role_of
from turnsignal.stream.formats.pieces import joined
from turnsignal.stream.formats.protocol import Record
from turnsignal.stream.formats.values import body_of, first, items, mapping, nested

_TRACES = {"observations", "run_type", "parent_run_id"}  #: of exports that have leaves,
_OF_TRACES = {"trace_id", "traceId"}  #: and of their leaves; a service's log has them beside its messages
_ANSWERS = ("response", "response_body", "output", "completion")
_REQUESTS = ("request", "request_body", "input", "body", "kwargs")
_MESSAGE = {"role", "content", "id", "name", "refusal", "annotations", "tool_calls"}  #: keys of a message alone
_RESPONSES = {"choices", "content", "candidates", "output", "object", "type", "body", "message", "error"}

_NOTHING = {"", "{}", "[]", "null", "none", "nan"}  #: cells of a table where no answer came


def response_of(record: Record) -> Record:
    """Return what holds the choices: the record, or its response."""
    inner = body_of(record, *_ANSWERS) or _streamed(record)
    if "choices" not in inner:  # a line of its own, as a proxy logs requests and responses
        inner = body_of(record, "body")
    return inner if "choices" in inner else record


def has_choices(record: Record) -> bool:
    """Say whether a record holds choices, and is no leaf of a trace, whose output they may be."""
    return "choices" in response_of(record) and not ("type" in record and _OF_TRACES & record.keys())


def sent_in(request: Record) -> list[Any]:
    """Return the messages of a request, or the prompt of one for a completion as one of a user."""
    prompt = request.get("prompt")
    is_alone = isinstance(prompt, str) and "messages" not in request
    return [{"role": "user", "content": prompt}] if is_alone else items(request.get("messages"))


def message_of(choice: Record) -> object:
    """Return the message of a choice, or the text of one of a completion as one of the assistant."""
    return {"role": "assistant", "content": choice["text"]} if "text" in choice else choice.get("message")


def _streamed(record: Record) -> Record:
    """Return the response that pieces of a stream are together, beside the messages that it answers; {} without."""
    has_messages = "messages" in record or "messages" in body_of(record, *_REQUESTS)
    return (joined(first(record, *_ANSWERS)) if has_messages else None) or {}


def is_nothing(given: object) -> bool:
    """Say whether a cell or a place of a list holds nothing, however that is written."""
    return given is None or (isinstance(given, str) and given.strip().lower() in _NOTHING)


def answer_of(record: Record) -> Record | None:
    """Return the assistant's message where an answer stands beside the messages as a text, or as {role, content}."""
    given = first(record, *_ANSWERS)
    if isinstance(given, str) and is_nothing(given):
        return None
    if isinstance(given, str) and not _is_vendors(given):
        return {"role": "assistant", "content": given}
    given = mapping(given)
    says = isinstance(given.get("content"), str) or refusal_of(given) != "" or bool(given.get("tool_calls"))
    is_message = given.keys() <= _MESSAGE and says
    return (
        {"role": "assistant", **given}
        if is_message and role_of(given.get("role", "assistant")) == "assistant"
        else None
    )


def _is_vendors(text: str) -> bool:
    """Say whether a text holds a response of an API, and not the answer itself, which may be JSON, too."""
    held = mapping(text).keys()
    return bool(held & _RESPONSES) or held == {"detail"} or isinstance(nested(text), list)


def is_foreign(record: Record) -> bool:
    """Say whether the record is of a trace, or the response beside the messages another vendor's."""
    if _TRACES & record.keys():
        return True
    if _OF_TRACES & record.keys() and "messages" not in record and "messages" not in mapping(record.get("request")):
        return True
    if answer_of(record) is not None:
        return False
    inner = mapping(first(record, *_ANSWERS))
    return bool(inner) and "choices" not in inner
