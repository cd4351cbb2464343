"""Answers that are none: empty, an error or a refusal; and those that only speak of such."""

import pytest

from turnsignal.stream.errors import ConfigError
from turnsignal.stream.follow_ups.failures import Failures, asks_back

FAILURES = Failures()


@pytest.mark.parametrize(
    "text",
    [
        "",
        " \n\t",
        "Internal error 500.",
        "500 Internal Server Error",
        "HTTP 502 Bad Gateway",
        "503 Service Unavailable",
        "Error: upstream connect error",
        "An unexpected error occurred while processing your request.",
        "Something went wrong. Please try again later.",
        "Request timed out",
        "The model is currently overloaded. Please try again later.",
        "We are experiencing technical difficulties.",
        "Traceback (most recent call last):\n  File",
        "TimeoutError: deadline exceeded",
        '{"error": {"message": "rate limited"}}',
        "null",
        "I'm sorry, but I can't help with that.",
        "I’m sorry, but I can’t help with that.",
        "I cannot assist with that request.",
        "Unfortunately, I don't have that information.",
        "Unable to process your request at this time.",
        "The documents do not provide an answer to the question.",
        "As an AI language model, I can't do this.",
        "Sorry. I could not find any hotel in the east.",
        "Es tut mir leid, dabei kann ich nicht helfen.",
        "Es ist ein Fehler aufgetreten.",
        "Lo siento, no puedo ayudarte con eso.",
        "Désolé, je ne peux pas répondre.",
        "Desculpe, não posso ajudar com isso.",
        "Mi dispiace, non posso aiutarti.",
        "Het spijt me, daar kan ik niet bij helpen.",
        "\u200b\ufeff",
        "\u3164",
        "...",
        "{}",
        "[no content]",
        '{"choices":[]}',
        "<html><head><title>502 Bad Gateway</title></head><body><h1>502 Bad Gateway</h1></body></html>",
        "Something broke on our end. Please try again later.",
        "Model output blocked by content filter.",
        "As a language model, I must decline.",
        "You have reached your limit for today.",
        "ERR_CONNECTION_RESET",
        "El servicio no está disponible en este momento.",
        "Interner Serverfehler. Bitte versuchen Sie es später erneut.",
        "Veuillez réessayer plus tard.",
        "Algo deu errado. Tente novamente.",
        "Errore interno del server.",
        "Er is iets misgegaan.",
        "抱歉，我无法回答这个问题。",
        "申し訳ありませんが、お答えできません。",
    ],
)
def test_an_empty_text_an_error_and_a_refusal_are_no_answers(text: str) -> None:
    assert FAILURES.is_failing(text)


@pytest.mark.parametrize(
    "text",
    [
        "Look under Settings [a].",
        "Error 404 means that the page is gone.",
        "Error handling in Go is done by values.",
        "To fix a 500 error, restart the server.",
        "If you are unable to log in, reset your password under Settings.",
        "You can't do that on the free plan; upgrade under Billing.",
        "Returns are not possible after 30 days, but an exchange is.",
        "Sorry for the confusion! The blue one is under Settings.",
        "I'm sorry to hear that you're not well. Take the day off under Absences.",
        'The message "We are unable to process your request" comes from the bank. Call them.',
        "The log says “I cannot find the file”: create it first.",
        "No problem! Here it is.",
        "We do not offer shipping to Malta, but a pick-up in Sicily is possible.",
        "No. There is no discount available for annual plans.",
        "Unfortunately, dogs are not allowed in the office.",
        "Sorry, the offer ended on 1 March and is no longer available.",
        "We don't have a store in Graz, the nearest one is in Vienna.",
        "If something went wrong during checkout, your card isn't charged.",
        "The service is down every Sunday from 2 to 3 am.",
        "Leider ist das nicht im Tarif enthalten, Sie können es aber zubuchen.",
        "Le service n'est pas disponible en Corse, mais en Sardaigne oui.",
        "不，我们不提供退款，但可以换货。",
        "👍",
    ],
)
def test_an_answer_that_speaks_of_errors_is_one(text: str) -> None:
    assert not FAILURES.is_failing(text)


