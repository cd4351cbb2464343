"""ShareGPT: conversations as lists of {from, value}, and the sets of Hugging Face whose list is of {role, content}."""

from collections.abc import Iterator, Sequence

from turnsignal.stream.formats.messages import read_messages, role_of
from turnsignal.stream.formats.protocol import Assumed, Call, Message, Record, split_origin
from turnsignal.stream.formats.times import BEGAN, time_in
from turnsignal.stream.formats.values import fields_of, first, items, short_name


class ShareGPT:
    """{id, conversations: [{from: human | gpt, value}]}, or {conversation_id, conversation: [{role, content}]}."""

    def looks_like(self, sample: Sequence[Record]) -> str:
        """Recognise a list of {from, value}, or one of {role, content} under the name of a conversation."""
        parts = [part for record in sample for part in items(record.get("conversations")) if isinstance(part, dict)]
        if any({"from", "value"} <= part.keys() for part in parts):
            return "conversations with from and value"
        return "a conversation with role and content" if sample and all(map(_is_conversation, sample)) else ""

    def read(self, record: Record, assumed: Assumed) -> Iterator[Call]:
        """Give the conversation as the history of one call."""
        named = short_name(first(record, "id", "conversation_id", "conversation_hash"))
        system = record.get("system")
        before = [Message("system", system)] if isinstance(system, str) and system else []
        yield Call(
            origin=f"sharegpt:{named or ''}",
            named=named,
            start=time_in(assumed, record, "timestamp", "created_at", "date", *BEGAN),
            inputs=before + read_messages(first(record, "conversations", "conversation"), assumed),
            fields=fields_of(record),
        )

    def origin(self, turn_id: str) -> dict[str, str]:
        """Return the conversation's id."""
        return split_origin(turn_id, ("id",))


def _is_conversation(record: Record) -> bool:
    """Say whether a record has a list of messages under `conversation`, and no answer beside it."""
    messages = items(record.get("conversation"))
    has_more = not record.keys().isdisjoint(("messages", "response", "output", "completion", "answer"))
    return bool(messages) and not has_more and all(_is_message(message) for message in messages)


def _is_message(value: object) -> bool:
    return isinstance(value, dict) and "content" in value and role_of(value.get("role")) is not None
