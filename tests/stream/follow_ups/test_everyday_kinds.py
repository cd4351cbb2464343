"""Complaints by kind in seven languages, and content that shares their words."""

import pytest

from turnsignal.stream.conversations.exchanges import Exchange
from turnsignal.stream.follow_ups.rules import ASKS_FOR_A_PERSON, FollowUpReading, FollowUpRules

RULES = FollowUpRules()
ADDRESS = {
    "de": (
        "Wie ändere ich meine Adresse?",
        "Öffnen Sie Profil > Daten und tippen Sie auf Adresse. Die Änderung gilt ab dem nächsten Tag.",
    ),
    "fr": (
        "Comment changer mon adresse?",
        "Ouvrez Profil > Données et touchez Adresse. Le changement compte dès le lendemain.",
    ),
    "es": ("Cómo cambio mi dirección?", "Abrí Perfil > Datos y tocá Dirección. El cambio vale desde el día siguiente."),
    "it": (
        "Come cambio il mio indirizzo?",
        "Apra Profilo > Dati e tocchi Indirizzo. La modifica vale dal giorno dopo.",
    ),
    "pt": (
        "Como mudo meu endereço?",
        "Abra Perfil > Dados e toque em Endereço. A mudança vale a partir do dia seguinte.",
    ),
    "nl": (
        "Hoe wijzig ik mijn adres?",
        "Open Profiel > Gegevens en tik op Adres. De wijziging geldt vanaf de volgende dag.",
    ),
    "en": (
        "How do I change my address?",
        "Open Profile > Details and tap Address. The change counts from the next day.",
    ),
}
PARKING = {
    "de": ("Was kostet das Parken?", "Parken kostet 12 Euro am Tag, die Einfahrt ist in der Lindenstraße."),
    "fr": ("C'est combien le stationnement?", "Le stationnement coûte 12 $ par jour, l'entrée est rue des Érables."),
    "es": ("Cuánto cuesta el parking?", "El aparcamiento cuesta 12 euros al día, la entrada está en la calle Olmo."),
    "it": ("Quanto costa il parcheggio?", "Il parcheggio costa 12 euro al giorno, l'ingresso è in via Olmo."),
    "pt": (
        "Quanto custa o estacionamento?",
        "O estacionamento custa 12 reais por dia, a entrada fica na rua das Flores.",
    ),
    "nl": ("Wat kost parkeren?", "Parkeren kost 12 euro per dag, de ingang is in de Lindestraat."),
    "en": ("How much is parking?", "Parking is £12 a day, the entrance is in Elm Street."),
}
#: kind: language: what is said
COMPLAINTS = """\
# misunderstood
en: u misunderstand me
en: thats not how i meant it
fr: tu m'as pas compris
fr: vous avez mal compris ma question
es: no me entendio
es: entendiste otra cosa
pt: voce entendeu errado
pt: nao foi isso que eu quis dizer
it: non mi hai capito
it: mi ha frainteso
de: sie verstehen mich falsch
de: hast mich nicht verstanden
nl: je begrijpt me niet
nl: zo bedoel ik het niet
# other way round
en: other way round
en: the opposite
fr: c'est l'inverse
fr: le contraire justement
es: al contrario
es: es lo contrario
pt: pelo contrario
pt: é ao contrário
it: al contrario
it: esattamente l'opposto
de: genau umgekehrt
de: ist genau das gegenteil
nl: het is andersom
nl: precies omgekeerd
# outdated
en: your data is out of date
en: those are last years hours
fr: c'est l'ancien tarif
fr: vos infos datent
es: eso es de antes
es: está desactualizado
pt: tá desatualizado isso aí
pt: esse preço é do ano passado
it: sono dati vecchi
it: non è aggiornato
de: die angaben sind veraltet
de: das sind die daten vom letzten jahr
nl: die gegevens zijn oud
nl: dat is van vorig jaar
# same question
en: asking again, same question
en: im asking you again
fr: même question que tantôt
fr: je redemande la même chose
es: te lo pregunto de nuevo
es: vuelvo a preguntar
pt: vou perguntar de novo
pt: pergunto de novo
it: ripeto la domanda
it: te lo richiedo
de: ich frag nochmal
de: nochmal die gleiche frage
nl: ik vraag het nog een keer
nl: nogmaals dezelfde vraag
# no answer
en: thats no answer to my question
en: just answer
fr: répondez donc
fr: ça répond pas à ma question
es: contestame
es: no es respuesta
pt: nao ta respondendo minha pergunta
pt: responde logo
it: non è una risposta
it: rispondi e basta
de: das beantwortet die frage nicht
de: antworte doch einfach
nl: dat is geen antwoord op mijn vraag
nl: geef gewoon antwoord
# person
en: need human pls
en: let me speak with a real person
fr: donne moi un vrai humain
fr: je veux quelqu'un au tel
es: quiero hablar con alguien de verdad
es: comunicame con un humano
pt: quero um atendente de verdade
pt: chama um humano
it: passami una persona
it: dammi un umano
de: gib mir einen menschen
de: bitte einen echten menschen
nl: ik wil een echt persoon
nl: mag ik een medewerker
# verdict
en: this is rubbish
en: worst bot ever
fr: pourri
fr: quelle perte de temps
es: qué porqueria
es: un desastre
pt: uma vergonha
pt: muito ruim
it: che porcheria
it: fai pena
de: schlecht
de: so ein blödsinn
nl: slecht hoor
nl: belabberd
# wrong item
en: wrong city
en: thats not my contract
fr: mauvais magasin
fr: c'est pas mon contrat
es: ese pedido no es el mio
es: esa cuenta no es mia
pt: esse pedido nao é meu
pt: esse contrato nao é o meu
it: filiale sbagliata, sono a torino
it: quello non è il mio contratto
de: falsche filiale
de: das ist nicht mein vertrag
nl: verkeerde vestiging, ik zit in breda
nl: dat is niet mijn contract
# others say
en: you wrote other thing yesterday
en: you said something different before
fr: votre collègue m'a dit le contraire
fr: hier vous m'avez dit autre chose
es: tu compañera me dijo otra cosa
es: ayer me dijiste otra cosa
pt: ontem vc falou outra coisa
pt: o atendente disse outra coisa
it: ieri mi hai detto altro
it: il collega mi ha detto diverso
de: dein kollege hat was anderes gesagt
de: gestern hast du was anderes geschrieben
nl: je collega zei wat anders
nl: gisteren zei je iets anders
# not x but y
en: not delete, CHANGE
en: not the billing one, the home one
fr: pas supprimer, changer
fr: pas celle de facturation, celle de la maison
es: no quiero borrarla quiero cambiarla
es: no la de facturacion, la de casa
pt: nao quero apagar quero mudar
pt: nao a de cobrança, a de casa
it: non voglio cancellarlo voglio cambiarlo
it: non quello di fatturazione, quello di casa
de: nicht die rechnungsadresse sondern die private
de: will sie nicht löschen sondern ändern
nl: niet het factuuradres maar het thuisadres
nl: ik wil het niet verwijderen maar wijzigen
# nobody
en: noone answers the phone
en: nobody is answering there
fr: personne répond au téléphone
es: no atiende nadie
es: en ese numero no contesta nadie
pt: ninguem atende
pt: nesse numero ninguem atende
it: non risponde nessuno
it: a quel numero non risponde nessuno
de: da geht keiner ran
de: da hebt niemand ab
nl: er neemt niemand op
nl: niemand neemt op
"""

