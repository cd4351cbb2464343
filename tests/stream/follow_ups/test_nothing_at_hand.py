"""Answers that have nothing at hand, in seven languages, beside those that explain an error or ask for a detail."""

import pytest

from turnsignal.stream.follow_ups.failures import Failures, refuses

FAILURES = Failures()


@pytest.mark.parametrize(
    "answer",
    [
        "That's outside what I can look up here, sorry about that.",
        "That's outside what I can look up here. Please contact the team.",
        "Sorry, that is beyond what I can help with.",
        "This is outside my scope, please call us.",
        "Das liegt außerhalb dessen, was ich hier nachsehen kann, tut mir leid.",
        "Das gehört leider nicht zu dem, was ich beantworten kann.",
        "Eso está fuera de lo que puedo consultar aquí, lo siento.",
        "Esto queda fuera de mi alcance, disculpe.",
        "C'est en dehors de ce que je peux consulter ici, désolé.",
        "Cela dépasse ce que je peux vous dire, désolé.",
        "Questo va oltre ciò che posso consultare qui, mi dispiace.",
        "È al di fuori di quello che posso verificare, mi spiace.",
        "Isso está fora do que consigo consultar aqui, desculpe.",
        "Isso foge do que eu posso ver aqui, sinto muito.",
        "Dat valt buiten wat ik hier kan opzoeken, sorry.",
        "Dat ligt buiten mijn mogelijkheden, sorry.",
        "I'm afraid I don't have that information, please contact the branch.",
        "Purtroppo non ho questa informazione, la prego di contattare la filiale.",
        "Leider liegt mir diese Information nicht vor, bitte wenden Sie sich an die Filiale.",
        "Infelizmente não tenho essa informação, entre em contato com a agência.",
        "Désolé, je n'ai pas cette information, veuillez contacter l'agence.",
        "Helaas heb ik die informatie niet, neem contact op met het filiaal.",
        "Diese Angabe liegt mir nicht vor.",
        "Dazu liegt mir nichts vor.",
        "Die Daten dazu liegen uns leider nicht vor.",
        "Dazu habe ich leider keine Angaben.",
        "Das weiß ich leider nicht.",
        "Darüber kann ich Ihnen leider keine Auskunft geben.",
        "Hierzu ist mir nichts bekannt.",
        "Das entzieht sich meiner Kenntnis.",
        "Dazu fehlt mir die Information.",
        "Diese Information ist mir nicht zugänglich.",
        "No cuento con esa información.",
        "Desconozco ese dato.",
        "No tengo ese dato, lo siento.",
        "No me consta esa información.",
        "Esa información no está a mi alcance.",
        "No sabría decirle.",
        "No le puedo dar esa información.",
        "Je ne dispose pas de cette information.",
        "Je n'ai pas cette donnée.",
        "Cette information ne m'est pas accessible.",
        "Je l'ignore, désolé.",
        "Je ne saurais vous dire.",
        "Je ne peux pas vous renseigner là-dessus.",
        "Aucune information à ce sujet.",
        "Non ho questo dato.",
        "Non dispongo di questa informazione.",
        "Non sono a conoscenza di questo.",
        "Non saprei dirle.",
        "Non mi risulta alcun dato.",
        "Questa informazione non è in mio possesso.",
        "Mi manca questa informazione.",
        "Non posso darle questa informazione.",
        "Não tenho esse dado.",
        "Não disponho dessa informação.",
        "Desconheço essa informação.",
        "Não sei informar.",
        "Não saberia dizer.",
        "Não consta essa informação aqui.",
        "Die informatie heb ik niet.",
        "Daar heb ik geen gegevens over.",
        "Dat weet ik helaas niet.",
        "Ik beschik niet over die informatie.",
        "Daar kan ik niets over zeggen.",
        "Die informatie is mij niet bekend.",
        "Dat zou ik niet weten.",
        "I don't have that detail.",
        "I wouldn't know.",
        "I have no record of that.",
        "I'm not aware of any information on this.",
        "I haven't got that information to hand.",
        "That's not something I know.",
    ],
)
def test_who_has_nothing_at_hand_refuses(answer: str) -> None:
    assert FAILURES.is_failing(answer)
    assert refuses(answer)


