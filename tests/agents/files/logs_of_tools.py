"""Logs as teams' tools write them, made of turns: what a round trip reads back, and what reading is timed with.

A writer takes the history as it was sent, the answer or None, the id of the request, and fields of the answer. What a
format cannot carry stands in LOST: tests take it from the turns, too, before they compare.
"""

from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from itertools import groupby
from typing import Any

import orjson

Turn = dict[str, Any]
Write = Callable[[list[Turn], Turn | None, str, dict[str, Any]], Iterator[Turn]]

FIELDS = ("assistant", "version", "model", "platform")
RANK, DOCUMENTS, TIMES, ANSWERED = "the rank before reranking", "documents", "times", "when it was answered"
#: format → what it cannot carry
LOST: dict[str, tuple[str, ...]] = {
    "openai": (),
    "responses": (RANK,),
    "agents": (),
    "anthropic": (RANK,),
    "otel": (RANK,),
    "adk": (RANK, "platform"),
    "openinference": (),
    "openllmetry": (RANK,),
    "langfuse": (),
    "mlflow": (),
    "langsmith": (),
    "langchain": (ANSWERED,),
    "pydanticai": (),
    "sharegpt": (DOCUMENTS, TIMES),
    "apim": (DOCUMENTS, "assistant", "version", "platform"),
    "dialogflow": (RANK, ANSWERED, "version", "model"),
}


def calls_of(spoken: list[Turn]) -> Iterator[tuple[list[Turn], Turn | None, str, dict[str, Any]]]:
    """What `Write` takes of a conversation: each call with the whole history; the last message may have no answer."""
    for number, turn in enumerate(spoken):
        answer = turn if turn["role"] == "assistant" else None
        history = spoken[:number] if answer else spoken
        if history and (answer or number == len(spoken) - 1):
            fields = {key: turn[key] for key in FIELDS if key in turn}
            yield history, answer, f"{turn['conversation_id']}-{number}", fields


def documents(answer: Turn | None) -> list[Turn]:
    given = answer["retrieved"] if answer and "retrieved" in answer else []
    return [{**document, "id": document["doc_id"]} for document in given]


def messages(history: list[Turn]) -> list[Turn]:
    return [{"role": turn["role"], "content": turn["text"]} for turn in history]


def asked(history: list[Turn]) -> list[Turn]:
    """What was said since the last answer."""
    groups = [(role, list(group)) for role, group in groupby(history, key=lambda turn: turn["role"])]
    return groups[-1][1] if groups[-1][0] == "user" else []


def ends(history: list[Turn], answer: Turn | None) -> tuple[str, str]:
    return history[-1]["timestamp"], (answer or history[-1])["timestamp"]


def seconds(stamp: str) -> float:
    return datetime.fromisoformat(stamp).timestamp()


def openai(history: list[Turn], answer: Turn | None, trace: str, fields: dict[str, Any]) -> Iterator[Turn]:
    start, end = ends(history, answer)
    choices = [{"message": {"role": "assistant", "content": answer["text"]}}] if answer else []
    yield {
        "timestamp": start,
        "metadata": {"conversation_id": history[-1]["conversation_id"], **fields},
        "request": {"messages": messages(history)},
        "response": {"id": trace, "choices": choices, "created": seconds(end)},
        "documents": documents(answer),
    }


def responses(history: list[Turn], answer: Turn | None, trace: str, fields: dict[str, Any]) -> Iterator[Turn]:
    start, end = map(seconds, ends(history, answer))
    conversation = trace.rpartition("-")[0]
    before = len(history) - len(asked(history)) - 1
    results = [
        {"file_id": document["id"], "filename": document.get("title"), "text": document.get("text")}
        for document in documents(answer)
    ]
    content = [{"type": "output_text", "text": answer["text"], "annotations": []}] if answer else []
    output = [
        {"type": "file_search_call", "results": results},
        {"type": "message", "role": "assistant", "content": content},
    ]
    response = {"id": trace, "object": "response", "created_at": start, "completed_at": end, "metadata": fields}
    previous = f"{conversation}-{before}" if before >= 0 else None
    conversed = {"conversation": {"id": conversation}} if before < 0 else {"previous_response_id": previous}
    yield {"request": {"input": messages(asked(history))}, "response": {**response, **conversed, "output": output}}


