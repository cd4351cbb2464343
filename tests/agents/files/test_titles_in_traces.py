"""Titles asked for after the answer, in traces whose root says nothing, or what a function returned."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pytest

from turnsignal.agents.files.importing import Imported
from turnsignal.agents.files.recognising import HowToRead

Step = tuple[str, str, str]  #: instructions, what is asked, what is got
THINGS = ("invoice", "parcel", "router", "badge", "voucher", "contract", "meter", "ticket")
HELP, FOUND = "You are the assistant of Acme.", "Context:\n[kb-{n}] All about the {thing}.\n\nQuestion: {question}"
PLAN = "First I look up the {thing}, then I look for its page, and in the end I say where it is."


def exchange(number: int, at: int) -> tuple[str, str, str]:
    thing = THINGS[(number + at) % len(THINGS)]
    return thing, f"How do I renew my {thing} number {number}{at}?", f"Open page {number}{at}, and choose {thing}."


def title_of(thing: str) -> str:
    return f"Renewing the {thing}"


def span(trace: str, number: int, at: float, attributes: dict[str, str], *, is_root: bool = False) -> dict[str, Any]:
    times = {"startTimeUnixNano": str(int(at * 1e9)), "endTimeUnixNano": str(int((at + 0.5) * 1e9))}
    if is_root:
        times["endTimeUnixNano"] = str(int((at + 9) * 1e9))
    listed = [{"key": key, "value": {"stringValue": value}} for key, value in attributes.items()]
    parent = {} if is_root else {"parentSpanId": "0" * 16}
    return {"traceId": trace, "spanId": f"{number:016x}", **parent, **times, "attributes": listed}


def otel(conversation: str, step: Step) -> dict[str, str]:
    def message(role: str, text: str) -> str:
        return orjson.dumps([{"role": role, "parts": [{"type": "text", "content": text}]}]).decode()

    instructions = orjson.dumps([{"type": "text", "content": step[0]}]).decode()
    return {
        "gen_ai.operation.name": "chat",
        "gen_ai.conversation.id": conversation,
        "gen_ai.system_instructions": instructions,
        "gen_ai.input.messages": message("user", step[1]),
        "gen_ai.output.messages": message("assistant", step[2]),
    }


def openllmetry(conversation: str, step: Step) -> dict[str, str]:
    said = {f"gen_ai.prompt.{at}": each for at, each in enumerate((("system", step[0]), ("user", step[1])))}
    prompts = {
        f"{key}.{name}": text
        for key, each in said.items()
        for name, text in zip(("role", "content"), each, strict=True)
    }
    return {
        "llm.request.type": "chat",
        "traceloop.association.properties.session_id": conversation,
        **prompts,
        "gen_ai.completion.0.role": "assistant",
        "gen_ai.completion.0.content": step[2],
    }


def said(
    path: Path,
    steps: Callable[[int, int], list[Step]],
    form: Callable[[str, Step], dict[str, str]] = otel,
    root: Callable[[str, str, str], dict[str, str]] = lambda *_: {},
    *,
    exchanges: int = 3,
) -> list[str]:
    """Write a log of conversations, a trace each exchange, and return what is read of it."""
    spans = []
    for number in range(12):
        for at in range(exchanges):
            begun, trace = 1_770_000_000 + 1_000 * number + 100 * at, f"{100 * number + at + 1:032x}"
            spans.append(span(trace, 0, begun, root(*exchange(number, at)), is_root=True))
            spans += [
                span(trace, 1 + order, begun + 0.1 + order, form(f"c{number:02d}", step))
                for order, step in enumerate(steps(number, at))
            ]
    path.write_bytes(orjson.dumps({"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}))
    with Imported([path], HowToRead()) as imported:
        turns = [orjson.loads(line) for line in imported.sources[0].path.read_bytes().splitlines()]
    return [turn["text"] for turn in sorted(turns, key=lambda turn: (turn["conversation_id"], turn["timestamp"]))]


def truth(exchanges: int = 3) -> list[str]:
    return [text for number in range(12) for at in range(exchanges) for text in exchange(number, at)[1:]]


TITLES = {
    "behind words": ("You write titles.", "Generate a short title for this conversation: {question}"),
    "before words": ("You write titles.", "{question}\n\nGive a short title for the message above."),
    "between tags": ("", "Generate a title.\n<chat_history>\nUSER: {question}\n</chat_history>"),
    "in another language": ("Du schreibst kurze Titel.", "Schreibe einen kurzen Titel: {question}"),
    "of those who answer no questions": ("You name chats. Do not answer the question.", "A title for: {question}"),
}


@pytest.mark.parametrize("titled", TITLES)
@pytest.mark.parametrize("form", [otel, openllmetry])
@pytest.mark.parametrize("exchanges", [1, 3])
@pytest.mark.parametrize("asked", ["{question}", FOUND])
def test_a_title_of_the_question_that_is_asked_after_the_answer_is_nobodys(
    titled: str, form: Callable[[str, Step], dict[str, str]], exchanges: int, asked: str, tmp_path: Path
) -> None:
    instructions, prompt = TITLES[titled]

    def steps(number: int, at: int) -> list[Step]:
        thing, question, answer = exchange(number, at)
        answered = (HELP, asked.format(n=number, thing=thing, question=question), answer)
        title = (instructions, prompt.format(question=question), title_of(thing))
        return [answered, title][: 2 - bool(at)]

    assert said(tmp_path / "log.json", steps, form, exchanges=exchanges) == truth(exchanges)


@pytest.mark.parametrize(
    "first", [("Which topic? One word.", "billing"), ("Write a plan.", PLAN), ("Write a passage that answers.", PLAN)]
)
@pytest.mark.parametrize("asked", ["Question: {question}", FOUND])
def test_who_answers_after_a_router_or_a_planner_is_still_the_one_who_answers(
    first: tuple[str, str], asked: str, tmp_path: Path
) -> None:
    def steps(number: int, at: int) -> list[Step]:
        thing, question, answer = exchange(number, at)
        before = (first[0], question, first[1].format(thing=thing))
        return [before, (HELP, asked.format(n=number, thing=thing, question=question), answer)]

    assert said(tmp_path / "log.json", steps) == truth()


@pytest.mark.parametrize("is_found", [False, True])
def test_who_answers_in_few_words_by_a_plan_is_still_the_one_who_answers(is_found: bool, tmp_path: Path) -> None:
    def steps(number: int, at: int) -> list[Step]:
        thing, question, _ = exchange(number, at)
        plan = PLAN.format(thing=f"{thing} {number}{at}")
        asked = FOUND.format(n=number, thing=thing, question=question)
        answering = (HELP, asked) if is_found else (f"{HELP} Follow the plan: {plan}", f"Question: {question}")
        return [("Write a plan.", question, plan), (*answering, f"Page {number}{at}")]

    said_so = [(exchange(number, at)[1], f"Page {number}{at}") for number in range(12) for at in range(3)]
    wanted = [text for each in said_so for text in each]
    assert said(tmp_path / "log.json", steps) == wanted


def dumped(value: object) -> str:
    return orjson.dumps(value).decode()


ROOTS: dict[str, Callable[[str, str, str], tuple[str, str]]] = {
    "of LangChain": lambda thing, question, answer: (
        dumped({"inputs": {"question": question}, "tags": []}),
        dumped({"outputs": {"title": title_of(thing), "answer": answer}, "kwargs": {}}),
    ),
    "of a decorator": lambda _, question, answer: (dumped({"args": ["c1", question], "kwargs": {}}), dumped(answer)),
    "of named arguments": lambda thing, question, answer: (
        dumped({"args": [], "kwargs": {"text": question}}),
        dumped({"status": 200, "reply": answer, "title": title_of(thing)[:8]}),
    ),
    "plain texts": lambda _, question, answer: (question, answer),
    "with more behind": lambda _, question, answer: (question, f"{answer}\n\nSources: kb-1"),
}


@pytest.mark.parametrize("kind", ["workflow", "agent"])
@pytest.mark.parametrize("root", ROOTS)
def test_what_a_function_returned_tells_the_answer_among_the_calls_in_it(root: str, kind: str, tmp_path: Path) -> None:
    def steps(number: int, at: int) -> list[Step]:
        thing, question, answer = exchange(number, at)
        named = ("Name it.", f"Worum geht es hier?\n{question}", f"This is about {thing}, and how it is renewed here.")
        return [("Which topic?", question, "billing"), (HELP, question, answer), named]

    def attributes(*said: str) -> dict[str, str]:
        asked, answered = ROOTS[root](*said)
        given = {"traceloop.entity.input": asked, "traceloop.entity.output": answered}
        return {"traceloop.span.kind": kind, "traceloop.entity.name": "chat", **given}

    assert said(tmp_path / "log.json", steps, openllmetry, attributes) == truth()


@pytest.mark.parametrize("returned", ["done", {"status": "ok"}, ["a", "b"], None])
def test_a_function_that_returns_something_else_tells_nothing(returned: object, tmp_path: Path) -> None:
    def steps(number: int, at: int) -> list[Step]:
        _, question, answer = exchange(number, at)
        return [("Write a plan.", question, PLAN), (HELP, f"Question: {question}", answer)]

    def attributes(*_: str) -> dict[str, str]:
        return {"traceloop.span.kind": "workflow", "traceloop.entity.output": dumped(returned)}

    assert said(tmp_path / "log.json", steps, openllmetry, attributes) == truth()
