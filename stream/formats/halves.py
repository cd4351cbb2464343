"""Halves: requests and replies that a batch keeps in files of their own, paired by the id that their sender gave.

    input file     custom_id 7    asked: How?
    output file    custom_id 7    answered: So.

Senders number every batch anew, so that files of several batches hold an id several times. Then the requests and the
replies are paired in their order, where there are as many of each; a reply that failed would shift those after it.
"""

from collections.abc import Sequence
from typing import Literal

from turnsignal.stream.formats.protocol import Assumed, Call, Record

ANSWERS_ALONE = "answers of a batch whose requests are in another file"
_REQUESTS_ALONE = "requests of a batch whose answers are in another file"
_UNCLEAR = "requests and answers of several batches under one id, not paired"


def half_of(
    record: Record, is_answered: bool, is_asked: bool
) -> tuple[Literal["answer", "request", "reply"], str | None]:
    """Say which half of a batch's call a record is, and the trace that both halves are put in."""
    custom_id = record.get("custom_id")
    if custom_id is None or is_answered == is_asked:
        return "answer", None
    return ("reply" if is_answered else "request"), f"batch/{custom_id}"


def is_half(call: Call) -> bool:
    """Say whether a call is one of a request and a reply that stand apart."""
    return call.kind in ("request", "reply")


def pair(halves: Sequence[Call], assumed: Assumed) -> list[Call]:
    """Return the calls that requests and replies of one id are; a request or a reply alone is half of one."""
    requests = [half for half in halves if half.kind == "request"]
    replies = [half for half in halves if half.kind == "reply"]
    if requests and replies and len(requests) not in (1, len(replies)):
        assumed[_UNCLEAR] += len(halves)
    elif requests and replies:
        _join(requests if len(requests) > 1 else requests * len(replies), replies)  # sent once, answered again
        requests = []
    if len(replies) == len(halves):
        assumed[ANSWERS_ALONE] += len(replies)
    elif not replies:
        assumed[_REQUESTS_ALONE] += len(requests)
    calls = [*requests, *replies]
    for call in calls:
        call.kind = "answer"
    return calls


def _join(requests: Sequence[Call], replies: Sequence[Call]) -> None:
    for request, reply in zip(requests, replies, strict=True):
        reply.inputs = reply.inputs or request.inputs
        reply.conversation = reply.conversation or request.conversation
        reply.fields = {**request.fields, **reply.fields}