@pytest.mark.parametrize(
    "answer",
    [
        "Interner Fehler.",
        "Interner Fehler",
        "Es ist ein interner Fehler aufgetreten.",
        "Ahora mismo no estamos disponibles",
        "En este momento no estamos disponibles. Inténtelo más tarde.",
        "Error interno.",
        "Se ha producido un error interno.",
        "Si è verificato un errore interno",
        "Errore interno del server",
        "Al momento non siamo disponibili",
        "Ocorreu um erro interno",
        "Erro interno.",
        "De momento não estamos disponíveis.",
        "Une erreur interne est survenue",
        "Erreur interne",
        "Nous ne sommes pas disponibles pour le moment.",
        "Er is een interne fout opgetreden",
        "Interne fout",
        "Op dit moment zijn wij niet beschikbaar.",
        "We are not available right now.",
        "Internal error",
        "Internal server error.",
        "Wir sind derzeit nicht erreichbar.",
    ],
)
def test_what_is_down_or_breaks_fails(answer: str) -> None:
    assert FAILURES.is_failing(answer)


@pytest.mark.parametrize(
    "answer",
    [
        "Error 403 means that your account has no access yet: ask your admin to grant you the role.",
        "Error 500 means the server had a problem; reload the page and try again in a minute.",
        "Fehler 403 bedeutet, dass Ihr Konto noch keinen Zugriff hat. Bitten Sie Ihren Administrator um die Rolle.",
        "El error 404 significa que la página ya no existe; búscala desde el menú.",
        "L'erreur 502 signifie que le serveur est surchargé, réessayez dans quelques minutes.",
        "L'errore 403 significa che il suo account non ha ancora i permessi: li chieda all'amministratore.",
        "O erro 403 significa que a sua conta ainda não tem acesso.",
        "Fout 403 betekent dat je account nog geen toegang heeft.",
        "If you see an internal error, log out and in again.",
        "If an internal error occurs, restart the router and wait two minutes.",
        "Please contact your bank to raise the limit; they can do it by phone in a minute.",
        "You cannot cancel online, please contact the branch on 0203 4567.",
        "Das liegt außerhalb der Stadt, nehmen Sie den Bus 12.",
        "That is outside the EU, so you need a passport.",
        "Eso está fuera del plazo, así que tiene que pagar la multa de 12 euros.",
        "Isso está fora da garantia, o conserto custa 80 reais.",
        "The hotel is outside what is called the old town; take tram 4.",
        "Ihnen liegt der Bescheid noch nicht vor, er kommt in drei Tagen per Post.",
        "Wenn Ihnen die Nummer nicht vorliegt, hilft auch der Name.",
        "Se non ha questo dato, basti il codice fiscale.",
        "Si no tiene ese dato, basta con su nombre.",
        "Das Formular liegt im Bürgerbüro aus, nicht online.",
        "You don't need that information, just your name.",
        "Si vous n'avez pas cette donnée, votre nom suffit.",
        "Se não tem esse dado, basta o nome.",
        "Als u die informatie niet heeft, volstaat uw naam.",
    ],
)
def test_what_explains_an_error_or_needs_a_detail_is_an_answer(answer: str) -> None:
    assert not FAILURES.is_failing(answer)


