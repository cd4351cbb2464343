"""Messages as chat interfaces spell them: roles by many names, texts as strings or as blocks, citations in blocks."""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any

from turnsignal.stream.formats.acting import read_acts
from turnsignal.stream.formats.cut_off import is_cut
from turnsignal.stream.formats.documents import (
    SOURCE_PARTS,
    documents_beside,
    documents_in,
    documents_on_your_data,
    found_in,
    once,
)
from turnsignal.stream.formats.one_text import plain_text
from turnsignal.stream.formats.protocol import Assumed, Message, Record, TurnFields
from turnsignal.stream.formats.times import BEGAN, oldest_first, time_in
from turnsignal.stream.formats.values import first, is_redacted, items, mapping, nested, short_name

ROLES = {
    **dict.fromkeys(("user", "human", "customer", "client", "end_user", "visitor"), "user"),
    **dict.fromkeys(("assistant", "ai", "bot", "agent", "model", "gpt", "chatgpt", "chatbot"), "assistant"),
    **dict.fromkeys(("ai_agent", "ai_assistant", "virtual_agent", "virtual_assistant", "chat_bot"), "assistant"),
    **dict.fromkeys(("kunde", "kundin", "nutzer", "benutzer", "cliente", "usuario", "utilisateur", "utente"), "user"),
    **dict.fromkeys(("klant", "gebruiker", "用户", "客户", "ユーザー", "사용자"), "user"),
    **dict.fromkeys(("ki", "ia"), "assistant"),
    **dict.fromkeys(("assistent", "berater", "asistente", "assistente", "助手", "アシスタント"), "assistant"),
    **dict.fromkeys(("system", "developer", "system_ignored"), "system"),
    **dict.fromkeys(("tool", "function", "observation", "tool_result"), "tool"),
}
_MAX_DEPTH = 4  #: lists of messages within lists of messages
REDACTED = "messages that were redacted left out"
NO_MESSAGES = "records without messages left out"
CUT_OFF = "messages in JSON that is cut off left out"
_JSON = re.compile(r'\[? ?\{ ?"(?:role|parts|messages|lc)" ?:')  #: how messages begin, and what people write does not
_REFUSAL = "refusal"  #: a block, or a key beside an empty content, by which a model declines
_TEXT_BLOCKS = ("text", "input_text", "output_text", _REFUSAL, "markdown")
_DOCUMENT_BLOCKS = ("document", "search_result", *SOURCE_PARTS)  #: read as documents where they are any
_UNTYPED = {"text", "toolUse", "toolResult", "reasoningContent", "image", "cachePoint"}  #: blocks of Bedrock's models
_WHOLE = {"text", "content", "parts", "format", "role", "type", "id", "metadata", "attachments", "files", "images"}
_WHOLE |= {"annotations", "reasoning", "toolInvocations", "experimental_attachments"}  #: keys of a message alone
_CALLS = ("tool_use", "tool_call", "function_call", "functionCall")
_LIST_KEYS = ("messages", "input", "output", "contents", "conversation", "conversations")
_ID = re.compile(r"[0-9_@/:-]")  #: in a word that nobody says
_THOUGHTS = "<think>", "</think>"
_THOUGHT = "thoughts before an answer (<think>) left out"
_STRUCTURED = "{", "```json"
_SHOWN = ("answer", "final_answer", "response", "reply", "message", "output", "result", "content", "text")
_LEAD = re.compile(r"\W{0,4}(?:final )?answer\W{0,3}: *", re.IGNORECASE)
_LONGEST_ROLE, _ROLES_HELD = 40, 256  #: characters of a role's name, and names that are held
_EAST = "\u2e80"  #: from here on scripts are written without spaces
SEVERAL = "calls of a function with several texts, of which one was taken for the question"


def role_of(value: object) -> str | None:
    """Return our role for a role by any of its names, in any case; None for one that nobody knows.

    >>> role_of("Human"), role_of("Virtual Agent"), role_of("narrator")
    ('user', 'assistant', None)
    """
    return _known_role(value) if isinstance(value, str) and len(value) <= _LONGEST_ROLE else None


@lru_cache(_ROLES_HELD)
def _known_role(name: str) -> str | None:
    return ROLES.get(name.strip().lower().replace(" ", "_").replace("-", "_"))


