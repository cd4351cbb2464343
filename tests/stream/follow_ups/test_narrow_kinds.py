"""Content in the words of complaints (news of one's own, praise), and complaints that end in a question."""

import pytest

from turnsignal.stream.conversations.exchanges import Exchange
from turnsignal.stream.follow_ups.rules import FollowUpReading, FollowUpRules

RULES = FollowUpRules()
PROMPT = "Where can I find the form for a change of address?"
ANSWER = "You find the form under Account > Documents [1]. It takes about two days until it is processed."

#: somebody is needed for something else than to take over from the assistant
OTHER_PEOPLE = """\
Muss ich mit einer Person mehr rechnen
Kann ich mit einem Mitarbeiter zusammen kommen?
kann ich mit einem Mitarbeiter zusammen kommen
Gib mir eine Person als Beispiel
Geef me een persoon als voorbeeld
Necesito un asesor fiscal, ¿tienen alguno?
Dame una persona de contacto para la mudanza
quiero un operador de grúa
dame un agente inmobiliario de la zona
Vorrei una persona per le pulizie
voglio un consulente
mi serve un operatore di gru
Quero uma pessoa na minha conta como dependente
quero um atendente bilíngue na reunião
Passe moi un conseil
donnez moi un agent immobilier
give me a human readable version please
"""

#: praise, politeness, or a word put in its place
KIND_CONTRASTS = """\
C'est pas si mal, c'est même bien
Non è per niente male, è ottimo
Nicht schlecht sondern richtig gut
nicht dringend sondern nur neugierig
Niet goedkoop maar prima hoor
Niet erg maar wel handig
niet duur maar goed
Non è molto urgente, è solo una curiosità
C'est pas très urgent, c'est juste une question
c'est pas grave, c'est juste une idée
Não é muito urgente, é só uma dúvida
não é nada ruim, é ótimo
"""

#: the user's own thing is another, not what was said before
OTHER_THINGS = """\
Prima vorrei chiedere un'altra cosa
prima di chiudere volevo sapere un'altra cosa
ieri ho comprato un'altra cosa
Hier je voulais demander autre chose
hier j'ai acheté autre chose
Antes queria perguntar outra coisa
ayer compré otra cosa
Ontem comprei outra coisa
Gisteren kocht ik iets anders
gisteren heb ik iets anders besteld
Gestern habe ich etwas anderes bestellt
letzte woche wollte ich etwas anderes
"""

#: what changed is the user's own
OWN_NEWS = """\
My working hours have changed, please update my profile.
Our prices have changed, can you update the menu
De tijden zijn gewijzigd bij ons, hoe geef ik dat door
onze prijzen zijn gewijzigd
unsere Preise haben sich geändert
Meine Arbeitszeiten haben sich geändert
nuestros precios cambiaron
Mis horarios cambiaron, quiero actualizarlos
nossos horários mudaram
i nostri orari sono cambiati
nos horaires ont changé
our data is outdated, can you update it
My information is outdated, I moved in March
"""

#: to ask or to say again is announced or done for another reason
AGAIN = """\
Thanks, I'll ask again.
ok, I will ask again
Te repito mi número: 4432
le repito el código: 8812
Ik vraag het opnieuw aan, bedankt
"""

#: nobody answers where the user is
AT_HOME = """\
Nobody answers the door at my place in the morning
nobody answers at home during the day so deliver to my neighbour
no one answers the doorbell at the shop after six
"""

HARMLESS = [
    line
    for lines in (OTHER_PEOPLE, KIND_CONTRASTS, OTHER_THINGS, OWN_NEWS, AGAIN, AT_HOME)
    for line in lines.splitlines()
]

#: a step that failed, or a statement that the answer is wrong, in front of a question without its mark
ASKING_ON = """\
Se faccio così non funziona, che devo fare
se faço isso não funciona o que eu faço
si hago eso no funciona que hago
si je fais ça ça marche pas je fais quoi
als ik dat doe werkt het niet wat nu
wenn ich das mache geht es nicht was nun
wenn ich das mache kommt ein fehler, das ist falsch wie du das sagst
isso está errado o que eu faço
eso está mal que hago
è sbagliato che faccio
sbagliato ancora, non funziona che faccio
dat klopt niet wat nu
das ist falsch was jetzt
c'est faux je fais quoi
"""

#: the same kinds, said as complaints
STILL_COMPLAINTS = """\
quiero hablar con una persona
dame un humano
necesito un agente por favor
un operador ya
ein Mensch bitte
ich will mit einem Mitarbeiter sprechen
kann ich mit einem Mitarbeiter reden
gib mir einen Mitarbeiter
verbind me met een medewerker
geef me een medewerker
voglio un operatore
vorrei parlare con un consulente
quero falar com um atendente
quero uma pessoa
passez moi un conseiller
donnez moi quelqu'un
nicht die Rechnung sondern die Mahnung
niet de factuur maar de aanmaning
ieri mi hai detto un'altra cosa
ayer me dijeron otra cosa
ontem vocês falaram outra coisa
gestern habt ihr was anderes gesagt
gisteren zeiden jullie iets anders
hier vous m'avez dit autre chose
prices have changed
die Preise haben sich geändert
los precios cambiaron
I'm asking again: where is the form
te repito la pregunta
nobody answers the phone
nobody answers
nobody answers at that number
"""


def read(follow_up: str) -> FollowUpReading:
    return RULES.read(Exchange(PROMPT, ANSWER, follow_up))


@pytest.mark.parametrize("follow_up", HARMLESS)
def test_content_of_a_kind_is_no_complaint(follow_up: str) -> None:
    assert not read(follow_up).clarification


@pytest.mark.parametrize("follow_up", ASKING_ON.splitlines())
def test_a_complaint_that_ends_in_a_question_stays_one(follow_up: str) -> None:
    assert read(follow_up).clarification


@pytest.mark.parametrize("follow_up", STILL_COMPLAINTS.splitlines())
def test_a_complaint_of_the_same_kind_stays_one(follow_up: str) -> None:
    assert read(follow_up).clarification