@pytest.mark.parametrize(
    "answer",
    [
        (
            "Thanks for asking! The course starts on 3 May and lasts six weeks. For anything else, please "
            "contact our office."
        ),
        (
            "Thank you for your message. Parcels to Malta take five to seven days. I can't see where yours "
            "is right now, the tracking page shows it."
        ),
        "Thanks for your question. Choose Export in the File menu and pick CSV. If it fails, please call support.",
        (
            "Thank you for reaching out! A duplicate licence costs 20 euros and is issued the same day at "
            "counter 4. I can't issue it in this chat."
        ),
        "Thanks! The filter has to be changed every six months. Our service team can do it for you.",
        (
            "Vielen Dank für Ihre Frage. Der Kurs beginnt am 3. Mai und dauert sechs Wochen. Für alles "
            "Weitere wenden Sie sich bitte an das Sekretariat."
        ),
        (
            "Danke für Ihre Nachricht! Wählen Sie im Menü Datei den Punkt Exportieren. Falls das nicht "
            "klappt, rufen Sie unseren Support an."
        ),
        (
            "Danke für die Anfrage. Der Filter muss alle sechs Monate gewechselt werden. Ihren Auftrag kann "
            "ich hier nicht einsehen."
        ),
        (
            "Gracias por su pregunta. El curso empieza el 3 de mayo y dura seis semanas. Para más detalles, "
            "contacte con la secretaría."
        ),
        "Gracias por escribir. Elija Exportar en el menú Archivo. No puedo ver su cuenta desde este chat.",
        (
            "Merci pour votre question. Le filtre se change tous les six mois. Pour le reste, appelez notre "
            "service technique."
        ),
        (
            "Merci de votre message. Un duplicata coûte 20 euros et s'obtient au guichet 4. Je ne peux pas "
            "le délivrer ici."
        ),
        "Grazie per la domanda. Il corso inizia il 3 maggio e dura sei settimane. Per altro contatti la segreteria.",
        "Grazie per averci scritto. Scelga Esporta nel menu File. Non posso vedere il suo account da qui.",
        (
            "Obrigado pela pergunta. O curso começa em 3 de maio e dura seis semanas. Para mais detalhes, "
            "fale com a secretaria."
        ),
        (
            "Bedankt voor uw vraag. Het filter moet elk half jaar vervangen worden. Voor de rest kunt u "
            "onze klantenservice bellen."
        ),
        "Bedankt voor uw bericht. De cursus begint op 3 mei en duurt zes weken. Ik kan uw inschrijving hier niet zien.",
        (
            "Thanks for your question! Dogs are welcome on the terrace but not inside. For groups, please "
            "call the restaurant manager."
        ),
        (
            "Thank you for asking. The paint dries within four hours and can be recoated the next day. Our "
            "specialists can advise you on colours."
        ),
        (
            "Thanks for the message. Turn the valve to the left until water comes out. I can't send a "
            "technician from here."
        ),
        (
            "Danke für die Frage! Hunde dürfen auf die Terrasse, aber nicht hinein. Für Gruppen rufen Sie "
            "bitte unser Team an."
        ),
        (
            "Vielen Dank für Ihre Nachricht. Drehen Sie das Ventil nach links, bis Wasser kommt. Einen "
            "Techniker kann ich von hier nicht schicken."
        ),
        "Gracias por preguntar. Los perros pueden estar en la terraza. Para grupos llame a nuestro equipo.",
        (
            "Gracias por su mensaje. Gire la válvula a la izquierda hasta que salga agua. No puedo enviarle "
            "un técnico desde aquí."
        ),
        "Merci pour la question. Les chiens sont admis en terrasse. Pour les groupes, appelez notre équipe.",
        "Merci de votre message. Tournez la vanne vers la gauche. Je ne peux pas envoyer de technicien d'ici.",
        "Obrigado pela pergunta. Cães são bem-vindos na varanda. Para grupos, ligue para nossa equipe.",
        "Bedankt voor de vraag. Honden mogen op het terras. Voor groepen kunt u ons team bellen.",
    ],
)
def test_thanks_before_an_answer_do_not_make_it_an_automatic_reply(answer: str) -> None:
    assert not FAILURES.is_failing(answer)


