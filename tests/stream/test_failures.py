"""Answers that are none: empty, an error or a refusal; and those that only speak of such."""

import pytest

from stream.errors import ConfigError
from stream.failures import Failures

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
    ],
)
def test_an_empty_text_an_error_and_a_refusal_are_no_answers(text: str) -> None:
    assert FAILURES.found(text)


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
    ],
)
def test_an_answer_that_speaks_of_errors_is_one(text: str) -> None:
    assert not FAILURES.found(text)


def test_a_refusal_far_behind_in_an_answer_is_none() -> None:
    assert not FAILURES.found("Open Settings and choose Security. " * 20 + "I cannot help with more.")


def test_a_pattern_that_re2_does_not_read_is_refused_in_words() -> None:
    with pytest.raises(ConfigError, match="expected a pattern that RE2 reads"):
        Failures(["(?=x)"])


def test_only_the_beginning_of_an_answer_is_read_and_a_lone_surrogate_is_no_obstacle() -> None:
    for opening in ("Look under Settings. ", "I can't help with that. "):
        text = opening.ljust(320, "x")
        assert FAILURES.found(text) == FAILURES.found(text + ' "sorry, I cannot' * 20_000)
    assert not FAILURES.found("\ud800")
