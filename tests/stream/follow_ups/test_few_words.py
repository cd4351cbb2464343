"""A few words behind an answer: acceptance and what is done, beside requests without a question mark and objections."""

import pytest

from turnsignal.stream.conversations.exchanges import Exchange
from turnsignal.stream.follow_ups.rules import FollowUp, FollowUpReading, FollowUpRules

RULES = FollowUpRules()
PROMPT = "How do I change the address on my account?"
ANSWER = "Open Settings, choose Profile and type the new address. It is used from the next order on."


def read(follow_up: str, response: str = ANSWER, prompt: str = PROMPT) -> FollowUpReading:
    return RULES.read(Exchange(prompt, response, follow_up))


@pytest.mark.parametrize(
    "follow_up",
    [
        *("dankje", "fijn", "mooi zo", "helemaal goed", "super duidelijk", "yes gevonden", "ja hebbes", "Gelukt!"),
        *("prima, heb ik besteld", "oke heb gebeld, dank", "aha snap ik", "betaald, bedankt"),
        *("show", "tmj", "deu bom", "chegou agora vlw", "ah legal, vlw", "pedi o reembolso, caiu na hora"),
        *("fatto", "tutto chiaro", "Perfetto, fatto.", "gentilissimi, scaricato", "ok risolto, grz"),
        *("le ty", "nickel c'est fait", "parfait, je prends mes billets", "impec merci", "ah oui c'est bon je l'ai"),
        *("brill", "in now ty", "ace thanks", "perfect, booked it", "lovely, thanks"),
    ],
)
def test_who_accepts_in_a_few_words_thanks_and_waits_for_nothing(follow_up: str) -> None:
    found = read(follow_up)
    assert (found.label, found.closes) == (FollowUp.THANKS, True)


@pytest.mark.parametrize("follow_up", ["ah oke", "blz", "ata, blz entao", "aaa entendi", "oke helder"])
def test_who_takes_note_waits_for_nothing(follow_up: str) -> None:
    assert read(follow_up).closes


@pytest.mark.parametrize(
    "follow_up",
    [
        *(
            "factuur van maart graag",
            "storing melden",
            "betaald maar niets gekregen",
            "mooi niet",
            "besteld en niet geleverd",
        ),
        *("segunda via do boleto", "recebi o errado", "deu erro", "legal mas quero outro", "e no app"),
        *("arrivato rotto", "mandatemi la ricevuta", "bene, vorrei anche il pdf", "già fatto"),
        *("merci de m'envoyer le formulaire", "toujours rien reçu", "super mais je n'ai toujours pas le code"),
        *("reset my password", "found a bug", "sort code", "great, now send it to my boss", "heb ik al gedaan"),
    ],
)
def test_who_asks_or_complains_without_a_question_mark_waits_for_an_answer(follow_up: str) -> None:
    assert not read(follow_up).closes


def test_what_was_asked_for_is_done_and_not_thanked_for() -> None:
    assert not read("done", "Did you restart it, and does the light blink now?").closes
    assert not read("yes", "Shall I book it?").closes


@pytest.mark.parametrize(
    ("follow_up", "prompt", "answer"),
    [
        ("non pas modifier, résilier", "mon offre", "Pour modifier votre offre, allez dans Mon compte > Offre."),
        ("nao o cartao, o pedido", "quero cancelar", "Para cancelar o cartão, abra Cartão > Cancelar."),
        ("ja dat weet ik maar hij zegt onbekende huurder", "hoe log ik in", "U logt in met DigiD op Mijn Woning."),
        ("isso eu sei ne quero saber pq nao caiu", "meu pix", "O Pix é uma forma de pagamento instantânea."),
        ("c'est ce que je viens de faire", "ça coupe", "Redémarrez la box."),
        ("sì ma io con la carta ricevo errore", "come pago", "Può pagare con carta o PayPal."),
        ("clearly not", "no laptop yet", "New laptops are delivered within ten working days."),
        ("mentira ninguem entregou nada aqui", "cade meu pedido", "Seu pedido foi entregue hoje."),
        ("E12 was withdrawn two years ago", "can I claim mileage", "Yes, at 45p per mile, using form E12."),
    ],
)
def test_who_knows_better_corrects_the_answer(follow_up: str, prompt: str, answer: str) -> None:
    assert read(follow_up, answer, prompt).label is FollowUp.CORRECTION


@pytest.mark.parametrize(
    "follow_up",
    [
        *("vous servez à rien", "que robo burro", "misericórdia, você nem leu", "tá de brincadeira ne", "useless bot"),
        *("grazie di niente", "nou bedankt he", "valeu por nada hein", "merci pour rien"),
        *("un conseiller, pas un robot", "ik wil gewoon iemand aan de telefoon", "cioè? sì o no"),
    ],
)
def test_who_gives_up_on_the_assistant_is_frustrated(follow_up: str) -> None:
    assert read(follow_up).label is FollowUp.FRUSTRATION


@pytest.mark.parametrize(
    "follow_up", ["non merci, au revoir", "não, obrigado, tchau", "nee dank je, prima", "no gracias, adiós"]
)
def test_a_no_with_leave_behind_it_puts_no_word_against_another(follow_up: str) -> None:
    assert not read(follow_up).clarification