def test_a_refusal_far_behind_in_an_answer_is_none() -> None:
    assert not FAILURES.is_failing("Open Settings and choose Security. " * 20 + "I cannot help with more.")


def test_a_pattern_that_re2_does_not_read_is_refused_in_words() -> None:
    with pytest.raises(ConfigError, match="expected a pattern that RE2 reads"):
        Failures(["(?=x)"])


def test_only_the_beginning_of_an_answer_is_read_and_a_lone_surrogate_is_no_obstacle() -> None:
    for opening in ("Look under Settings. ", "I can't help with that. "):
        text = opening.ljust(320, "x")
        assert FAILURES.is_failing(text) == FAILURES.is_failing(text + ' "sorry, I cannot' * 20_000)
    assert not FAILURES.is_failing("\ud800")


@pytest.mark.parametrize(
    "text",
    [
        "I can't see your account, but the limit is under Settings > Cards.",
        "I could not find the 2024 report; the one before gives 4.1 million [2].",
        "Although I do not know the model, holding the key for ten seconds resets all of them.",
        "No puedo reservar la sala, pero usted puede hacerlo en Espacios.",
        "Ich bin kein Anwalt, üblich sind aber vier Wochen.",
    ],
)
def test_what_could_not_be_done_beside_help_is_an_answer(text: str) -> None:
    assert not FAILURES.is_failing(text)
    assert not FAILURES.is_failing(f"> a line that somebody else wrote\n\n{text}")


@pytest.mark.parametrize(
    "text",
    [
        "Let me connect you with a colleague.",
        "Could you rephrase that?",
        "Bitte wenden Sie sich an unseren Kundendienst.",
        "No lo sé.",
        "Okay.",
        "I couldn't book that table. Would you like another one?",
        "I can't help with that. Is there anything else that I can do for you?",
    ],
)
def test_a_question_handed_on_or_back_is_no_answer(text: str) -> None:
    assert FAILURES.is_failing(text)


@pytest.mark.parametrize(
    "text",
    [
        "I couldn't find a flight under 300, the cheapest is 312 with KLM at 9:40.",
        "I can't see hotels below 90 euros; the Harbour Inn at 104 is the lowest.",
        "Ich habe kein Zimmer unter 80 Euro gefunden, das günstigste kostet 84 Euro.",
        "No encuentro mesas a las nueve, la más cercana es a las diez.",
        "Je ne trouve pas de vol direct, le plus rapide passe par Lyon.",
        "Não encontrei voos para sábado, o próximo sai no domingo.",
        "Non ho trovato il modello rosso, quello blu costa 59 euro.",
        "Ik kan geen tafel vinden, de eerste vrije is om kwart voor acht.",
        "Unfortunately I can't change the order, since it left the warehouse. You can return it within 30 days.",
        'No results for "pyhton"; showing results for "python": 1. Tutorial 2. Download 3. FAQ',
        "I couldn't book that table. How about Sideshow Kitchen at 7 pm?",
        "I don't know much of him. He was a pioneer of rockabilly.",
    ],
)
def test_an_alternative_beside_what_could_not_be_done_is_an_answer(text: str) -> None:
    assert not FAILURES.is_failing(text)


@pytest.mark.parametrize(
    "text",
    [
        "I couldn't find a flight under 300, please try other dates.",
        "I couldn't find an order for you, sorry about that.",
        "I can't find that, the best thing is to ask in the shop.",
        "I can't help with that, your ticket is 48213.",
        'No results for "pyhton"; try another search.',
        "I can't answer, your session has 0 credits left.",
        "Sorry, I can't see it, you could call support.",
        "I can't change orders. We will get back to you within 30 days.",
    ],
)
def test_what_is_said_beside_a_failure_without_an_alternative_helps_nobody(text: str) -> None:
    assert FAILURES.is_failing(text)