@pytest.mark.parametrize(
    "answer",
    [
        (
            "Thanks for getting in touch! Due to high demand replies may take longer. We will come back to "
            "you as soon as we can."
        ),
        "Thank you for writing to us. Your satisfaction is our mission. Someone from the team will be in contact.",
        "Thanks for your message. This mailbox is monitored on weekdays. A specialist will reply to you.",
        "Thank you for your question! We are proud to serve over 10,000 customers. Sadly I can't answer that.",
        "Hello! Thanks for choosing Northwind. Our agents are currently busy. Please wait, one of them will help you.",
        "Vielen Dank für Ihre Geduld. Derzeit erreichen uns viele Anfragen. Wir melden uns bei Ihnen.",
        (
            "Danke, dass Sie uns schreiben. Qualität steht bei uns an erster Stelle. Ein Mitarbeiter "
            "kümmert sich um Ihr Anliegen."
        ),
        "Danke für die Frage! Wir sind seit 1950 für Sie da. Das kann ich leider nicht beantworten.",
        "Gracias por su paciencia. En este momento hay mucha demanda. Un compañero le contestará pronto.",
        "Gracias por escribirnos. La calidad es nuestro compromiso. Le responderemos lo antes posible.",
        "Merci pour votre patience. Nos délais sont actuellement plus longs. Un collègue reviendra vers vous.",
        "Merci pour cette question. La qualité est notre engagement depuis 1980. Je ne peux pas y répondre.",
        "Grazie per la pazienza. In questo momento riceviamo molte richieste. Un collega la ricontatterà.",
        "Obrigado pela paciência. No momento temos muitas solicitações. Um colega entrará em contato.",
        "Bedankt voor uw geduld. Op dit moment is het erg druk. Een collega neemt contact met u op.",
        "Thank you for your patience. All advisers are helping other callers. We'll get back to you shortly.",
        "Thanks for writing in! Every voice counts. Someone from our side will contact you tomorrow.",
        "Thank you for the question! We love hearing from travellers. That is something I can't help with.",
        "Danke für Ihr Interesse. Aufgrund der vielen Anfragen dauert es länger. Unser Team meldet sich bei Ihnen.",
        "Vielen Dank für die Frage! Wir freuen uns über jeden Kontakt. Dazu kann ich leider nichts sagen.",
        "Gracias por su interés. Cada cliente cuenta. Un asesor le contactará mañana.",
        "Merci de votre intérêt. Chaque client compte. Un conseiller vous rappellera demain.",
        "Grazie per l'interesse. Ogni cliente conta. Un nostro consulente la richiamerà domani.",
        "Obrigado pelo interesse. Cada cliente conta. Um consultor entrará em contato amanhã.",
        "Bedankt voor uw interesse. Elke klant telt. Een adviseur neemt morgen contact met u op.",
        "Thank you for contacting us. We value your feedback. A colleague will get back to you within 24 hours.",
        "Thank you for your message! Your request is important to us. Our team will reply as soon as possible.",
        (
            "Thanks for reaching out. We have received your request and created ticket 4711. Our agents "
            "will contact you shortly."
        ),
        (
            "Thank you for contacting Acme. Our opening hours are Monday to Friday, 9 to 5. A member of our "
            "team will be in touch."
        ),
        "Thanks for your patience. We are experiencing high volumes at the moment. Somebody will be with you soon.",
        "Thank you for your question. Our customers matter to us. Unfortunately I can't help with that.",
        (
            "We appreciate your interest. Acme offers a wide range of products for home and garden. I'm "
            "afraid I cannot answer that."
        ),
        "Thank you for contacting us. Please have your customer number ready. An agent will call you back.",
        (
            "Vielen Dank für Ihre Nachricht. Ihre Zufriedenheit ist uns wichtig. Unser Team meldet sich in "
            "Kürze bei Ihnen."
        ),
        (
            "Vielen Dank für Ihre Anfrage. Wir haben Ihre Anfrage unter der Nummer 4711 erfasst. Ein "
            "Kollege wird sich bei Ihnen melden."
        ),
        "Danke für Ihre Frage. Unsere Kunden liegen uns am Herzen. Leider kann ich Ihnen dabei nicht helfen.",
        "Gracias por contactarnos. Su opinión es muy importante para nosotros. Nuestro equipo le responderá en breve.",
        (
            "Gracias por su mensaje. Hemos registrado su solicitud con el número 4711. Un agente se pondrá "
            "en contacto con usted."
        ),
        "Gracias por su pregunta. Trabajamos cada día para mejorar. Lamentablemente no puedo ayudarle con eso.",
        "Merci de nous avoir contactés. Votre satisfaction est notre priorité. Notre équipe vous répondra rapidement.",
        "Merci pour votre message. Votre demande a été enregistrée sous le numéro 4711. Un conseiller vous contactera.",
        "Merci pour votre question. Nous avons à cœur de vous satisfaire. Malheureusement, je ne peux pas vous aider.",
        "Grazie per averci contattato. La tua opinione conta per noi. Il nostro team ti risponderà al più presto.",
        "Grazie per la domanda. I nostri clienti sono al centro. Purtroppo non posso aiutarla.",
        "Obrigado pelo contato. Sua opinião é muito importante para nós. Nossa equipe responderá em breve.",
        "Obrigado pela pergunta. Trabalhamos para melhorar todos os dias. Infelizmente não posso ajudar com isso.",
        "Bedankt voor uw bericht. Uw mening is belangrijk voor ons. Ons team neemt zo snel mogelijk contact met u op.",
        "Bedankt voor uw vraag. Wij staan voor u klaar. Helaas kan ik u daar niet mee helpen.",
    ],
)
def test_an_automatic_reply_is_no_answer(answer: str) -> None:
    assert FAILURES.is_failing(answer)


def test_what_a_colon_leads_over_to_helps_with_what_stands_before_it() -> None:
    told = "Nachzahlungen können Sie in bis zu sechs Raten zahlen: im Portal unter Rechnung, Raten beantragen."
    limited = " Ihr Konto kann ich von hier aus nicht sehen."
    assert not FAILURES.is_failing(told + limited)
    assert FAILURES.is_failing(
        "Zu Ihrer Frage nach den Öffnungszeiten am Sonntag: leider weiß ich das nicht." + limited
    )
