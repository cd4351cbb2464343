"""Pydantic AI: lists of messages, all of a run or the new ones, as it and its adapter write them in JSON.

{"session_id": "c1", "messages": [{"kind": "request", "parts": […]}, {"kind": "response", "parts": […]}]}, as JSON in a
text under any name, too; the list alone; and one message a row, beside its conversation.
"""

from collections.abc import Iterator, Sequence

from turnsignal.stream.errors import Reason, Refused
from turnsignal.stream.formats.agent_messages import MessageParts, list_in, message_in, retry_in
from turnsignal.stream.formats.messages import instructed, spoken_in
from turnsignal.stream.formats.protocol import (
    Assumed,
    Call,
    Message,
    Record,
    Row,
    TurnFields,
    join_origin,
    split_origin,
)
from turnsignal.stream.formats.times import BEGAN, time_in
from turnsignal.stream.formats.unseen import is_unseen
from turnsignal.stream.formats.values import (
    bounded_id,
    contexts_of,
    conversation_of,
    fields_of,
    first,
    mapping,
    short_name,
    short_names,
    timestamp,
)

_OWN = ("id", "run_id", "runId", "message_id")
_TIMES = ("timestamp", "created_at", "time", *BEGAN)


class PydanticAI:
    """Messages with a kind (request or response) and parts with a part_kind, a list or one of them in a record."""

    def looks_like(self, sample: Sequence[Record]) -> str:
        """Recognise messages by their kind and the kinds of their parts."""
        are_messages = any(list_in(record) or message_in(record) for record in sample)
        return "messages whose parts have a part_kind" if are_messages else ""

    def read(self, record: Record, assumed: Assumed) -> Iterator[Call | TurnFields | Row]:
        """Give what was said as one call, whose output is the last answer; the turn that a message alone is."""
        alone = message_in(record)
        listed = [alone] if alone else list_in(record)
        if not listed:
            raise Refused(Reason.WRONG_TYPE, "expected messages with a kind and parts that have a part_kind, got none")
        named = next((each for each in reversed(listed) if first(each, "run_id", "conversation_id")), {})
        metadata = mapping(record.get("metadata"))
        conversation = conversation_of(record, metadata, *contexts_of(record), named)
        reading = MessageParts(assumed)
        messages = reading.read(listed)
        answered = next((each for each in reversed(listed) if each.get("kind") == "response"), {})
        fields = {**short_names(model=answered.get("model_name")), **fields_of(metadata, record)}
        if alone and conversation is not None:
            time = time_in(assumed, alone if alone.get("timestamp") else record, *_TIMES)
            about = {**fields, "conversation_id": conversation}
            if retry := retry_in(alone):
                when = time_in(assumed, retry, *_TIMES) if time is None else time
                yield Row({**about, **({} if when is None else {"timestamp": timestamp(when)})}, step="retry")
            yield from () if is_unseen(record, assumed) else _rows(record, messages, time, about)
            return
        at = len(messages) - bool(messages and messages[-1].role == "assistant")
        inputs, outputs = messages[:at], messages[at:]
        asked = [message.time for message in spoken_in(inputs) if message.time is not None]
        start = asked[-1] if asked else time_in(assumed, record, *_TIMES)
        end = next((message.time for message in outputs if message.time is not None), start)
        own = short_name(named.get("run_id")) or short_name(first(record, *_OWN)) or conversation or ""
        yield Call(
            origin=f"pydanticai:{join_origin(own)}",
            conversation=conversation,
            start=start,
            end=end if start is None or end is None else max(start, end),
            inputs=instructed(inputs, reading.instructions, assumed),
            outputs=outputs,
            fields=fields,
        )

    def origin(self, turn_id: str) -> dict[str, str]:
        """Return the run's id, or that of its record, and the response's where the model's provider gave one."""
        return split_origin(turn_id, ("run_id", "provider_response_id"))


def _rows(record: Record, messages: list[Message], time: float | None, about: TurnFields) -> Iterator[TurnFields | Row]:
    """Give the turns that one message of a row is, or the steps.

    time: of the row; about: whose it is.
    """
    row = short_name(first(record, "id", "message_id"))
    for number, message in enumerate(messages):
        named = message.id or (f"{join_origin(row)}#{number}" if row is not None else None)
        when = time if message.time is None else message.time
        turn = {**about, **message.fields, "role": message.role, "text": message.text}
        turn |= {"turn_id": bounded_id(f"pydanticai:{named}") if named else ""}
        turn |= {"timestamp": timestamp(when)} if when is not None else {}
        if message.role == "tool" or message.called:
            yield Row(turn, step="call" if message.called else "result", documents=message.documents)
        elif spoken_in([message]):
            yield turn
