"""Open WebUI: chats as its export and its database have them, one a record, with the votes and sources of answers.

    {id, user_id, chat: {history: {currentId, messages: {ID: {id, parentId, role, content, annotation, sources}}}}}

Each question may be edited, and each answer given anew or by several models: what its user sees leads to `currentId`.
"""

from collections.abc import Sequence
from typing import Any

from turnsignal.stream.formats.documents import once, read_document
from turnsignal.stream.formats.human_scores import vote_of
from turnsignal.stream.formats.messages import read_message
from turnsignal.stream.formats.protocol import Assumed, Call, Message, Record
from turnsignal.stream.formats.thumbs import NO_VOTES
from turnsignal.stream.formats.times import time_in
from turnsignal.stream.formats.values import first, id_of, items, mapping, short_names

DRAFTS = "messages of branches that their users left left out"
_VOTED_DRAFTS = "votes on answers of branches that their users left left out"


def is_chat(record: Record) -> bool:
    """Say whether a record is a chat with the tree of its messages."""
    return bool(mapping(_history(record).get("messages"))) and bool(_stored(record))


def chat_of(record: Record, assumed: Assumed) -> Call:
    """Return all that was said in a chat, as its user sees it, as one call; what else there was is counted."""
    chat, stored = mapping(record.get("chat")), _stored(record)
    shown = _shown(stored, _history(record).get("currentId"))
    messages = [message for item in shown if (message := _message(item, assumed)) is not None]
    left = {id(item) for item in stored} - {id(item) for item in shown}
    assumed[DRAFTS] += len(left)
    assumed[_VOTED_DRAFTS] += sum(id(item) in left and _rating(item) is not None for item in stored)
    assumed["messages that are none left out"] += len(shown) - len(messages)
    conversation = id_of(first(record, "id", "chat_id")) or id_of(chat.get("id"))
    start = time_in(assumed, record, "created_at", "updated_at")
    return Call(
        origin=f"openai:{conversation or ''}",
        conversation=conversation,
        start=start,
        end=start,
        inputs=messages,
        fields=short_names(user_id=first(record, "user_id", "userId")),
    )


def _history(record: Record) -> dict[str, Any]:
    return mapping(mapping(record.get("chat")).get("history")) if "chat" in record else {}


def _stored(record: Record) -> list[dict[str, Any]]:
    """Return the messages of a chat, each with its id, in the order in which they stand."""
    held = mapping(_history(record).get("messages"))
    return [{"id": key, **each} for key, each in held.items() if isinstance(each, dict) and "role" in each]


def _shown(stored: list[dict[str, Any]], current: Any) -> list[dict[str, Any]]:
    """Return the messages that lead to the current one; all where none is it."""
    known = {str(item["id"]): item for item in stored}
    shown: list[dict[str, Any]] = []
    item = known.pop(str(current), None)
    while item is not None:
        shown.append(item)
        item = known.pop(str(item.get("parentId")), None)  # taken out, as a chain may lead back to itself
    return shown[::-1] or stored


def _message(item: Record, assumed: Assumed) -> Message | None:
    message = read_message(item, assumed)
    if message is None or message.role != "assistant":
        return message
    message.documents = message.documents or _documents(items(item.get("sources")))
    message.fields = short_names(model=item.get("model"))
    rating = _rating(item)
    vote = vote_of(rating)
    assumed[NO_VOTES] += vote is None and rating is not None
    message.fields |= {} if vote is None else {"vote": vote}
    return message


def _rating(item: Record) -> Any:
    return first(mapping(item.get("annotation")), "rating")


def _documents(sources: Sequence[Any]) -> list[dict[str, Any]]:
    """Read what was found for an answer, by the ids under which it is shown, best first.

    Not their `distances`: in some versions less is better, in others more.
    """
    documents = []
    for source in map(mapping, sources):
        about, of_source = items(source.get("metadata")), mapping(source.get("source"))
        for place, text in enumerate(items(source.get("document"))):
            known = mapping(about[place]) if place < len(about) else {}
            own = first(known, "source", "file_id") or first(of_source, "id", "name")
            title = first(known, "name", "title") or of_source.get("name")
            documents.append(read_document({"id": own, "title": title, "text": text}))
    return once(document for document in documents if document is not None)
