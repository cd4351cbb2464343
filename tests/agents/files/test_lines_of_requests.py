"""Requests and responses on lines of their own, as gateways log them, are one call by the id that both have."""

from itertools import pairwise
from pathlib import Path
from typing import Any

import orjson
import pytest

from turnsignal.agents.files.importing import Imported
from turnsignal.agents.files.reading import Recording
from turnsignal.agents.files.recognising import HowToRead

TALKS = [
    [("When do I feed my bees?", "In autumn, after the honey is out."), ("With what?", "With sugar, in water.")],
    [("My tap drips all night.", "Its washer is worn: shut the water off."), ("And next?", "Unscrew it.")],
    [("May hens eat bread?", "A little of it, now and then, if it is dry.")],
]


def lines(key: str, asked: str | None, answered: str | None, *, together: bool = False) -> list[dict[str, Any]]:
    """The two lines of each call. asked, answered: what holds a request and a response, None where the line is it."""
    logged: list[dict[str, Any]] = []
    for number in range(2):
        pairs: list[list[dict[str, Any]]] = []
        for at, talk in enumerate(TALKS):
            if number >= len(talk):
                continue
            sides = [
                (role, text) for pair in talk[:number] for role, text in zip(("user", "assistant"), pair, strict=True)
            ]
            sent = {"messages": [{"role": role, "content": text} for role, text in [*sides, ("user", talk[number][0])]]}
            message = {"role": "assistant", "content": talk[number][1]}
            got = {"object": "chat.completion", "choices": [{"message": message}]}
            time = 1_770_000_000 + 100 * number + 10 * at
            both = (time, asked, sent), (time + 3, answered, got)
            pairs.append(
                [{"time": when, key: f"q{number}{at}", **({holder: it} if holder else it)} for when, holder, it in both]
            )
        logged += (
            [each for pair in pairs for each in pair] if not together else [pair[n] for n in (0, 1) for pair in pairs]
        )
    return logged


def read(path: Path, records: list[dict[str, Any]]) -> list[list[str]]:
    path.write_bytes(b"\n".join(map(orjson.dumps, records)))
    said: dict[str, list[str]] = {}
    with Imported([path], HowToRead()) as imported:
        for line, _ in Recording(imported.sources).lines():
            turn = orjson.loads(line)
            said.setdefault(turn["conversation_id"], []).append(turn["text"])
    return sorted(said.values())


WHOLE = sorted([text for pair in talk for text in pair] for talk in TALKS)


@pytest.mark.parametrize("together", [False, True])
@pytest.mark.parametrize("key", ["request_id", "correlation_id", "trace_id", "id"])
@pytest.mark.parametrize("holders", [("body", "body"), ("request", "response")])
def test_a_request_gets_the_response_with_its_id(
    tmp_path: Path, key: str, holders: tuple[str, str], together: bool
) -> None:
    assert read(tmp_path / "log.jsonl", lines(key, *holders, together=together)) == WHOLE


def test_a_request_that_got_no_response_is_asked_all_the_same(tmp_path: Path) -> None:
    asked = [
        line for line in lines("request_id", "request", "response") if line["request_id"] != "q11" or "request" in line
    ]
    without = sorted(said[:3] if said[-1] == "Unscrew it." else said for said in WHOLE)
    assert read(tmp_path / "log.jsonl", asked) == without


def test_requests_of_one_moment_under_one_id_are_given_no_answer_of_another(tmp_path: Path) -> None:
    records = [line | {"request_id": "same"} for line in lines("request_id", "request", "response", together=True)]
    answers = {asked: answered for talk in TALKS for asked, answered in talk}
    for said in read(tmp_path / "log.jsonl", records):
        for asked, answered in pairwise(said):
            assert answered not in answers.values() or answers.get(asked, answered) == answered
