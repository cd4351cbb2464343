"""An answer that only greets is due to who greets, or says that there is a question; to a question it is none."""

from typing import Any

import orjson
import pytest

from tests.replayed import replayed
from turnsignal.stream.follow_ups.openings import only_opens, passes_over
from turnsignal.stream.suite import Suite

GREETINGS = [
    "Hi! How can I help you today?",
    "Hello! 👋 I'm Ada, your virtual assistant. What can I do for you?",
    "Welcome to Acme Bikes! How may I assist you?",
    "Hallo! Wie kann ich Ihnen heute helfen?",
    "Guten Tag, ich bin Max. Womit kann ich Ihnen weiterhelfen?",
    "Bonjour ! Comment puis-je vous aider aujourd'hui ?",
    "¡Hola! ¿En qué puedo ayudarle hoy?",
    "Buongiorno, come posso aiutarla?",
    "Hoi! Waarmee kan ik je helpen?",
    "Olá! Como posso te ajudar hoje?",
]
ANSWERS = [
    "Hi! We open at nine. How can I help you further?",
    "How can I help you with that? Which bike do you have?",
    "Hello! The return is free within 30 days.",
    "How can I return it? Open your orders and press Return.",
    "Was kann ich tun, wenn der Zug ausfällt? Sie können kostenlos stornieren.",
    "",
]
QUESTIONS = [
    "When are you open on Sunday?",
    "Ich möchte meinen Vertrag zum Monatsende kündigen",
    "Où puis-je garer mon vélo ce soir ?",
    "¿Cuánto cuesta el envío a Canarias?",
    "I need help with my broken front wheel",
]
DUE = [
    "hello",
    "Guten Morgen!",
    "Hi there, can you help me?",
    "I have a question",
    "Ich habe eine Frage",
    "Bonjour, pouvez-vous m'aider ?",
    "Hola, tengo una duda",
    "buongiorno, ho una domanda",
    "opening hours",
    "thank you so much, bye",
    "",
]


@pytest.mark.parametrize("greeting", GREETINGS)
def test_a_greeting_is_no_answer_to_a_question(greeting: str) -> None:
    assert only_opens(greeting)
    assert all(passes_over(greeting, question) for question in QUESTIONS)
    assert [prompt for prompt in DUE if passes_over(greeting, prompt)] == []


@pytest.mark.parametrize("answer", ANSWERS)
def test_what_says_anything_is_more_than_a_greeting(answer: str) -> None:
    assert not only_opens(answer)


def test_long_texts_are_told_at_once() -> None:
    assert not only_opens("hi " * 50_000)
    assert passes_over(GREETINGS[0], "i have a " * 50_000 + "?")


def test_a_release_that_loses_questions_fails_to_answer() -> None:
    lines: list[dict[str, Any]] = []
    for version, lost in (("v1", 0), ("v2", 4)):
        for at in range(120):
            about = {"conversation_id": f"{version}-{at}", "version": version, "assistant": "shop"}
            clock = f"2026-11-0{2 + (version == 'v2')}T{8 + at // 60:02}:{at % 60:02}"
            answer = (
                GREETINGS[0] if at % 10 < lost else f"The shop in {'abcdefghij'[at % 10] * 4} Street opens at nine."
            )
            for number, (role, text) in enumerate((("user", QUESTIONS[0]), ("assistant", answer))):
                lines.append(
                    about
                    | {"turn_id": f"t{number}", "role": role, "text": text, "timestamp": f"{clock}:{20 * number:02}Z"}
                )
    summary = replayed(map(orjson.dumps, lines), Suite(), 1_800_000_000.0).summary(Suite())
    (compared,) = summary["comparisons"]
    failed = compared["deltas"]["failed"]
    assert (failed["verdict"], round(failed["value"], 2)) == ("worse", 0.4)
    assert compared["deltas"]["unanswered"]["verdict"] == "worse"
