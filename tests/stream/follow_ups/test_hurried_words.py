"""Words of people in a hurry, without accents and in dialect: complaints, success, and what is neither."""

import pytest

from turnsignal.stream.conversations.exchanges import Exchange
from turnsignal.stream.follow_ups.rules import FollowUp, FollowUpReading, FollowUpRules

RULES = FollowUpRules()
PASS = (
    "como renuevo el abono?",
    "Puedes renovar el abono en la web o en cualquier máquina de la estación con tarjeta.",
)
EXCESS = (
    "Wie hoch ist mein Selbstbehalt?",
    "Der Selbstbehalt ist der Betrag, den Sie bei einem Schaden selbst zahlen. Sie finden ihn in der Police.",
)
CACHE = ("how do i cache node modules?", "Add a cache block with the path node_modules and a key to your config file.")
REFUSALS = (
    ("como renuevo el abono?", "Lo siento, no puedo ayudarte con eso."),
    ("Wie hoch ist mein Selbstbehalt?", "Dabei kann ich Ihnen leider nicht helfen."),
    ("how do i cache node modules?", "Sorry, I can't help with that."),
)


def read(follow_up: str, asked: tuple[str, str] = PASS) -> FollowUpReading:
    return RULES.read(Exchange(*asked, follow_up))


@pytest.mark.parametrize(
    "follow_up",
    [
        # a part of it came
        *("el mensaje llego cortado", "se te corto la respuesta", "te quedaste a la mitad", "oye no me salio completo"),
        *("nomas se ve la mitad", "la frase esta incompleta", "mandamelo completo", "y que mas? se quedo a medias"),
        # too much of it
        *("demasiado texto", "vaya tocho", "ve al grano porfa", "no voy a leer todo eso", "menos rollo"),
        "muy largo, dime cuanto cuesta",
        # the same again
        *("siempre contestas lo mismo", "ya me habias dicho eso", "estamos dando vueltas", "estas en bucle"),
        *("lo mismo de antes", "ya te lo puse arriba", "lo dije antes"),
        # past the question
        *("no me respondes lo que te pregunto", "eso no es lo q pregunte", "pero cual es", "mi pregunta era otra"),
        *("no lees lo que te pongo", "en la web no sale nada de eso", "asi no avanzo", "eso ya lo se"),
        # not understood
        *("no me entero de nada", "no lo pillo", "no cacho nada wey", "q significa eso", "explicate mejor"),
        # anger, doubt, another language
        *("me estas vacilando", "pues vaya servicio", "menuda atencion", "entonces para q sirves", "como q no"),
        *("de donde te sacas eso", "mentira, yo fui ayer y esta cerrado", "antes decias otra cosa"),
        *("entonces cual es la correcta", "habla en español", "hablas español?"),
    ],
)
def test_hurried_complaints_are_read_in_spanish(follow_up: str) -> None:
    assert read(follow_up).clarification


@pytest.mark.parametrize(
    "follow_up",
    [
        # a part of it came
        *("deine antwort ist abgeschnitten", "is abgebrochen", "der text hört mitten im satz auf", "kommt da noch was"),
        *("satz is nich fertig", "ich seh nur die hälfte", "schreib das bitte fertig"),
        # too much of it
        *("viel zu viel text", "wer soll das alles lesen", "zur sache bitte", "bitte kürzer und auf den punkt"),
        *("das is ja ein roman", "so genau wollt ich das nich wissen", "ein satz genügt"),
        # the same again
        *("das gleiche wie vorhin", "schon wieder dieselbe antwort", "das schrieben sie schon", "schon angegeben"),
        *("wir drehen uns im kreis", "steht doch schon oben"),
        # past the question
        *("danach hab ich ned gefragt", "des hab i ned gmeint", "das wollt ich nich wissen", "das war meine frage"),
        *("ja aber welche denn", "in meiner police steht davon nichts", "den button seh ich hier nicht"),
        *("damit komm ich nich klar", "so kommen wir nicht weiter", "weiss ich selber"),
        # not understood
        *("versteh ich ned", "kapier ich nich", "nur bahnhof", "das sagt mir nix", "kein plan was du meinst"),
        # anger, doubt, a person, another language
        *("das is doch ein schlechter witz", "reine verarschung", "berater bitte", "woher haben sie das denn"),
        *("frei erfunden oder was", "stimmt nich", "das is falsch", "sprechen sie deutsch"),
    ],
)
def test_hurried_complaints_are_read_in_german(follow_up: str) -> None:
    assert read(follow_up, EXCESS).clarification


