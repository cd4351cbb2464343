"""Google's Agent Development Kit: spans of its tracer, whose model calls hold request and response as JSON in texts.

invocation > invoke_agent NAME > call_llm, with contents and a content; execute_tool NAME, with a tool_response
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any

from turnsignal.stream.formats.cut_off import is_cut
from turnsignal.stream.formats.documents import documents_of_tool, once, read_documents
from turnsignal.stream.formats.messages import CUT_OFF, instructed
from turnsignal.stream.formats.otlp import Span, spans_of
from turnsignal.stream.formats.protocol import Assumed, Call, Message, Record, split_origin
from turnsignal.stream.formats.values import conversation_of, fields_of, first, items, mapping, short_name, short_names

_OWN = "gcp.vertex.agent."
_REQUEST, _RESPONSE, _TOOL = f"{_OWN}llm_request", f"{_OWN}llm_response", f"{_OWN}tool_response"
_OTHERS = ("openinference.", "traceloop.")  #: of instrumentations that write their own into the same spans
_SAID, _FENCE = "] said:", re.compile("<<<(?:BEGIN|END)_QUOTED_AGENT_CONTENT>>>")
_QUOTING = "For context:"  #: what a message begins with that quotes another agent, and no user typed
_RUN = "agent_run ["  #: what older versions call the span of an agent


class AgentDevelopmentKit:
    """Spans with gcp.vertex.agent.llm_request, as OTLP's JSON or rows of a table."""

    def looks_like(self, sample: Sequence[Record]) -> str:
        """Recognise spans by the request of a model that they hold."""
        keys = {key for record in sample for span in spans_of(record) for key in span.attributes}
        is_own = _REQUEST in keys and not any(key.startswith(_OTHERS) for key in keys)
        return f"spans with {_REQUEST}" if is_own else ""

    def read(self, record: Record, assumed: Assumed) -> Iterator[Call]:
        """Give the calls, the searches and the agents of one record."""
        for span in spans_of(record, assumed):
            yield _call(span, assumed)

    def origin(self, turn_id: str) -> dict[str, str]:
        """Return the ids of the trace and of the span."""
        return split_origin(turn_id, ("trace_id", "span_id"))


def _call(span: Span, assumed: Assumed) -> Call:
    given = span.attributes
    agent = given.get("gen_ai.agent.name") or span.title.partition(_RUN)[2].removesuffix("]")
    environment = first(span.resource, "deployment.environment.name", "deployment.environment")
    service = {"version": span.resource.get("service.version"), "environment": environment}
    call = Call(
        origin=f"adk:{span.trace}/{span.span}",
        kind="context",
        trace=span.trace or None,
        # An agent that is another one's tool has a session of its own in the same trace: the outermost one counts.
        session=conversation_of(
            {"id": None, "session_id": first(given, "gen_ai.conversation.id", f"{_OWN}session_id")}
        ),
        start=span.start,
        end=span.end,
        fields={**fields_of(service), **short_names(assistant=agent or None)},
    )
    if _TOOL in given:
        if documents := _documents_in(_read(given, _TOOL, assumed)):
            call.kind, call.documents = "retrieval", documents
    elif _REQUEST in given:
        request, response = (mapping(_read(given, key, assumed)) for key in (_REQUEST, _RESPONSE))
        asked = [message for content in items(request.get("contents")) for message in _messages(mapping(content))]
        call.kind = "answer"
        call.inputs = instructed(asked, mapping(request.get("config")).get("system_instruction"), assumed)
        call.outputs = _answer(response)
        call.fields |= short_names(model=first(given, "gen_ai.request.model") or request.get("model"))
    return call


def _read(given: Record, key: str, assumed: Assumed) -> Any:
    """Return the JSON under a key; what exporters cut is counted."""
    held = mapping(text := given.get(key)) or items(text)
    assumed[CUT_OFF] += isinstance(text, str) and not held and text[:1] in ("{", "[") and len(text) > len("{}")
    return held


def _documents_in(result: Any) -> list[dict[str, Any]]:
    """Return the documents that a tool returned: its result, or the results of several in a list."""
    results = [mapping(mapping(part).get("response")) or mapping(part) for part in items(result) or [result]]
    return once(document for each in results for document in documents_of_tool(each.get("result", each)))


def _messages(content: Record) -> Iterator[Message]:
    """Give what a content says: what was typed or answered, what a tool returned, or what another agent said."""
    parts = [mapping(part) for part in items(content.get("parts"))]
    returned = [mapping(first(part, "function_response", "functionResponse")) for part in parts]
    for each in filter(None, returned):
        yield Message("tool", "", documents=_documents_in(each.get("response")))
    if content.get("role") == "model":
        yield _said(parts)
    elif parts and _text_of(parts[0]).startswith(_QUOTING):
        for text in map(_text_of, parts[1:]):
            if (answer := text.partition(_SAID)[2]) and text.startswith("["):
                yield Message("assistant", _FENCE.sub("", answer).strip())
    elif not any(returned):
        yield Message("user", "\n".join(filter(None, map(_text_of, parts))))


def _said(parts: Sequence[Record]) -> Message:
    calls = [mapping(first(part, "function_call", "functionCall")) for part in parts]
    called = [short_name(first(each, "id", "name")) or "" for each in calls if each]
    text = "".join(_text_of(part) for part in parts if part.get("thought") is not True)
    return Message("assistant", "" if called else text, called=called)


def _text_of(part: Record) -> str:
    return part["text"] if isinstance(part.get("text"), str) else ""


def _answer(response: Record) -> list[Message]:
    parts = [mapping(part) for part in items(mapping(response.get("content")).get("parts"))]
    answer = _said(parts)
    chunks = items(mapping(response.get("grounding_metadata")).get("grounding_chunks"))
    answer.documents = read_documents([mapping(each).get("retrieved_context") for each in chunks])
    answer.is_cut = is_cut(response)
    return [answer] if parts else []
