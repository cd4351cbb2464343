"""Ids that several conversations share are told apart by histories; whoever edits, branches or hands over is one."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import orjson
import pytest

from turnsignal.agents.files.importing import Imported
from turnsignal.agents.files.reading import Recording
from turnsignal.agents.files.recognising import HowToRead
from turnsignal.stream.formats.shared_ids import APART

Talk = list[tuple[str, str]]
Record = dict[str, Any]
THINGS = ["card", "parcel", "router", "voucher", "printer", "meter", "loan", "tariff", "ticket", "policy", "booking"]
DEEDS = ["cancel", "renew", "replace", "export", "share", "reset", "track", "update", "activate", "verify"]
PLACES = ["Berlin", "Paris", "Rome", "Oslo", "Madrid", "Vienna", "Dublin", "Lisbon", "Prague", "Warsaw"]
RULES = "You are the assistant of Example Ltd. Be brief."


def talks(many: int, seed: int = 1, fewest: int = 1) -> list[Talk]:
    """Conversations in which nobody says what another one says, but for a greeting."""
    random = Random(seed)

    def exchange(at: int, number: int) -> tuple[str, str]:
        deed, thing, place = random.choice(DEEDS), random.choice(THINGS), random.choice(PLACES)
        if number == 0 and at % 5 == 0:
            return "Hello", "Hello! How can I help you today?"
        asked = [f"How do I {deed} my {thing} in {place}?", f"Where does one {deed} a {thing}, is it {place}?"]
        return random.choice(
            asked
        ) + f" No. {at}{number}", f"Open page {at * 10 + number} and choose {place}. Then {deed} it."

    return [[exchange(at, number) for number in range(random.randint(fewest, 5))] for at in range(many)]


def record(began: float, named: str, history: Talk, asked: str, answer: str, rules: str | None = RULES) -> Record:
    sides = [(role, text) for pair in history for role, text in zip(("user", "assistant"), pair, strict=True)]
    sent = [{"role": role, "content": text} for role, text in [*sides, ("user", asked)]]
    sent = [{"role": "system", "content": rules}, *sent] if rules else sent
    message = {"role": "assistant", "content": answer}
    response = {"id": f"r-{began}", "created": 1_770_000_000 + began, "choices": [{"message": message}]}
    return {"session_id": named, "messages": sent, "response": response}


def full(talk: Talk, began: float, named: str, rules: str | None = RULES) -> Iterator[Record]:
    """The calls of a conversation, a minute from one to the next, each with all that was said."""
    for number, (asked, answer) in enumerate(talk):
        yield record(began + 60 * number, named, talk[:number], asked, answer, rules)


def read(path: Path, records: list[Record]) -> tuple[dict[str, list[str]], Counter[str], list[str]]:
    """The texts of each conversation, what was assumed, and the warnings."""
    records = sorted(records, key=lambda each: each["response"]["created"])
    path.write_bytes(b"\n".join(map(orjson.dumps, records)))
    with Imported([path], HowToRead()) as imported:
        turns = [orjson.loads(line) for line, _ in Recording(imported.sources).lines()]
        (report,) = imported.reports
    said: dict[str, list[str]] = {}
    for turn in sorted(turns, key=lambda turn: turn["timestamp"]):
        said.setdefault(turn["conversation_id"], []).append(turn["text"])
    return said, report.assumed, report.warnings


def texts(talk: Talk) -> list[str]:
    return [text for pair in talk for text in pair]


@pytest.mark.parametrize("rules", [RULES, None])
@pytest.mark.parametrize("apart", [25.0, 600.0, 3_600.0])
@pytest.mark.parametrize("users", [1, 8])
def test_conversations_under_an_id_of_a_user_or_of_nobody(tmp_path: Path, rules: str, apart: float, users: int) -> None:
    known = talks(40)
    records = [
        call
        for at, talk in enumerate(known)
        for call in full(talk, apart * at, f"u{at % users}" if users > 1 else "default", rules)
    ]
    said, assumed, warnings = read(tmp_path / "log.jsonl", records)
    assert sorted(said.values()) == sorted(map(texts, known))
    assert assumed[APART] == 40
    assert not warnings


def test_two_conversations_by_turns_are_named_by_the_id_and_their_first_calls(tmp_path: Path) -> None:
    one, two = talks(3, fewest=2)[1:]
    said, assumed, _ = read(tmp_path / "log.jsonl", [*full(one[:2], 0, "1"), *full(two[:2], 20, "1")])
    assert said == {"1/openai:r-0": texts(one[:2]), "1/openai:r-20": texts(two[:2])}
    assert assumed[APART] == 2


def _edited_first(talk: Talk, began: float, named: str) -> Iterator[Record]:
    yield record(began, named, [], "What is it that you can do?", f"All that has to do with {named}.")
    yield from full(talk, began + 20, named)


def _edited_later(talk: Talk, began: float, named: str) -> Iterator[Record]:
    """A first question that is worded anew once the conversation had gone on."""
    asked, answer = talk[0]
    yield from full([(f"{asked} Please tell me!", f"First, {answer}"), *talk[1:]], began, named)
    yield from full(talk, began + 330, named)


def _branches(talk: Talk, began: float, named: str) -> Iterator[Record]:
    """Back to the first branch after another first question."""
    yield from full(talk[:2], began, named)
    yield record(began + 100, named, [], "Other than that?", f"Nothing that I know of {named}.")
    yield record(began + 130, named, [("Other than that?", f"Nothing that I know of {named}.")], "Sure?", "Quite.")
    yield from (each for number, each in enumerate(full(talk, began + 150, named)) if number >= 2)


def _given_anew(talk: Talk, began: float, named: str) -> Iterator[Record]:
    yield record(began, named, [], talk[0][0], "I do not know, to be honest.")
    yield from full(talk, began + 20, named)


def _windows(talk: Talk, began: float, named: str) -> Iterator[Record]:
    for number, (asked, answer) in enumerate(talk):
        yield record(began + 60 * number, named, talk[max(number - 1, 0) : number], asked, answer)


def _summaries(talk: Talk, began: float, named: str) -> Iterator[Record]:
    yield from full(talk[:2], began, named)
    for number in range(2, len(talk)):
        rules = f"{RULES} Until now the user asked about {talk[0][0]} and was told: {talk[0][1]}"
        yield record(began + 60 * number, named, talk[2:number], *talk[number], rules)


def _handed_over(talk: Talk, began: float, named: str) -> Iterator[Record]:
    """To an agent with instructions and a history of its own, and back."""
    yield from full(talk[:2], began, named)
    rules = "You are the billing agent. Ask for the invoice's number."
    yield from full([(f"And {named}'s bill?", "Which one?"), ("The last.", "It is paid.")], began + 130, named, rules)
    yield from (each for number, each in enumerate(full(talk, began + 300, named)) if number >= 2)


def _taken_over(talk: Talk, began: float, named: str) -> Iterator[Record]:
    """By an agent that gets the question alone which another one does not answer."""
    yield from full(talk[:2], began, named, None)
    yield record(began + 120, named, talk[:2], "Is it paid?", "I hand you over.", None)
    paid = [("Is it paid?", f"It is, {named}."), ("When was it?", f"Yesterday, {named}.")]
    yield from full(paid, began + 125, named, None)


def _guarded(talk: Talk, began: float, named: str) -> Iterator[Record]:
    for number, (asked, _) in enumerate(talk):
        guard = f"Is this safe to answer? Say safe or unsafe.\n\n{asked}"
        yield record(began + 60 * number - 2, named, [], guard, "safe", None)
    yield from full(talk, began, named, None)
    yield record(began + 300, named, [], f"Find a title of three words for: {talk[0][0]}", "Parcels and more", None)


KINDS = [
    _edited_first,
    _edited_later,
    _branches,
    _given_anew,
    _windows,
    _summaries,
    _handed_over,
    _taken_over,
    _guarded,
]


@pytest.mark.parametrize("kind", KINDS)
def test_one_conversation_stays_one(tmp_path: Path, kind: Any) -> None:
    known = talks(24, seed=3, fewest=3)
    records = [call for at, talk in enumerate(known) for call in kind(talk, 1_000.0 * at, f"c{at}")]
    said, assumed, _ = read(tmp_path / "log.jsonl", records)
    assert sorted(said) == sorted(f"c{at}" for at in range(24))
    assert assumed[APART] == 0


def test_last_messages_alone_under_one_id_are_doubted(tmp_path: Path) -> None:
    records = [
        call | {"messages": call["messages"][-1:]}
        for at, talk in enumerate(talks(40))
        for call in full(talk, 400.0 * at, "default")
    ]
    said, _, warnings = read(tmp_path / "log.jsonl", records)
    assert list(said) == ["default"]
    assert any("one id, “default”, stands for" in warning for warning in warnings)


def test_a_reset_begins_a_conversation_of_its_own(tmp_path: Path) -> None:
    one, two = talks(8, fewest=3)[6:]
    said, _, _ = read(tmp_path / "log.jsonl", [*full(one, 0, "c"), *full(two, 900, "c")])
    assert sorted(said.values()) == sorted([texts(one), texts(two)])
