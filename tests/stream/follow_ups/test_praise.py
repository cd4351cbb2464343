"""Praise that only looks like a complaint, and complaints that look polite or say next to nothing."""

import pytest

from turnsignal.stream.conversations.exchanges import Exchange
from turnsignal.stream.follow_ups.rules import FollowUp, FollowUpReading, FollowUpRules

RULES = FollowUpRules()
PROMPT = "How do I change the address on my account?"
ANSWER = "Open Settings, choose Profile and type the new address. It is used from the next order on."


def read(follow_up: str, response: str = ANSWER) -> FollowUpReading:
    return RULES.read(Exchange(PROMPT, response, follow_up, ""))


@pytest.mark.parametrize(
    "follow_up",
    [
        "that's what I was looking for",
        "that's all I wanted to know",
        "super, that's what I wanted to know",
        "it's working now",
        "it's fixed",
        "ok it's all sorted, cheers",
        "that's a relief",
        "tried it, works",
        "my mistake, it's there",
        "you saved my day",
        "you're a genius",
        "10/10",
        "actually very good",
        "wait, that's great",
        "that wasn't so hard",
        "spot on",
        "perfecto, ya funciona",
        "génial",
        "gelukt!",
        "ottimo, risolto",
        "the noise is gone",
        "error 12 is gone, thanks",
        "it doesn't show the error any more, thank you",
        "yesss light is off",
        "i had it the wrong way round, thanks a lot",
        "ya no da error, gracias",
        "geen foutmelding meer, bedankt",
        "geht nicht mehr von selbst aus, super danke",
        "c'est noté, merci",
        "the first one didn't work but the second did, thanks",
        "done! was not as bad as i thought",
        "nothing wrong with it any more :)",
        # in one word, or by what they will do
        "prima",
        "Genial",
        "parfait",
        "perfetto",
        "perfeito",
        "geweldig",
        "Wunderbar, besten Dank",
        "Perfekt, genau das wollte ich wissen.",
        "top, mach ich so",
        "Estupendo, así lo haré.",
        "merci, je vais faire ça",
        "va bene, farò così",
        "ok, vou fazer isso",
        "ga ik doen",
        # somebody learned something
        "oh, I didn't know that, thanks",
        "So I did it wrong for ten years. Thank you!",
        "you learn something every day",
        "Non lo sapevo, grazie",
        "No se me había ocurrido, gracias",
        "Não sabia, obrigado",
        "Dann hab ich es jahrelang falsch gemacht, danke für den Hinweis",
        "Je faisais tout faux, merci",
        "Dan deed ik het verkeerd, bedankt",
        "No puede estar más claro",
        # or found a mistake of their own
        "it was my mistake, all good",
        "Ah, I had the wrong setting. Sorted",
        "avevo sbagliato io, adesso va",
        "hatte das falsche Menü offen, gefunden",
        "esqueci-me de guardar, já funciona",
        "verkeerde kabel, nu doet hij het",
        "j'avais mal lu, merci",
    ],
)
def test_a_message_of_nothing_but_praise_is_thanks(follow_up: str) -> None:
    assert read(follow_up).label is FollowUp.THANKS


@pytest.mark.parametrize(
    "follow_up",
    ["mach ich das so?", "Super, und was kostet das?", "das ist nicht hilfreich", "na toll, geht wieder nicht"],
)
def test_a_word_of_praise_in_a_question_or_a_complaint_is_none(follow_up: str) -> None:
    assert read(follow_up).label is not FollowUp.THANKS


@pytest.mark.parametrize(
    "follow_up",
    ["wrong menu", "it was the wrong page", "falsches Menü", "era il menu sbagliato", "I had the wrong page", "allora"],
)
def test_a_mistake_without_content_is_no_praise(follow_up: str) -> None:
    assert read(follow_up).label is not FollowUp.THANKS


@pytest.mark.parametrize(
    "follow_up",
    [
        "no need to be rude",
        "that was rude",
        "nvm found it myself",
        "so you lied",
        "u sent me this link already",
        "stop making stuff up",
        "great job breaking it",
        "perfect, now I'm locked out",
        "I could have guessed that",
        "yes or no?",
        "I've asked this twice",
        "?",
        "...",
        "wat",
        "who is Mrs Keller??",
        "that's not my name",
        "all in one line, unreadable",
        "too much text",
        "get to the point",
        "why is everything written twice?",
        "all I see is brackets",
        "non si legge niente",
        "page just spins",
        "same traceback",
        "la luz sigue roja",
        "no thanks, I want an answer",
        "what about my question?",
        "in metric please",
        "it's still leaking",
    ],
)
def test_offence_puzzlement_and_what_cannot_be_read_ask_to_clarify(follow_up: str) -> None:
    assert read(
        follow_up, "The page has a link, a table and a light. Press reset; the light turns green."
    ).clarification


@pytest.mark.parametrize(
    "follow_up",
    [
        "that's very rude of my boss, what do I write back?",
        "fixed it myself in the config, what's next?",
        "who is Mr Smith in the novel?",
        "how do I get to the point where it saves?",
        "Is it unreadable by others?",
        "Where is the same code used?",
        "what then?",
        "continúa",
        "c'est toujours possible ?",
    ],
)
def test_questions_with_such_words_are_no_complaints(follow_up: str) -> None:
    assert not read(follow_up).clarification
