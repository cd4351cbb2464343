"""Vendors: whose answer a response is, so that a log of several vendors' calls loses none.

    {request: {messages}, response: {choices: […]}}                  openai
    {request: {input},    response: {object: "response", output}}    responses
    {request: {messages}, response: {type: "message", content}}      anthropic

Gateways write one file for all vendors, and a file may begin with a thousand records of one of them. So each record is
read as what its response is; a response that nobody knows is refused, as half an exchange would be scored as one that
was never answered.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from turnsignal.stream.errors import Reason, Refused
from turnsignal.stream.formats.protocol import Assumed, LogFormat, Record
from turnsignal.stream.formats.values import body_of, items
from turnsignal.stream.text.visible import one_line

VENDORS = ("openai", "responses", "anthropic")
_RESPONSES = ("response", "response_body", "output", "completion", "message")  #: where records keep them
_FAILED = ("error", "errors", "exception", "detail", "details", "fault", "status", "code", "statuscode", "timeout")
OTHER_TASKS = "calls that are no chat (embeddings, moderations, rankings, images) left out"
_TASKS = ("embedding", "flagged", "category_scores", "relevance_score", "b64_json")  #: in the first of their results
_SHOWN_KEYS = 5  #: of a response that nobody knows


class Vendors:
    """Calls to several vendors: each record is read by the format of its response, the first one where it has none.

    named: formats that were recognised, the likeliest first; formats: all that a record may be in, by their names.
    """

    def __init__(self, named: Sequence[str], formats: Mapping[str, LogFormat]) -> None:
        self._named = named
        self._formats = formats

    def looks_like(self, sample: Sequence[Record]) -> str:
        """Say by what records are recognised as one of its formats."""
        return "; ".join(filter(None, (each.looks_like(sample) for each in self._formats.values())))

    def read(self, record: Record, assumed: Assumed) -> Iterator[Any]:
        """Give what the record's own format reads in it; what is no chat is left out and counted."""
        if is_other_task(record):
            assumed[OTHER_TASKS] += 1
            return
        name = vendor_of(_response_in(record)) or self._named[0]
        assumed[f"records of {name} among those of {self._named[0]}, read as such"] += name not in self._named
        yield from self._formats[name].read(record, assumed)

    def origin(self, turn_id: str) -> dict[str, str]:
        """Return the ids that the format gives which the turn was read by."""
        return self._formats.get(turn_id.partition(":")[0], self._formats[self._named[0]]).origin(turn_id)


def refuse_foreign(record: Record, own: str) -> None:
    """Raise Refused where the response beside a request is another vendor's than `own`, or one that nobody knows.

    An error in its place is none: then the call has failed.
    """
    response = _response_in(record)
    vendor = vendor_of(response)
    if vendor == own or not response or (vendor is None and _is_failure(response)):
        return
    if vendor is not None:
        detail = f"expected a response of {own}, got one of {vendor}: leave --format out, and each is read as its own"
        raise Refused(Reason.WRONG_TYPE, detail)
    keys = ", ".join(one_line(str(key), 40) for key in list(response)[:_SHOWN_KEYS])
    detail = f"expected a response of {', '.join(VENDORS)}, got one of another make; --propose writes a mapping for it"
    raise Refused(Reason.WRONG_TYPE, detail, actual=f"an object with {keys}")


def is_own_chat(record: Record, own: str, assumed: Assumed) -> bool:
    """Say whether somebody talks in a call, where this format was asked for by its name; raises as `refuse_foreign`."""
    if is_other_task(record):
        assumed[OTHER_TASKS] += 1
        return False
    refuse_foreign(record, own)
    return True


def is_other_task(record: Record) -> bool:
    """Say whether the response in a record, or the record itself, is of a call in which nobody talks.

    >>> is_other_task({"request": {"input": "How?"}, "response": {"data": [{"embedding": [0.1, 0.2]}]}})
    True
    """
    for response in (body_of(record, *_RESPONSES), record):
        first = (items(response.get("data")) or items(response.get("results")) or [None])[0]
        if isinstance(first, dict) and any(key in first for key in _TASKS):
            return True
    return False


def _response_in(record: Record) -> Record:
    """Return the response that a record holds, or is; an empty one where it has none."""
    inner = body_of(record, *_RESPONSES)
    return record if vendor_of(inner) is None and vendor_of(record) is not None else inner


def vendor_of(response: Record) -> str | None:
    """Return whose response an object is; None where nobody knows."""
    if "choices" in response:
        return "openai"
    if response.get("object") == "response":
        return "responses"
    return "anthropic" if is_anthropic(response) else None


def is_anthropic(response: Record) -> bool:
    """Say whether a response is a message of Anthropic's; those of chat programs have the same type, and a text."""
    own = response.get("role") == "assistant" or isinstance(response.get("content"), list)
    return response.get("type") == "message" and "content" in response and own


def _is_failure(response: Record) -> bool:
    return any(str(key).lower().replace("_", "") in _FAILED for key in response)
