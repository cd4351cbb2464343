"""Facts, weather and a swear word before a question are no complaints; what does not help is, in seven languages."""

import pytest

from turnsignal.stream.conversations.exchanges import Exchange
from turnsignal.stream.follow_ups.rules import FollowUp, FollowUpReading
from turnsignal.stream.suite import Suite

RULES = Suite().follow_up_rules
BINS = (
    "when is my bin day in Maple Road?",
    "Bins in Maple Road are collected on Tuesdays, recycling every second Tuesday. Put them out before 7 am [1].",
)
LIFT = ("¿Cuánto cuesta el forfait de un día?", "El forfait de un día para adultos cuesta 49 euros [1].")


def reading(text: str, asked: tuple[str, str] = BINS) -> FollowUpReading:
    return RULES.read(Exchange(*asked, text))


@pytest.mark.parametrize(
    "text", ["its SW12 4AB", "its SE15 2XL", "it's number 14", "it's a top floor flat", "its the blue one"]
)
def test_a_fact_about_ones_own_case_is_held_against_no_answer(text: str) -> None:
    assert not reading(text).clarification


@pytest.mark.parametrize(
    "text", ["it's thursday", "its on fridays", "it's not Maple Road", "its not every second Tuesday"]
)
def test_what_the_answer_should_have_said_is(text: str) -> None:
    assert reading(text).clarification


@pytest.mark.parametrize(
    "text",
    [
        *(
            "no hay prisa",
            "no pasa nada",
            "este año no hay nieve, qué pena",
            "mañana no hay colegio",
            "no hay aparcamiento nunca",
        ),
        *(
            "no tengo coche",
            "no sé esquiar",
            "he perdido el forfait, qué hago",
            "se me ha olvidado la cartera, a quién llamo",
        ),
        *("joder, para niños?", "joder guay, gracias", "no, así está bien", "no, con eso me vale"),
        *(
            "nachts fahren ist echt nicht meins",
            "ich kann samstags nicht, geht auch sonntag",
            "muss ich meine mutter fragen",
        ),
        *("mi forfait es del año pasado", "meine karte ist von letztem jahr", "prima era aperto la domenica"),
        *("nee das reicht mir", "no that answers it", "non, ça suffit", "no, basta così", "não, assim está bom"),
    ],
)
def test_what_is_said_of_the_world_or_ends_it_is_no_complaint(text: str) -> None:
    assert not reading(text, LIFT).clarification


@pytest.mark.parametrize(
    "text",
    [
        *("no hay ningún botón", "ahí no hay nada", "en ajustes no hay esa opción", "pulso el botón y no pasa nada"),
        *("ich kann das formular nicht absenden", "die mail kommt nicht an", "nein, ich meine berlin", "joder"),
        *("ja aber wie", "yeah but how", "ya pero cómo", "oui mais comment ?", "sì ma come", "ja maar hoe"),
        *("und was soll ich jetzt damit", "y qué hago yo con eso", "and what am i supposed to do with that"),
        *("kein anschluss unter dieser nummer", "the number you gave me is a hairdresser's", "vaya porquería"),
        *("that price is last year's", "der preis ist von letztem jahr", "ese precio es del año pasado"),
        *(
            "told you already",
            "hab ich dir schon gesagt",
            "me lo acabas de preguntar",
            "te l'ho già detto",
            "como te dije",
        ),
        *("das hat mit meiner frage nichts zu tun", "no quería saber eso", "why are you telling me this"),
        *("termina la frase por favor", "finish your sentence please", "schreib bitte den satz zu ende"),
        *("entscheid dich mal", "aclárate", "vorhin waren es noch zehn", "i opened the source and it's about paint"),
        *("der link führt zu was ganz anderem", "en esa página no pone eso", "that page doesnt say that"),
        *(
            "qué es este lío",
            "die tabelle ist in einer zeile",
            "what is this mess",
            "du hast mir nicht gesagt wo",
            "no me has dicho dónde",
            "ese teléfono no existe",
        ),
    ],
)
def test_what_does_not_help_is_a_complaint(text: str) -> None:
    assert reading(text, ("how do I change my plan", "You can do that under Settings, then Account [1].")).clarification


