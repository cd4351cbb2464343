"""A first question that is answered anew, without an id; answers that were cut; drafts before most answers."""

from pathlib import Path
from typing import Any

import orjson
import pytest

from turnsignal.agents.files.importing import Imported
from turnsignal.agents.files.recognising import HowToRead

Record = dict[str, Any]
ROLES = ("user", "assistant")


def call(start: float, history: list[str], answer: str, conversation: str | None = None) -> Record:
    messages = [{"role": ROLES[at % 2], "content": text} for at, text in enumerate(history)]
    named = {"metadata": {"session_id": conversation}} if conversation else {}
    choices = [{"index": 0, "message": {"role": "assistant", "content": answer}}]
    return {"request": {"messages": messages, **named}, "response": {"created": int(start), "choices": choices}}


def talk(number: int, start: float, first: str, answers: list[str], conversation: str | None = None) -> list[Record]:
    """Calls of one conversation, whose first question is answered so, the last answer staying, and which goes on."""
    calls = [call(start + 20 * at, [first], answer, conversation) for at, answer in enumerate(answers)]
    history = [first, answers[-1], f"And what of number {number}?"]
    return [*calls, call(start + 20 * len(answers) + 30, history, f"Number {number} is there.", conversation)]


def read(path: Path, calls: list[Record]) -> tuple[dict[str, list[str]], Any]:
    calls = sorted(calls, key=lambda each: each["response"]["created"])
    path.write_bytes(b"\n".join(map(orjson.dumps, calls)))
    with Imported([path], HowToRead()) as imported:
        turns = [orjson.loads(line) for line in imported.sources[0].path.read_bytes().splitlines()]
        report = imported.reports[0]
    talks: dict[str, list[str]] = {}
    for turn in sorted(turns, key=lambda each: each["timestamp"]):
        talks.setdefault(turn["conversation_id"], []).append(turn["text"])
    return talks, report


@pytest.mark.parametrize("times", [2, 3])
def test_a_first_question_answered_anew_is_one_conversation_that_goes_on(times: int, tmp_path: Path) -> None:
    calls = []
    for number in range(8):
        answers = [f"Try way {at} of {number}." for at in range(times if number % 2 else 1)]
        calls += talk(number, 1_770_000_000 + 900 * number, f"How do I move seat {number // 2}?", answers)
    talks, _ = read(tmp_path / "log.jsonl", calls)
    assert len(talks) == 8
    assert sorted(map(len, talks.values())) == [4] * 4 + [3 + times] * 4


@pytest.mark.parametrize("first", ["Hi", "Where is my order, please?"])
def test_what_many_users_ask_at_once_is_asked_by_many(first: str, tmp_path: Path) -> None:
    calls = []
    for number in range(60):
        start = 1_770_000_000 + 25 * number
        whole = talk(number, start, first, [f"Tell me the number {number}, please."])
        calls += whole if number % 3 else whole[:1]
    talks, _ = read(tmp_path / "log.jsonl", calls)
    assert len(talks) == 60


def test_two_users_who_both_go_on_are_two(tmp_path: Path) -> None:
    calls = [
        *talk(1, 1_770_000_000, "How do I move my seat?", ["At the desk there."]),
        *talk(2, 1_770_000_040, "How do I move my seat?", ["In the app."]),
    ]
    assert len(read(tmp_path / "log.jsonl", calls)[0]) == 2


def test_an_answer_of_two_that_nobody_goes_on_from_is_told_of(tmp_path: Path) -> None:
    calls = [call(1_770_000_000 + 30 * at, ["How do I move my seat?"], f"Try way {at}.") for at in range(2)]
    talks, report = read(tmp_path / "log.jsonl", calls)
    assert len(talks) == 2
    assert any("which may be one answered anew" in what for what in report.assumed)


@pytest.mark.parametrize("conversation", ["c", None])
@pytest.mark.parametrize("sends", ["history", "last"])
def test_an_answer_that_was_cut_and_asked_for_again_counts_whole_and_once(
    conversation: str | None, sends: str, tmp_path: Path
) -> None:
    calls, wanted = [], []
    for number in range(4):
        history: list[str] = []
        for at in range(3):
            name = f"{conversation}{number}" if conversation else None
            start = 1_770_000_000 + 900 * number + 90 * at
            question = f"How do I move number {number}{at} to another place?"
            answer = f"Open the page of number {number}{at}, and choose where it is to be from then on."
            sent = [*history, question] if sends == "history" or name is None else [question]
            calls += [call(start, sent, answer[:40], name)] if at != 1 else []
            calls.append(call(start + 5, sent, answer, name))
            history += [question, answer]
        wanted.append(history)
    talks, _ = read(tmp_path / "log.jsonl", calls)
    assert sorted(talks.values()) == wanted


@pytest.mark.parametrize("drafted", [1, 5])
def test_drafts_before_nearly_all_answers_are_warned_of(drafted: int, tmp_path: Path) -> None:
    calls = []
    for number in range(10):
        history: list[str] = []
        for at in range(2):
            start = 1_770_000_000 + 900 * number + 90 * at
            history.append(f"How do I move number {number}{at}?")
            if number % 5 < drafted:
                calls.append(call(start, history, f"A draft of {number}{at}.", f"c{number}"))
            calls.append(call(start + 3, history, f"Open page {number}{at}.", f"c{number}"))
            history.append(f"Open page {number}{at}.")
    _, report = read(tmp_path / "log.jsonl", calls)
    told = [warning for warning in report.warnings if "questions have several answers" in warning]
    assert len(told) == (drafted == 5)
    assert all("20 of 20" in warning and "How do I move number" in warning for warning in told)
