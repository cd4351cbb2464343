"""The same question without ids: asked by many, as of a menu, or by one user who has it answered anew."""

import random
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import orjson
import pytest

from turnsignal.agents.files.file_reports import FileReport
from turnsignal.agents.files.importing import Imported
from turnsignal.agents.files.recognising import HowToRead

GREETED = ["Hi", "Hello! How can I help you today?"]
BUTTON, CANNED = "Track my order", "Please give me your order number."


def sent(second: float, *texts: str, user: str | None = None) -> dict[str, Any]:
    """A call that sends all but the last of what is said, and gets that."""
    *messages, answer = [{"role": ("user", "assistant")[at % 2], "content": text} for at, text in enumerate(texts)]
    request = {"messages": messages} | ({"user": user} if user else {})
    response = {"object": "chat.completion", "created": 1_760_000_000 + second, "choices": [{"message": answer}]}
    return {"request": request, "response": response}


def report_of(path: Path, records: Iterable[dict[str, Any]]) -> FileReport:
    path.write_bytes(b"\n".join(map(orjson.dumps, sorted(records, key=lambda each: each["response"]["created"]))))
    with Imported([path], HowToRead()) as imported:
        (report,) = imported.reports
    return report


@pytest.mark.parametrize("user", [None, "web"])
def test_a_button_behind_a_scripted_greeting_is_pressed_in_as_many_conversations_as_go_on(
    user: str | None, tmp_path: Path
) -> None:
    records = []
    for number in range(40):
        second = 60 * number
        said = [*GREETED, BUTTON, CANNED]
        records.append(sent(second, *said, user=user))
        records.append(sent(second + 20, *said, f"It is {number}77.", f"{number}77 is on its way.", user=user))
    report = report_of(tmp_path / "log.jsonl", records)
    assert (report.conversations, report.turns.total(), report.warnings) == (40, 40 * 6, [])


def test_a_greeting_that_one_of_many_was_given_by_the_model_joins_none_of_the_others(tmp_path: Path) -> None:
    greeted = ["Hello", "Hello! I am the assistant of this shop, and can help you with orders, bills and returns."]
    records = [sent(-30, *greeted)]
    for number in range(12):
        said = [*greeted, BUTTON, CANNED]
        records.append(sent(60 * number, *said))
        records.append(sent(60 * number + 20, *said, f"It is {number}77.", f"{number}77 is on its way."))
    assert report_of(tmp_path / "log.jsonl", records).conversations == 12


@pytest.mark.parametrize("answer", ["Here is {}, as you asked.", CANNED])
def test_menus_within_menus_are_of_as_many_conversations_as_their_last_texts(answer: str, tmp_path: Path) -> None:
    draw = random.Random(4)
    records = []
    for number in range(60):
        said = [*GREETED, draw.choice(["Billing", "Returns"]), "Which of these?", draw.choice(["A card", "A bill"])]
        records.append(sent(60 * number, *said[:3], "Which of these?"))
        records.append(sent(60 * number + 10, *said, answer.format(said[-1])))
        if number % 3:
            said += [answer.format(said[-1]), f"My number is {number}."]
            records.append(sent(60 * number + 30, *said, f"Thanks, {number}."))
    assert report_of(tmp_path / "log.jsonl", records).conversations == 60


def test_a_canned_answer_that_nobody_goes_on_from_was_given_to_many(tmp_path: Path) -> None:
    records = [sent(60 * number, *GREETED, BUTTON, CANNED) for number in range(12)]
    assert report_of(tmp_path / "log.jsonl", records).conversations == 12


def test_one_question_answered_again_and_again_in_other_words_is_one_conversation_and_doubted(tmp_path: Path) -> None:
    records = [sent(60 * number, *GREETED, BUTTON, f"Try number {number}.") for number in range(12)]
    records.append(sent(800, *GREETED, BUTTON, "Try number 11.", "Thanks!", "Any time."))
    report = report_of(tmp_path / "log.jsonl", records)
    assert report.conversations == 1
    assert "12 times after the same words, such as “Track my order”" in report.warnings[0]
    assert "session_id" in report.warnings[0]
    few = report_of(tmp_path / "log.jsonl", records[6:])
    assert (few.conversations, few.warnings) == (1, [])


def regenerated(user: str | None, second: float = 0, *, apart: float = 5) -> list[dict[str, Any]]:
    """A question whose first answer is asked for again, and what follows the second."""
    return [
        sent(second, "How do I pay?", "By invoice, perhaps.", user=user),
        sent(second + apart, "How do I pay?", "By card.", user=user),
        sent(second + apart + 30, "How do I pay?", "By card.", "Which ones?", "All of them.", user=user),
    ]


def test_a_first_answer_that_one_user_asks_for_again_at_once_is_of_the_same_conversation(tmp_path: Path) -> None:
    report = report_of(tmp_path / "log.jsonl", [*regenerated("ann"), *regenerated("bob", 2)])
    assert (report.conversations, report.turns.total()) == (2, 2 * 5)


@pytest.mark.parametrize("records", [regenerated(None), regenerated("ann", apart=600)])
def test_without_a_user_or_later_the_same_question_begins_another(records: list[Any], tmp_path: Path) -> None:
    assert report_of(tmp_path / "log.jsonl", records).conversations == 2


def test_a_user_who_asks_the_same_all_day_is_many(tmp_path: Path) -> None:
    records = [sent(20 * number, "Hi", f"Hello, {number}!", user="web") for number in range(30)]
    assert report_of(tmp_path / "log.jsonl", records).conversations == 30


def window(number: int, length: int) -> list[dict[str, Any]]:
    """Calls of a conversation that send the last two messages alone, whose answers are short."""
    said = [f"{word} {number}?" if at % 2 == 0 else f"{word} {number}." for at, word in enumerate("abcdefgh"[:length])]
    records = []
    for at in range(1, length, 2):
        call = (
            sent(1_000 * number + 20 * at, "-", *said[max(at - 2, 0) : at + 1])
            if at > 1
            else sent(1_000 * number, *said[:2])
        )
        call["request"]["messages"] = [each for each in call["request"]["messages"] if each["content"] != "-"]
        records.append(call)
    return records


def test_a_window_that_begins_with_a_short_answer_goes_on_from_the_one_call_that_gave_it(tmp_path: Path) -> None:
    records = [record for number in range(5) for record in window(number, 8)]
    report = report_of(tmp_path / "log.jsonl", records)
    assert (report.conversations, report.turns.total()) == (5, 5 * 8)


def test_a_greeting_that_a_program_puts_first_is_of_no_call_that_once_gave_it(tmp_path: Path) -> None:
    records = [sent(0, "Hi", "Hello!")]
    for number in range(1, 6):
        greeted = sent(30 * number, "-", "Hello!", f"Where is {number}?", f"At {number}.")
        greeted["request"]["messages"] = greeted["request"]["messages"][1:]
        records.append(greeted)
    assert report_of(tmp_path / "log.jsonl", records).conversations == 6
