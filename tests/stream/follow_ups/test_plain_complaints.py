"""Complaints in everyday words of other languages, beside content and questions that share words with them."""

import pytest

from turnsignal.stream.conversations.exchanges import Exchange
from turnsignal.stream.follow_ups.rules import FollowUp, FollowUpReading, FollowUpRules

RULES = FollowUpRules()
PROMPT = "How do I change my address?"
ANSWER = "Open Settings, choose Profile and type the new address [doc_1]. It is used from the next order on [doc_2]."


def read(follow_up: str) -> FollowUpReading:
    return RULES.read(Exchange(PROMPT, ANSWER, follow_up))


@pytest.mark.parametrize(
    "follow_up",
    [
        # wrong again, nonsense, against itself
        "Alweer fout",
        "klinkklare onzin",
        "je spreekt jezelf tegen",
        "eerst zeg je van wel en nu van niet",
        # not what was asked
        "Daar vroeg ik niet naar",
        "ik vroeg iets heel anders",
        "je beantwoordt een andere vraag",
        "je haalt dingen door elkaar",
        "lees mijn vraag nog eens",
        # something is missing, nothing is said, it cannot be followed
        "er mist iets",
        "onvolledig",
        "het antwoord houdt halverwege op",
        "wat is nou het antwoord?",
        "je zegt eigenlijk niks",
        "daar kom ik niet verder mee, daarmee weet ik nog niets",
        "te moeilijk uitgelegd",
        "dat is me te vaag",
        # it does not apply, it is old, it was said before, it is too long, it is in another language
        "Dat geldt niet voor mij",
        "wij zijn geen bedrijf",
        "dat is niet meer zo",
        "welke van de twee is het nou",
        "er zit geen bijlage bij",
        "ik heb het je net verteld",
        "veel te lang verhaal",
        "ik spreek geen engels",
        "Dank je de koekoek",
    ],
)
def test_plain_complaints_are_read_in_dutch(follow_up: str) -> None:
    assert read(follow_up).clarification


@pytest.mark.parametrize(
    "follow_up",
    [
        "ancora errato",
        "ma che sciocchezze",
        "ti stai contraddicendo",
        "Prima sì e adesso no?",
        "non ti ho chiesto quello",
        "Mi rispondi a un'altra domanda",
        "mi sa che non ci siamo capiti",
        "stai confondendo le due cose",
        "hai letto cosa ho scritto?",
        "mancano dei pezzi",
        "la risposta è a metà",
        "troppo vago",
        "Sì ma la risposta qual è?",
        "non mi hai detto niente",
        "ne so quanto prima",
        "mi confondi",
        "per me è arabo",
        "troppo complicato per me",
        "a me non si applica",
        "non è il mio caso",
        "noi non siamo un'azienda",
        "non è più così",
        "Quindi qual è quella giusta?",
        "te l'ho già detto",
        "troppo lungo",
        "in italiano per favore",
        "grazie tante, eh",
    ],
)
def test_plain_complaints_are_read_in_italian(follow_up: str) -> None:
    assert read(follow_up).clarification


@pytest.mark.parametrize(
    "follow_up",
    [
        "de nuevo equivocado",
        "menuda tontería",
        "te estás contradiciendo",
        "yo preguntaba otra cosa",
        "estás hablando de otra cosa",
        "confundes dos cosas",
        "lee lo que te escribí",
        "está incompleto",
        "muy vago",
        "pero cuál es la respuesta",
        "me quedo igual que antes",
        "demasiado complicado para mi",
        "eso no vale para mí",
        "nosotros no somos una empresa",
        "eso ya no es así",
        "pero es sí o no",
        "lo acabo de escribir",
        "en español por favor",
        # Portuguese
        "errou outra vez",
        "que bobagem",
        "você está se contradizendo",
        "não perguntei isso",
        "está a responder a outra pergunta",
        "você está misturando as coisas",
        "você leu o que eu escrevi?",
        "faltam passos",
        "isso não é resposta",
        "mas qual é a resposta",
        "fiquei na mesma",
        "complicado demais pra mim",
        "isso não se aplica a mim",
        "não é o meu caso",
        "isso já não é assim",
        "afinal é sim ou não",
        "acabei de dizer",
        "texto longo demais",
    ],
)
def test_plain_complaints_are_read_in_spanish_and_portuguese(follow_up: str) -> None:
    assert read(follow_up).clarification


@pytest.mark.parametrize(
    "follow_up",
    [
        "encore faux",
        "quelle bêtise",
        "j'ai pas demandé ça",
        "vous parlez d'autre chose",
        "on ne s'est pas compris",
        "vous mélangez tout",
        "lisez ce que j'écris",
        "c'est incomplet",
        "ce n'est pas une réponse",
        "mais c'est quoi la réponse",
        "trop compliqué pour moi",
        "c'est du chinois",
        "ça ne me concerne pas",
        "on n'est pas une entreprise",
        "ce n'est plus comme ça",
        "alors laquelle des deux est la bonne",
        "je viens de le dire",
        "c'est trop long",
        "en français s'il vous plaît",
        # German
        "wieder daneben",
        "es geht um was anderes",
        "unvollständig",
        "das sagt mir gar nichts",
        "da komm ich nicht mit",
        "das trifft auf mich nicht zu",
        "das sind zwei paar Schuhe",
        "lies doch mal, was ich schreibe",
        "das hab ich doch gerade gesagt",
        "viel zu lang",
        # English
        "In English please",
        "that went over my head",
        "You must be mistaken",
        "The figure seems to have gone missing",
        "There's a gap where the number should be",
    ],
)
def test_plain_complaints_are_read_in_french_german_and_english(follow_up: str) -> None:
    assert read(follow_up).clarification


@pytest.mark.parametrize(
    "follow_up",
    [
        "en als er iets ontbreekt bij de levering?",
        "kan ik ook iemand anders sturen?",
        "y si no hay horas",
        "y si falta algo en el paquete?",
        "e in autunno invece?",
        "cosa faccio se manca qualcosa nel pacco?",
        "cosa significa incompleto sul modulo?",
        "o que significa incompleto no formulário?",
        "et s'il manque quelque chose dans le colis?",
        "il manque combien de jours avant la date?",
        "not for lessons but for the theory test, same thing?",
        # content, with a no in it or none
        "ik had het verkeerd begrepen, nu snap ik het",
        "dat is niet meer nodig",
        "ho sbagliato io",
        "no basta così grazie",
        "grazie, non c'è altro",
        "não foi difícil",
        "no podrías explicarlo mejor",
        "c'est bon, pas besoin d'autre chose",
        "wasn't hard after all",
        "très utile",
        "muy útil",
    ],
)
def test_questions_and_content_with_words_of_complaints_are_none(follow_up: str) -> None:
    reading = read(follow_up)
    assert not reading.clarification
    assert reading.label is not FollowUp.FRUSTRATION


@pytest.mark.parametrize(
    "follow_up",
    [
        "is er iets mis met mijn account?",
        "welke is de juiste voor mij?",
        "manca solo la firma di mio marito, può firmare dopo?",
        "in italiano o in inglese?",
        "me falta un documento, qué hago?",
        "más fácil en coche o en tren?",
        "falta um mês para a prova",
        "il me manque encore la signature de mon mari",
        "je ne suis pas sûr de la date",
        "auf Deutsch oder Englisch?",
        "is it possible in English?",
        "my parcel has gone missing, what do I do?",
        "there's a gap where the window meets the wall, how do I seal it?",
    ],
)
def test_what_is_told_or_asked_of_the_world_is_no_complaint(follow_up: str) -> None:
    assert not read(follow_up).clarification
