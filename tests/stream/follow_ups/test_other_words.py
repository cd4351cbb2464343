"""The question in other words: asked again it is a clarification, about something else it is the next question."""

import pytest

from turnsignal.stream.conversations.exchanges import Exchange
from turnsignal.stream.follow_ups.rules import FollowUp, FollowUpReading, FollowUpRules
from turnsignal.stream.text.wordplay import is_form, rewords, swaps_detail

RULES = FollowUpRules()
PROMPT = "Who signs the contract of a subtenant?"
ANSWER = "Contracts of subtenants last two years [doc_3]. The deposit is paid before the keys are handed over [doc_1]."


def read(follow_up: str, prompt: str = PROMPT, response: str = ANSWER) -> FollowUpReading:
    return RULES.read(Exchange(prompt, response, follow_up))


@pytest.mark.parametrize(
    "follow_up",
    [
        "In other words, does the owner have to agree?",
        "let me put it differently: is the owner asked?",
        "Rephrasing: whom do I send it to?",
        "Asked differently, who is responsible?",
        "What I'd like to know is whether the owner agrees",
        "What I'm trying to find out is who is liable",
        'By "subtenant" I mean a lodger',
        "so do I need the owner's name on it or not?",
        "Is it me or not??",
        "anders gefragt: wer unterschreibt?",
        "En otras palabras, ¿quién firma?",
        "Autrement dit, qui signe ?",
        "In altre parole, chi firma?",
        "Em outras palavras, quem assina?",
        "Met andere woorden, wie tekent?",
    ],
)
def test_who_says_it_in_other_words_asks_again(follow_up: str) -> None:
    assert read(follow_up).label in (FollowUp.REPEAT, FollowUp.CORRECTION)


@pytest.mark.parametrize("follow_up", ["in other words please", "Say it in simple words", "Should I call or not?"])
def test_words_of_another_form_or_a_choice_ask_nothing_again(follow_up: str) -> None:
    assert read(follow_up).label is not FollowUp.REPEAT


def test_the_words_of_the_question_in_another_order_ask_it_again() -> None:
    assert read("Whose contract does the subtenant sign?").label is FollowUp.REPEAT
    assert read("Why did they return my parcel?", "Why was my parcel returned?").label is FollowUp.REPEAT


@pytest.mark.parametrize(
    ("prompt", "follow_up"),
    [
        ("How long do we keep invoices of customers?", "How long do we keep contracts of customers?"),
        ("What is a coplanar vector in linear algebra?", "What is a normal vector in linear algebra?"),
        ("Who approves the purchase of software?", "And whose purchase of software is approved?"),
        ("How does it affect developing countries?", "How are developed countries helping?"),
        ("Who approves the purchase of software?", "When is the purchase of software approved?"),
        (PROMPT, "Who pays the deposit of a subtenant?"),
    ],
)
def test_the_next_question_may_share_words_with_the_last_one(prompt: str, follow_up: str) -> None:
    assert not read(follow_up, prompt).clarification


def test_words_are_asked_again_if_most_return_in_another_order_and_few_are_new() -> None:
    asked = ["parcel", "returned", "sender"]
    assert rewords(["return", "parcel"], asked)
    assert not rewords(["parcel", "returned", "yesterday"], asked)
    assert not rewords(["return", "parcel", "new", "address"], asked)
    assert is_form("approves", "approval")
    assert not is_form("parcel", "parking")


def test_a_word_in_the_place_of_another_is_exchanged_a_word_added_is_not() -> None:
    assert swaps_detail(["keep", "contracts", "customer"], ["keep", "invoices", "customer"])
    assert not swaps_detail(["keep", "paid", "invoice", "customer"], ["keep", "invoices", "customer"])


@pytest.mark.parametrize(
    "follow_up",
    [
        "I don't have a deposit",
        "we didn't get any keys",
        "Ich hab doch gar keine Deposit bezahlt",
        "Different contract.",
        "yes but it's a lodger",
        "you've sent the same thing twice",
        "without one what?",
        "it's not clear from your answer",
        "Meaning I pay twice?",
    ],
)
def test_what_does_not_fit_or_is_not_clear_is_a_clarification(follow_up: str) -> None:
    assert read(follow_up).clarification


