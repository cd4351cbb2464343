"""Small talk asks for nothing; whatever else a user writes may ask for something."""

import pytest

from turnsignal.stream.conversations.exchanges import Exchange
from turnsignal.stream.conversations.pairing import KeptTurn
from turnsignal.stream.follow_ups.rules import FollowUpRules
from turnsignal.stream.follow_ups.small_talk import is_small_talk

RULES = FollowUpRules()


def kept(*texts: str) -> list[KeptTurn]:
    """Return turns, of user and assistant in turn, the last one of a user."""
    roles = ("user", "assistant") if len(texts) % 2 else ("assistant", "user")
    return [KeptTurn(str(at), roles[at % 2], float(at), text) for at, text in enumerate(texts)]


@pytest.mark.parametrize(
    "text",
    [
        *("hi", "Good morning!", "hello there", "Guten Tag", "buenos días", "Bonjour", "Ciao", "olá", "ping", "👍"),
        *("yes, I agree", "ok", "ja, einverstanden", "5", "9/10", "thanks a lot!", "Vielen Dank", "that's all, thanks"),
    ],
)
def test_greetings_consent_ratings_thanks_and_pings_ask_for_nothing(text: str) -> None:
    assert is_small_talk(kept("How do I reset it?", "Open Settings. Is that OK?", text), RULES)
    assert is_small_talk(kept(text), RULES)


@pytest.mark.parametrize(
    "text",
    [
        *("how do I reset it", "the blue one", "hi, my card is blocked", "ok, and the second step", "show me more"),
        *("Terminal 5", "thanks, but it still fails", "ja, aber wie", "Ok?", "order status", "no, the other account"),
        *("Good morning. My boiler shows E133", "good afternoon team, need a refund for order 12"),
    ],
)
def test_what_has_a_subject_asks_for_something(text: str) -> None:
    assert not is_small_talk(kept("How do I reset it?", "Open Settings.", text), RULES)
    assert not is_small_talk(kept(text), RULES)


def test_all_messages_that_came_together_are_looked_at() -> None:
    together = [KeptTurn("1", "user", 1.0, "hello"), KeptTurn("2", "user", 2.0, "the terminal is broken")]
    assert not is_small_talk(together, RULES)
    assert not is_small_talk([KeptTurn("1", "gap_user", 1.0, "")], RULES), "nobody knows what it was"


@pytest.mark.parametrize(
    "wish",
    [
        *(
            "Merry Christmas to you!",
            "have a nice weekend!",
            "thanks, and all the best for the new year",
            "see you Monday",
        ),
        *("einen schönen Tag noch", "à bientôt", "hasta luego", "buona giornata", "fijne dag nog", "tenha um bom dia"),
    ],
)
def test_wishes_ask_for_nothing_and_say_nothing_of_the_answer(wish: str) -> None:
    turns = kept("How do I reset it?", "Open Settings.", wish)
    assert is_small_talk(turns, RULES)
    reading = RULES.read(Exchange("How do I reset it?", "Open Settings.", wish))
    assert not reading.clarification
    assert reading.closes


@pytest.mark.parametrize(
    ("text", "answer", "asks"),
    [
        ("my wife says hello", "Happy to hear that! Have a nice evening.", False),
        ("my wife says hello", "She may open Settings, too.", True),
        ("my boiler shows E133?", "You're welcome!", True),
        ("my boiler shows E133", "You're welcome to call us: 555 12 34, press 2 and say what it shows.", True),
        ("ich grüße den Chef", "Gern geschehen!", False),
        ("salude al equipo", "¡De nada!", False),
    ],
)
def test_what_is_answered_with_a_courtesy_alone_asked_for_nothing(text: str, answer: str, *, asks: bool) -> None:
    assert is_small_talk(kept("How do I reset it?", "Open Settings.", text), RULES, answer) is not asks
    assert not is_small_talk(kept("my boiler shows E133"), RULES, "You're welcome!"), "nothing was returned"


@pytest.mark.parametrize(
    "form",
    [
        "Your issue: {}\nAlready solved? No\nUrgent? No",
        "<user_query>{}</user_query>\n<context>page=home; last_error=none</context>",
        "{}\n--\nI did not find the answer in the FAQ.",
        "[Web] [app 4.2] {}",
    ],
)
def test_small_talk_in_a_clients_form_asks_for_nothing(form: str) -> None:
    assert is_small_talk(kept(form.format("How do I reset it?"), "Open Settings.", form.format("thanks a lot!")), RULES)
    asked = kept(form.format("How do I reset it?"), "Open Settings.", form.format("order status"))
    assert not is_small_talk(asked, RULES)


@pytest.mark.parametrize("wish", ["Get well soon!", "Gute Besserung!", "Bon rétablissement !"])
def test_what_is_answered_with_thanks_returned_and_a_recovery_wished_asks_for_nothing(wish: str) -> None:
    turns = kept("can i swim?", "When the stitches are out.", "my leg is really sore this week")
    assert is_small_talk(turns, RULES, f"Glad to help. {wish}")
    assert not is_small_talk(turns, RULES, f"Cool it. {wish}")