def test_what_was_reached_in_the_end_is_an_answer() -> None:
    for text in (
        "I couldn't reach the garage door, so I tried again and it is closed now.",
        "I was unable to reach the lamp and switched it on through the hub instead.",
        "Ich konnte die Lampe zuerst nicht erreichen, jetzt ist sie an.",
    ):
        assert not FAILURES.is_failing(text)
    assert FAILURES.is_failing("I couldn't reach the garage door, so I tried again and it failed again.")
    assert FAILURES.is_failing("I couldn't reach the garage, so I tried again and now it is offline.")


@pytest.mark.parametrize(
    "text",
    [
        "I can't find order 48213 under this account. Is it perhaps 42813?",
        "I'm not able to see your screen, so please tell me: is the light green or red?",
        "I don't know your size yet, so which is it, 38 or 40?",
        "I couldn't match that address, did you mean 14 High Street, Leeds?",
        "Ich finde keinen Vertrag 5512. Ist es vielleicht die 5521?",
    ],
)
def test_a_question_that_narrows_what_is_looked_for_is_an_answer(text: str) -> None:
    assert not FAILURES.is_failing(text)


def test_a_question_that_leaves_all_open_is_none() -> None:
    for question in ("Do you have another number?", "Would you like me to try something else?", "Is it possible?"):
        assert FAILURES.is_failing(f"I can't find order 48213. {question}")


@pytest.mark.parametrize(
    "limit",
    [
        "I cannot give legal advice, so please check with an expert if in doubt.",
        "I can't guarantee that this is up to date.",
        "Ich kann keine Rechtsberatung geben, fragen Sie im Zweifel einen Anwalt.",
        "No puedo dar asesoramiento legal.",
    ],
)
def test_a_limit_behind_an_answer_leaves_it_one_and_by_itself_is_none(limit: str) -> None:
    for answer in (
        *("OK, done.", "Yes.", "1,400 euros.", "I'm doing well, thank you! How can I help?"),
        *("I can help with orders, accounts and devices.", "Could you tell me in which land you live?"),
    ):
        assert not FAILURES.is_failing(f"{answer} {limit}")
    for opener in ("", "Sure.", "I understand.", "Thanks for asking!", "Verstanden.", "Sorry, I can't help."):
        assert FAILURES.is_failing(f"{opener} {limit}")


@pytest.mark.parametrize(
    "text",
    [
        *(
            "{{ answer }}",
            "${response}",
            "%s",
            "%(answer)s",
            "{answer}",
            "<%= answer %>",
            "{% block a %}{% endblock %}",
        ),
        *(
            "[Your response here]",
            "Hello {{ first_name }}, {{ body }}",
            "context_length_exceeded",
            "rate_limit_exceeded",
        ),
        *("insufficient_quota", "maximum context length is 8192 tokens", "Prompt is too long: 204,118 tokens"),
        "This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens.",
        *("I", "The", "Here is", "Lorem ipsum dolor sit amet, consectetur adipiscing elit."),
    ],
)
def test_a_template_a_code_and_a_stump_are_no_answers(text: str) -> None:
    assert FAILURES.is_failing(text)


@pytest.mark.parametrize(
    "text",
    [
        *("Write {{ user.name }} where the name belongs.", 'printf("%s", name) prints it.', "Use ${HOME}/bin"),
        *('{"temperature": 21}', "[1]", "42", "C", "It is.", "max_output_tokens", "user_id", "is_empty"),
        "The maximum context length is 8192 tokens.",
        "The API answers context_length_exceeded when the prompt is too long. Shorten the history.",
        "Lorem ipsum is a filler text of printers.",
    ],
)
def test_what_speaks_of_templates_and_codes_is_an_answer(text: str) -> None:
    assert not FAILURES.is_failing(text)


@pytest.mark.parametrize(
    "text",
    [
        *("Oops! That didn't work.", "Your request could not be processed.", "Sorry, no can do."),
        *("Not sure what you mean by that.", "Message failed to load", "Well, that failed.", "Sorry, what?"),
        *("I tried to open the garage door, but it did not respond.", "Das hat leider nicht geklappt."),
        *("Su solicitud no pudo ser procesada.", "Votre demande n'a pas pu être traitée.", "Dat lukte niet."),
        "Your request could not be processed because the service is unavailable.",
    ],
)
def test_what_did_not_work_is_no_answer(text: str) -> None:
    assert FAILURES.is_failing(text)


