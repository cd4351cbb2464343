"""OpenAI chat completions: lists of messages, and logs of requests and responses, streamed ones too."""

from collections.abc import Iterator, Sequence

from turnsignal.stream.formats.answers import answer_of, has_choices, is_foreign, message_of, response_of, sent_in
from turnsignal.stream.formats.cut_off import is_cut
from turnsignal.stream.formats.documents import DOCUMENTS, read_documents
from turnsignal.stream.formats.halves import half_of
from turnsignal.stream.formats.messages import NO_MESSAGES, calls_of, read_messages, refusal_of, role_of
from turnsignal.stream.formats.open_webui import chat_of, is_chat
from turnsignal.stream.formats.protocol import Assumed, Call, Message, Record, split_origin
from turnsignal.stream.formats.thumbs import give_vote
from turnsignal.stream.formats.times import BEGAN, is_day_of, time_in
from turnsignal.stream.formats.tool_results import returned_in
from turnsignal.stream.formats.values import contexts_of, conversation_of, fields_of, first, items, mapping, seconds
from turnsignal.stream.formats.vendors import is_own_chat

_OTHERS = ("search_result", "document", "tool_use", "tool_result")  #: blocks of Anthropic's messages
_TIMES = ("created", "created_at", "timestamp", "time", "start_time", "date", *BEGAN)


class OpenAIChat:
    """{messages: [{role, content}]}, {messages, response: "text"}, {request, response}, chat.completion objects."""

    def looks_like(self, sample: Sequence[Record]) -> str:
        """Recognise messages with OpenAI's roles, or choices."""
        if any(map(has_choices, sample)):
            return "choices of chat completions"
        if any(map(is_chat, sample)):
            return "chats of Open WebUI"
        for record in sample:
            request = mapping(first(record, "request", "request_body", "body")) or record
            messages = [item for item in items(request.get("messages")) if isinstance(item, dict)]
            blocks = [part for item in messages for part in items(item.get("content")) if isinstance(part, dict)]
            if any(part.get("type") in _OTHERS or "citations" in part for part in blocks) or is_foreign(record):
                return ""
            if any(role_of(item.get("role")) for item in messages):
                return "messages with role and content"
        return ""

    def read(self, record: Record, assumed: Assumed) -> Iterator[Call]:
        """Give the call that a request and its response are."""
        request, response = _request(record), response_of(record)
        is_piece = response.get("object") == "chat.completion.chunk"
        if is_piece or is_chat(record):
            yield from _piece(record, request, response, assumed) if is_piece else [chat_of(record, assumed)]
            return
        metadata = {**mapping(request.get("metadata")), **mapping(record.get("metadata"))}
        choices = items(response.get("choices"))
        answer = None if choices else answer_of(record)
        if not choices and answer is None and not is_own_chat(record, "openai", assumed):
            return
        sent = sent_in(request)
        if not choices and not sent:
            assumed[NO_MESSAGES] += 1
            return
        inputs = read_messages(sent, assumed)
        outputs = read_messages([message_of(mapping(choice)) for choice in choices], assumed)
        if answer is not None and inputs and inputs[-1].role == "assistant":
            assumed["texts beside messages that end with an answer left out"] += 1
        elif answer is not None:
            outputs = read_messages(answer, assumed)
        for message in outputs[:1] if choices else ():
            message.is_cut = is_cut(mapping(choices[0]))
        give_vote(outputs, record, assumed, inputs if inputs[-1:] and inputs[-1].role == "assistant" else ())
        start = time_in(assumed, record, *_TIMES)
        start = time_in(assumed, request, *_TIMES) if start is None and request is not record else start
        made = seconds(response.get("created"))
        start = None if start is not None and made is not None and is_day_of(start, made) else start
        named = first(response, "id")  # no response's id: servers and loggers use one again for others
        named = first(record, "id", "request_id", "custom_id") if named is None else named
        named = conversation_of(record, metadata) or "" if named is None else named
        kind, batch = half_of(record, bool(choices or outputs), bool(sent), inputs)
        fields = fields_of(metadata, response, record, request)
        if inputs and fields.get("user_id") == inputs[-1].text:  # a column of what users say is called `user`
            del fields["user_id"]
        # The request's model is the one asked for; the response's the one that answered.
        yield Call(
            origin=f"openai:{named}",
            kind=kind,
            trace=batch,
            conversation=conversation_of(metadata, record, request, *contexts_of(record), *contexts_of(request)),
            returned=returned_in(sent),
            start=start if start is not None else made,
            end=made if made is not None and (start is None or made >= start) else start,
            inputs=inputs,
            outputs=outputs,
            documents=read_documents(first(record, *DOCUMENTS) or first(metadata, *DOCUMENTS)),
            fields=fields,
        )

    def origin(self, turn_id: str) -> dict[str, str]:
        """Return the completion's id."""
        return split_origin(turn_id, ("id",))


def _request(record: Record) -> Record:
    """Return what holds the messages: the record, or its request."""
    inner = mapping(first(record, "request", "request_body", "input", "body", "kwargs"))
    inner = mapping(inner.get("body")) or inner
    return inner if "messages" in inner or isinstance(inner.get("prompt"), str) else record


def _piece(record: Record, request: Record, response: Record, assumed: Assumed) -> Iterator[Call]:
    deltas = [mapping(mapping(choice).get("delta")) for choice in items(response.get("choices"))[:1]]
    text = "".join(words for each in deltas if isinstance(words := each.get("content") or refusal_of(each), str))
    called = [called for delta in deltas for called in calls_of(delta) if called]  # later pieces have no id
    made = seconds(response.get("created"))
    metadata = {**mapping(request.get("metadata")), **mapping(record.get("metadata"))}
    yield Call(
        origin=f"openai:{response.get('id')}",
        conversation=conversation_of(metadata, record, request),
        response=str(response.get("id")),
        partial=True,
        start=made,
        end=made,
        inputs=read_messages(request.get("messages"), assumed),
        outputs=[Message("assistant", text, called=called)] if text or called else [],
        fields=fields_of(metadata, response, record, request),
    )
