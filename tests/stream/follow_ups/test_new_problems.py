"""New problems: what users bring next is no complaint about the answer before; what they say of that answer is one."""

import pytest

from turnsignal.stream.conversations.exchanges import Exchange
from turnsignal.stream.follow_ups.rules import FollowUpRules

RULES = FollowUpRules()
LOCKED = ("my account is locked", "Open the self-service portal and choose Unlock account [1]. It takes a minute [2].")
INVOICE = (
    "j'ai une facture de 54 euros ??",
    "La remise de bienvenue a pris fin en mars [1]. Le détail est en page 2 [2].",
)
PERMIT = ("hoe vraag ik een parkeervergunning aan", "U vraagt de vergunning aan met DigiD [1]. Zij kost 40 euro [2].")
PLAN = ("Wie wechsle ich den Tarif?", "Öffnen Sie Einstellungen und wählen Sie Tarif [1]. Er gilt ab dem Ersten [2].")


@pytest.mark.parametrize(
    ("around", "follow_up"),
    [
        (LOCKED, "the outlook calendar is not syncing with teams"),
        (LOCKED, "no sound in teams meeting"),
        (LOCKED, "laptop screen broken and i can not open shared mailbox"),
        (LOCKED, "VPN keeps disconnecting when I work from home"),
        (LOCKED, "my expense report was rejected"),
        (LOCKED, "the badge reader does not accept my card"),
        (PLAN, "unser Drucker druckt nicht"),
        (INVOICE, "ma box fibre marche plus depuis ce matin"),
        (INVOICE, "la fibre ne fonctionne plus svp"),
        (PERMIT, "mijn container is niet geleegd"),
        (PERMIT, "ik snap mijn aanslag ozb niet"),
        (PLAN, "mein Router blinkt und das Internet funktioniert nicht"),
    ],
)
def test_a_problem_that_the_exchange_says_nothing_of_is_no_complaint(around: tuple[str, str], follow_up: str) -> None:
    assert not RULES.read(Exchange(*around, follow_up)).clarification


@pytest.mark.parametrize(
    ("around", "follow_up"),
    [
        (LOCKED, "the account is still locked"),
        (LOCKED, "portal is not loading"),
        (LOCKED, "it does not work"),
        (LOCKED, "there is no such button"),
        (LOCKED, "page not found"),
        (LOCKED, "I tried that and my mailbox does not open"),
        (LOCKED, "I don't understand the second step"),
        (LOCKED, "i clicked everything and nothing happened"),
        (LOCKED, "i followed everything and got a blank page"),
        (INVOICE, "la remise ne marche plus"),
        (INVOICE, "ça marche toujours pas"),
        (PERMIT, "de vergunning komt niet binnen"),
        (PLAN, "der Tarif ist nicht da"),
        (PLAN, "das klappt nicht"),
    ],
)
def test_what_points_at_the_answer_or_shares_its_subject_is_one(around: tuple[str, str], follow_up: str) -> None:
    assert RULES.read(Exchange(*around, follow_up)).clarification


def test_who_asks_whether_a_person_answers_asks_for_none() -> None:
    texts = ("are you AI or real person", "can I speak to a person")
    asking, wanting = (RULES.read(Exchange(*LOCKED, text)) for text in texts)
    assert (asking.clarification, asking.wants_person) == (False, False)
    assert (wanting.clarification, wanting.wants_person) == (True, True)


def test_of_a_first_message_nothing_is_new() -> None:
    assert RULES.read(Exchange("", "", "outlook is not syncing")).clarification


def test_the_text_of_an_error_is_a_complaint_whatever_it_is_of() -> None:
    assert RULES.read(Exchange(*LOCKED, "ValueError: invalid literal for int()")).clarification
    assert not RULES.read(Exchange(*LOCKED, "the scanner upstairs shows error 43 today")).clarification


def test_a_sum_in_place_of_another_is_no_wish_for_something_else() -> None:
    assert not RULES.read(Exchange(*PERMIT, "jai une facture de 54 euros au lieu de 39 ??")).clarification
    assert RULES.read(Exchange(*INVOICE, "donnez-moi le numéro au lieu du lien")).clarification