def agents(history: list[Turn], answer: Turn | None, trace: str, fields: dict[str, Any]) -> Iterator[Turn]:
    start, end = ends(history, answer)
    model = {"model": fields["model"]} if "model" in fields else {}
    output = [{"role": "assistant", "content": answer["text"]}] if answer else []
    found = {"type": "function", "name": "search", "output": orjson.dumps(documents(answer)).decode()}
    said = {"type": "generation", "input": messages(history), "output": output, **model}
    group = history[-1]["conversation_id"]
    yield {"object": "trace", "id": trace, "workflow_name": None, "group_id": group, "metadata": fields}
    for named, data in {"f": found, "g": said}.items():
        span = {"object": "trace.span", "id": named, "trace_id": trace, "span_data": data}
        yield {**span, "started_at": start, "ended_at": end}


def anthropic(history: list[Turn], answer: Turn | None, trace: str, fields: dict[str, Any]) -> Iterator[Turn]:
    start, end = ends(history, answer)
    *before, last = messages(history)
    blocks: list[Turn] = [
        {
            "type": "search_result",
            "source": document["id"],
            "title": document.get("title"),
            "content": [{"type": "text", "text": document.get("text", "")}],
        }
        for document in documents(answer)
    ]
    last["content"] = [*blocks, {"type": "text", "text": last["content"]}]
    content = [{"type": "text", "text": answer["text"]}] if answer else []
    yield {
        "timestamp": start,
        "end_time": end,
        "metadata": {"conversation_id": history[-1]["conversation_id"], **fields},
        "request": {"messages": [*before, last]},
        "response": {"id": trace, "type": "message", "role": "assistant", "content": content},
    }


def langfuse(history: list[Turn], answer: Turn | None, trace: str, fields: dict[str, Any]) -> Iterator[Turn]:
    start, end = ends(history, answer)
    both = {"trace_id": trace, "session_id": history[-1]["conversation_id"], "start_time": start, "end_time": end}
    both["metadata"] = orjson.dumps(fields).decode()
    yield {**both, "id": "r", "type": "RETRIEVER", "output": orjson.dumps(documents(answer)).decode()}
    text = answer["text"] if answer else None
    model = {"provided_model_name": fields.get("model")}
    yield {**both, **model, "id": "g", "type": "GENERATION", "input": messages(history), "output": text}


def mlflow(history: list[Turn], answer: Turn | None, trace: str, fields: dict[str, Any]) -> Iterator[Turn]:
    times = [round(seconds(stamp) * 1e6) * 1000 for stamp in ends(history, answer)]
    both = {"trace_id": "AAAA", "start_time_unix_nano": times[0], "end_time_unix_nano": times[1]}

    def span(named: str, kind: str, asked: Any, got: Any) -> Turn:
        given = {"mlflow.spanType": kind, "mlflow.spanInputs": asked, "mlflow.spanOutputs": got}
        texts = {key: orjson.dumps(value).decode() for key, value in given.items()}
        return {**both, "span_id": named, "parent_span_id": "r" if named != "r" else None, "attributes": texts}

    text = answer["text"] if answer else None
    said = {"choices": [{"message": {"role": "assistant", "content": text}}], "model": fields.get("model")}
    spans_of_trace = [
        span("r", "CHAIN", {"messages": messages(history)}, text),
        span("d", "RETRIEVER", {"query": history[-1]["text"]}, documents(answer)),
        span("m", "CHAT_MODEL", {"messages": messages(history)}, said if answer else None),
    ]
    metadata = {"mlflow.trace.session": history[-1]["conversation_id"], **fields}
    info = {"trace_id": trace, "request_time": history[-1]["timestamp"], "trace_metadata": metadata, "tags": {}}
    yield {"info": info, "data": {"spans": spans_of_trace}}


