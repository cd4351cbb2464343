"""Azure API Management: rows of ApiManagementGatewayLlmLog, in which Azure Monitor keeps what its gateway passed on.

{"CorrelationId": "7", "SequenceNumber": 0, "RequestMessages": "[{\"role\": \"user\", …}]", "ResponseMessages": ""}
{"CorrelationId": "7", "SequenceNumber": 1, "RequestMessages": "", "ResponseMessages": "[{\"role\": \"assistant\", …}]"}

Messages of more than 32 KB are several rows, numbered in their order: as lists, each with a part of the text.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from turnsignal.stream.formats.date_formats import read_date
from turnsignal.stream.formats.messages import CUT_OFF, NO_MESSAGES, read_messages
from turnsignal.stream.formats.protocol import Assumed, Call, Record, join_origin, split_origin
from turnsignal.stream.formats.times import time_in
from turnsignal.stream.formats.values import conversation_of, fields_of, first, folded, mapping, nested, short_names

_ASKED, _ANSWERED, _CALL, _NUMBER = "requestmessages", "responsemessages", "correlationid", "sequencenumber"
_TIMES = ("TimeGenerated", "timeGenerated", "TimeGenerated [UTC]", "time")
_OF_PORTAL = "%m/%d/%Y, %I:%M:%S.%f %p"  #: how the portal's CSV writes times, in UTC
_STEP = 1e-4  #: seconds between rows of one call, which Azure gives one time
_MODELS = ("modelname", "deploymentname")


class ApiManagement:
    """Rows with a CorrelationId and messages, from Log Analytics or from a storage account."""

    def looks_like(self, sample: Sequence[Record]) -> str:
        """Recognise rows by the names of their columns."""
        cells = (_cells(record) for record in sample)
        is_row = any(_CALL in each and not each.keys().isdisjoint((_ASKED, _ANSWERED)) for each in cells)
        return "rows with a CorrelationId and RequestMessages or ResponseMessages" if is_row else ""

    def read(self, record: Record, assumed: Assumed) -> Iterator[Call]:
        """Give what one row holds of a call: of its request, of its response, or of both."""
        cells = _cells(record)
        asked, answered = (_listed(cells.get(key), assumed) for key in (_ASKED, _ANSWERED))
        inputs = read_messages(asked, assumed)
        outputs = [message for message in read_messages(answered, assumed) if message.role == "assistant"]
        if not inputs and not outputs:
            assumed[NO_MESSAGES] += 1
            return
        named = first(cells, _CALL)
        number = cells.get(_NUMBER)
        given = first(record, *_TIMES)
        time = read_date(given, _OF_PORTAL) if isinstance(given, str) and given[-1:] == "M" else None
        time = time_in(assumed, record, *_TIMES) if time is None else time
        after = int(str(number)[:6]) * _STEP if str(number).isdecimal() else 0.0
        origin = f"apim:{join_origin(str(named))}" if named is not None else "apim:"
        for message in outputs:
            message.id = None  # the call's own id leads back
        yield Call(
            origin=origin,
            conversation=conversation_of(record),
            partial=named is not None and not (inputs and outputs),
            start=None if time is None else time + after,
            end=time,
            inputs=inputs,
            outputs=outputs[:1],
            fields={**fields_of(record), **short_names(model=first(cells, *_MODELS))},
        )

    def origin(self, turn_id: str) -> dict[str, str]:
        """Return the id by which the gateway's logs name the call."""
        return split_origin(turn_id, ("CorrelationId",))


def _cells(record: Record) -> dict[str, Any]:
    """Return what a row holds by the letters of its names, with its properties, where a storage account keeps it."""
    held = {**mapping(record.get("properties")), **record}
    return {folded(str(key)): value for key, value in held.items() if value not in (None, "")}


def _listed(value: object, assumed: Assumed) -> Any:
    """Return the messages that a cell holds; a piece of JSON that is none itself is counted."""
    read = nested(value)
    assumed[CUT_OFF] += isinstance(read, str) and bool(read)
    return read
