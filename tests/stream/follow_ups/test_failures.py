"""Answers that are none: empty, an error or a refusal; and those that only speak of such."""

import pytest

from turnsignal.stream.errors import ConfigError
from turnsignal.stream.follow_ups.failures import Failures, asks_back

FAILURES = Failures()


@pytest.mark.parametrize(
    "text",
    [
        "",
        " \n\t",
        "Internal error 500.",
        "500 Internal Server Error",
        "HTTP 502 Bad Gateway",
        "503 Service Unavailable",
        "Error: upstream connect error",
        "An unexpected error occurred while processing your request.",
        "Something went wrong. Please try again later.",
        "Request timed out",
        "The model is currently overloaded. Please try again later.",
        "We are experiencing technical difficulties.",
        "Traceback (most recent call last):\n  File",
        "TimeoutError: deadline exceeded",
        '{"error": {"message": "rate limited"}}',
        "null",
        "I'm sorry, but I can't help with that.",
        "I’m sorry, but I can’t help with that.",
        "I cannot assist with that request.",
        "Unfortunately, I don't have that information.",
        "Unable to process your request at this time.",
        "The documents do not provide an answer to the question.",
        "As an AI language model, I can't do this.",
        "Sorry. I could not find any hotel in the east.",
        "Es tut mir leid, dabei kann ich nicht helfen.",
        "Es ist ein Fehler aufgetreten.",
        "Lo siento, no puedo ayudarte con eso.",
        "Désolé, je ne peux pas répondre.",
        "Desculpe, não posso ajudar com isso.",
        "Mi dispiace, non posso aiutarti.",
        "Het spijt me, daar kan ik niet bij helpen.",
        "\u200b\ufeff",
        "\u3164",
        "...",
        "{}",
        "[no content]",
        '{"choices":[]}',
        "<html><head><title>502 Bad Gateway</title></head><body><h1>502 Bad Gateway</h1></body></html>",
        "Something broke on our end. Please try again later.",
        "Model output blocked by content filter.",
        "As a language model, I must decline.",
        "You have reached your limit for today.",
        "ERR_CONNECTION_RESET",
        "El servicio no está disponible en este momento.",
        "Interner Serverfehler. Bitte versuchen Sie es später erneut.",
        "Veuillez réessayer plus tard.",
        "Algo deu errado. Tente novamente.",
        "Errore interno del server.",
        "Er is iets misgegaan.",
        "抱歉，我无法回答这个问题。",
        "申し訳ありませんが、お答えできません。",
    ],
)
def test_an_empty_text_an_error_and_a_refusal_are_no_answers(text: str) -> None:
    assert FAILURES.is_failing(text)


@pytest.mark.parametrize(
    "text",
    [
        "Look under Settings [a].",
        "Error 404 means that the page is gone.",
        "Error handling in Go is done by values.",
        "To fix a 500 error, restart the server.",
        "If you are unable to log in, reset your password under Settings.",
        "You can't do that on the free plan; upgrade under Billing.",
        "Returns are not possible after 30 days, but an exchange is.",
        "Sorry for the confusion! The blue one is under Settings.",
        "I'm sorry to hear that you're not well. Take the day off under Absences.",
        'The message "We are unable to process your request" comes from the bank. Call them.',
        "The log says “I cannot find the file”: create it first.",
        "No problem! Here it is.",
        "We do not offer shipping to Malta, but a pick-up in Sicily is possible.",
        "No. There is no discount available for annual plans.",
        "Unfortunately, dogs are not allowed in the office.",
        "Sorry, the offer ended on 1 March and is no longer available.",
        "We don't have a store in Graz, the nearest one is in Vienna.",
        "If something went wrong during checkout, your card isn't charged.",
        "The service is down every Sunday from 2 to 3 am.",
        "Leider ist das nicht im Tarif enthalten, Sie können es aber zubuchen.",
        "Le service n'est pas disponible en Corse, mais en Sardaigne oui.",
        "不，我们不提供退款，但可以换货。",
        "👍",
    ],
)
def test_an_answer_that_speaks_of_errors_is_one(text: str) -> None:
    assert not FAILURES.is_failing(text)


def test_a_refusal_far_behind_in_an_answer_is_none() -> None:
    assert not FAILURES.is_failing("Open Settings and choose Security. " * 20 + "I cannot help with more.")