def langsmith(history: list[Turn], answer: Turn | None, trace: str, fields: dict[str, Any]) -> Iterator[Turn]:
    start, end = ends(history, answer)
    metadata = {"metadata": {"thread_id": history[-1]["conversation_id"], **fields}}
    both = {"trace_id": trace, "session_id": "project", "start_time": start, "end_time": end, "extra": metadata}
    outputs = {"output": answer["text"]} if answer else None
    yield {**both, "id": trace, "run_type": "chain", "inputs": {"messages": messages(history)}, "outputs": outputs}
    retrieved = {"documents": documents(answer)}
    yield {**both, "id": "r", "parent_run_id": trace, "run_type": "retriever", "inputs": {}, "outputs": retrieved}


def langchain(history: list[Turn], answer: Turn | None, trace: str, fields: dict[str, Any]) -> Iterator[Turn]:
    types = {"user": "human", "assistant": "ai"}
    spoken = [*history, answer] if answer else history
    yield {
        "id": trace,
        "ts": (answer or history[-1])["timestamp"],
        "thread_id": history[-1]["conversation_id"],
        "messages": [{"type": types[turn["role"]], "data": {"content": turn["text"]}} for turn in spoken],
        "documents": documents(answer),
        "metadata": fields,
    }


def sharegpt(history: list[Turn], answer: Turn | None, trace: str, fields: dict[str, Any]) -> Iterator[Turn]:
    names = {"user": "human", "assistant": "gpt"}
    spoken = [*history, answer] if answer else history
    said = [{"from": names[turn["role"]], "value": turn["text"]} for turn in spoken]
    yield {"id": history[-1]["conversation_id"], "conversations": said, **fields}


def pydanticai(history: list[Turn], answer: Turn | None, trace: str, fields: dict[str, Any]) -> Iterator[Turn]:
    start, end = ends(history, answer)
    model = {"model_name": fields.get("model"), "timestamp": end}
    said: list[Turn] = []
    for turn in history:
        if turn["role"] == "user":
            part = {"part_kind": "user-prompt", "content": turn["text"], "timestamp": turn["timestamp"]}
            said.append({"kind": "request", "parts": [part]})
        else:
            part = {"part_kind": "text", "content": turn["text"]}
            said.append({"kind": "response", "parts": [part], "timestamp": turn["timestamp"]})
    if answer and (found := documents(answer)):
        names = {"tool_name": "search", "tool_call_id": "call_1", "timestamp": start}
        said += [
            {"kind": "response", "parts": [{"part_kind": "tool-call", **names, "args": {}}], "timestamp": start},
            {"kind": "request", "parts": [{"part_kind": "tool-return", **names, "content": found}]},
        ]
    if answer:
        said.append({"kind": "response", "parts": [{"part_kind": "text", "content": answer["text"]}], **model})
    conversation = history[-1]["conversation_id"]
    yield {"id": trace, "session_id": conversation, "message_list": orjson.dumps(said).decode(), **fields}


def apim(history: list[Turn], answer: Turn | None, trace: str, fields: dict[str, Any]) -> Iterator[Turn]:
    start, end = ends(history, answer)
    both = {"CorrelationId": trace, "ModelName": fields.get("model"), "ConversationId": history[-1]["conversation_id"]}
    said = [{"role": "assistant", "content": answer["text"]}] if answer else []
    asked = {"SequenceNumber": 0, "RequestMessages": orjson.dumps(messages(history)).decode()}
    yield {"TimeGenerated": start, **both, **asked, "ResponseMessages": ""}
    if answer:
        answered = {"SequenceNumber": 1, "ResponseMessages": orjson.dumps(said).decode()}
        yield {"TimeGenerated": end, **both, "RequestMessages": "", **answered}