def read_messages(value: object, assumed: Assumed, depth: int = 0) -> list[Message]:
    """Read a list of messages, a single one, or an object that holds either; what is none is left out and counted."""
    value = nested(value)
    if isinstance(value, dict):
        if (message := read_message(value, assumed)) is not None:
            read_acts([message])
            return [message]
        inner = first(value, *_LIST_KEYS)
        if depth >= _MAX_DEPTH or isinstance(inner, str):
            return []
        return instructed(read_messages(inner, assumed, depth + 1), value.get("system"), assumed)
    messages: list[Message] = []
    listed = value if isinstance(value, list) else []
    have_roles = all(is_pair(item) and role_of(item[0]) for item in listed)
    for item in listed:
        if have_roles:  # LangChain's shorthand: ("human", "How do I pay?")
            messages.append(Message(role_of(item[0]) or "", item[1] or ""))
        elif is_pair(item):
            sides = zip(("user", "assistant"), item, strict=True)
            messages += [Message(role, text) for role, text in sides if text]
        elif isinstance(item, list) and depth < _MAX_DEPTH:  # LangChain's batches: a list of lists
            messages += read_messages(item, assumed, depth + 1)
        elif isinstance(item, dict) and item.get("type") == "function_call" and "role" not in item:
            _add_call(messages, _call_id(item))
        elif isinstance(item, dict) and (message := read_message(item, assumed)) is not None:
            messages.append(message)
        elif isinstance(item, dict) and (documents := found_in([item])):
            messages.append(Message("tool", "", documents=documents))
        elif not (isinstance(item, dict) and _says_nothing(item)):
            assumed["messages that are none left out"] += 1
    messages = oldest_first(messages, assumed)
    read_acts(messages)
    return messages


def without_thoughts(text: str) -> str:
    """Return what an assistant says behind the thoughts that it begins with, where a server leaves them in the text.

    >>> without_thoughts("<think>Hm. A card?</think>\\n\\nBy card.")
    'By card.'
    """
    begun = text.lstrip()
    if not begun.startswith(_THOUGHTS[0]) or _THOUGHTS[1] not in begun:
        return text
    return begun.partition(_THOUGHTS[1])[2].lstrip()


def shown_of(text: str) -> str:
    """Return what a user saw of an answer: without its thoughts, the words of a structured one, no "Final Answer:".

    >>> shown_of('{"answer": "By card.", "sources": [1]}'), shown_of("Final Answer: By card.")
    ('By card.', 'By card.')
    """
    words = without_thoughts(text).strip()
    if words.startswith(_STRUCTURED):
        inside = mapping(nested(words.removeprefix("```json").removesuffix("```").strip()))
        words = next((inside[key] for key in _SHOWN if isinstance(inside.get(key), str)), words)
    return words[lead.end() :] if (lead := _LEAD.match(words)) else words


def leave_thoughts_out(turn: TurnFields, assumed: Assumed) -> TurnFields:
    """Return a turn without the thoughts that its answer begins with; places of citations count from the beginning."""
    text = turn.get("text")
    if turn.get("role") != "assistant" or not isinstance(text, str) or turn.get("metadata"):
        return turn
    words = without_thoughts(text)
    assumed[_THOUGHT] += words != text
    return turn | {"text": words}


def instructed(messages: list[Message], instructions: object, assumed: Assumed) -> list[Message]:
    """Put instructions that stand beside messages before them, as many APIs take them."""
    text = text_of(nested(instructions), {}, assumed) if messages and instructions else ""
    return [Message("system", text), *messages] if text.strip() else messages


def is_pair(item: object) -> bool:
    """Say whether an item of a history is a question and its answer, without roles, as older LangChain keeps them."""
    return isinstance(item, list) and len(item) == 2 and all(text is None or isinstance(text, str) for text in item)