@pytest.mark.parametrize(
    "text",
    [
        *(
            "the courier never came",
            "your network is down AGAIN",
            "my wifi hasn't worked since monday",
            "drivers are on strike",
        ),
        *("il corriere è in sciopero e non arriva niente", "il mio medico non risponde mai al telefono"),
        *("le site de la bibliothèque est en panne depuis ce matin", "ma box ne marche plus depuis hier"),
        *("plus rien ne marche chez vous aujourd'hui", "el repartidor no llega", "der paketbote kommt nie"),
        *(
            "the new prices are a rip-off",
            "20% more for the same thing, are you kidding",
            "we'll look around after this price hike",
        ),
        *("why did my bill go up again, this is outrageous", "the price increase is ridiculous btw"),
        *("schon wieder eine Beitragserhöhung, das ist eine Frechheit", "der neue Zusatzbeitrag ist Abzocke"),
        *("habéis subido los precios otra vez, qué vergüenza", "200 euros la noche, esto es una locura"),
        *("third train cancelled this week, unbelievable", "the portal is down again", "my bank is a rip off"),
        *("another rise? disgraceful", "£600 more than last year, are you serious", "what a joke this uni is"),
        *("you lot raised the fees again, disgraceful", "no one told us the lecture was cancelled"),
        *("sistema fora do ar de novo, que absurdo", "mais um reajuste? é um roubo", "il sito è di nuovo giù"),
        *(
            "treno soppresso per sciopero, che vergogna",
            "ancora un aumento? assurdo",
            "encore une hausse ? quelle honte",
        ),
        *("vuelo cancelado por la huelga, qué asco", "trein geannuleerd door de staking, schandalig"),
        *(
            "können sie",
            "was kostet das wenn ich kündige und dann wiederkomme",
            "könnten sie das nochmal genauer sagen",
        ),
        *("are you a bot?", "vous êtes une vraie personne ?", "parlo con un robot?", "bist du ein mensch?"),
    ],
)
def test_what_happens_outside_the_chat_is_not_read(text: str) -> None:
    assert reading(text).strict is None


@pytest.mark.parametrize(
    ("text", "is_complaint"),
    [
        ("ffs thats brilliant, thank you", False),
        ("putain merci beaucoup c'est très clair", False),
        ("cazzo ok capito grazie", False),
        ("ffs how much is a second bin", False),
        ("putain et pour les enfants ?", False),
        ("merde, ça ne marche pas", True),
        ("ffs", True),
        ("fuck this", True),
        ("ffs, why?", True),
        ("damn thing doesn't work", True),
        ("shit answer", True),
        ("cazzo che risposta inutile", True),
    ],
)
def test_what_stands_behind_a_swear_word_says_how_it_is_meant(text: str, *, is_complaint: bool) -> None:
    assert reading(text).clarification is is_complaint


@pytest.mark.parametrize("text", ["is it collected in Oak Road too?", "i see, what about paying by card instead"])
def test_the_same_question_of_something_else_goes_on(text: str) -> None:
    assert reading(text).strict == 0.95


@pytest.mark.parametrize(
    "text",
    [
        *("its in my first message", "the page you quote says nothing about that", "youre going round in circles mate"),
        *("So what's the actual answer, yes or no?", "i dont want to call, just tell me", "why am i seeing code"),
        *("le lien ne mène nulle part", "c'est l'ancien tarif ça", "bof, ça m'avance pas", "où est-ce écrit ?"),
        *("j'ai déjà dit que c'est pour mon fils", "vous l'avez déjà mon numéro", "la phrase est pas finie"),
        *(
            "c'est le contraire de ce que vous avez dit",
            "d'où sortez-vous ce chiffre",
            "jusqu'à quoi ?",
            "ca repond pas a ma question",
        ),
        *("gliel'ho dato sopra", "ce l'avete già il numero", "è nel primo messaggio", "perché me lo richiede"),
        *("la pagina che cita non ne parla", "nn ho capito niente", "quello è il vecchio regolamento", "fino a cosa?"),
        *("è il contrario di quello che ha detto", "ma non hai risposto", "siete un disastro", "non voglio chiamare"),
    ],
)
def test_what_french_italian_and_english_users_object_to_is_read(text: str) -> None:
    assert reading(text).clarification


@pytest.mark.parametrize("text", ["too long, short version please", "trop long, en bref svp", "troppo lungo, in breve"])
def test_who_wants_it_shorter_wants_another_form(text: str) -> None:
    assert reading(text).label == "reformat"


