"""LangChain messages: lists of {type: human | ai, content}, plain, as {type, data}, or serialised with their class.

Message stores (of SQL, Postgres, MongoDB) keep one of them a row, beside the id of its session; Redis
keeps a list, newest first.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any

from turnsignal.stream.errors import Reason, Refused
from turnsignal.stream.formats.documents import DOCUMENTS, read_documents
from turnsignal.stream.formats.messages import read_message, read_messages, spoken_in
from turnsignal.stream.formats.protocol import Assumed, Call, Record, Row, TurnFields, split_origin
from turnsignal.stream.formats.rows import FOR_NOBODY
from turnsignal.stream.formats.times import BEGAN, time_in
from turnsignal.stream.formats.unseen import is_unseen
from turnsignal.stream.formats.values import (
    bounded_id,
    conversation_of,
    fields_of,
    first,
    items,
    mapping,
    nested,
    short_name,
    timestamp,
)

_LISTS = ("messages", "chat_history", "history", "History")
_STORED = ("message", "History")
_TIMES = ("timestamp", "ts", "created_at", "time")
_SPELLED = re.compile(r'ObjectId\(["\']?([0-9a-f]{24})["\']?\)|([0-9]{1,18})\.0')
_STORE = "message_store:"  #: what Redis' keys begin with, before the session
_TYPES = ("human", "ai", "HumanMessage", "AIMessage", "AIMessageChunk", "HumanMessageChunk")


class LangChainMessages:
    """{messages: [{type, content}]}, as `messages_to_dict` or a checkpoint writes them, and {session_id, message}."""

    def looks_like(self, sample: Sequence[Record]) -> str:
        """Recognise messages that have a type human or ai."""
        for record in sample:
            if _stored(record).get("type") in _TYPES:
                return "a message of the type human or ai in a record"
            for item in map(mapping, _listed(record)):
                serialised = item.get("lc") is not None and str(items(item.get("id"))[-1:]).find("Message") > 0
                if (item.get("type") in _TYPES and "role" not in item) or serialised:
                    return "messages of the types human and ai"
        return ""

    def read(self, record: Record, assumed: Assumed) -> Iterator[Call | TurnFields | Row]:
        """Give the conversation as the history of one call, or the turn that a row of a store is."""
        if stored := _stored(record):
            yield from () if is_unseen(record, assumed) else _turn(record, stored, assumed)
            return
        metadata = {**mapping(mapping(record.get("config")).get("configurable")), **mapping(record.get("metadata"))}
        stored_under = str(record.get("key")).partition(_STORE)[2] or None
        conversation = conversation_of(record, metadata, {"session_id": first(record, "SessionId") or stored_under})
        named = short_name(first(record, "id", "run_id", "checkpoint_id")) or conversation or ""
        messages = read_messages(_listed(record), assumed)
        documents = read_documents(first(record, *DOCUMENTS))
        if documents and messages and messages[-1].role == "assistant":
            messages[-1].documents = documents
        yield Call(
            origin=f"langchain:{named}",
            conversation=conversation,
            start=time_in(assumed, record, *_TIMES, *BEGAN),
            inputs=messages,
            fields=fields_of(metadata, record),
        )

    def origin(self, turn_id: str) -> dict[str, str]:
        """Return the message's own id, or that of its record."""
        return split_origin(turn_id, ("id",))


def _listed(record: Record) -> list[Any]:
    """Return a record's messages in the order in which they were said; a list of Redis' stands newest first."""
    if str(record.get("key")).startswith(_STORE):
        return [nested(item) for item in reversed(items(record.get("value")))]
    return items(first(record, *_LISTS))


def _stored(record: Record) -> Record:
    """Return the message {type, data} that a row of a store holds, also in a string; empty for another record."""
    message = mapping(first(record, *_STORED))
    return message if "type" in message and isinstance(message.get("data"), dict) else {}


def _turn(record: Record, stored: Record, assumed: Assumed) -> Iterator[TurnFields | Row]:
    message = read_message(stored, assumed)
    is_result = message is not None and message.role == "tool" and bool(message.documents)
    if message is None or not (is_result or spoken_in([message])):
        assumed[FOR_NOBODY] += 1
        return
    if (conversation := conversation_of(record, {"session_id": record.get("SessionId")})) is None:
        raise Refused(Reason.MISSING_FIELD, "expected the field session_id beside the message, got none")
    row = _own_id(first(record, "id", "_id"))
    time = time_in(assumed, record, *_TIMES, *BEGAN)
    named = message.id if row is None else short_name(row)
    turn = {"conversation_id": conversation, "turn_id": bounded_id(f"langchain:{named}") if named else ""}
    turn |= {"role": message.role, "text": message.text}
    turn |= {} if time is None else {"timestamp": timestamp(time)}
    more = fields_of(record) | ({"metadata": message.metadata} if message.metadata else {})
    made = None if time is not None else "" if row is None else str(row)
    if is_result:
        yield Row(turn, made=made, step="result", documents=message.documents)
    else:
        yield turn | more if made is None else Row(turn | more, made=made)


def _own_id(given: object) -> object:
    """Return a row's id as its store has it: tables spell ObjectIds as their tools do, and whole numbers as 7.0."""
    given = nested(given)
    if isinstance(given, dict):
        return given.get("$oid")
    spelled = _SPELLED.fullmatch(given) if isinstance(given, str) else None
    return given if spelled is None else spelled[1] or spelled[2]