@pytest.mark.parametrize(
    "follow_up",
    [
        *("your answer got cut off", "the yaml stops halfway", "reply is incomplete", "you didn't finish the sentence"),
        *("where's the rest", "that's only half the config", "too much text", "stop rambling", "not reading all that"),
        *("too long, just give me the key", "we're going in circles", "same answer as before", "yes but which ones"),
        *("that's too generic, i need the exact key", "the docs have not a word about that", "it is enabled"),
        *("it's already set", "clear as mud", "no clue what that means", "you just made that up", "asked for 3.12"),
        *("already posted it above", "why is this in german", "can you answer in english", "a minute ago it was 300"),
    ],
)
def test_hurried_complaints_are_read_in_english(follow_up: str) -> None:
    assert read(follow_up, CACHE).clarification


@pytest.mark.parametrize(
    "follow_up",
    [
        *("votre message est coupé", "ta réponse s'arrête en plein milieu", "quel pavé", "trop de texte", "abrège"),
        *("on tourne en rond", "mais lesquels", "j'y comprends que dalle", "la risposta è troncata", "troppo testo"),
        *("non hai finito la frase", "vai al punto", "stai girando in tondo", "ma quali sono", "non ci capisco niente"),
        *("a resposta veio incompleta", "muito texto", "vá direto ao ponto", "fica repetindo", "mas quais"),
        *("não tô entendendo nada", "je antwoord is afgekapt", "te veel tekst", "kom ter zake", "maar welke dan"),
        *("we draaien in cirkels", "snap er geen bal van"),
    ],
)
def test_hurried_complaints_are_read_in_french_italian_portuguese_and_dutch(follow_up: str) -> None:
    assert read(follow_up).clarification


@pytest.mark.parametrize("asked", REFUSALS, ids=["es", "de", "en"])
@pytest.mark.parametrize(
    "follow_up",
    [
        *("great.", "wow", "why not", "what are you for then", "en serio?", "pues vaya", "no mames", "que servicio"),
        *("toll", "na bravo", "wozu gibts euch dann", "warum nich", "echt jetzt", "was könnt ihr eigentlich"),
    ],
)
def test_who_is_refused_is_bitter_in_few_words(follow_up: str, asked: tuple[str, str]) -> None:
    assert read(follow_up, asked).label == FollowUp.FRUSTRATION


@pytest.mark.parametrize("follow_up", ["great.", "wow", "toll", "genial", "why not yarn", "warum nicht online"])
def test_who_is_answered_is_not_bitter_in_the_same_words(follow_up: str) -> None:
    assert not read(follow_up, CACHE).clarification


@pytest.mark.parametrize(
    "follow_up",
    [
        *("ya lo encontre", "ah sale ya quedo", "ahora si ya me salio", "listo ya pude", "perfe", "chido gracias"),
        *("ah pues eso no lo sabia", "vale me queda claro", "de lujo", "ok verstehe", "hab ich gefunden danke"),
        *("habs", "jetzt gehts", "tiptop", "supi", "bin drin", "passt scho", "super hab sie schon", "passes now"),
        *("im in", "running now", "found them", "it worked on the second attempt", "sorted it, was a typo"),
        *("tests are green now", "j'y suis arrivé", "ora ci siamo", "consegui agora", "nu lukt het", "echt? super"),
    ],
)
def test_who_has_it_is_read_as_content(follow_up: str) -> None:
    reading = read(follow_up, CACHE)
    assert reading.label == FollowUp.THANKS
    assert reading.clarification_free == 1.0


