"""Ids that name requests rather than conversations: calls go on from each other by their words, as without ids."""

from collections import Counter
from pathlib import Path
from typing import Any

import orjson

from turnsignal.agents.files.importing import Imported
from turnsignal.agents.files.reading import Recording
from turnsignal.agents.files.recognising import HowToRead
from turnsignal.stream.formats.request_ids import REQUESTS

Talk = list[tuple[str, str]]
BYE = "Cheers", "Glad to be of use! Shall I look into something else?"
BEES: Talk = [("When do I feed my bees?", "In autumn, as soon as the honey is out."), BYE, ("With what?", "Sugar.")]
TAPS: Talk = [("My tap drips all night.", "Its washer is worn: shut the water off."), BYE, ("And next?", "Unscrew it.")]
HENS: Talk = [("May hens eat bread?", "A little of it, now and then, if it is dry."), BYE, ("And rice?", "Cooked.")]


def call(talk: Talk, number: int, began: int, named: str, **beside: Any) -> dict[str, Any]:
    sides = [(role, text) for pair in talk[:number] for role, text in zip(("user", "assistant"), pair, strict=True)]
    sent = [{"role": role, "content": text} for role, text in [*sides, ("user", talk[number][0])]]
    message = {"role": "assistant", "content": talk[number][1]}
    response = {"id": f"r-{began}", "created": 1_770_000_000 + began, "choices": [{"message": message}]}
    return {"session_id": named, "messages": sent, "response": response, **beside}


def read(path: Path, records: list[dict[str, Any]]) -> tuple[dict[str, list[str]], Counter[str]]:
    """The texts of each conversation, and what was assumed."""
    path.write_bytes(b"\n".join(map(orjson.dumps, records)))
    with Imported([path], HowToRead()) as imported:
        turns = [orjson.loads(line) for line, _ in Recording(imported.sources).lines()]
        (report,) = imported.reports
    said: dict[str, list[str]] = {}
    for turn in turns:
        said.setdefault(turn["conversation_id"], []).append(turn["text"])
    return said, report.assumed


def texts(talk: Talk) -> list[str]:
    return [text for pair in talk for text in pair]


def by_turns(*talks: Talk) -> list[dict[str, Any]]:
    """Calls of several who write at the same time, each under an id of its own."""
    numbered = [(number, at) for number in range(3) for at in range(len(talks))]
    return [call(talks[at], number, 60 * number + at, f"q{at}{number}") for number, at in numbered]


def test_users_who_take_leave_alike_in_the_middle_stay_in_their_conversations(tmp_path: Path) -> None:
    said, assumed = read(tmp_path / "log.jsonl", by_turns(BEES, TAPS, HENS))
    assert said == {"q00": texts(BEES), "q10": texts(TAPS), "q20": texts(HENS)}
    assert assumed[REQUESTS] == 9


def test_calls_of_one_request_stay_together_though_nothing_of_the_first_is_repeated(tmp_path: Path) -> None:
    records = by_turns(BEES, TAPS)
    wanted = {"role": "assistant", "content": None, "tool_calls": [{"id": "k1", "type": "function", "function": {}}]}
    for record in tuple(records):
        response = record["response"]
        begun = {"id": f"{response['id']}-k", "created": response["created"] - 1, "choices": [{"message": wanted}]}
        records.append(record | {"messages": record["messages"][-1:], "response": begun})
    said, _ = read(tmp_path / "log.jsonl", records)
    assert sorted(said.values()) == sorted([texts(BEES), texts(TAPS)])


def test_an_id_that_changes_on_the_way_behind_what_many_say_is_known_by_all_that_was_said(tmp_path: Path) -> None:
    records = []
    for at, talk in enumerate((BEES, TAPS, HENS)):
        longer = [*talk, ("Fine, that is all that I need.", f"Until then, number {at}.")]
        records += [call(longer, number, 600 * at + 60 * number, f"s{at}{'ab'[number > 1]}") for number in range(4)]
    said, assumed = read(tmp_path / "log.jsonl", records)
    assert {name: len(each) for name, each in said.items()} == {"s0a": 8, "s1a": 8, "s2a": 8}
    assert assumed[REQUESTS] == 0


def test_a_conversation_that_begins_with_what_two_others_said_goes_on_neither(tmp_path: Path) -> None:
    opened: Talk = [("I would like to hand in a claim, please.", "Gladly. What happened, and when was it?")]
    records = []
    for at, talk in enumerate((BEES, TAPS)):
        ending = (talk[0][0], f"Noted, claim {at}. {talk[0][1]}")
        records += [call([*opened, ending], number, 600 * at + 60 * number, f"s{at}") for number in range(2)]
    records += [call([*opened, ("It was hail.", "Then show me the roof.")], 1, 1800, "s2")]
    records += [call([*opened, ("It was hail.", "Then show me the roof."), ("Here.", "Thanks.")], 2, 1860, "s2")]
    said, _ = read(tmp_path / "log.jsonl", records)
    assert {name: len(each) for name, each in said.items()} == {"s0": 4, "s1": 4, "s2": 6}


def test_ids_of_conversations_that_are_exported_whole_stay_though_one_was_only_the_beginning(tmp_path: Path) -> None:
    greeted = "Hello there, is somebody in?", "Yes, I am here. What may I do for you?"
    records = [call([greeted], 0, 0, "s0")]
    for at, talk in enumerate((BEES, TAPS, HENS), 1):
        records.append(call([greeted, *talk] if at == 1 else talk, 3 if at == 1 else 2, 600 * at, f"s{at}"))
    said, assumed = read(tmp_path / "log.jsonl", records)
    assert assumed[REQUESTS] == 0
    assert said["s2"] == texts(TAPS)