def test_a_pattern_that_re2_does_not_read_is_refused_in_words() -> None:
    with pytest.raises(ConfigError, match="expected a pattern that RE2 reads"):
        Failures(["(?=x)"])


def test_only_the_beginning_of_an_answer_is_read_and_a_lone_surrogate_is_no_obstacle() -> None:
    for opening in ("Look under Settings. ", "I can't help with that. "):
        text = opening.ljust(320, "x")
        assert FAILURES.is_failing(text) == FAILURES.is_failing(text + ' "sorry, I cannot' * 20_000)
    assert not FAILURES.is_failing("\ud800")


@pytest.mark.parametrize(
    "text",
    [
        "I can't see your account, but the limit is under Settings > Cards.",
        "I could not find the 2024 report; the one before gives 4.1 million [2].",
        "Although I do not know the model, holding the key for ten seconds resets all of them.",
        "No puedo reservar la sala, pero usted puede hacerlo en Espacios.",
        "Ich bin kein Anwalt, üblich sind aber vier Wochen.",
    ],
)
def test_what_could_not_be_done_beside_help_is_an_answer(text: str) -> None:
    assert not FAILURES.is_failing(text)
    assert not FAILURES.is_failing(f"> a line that somebody else wrote\n\n{text}")


@pytest.mark.parametrize(
    "text",
    [
        "Let me connect you with a colleague.",
        "Could you rephrase that?",
        "Bitte wenden Sie sich an unseren Kundendienst.",
        "No lo sé.",
        "Okay.",
        "I couldn't book that table. Would you like another one?",
        "I can't help with that. Is there anything else that I can do for you?",
    ],
)
def test_a_question_handed_on_or_back_is_no_answer(text: str) -> None:
    assert FAILURES.is_failing(text)


def test_a_refusal_behind_thanks_is_read_and_one_behind_help_is_not() -> None:
    manners = "Thank you for writing to us. " + "All of us like to hear what people make of our lamps. " * 8
    assert FAILURES.is_failing(manners + "Sadly, I cannot help with this matter.")
    assert not FAILURES.is_failing(manners + "Open Settings and press Reset. I cannot help with more.")


def test_an_error_that_is_explained_is_an_answer() -> None:
    for text in ("Failed to load means that the plugin is old.", "If you see “too many requests”, wait a minute."):
        assert not FAILURES.is_failing(text)
    assert FAILURES.is_failing("Too many requests, wait a minute.")


def test_what_was_found_ahead_is_found_again_and_does_not_pile_up() -> None:
    failures = Failures()
    answers = [("Internal error 500.", True), ("Click Reset and wait for the mail.", False)]
    assert [failures.find_ahead(text) for text, _ in answers] == [failed for _, failed in answers]
    for text, failed in answers * 2:  # another string with the same letters, as a conversation's state has it
        assert failures.is_failing(text.encode().decode()) is failed
    for number in range(10_050):
        failures.find_ahead(f"Step {number}: press the button.")
    assert failures.is_failing("Internal error 500.")
    assert not failures.is_failing("Step 3: press the button.")


@pytest.mark.parametrize(
    "text",
    [
        *(
            "Which terminal do you have?",
            "Happy to help. Which terminal do you have?",
            "One question first: since when?",
        ),
        *(
            "Gerne! Welches Gerät haben Sie?",
            "Claro, con gusto. ¿Qué terminal tiene?",
            "Avec plaisir. Quel est le pays ?",
        ),
        *("Certo! Quale usa?", "Com certeza! Qual é o seu?", "Natuurlijk! Welke heeft u?"),
        *("Which one?\n- Verifone\n- Ingenico", "Sure! The app or the website? (app / website)"),
    ],
)
def test_an_answer_that_only_asks_back_is_told(text: str) -> None:
    assert asks_back(text)


@pytest.mark.parametrize(
    "text",
    [
        *("", "Press Split.", "Press Split on the terminal. Did that help?", "The fee is 5 euros. Do you need more?"),
        *("Sure, you can return it within 30 days. Is it damaged?", "Drücken Sie Teilen. Hat das geholfen?"),
        "Why is the sky blue? Because short waves are scattered more than long ones are.",
        "x" * 400 + "?",
    ],
)
def test_an_answer_with_a_question_behind_it_does_not_only_ask(text: str) -> None:
    assert not asks_back(text)
