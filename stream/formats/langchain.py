"""LangChain messages: lists of {type: human | ai, content}, plain, as {type, data}, or serialised with their class."""

from collections.abc import Iterator, Sequence

from turnsignal.stream.formats.documents import read_documents
from turnsignal.stream.formats.messages import read_messages
from turnsignal.stream.formats.protocol import Assumed, Call, Record, split_origin
from turnsignal.stream.formats.times import BEGAN, time_in
from turnsignal.stream.formats.values import conversation_of, fields_of, first, items, mapping, short_name

_LISTS = ("messages", "chat_history", "history")
_TYPES = ("human", "ai", "HumanMessage", "AIMessage", "AIMessageChunk", "HumanMessageChunk")


class LangChainMessages:
    """{messages: [{type, content}]}, as `messages_to_dict` or a checkpoint writes them."""

    def looks_like(self, sample: Sequence[Record]) -> str:
        """Recognise messages that have a type human or ai."""
        for record in sample:
            for item in items(first(record, *_LISTS)):
                item = mapping(item)
                serialised = item.get("lc") is not None and str(items(item.get("id"))[-1:]).find("Message") > 0
                if (item.get("type") in _TYPES and "role" not in item) or serialised:
                    return "messages of the types human and ai"
        return ""

    def read(self, record: Record, assumed: Assumed) -> Iterator[Call]:
        """Give the conversation as the history of one call."""
        metadata = {**mapping(mapping(record.get("config")).get("configurable")), **mapping(record.get("metadata"))}
        conversation = conversation_of(record, metadata)
        named = short_name(first(record, "id", "run_id", "checkpoint_id")) or conversation or ""
        messages = read_messages(first(record, *_LISTS), assumed)
        documents = read_documents(first(record, "documents", "context", "source_documents"))
        if documents and messages and messages[-1].role == "assistant":
            messages[-1].documents = documents
        yield Call(
            origin=f"langchain:{named}",
            conversation=conversation,
            start=time_in(assumed, record, "timestamp", "ts", "created_at", "time", *BEGAN),
            inputs=messages,
            fields=fields_of(metadata, record),
        )

    def origin(self, turn_id: str) -> dict[str, str]:
        """Return the message's own id, or that of its record."""
        return split_origin(turn_id, ("id",))
