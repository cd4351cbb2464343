"""Calls that repeat what was said before are exchanges, whatever their answer is called."""

from typing import Any

import orjson
import pytest

from tests.stream.formats.test_proposing import read
from turnsignal.stream.formats.proposing import ProposedMapping, propose_mapping

TALK = [("Is the shop open?", "Yes, until six today."), ("And on Sunday?", "No, never on Sunday.")]
TALK += [("May I bring a dog?", "Small ones are welcome.")]


def history(talk: int, upto: int) -> list[dict[str, str]]:
    said = [pair for question, answer in TALK[:upto] for pair in (("user", question), ("assistant", answer))]
    return [{"role": role, "content": f"{text} ({talk})"} for role, text in said]


def calls(question: str, before: str, answer: str, *, spell: Any = lambda value: value) -> list[dict[str, Any]]:
    """Make calls whose history holds the question where it has no name of its own."""
    log = []
    for talk, number in [(talk, number) for number in range(3) for talk in range(2)]:
        asked, answered = (f"{text} ({talk})" for text in TALK[number])
        last = [] if question else [{"role": "user", "content": asked}]
        record = {"when": f"2026-11-09T1{number}:0{talk}:00Z", before: spell(history(talk, number) + last)}
        log.append({**record, **({question: asked} if question else {}), answer: answered})
    return log


def said(done: ProposedMapping, log: list[dict[str, Any]]) -> list[tuple[list[str], list[str]]]:
    return [
        ([message.text for message in call.inputs], [message.text for message in call.outputs])
        for call in read(done, log)
    ]


@pytest.mark.parametrize("answer", ["bot_says", "zz", "answer"])
@pytest.mark.parametrize("spell", [lambda value: value, lambda value: orjson.dumps(value).decode()])
def test_an_answer_of_any_name_is_known_by_the_histories_that_repeat_it(answer: str, spell: Any) -> None:
    log = calls("", "turns_so_far", answer, spell=spell)
    done = propose_mapping(log, "log.jsonl")
    assert done.read == done.of == len(log)
    assert f'answer = "{answer}"' in done.text
    assert "\nconversation_id" not in done.text
    assert [len(asked) for asked, _ in said(done, log)] == [1, 1, 3, 3, 5, 5]
    assert [answers for _, answers in said(done, log)] == [[record[answer]] for record in log]


@pytest.mark.parametrize(("question", "answer"), [("question", "answer"), ("typed", "told")])
def test_a_history_that_ends_with_an_answer_goes_before_the_question_beside_it(question: str, answer: str) -> None:
    log = calls(question, "earlier", answer)
    done = propose_mapping(log, "log.jsonl")
    assert 'history = "earlier"' in done.text
    assert [asked[-1] for asked, _ in said(done, log)] == [record[question] for record in log]
    assert [len(asked) for asked, _ in said(done, log)] == [1, 1, 3, 3, 5, 5]
    assert [answers for _, answers in said(done, log)] == [[record[answer]] for record in log]


def test_a_question_that_its_history_holds_already_is_asked_once() -> None:
    log = [{**record, "question": record["earlier"][-1]["content"]} for record in calls("", "earlier", "answer")]
    done = propose_mapping(calls("question", "earlier", "answer"), "log.jsonl")
    assert [len(asked) for asked, _ in said(done, log)] == [1, 1, 3, 3, 5, 5]


def test_an_answer_that_stands_beside_a_list_of_turns_is_doubted_and_so_are_lists_that_begin_alike() -> None:
    log = [
        {"request_no": f"r{number}", **record, "spoken": record["spoken"] + " And more."}
        for number, record in enumerate(calls("", "earlier", "spoken"))
    ]
    done = propose_mapping(log, "log.jsonl")
    assert any("spoken stands beside the list and is not read" in doubt for doubt in done.doubts)
    assert any("lists begin with all that another one holds" in doubt for doubt in done.doubts)
    assert 'conversation_id = "spoken"' not in done.text
