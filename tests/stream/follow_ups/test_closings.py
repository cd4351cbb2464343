"""Closings: a yes or a no says whether the answer helped where it asked that, and is an answer elsewhere."""

import pytest

from turnsignal.stream.conversations.exchanges import Exchange
from turnsignal.stream.follow_ups.closings import (
    asks_for_more,
    asks_to_leave,
    asks_whether_it_helped,
    ends_asking,
    invites_correction,
    offers,
    without_closing,
)
from turnsignal.stream.follow_ups.rules import FollowUp, FollowUpReading, FollowUpRules
from turnsignal.stream.records.scores import Unscored

RULES = FollowUpRules()
STEPS = "Open the settings, choose Security and press Reset [doc_1]."
HELPED = {
    "Did that help?": ("yes", "no"),
    "Does this solve your problem?": ("yep it did", "no, it didn't"),
    "Was this helpful?": ("absolutely", "not really"),
    "Have I answered your question?": ("Yes you have!", "nope"),
    "Does it work now? (yes/no)": ("it does", "No."),
    "Hat Ihnen das geholfen?": ("ja, hat es", "nein, leider nicht"),
    "Ist Ihre Frage damit beantwortet?": ("Ja klar", "nö"),
    "¿Le ha servido?": ("sí", "no del todo"),
    "¿Esto resuelve su duda?": ("Claro que sí", "No, para nada"),
    "Cela vous a-t-il aidé ?": ("oui", "non, pas vraiment"),
    "Ai-je répondu à votre question ?": ("Oui, tout à fait", "Non"),
    "Isso ajudou?": ("sim", "não, infelizmente"),
    "Resolveu o seu problema?": ("Sim, resolveu", "ainda não"),
    "Le è stato utile?": ("sì", "no, per niente"),
    "Il problema è risolto?": ("certo", "no, purtroppo no"),
    "Heeft dat geholpen?": ("ja zeker", "nee, helaas niet"),
    "Is je vraag hiermee beantwoord?": ("jazeker", "nee"),
}
MORE = {
    "Is there anything else I can help you with?": "No.",
    "Do you have any other questions?": "nope",
    "Did that help, or is there anything else?": "no",
    "Kann ich sonst noch etwas für Sie tun?": "nein",
    "¿Puedo ayudarle en algo más?": "no",
    "Avez-vous d'autres questions ?": "Non",
    "Posso ajudar em algo mais?": "não",
    "Posso aiutarla con altro?": "no",
    "Kan ik je nog ergens mee helpen?": "nee",
}
#: what is offered beside the answer → how it is declined
OFFERED = {
    "Shall I reset it for you?": ("no", "not needed", "No, I already have it.", "maybe later"),
    "Would you like a picture of the page?": ("nope", "that won't be necessary", "not really", "nah, I'm good"),
    "Want me to open a case?": ("no need", "don't bother", "no, not now"),
    "I can also send you the list if you like.": ("no", "I don't need it"),
    "Soll ich Ihnen das Bild schicken?": ("nein", "nicht nötig", "hab ich schon", "Nein, brauche ich nicht."),
    "¿Quiere que lo haga por usted?": ("no", "no hace falta", "ya lo tengo"),
    "Souhaitez-vous aussi la liste ?": ("non", "pas besoin", "Non, ce n'est pas nécessaire"),
    "Vuole anche l'elenco?": ("no", "non serve", "magari più tardi"),
    "Quer que eu envie a lista?": ("não", "não precisa"),
    "Zal ik u ook de lijst sturen?": ("nee", "niet nodig", "heb ik al"),
}
OTHERS = (
    "Do you see the button?",
    "Did you mean the PIN of the card?",
    "Would that help?",
    "Shall I book the flight for you?",
    "Haben Sie die Karte schon gesperrt?",
    "¿Reservo la mesa?",
)


def read(follow_up: str, question: str) -> FollowUpReading:
    return RULES.read(Exchange("How do I reset my PIN?", f"{STEPS} {question}", follow_up))


@pytest.mark.parametrize("question", HELPED)
def test_a_yes_to_whether_it_helped_thanks_and_expects_no_answer(question: str) -> None:
    reading = read(HELPED[question][0], question)
    assert (reading.label, reading.goes_on, reading.closes) == (FollowUp.THANKS, True, True)


@pytest.mark.parametrize("question", HELPED)
def test_a_no_to_whether_it_helped_is_a_correction_that_expects_no_answer(question: str) -> None:
    reading = read(HELPED[question][1], question)
    assert (reading.label, reading.closes) == (FollowUp.CORRECTION, True)


@pytest.mark.parametrize("behind", ["If not, tell me what the screen shows.", "Let me know!"])
def test_a_no_expects_an_answer_where_the_question_invited_more(behind: str) -> None:
    reading = read("no", f"Did that help? {behind}")
    assert (reading.clarification, reading.closes) == (True, False)