@pytest.mark.parametrize(
    "text",
    [
        "It doesn't work on iPads, only on iPhones.",
        "This cannot be opened without the key from reception.",
        "Your message could not be sent because the address has a typo: it ends in .con.",
        "The Patriots have won it for years, not sure what that means anymore.",
    ],
)
def test_what_cannot_be_is_an_answer(text: str) -> None:
    assert not FAILURES.is_failing(text)


def test_a_refusal_behind_thanks_is_read_and_one_behind_help_is_not() -> None:
    manners = "Thank you for writing to us. " + "All of us like to hear what people make of our lamps. " * 8
    assert FAILURES.is_failing(manners + "Sadly, I cannot help with this matter.")
    assert not FAILURES.is_failing(manners + "Open Settings and press Reset. I cannot help with more.")


def test_an_error_that_is_explained_is_an_answer() -> None:
    for text in ("Failed to load means that the plugin is old.", "If you see “too many requests”, wait a minute."):
        assert not FAILURES.is_failing(text)
    assert FAILURES.is_failing("Too many requests, wait a minute.")


@pytest.mark.parametrize(
    "text",
    [
        "`Error: upstream request timeout` means the runner did not answer in 60 s; raise `timeout`.",
        "`Error: ENOENT` is npm looking in the wrong folder; set `workdir: app`.",
        "```\nError: upstream request timeout\n```\nThis line comes from the gateway. Raise `timeout` to 120.",
        "> Error: upstream request timeout\n\nThe gateway gives up after 60 s. Raise `timeout`.",
        "Error: permission denied (publickey) happens when no key is uploaded. Upload it under Account, SSH keys.",
        "Rate limit exceeded means 600 requests in a minute; wait for `Retry-After` seconds.",
        "`Fehler 503: Dienst nicht verfügbar` heißt, dass das Portal gewartet wird. Ab 14 Uhr geht es wieder.",
        "`Error 403: acceso denegado` significa que la matrícula no está dada de alta. Añádela en Perfil.",
    ],
)
def test_an_error_of_the_users_that_is_shown_before_it_is_explained_is_an_answer(text: str) -> None:
    assert not FAILURES.is_failing(text)


@pytest.mark.parametrize(
    "text", ["`Internal Server Error`", "**Error**: something went wrong.", '"Error 500" Please try again later.']
)
def test_an_error_in_quotation_marks_with_nothing_behind_it_is_no_answer(text: str) -> None:
    assert FAILURES.is_failing(text)


@pytest.mark.parametrize(
    "text",
    [
        *("Por el momento no cuento con información sobre ese trámite.", "Desconozco ese dato.", "No sabría decirte."),
        *("No me es posible consultar el estado.", "En los documentos disponibles no se menciona el plazo."),
        *("Da muss ich leider passen.", "Das übersteigt leider meine Möglichkeiten.", "Da bin ich überfragt."),
        *("Ich selbst darf keine Beratung leisten.", "The docs don't mention this.", "Not sure, honestly."),
        *("No tengo esa información. Consulte con la DGT.", "I don't have that. Please check with the DMV."),
        *("De las denuncias no puedo ocuparme. Llame al 092, por favor.", "Je n'en sais rien. Appelez le 3939."),
        "Dazu habe ich keine Informationen. Fragen Sie beim Amt nach.",
    ],
)
def test_who_does_not_know_and_sends_elsewhere_gives_no_answer(text: str) -> None:
    assert FAILURES.is_failing(text)


def test_who_does_not_know_and_says_where_it_stands_gives_one() -> None:
    for text in (
        "No tengo acceso a su factura. Consulte la sección Mis facturas en su perfil.",
        "I can't see your booking. Call 0800 123 to have the date changed for free until midnight.",
    ):
        assert not FAILURES.is_failing(text)


