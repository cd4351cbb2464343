"""Thanks in rarer words, what is supposed rather than stated, and complaints that begin like consent."""

import pytest

from turnsignal.stream.conversations.exchanges import Exchange
from turnsignal.stream.follow_ups.contexts import without_suppositions
from turnsignal.stream.follow_ups.rules import FollowUp, FollowUpReading, FollowUpRules

RULES = FollowUpRules()
STEPS = "Open Settings, press Reset and wait two minutes. The link comes by mail. Then sign in again with your number."


def read(follow_up: str) -> FollowUpReading:
    return RULES.read(Exchange("How do I reset it?", STEPS, follow_up))


@pytest.mark.parametrize(
    "follow_up",
    [
        "appreciated",
        "noted with thanks",
        "god bless",
        "crystal clear, booked it",
        "great stuff, no need for anything else",
        "spot on, nothing to change",
        "Not on the list, phew, thanks",
        "hervorragend, ich bestelle es gleich",
        "Besten Dank für die rasche Auskunft",
        "Perfekt, mehr wollte ich gar nicht wissen",
        "geweldig, besteld",
        "nee dat was t, doeg",
        "impecable",
        "clarísimo, reservo ya",
        "excelente, con eso me basta",
        "impecável, obrigadinha",
        "ótimo, ficou claro",
        "tiguidou",
        "parfait, je réserve",
        "non c'est tout bon, bonne soirée",
        "grandissimo",
        "no guardi, è tutto chiaro, arrivederci",
    ],
)
def test_thanks_in_rarer_words_and_with_what_the_user_does_now_are_thanks(follow_up: str) -> None:
    reading = read(follow_up)
    assert (reading.label, reading.closes) == (FollowUp.THANKS, True)


@pytest.mark.parametrize(
    "follow_up",
    [
        "great, now it's worse",
        "sorted, until it froze again",
        "that fixed it for like four minutes",
        "top, und wo ist die taste",
        "super, dann gehe ich woanders hin",
        "prima, nu is alles weg",
        "perfecto, ahora tampoco va",
        "impecable… sigo igual",
        "perfecto, voy a otro sitio",
        "top, continua igual",
        "nickel, toujours pareil",
        "perfetto, vado altrove",
        "non è tutto chiaro",
        "no todo claro",
    ],
)
def test_praise_with_a_complaint_behind_it_is_no_thanks(follow_up: str) -> None:
    reading = read(follow_up)
    assert (reading.goes_on, reading.closes) == (False, False)


@pytest.mark.parametrize(
    "follow_up",
    [
        "I meant the other office, ty",
        "I asked about Sunday, much obliged",
        "I already did that, appreciated",
        "great, booked the wrong week",
        "how can that be right if the hall closed last year?",
        "same thing pops up",
        "Vielen Dank, ich meinte die Praxis in Bonn.",
        "Vielen Dank, das war das falsche Formular.",
        "Gracias, pregunté por el lunes.",
        "mil gracias, el enlace está roto",
        "merci infiniment, je parlais du dimanche",
        "grazie infinite, è l'ufficio sbagliato",
        "Obrigado, é a loja errada",
        "dank je wel, dat is de verkeerde zaal",
    ],
)
def test_a_complaint_with_a_word_of_thanks_is_a_complaint(follow_up: str) -> None:
    assert read(follow_up).clarification


@pytest.mark.parametrize(
    "follow_up",
    [
        "what if they answer something i dont understand, what do i say then",
        "If it's not there by friday, which number do I call",
        "is it really free even if I lose",
        "and if it still fails after that, who do i contact",
        "und wenn der Link nicht funktioniert, wen rufe ich an",
        "en wat als ze niet mee willen werken",
        "mais si en avril j'ai toujours rien, j'écris à qui",
        "je fais quoi si ça marche pas",
        "y si en vez de uno quiero deshacer los tres últimos",
        "se não chegar até sexta, ligo pra quem",
        'se mi rispondono "geht nicht" che vuol dire',
    ],
)
def test_a_question_on_a_condition_is_no_complaint_whatever_the_condition_says(follow_up: str) -> None:
    assert not read(follow_up).clarification


@pytest.mark.parametrize(
    "follow_up",
    [
        "if i press it nothing happens",
        "it does not work, what if i reset it",
        "wenn ich drücke passiert nix",
        "wenn ich da klicke geht es nicht, was nun",
        "si j'appuie ça fait rien",
        "se clicco non succede niente",
        "if it's free why was i charged, that's wrong",
    ],
)
def test_a_step_that_failed_and_a_complaint_beside_a_condition_stay_complaints(follow_up: str) -> None:
    assert read(follow_up).clarification


def test_who_asks_for_a_person_on_a_condition_wants_one() -> None:
    assert read("if you don't know that, can I talk to a human?").wants_person


def test_what_is_stated_beside_a_supposition_is_left() -> None:
    assert without_suppositions("it is gone. what if i call?").strip(" .") == "it is gone"


@pytest.mark.parametrize(
    "follow_up",
    [
        "right click does nothing on the names",
        "I see two of them, 150 each",
        "ja paguei e faz 20 dias",
        "fait il y a une heure, le virement est toujours refusé",
        "io chiedevo dei 14 giorni per ripensarci, che è un'altra cosa",
        "a convenção do meu sindicato fala outra coisa",
        "op de belastingtelefoon zeiden ze heel iets anders",
    ],
)
def test_a_complaint_that_begins_like_consent_or_names_another_thing_goes_on_nowhere(follow_up: str) -> None:
    assert not read(follow_up).goes_on


@pytest.mark.parametrize(
    ("follow_up", "label"),
    [
        ("I see, thanks", FollowUp.THANKS),
        ("right, and what now?", FollowUp.BUILDING),
        ("otra cosa, cuánto cuesta el envío", FollowUp.NEW_TOPIC),
        ("same thing but from a url", FollowUp.RELATED),
    ],
)
def test_consent_and_new_subjects_are_still_read(follow_up: str, label: FollowUp) -> None:
    assert read(follow_up).label is label


@pytest.mark.parametrize(
    "follow_up",
    [
        "perfect, now book it for me",
        "Perfekt, buche es bitte",
        "top, boek hem maar",
        "parfait, alors réserve la table",
        "perfetto, prenota per me",
        "perfecto, resérvalo",
        "ótimo, pode marcar",
    ],
)
def test_what_the_assistant_is_to_do_now_expects_an_answer(follow_up: str) -> None:
    assert not read(follow_up).closes


@pytest.mark.parametrize("follow_up", ["Have a good day!", "Tschüssi", "arrivederci"])
def test_parting_alone_thanks_nobody_more_than_before(follow_up: str) -> None:
    assert read(follow_up).explanation != "The user thanks in other words."


def test_who_calls_whom_the_answer_named_gives_nothing_up() -> None:
    assert not read("ok j'appelle ma sage femme, merci à vous").clarification
