"""Span events: messages that OpenTelemetry's emitters write as events of a span, one each.

Pydantic AI's first version has a list of them in an attribute: [{"event.name": "gen_ai.user.message", "content": …}].
"""

from turnsignal.stream.formats.messages import blocks_in, read_messages, spoken
from turnsignal.stream.formats.otlp import Span
from turnsignal.stream.formats.protocol import Assumed, Message
from turnsignal.stream.formats.values import items, mapping

_ROLES = {f"gen_ai.{role}.message": role for role in ("system", "user", "assistant", "tool")}
_TEXTS = ("content", "message")  #: of an event, which may be blocks as JSON
_CONTENTS = {"gen_ai.content.prompt": "gen_ai.prompt", "gen_ai.content.completion": "gen_ai.completion"}


def messages_in_events(span: Span, assumed: Assumed) -> tuple[list[Message], list[Message]]:
    """Read what was asked, and what was answered, in the events of a span."""
    inputs: list[Message] = []
    outputs: list[Message] = []
    listed = [mapping(event) for event in items(span.attributes.get("events"))]
    for event, given in [*span.events, *((str(event.get("event.name")), event) for event in listed)]:
        attributes = {key: blocks_in(value) if key in _TEXTS else value for key, value in given.items()}
        if event in _ROLES:
            inputs += read_messages({"role": _ROLES[event], **attributes}, assumed)
        elif event == "gen_ai.choice":
            message = mapping(attributes.get("message")) or attributes
            outputs += read_messages({**message, "role": "assistant"}, assumed)
        elif event in _CONTENTS:
            role = "user" if event == "gen_ai.content.prompt" else "assistant"
            (inputs if role == "user" else outputs).extend(spoken(attributes.get(_CONTENTS[event]), role, assumed))
    return inputs, outputs
