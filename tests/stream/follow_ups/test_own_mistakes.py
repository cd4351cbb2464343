"""A mistake that users own up to is held against no answer; what they ask anew behind it, or still miss, is read."""

import pytest

from turnsignal.stream.conversations.exchanges import Exchange
from turnsignal.stream.follow_ups.rules import FollowUpReading, FollowUpRules

RULES = FollowUpRules()
ANSWER = "Open Settings, choose Profile and type the new address."


def read(follow_up: str, answer: str = ANSWER) -> FollowUpReading:
    return RULES.read(Exchange("How do I change my address?", answer, follow_up))


@pytest.mark.parametrize(
    "follow_up",
    [
        "wrong card, my mistake, now it works",
        "oh I had the wrong hive number, sorted",
        "silly me, I was looking at the wrong page. Works!",
        "wrong login on my side, all good",
        "I had mistyped the number, fine now",
        "i had it the wrong way round, thanks a lot",
        "never mind, it just went through",
        "ah, ich hatte die falsche Parzelle eingetragen, jetzt geht's",
        "hatte die falsche Seite offen, klappt jetzt",
        "besser geht's nicht",
        "dann lag ich falsch, alles klar",
        "ah, me equivoqué de tarjeta, ya funciona",
        "perdón, lo leí mal, ya lo tengo",
        "me confundí de día, todo bien",
        "ah pardon, je me suis trompé de ligne, c'est bon",
        "mi ero confuso, tutto a posto",
        "erro meu, agora deu certo",
        "stom van mij, het werkt nu",
    ],
)
def test_a_mistake_of_their_own_that_is_over_is_thanks(follow_up: str) -> None:
    reading = read(follow_up)
    assert (reading.label, reading.clarification) == ("thanks", False)


@pytest.mark.parametrize(
    ("follow_up", "closes"),
    [
        ("oops, I read it wrong", True),
        ("ah stimmt, ich hab mich vertan", True),
        ("ah ok, avevo sbagliato tessera", True),
        ("oh ik had de verkeerde pas", True),
        ("I entered the wrong pin three times and my card is blocked", False),
        ("Ach so, mein Fehler, das war die Rechnung vom letzten Jahr und nicht die neue", False),
    ],
)
def test_a_mistake_of_their_own_says_nothing_of_the_answer(follow_up: str, closes: bool) -> None:
    reading = read(follow_up)
    assert (reading.strict, reading.clarification, reading.closes) == (None, False, closes)


@pytest.mark.parametrize(
    "follow_up",
    [
        "My bad, I meant the blue one",
        "Mein Fehler, ich meinte die Garage",
        "culpa mía, me refería al garaje",
        "errore mio, intendevo la seconda casa",
        "my mistake, but it still doesn't work",
        "I used the wrong one because of you",
        "you gave me the wrong number, my mistake for trusting you",
        "I was looking at the wrong answer of yours",
        "ich habe die falsche Rechnung bekommen",
        "ik heb de verkeerde factuur gekregen",
        "das war falsch",
    ],
)
def test_what_is_asked_anew_or_held_against_the_assistant_is_read(follow_up: str) -> None:
    assert read(follow_up).clarification


@pytest.mark.parametrize(
    "follow_up",
    [
        "mein Fehler, dir zu glauben",
        "me equivoqué por tu culpa",
        "je me suis trompé à cause de vous",
        "ho sbagliato menu perché me l'hai detto tu",
        "ik zat op de verkeerde pagina door jouw link",
        "I typed the wrong street and now I can't change it back",
        "I entered the wrong code and am locked out",
        "hab mich vertippt, was jetzt",
        "puse mal la clave y ahora no puedo entrar",
        "je me suis trompé, comment annuler",
        "ho sbagliato, come torno indietro",
    ],
)
def test_a_mistake_that_the_assistant_is_blamed_for_or_that_is_still_open_takes_no_leave(follow_up: str) -> None:
    reading = read(follow_up)
    assert (reading.label == "thanks", reading.closes) == (False, False)


def test_who_forgot_something_has_not_left() -> None:
    assert not any(read(text).closes for text in ("I forgot my password", "Ich habe mein Passwort vergessen"))


@pytest.mark.parametrize(
    ("check_in", "reply"),
    [
        ("Yesterday you asked us something. Did it work out?", "haven't tried yet"),
        ("Yesterday you asked us something. Did it work out?", "No, but I found it out myself"),
        ("Hello, just checking in: were you able to sort it out?", "Not yet, will try at the weekend"),
        ("Hallo, kurze Nachfrage: Konnten Sie das Problem lösen?", "Nein, aber hat sich erledigt"),
        ("Hola, le escribo por lo de ayer. ¿Ha funcionado?", "todavía no, lo haré el lunes"),
    ],
)
def test_who_answers_a_question_of_the_day_after_does_not_complain(check_in: str, reply: str) -> None:
    assert not read(reply, check_in).clarification


def test_who_says_no_to_did_that_help_complains() -> None:
    assert read("No", f"{ANSWER} Did that help?").clarification
    came_back = "Yesterday you asked us something. Did it work out?"
    for reply in (
        "No, it does not work",
        "No, your steps were wrong",
        "nope, nothing changed",
        "not yet, your link is dead",
    ):
        assert read(reply, came_back).clarification
