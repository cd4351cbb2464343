"""Files that the genuine SDKs write of one invented conversation, made by themselves against a fake server.

No vendor's server runs here. A venv of its own, no part of the project's:

    python3 -m venv /tmp/sdks
    /tmp/sdks/bin/pip install openai anthropic langfuse langsmith langchain-openai opentelemetry-sdk \
        opentelemetry-exporter-otlp-proto-common opentelemetry-instrumentation-openai-v2 \
        'opentelemetry-util-genai<1' opentelemetry-instrumentation-openai \
        openinference-instrumentation-openai openinference-instrumentation-langchain
    cd tests/data/formats/genuine && /tmp/sdks/bin/python make.py

Each file is made in a process of its own, as instrumentations change the same client. VERSIONS says which they were.
"""

import base64
import json
import logging
import os
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.metadata import version
from pathlib import Path

HERE = Path(__file__).parent
SYSTEM = "You help customers of a shop for lamps."
ANSWERS = {
    "How do I reset my lamp?": "Hold the red button for five seconds [1].",
    "Which button?": "The one below the shade [2].",
}
DOCUMENTS = {"d-reset": "Hold the red button to reset the lamp.", "d-parts": "The red button is below the shade."}
MODEL, CONVERSATION, USER = "gpt-4.1-mini", "lamp-17", "u-4711"
PACKAGES = (
    *("openai", "anthropic", "langfuse", "langsmith", "langchain-openai", "opentelemetry-sdk"),
    *("opentelemetry-instrumentation-openai-v2", "opentelemetry-util-genai", "opentelemetry-instrumentation-openai"),
    *("openinference-instrumentation-openai", "openinference-instrumentation-langchain"),
)
RUNS = []  #: what the fake server of LangSmith was sent