@pytest.mark.parametrize(
    "follow_up",
    [
        # success that is none
        *("ya lo vi y no sale", "ya pude pero me cobro doble", "jetzt gehts wieder nicht", "passes now but slow"),
        *("found it but it's greyed out", "found them, none work", "habs probiert geht nicht", "ya lo hice"),
    ],
)
def test_who_has_it_and_gets_no_further_is_not_thanking(follow_up: str) -> None:
    assert read(follow_up, CACHE).label != FollowUp.THANKS


#: The thing itself is long, cut, incomplete or the same.
OF_THINGS = {
    PASS: [
        *(
            "el texto es mucho mas largo en mi formulario",
            "se corto la luz en mi calle ayer",
            "llego incompleto el pedido",
        ),
        *("mi tarjeta esta cortada por una esquina, vale igual", "mucho texto en la carta, que tengo que firmar"),
        *("lo mismo para mi hijo", "y lo mismo si es online?", "de donde saco el formulario", "hablan español ahi?"),
        *("la respuesta del ayuntamiento llego incompleta, puedo pedir otra", "para que sirve el certificado"),
        *("pero cual es el precio para jubilados", "antes era gratis no", "en serio? que barato"),
        *("ya lo renove, y ahora como lo activo", "y cual es la mas barata", "lesquels sont gratuits ?"),
        *("vraiment ? comment on fait", "quali sono gratis", "davvero? come si fa", "a luz cortou ontem"),
        *("quais são grátis", "sério? como faço", "welke zijn gratis", "echt? hoe werkt dat"),
    ],
    EXCESS: [
        *("mein spiegel ist abgebrochen", "der vertrag ist zu lang, kann ich früher kündigen", "kommt noch was"),
        *("im vertrag steht nichts von hagel, ist der versichert", "ich wechsle den anbieter, was muss ich tun"),
        *("woher bekomme ich das formular", "echt? wie geht das", "wirklich? wo finde ich das", "bahnhof"),
        *("die antwort vom gutachter ist unvollständig", "ist die liste vollständig", "mitarbeiter bekommen rabatt?"),
        *("ob das für altverträge gilt, das ist die frage", "und welche gilt für mich", "ist deutschland auch gedeckt"),
    ],
    CACHE: [
        *("the list is too long for one file, can i split it", "my example stops at line 3, should it continue"),
        *(
            "it's enabled now, thanks",
            "i read the docs, just want to confirm",
            "asked for 2 approvals",
            "already pushed",
        ),
        *("really? how do i set that", "why german servers", "that's high level, thanks"),
        *("what about the rest of the jobs", "shorter"),
    ],
}


@pytest.mark.parametrize(
    ("asked", "follow_up"), [(asked, text) for asked, follow_ups in OF_THINGS.items() for text in follow_ups]
)
def test_the_same_words_of_the_thing_itself_are_no_complaint(asked: tuple[str, str], follow_up: str) -> None:
    assert not read(follow_up, asked).clarification


@pytest.mark.parametrize(
    "follow_up", ["bitte kürzer", "kürzer bitte", "kurz und knapp bitte", "mas corto", "más corto"]
)
def test_who_wants_it_shorter_wants_it_otherwise_in_every_order_of_words(follow_up: str) -> None:
    assert read(follow_up).label == FollowUp.ADJUSTMENT


def test_an_offer_behind_half_an_answer_hides_no_complaint() -> None:
    offering = (PASS[0], f"{PASS[1]} ¿Quieres que te envíe también el formulario?")
    assert read("al grano porfa", offering).clarification


def test_who_was_asked_twice_says_that_it_was_said() -> None:
    asking = (PASS[0], "¿De qué zona es tu abono?")
    assert read("lo dije antes", asking).label == FollowUp.REPEAT
