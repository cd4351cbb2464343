"""Halves: requests and replies that stand in records of their own, paired by the id that both have.

    input file     custom_id 7    asked: How?          a proxy's log   request_id 7    request: How?
    output file    custom_id 7    answered: So.        its next line   request_id 7    response: So.

Senders number every batch anew, so that files of several batches hold an id several times. Then the requests and the
replies are paired in their order, where there are as many of each; a reply that failed would shift those after it.
What a log names so is paired where each response follows its request; a half alone is read as if it had no id.
"""

from collections.abc import Sequence
from typing import Literal

from turnsignal.stream.formats.protocol import Assumed, Call, Message, Record
from turnsignal.stream.formats.values import first

ANSWERS_ALONE = "answers of a batch whose requests are in another file"
_REQUESTS_ALONE = "requests of a batch whose answers are in another file"
_UNCLEAR = "requests and answers of several batches under one id, not paired"
_UNCLEAR_LINES = "requests and responses of several calls under one id, not paired"
_BATCH, _LINES = "batch/", "lines/"  #: what the names of traces begin with that halves are put in
_IDS = (
    *("request_id", "requestId", "req_id", "correlation_id", "correlationId", "call_id", "callId"),
    *("trace_id", "traceId", "id"),
)
_HOLDING = ("request", "request_body", "input", "body", "response", "response_body", "output", "completion")
_FAILED = ("response", "response_body", "output", "completion", "error", "status", "status_code")


def half_of(
    record: Record, is_answered: bool, is_asked: bool, inputs: Sequence[Message]
) -> tuple[Literal["answer", "request", "reply"], str | None]:
    """Say which half of a call a record is, and the trace that both halves are put in.

    inputs: what is asked, which ends with a question, or with what a tool returned.
    """
    custom_id = record.get("custom_id")
    if is_answered == is_asked:
        return "answer", None
    if custom_id is not None:
        return ("reply" if is_answered else "request"), f"{_BATCH}{custom_id}"
    if is_asked and (
        not inputs or inputs[-1].role == "assistant" or any(record.get(key) is not None for key in _FAILED)
    ):
        return "answer", None  # all that was said, or a call that failed
    if not any(isinstance(record.get(key), dict | str) for key in _HOLDING):
        return "answer", None  # its answer may stand beside it, under whatever name
    named = first(record, *_IDS)
    if not isinstance(named, str | int) or isinstance(named, bool) or named == "":
        return "answer", None
    return ("reply" if is_answered else "request"), f"{_LINES}{named}"


def is_half(call: Call) -> bool:
    """Say whether a call is one of a request and a reply that stand apart."""
    return call.kind in ("request", "reply")


def pair(halves: Sequence[Call], assumed: Assumed) -> list[Call]:
    """Return the calls that requests and replies of one id are; a request or a reply alone is half of one."""
    requests = [half for half in halves if half.kind == "request"]
    replies = [half for half in halves if half.kind == "reply"]
    is_batch = all((half.trace or "").startswith(_BATCH) for half in halves)
    are_unclear = len(requests) not in (1, len(replies)) if is_batch else not _alternate(halves)
    if requests and replies and are_unclear:
        assumed[_UNCLEAR if is_batch else _UNCLEAR_LINES] += len(halves)
    elif requests and replies:
        _join(requests if len(requests) > 1 else requests * len(replies), replies)  # sent once, answered again
        requests = []
    if is_batch and len(replies) == len(halves):
        assumed[ANSWERS_ALONE] += len(replies)
    elif is_batch and not replies:
        assumed[_REQUESTS_ALONE] += len(requests)
    calls = [*requests, *replies]
    for call in calls:
        call.kind = "answer"
        call.trace = call.trace if is_batch else None
    return calls


def _alternate(halves: Sequence[Call]) -> bool:
    """Say whether each request comes right before its reply: those of one moment may be anybody's."""
    return (
        all(half.kind == ("reply" if at % 2 else "request") for at, half in enumerate(halves)) and not len(halves) % 2
    )


def _join(requests: Sequence[Call], replies: Sequence[Call]) -> None:
    for request, reply in zip(requests, replies, strict=True):
        reply.inputs = reply.inputs or request.inputs
        reply.conversation = reply.conversation or request.conversation
        reply.fields = {**request.fields, **reply.fields}
        if request.start is not None and (reply.start is None or request.start <= reply.start):
            reply.start, reply.end = request.start, reply.end if reply.end is not None else reply.start
