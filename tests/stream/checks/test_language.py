"""Short answers, names and rare languages: in which language a response counts as written."""

import pytest

from turnsignal.stream.checks import parse_check
from turnsignal.stream.checks.protocol import Result
from turnsignal.stream.citations.reader import Citations
from turnsignal.stream.conversations.exchanges import Response

pytest.importorskip("py3langid")


def checked(code: str, text: str) -> Result:
    return (
        parse_check(f"language.is(code={code})").check(Response(text, [], lambda _text, _documents: Citations())).result
    )


@pytest.mark.parametrize("sign", ["'", "’"])
@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("en", "Sorry, we don't know yet."),
        ("en", "I'm sorry, I don't have it."),
        ("en", "They don't ship there, sorry."),
        ("fr", "Ça coûte douze euros, c'est tout."),
        ("pt", "Fechado aos domingos."),
        ("it", "Non ce n'è più, mi dispiace."),
    ],
)
def test_a_short_answer_in_the_language_asked_for_does_not_fail(code: str, text: str, sign: str) -> None:
    assert checked(code, text.replace("'", sign)) is not Result.FAIL


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("en", "The claimant lives at Rue de la Paix, Paris."),
        ("en", "We also serve Wiener Schnitzel, Sauerbraten and Käsespätzle."),
        ("en", "Her name is Agnieszka Wójcik-Kowalczyk."),
        ("en", "The author is João Guimarães Rosa."),
        ("de", "Das Lied heißt Strangers in the Night."),
        ("fr", "Cliquez sur Account Settings, puis sur Reset Password."),
    ],
)
def test_names_of_another_language_make_no_answer_in_it(code: str, text: str) -> None:
    assert checked(code, text) is not Result.FAIL


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("en", "Die Rechnung liegt bei Frau Meier im Büro."),
        ("en", "Das weiß ich leider nicht."),
        ("en", "Votre colis arrive demain à Paris."),
        ("en", "No puedo ayudarle con eso."),
        ("de", "Please ask Mrs. Smith at the front desk."),
        ("en", "Das Ist Die Überschrift Eines Buches"),
    ],
)
def test_an_answer_in_another_language_fails_with_names_or_without(code: str, text: str) -> None:
    assert checked(code, text) is Result.FAIL