@pytest.mark.parametrize("question", MORE)
def test_a_no_to_anything_else_takes_leave_and_says_nothing_of_the_answer(question: str) -> None:
    reading = read(MORE[question], question)
    assert (reading.unscored, reading.closes, reading.clarification) == (Unscored.NO_SIGNAL, True, False)


def test_a_yes_to_anything_else_expects_an_answer() -> None:
    assert not read("yes", "Is there anything else I can help you with?").closes


@pytest.mark.parametrize("question", OTHERS)
@pytest.mark.parametrize("answer", ["yes", "no", "ja", "sí"])
def test_a_yes_or_no_to_any_other_question_expects_an_answer(question: str, answer: str) -> None:
    assert not read(answer, question).closes


@pytest.mark.parametrize("question", OFFERED)
def test_who_declines_an_offer_takes_leave_and_says_nothing_of_the_answer(question: str) -> None:
    readings = [read(said, question) for said in OFFERED[question]]
    assert all(reading.closes and not reading.clarification and reading.strict in (None, 1.0) for reading in readings)
    assert not read("yes please", question).closes, "an offer that is taken up expects an answer"


def test_a_no_to_an_offer_that_is_the_whole_answer_expects_another() -> None:
    assert not RULES.read(Exchange("Where is my parcel?", "Shall I send you the form?", "no")).closes


@pytest.mark.parametrize(
    ("question", "replies"),
    [
        ("Can I close this chat?", ("yes", "go ahead", "ok")),
        ("Darf ich den Chat schließen?", ("ja", "ja bitte")),
        ("How would you rate this chat from 1 to 5?", ("5", "one", "4/5", "⭐⭐⭐")),
        ("What would you like to know next?", ("nothing", "I'm done")),
        ("", ("noted", "Alright.", "ah ok", "verstanden", "compris")),
    ],
)
def test_a_reply_that_expects_no_answer_says_nothing_of_the_answer(question: str, replies: tuple[str, ...]) -> None:
    for reply in replies:
        reading = read(reply, question)
        assert (reading.closes, reading.unscored) == (True, Unscored.NO_SIGNAL), reply


def test_a_number_is_a_rating_only_where_one_was_asked_for() -> None:
    assert not read("5", "How many cards do you have?").closes
    assert not read("no", "Can I close this chat?").closes


@pytest.mark.parametrize("question", ["Did that help?", "Is there anything else?", "Shall I also send you a picture?"])
@pytest.mark.parametrize("said", ["still broken", "that link is dead", "No, I mean the other one", "this is wrong"])
def test_complaints_are_read_alike_whether_an_answer_asks_in_closing_or_not(said: str, question: str) -> None:
    assert read(said, "").clarification
    assert read(said, question).clarification


@pytest.mark.parametrize("said", ["No, that would be all.", "Nope, that should be it!", "I need the postcode as well"])
def test_who_wants_more_or_no_more_does_not_complain(said: str) -> None:
    assert not read(said, "Is there anything else I can help you with?").clarification


@pytest.mark.parametrize("said", ["yes, but where is Security?", "no, it shows an error", "yes and for the app?"])
def test_what_goes_on_behind_a_yes_or_no_expects_an_answer(said: str) -> None:
    assert not read(said, "Did that help?").closes


@pytest.mark.parametrize("said", ["Solved", "This solved my problem", "Problem resolved", "Gelöst", "Résolu"])
def test_a_button_for_solved_thanks(said: str) -> None:
    reading = read(said, "")
    assert (reading.label, reading.closes) == (FollowUp.THANKS, True)


@pytest.mark.parametrize(
    "said", ["Not solved", "Not helpful", "Unresolved", "Nicht gelöst", "No resuelto", "Non résolu"]
)
def test_a_button_for_not_solved_is_a_correction_that_expects_no_answer(said: str) -> None:
    reading = read(said, "")
    assert (reading.label, reading.closes) == (FollowUp.CORRECTION, True)


def test_the_last_question_decides() -> None:
    end = "Did that help? Is there anything else?"
    assert (asks_whether_it_helped(end), asks_for_more(end), ends_asking(end)) == (False, True, True)
    assert not asks_whether_it_helped("Did that help? Which phone do you have?")
    assert asks_whether_it_helped("Press Reset. Let me know if that worked.")
    assert not offers("Open the settings and press Reset. Shall I also send it? Which phone do you have?")


def test_a_phrase_that_asks_nothing_is_no_question_that_users_reply_to() -> None:
    assert asks_to_leave("Open the settings and press Reset. Anything else?")
    assert not asks_to_leave("Open the settings and press Reset. Let me know if you need anything else!")