@pytest.mark.parametrize(
    "follow_up",
    [
        "Das war nicht die Frage.",
        "hä?",
        "Wie bitte?",
        "was heißt denn hier Untermieter",
        "nochmal: es geht um ein Zimmer",
        "Das hast du eben schon gesagt",
        "der Makler hat mir was anderes gesagt",
        "das stimmt doch gar nicht",
        "¿cómo que dos años?",
        "esa no era mi pregunta",
        "Comment ça, deux ans ?",
        "toujours pareil",
        "in che senso?",
        "non c'è nessuna chiave",
        "como assim?",
        "hoe bedoel je?",
        "maar ik heb geen sleutel",
        # what comes contradicts itself, or what others say
        "was denn nun?",
        "vorhin haben Sie was anderes gesagt",
        "erst ja, dann nein?",
        "¿en qué quedamos?",
        "tu viens de dire le contraire",
        "auf der Website steht was anderes",
        "in der App steht aber 40",
        "letzte Woche hieß es noch 25 Euro",
        "der Kollege am Schalter sagte 40",
        "op de website staat iets anders",
        "nel sito c'è scritto 30",
        "en la factura pone otra cosa",
        # it is cut off
        "der Rest fehlt",
        "der Text hört mittendrin auf",
        "la respuesta sale cortada",
        "la réponse est tronquée",
        "il testo è tagliato",
        "het antwoord is afgekapt",
        # it lectures
        "die Belehrung können Sie sich sparen",
        "reden Sie nicht mit mir wie mit einem Kind",
        "pas besoin de leçon de morale",
        # it is something else
        "das ist doch die Rechnungsadresse, ich brauche die Lieferadresse",
        "ich sagte Lieferadresse",
        "j'ai dit livraison",
        "pas le bon document",
        "den Menüpunkt gibt's bei mir nicht",
        "Ti ho chiesto un'altra cosa",
        "Ma che c'entra?",
        "je demandais tout autre chose",
        "Vous répondez à côté",
        "te pregunté por las moras",
        "perguntei pelas amoras",
        "Die Frage war eine andere.",
        "Ho un monopattino, non una bici",
        "J'ai un voilier, pas une vedette",
    ],
)
def test_not_understanding_and_objecting_are_read_in_other_languages(follow_up: str) -> None:
    assert read(follow_up).clarification


@pytest.mark.parametrize(
    "follow_up",
    [
        "I don't have any questions",
        "Ich habe keine weiteren Fragen",
        "das klingt aber gut",
        "und wo steht das auf dem Bescheid?",
        "ok, hat geklappt, vorher stand da noch 30",
        "j'ai demandé à mon mari, il veut savoir aussi pour l'email",
        "mein Kollege sagt er hat zwei Adressen, geht das?",
        "My colleague says she has two profiles, how does that work?",
        "oui ou non pour la facture aussi ?",
        "nur die Antwort per E-Mail oder auch per Post?",
        "pero está bien así",
        "Comment ça marche ?",
        "okay, I'll return it then",
        "What is the deposit with 300 instead of two years?",
    ],
)
def test_what_only_sounds_like_it_is_no_clarification(follow_up: str) -> None:
    assert not read(follow_up, response=ANSWER + " Let me know if you have any questions.").clarification


GARAGE, FLAT = "Was kostet eine Garage im Monat?", "Guten Tag, Frau Kowalski! Eine Wohnung kostet 700 Euro [doc_2]."


@pytest.mark.parametrize(
    "follow_up",
    [
        "Garage, nicht Wohnung",
        "das gilt für Wohnungen, ich brauche Garagen",
        "I asked about the garage, this is a wohnung",
        "ich heiße nicht Kowalski",
        "I'm not Kowalski",
        "je ne suis pas Kowalski",
        "wieso denn Wohnung?",
        "wie kommen Sie auf Wohnung?",
    ],
)
def test_what_only_the_answer_speaks_of_is_held_against_it(follow_up: str) -> None:
    assert read(follow_up, GARAGE, FLAT).clarification


@pytest.mark.parametrize(
    ("follow_up", "response"),
    [
        ("ich bin nicht sicher", FLAT),
        ("wieso denn Garage?", FLAT),
        ("warum Wohnung?", FLAT),
        ("ich brauche die Garage ab Mai", "Eine Garage kostet 70 Euro [doc_2]."),
        ("ich heiße nicht Kowalski", "Eine Garage kostet 70 Euro [doc_2]."),
    ],
)
def test_what_the_answer_need_not_know_is_not(follow_up: str, response: str) -> None:
    assert not read(follow_up, GARAGE, response).clarification