def read_message(item: Record, assumed: Assumed) -> Message | None:
    """Read one message: {role, content} in any of its spellings, LangChain's {type, content} and {lc, kwargs}.

    None for what has no role or nothing to say. What an assistant says beside a call of a tool is none of its answers.
    """
    if "kwargs" in item and isinstance(item.get("id"), list):  # LangChain's serialised objects
        item = {"type": str(item["id"][-1] if item["id"] else ""), **mapping(item["kwargs"])}
    role = role_of(first(item, "role", "from", "author", "speaker", "sender"))
    if role is None:
        kind = item.get("type")
        role = role_of(kind.removesuffix("MessageChunk").removesuffix("Message") if isinstance(kind, str) else None)
        role = "assistant" if kind == _REFUSAL else role
        item = {**item, **item["data"]} if role and isinstance(item.get("data"), dict) else item
    if role is None:
        return None
    metadata: dict[str, Any] = {}
    content = first(item, "content", "parts", "text", "value", "message")
    text = text_of(content, metadata, assumed)
    documents = found_in(content)
    if role == "user" and not text and documents is not None:
        role = "tool"
    if role == "tool" and documents is None:
        documents = documents_in(content)
    if role == "assistant" and "context" in item:
        documents = documents or documents_on_your_data(item["context"])
    text = text or (refusal_of(item) if role == "assistant" else "")
    called = calls_of(item) if role == "assistant" else []
    assumed[REDACTED] += is_redacted(text)
    text = "" if called or is_redacted(text) else text
    for key in ("annotations", "citations"):
        if isinstance(item.get(key), list) and item[key]:
            metadata.setdefault(key, []).extend(item[key])
    when = time_in(assumed, item, "timestamp", "created_at", "create_time", "time", "date", *BEGAN)
    named = short_name(item.get("id"))
    cut = role == "assistant" and is_cut(item)
    return Message(role, text, named, when, documents or [], metadata=metadata or None, called=called, is_cut=cut)


def refusal_of(item: Record) -> str:
    """Return with what words an assistant's message, or a piece of one, declines to answer; empty where it does not."""
    words = item.get(_REFUSAL) or mapping(item.get("additional_kwargs")).get(_REFUSAL)
    return words if isinstance(words, str) else ""


def calls_of(item: Record) -> list[str]:
    """Return the ids, or names, of the tools' calls that a message is: then its text is a remark on the way."""
    calls = item.get("tool_calls") or mapping(item.get("additional_kwargs")).get("tool_calls")
    calls = nested(calls or item.get("function_call"))
    if not isinstance(calls, list | dict) or not calls:
        content = first(item, "content", "parts")
        parts = content if isinstance(content, list) else []
        calls = [part for part in parts if isinstance(part, dict) and part.get("type") in _CALLS]
    return [_call_id(mapping(call)) for call in (calls if isinstance(calls, list) else [calls])]


def _add_call(messages: list[Message], called: str) -> None:
    """Add a call of a tool that stands as an item of its own: what was said right before it is a remark on the way."""
    if messages and messages[-1].role == "assistant":
        messages[-1].text = ""
        messages[-1].called = [*messages[-1].called, called]
    else:
        messages.append(Message("assistant", "", called=[called]))


def _call_id(call: Record) -> str:
    return short_name(first(call, "call_id", "id", "name") or mapping(call.get("function")).get("name")) or ""


def text_of(content: object, metadata: dict[str, Any], assumed: Assumed) -> str:
    """Return the text of a content, of its text blocks alone, and put the citations of blocks into the metadata."""
    if isinstance(content, str):
        return content
    if isinstance(content, dict):
        content = first(content, "parts", "content", "text")
        return content if isinstance(content, str) else text_of(items(content), metadata, assumed)
    text = ""
    for part in content if isinstance(content, list) else ():
        piece = _block_text(part, assumed)
        if piece is None:
            continue
        if isinstance(part, dict):
            for key in ("annotations", "citations"):
                for cited in _placed(part.get(key), len(text), len(piece)):
                    metadata.setdefault(key, []).append(cited)
        text += piece
    return text


def blocks_in(value: Any) -> Any:
    """Return the blocks, or the text, that a database or an attribute keeps as JSON in a string; any other as it is."""
    read = nested(value) if isinstance(value, str) and value.startswith(("[{", "{", '"')) else None
    if isinstance(read, str):
        return read
    read = [read] if isinstance(read, dict) and read.keys() == {"type", "text"} else read
    are_blocks = isinstance(read, list) and all(
        isinstance(part, dict) and ("type" in part or part.keys() <= _UNTYPED) for part in read
    )
    return read if are_blocks else value


def said_in(value: Any) -> Any:
    """Return what a message says that a table keeps whole, as JSON in its column of texts; any other value as it is.

    >>> said_in('{"format": 2, "parts": [{"type": "text", "text": "By card."}]}'), said_in('{"answer": "By card."}')
    ([{'type': 'text', 'text': 'By card.'}], '{"answer": "By card."}')
    """
    read = nested(value) if isinstance(value, str) and value.startswith("{") else value
    if isinstance(read, dict) and read.keys() <= _WHOLE:
        held = first(read, "parts", "content", "text")
        return held if isinstance(held, str | list) else value
    return blocks_in(value)