@pytest.mark.parametrize(
    "answer",
    [
        "Open the menu and press Reset [d1]. Tell me if that isn't what you meant.",
        "Press Reset. Just let me know if anything is unclear!",
        "Press Reset. If this doesn't match what you see, please correct me.",
        "Drücken Sie auf Reset. Sagen Sie mir bitte, wenn ich etwas falsch verstanden habe.",
        "Drück auf Reset. Falls das nicht passt, gib mir Bescheid.",
        "Appuyez sur Reset. Dites-moi si ce n'est pas ce que vous cherchiez.",
        "Appuyez sur Reset. N'hésitez pas à me corriger.",
        "Premi Reset. Correggimi se ho capito male.",
        "Premi Reset. Se qualcosa non torna, fammelo sapere.",
        "Pulsa Reset. Dime si no era lo que buscabas.",
        "Prima Reset. Avise-me se não era isso.",
        "Druk op Reset. Zeg het me als je iets anders bedoelde.",
        "Druk op Reset. Mocht er iets niet kloppen, laat het me weten.",
    ],
)
def test_an_answer_that_asks_to_be_told_what_is_wrong_invites_it(answer: str) -> None:
    assert invites_correction(answer)


@pytest.mark.parametrize(
    "answer",
    [
        "Open the menu and press Reset [d1].",
        "Tell me if that isn't what you meant. Press Reset and wait for a minute.",
        "If the lamp is red, press Reset.",
        "Wenn die Lampe rot ist, drücken Sie auf Reset.",
        "Si la lampe est rouge, appuyez sur Reset.",
        "Se la spia è rossa, premi Reset.",
        "Si la luz es roja, pulsa Reset.",
        "Als de lamp rood is, druk op Reset.",
        "If you move, we will tell your insurer.",
        "",
    ],
)
def test_an_answer_that_says_what_to_do_invites_nothing(answer: str) -> None:
    assert not invites_correction(answer)


#: what an answer asks beside what it answers → complaints of what it answered, and replies to it
BEHIND = {
    "Would you like me to show an example?": (
        (
            "nope, same error as before",
            "i already tried that",
            "there is no such menu",
            "that was last year, it changed",
        ),
        (
            "no but how long does it take",
            "i already have one",
            "no, i want to know how to delete it",
            "i have no python",
        ),
    ),
    "Did that help?": (("I can't find it", "that's the old version", "No. That answers a different question."), ()),
    "Is there anything else I can help with?": (
        ("you contradict yourself", "no that is about cards, i asked about keys", "the page has no such button"),
        ("no, i know the rest", "what about the PIN of the other card?"),
    ),
    "Soll ich Ihnen das Formular zeigen?": (
        ("stimmt so nicht", "das ist veraltet", "nein darum ging es nicht", "Sie haben meine Frage nicht beantwortet"),
        ("das Formular habe ich schon", "nein, ich brauche nur die Adresse", "nein ich wollte nur das wissen"),
    ),
    "¿Quiere que le muestre cómo se hace?": (
        ("no has entendido mi pregunta", "no encuentro esa opción", "ya lo he probado", "eso era antes"),
        ("no, ya sé cómo se hace", "no tengo tiempo ahora", "ya lo tengo"),
    ),
    "Voulez-vous que je vous envoie la liste ?": (
        ("vous n'avez pas répondu à ma question", "je ne trouve pas cette page", "vous vous contredisez"),
        ("je les ai déjà", "non, juste ça", "je n'y vais pas le dimanche"),
    ),
    "Vuole che le mandi l'indirizzo?": (
        ("non ha risposto alla mia domanda", "no, chiedevo del parcheggio", "è sbagliato"),
        ("ce l'ho già", "no, volevo solo sapere questo", "non ho la macchina"),
    ),
}


@pytest.mark.parametrize("question", BEHIND)
def test_a_complaint_is_one_whatever_is_asked_beside_the_answer(question: str) -> None:
    complaints, replies = BEHIND[question]
    assert [said for said in complaints if not read(said, question).clarification] == []
    assert [said for said in replies if read(said, question).clarification] == []


@pytest.mark.parametrize(
    ("question", "replies"),
    [
        ("Is there anything else?", ("There's nothing else", "There are no other issues", "nein, da ist nichts mehr")),
        (
            "Shall I send it?",
            ("I don't see why not", "not there yet, maybe later", "non c'è fretta", "er is geen haast"),
        ),
        ("Shall I send it?", ("il n'y a pas de souci", "ainda não", "no está mal", "nein ich sehe keinen Grund")),
    ],
)
def test_who_needs_no_more_or_not_yet_replies_to_the_question(question: str, replies: tuple[str, ...]) -> None:
    assert [said for said in replies if read(said, question).clarification] == []


@pytest.mark.parametrize(
    "closing",
    [
        *("Let me know if you need anything else.", "Happy to help with anything else."),
        *("Would you like help with Python 3.11 too?", "Shall I send it e.g. by mail?"),
        "Soll ich Ihnen z. B. das Formular zeigen?",
    ],
)
def test_every_kind_of_closing_is_left_out(closing: str) -> None:
    assert without_closing(f"{STEPS} {closing}", 160) == STEPS
    assert read("there is no such menu", closing).clarification


def test_a_question_that_is_the_answer_is_no_question_beside_it() -> None:
    asked = Exchange("My lamp is dark.", "Is there another one in the room?", "there is no other lamp")
    assert not RULES.read(asked).clarification
