"""To a command "OK" is an answer, to a question or a complaint it is none."""

import pytest

from turnsignal.stream.conversations.pairing import KeptTurn, PendingResponse
from turnsignal.stream.conversations.state import Conversation
from turnsignal.stream.follow_ups.commands import is_enough, obeys
from turnsignal.stream.follow_ups.outcomes import Outcomes
from turnsignal.stream.follow_ups.rules import FollowUpRules


@pytest.mark.parametrize(
    "prompt",
    [
        *(
            "Turn on the hall lights",
            "please lock the front door",
            "lights off",
            "hall light please",
            "Stelle den Wecker",
        ),
        *(
            "could you lock the door please?",
            "Alexa, play the news",
            "¿Puedes apagar la luz?",
            "Kannst du das Licht ausmachen?",
        ),
        *("volume 7", "kitchen lights 40%", "Heizung auf 21 Grad", "Licht aus", "louder", "next song", "wake me at 7"),
    ],
)
def test_ok_obeys_a_command(prompt: str) -> None:
    assert obeys("OK", prompt)
    assert not obeys("Internal error 500.", prompt)


@pytest.mark.parametrize(
    "prompt",
    [
        *("How do I turn on the lights", "Turn on the lights?", "my card is blocked", "it doesn't turn on"),
        *(
            "Can you help me?",
            "could you tell me when you open",
            "can I cancel my order?",
            "Will my lights arrive on Monday?",
        ),
        *(
            "order 4711",
            "refund for order 8841",
            "error 404",
            "can you explain the lights",
            "Kannst du mir das erklären?",
        ),
        *("give me the opening hours", "I need an invoice", "the light is not on", "password reset", ""),
    ],
)
def test_to_anything_else_ok_is_no_answer(prompt: str) -> None:
    assert not obeys("OK", prompt)


@pytest.mark.parametrize(("prompt", "outcome"), [("Turn on the lights", "silent"), ("Where is it?", "unanswered")])
def test_who_is_obeyed_is_answered(prompt: str, outcome: str) -> None:
    answer = PendingResponse("home", None, None, None)
    turns = [KeptTurn("1", "user", 1.0, prompt), KeptTurn("2", "assistant", 2.0, "OK", answer)]
    state = Conversation(turns=2, responses=1, kept=turns)
    assert Outcomes(FollowUpRules()).find(state) == outcome


_REGRET = "Sorry to hear that. I'll forward this to the team."


@pytest.mark.parametrize(
    ("prompt", "due"),
    [
        *((told, True) for told in ("This city is so loud", "The bus was late again", "Diese Stadt ist so laut")),
        *((asked, False) for asked in ("Why is it loud?", "where is my bus", "Cancel my contract")),
        *((wanted, False) for wanted in ("I want to cancel my contract", "I need the invoice of May", "refund please")),
        *((wanted, False) for wanted in ("Bitte sperren Sie meine Karte", "Ich möchte kündigen", "Ik wil opzeggen")),
        *((wanted, False) for wanted in ("Quiero cancelar mi contrato", "Vorrei disdire", "Quero cancelar o contrato")),
        ("Je veux résilier mon contrat", False),
    ],
)
def test_regret_is_due_to_who_tells_of_something_and_to_nobody_who_wants_something(prompt: str, *, due: bool) -> None:
    assert is_enough(_REGRET, prompt) is due