def dialogflow(history: list[Turn], answer: Turn | None, trace: str, fields: dict[str, Any]) -> Iterator[Turn]:
    name, _, number = trace.rpartition("-")
    snippets = [
        {"documentUri": document["id"], "documentTitle": document.get("title"), "text": document.get("text")}
        for document in documents(answer)
    ]
    said = asked(history) or [{"text": None, "timestamp": answer["timestamp"] if answer else ""}]
    for position, turn in enumerate(said, int(number) - len(said) + 1):
        result: Turn = {"text": turn["text"]}
        if turn is said[-1] and answer:
            result |= {"responseMessages": [{"text": {"text": [answer["text"]]}}]}
            result |= {"dataStoreConnectionSignals": {"searchSnippets": snippets}}
        yield {
            "conversation_name": f"projects/p/agents/{fields['assistant']}/sessions/{name}",
            "agent_id": f"projects/p/agents/{fields['assistant']}",
            "turn_position": position,
            "request_time": turn["timestamp"],
            "request": orjson.dumps({"queryParams": {"channel": fields.get("platform")}}).decode(),
            "response": orjson.dumps({"queryResult": result}).decode(),
        }


def spans(trace: str, start: str, end: str, *attributes: dict[str, Any], events: list[Turn] | None = None) -> Turn:
    """A request of OTLP with one span for each set of attributes, the first with events."""
    begun, ended = (str(round(seconds(stamp) * 1e6) * 1000) for stamp in (start, end))
    made = [
        {
            "traceId": trace,
            "spanId": f"s{number}",
            "startTimeUnixNano": begun,
            "endTimeUnixNano": ended,
            "attributes": listed(given),
            "events": (events or []) if number == 0 else [],
        }
        for number, given in enumerate(attributes)
    ]
    return {"resourceSpans": [{"scopeSpans": [{"spans": made}]}]}


def listed(attributes: dict[str, Any]) -> list[Turn]:
    kinds = {str: "stringValue", float: "doubleValue"}
    given = {key: value for key, value in attributes.items() if value is not None}
    return [{"key": key, "value": {kinds[type(value)]: value}} for key, value in given.items()]


def otel(history: list[Turn], answer: Turn | None, trace: str, fields: dict[str, Any]) -> Iterator[Turn]:
    parts = [{"role": turn["role"], "parts": [{"type": "text", "content": turn["text"]}]} for turn in history]
    said = [{"role": "assistant", "parts": [{"type": "text", "content": answer["text"]}]}] if answer else []
    chat = {
        "gen_ai.operation.name": "chat",
        "gen_ai.conversation.id": history[-1]["conversation_id"],
        "gen_ai.agent.name": fields["assistant"],
        "gen_ai.input.messages": orjson.dumps(parts).decode(),
        "gen_ai.output.messages": orjson.dumps(said).decode(),
        "gen_ai.prompt.version": fields.get("version"),
        "gen_ai.response.model": fields.get("model"),
        "platform": fields.get("platform"),
    }
    plain = [{key: document[key] for key in ("id", "score", "title", "text")} for document in documents(answer)]
    found = {"gen_ai.operation.name": "retrieval", "gen_ai.retrieval.documents": orjson.dumps(plain).decode()}
    yield spans(trace, *ends(history, answer), chat, found)


def adk(history: list[Turn], answer: Turn | None, trace: str, fields: dict[str, Any]) -> Iterator[Turn]:
    names = {"user": "user", "assistant": "model"}
    contents = [{"role": names[turn["role"]], "parts": [{"text": turn["text"]}]} for turn in history]
    said = {"content": {"role": "model", "parts": [{"text": answer["text"]}]}} if answer else {}
    session = {"gcp.vertex.agent.session_id": history[-1]["conversation_id"]}
    call = {
        "gen_ai.system": "gcp.vertex.agent",
        "gen_ai.request.model": fields.get("model"),
        **session,
        "gcp.vertex.agent.llm_request": orjson.dumps({"contents": contents, "config": {}}).decode(),
        "gcp.vertex.agent.llm_response": orjson.dumps(said).decode(),
    }
    agent = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": fields["assistant"]}
    plain = [{key: document[key] for key in ("id", "score", "title", "text")} for document in documents(answer)]
    found = {"gcp.vertex.agent.llm_request": "{}", "gcp.vertex.agent.tool_response": orjson.dumps({"result": plain})}
    found = {key: value if isinstance(value, str) else value.decode() for key, value in found.items()}
    resource = {"attributes": listed({"service.version": fields.get("version")})}
    made = spans(trace, *ends(history, answer), agent, call, found)
    made["resourceSpans"][0]["resource"] = resource
    yield made