#: of something else than the answer before it
CONTENT = """\
de: kann ich der gebühr widersprechen
de: widerspruch einlegen bis wann
de: frist für den widerspruch
de: hab mich nicht falsch angemeldet
de: bin falsch abgebogen und jetzt
de: wenn der betrag falsch ist an wen wende ich mich
de: falsche adresse hinterlegt wie ändern
de: egal welches zimmer hauptsache ruhig
de: lassen sie hunde rein
fr: dejeuner compris
fr: déjeuner à quelle heure svp
fr: deja paye mais pas de recu
fr: laisser les bagages c possible
fr: oublie de pointer hier je fais quoi
fr: etat des lieux contradictoire c quand
fr: contredire une facture comment
es: olvide mi clave
es: deje las llaves adentro
es: dejar las valijas se puede
es: no aparque mal la bici
it: se salto la rata cosa succede
it: se il contatore non va chi chiamo
it: bolletta sbagliata che devo fare
it: lettura sbagliata come la correggo
pt: contradizer multa
nl: salaris later deze maand hoezo
nl: verkeerd iban doorgegeven wat nu
nl: mist er een dag op mijn strook
nl: tegenspreken van de beoordeling kan dat
en: i didnt park in the wrong bay
en: same question for my wife
en: i'll ask again tomorrow, thanks
en: need human resources address
es: la basura que dia pasa
de: schlecht zu fuß, gibts nen aufzug
de: und umgekehrt auch
pt: outra coisa, como pago
it: altra cosa, come pago
nl: geef me de link
es: tengo una deuda vieja
"""

#: said in anger of the answer, and no step that somebody goes on to
STARTING = ("so ein schrott", "so ein Mist", "so wird das nix")


def lines(text: str) -> list[tuple[str, str]]:
    """Split "language: what is said" lines."""
    return [(line[:2], line[4:]) for line in text.splitlines() if not line.startswith("#")]


def read(follow_up: str, asked: tuple[str, str]) -> FollowUpReading:
    return RULES.read(Exchange(*asked, follow_up))


@pytest.mark.parametrize(("language", "follow_up"), lines(COMPLAINTS))
def test_complaints_of_everyday_kinds_are_read_in_each_language(language: str, follow_up: str) -> None:
    assert read(follow_up, ADDRESS[language]).clarification


@pytest.mark.parametrize(("language", "follow_up"), lines(CONTENT))
def test_content_with_words_of_complaints_is_none(language: str, follow_up: str) -> None:
    assert not read(follow_up, PARKING[language]).clarification


@pytest.mark.parametrize(
    "follow_up", ["gib mir einen menschen", "dame una persona", "me da um humano", "dammi un umano"]
)
def test_who_wants_a_person_says_so_by_a_command(follow_up: str) -> None:
    assert read(follow_up, ADDRESS["en"]).explanation == ASKS_FOR_A_PERSON


@pytest.mark.parametrize("follow_up", STARTING)
def test_a_german_so_goes_on_from_nothing(follow_up: str) -> None:
    assert not read(follow_up, ADDRESS["de"]).goes_on


def test_an_english_so_goes_on() -> None:
    assert read("so i need to log in first", ADDRESS["en"]).goes_on


def test_what_a_user_asks_twice_is_read_as_a_repetition_although_it_has_words_of_a_complaint() -> None:
    asked = ("hab das Rad nicht falsch geparkt", PARKING["de"][1])
    assert read("hab das Rad nicht falsch geparkt", asked).explanation == "The user asks the same question again."
