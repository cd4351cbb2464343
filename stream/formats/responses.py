"""OpenAI Responses: output items with annotations, file searches with their results, and chains of responses."""

from collections.abc import Iterator, Sequence

from turnsignal.stream.formats.cut_off import is_cut
from turnsignal.stream.formats.documents import read_documents
from turnsignal.stream.formats.messages import instructed, read_messages, spoken
from turnsignal.stream.formats.protocol import Assumed, Call, Message, Record, split_origin
from turnsignal.stream.formats.thumbs import give_vote
from turnsignal.stream.formats.times import BEGAN, time_in
from turnsignal.stream.formats.tool_results import returned_in
from turnsignal.stream.formats.values import (
    body_of,
    contexts_of,
    conversation_of,
    fields_of,
    first,
    items,
    mapping,
    seconds,
    short_name,
)
from turnsignal.stream.formats.vendors import refuse_foreign

_BEGUN = ("queued", "in_progress")  #: states of a response in the background


class OpenAIResponses:
    """Response objects, alone or beside their requests."""

    def looks_like(self, sample: Sequence[Record]) -> str:
        """Recognise objects of the type `response`."""
        is_response = any(_response(record).get("object") == "response" for record in sample)
        return "objects of the type response" if is_response else ""

    def read(self, record: Record, assumed: Assumed) -> Iterator[Call]:
        """Give the call that a response is."""
        response = _response(record)
        if response.get("object") != "response":
            refuse_foreign(record, "responses")
        request = body_of(record, "request", "request_body", "body") or record
        metadata = {**mapping(record.get("metadata")), **mapping(response.get("metadata"))}
        outputs = [item for item in items(response.get("output")) if isinstance(item, dict)]
        searches = [item for item in outputs if item.get("type") == "file_search_call"]
        results = [result for search in searches for result in items(search.get("results"))]
        assumed["file searches without results (ask for them with `include`)"] += bool(searches and not results)
        asked = request.get("input") if request is not response else None
        asked = first(record, "input") if asked is None else asked
        named = short_name(response.get("id"))
        made = _made(record, response, assumed)
        done = seconds(response.get("completed_at"))
        done = made if done is None else max(done, made or done)
        text = "\n\n".join(message.text for message in read_messages(outputs, assumed) if message.role == "assistant")
        joined = _join_answers(read_messages(outputs, Assumed()), text)
        if response.get("status") in _BEGUN and joined:
            joined = []  # whoever asks for it again gets more of it
            assumed["answers that were still being made left out"] += 1
        for message in joined:
            message.is_cut = is_cut(response)
        give_vote(joined, record, assumed)
        yield Call(
            origin=f"responses:{named or ''}",
            conversation=conversation_of(
                {"conversation": response.get("conversation")}, request, metadata, record, *contexts_of(record)
            ),
            response=named,
            previous=short_name(first(response, "previous_response_id") or first(request, "previous_response_id")),
            returned=returned_in(asked),
            start=made,
            end=done,
            inputs=instructed(spoken(asked, "user", assumed), first(request, "instructions"), assumed),
            outputs=joined,
            documents=read_documents(results),
            fields=fields_of(metadata, response, request),
        )

    def origin(self, turn_id: str) -> dict[str, str]:
        """Return the response's id."""
        return split_origin(turn_id, ("response_id",))


def _made(record: Record, response: Record, assumed: Assumed) -> float | None:
    """Return when a response was begun: in its own second, which is a whole one, where its record says more of it."""
    made = time_in(assumed, response, "created_at", "created")
    logged = time_in(assumed if made is None else Assumed(), record, *BEGAN)
    is_finer = made is not None and logged is not None and made % 1 == 0 and made <= logged < made + 1
    return logged if made is None or is_finer else made


def _join_answers(messages: list[Message], text: str) -> list[Message]:
    """Put an answer of several items together; annotations count in the item that they are of."""
    answers = [message for message in messages if message.role == "assistant"]
    for message in answers:
        message.id = None  # the response's own id leads back
    if len(answers) < 2:
        return answers
    cited, start = [], 0
    for message in answers:
        for item in (message.metadata or {}).get("annotations", []):
            ends = {key: item[key] + start for key in ("start_index", "end_index") if type(item.get(key)) is int}
            cited.append({**item, **ends})
        start += len(message.text) + 2
    return [Message("assistant", text, metadata={"annotations": cited} if cited else None)]


def _response(record: Record) -> Record:
    inner = body_of(record, "response", "response_body", "output")
    return inner if inner.get("object") == "response" else record