class Server(BaseHTTPRequestHandler):
    """Answers as the three APIs do, word for word the same each time."""

    def log_message(self, *_):
        """Say nothing."""

    def do_GET(self):
        """Answer what LangSmith asks about its server."""
        self.send({})

    def do_PATCH(self):
        """Take the end of a run."""
        self.do_POST()

    def do_POST(self):
        """Answer a question."""
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        given = json.loads(body) if body[:1] in b"{[" else {}
        if "/runs" in self.path:
            RUNS.append({**given, "id": given.get("id") or self.path.rpartition("/")[2]})
            self.send({})
            return
        asked = given.get("messages") or given.get("input")
        asked = asked if isinstance(asked, str) else asked[-1]["content"]
        asked = asked if isinstance(asked, str) else asked[-1]["text"]
        text = next(answer for question, answer in ANSWERS.items() if question in asked)
        number = list(ANSWERS.values()).index(text) + 1
        if self.path.endswith("/responses"):
            self.send(response(number, text, given))
        elif self.path.endswith("/messages"):
            self.send(anthropic_message(number, text))
        else:
            self.send(completion(number, text), given.get("stream", False))

    def send(self, value, stream=False):
        """Send a value as JSON, or word for word as events."""
        if stream:
            words = value["choices"][0]["message"]["content"].split(" ")
            chunks = [chunk(value, word if n == 0 else f" {word}") for n, word in enumerate(words)] + [
                chunk(value, None)
            ]
            data = b"".join(b"data: " + json.dumps(one).encode() + b"\n\n" for one in chunks) + b"data: [DONE]\n\n"
        else:
            data = json.dumps(value).encode()
        self.send_response(200)
        self.send_header("content-type", "text/event-stream" if stream else "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


def completion(number, text):
    message = {"role": "assistant", "content": text, "refusal": None, "annotations": []}
    choice = {"index": 0, "message": message, "finish_reason": "stop", "logprobs": None}
    usage = {"prompt_tokens": 20, "completion_tokens": 8, "total_tokens": 28}
    kind = {"id": f"chatcmpl-{number}", "object": "chat.completion", "created": 1_760_000_000 + 60 * number}
    return {**kind, "model": f"{MODEL}-2025-04-14", "choices": [choice], "usage": usage}


def chunk(whole, word):
    delta = {} if word is None else {"role": "assistant", "content": word}
    choice = {"index": 0, "delta": delta, "finish_reason": "stop" if word is None else None}
    return {**whole, "object": "chat.completion.chunk", "choices": [choice], "usage": None}


def response(number, text, given):
    cited = {"type": "file_citation", "file_id": "d-reset", "filename": "reset.md", "index": len(text) - 1}
    content = [{"type": "output_text", "text": text, "annotations": [cited], "logprobs": []}]
    found = [
        {"file_id": "d-reset", "filename": "reset.md", "score": 0.9, "text": DOCUMENTS["d-reset"], "attributes": {}}
    ]
    search = {
        "type": "file_search_call",
        "id": f"fs_{number}",
        "status": "completed",
        "queries": ["q"],
        "results": found,
    }
    message = {"type": "message", "id": f"msg_{number}", "role": "assistant", "status": "completed", "content": content}
    made = {
        "id": f"resp_{number}",
        "object": "response",
        "created_at": 1_760_000_000 + 60 * number,
        "status": "completed",
    }
    settings = {"parallel_tool_calls": True, "tool_choice": "auto", "tools": [], "metadata": {}, "error": None}
    previous = {"previous_response_id": given.get("previous_response_id"), "instructions": given.get("instructions")}
    return {**made, "model": f"{MODEL}-2025-04-14", "output": [search, message], **settings, **previous}


def anthropic_message(number, text):
    cited = {
        "type": "char_location",
        "document_index": 0,
        "document_title": "d-reset",
        "cited_text": "Hold the red button",
    }
    cited |= {"start_char_index": 0, "end_char_index": 19, "file_id": None}
    content = [{"type": "text", "text": text, "citations": [cited]}]
    usage = {"input_tokens": 20, "output_tokens": 8}
    kind = {"id": f"msg_{number}", "type": "message", "role": "assistant", "model": "claude-sonnet-4-5"}
    return {**kind, "content": content, "stop_reason": "end_turn", "stop_sequence": None, "usage": usage}


def talk(ask):
    """Hold the conversation, each question with the history that there is; ask: messages → the answer."""
    messages = [{"role": "system", "content": SYSTEM}]
    for question in ANSWERS:
        messages.append({"role": "user", "content": question})
        messages.append({"role": "assistant", "content": ask(messages)})


def write(name, records):
    (HERE / name).write_text("".join(json.dumps(record) + "\n" for record in records))


def openai_client(url):
    from openai import OpenAI

    return OpenAI(base_url=f"{url}/v1", api_key="none")


def tracing():
    """Spans and log records, held in memory."""
    from opentelemetry import _logs, trace
    from opentelemetry.sdk._logs import LoggerProvider
    from opentelemetry.sdk._logs.export import InMemoryLogRecordExporter, SimpleLogRecordProcessor
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    resource = Resource({"service.name": "lamps", "service.version": "v7", "deployment.environment.name": "production"})
    provider, spans = TracerProvider(resource=resource), InMemorySpanExporter()
    provider.add_span_processor(SimpleSpanProcessor(spans))
    trace.set_tracer_provider(provider)
    loggers, logs = LoggerProvider(resource=resource), InMemoryLogRecordExporter()
    loggers.add_log_record_processor(SimpleLogRecordProcessor(logs))
    _logs.set_logger_provider(loggers)
    return provider, spans, logs


def as_otlp(spans):
    """Spans as the collector's file exporter writes them: OTLP's JSON, ids in hexadecimal, a request a line."""
    from google.protobuf.json_format import MessageToDict
    from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans

    for span in spans:
        request = MessageToDict(encode_spans([span]))
        for part in request["resourceSpans"]:
            for scope in part["scopeSpans"]:
                for one in scope["spans"]:
                    for key in ("traceId", "spanId", "parentSpanId"):
                        if key in one:
                            one[key] = base64.b64decode(one[key]).hex()
        yield request


def make_otel(url, name):
    """opentelemetry-instrumentation-openai-v2: messages as events (old), or as attributes (new)."""
    is_new = "otel-new" in name
    captured = "span_only" if is_new else "true"
    os.environ.setdefault("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", captured)
    if is_new:
        os.environ["OTEL_SEMCONV_STABILITY_OPT_IN"] = "gen_ai_latest_experimental"
    from opentelemetry.instrumentation.openai_v2 import OpenAIInstrumentor

    _, spans, logs = tracing()
    OpenAIInstrumentor().instrument()
    client = openai_client(url)
    talk(lambda messages: client.chat.completions.create(model=MODEL, messages=messages).choices[0].message.content)
    if is_new:
        write(f"{name}.jsonl", as_otlp(spans.get_finished_spans()))
    else:
        records = [json.loads(span.to_json()) for span in spans.get_finished_spans()]
        write(f"{name}.jsonl", records + [json.loads(log.to_json()) for log in logs.get_finished_logs()])


def make_openllmetry(url, name):
    """Traceloop's instrumentation, as its console exporter writes spans."""
    from opentelemetry.instrumentation.openai import OpenAIInstrumentor

    provider, spans, _ = tracing()
    OpenAIInstrumentor().instrument(tracer_provider=provider)
    client = openai_client(url)
    talk(lambda messages: client.chat.completions.create(model=MODEL, messages=messages).choices[0].message.content)
    write(f"{name}.jsonl", [json.loads(span.to_json()) for span in spans.get_finished_spans()])


def make_openinference(url, name):
    from openinference.instrumentation import using_session, using_user
    from openinference.instrumentation.openai import OpenAIInstrumentor

    provider, spans, _ = tracing()
    OpenAIInstrumentor().instrument(tracer_provider=provider)
    client = openai_client(url)
    with using_session(CONVERSATION), using_user(USER):
        talk(lambda messages: client.chat.completions.create(model=MODEL, messages=messages).choices[0].message.content)
    write(f"{name}.jsonl", as_otlp(spans.get_finished_spans()))


def make_chain(url):
    """A LangChain chain that retrieves before it answers."""
    from langchain_core.documents import Document
    from langchain_core.retrievers import BaseRetriever
    from langchain_core.runnables import RunnableLambda
    from langchain_openai import ChatOpenAI

    class Lamps(BaseRetriever):
        def _get_relevant_documents(self, query, *, run_manager):
            return [Document(id=name, page_content=text, metadata={"title": name}) for name, text in DOCUMENTS.items()]

    model = ChatOpenAI(model=MODEL, base_url=f"{url}/v1", api_key="none")
    lamps = Lamps()

    def answer(given, config):
        found = lamps.invoke(given["question"], config=config)
        context = "\n".join(f"[{n}] {one.page_content}" for n, one in enumerate(found, 1))
        prompt = [("system", f"{SYSTEM}\n{context}"), *given["history"], ("user", given["question"])]
        return {"answer": model.invoke(prompt, config=config).content}

    return RunnableLambda(answer, name="lamps")


def run_chain(url, config):
    chain, history = make_chain(url), []
    for question in ANSWERS:
        answer = chain.invoke({"question": question, "history": list(history)}, config=config)["answer"]
        history += [("user", question), ("assistant", answer)]


def make_openinference_langchain(url, name):
    from openinference.instrumentation import using_session
    from openinference.instrumentation.langchain import LangChainInstrumentor

    provider, spans, _ = tracing()
    LangChainInstrumentor().instrument(tracer_provider=provider)
    with using_session(CONVERSATION):
        run_chain(url, {})
    write(f"{name}.jsonl", [json.loads(span.to_json()) for span in spans.get_finished_spans()])


def make_langsmith(url, name):
    """Runs as the client sends them to its server: a run's beginning and its end put together, as the API gives it."""
    from langchain_core.tracers.langchain import LangChainTracer
    from langsmith import Client

    client = Client(api_url=url, api_key="none", auto_batch_tracing=False, omit_traced_runtime_info=True, info={})
    tracer = LangChainTracer(client=client, project_name="lamps")
    run_chain(url, {"callbacks": [tracer], "metadata": {"thread_id": CONVERSATION, "user_id": USER, "version": "v7"}})
    tracer.wait_for_futures()
    runs = {}
    for part in RUNS:
        runs.setdefault(part["id"], {}).update({key: value for key, value in part.items() if value is not None})
    write(f"{name}.jsonl", [{key: value for key, value in run.items() if key != "serialized"} for run in runs.values()])


def make_langfuse(url, name):
    """Spans as Langfuse's SDK sends them to its server; what the server exports of them cannot be made here."""
    from langfuse import Langfuse, propagate_attributes

    _, spans, _ = tracing()
    from opentelemetry import trace

    langfuse = Langfuse(
        public_key="pk", secret_key="sk", base_url=url, environment="production", release="v7",
        tracer_provider=trace.get_tracer_provider(), span_exporter=spans,
        mask=(lambda **_: "[REDACTED]") if name == "hidden/langfuse-spans" else None,
    )  # fmt: skip
    client = openai_client(url)

    def ask(messages):
        with langfuse.start_as_current_observation(
            as_type="chain", name="lamps", input={"question": messages[-1]["content"]}
        ) as root:
            with propagate_attributes(session_id=CONVERSATION, user_id=USER, trace_name="lamps"):
                with langfuse.start_as_current_observation(
                    as_type="retriever", name="search", input=messages[-1]["content"]
                ) as found:
                    found.update(output=[{"id": key, "text": text} for key, text in DOCUMENTS.items()])
                with langfuse.start_as_current_observation(
                    as_type="generation", name="answer", model=MODEL, input=messages
                ) as made:
                    text = client.chat.completions.create(model=MODEL, messages=messages).choices[0].message.content
                    made.update(output={"role": "assistant", "content": text})
            root.update(output={"answer": text})
        return text

    talk(ask)
    langfuse.flush()
    seen = {span.context.span_id: span for span in spans.get_finished_spans()}
    write(f"{name}.jsonl", as_otlp(seen.values()))


def make_langfuse_observe(url, name):
    """Functions that Langfuse's decorator observes: their inputs are their arguments, as args and kwargs."""
    from langfuse import Langfuse, observe, propagate_attributes

    _, spans, _ = tracing()
    from opentelemetry import trace

    given = {"public_key": "pk", "secret_key": "sk", "base_url": url, "span_exporter": spans}
    langfuse = Langfuse(**given, tracer_provider=trace.get_tracer_provider())
    client, history = openai_client(url), []

    @observe(as_type="retriever")
    def search(question):
        return [{"id": key, "text": text} for key, text in DOCUMENTS.items()]

    @observe(as_type="generation")
    def answer(*, messages):
        return client.chat.completions.create(model=MODEL, messages=messages).choices[0].message.content

    @observe(name="lamps")
    def ask(question, history):
        search(question)
        return answer(messages=[*history, {"role": "user", "content": question}])

    for question in ANSWERS:
        with propagate_attributes(session_id=CONVERSATION, user_id=USER):
            text = ask(question, list(history))
        history += [{"role": "user", "content": question}, {"role": "assistant", "content": text}]
    langfuse.flush()
    seen = {span.context.span_id: span for span in spans.get_finished_spans()}
    write(f"{name}.jsonl", as_otlp(seen.values()))


def make_langchain(_, name):
    """Messages as LangChain writes them: plain dicts, and serialised with their class."""
    from langchain_core.load import dumpd
    from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, messages_to_dict

    messages = [SystemMessage(SYSTEM)]
    for question, answer in ANSWERS.items():
        messages += [HumanMessage(question), AIMessage(answer)]
    one = {"messages": messages_to_dict(messages), "session_id": CONVERSATION, "timestamp": "2025-10-09T08:53:20Z"}
    write(f"{name}.jsonl", [one, {**one, "messages": dumpd(messages), "session_id": f"{CONVERSATION}-b"}])


def make_openai(url, name):
    """A log of requests, and of responses as the client's own types write them; the second one streamed."""
    client, records = openai_client(url), []

    def ask(messages):
        request = {"model": MODEL, "messages": messages, "metadata": {"conversation_id": CONVERSATION}, "user": USER}
        request = json.loads(json.dumps(request))
        if len(messages) < 3:
            done = client.chat.completions.create(**request)
            records.append({"request": request, "response": done.model_dump(mode="json")})
            return done.choices[0].message.content
        text = ""
        for piece in client.chat.completions.create(**request, stream=True):
            records.append({"request": request, "response": piece.model_dump(mode="json")})
            text += piece.choices[0].delta.content or ""
        return text

    talk(ask)
    write(f"{name}.jsonl", records)


def make_responses(url, name):
    client, records, before = openai_client(url), [], None
    for question in ANSWERS:
        done = client.responses.create(model=MODEL, input=question, instructions=SYSTEM, previous_response_id=before)
        before = done.id
        records.append({"input": question, "response": json.loads(done.to_json())})
    write(f"{name}.jsonl", records)


def make_anthropic(url, name):
    from anthropic import Anthropic

    client, records, messages = Anthropic(base_url=url, api_key="none"), [], []
    source = {"type": "text", "media_type": "text/plain", "data": DOCUMENTS["d-reset"]}
    document = {"type": "document", "source": source, "title": "d-reset", "citations": {"enabled": True}}
    for number, question in enumerate(ANSWERS):
        text = {"type": "text", "text": question}
        messages.append({"role": "user", "content": [document, text] if number == 0 else [text]})
        request = {"model": "claude-sonnet-4-5", "max_tokens": 100, "system": SYSTEM, "messages": messages}
        done = client.messages.create(**request)
        record = {"request": request, "response": done.model_dump(mode="json"), "session_id": CONVERSATION}
        records.append(json.loads(json.dumps({**record, "timestamp": f"2025-10-09T08:5{number}:00Z"})))
        messages.append({"role": "assistant", "content": done.content[0].text})
    write(f"{name}.jsonl", records)


MAKERS = {
    "otel-old": make_otel,
    "otel-new": make_otel,
    "openllmetry": make_openllmetry,
    "openinference": make_openinference,
    "openinference-langchain": make_openinference_langchain,
    "langsmith": make_langsmith,
    "langfuse-spans": make_langfuse,
    "langfuse-observe": make_langfuse_observe,
    "langchain": make_langchain,
    "openai": make_openai,
    "responses": make_responses,
    "anthropic": make_anthropic,
}
#: files of the same with their content hidden, as far as each tool has a switch for it
HIDDEN = {
    "otel-old": {"OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT": "false"},
    "otel-new": {"OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT": "no_content"},
    "otel-new-cut": {"OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT": "100"},
    "openllmetry": {"TRACELOOP_TRACE_CONTENT": "false"},
    "openinference": {"OPENINFERENCE_HIDE_INPUTS": "true", "OPENINFERENCE_HIDE_OUTPUTS": "true"},
    "openinference-inputs": {"OPENINFERENCE_HIDE_INPUTS": "true"},
    "openinference-messages": {
        "OPENINFERENCE_HIDE_INPUT_MESSAGES": "true",
        "OPENINFERENCE_HIDE_OUTPUT_MESSAGES": "true",
    },
    "openinference-text": {"OPENINFERENCE_HIDE_INPUT_TEXT": "true", "OPENINFERENCE_HIDE_OUTPUT_TEXT": "true"},
    "openinference-langchain": {"OPENINFERENCE_HIDE_INPUTS": "true", "OPENINFERENCE_HIDE_OUTPUTS": "true"},
    "langsmith": {"LANGSMITH_HIDE_INPUTS": "true", "LANGSMITH_HIDE_OUTPUTS": "true"},
    "langsmith-inputs": {"LANGSMITH_HIDE_INPUTS": "true"},
    "langfuse-spans": {},  # by a mask
}


def main():
    """Make one file, or all of them, each in a process of its own."""
    if len(sys.argv) == 1:
        (HERE / "hidden").mkdir(exist_ok=True)
        for name in MAKERS:
            subprocess.run([sys.executable, __file__, name], check=False, timeout=120)
        for name, env in HIDDEN.items():
            command = [sys.executable, __file__, f"hidden/{name}"]
            subprocess.run(command, check=False, timeout=120, env={**os.environ, **env})
        versions = "".join(f"{name} {version(name)}\n" for name in sorted(PACKAGES))
        (HERE / "VERSIONS").write_text(versions)
        return
    logging.disable(logging.CRITICAL)
    server = ThreadingHTTPServer(("127.0.0.1", 0), Server)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    name = sys.argv[1].removeprefix("hidden/")
    maker = max((maker for maker in MAKERS if name.startswith(maker)), key=len)
    MAKERS[maker](f"http://127.0.0.1:{server.server_port}", sys.argv[1])
    server.shutdown()


if __name__ == "__main__":
    main()
