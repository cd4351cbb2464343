"""Content that begins with a no, which in Spanish and Portuguese may be no more than a negation, is no complaint."""

import pytest

from turnsignal.stream.conversations.exchanges import Exchange
from turnsignal.stream.follow_ups.rules import FollowUp, FollowUpReading, FollowUpRules

RULES = FollowUpRules()
ANSWER = "Open Settings, choose Profile and type the new address [doc_1]. It is used from the next order on [doc_2]."


def read(follow_up: str) -> FollowUpReading:
    return RULES.read(Exchange("How do I change my address?", ANSWER, follow_up))


@pytest.mark.parametrize(
    "follow_up",
    [
        *(
            "No lo sabía, qué bien!",
            "No lo había visto, gracias",
            "no me lo esperaba, gracias",
            "no conocía esa opción",
        ),
        *("no me había dado cuenta, gracias", "no sabía que se podía hacer desde el móvil, genial"),
        *("Não sabia, que bom!", "não tinha percebido, obrigado", "não sabia que dava para fazer online, ótimo"),
        *("krass, wusste ich nicht", "ich hatte keine Ahnung, danke", "non è così difficile come pensavo, grazie"),
        *("no es tan difícil como pensaba, gracias", "não é tão difícil como pensava", "niet verkeerd, dank"),
    ],
)
def test_who_did_not_know_or_finds_it_easy_is_content(follow_up: str) -> None:
    assert read(follow_up).label is FollowUp.THANKS


@pytest.mark.parametrize(
    "follow_up",
    [
        *("No hace falta nada más", "no necesito nada más", "no hace falta, ya lo tengo", "No, ya no hace falta"),
        *("Não preciso de mais nada", "não, perfeito", "no, perfecto", "no, perfetto", "non, parfait", "nee, prima zo"),
        *("nee alles gut, hab's gefunden", "mehr brauche ich nicht", "niks meer nodig"),
        *("não tenho o cartão, posso doar na mesma?", "no peso 50 kilos, ¿puedo donar igual?"),
    ],
)
def test_who_needs_no_more_or_asks_on_with_a_no_does_not_complain(follow_up: str) -> None:
    assert not read(follow_up).clarification


@pytest.mark.parametrize(
    "follow_up",
    [
        *(
            "No, eso no es",
            "no es eso",
            "no me sirve",
            "no lo encuentro",
            "no sale nada",
            "no me deja",
            "No lo entiendo",
        ),
        *(
            "não é isso",
            "não foi isso que perguntei",
            "não encontro",
            "não me ajuda",
            "não me deixa",
            "não dá, já tentei",
        ),
        *("no la factura, el contrato", "no, la de ayer"),
    ],
)
def test_a_no_that_denies_is_a_complaint(follow_up: str) -> None:
    assert read(follow_up).clarification