def spoken(value: object, role: str, assumed: Assumed) -> list[Message]:
    """Read an input or output: its messages, or the text that it is, said by `role`.

    JSON that ends too early is neither: exporters cut attributes that are longer than a limit.
    """
    value = nested(value)
    if isinstance(value, dict):
        if value.keys() == {"args", "kwargs"}:
            return _arguments(value, assumed)
        chosen = [mapping(choice).get("message") for choice in items(value.get("choices"))]
        value = chosen if any(chosen) else value
    messages = read_messages(value, assumed)
    text = "" if messages else plain_text(value, role)
    is_cut = bool(text) and _JSON.match(text.lstrip()) is not None
    assumed[CUT_OFF] += is_cut
    assumed[REDACTED] += is_redacted(text)
    if not text or is_cut or is_redacted(text):
        return messages
    messages = [Message(role, text, documents=documents_beside(value) if role == "assistant" else [])]
    read_acts(messages)
    return messages


def _arguments(given: Record, assumed: Assumed) -> list[Message]:
    """Read what a function was given, as Langfuse's decorator keeps it: messages, and a question beside them."""
    positional, named = items(given["args"]), mapping(given["kwargs"])
    lists = (read_messages(argument, assumed) for argument in (*positional, *named.values()))
    messages = next((messages for messages in lists if messages), [])
    question = _question_among([text for text in positional if isinstance(text, str) and text.strip()], assumed)
    question = question or plain_text(named) or next(filter(None, map(plain_text, positional)), "")
    if question and (not messages or messages[-1].role == "assistant"):
        messages += spoken(question, "user", assumed)
    return messages


def _question_among(texts: Sequence[str], assumed: Assumed) -> str:
    """Return which of a function's arguments is what the user said: words rather than an id."""
    worded = [text for text in texts if " " in text.strip() or max(text) >= _EAST]
    chosen = worded or [text for text in texts if _ID.search(text) is None] or texts
    assumed[SEVERAL] += len(chosen) > 1
    return chosen[0] if chosen else ""


def found_by_tools(messages: Iterable[Message]) -> list[dict[str, Any]]:
    """Return what tools found for the last question among messages: that of earlier turns is repeated, and is theirs.

    An answer among them that has no documents is given those that were found since its question.
    """
    documents: list[dict[str, Any]] = []
    for message in messages:
        if message.role == "user" and not message.documents:
            documents = []
        elif message.role != "assistant":
            documents += message.documents
        elif message.text.strip() and documents and not message.documents:
            message.documents = once(documents)
    return once(documents)


def spoken_in(messages: Iterable[Message]) -> list[Message]:
    """Return what the user and the assistant said to each other."""
    return [message for message in messages if message.role in ("user", "assistant") and message.text.strip()]


def questions_in(messages: Iterable[Message]) -> Iterator[tuple[Message, bool]]:
    """Give what users say among messages, and whether it is what was said last."""
    spoken = spoken_in(messages)
    yield from ((message, message is spoken[-1]) for message in spoken if message.role == "user")


def _block_text(part: object, assumed: Assumed) -> str | None:
    if isinstance(part, str):
        return part
    if not isinstance(part, dict):
        return None
    kind = part.get("type", "text")
    if kind in _TEXT_BLOCKS:
        given = first(part, "text", "content", "refusal", "value")
        given = given.get("value") if isinstance(given, dict) else given
        return given if isinstance(given, str) else ""
    assumed["blocks that are no text left out"] += kind not in _DOCUMENT_BLOCKS
    return None


def _placed(cited: object, start: int, length: int) -> Iterator[dict[str, Any]]:
    """Give a block's citations with spans in the whole text; one without a span is about its whole block."""
    for item in cited if isinstance(cited, list) else ():
        if not isinstance(item, dict):
            continue
        moved = dict(item)
        first_at, last_at = item.get("start_index"), item.get("end_index")
        if type(first_at) is int and type(last_at) is int:
            moved |= {"start_index": first_at + start, "end_index": last_at + start}
        elif "cited_text" in item or str(item.get("type")).endswith("_location"):  # Anthropic's are of their block
            moved |= {"start_index": start, "end_index": start + length}
        yield moved


def _says_nothing(item: Record) -> bool:
    """Say whether an item of a list of messages is known to be none: a call, its result, a thought."""
    return item.get("type") in (
        "reasoning",
        "function_call_output",
        "file_search_call",
        "web_search_call",
    )
