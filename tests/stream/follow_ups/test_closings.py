"""Closings: a yes or a no says whether the answer helped where it asked that, and is an answer elsewhere."""

import pytest

from turnsignal.stream.conversations.exchanges import Exchange
from turnsignal.stream.follow_ups.closings import asks_for_more, asks_whether_it_helped, ends_asking
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
OTHERS = (
    "Do you see the button?",
    "Did you mean the PIN of the card?",
    "Would that help?",
    "Shall I reset it for you?",
    "Haben Sie die Karte schon gesperrt?",
    "¿Quiere que lo haga por usted?",
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