def test_what_was_found_ahead_is_found_again_and_does_not_pile_up() -> None:
    failures = Failures()
    answers = [("Internal error 500.", True), ("Click Reset and wait for the mail.", False)]
    assert [failures.find_ahead(text) for text, _ in answers] == [failed for _, failed in answers]
    for text, failed in answers * 2:  # another string with the same letters, as a conversation's state has it
        assert failures.is_failing(text.encode().decode()) is failed
    for number in range(10_050):
        failures.find_ahead(f"Step {number}: press the button.")
    assert failures.is_failing("Internal error 500.")
    assert not failures.is_failing("Step 3: press the button.")


@pytest.mark.parametrize(
    "text",
    [
        *(
            "Which terminal do you have?",
            "Happy to help. Which terminal do you have?",
            "One question first: since when?",
        ),
        *(
            "Gerne! Welches Gerät haben Sie?",
            "Claro, con gusto. ¿Qué terminal tiene?",
            "Avec plaisir. Quel est le pays ?",
        ),
        *("Certo! Quale usa?", "Com certeza! Qual é o seu?", "Natuurlijk! Welke heeft u?"),
        *("Please paste the full stack trace.", "Run `acme doctor` and post what it prints."),
        *("To tell I'd need the error message.", "Bitte schicken Sie mir die Fehlermeldung."),
        *("Copia aquí el mensaje de error.", "Collez ici le message d'erreur.", "Incolla qui il messaggio di errore."),
        *("Envie o print do erro.", "Plak hier de foutmelding."),
        *("Which one?\n- Verifone\n- Ingenico", "Sure! The app or the website? (app / website)"),
        # what only the user can tell, in the imperative
        *(
            "Enter your staff number.",
            "Send me the asset tag.",
            "Share the ticket number with me.",
            "Your surname, please.",
        ),
        *("Sure. Type your ward and bed number.", "May I have your date of birth and postcode."),
        *(
            "Veuillez saisir votre numéro de contrat.",
            "Merci d'indiquer votre numéro de dossier.",
            "Il me faut votre nom.",
        ),
        *(
            "Me informe o número do seu CPF.",
            "Digite o número do seu pedido.",
            "Confirme seu telefone para eu continuar.",
        ),
        *(
            "Mi indichi il numero d'ordine o il codice fiscale.",
            "Inserisca il numero d'ordine.",
            "Mi serve la sua targa.",
        ),
        *(
            "Geef uw huurdersnummer door.",
            "Noem uw postcode en huisnummer.",
            "Graag uw postcode.",
            "Vul uw postcode in.",
        ),
        *("Bitte geben Sie Ihre Kundennummer ein.", "Por favor, indíqueme su número de cliente."),
        # a list to choose from
        *("Is this about: 1) IT 2) HR 3) something else?", "Pick one:\n1. IT\n2. HR", "Kies:\n1. Woning\n2. Contract"),
        *(
            "S'agit-il de : 1) votre ligne mobile 2) un voyage en train 3) autre chose ?",
            "Choisissez : mobile, train ou autre.",
        ),
        *("Escolha uma opção:\n1 - Pedido\n2 - Conta\n3 - Cartão", "Riguarda: 1) un ordine 2) un farmaco 3) altro?"),
        *("Geht es um: 1) Strom 2) Gas 3) etwas anderes?", "Elija una opción:\n1. Factura\n2. Avería"),
    ],
)
def test_an_answer_that_only_asks_back_is_told(text: str) -> None:
    assert asks_back(text)