def openinference(history: list[Turn], answer: Turn | None, trace: str, fields: dict[str, Any]) -> Iterator[Turn]:
    model = {"openinference.span.kind": "LLM", "session.id": history[-1]["conversation_id"]}
    model |= {"llm.model_name": fields.get("model"), "metadata": orjson.dumps(fields).decode()}
    for side, said in (("input", history), ("output", [answer] if answer else [])):
        for number, turn in enumerate(said):
            model |= {f"llm.{side}_messages.{number}.message.{key}": turn[of] for key, of in OF.items()}
    given = documents(answer)
    before = sorted((document for document in given if "retrieval_rank" in document), key=lambda d: d["retrieval_rank"])
    found = {"openinference.span.kind": "RETRIEVER", **numbered("retrieval.documents", before or given)}
    again = {"openinference.span.kind": "RERANKER", **numbered("reranker.output_documents", given)}
    yield spans(trace, *ends(history, answer), model, found, *([again] if before else []))


def openllmetry(history: list[Turn], answer: Turn | None, trace: str, fields: dict[str, Any]) -> Iterator[Turn]:
    both = {f"traceloop.association.properties.{key}": value for key, value in fields.items()}
    both |= {"traceloop.association.properties.session_id": history[-1]["conversation_id"]}
    model: dict[str, Any] = {**both, "gen_ai.response.model": fields.get("model")}
    for side, said in (("prompt", history), ("completion", [answer] if answer else [])):
        for number, turn in enumerate(said):
            model |= {f"gen_ai.{side}.{number}.{key}": turn[of] for key, of in OF.items()}
    names = {"id": "id", "score": "score", "text": "document"}
    hits: list[Turn] = [
        {
            "name": "db.query.result",
            "attributes": listed({f"db.query.result.{as_}": document.get(key) for key, as_ in names.items()}),
        }
        for document in documents(answer)
    ]
    yield spans(trace, *ends(history, answer), both, model, events=hits)


OF = {"role": "role", "content": "text"}


def numbered(prefix: str, given: list[Turn]) -> dict[str, Any]:
    return {
        f"{prefix}.{number}.document.{as_}": document.get(key)
        for number, document in enumerate(given)
        for key, as_ in {"id": "id", "score": "score", "text": "content"}.items()
    }


WRITERS: dict[str, Write] = {
    "openai": openai,
    "responses": responses,
    "agents": agents,
    "anthropic": anthropic,
    "otel": otel,
    "adk": adk,
    "openinference": openinference,
    "openllmetry": openllmetry,
    "langfuse": langfuse,
    "mlflow": mlflow,
    "langsmith": langsmith,
    "langchain": langchain,
    "pydanticai": pydanticai,
    "sharegpt": sharegpt,
    "apim": apim,
    "dialogflow": dialogflow,
}
WHOLE = ("sharegpt",)  #: formats that hold a conversation in one record


def written(turns: Iterable[Turn], name: str) -> Iterator[Turn]:
    """What a tool would have logged of turns, in a format by its name."""
    conversations: dict[str, list[Turn]] = {}
    for turn in turns:
        conversations.setdefault(turn["conversation_id"], []).append(turn)
    for spoken in conversations.values():
        calls = list(calls_of(spoken))
        for call in calls[-1:] if name in WHOLE else calls:
            yield from WRITERS[name](*call)


def without(turn: Turn, lost: tuple[str, ...]) -> Turn:
    """A turn without what a format cannot carry; of times the order stays."""
    kept = {key: value for key, value in turn.items() if key not in lost}
    if DOCUMENTS in lost:
        kept.pop("retrieved", None)
    if RANK in lost and "retrieved" in kept:
        kept["retrieved"] = [
            {key: value for key, value in document.items() if key != "retrieval_rank"} for document in kept["retrieved"]
        ]
    return kept
