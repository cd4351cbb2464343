"""A small OpenAI-compatible endpoint as a process of its own; the model's name says what it does.

A model is WHAT[,key=value…]; `times=2` does WHAT twice and answers from then on. GET /calls tells what came in.
Prints its port, and ends when its standard input does.
"""

import asyncio
import json
import sys
import time
from collections import Counter
from email.utils import formatdate
from typing import Any

from aiohttp import web

from turnsignal.agents.providers.protocol import ProviderCall
from turnsignal.agents.providers.scripted import Scripted
from turnsignal.stream.judging.prompt import Prompt

calls: list[dict[str, Any]] = []
seen: Counter[str] = Counter()
scripted = Scripted()


def completion(text: str | None, model: str, **more: Any) -> dict[str, Any]:
    message = {"role": "assistant", "content": text} | more.pop("message", {})
    choice = {"index": 0, "message": message, "finish_reason": more.pop("finish", "stop")}
    usage = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}
    return {
        "id": "x",
        "object": "chat.completion",
        "created": 1,
        "model": f"{model}-dated",
        "choices": [choice],
        "usage": usage,
    } | more


async def reply_to(body: dict[str, Any]) -> str:
    """The scripted reply, in JSON."""
    instructions, material = (message["content"] for message in body["messages"])
    described = body.get("response_format", {}).get("json_schema", {"name": "task_utility", "schema": None})
    if described["schema"] is None:
        return '{"intent": "Know.", "reasoning": "So.", "label": "served"}'
    prompt = Prompt(described["name"], instructions, material, described["schema"])
    return (await scripted.ask(ProviderCall("", "m", prompt, 1, None, True, 1.0))).text or ""


def text_of(body: dict[str, Any]) -> str:
    """The material that was sent."""
    return str(body["messages"][1]["content"])


async def chat(request: web.Request) -> web.StreamResponse:
    body = await request.json()
    model = body["model"]
    if "forget" not in model:
        calls.append({"at": time.monotonic(), "headers": dict(request.headers), "body": body})
    seen[model] += 1
    what, _, rest = model.partition(",")
    options = dict(part.split("=") for part in rest.split(",") if part)
    if seen[model] > int(options.get("times", 10**9)):
        what = "answer"
    if what.isdigit():
        headers = {}
        if "after" in options:
            headers["Retry-After"] = options["after"]
        if "date" in options:
            headers["Retry-After"] = formatdate(time.time() + float(options["date"]), usegmt=True)
        error = {"error": {"message": f"no, {request.headers.get('Authorization')}", "type": "x"}}
        return web.json_response(error, status=int(what), headers=headers)
    text = await reply_to(body)
    authorization = request.headers.get("Authorization", "")
    if what == "delay":
        await asyncio.sleep(float(options["seconds"]))
    if what == "some-hang" and "07." in text_of(body):
        await asyncio.sleep(float(options["hang"]))
    if what == "some-hang":
        await asyncio.sleep(float(options["seconds"]))
    if what == "hang":
        await asyncio.sleep(3_600)
    if what == "half-close":
        response = web.StreamResponse(headers={"Content-Type": "application/json", "Content-Length": "5000"})
        await response.prepare(request)
        await response.write(b'{"id": "x", "cho')
        assert request.transport is not None
        request.transport.close()
        return response
    if what == "endless":
        response = web.StreamResponse(headers={"Content-Type": "application/json"})
        if "packed" in options:
            response.enable_compression(web.ContentCoding.gzip)
        await response.prepare(request)
        for _ in range(1_000):
            await response.write(b" " * 1_000_000)
        return response
    if what == "redirect":
        return web.Response(status=int(options.get("status", 307)), headers={"Location": options["to"]})
    if what == "deep":
        return web.Response(text="[" * 200_000 + "]" * 200_000, content_type="application/json")
    if what == "garbage":
        return web.Response(
            text="\x00<html>not json</html>", content_type=options.get("type", "application/json").replace("-", "/")
        )
    answers: dict[str, dict[str, Any]] = {
        "answer": completion(text, model),
        "delay": completion(text, model),
        "some-hang": completion(text, model),
        "fenced": completion(f"Sure!\n```json\n{text}\n```\nAnything else?", model),
        "wrong-label": completion(text.replace('"label":"', '"label":"not_'), model),
        "empty": completion("", model),
        "null": completion(None, model),
        "refusal": completion(None, model, message={"refusal": "I cannot help with that."}),
        "length": completion(text[: len(text) // 2], model, finish="length"),
        "filter": completion(None, model, finish="content_filter"),
        "zero-usage": completion(text, model, usage={"prompt_tokens": 0, "completion_tokens": 0}),
        "refused-for-nothing": completion(
            None, model, message={"refusal": "I cannot."}, usage={"prompt_tokens": 9, "completion_tokens": 0}
        ),
        "talkative": completion(text, model, usage={"prompt_tokens": 100, "completion_tokens": 5_000}),
        "echo": completion(text.replace("Answered", authorization), authorization),
        "echo-spelt": completion(text.replace("Answered", authorization.replace("s", "\\u0073")), model),
        "echo-refusal": completion(None, model, message={"refusal": authorization}),
        "megabyte": completion(" " * 1_000_000 + text, model),
        "no-usage": completion(text, model, usage=None),
        "odd-usage": completion(text, model, usage={"prompt_tokens": "many", "completion_tokens": -5}),
        "no-choices": completion(text, model, choices=[]),
        "null-choices": completion(text, model, choices=None),
        "list": completion(text, model, choices="none"),
        "odd-key": completion('{"\\ud800": 1}', model),
        "odd-refusal": completion(None, model, message={"refusal": "no \ud800"}),
        "odd-name": completion(text, "m\ud800"),
        "long-name": completion(text, "m" * 300),
        "huge-usage": completion(text, model, usage={"prompt_tokens": 10**400, "completion_tokens": 999_999_999_999}),
        "huge-number": completion(text.replace('"document":1', '"document":1' + "0" * 400), model),
    }
    return web.json_response(answers[what])


async def embed(request: web.Request) -> web.Response:
    """Letters counted, the last text first: each vector says which text it is of."""
    body = await request.json()
    model = body["model"]
    calls.append({"at": time.monotonic(), "headers": dict(request.headers), "body": body})
    seen[model] += 1
    if model == "embed-busy" and seen[model] < 3:
        return web.json_response({"error": "busy"}, status=503)
    if model == "embed-denied":
        return web.json_response({"error": request.headers["authorization"]}, status=401)
    texts = body["input"][1:] if model == "embed-few" else body["input"]
    vectors = [[float(text.count(letter)) for letter in "abcdefgh"] for text in texts]
    if model == "embed-zero":
        vectors = [[0.0] * 8 for _ in texts]
    data = [{"object": "embedding", "index": at, "embedding": vector} for at, vector in enumerate(vectors)]
    return web.json_response({"object": "list", "model": model, "data": data[::-1]})


async def main() -> None:
    app = web.Application(client_max_size=10_000_000)

    async def tell(request: web.Request) -> web.Response:
        return web.json_response(calls)

    app.router.add_post("/v1/chat/completions", chat)
    app.router.add_post("/v1/embeddings", embed)
    app.router.add_get("/calls", tell)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", int(sys.argv[1]) if sys.argv[1:] else 0)
    await site.start()
    print(json.dumps(runner.addresses[0][1]), flush=True)
    await asyncio.to_thread(sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(main())