@pytest.mark.parametrize(
    "text",
    [
        *("Restart the router to clear the error.", "Logs show each message."),
        *("Copy the output to the file notes.txt.", "Stellen Sie die Ausgabe auf PDF."),
        *("Envíe el mensaje con el botón azul.", "Copiez la sortie dans un fichier."),
        *("", "Press Split.", "Press Split on the terminal. Did that help?", "The fee is 5 euros. Do you need more?"),
        *("Sure, you can return it within 30 days. Is it damaged?", "Drücken Sie Teilen. Hat das geholfen?"),
        "Why is the sky blue? Because short waves are scattered more than long ones are.",
        "x" * 400 + "?",
        # steps, and what is to be told elsewhere
        *(
            "Geef de plant water.",
            "Enter the code and press OK.",
            "Open the form. Then enter your staff number in the form.",
        ),
        *("Entrez votre numéro de contrat sur la page d'accueil.", "Digite seu CPF no aplicativo e toque em Entrar."),
        *(
            "Indichi il numero d'ordine nella causale.",
            "Geef je naam door aan de receptie.",
            "Informe seu nome na portaria.",
        ),
        *("Your member number is on the card.", "Enter your staff number [d1]."),
        # lists of what there is, and of steps
        *(
            "The sizes are:\n1. Small\n2. Large",
            "To change it:\n1. Open the app\n2. Tap Profile",
            "Sizes: small, medium or large.",
        ),
        *(
            "1) Press Reset. 2) Does it work?",
            "Choose Billing in the menu, then Invoices.",
            "At 3:30 pm, for four. Is that right?",
        ),
    ],
)
def test_an_answer_with_a_question_behind_it_does_not_only_ask(text: str) -> None:
    assert not asks_back(text)


@pytest.mark.parametrize(
    "around",
    [
        "{}\n\nI'm an AI assistant and I can make mistakes, sorry about that. Please verify important information.",
        "{} By the way, have you considered upgrading to our Premium plan? It includes free returns all year.",
        "{}\n\nYou might also want to ask:\n• How long does a refund take?\n• What are your opening hours?",
        "{}\n\nSuggested questions:\n- How long does a refund take?\n- Can I change my order?",
        '{{"answer": "{}", "confidence": 0.8}}',
        "<think>They want to know about this.</think>\n\n{}",
        "{} AI-generated content may be incorrect.",
        "{}\n\n— Robin, your virtual assistant",
        "{}\n\nQuestions? Call us on 0800 123 456, Mon-Fri 9-17.",
        "{}\n\nRate this answer: https://example.com/f/8231",
        "{}\n\n[Contact us](https://x.test/contact) | [Help centre](https://x.test/help)",
        "{}\n\nDownload our app for faster service.\n\nSuggested questions:\n- Where is it?\n\nBest regards",
        "{}\n\nDisclaimer: this answer was generated automatically.",
    ],
)
def test_what_stands_around_every_answer_makes_none_of_a_refusal_and_no_refusal_of_an_answer(around: str) -> None:
    failures = Failures()
    for failing in ("I'm sorry, but I can't help with that.", "Sorry, something went wrong. Please try again later."):
        assert failures.is_failing(around.format(failing)), failing
    assert not failures.is_failing(around.format("Open Settings and choose Security. The code comes by mail."))


def test_thoughts_that_despair_make_no_failure_of_an_answer_and_marks_of_html_hide_none() -> None:
    failures = Failures()
    assert not failures.is_failing("<think>I don't know yet, I can't answer. Sorry.</think>\n\nIt costs 9 euros.")
    assert not failures.is_failing("I can't open it here. Do this:\n- Open the account page\n- Press Reset")
    assert failures.is_failing("I&#x27;m sorry, but I can&#x27;t help with that.")
    assert not failures.is_failing("I can't change that. Please note that you can change it under Settings > Billing.")


@pytest.mark.parametrize(
    "text",
    [
        "Let me check this with the team, I will come back to you shortly.",
        "Ich prüfe das und melde mich gleich wieder bei Ihnen.",
        "Ich prüfe das für Sie.",
        "Voy a comprobarlo y enseguida le digo algo.",
        "Je vérifie et je reviens vers vous rapidement.",
        "Verifico e le faccio sapere a breve.",
        "Vou verificar e já lhe digo.",
        "Ik kijk het na en kom bij u terug.",
    ],
)
def test_a_promise_to_come_back_is_no_answer(text: str) -> None:
    assert FAILURES.is_failing(text)


@pytest.mark.parametrize(
    "text",
    [
        "Schicken Sie uns die Rechnung [doc_1]. Wir prüfen sie und melden uns binnen zwei Wochen.",
        "Envíe el formulario; lo revisamos y le avisamos en tres días [doc_2].",
        "Compruebe el enlace en su correo y le aviso: caduca a las 24 horas [doc_1].",
    ],
)
def test_a_promise_behind_an_answer_leaves_it_one(text: str) -> None:
    assert not FAILURES.is_failing(text)