@pytest.mark.parametrize(
    "text",
    [
        *("the fee is ridiculous and you did not answer my question", "that price is wrong", "the prices are outdated"),
        *("dann kündige ich eben", "ich kündige"),
        *("why did the price go up? you said it stays the same", "10% more? that's wrong, it is 5%"),
        *("more for less? that's not what I asked", "after that price increase you gave me the wrong number"),
        *("wieder eine Preiserhöhung, das stimmt aber nicht", "han subido el precio, tu dato está mal"),
        *("encore une hausse des prix, mais votre chiffre est faux", "ancora aumento, ma la cifra è sbagliata"),
    ],
)
def test_a_price_that_is_wrong_and_who_leaves_are_no_talk_of_the_world(text: str) -> None:
    assert reading(text).clarification


@pytest.mark.parametrize(
    "text",
    [
        *(
            "ya lo intenté y funciona",
            "già provato, funziona",
            "habe ich schon getestet, klappt",
            "al geprobeerd en het werkt",
        ),
        *("can you give an answer to another question?", "that answered a question i've had for ages"),
        *("what's a placeholder in sql", "is anyone there on sundays?", "hay alguien ahí por la noche en recepción?"),
        *("pregunté por el parking y me dijeron que sí, ¿cuánto cuesta?", "das ist meine frage gewesen danke"),
        *(
            "c'est juste ma question, merci pour la réponse",
            "e la risposta arriva per mail?",
            "et ensuite je fais quoi ?",
        ),
    ],
)
def test_what_only_sounds_like_a_complaint_is_none(text: str) -> None:
    assert not reading(text).clarification


@pytest.mark.parametrize(
    "text",
    [
        *(
            "what has billing to do with it?",
            "the link goes nowhere",
            "that's just my question again",
            "and the answer?",
        ),
        *("so you can't tell me?", "what are you for then", "seriously? it's a simple question", "404 on that link"),
        *("Nach Brillen habe ich nicht gefragt", "das gilt doch seit Januar nicht mehr", "der Link führt ins Leere"),
        *("der Artikel handelt von etwas anderem", "ihr text bricht ab", "Sie wiederholen nur meine Frage"),
        *("und dafür gibt es den Chat?", "wozu sind Sie dann da", "bei mir stehen nur geschweifte Klammern"),
        *(
            "esa información es antigua",
            "en la fuente no pone nada de eso",
            "repites lo que he dicho",
            "¿y la respuesta?",
        ),
        *("¿entonces para qué sirve este chat?", "es una pregunta sencilla", "eso ya me lo has preguntado"),
    ],
)
def test_what_english_german_and_spanish_users_object_to_is_read(text: str) -> None:
    assert reading(text).clarification


LIMIT = ("qual é o limite do pix?", "O limite do Pix é de R$ 5.000 [1]. Para aumentar, abra o app e toque em Pix [2].")
BAG = ("quanto pesa il bagaglio?", "Il bagaglio da stiva può pesare fino a 23 kg [1]. Si paga al banco [2].")


@pytest.mark.parametrize(
    ("around", "text"),
    [
        *((LIMIT, text) for text in ("sua resposta veio cortada no final", "cadê a resposta do que perguntei")),
        *((LIMIT, text) for text in ("você só repetiu minha pergunta", "eu perguntei do cartão, não da conta")),
        *((LIMIT, text) for text in ("terceira vez que você me manda a mesma coisa", "vc não me disse o valor")),
        *((LIMIT, text) for text in ("antes você falou 5 dias, agora são 10", "esse documento não fala disso")),
        *((BAG, text) for text in ("la risposta si interrompe a metà", "stai solo ripetendo quello che dico")),
        *((BAG, text) for text in ("queste tariffe sono vecchie", "prima hai detto 20 euro, adesso 30")),
    ],
)
def test_portuguese_and_italian_complaints_are_read(around: tuple[str, str], text: str) -> None:
    assert reading(text, around).clarification


@pytest.mark.parametrize(
    "text",
    [
        *("ok e quando arriva", "va bene e come lo faccio", "ok e como eu faço", "beleza, e onde fica a agência"),
        *("vale y cuánto cuesta", "d'accord et combien ça coûte", "ok und was kostet das", "oké en hoe lang duurt dat"),
        *("esqueci a senha do app", "olvidé mi contraseña"),
    ],
)
def test_a_question_behind_an_okay_thanks_for_nothing_and_leaves_nobody(text: str) -> None:
    assert reading(text, LIMIT).label not in (FollowUp.THANKS, FollowUp.FRUSTRATION)
