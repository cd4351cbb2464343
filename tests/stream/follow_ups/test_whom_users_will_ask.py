"""Whom users will ask elsewhere, and surprise at what others had wrong, are no complaints; asking for a person is."""

import pytest

from turnsignal.stream.conversations.exchanges import Exchange
from turnsignal.stream.follow_ups.rules import FollowUpReading, FollowUpRules

RULES = FollowUpRules()
ANSWER = "Open Settings, choose Profile and type the new address [doc_1]. It is used from the next order on [doc_2]."


def read(follow_up: str) -> FollowUpReading:
    return RULES.read(Exchange("How do I change my address?", ANSWER, follow_up))


@pytest.mark.parametrize(
    "follow_up",
    [
        "ok I'll talk to my manager",
        "Thanks, will speak to my manager",
        "Going to talk to my manager about it",
        "I will discuss it with my manager",
        "let me check with my manager",
        "I'll speak to someone in HR then",
        "I'll talk to a human at the front desk then",
        "Right, talking to my manager tomorrow",
        "ok will call customer service",
        "I need to talk to my manager first",
        "I have to speak to someone in payroll anyway",
        "Do I need to talk to my manager first?",
        "Should I speak to someone in HR?",
        "Great, I'll ask a technician to look at it",
        "I'll have a chat with my team lead",
        "We'll talk to the landlord then",
        "Vale, hablo con el guarda",
        "Lo hablo con mi hermano",
        "Estupendo, hablo con él mañana",
        "Ok, mañana hablo con la oficina",
        "Pues hablo con el presidente",
        "Entonces hablo con mi jefe",
        "Gracias, hablo con el guarda",
        "¿Hablo con el guarda o con la oficina?",
        "¿Tengo que hablar con una persona de la oficina?",
        "Voy a hablar con alguien del banco",
        "Lo consulto con mi mujer y vuelvo",
        "Va bene, parlo con l'ufficio",
        "Ne parlo con mio marito",
        "Allora parlo con il capo",
        "Intendo farlo domani",
        "Con chi parlo?",
        "Parlo poco italiano, ma ho capito tutto",
        "Grazie, parlo col custode",
        "Domani chiedo al medico",
        "Devo parlare con qualcuno prima?",
        "Beleza, falo com a secretaria",
        "Falo com meu irmão e volto",
        "Com quem falo?",
        "Falo com quem?",
        "Obrigado, falo com o zelador",
        "Vou falar com alguém da escola",
        "Preciso falar com uma pessoa antes?",
        "Je vais parler à mon responsable",
        "Très bien, je parle à mon chef demain",
        "Je dois parler à quelqu'un en particulier ?",
        "Je pense que ça ira",
        "Je pense le faire demain",
        "Je pense que c'est clair",
        "il s'agit de quel formulaire ?",
        "Je parlerai à ma conseillère",
        "Je vais en parler à un conseiller de la banque",
        "Je parle peu français mais j'ai compris",
        "Ich spreche mit meinem Chef",
        "Dann rede ich mit jemandem aus der Personalabteilung",
        "Ich spreche das im Team an",
        "Ich rede mal mit dem Hausmeister",
        "Muss ich dafür mit einem Mitarbeiter sprechen?",
        "Gut, ich spreche morgen mit einem Berater",
        "Ik praat wel met mijn leidinggevende",
        "Dan spreek ik morgen iemand van HR",
        "Moet ik daarvoor een medewerker spreken?",
        "Ik bespreek het met iemand van de gemeente",
    ],
)
def test_who_says_whom_they_will_ask_or_what_they_think_complains_of_nothing(follow_up: str) -> None:
    assert not read(follow_up).clarification


@pytest.mark.parametrize(
    "follow_up",
    [
        "I want to talk to a human",
        "let me speak to an agent",
        "I need to speak to a real person",
        "can I talk to someone please",
        "I'd like to speak with a manager",
        "connect me to a person now",
        "get me a human",
        "I have to talk to a person, this is useless",
        "je veux parler à un conseiller",
        "je voudrais parler à quelqu'un",
        "passez-moi un humain, je veux parler à une vraie personne",
        "quiero hablar con una persona",
        "necesito hablar con un agente",
        "¿puedo hablar con alguien?",
        "voglio parlare con un operatore",
        "posso parlare con una persona vera?",
        "quero falar com um atendente",
        "preciso falar com uma pessoa",
        "ich möchte mit einem Menschen sprechen",
        "kann ich mit einem Mitarbeiter sprechen?",
        "ik wil een medewerker spreken",
        "kan ik met iemand praten?",
        "No, I meant the billing address",
        "hablo de la dirección de facturación, no de la otra",
        "parlo dell'indirizzo di fatturazione",
        "falo do endereço de cobrança",
        "je parle de l'adresse de facturation",
        "ich rede von der Rechnungsadresse",
        "ich meine die Rechnungsadresse",
        "ik bedoel het factuuradres",
        "intendo l'indirizzo di fatturazione",
    ],
)
def test_who_asks_for_a_person_or_says_what_was_meant_complains(follow_up: str) -> None:
    assert read(follow_up).clarification


@pytest.mark.parametrize(
    "follow_up",
    [
        "Never would have thought of that",
        "Can't believe it was that easy",
        "So my pet shop was wrong then",
        "ha it's dead simple",
        "No way, that's all it takes",
        "Turns out I had the lamp the wrong way round. Fixed",
        "He was wrong, you were right",
        "bigger dome and it's dead quiet",
        "Wouldn't have guessed that in a hundred years",
        "I'd never have found that myself",
        "I don't believe it, that was it",
        "So the guy in the shop told me nonsense",
        "no way! that simple?",
        "Huh, my brother swore it was the other way round",
        "Turns out the cable was upside down, it works",
        "Ich hätte nie gedacht, dass das so einfach ist",
        "Dann lag mein Vater ja falsch",
        "Je n'aurais jamais pensé à ça",
        "Mon voisin avait tort alors",
        "Nunca se me habría ocurrido",
        "Entonces mi cuñado estaba equivocado",
        "Non ci avrei mai pensato",
        "Allora mio cognato si sbagliava",
        "Nunca teria pensado nisso",
        "Então o meu vizinho estava errado",
        "Daar was ik nooit opgekomen",
        "Dan had mijn buurman het mis",
        "Can't believe it was so simple, cheers",
        "I would never have found that in the menus",
        "My dad swore it was the other way round",
        "wow, our plumber told me utter nonsense",
        "he was wrong and you were right",
        "Turns out the battery was in backwards, works now",
        "Turns out I was looking at last year's form, sorted",
        "No way, so easy",
        "the radio is dead easy to use now",
        "the box is dead centre, looks great",
    ],
)
def test_surprise_and_what_others_had_wrong_are_held_against_no_answer(follow_up: str) -> None:
    assert not read(follow_up).clarification


@pytest.mark.parametrize(
    "follow_up",
    [
        "That's wrong",
        "You were wrong about that",
        "never mind, this is wrong",
        "No way, that can't be right",
        "I can't believe you still don't get it",
        "so you were wrong then",
        "the screen is dead",
        "that's simple nonsense",
        "No way, that's not right",
        "can't believe you told me that",
        "turns out that was wrong",
        "turns out your answer was wrong, it costs 40",
        "the link is dead",
        "My doctor said it was wrong, and so do you, check again",
        "never heard of that menu, it's not there",
    ],
)
def test_what_is_wrong_with_the_answer_is(follow_up: str) -> None:
    assert read(follow_up).clarification