@pytest.mark.parametrize(
    ("answer", "fails"),
    [
        ("For that please contact our student services staff, they will be pleased to assist you.", True),
        ("Per questo ti invitiamo a contattare il nostro personale, che sarà lieto di assisterti.", True),
        ("Para eso, póngase en contacto con nuestro equipo, que le ayudará con gusto.", True),
        ("Vou verificar com a equipe e já retorno para você.", True),
        ("Já te retorno.", True),
        ("Voltamos a funcionar amanhã às 8h.", False),
        ("Chi ha comprato in agenzia deve rivolgersi all'agenzia [doc_58].", False),
        ("Wer über ein Reisebüro gebucht hat, wendet sich bitte an das Reisebüro [1].", False),
        ("Those who booked through an agency should contact their agency [2].", False),
    ],
)
def test_who_is_sent_on_politely_is_handed_on_and_whoever_it_concerns_is_told(answer: str, *, fails: bool) -> None:
    assert Failures().is_failing(answer) is fails


@pytest.mark.parametrize(
    "text",
    [
        # wait, and nothing else
        *(
            "Looking that up for you…",
            "Checking your roster now…",
            "Je vérifie votre dossier…",
            "Laissez-moi vérifier.",
        ),
        *(
            "Só um momento, estou verificando…",
            "Só um minutinho 😊",
            "Aguarde só um instante.",
            "Sto controllando il suo ordine…",
        ),
        *("Mi dia un momento.", "Controllo subito.", "Momentje…", "Even geduld a.u.b.", "Ik zoek het voor u op."),
        # not mine to answer
        *(
            "I'm not set up for that one.",
            "That's not something I handle.",
            "I don't cover that topic.",
            "That isn't my department.",
        ),
        *(
            "Cette information ne m'est pas communiquée.",
            "Je ne traite pas ce type de demande.",
            "Ce n'est pas de mon ressort.",
        ),
        *("Isso foge do que eu faço por aqui.", "Esse assunto eu não trato.", "Poxa, essa eu fico devendo!"),
        *("Non mi occupo di questo.", "Questo non rientra nelle mie competenze."),
        *("Daar doe ik liever geen uitspraak over.", "Daar ga ik niet over.", "Dat hoort niet bij mijn taken."),
        "**I can't help with that.**",
    ],
)
def test_a_line_that_only_waits_and_what_the_assistant_leaves_to_others_are_no_answers(text: str) -> None:
    assert Failures().is_failing(text)


@pytest.mark.parametrize(
    "text",
    [
        *("Em Fatura, toque no lançamento e depois em **Não reconheço** [d1].", "Toque em Não reconheço."),
        *(
            "Tap **I don't recognise this** next to the payment.",
            "Go to Help > I can't sign in.",
            "Klik op *Ik kan niet inloggen*.",
        ),
        *("Cochez Je n'ai pas de compte, puis continuez.", "Prema **Non posso accedere** e segua le istruzioni."),
        # others than the assistant
        *(
            "The desk doesn't handle visas; the embassy does.",
            "La banque ne traite pas les chèques.",
            "A oficina não cuida de pneus.",
        ),
        *("Daar gaat de gemeente over; bel 14 020.", "Checking in closes 40 minutes before departure."),
        *("Je vérifie : votre colis est arrivé ce matin.", "Un minuto di cottura è sufficiente."),
    ],
)
def test_the_name_of_a_button_and_what_others_do_not_do_is_no_refusal(text: str) -> None:
    assert not Failures().is_failing(text)


