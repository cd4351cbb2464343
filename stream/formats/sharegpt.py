"""ShareGPT: conversations as lists of {from, value}."""

from collections.abc import Iterator, Sequence

from turnsignal.stream.formats.messages import read_messages
from turnsignal.stream.formats.protocol import Assumed, Call, Message, Record, split_origin
from turnsignal.stream.formats.times import BEGAN, time_in
from turnsignal.stream.formats.values import fields_of, first, items, short_name


class ShareGPT:
    """{id, conversations: [{from: human | gpt, value}]}."""

    def looks_like(self, sample: Sequence[Record]) -> str:
        """Recognise a list of {from, value}."""
        parts = [part for record in sample for part in items(record.get("conversations")) if isinstance(part, dict)]
        return "conversations with from and value" if any({"from", "value"} <= part.keys() for part in parts) else ""

    def read(self, record: Record, assumed: Assumed) -> Iterator[Call]:
        """Give the conversation as the history of one call."""
        named = short_name(first(record, "id", "conversation_id"))
        system = record.get("system")
        before = [Message("system", system)] if isinstance(system, str) and system else []
        yield Call(
            origin=f"sharegpt:{named or ''}",
            named=named,
            start=time_in(assumed, record, "timestamp", "created_at", "date", *BEGAN),
            inputs=before + read_messages(record.get("conversations"), assumed),
            fields=fields_of(record),
        )

    def origin(self, turn_id: str) -> dict[str, str]:
        """Return the conversation's id."""
        return split_origin(turn_id, ("id",))
