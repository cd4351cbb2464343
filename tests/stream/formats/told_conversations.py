"""Conversations whose truth is known, and calls that a program makes of them, with an ending behind each question."""

import random
from collections.abc import Callable, Sequence
from typing import NamedTuple

from turnsignal.stream.formats.protocol import Call, Message

THINGS = ("invoice", "parcel", "password", "router", "contract", "voucher", "seat", "licence", "meter", "ticket")
DOES = ("change", "cancel", "return", "renew", "find", "pay", "move", "extend", "check", "sell")
SHORT = ("yes", "thanks", "ok", "no", "that did not help", "and how?")
ASKED = (
    "How do I {does} my {thing}?",
    "My {thing} {number} is not there, what now?",
    "I want to {does} my {thing} number {number}.",
    "can i {does} the {thing} and the {other}",
)
CHINESE = ("如何更改我的{other}订单{number}？", "我的{thing}在哪里", "好的", "我要取消{number}号票。")


class Said(NamedTuple):
    """A question of a conversation whose truth is known. at: seconds since the log began; nth: of its conversation."""

    typed: str
    conversation: int
    nth: int
    at: int


Adding = Callable[[Said], str]


def conversations(many: int = 40, *, asked: Sequence[str] = ASKED, short: Sequence[str] = SHORT) -> list[list[Said]]:
    chance = random.Random(7)
    told = []
    for conversation in range(many):
        questions = []
        for nth in range(chance.randint(1, 5)):
            words = {"does": chance.choice(DOES), "thing": chance.choice(THINGS), "other": chance.choice(THINGS)}
            pattern = chance.choice(short) if nth and chance.random() < 0.4 else chance.choice(asked)
            typed = pattern.format(number=chance.randint(1_000, 99_999), **words)
            questions.append(Said(typed, conversation, nth, 1_000 * conversation + 60 * nth))
        told.append(questions)
    return told


def calls_of(
    told: Sequence[Sequence[Said]], adding: Adding, *, history: bool, named: bool, system: str = ""
) -> list[Call]:
    calls = []
    for questions in told:
        for each in questions:
            inputs = [Message("system", system)] if system else []
            for before in questions[: each.nth] if history else ():
                inputs += [Message("user", adding(before)), Message("assistant", answer_to(before))]
            call = Call(f"x:{len(calls)}", start=1e9 + each.at, end=1e9 + each.at + 2, line=len(calls))
            call.inputs = [*inputs, Message("user", adding(each))]
            call.outputs = [Message("assistant", answer_to(each))]
            call.conversation = f"c{each.conversation}" if named else None
            calls.append(call)
    return calls


def answer_to(said: Said) -> str:
    return f"Open the page of number {said.at}, then choose what you need there."


def typed_in(told: Sequence[Sequence[Said]]) -> list[str]:
    return [each.typed for questions in told for each in questions]


def behind(ending: str) -> Adding:
    """Return what puts an ending behind each question, with the values of its parts that vary."""

    def adding(said: Said) -> str:
        kind, at = said.conversation % 3, said.at
        varied = {
            "time": f"2026-1{kind}-0{said.conversation % 9 + 1} {at // 3_600:02}:{at // 60 % 60:02}",
            "plan": ("free", "pro", "business plus")[kind],
            "day": ("Monday", "Tuesday", "Friday")[kind],
            "name": f"{THINGS[said.conversation % 10]}{said.conversation}",
            "number": at,
        }
        return said.typed + ending.format(**varied)

    return adding