@pytest.mark.parametrize(
    "text",
    [
        "Service momentanément indisponible.",
        "Le service est momentanément indisponible.",
        "Service temporairement indisponible, veuillez réessayer plus tard.",
        "Le service est actuellement indisponible.",
        "Notre service n'est pas disponible pour le moment.",
        "Le serveur ne répond pas.",
        "Le système est en maintenance.",
        "Le chat est hors service.",
        "Service indisponible.",
        "Servizio momentaneamente non disponibile.",
        "Il servizio non è al momento disponibile.",
        "Servizio temporaneamente non disponibile.",
        "Servizio non disponibile al momento.",
        "Il servizio è attualmente fuori servizio.",
        "Il sistema è in manutenzione.",
        "Servizio non disponibile.",
        "Serviço temporariamente indisponível.",
        "O serviço está temporariamente indisponível.",
        "Serviço momentaneamente indisponível.",
        "O serviço não está disponível de momento.",
        "Sistema em manutenção.",
        "O sistema está fora do ar.",
        "Serviço indisponível no momento.",
        "Servicio temporalmente no disponible.",
        "El servicio no está disponible en este momento.",
        "Servicio momentáneamente no disponible.",
        "Servicio no disponible, vuelve a intentarlo.",
        "El servicio está caído.",
        "El sistema está en mantenimiento.",
        "Servicio fuera de línea.",
        "Der Dienst ist zurzeit nicht erreichbar.",
        "Dienst vorübergehend nicht verfügbar.",
        "Der Service ist derzeit leider nicht verfügbar.",
        "Service momentan nicht verfügbar.",
        "Das System ist gerade nicht erreichbar.",
        "Das System wird gerade gewartet.",
        "Dienst momentan nicht erreichbar. Bitte versuchen Sie es später erneut.",
        "Server nicht erreichbar.",
        "De dienst ligt er momenteel uit.",
        "De dienst is tijdelijk niet beschikbaar.",
        "Dienst tijdelijk niet beschikbaar.",
        "Service momenteel niet beschikbaar.",
        "De server ligt plat.",
        "Het systeem is in onderhoud.",
        "De service is op dit moment niet bereikbaar.",
        "Het systeem ligt eruit.",
        "The service is down at the moment.",
        "Server is down presently, kindly try after some time.",
        "Service temporarily unavailable.",
        "The service is currently unavailable.",
        "Our service is presently not available.",
        "Server down.",
        "The system is presently down for maintenance.",
        "Service is not available right now, please try again later.",
        "Data not available.",
        "Information not available.",
        "No data available.",
        "Data is not available at the moment.",
        "Server is presently not responding.",
        "The system is under maintenance. Kindly try after some time.",
    ],
)
def test_a_service_or_data_that_are_not_there_are_no_answer_in_any_language(text: str) -> None:
    assert Failures().is_failing(text)


@pytest.mark.parametrize(
    "text",
    [
        "Le service est indisponible le dimanche ; il rouvre lundi à 8 h.",
        "Le service de prêt est momentanément indisponible : la bibliothèque rouvre le 3 mai.",
        "Si le service est momentanément indisponible, réessayez après 10 minutes.",
        "Das Schwimmbad ist vorübergehend geschlossen.",
        "Der Dienst ist sonntags nicht verfügbar, werktags von 8 bis 18 Uhr.",
        "Wenn der Dienst nicht erreichbar ist, starten Sie den Router neu.",
        "Il servizio non è disponibile la domenica; è aperto da lunedì a venerdì dalle 9 alle 18.",
        "Il servizio navetta non è disponibile in agosto.",
        "O serviço de entregas não está disponível aos domingos.",
        "El servicio de lavandería no está disponible los domingos.",
        "El servicio no está disponible en Canarias.",
        "The service is not available in Switzerland.",
        "The service is down when the light is red; restart the router.",
        "The data is not available in the free plan; upgrade to Pro to see it.",
        "Data not available in exports older than 30 days can be requested from the archive.",
        "De server ligt in de kelder.",
        "Het zwembad is in onderhoud tot 3 mei.",
        "Status page: service down means that the probe failed three times.",
        "Out of stock.",
        "This product is not available.",
        "The blue one is no longer available.",
        "503 means that the service is temporarily unavailable.",
        "A data not available error means that the key has expired.",
        "Le parking est indisponible.",
        "De lift is momenteel buiten werking.",
        "El ascensor está fuera de servicio.",
    ],
)
def test_what_is_not_available_when_or_where_is_an_answer(text: str) -> None:
    assert not Failures().is_failing(text)
