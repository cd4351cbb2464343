import tomllib
from importlib.resources import files

import pytest

from turnsignal.stream.conversations.exchanges import Exchange
from turnsignal.stream.errors import ConfigError
from turnsignal.stream.follow_ups.rules import FollowUp, FollowUpReading, FollowUpRules
from turnsignal.stream.records.scores import Unscored
from turnsignal.stream.text.languages import is_english

RULES = FollowUpRules()
PROMPT = "Which plan includes phone support?"
ANSWER = "Phone support comes with the Gold plan, weekdays from nine to five. The Silver plan has e-mail only."
OFFER = "I found a table at Luigi's at seven. Would you like me to book it?"
REFUSAL = "I am sorry, I could not find any plan with phone support on Sundays."


def read(follow_up: str, response: str = ANSWER, prompt: str = PROMPT, before: str = "") -> FollowUpReading:
    return RULES.read(Exchange(prompt, response, follow_up, before))


def test_saying_what_was_meant_is_a_correction_worth_a_fifth() -> None:
    reading = read(
        "No, I meant resetting the password, not changing account settings",
        "Open the account settings to change your details.",
        "How do I reset my password?",
    )
    assert reading.label is FollowUp.CORRECTION
    assert reading.strict == reading.precision == 0.2
    assert reading.clarification
    assert reading.confidence > 0.7
    assert reading.decided_by == "rules"


def test_asking_for_a_neighbouring_case_is_related_and_high() -> None:
    reading = read(
        "What about partial refunds?", "Refunds are paid within 30 days of purchase.", "What is the refund policy?"
    )
    assert reading.label is FollowUp.RELATED
    assert reading.strict >= 0.8
    assert not reading.clarification


EXAMPLES = {
    FollowUp.CORRECTION: [
        "No, I meant the plan for families",
        "That's wrong, Gold ended last year",
        "I was talking about the European plans",
        "Sorry, I should have said the 2023 price list",
        "Not the price, the phone number",
        "I wanted the opening hours, not the plan",
        "Actually, I meant support by chat",
        "I disagree, Silver has a phone line too",
        "Are you sure?",
        "But what happens on holidays?",
        "Nein, ich meinte den Tarif für Firmen",
    ],
    FollowUp.ADJUSTMENT: [
        "Can you search for chat support instead?",
        "Show me only plans under ten euros",
        "Do you have any other options?",
        "Is there something cheaper?",
        "I'm looking for a plan without a contract",
        "I would prefer a yearly plan",
        "I don't like that one",
        "Could you look up the student plans",
    ],
    FollowUp.REPEAT: [
        "Which plan includes phone support?",
        "which plan includes phone support",
        "As I said, which one has a phone line?",
        "You didn't answer my question",
        "Please check again",
        "I already told you that I need a phone line",
        "Which of the plans includes the phone support?",
        "My question was which plan has a phone line",
    ],
    FollowUp.MISUNDERSTANDING: [
        "That is not what I asked",
        "You misunderstood me",
        "That doesn't make sense",
        "What do you mean?",
        "I'm confused, is Gold the cheap one?",
        "I don't understand your answer",
        "I never asked about e-mail",
        "So you mean Silver has none?",
        "huh?",
    ],
    FollowUp.FRUSTRATION: [
        "This is useless",
        "You are not helpful at all",
        "Stop wasting my time",
        "Let me talk to a human",
        "For the third time, phone support!",
        "This is so frustrating",
        "I give up",
        "WHY IS THIS SO HARD!!!",
    ],
    FollowUp.MORE_DETAIL: [
        "Can you give me more details?",
        "Tell me more about the Gold plan",
        "Why is that?",
        "How does that work?",
        "Could you explain the part on weekdays",
        "Please elaborate",
        "Can you give an example?",
    ],
    FollowUp.RELATED: [
        "What about e-mail support?",
        "How about the weekend?",
        "And for companies?",
    ],
    FollowUp.REFORMAT: [
        "Can you put that in a table?",
        "Summarize it please",
        "As a bullet list",
        "Make it shorter",
        "Translate it to Spanish",
        "Rewrite this as an e-mail to my boss",
        "Could you draw a chart of the plans as a diagram",
    ],
    FollowUp.BUILDING: [
        "Great, now book the Gold plan for me",
        "Now compute the yearly cost",
        "Based on that, which one would fit ten people",
        "What if we are twenty people",
        "Can you also send me the contract",
        "Yes, please go ahead",
        "Then let us upgrade",
    ],
    FollowUp.THANKS: [
        "Thanks!",
        "Thank you so much, that helped",
        "Perfect",
        "Got it",
        "ok great",
        "That makes sense",
        "Merci beaucoup",
        "👍",
    ],
    FollowUp.NEW_TOPIC: [
        "By the way, my invoice is late",
        "Different question: who owns your company",
        "On another note, do you sell routers",
        "Let's move on to billing",
        "Forget that, start over",
    ],
}


@pytest.mark.parametrize(("label", "text"), [(label, text) for label, texts in EXAMPLES.items() for text in texts])
def test_follow_up_is_read_as(label: FollowUp, text: str) -> None:
    assert read(text).label is label


def test_a_new_constraint_without_a_hint_of_an_error_counts_only_under_the_strict_policy() -> None:
    reading = read("Can you search for chat support instead?")
    assert reading.strict == 0.35
    assert reading.precision == 0.75
    assert reading.clarification


def test_trying_another_way_after_a_refusal_hints_at_an_error() -> None:
    reading = read("How about Saturdays?", REFUSAL)
    assert reading.label is FollowUp.ADJUSTMENT
    assert reading.precision == reading.strict == 0.35
    assert read("How about Saturdays?").label is FollowUp.RELATED


@pytest.mark.parametrize(
    "demand", ["Please paste the full stack trace.", "I'd need the error message.", "Bitte schicken Sie mir das Log."]
)
def test_an_error_that_was_asked_for_is_no_complaint(demand: str) -> None:
    for pasted in ("Traceback (most recent call last):", "npm ERR! could not resolve", "exit status 137"):
        assert read(pasted, "Set the registry in .npmrc.", "my deploy fails").clarification
        assert not read(pasted, demand, "my deploy fails").clarification


def test_what_is_complained_of_behind_a_step_with_a_log_in_it_is_a_complaint() -> None:
    for step in ("Run make. Then copy the output to the file notes.txt.", "Attach the screenshot to your claim there."):
        assert read("Error: permission denied", step, "How do I keep the log?").clarification
        assert read("there is no such button", step, "How do I keep the log?").clarification


def test_no_rejects_an_answer_and_turns_a_proposal_down_without_hinting_at_an_error() -> None:
    assert read("No, it is the Bronze plan").label is FollowUp.CORRECTION
    for text in ("No, what is the phone number?", "No", "Not really"):
        reading = read(text, OFFER, "Find me a table")
        assert reading.label is FollowUp.ADJUSTMENT, text
        assert (reading.strict, reading.precision) == (0.35, 0.75)
        assert reading.confidence < read("No, I meant chat").confidence, "a judge should be asked sooner"


def test_no_to_an_offer_of_more_rejects_nothing() -> None:
    for offer in (
        "Gold has phone support. Would you like to know more about the Silver plan?",
        "Gold has phone support. Do you have any other questions?",
        "Gold has phone support. Is there anything else I can do?",
        "Gold has phone support. Would you like me to explain the prices?",
    ):
        assert not read("No, what does it cost?", offer).clarification, offer


def test_not_knowing_a_suggestion_but_being_open_to_it_rejects_nothing() -> None:
    suggestion = "Have you read The Glass Orchard?"
    for text in (
        "No, what is it about?",
        "No, I'll check it out",
        "Nope, sounds interesting",
        "no but I want to read it",
    ):
        assert not read(text, suggestion, "I like novels").clarification, text
    assert read("No", suggestion, "I like novels").label is FollowUp.ADJUSTMENT


def test_a_suggestion_turned_down_is_an_adjustment() -> None:
    suggestion = "You might like The Glass Orchard, a family saga."
    for text in (
        "I'll pass on that",
        "That sounds boring",
        "It's too slow for me",
        "I'm not really into sagas",
        "I don't think my wife would like it",
        "It wasn't very good",
    ):
        assert read(text, suggestion, "I like novels").label is FollowUp.ADJUSTMENT, text


def test_dropping_a_condition_after_a_refusal_is_another_way_to_ask() -> None:
    for text in (
        "The day doesn't matter",
        "Any weekday would be fine",
        "Could you try Saturday",
        "I have no preference",
    ):
        reading = read(text, REFUSAL)
        assert reading.label is FollowUp.ADJUSTMENT, text
        assert reading.precision == 0.35


def test_yes_or_thanks_said_twice_is_no_repeat() -> None:
    for text in ("Yes, that works for me.", "Perfect thanks", "Yes. It is good for me.", "No, thank you very much"):
        assert read(text, "It is booked. Anything else?", text).label is not FollowUp.REPEAT, text


def test_a_detail_that_the_assistant_asked_for_is_no_repeat() -> None:
    question, asked = "I want to find a plan", "Where do you want to find a plan?"
    assert not read("I want to find a plan in Norway", asked, question).clarification
    assert read("I want to find a plan in Norway", "Gold is a plan.", question).label is FollowUp.REPEAT


def test_a_want_restates_the_question_only_where_there_was_one() -> None:
    assert read("I'm looking for the student plans").label is FollowUp.ADJUSTMENT
    assert not read("I'm looking for the student plans", "Hello, nice to meet you.", "Hi there").clarification


def test_words_that_only_look_like_a_complaint_are_none() -> None:
    for text in (
        "Does Gold offer more phone support than Silver?",
        "Why do people choose Gold rather than Silver?",
        "What happens when the hotline does not answer?",
        "What does the Gold plan have to do with roaming?",
        "That is what I needed, thanks",
        "Is e-mail support for admins only?",
        "What's not included?",
        "Really? I had no idea, tell me more about Gold",
        "My last provider was a stupid company, does Gold cost less?",
    ):
        assert not read(text).clarification, text


def test_an_answer_with_a_no_in_it_says_little_of_the_question() -> None:
    reading = read("I don't have the number with me", "Sure. What is your customer number?", "I want to upgrade")
    assert reading.label is FollowUp.OTHER
    assert not reading.clarification
    assert read("Does Gold not cost more?").unscored is Unscored.NO_SIGNAL


def test_leaving_politely_after_a_refusal_or_a_proposal_is_no_thanks() -> None:
    for response in (REFUSAL + " Anything else?", OFFER):
        reading = read("No, thank you.", response)
        assert reading.label is FollowUp.OTHER, response
        assert not reading.clarification
    assert read("No, thank you.", ANSWER + " Anything else?").label is FollowUp.THANKS


def test_asking_for_suggestions_wishes_for_nothing_else() -> None:
    assert not read("Do you have any suggestions?").clarification
    assert read("Do you have other suggestions?").label is FollowUp.ADJUSTMENT


def test_losing_the_thread_is_a_misunderstanding() -> None:
    for text in ("What does that have to do with my question?", "Wait, what?", "Can you say that again?", "um huh"):
        assert read(text).label is FollowUp.MISUNDERSTANDING, text


def test_a_contrast_needs_no_comma() -> None:
    for text in (
        "Tell me about 2019 not 2021",
        "I need the women's not the men's",
        "I'd like to know the price of Gold in euros",
    ):
        assert read(text).clarification, text


def test_no_to_a_request_for_confirmation_is_a_correction() -> None:
    confirm = "Please confirm: two seats on Friday. Is that correct?"
    assert read("No, three seats", confirm, "Book seats").label is FollowUp.CORRECTION


def test_declining_politely_is_no_complaint() -> None:
    for text in ("No thanks", "No, that's all", "Not right now", "No, not yet"):
        assert not read(text, OFFER, "Find me a table").clarification, text


def test_polite_preface_does_not_hide_a_correction() -> None:
    assert read("Thanks, but I meant the family plan").label is FollowUp.CORRECTION


def test_the_same_question_about_another_thing_is_no_repeat() -> None:
    assert (
        read("What is the trace of a matrix?", "It is …", "What is the rank of a matrix?").label is not FollowUp.REPEAT
    )


def test_a_question_asked_again_with_a_detail_is_a_repeat() -> None:
    reading = read(
        "When did the first Moon Pirates film come out?", "In 1987.", "When did the first Moon Pirates come out?"
    )
    assert reading.label is FollowUp.REPEAT


def test_the_prompt_before_the_last_counts_as_repeated_too() -> None:
    assert read("Where are the old invoices?", before="Where are the old invoices?").label is FollowUp.REPEAT


def test_a_typographic_or_lost_apostrophe_is_read_like_a_plain_one() -> None:
    for text in (
        "That doesn't make sense",
        "That doesn’t make sense",
        "That doesn`t make sense",
        "that doesnt make sense",
    ):
        assert read(text).label is FollowUp.MISUNDERSTANDING, text


def test_someone_who_always_writes_in_capitals_does_not_shout() -> None:
    assert read("GIVE ME MORE DETAILS PLEASE!", prompt="WHICH PLAN HAS PHONE SUPPORT").label is FollowUp.MORE_DETAIL


def test_the_suite_sets_the_values() -> None:
    rules = FollowUpRules(strict={"adjustment": 0.5}, precision={"adjustment": 1})
    reading = rules.read(Exchange(PROMPT, ANSWER, "Can you search for chat support instead?"))
    assert (reading.strict, reading.precision) == (0.5, 1.0)


@pytest.mark.parametrize("values", [{"correction": 1.5}, {"correction": -0.1}, {"complaint": 0.2}])
def test_a_wrong_label_or_value_in_the_suite_is_named(values: dict[str, float]) -> None:
    with pytest.raises(ConfigError, match=next(iter(values))):
        FollowUpRules(strict=values)


def test_confidence_is_what_was_measured_of_the_rule_or_else_of_its_kind() -> None:
    measured = tomllib.loads(
        files("turnsignal.stream.follow_ups").joinpath("confidences.toml").read_text(encoding="utf-8")
    )
    seen = read("ValueError: invalid literal for int()")
    assert seen.confidence == measured["rules"][seen.explanation]["confidence"]
    unseen = read("WHY IS THIS SO HARD!!!")
    assert unseen.explanation not in measured["rules"]
    assert unseen.confidence == measured["clarifying"]


def test_what_no_rule_recognises_is_unscored_and_counts_as_free_of_clarification() -> None:
    for text in (
        "Does Gold cost a lot?",
        "Is it available in Norway?",
        "Recommend good bakeries near Lisbon harbour",
        "🤔",
    ):
        reading = read(text)
        assert reading.unscored is Unscored.NO_SIGNAL, text
        assert reading.strict is reading.precision is None
        assert reading.clarification_free == 1.0


def test_a_language_that_the_rules_do_not_read_is_unscored_and_says_nothing_of_clarifications() -> None:
    for text in (
        "नहीं, यह गलत है, मेरा मतलब दूसरा था",
        "電話のサポートはありますか",
        "전화 지원이 있나요",
        "Nie, to nie jest to, o co pytałem",
        "Hayır, bunu sormadım",
        "Không, ý tôi là gói vàng",
        "tidak, bukan itu maksud saya",
        "Det var inte vad jag menade",
    ):
        reading = read(text)
        assert reading.unscored is Unscored.LANGUAGE, text
        assert reading.strict is reading.clarification_free is None


def test_an_empty_follow_up_is_no_follow_up() -> None:
    assert read(" \n\t").unscored is Unscored.NOT_APPLICABLE


def test_a_language_that_is_read_is_not_taken_for_another() -> None:
    for text in (
        "Am I able to reserve a seat?",
        "Was kostet der Versand in die Schweiz?",
        "¿Cuánto cuesta el envío a Perú?",
        "Combien coûte la livraison ?",
        "Quanto custa o envio?",
        "Quanto costa la spedizione?",
        "Wat kost de verzending naar Gent?",
        "ERR_CONN_RESET 0x80070005",
    ):
        assert read(text).unscored is not Unscored.LANGUAGE, text


EVERYDAY = {
    "did not work": [
        "The phone light stays on, doesn't work",
        "still no dial tone",
        "got zero results",
        "no luck so far",
    ],
    "already tried": ["I already rebooted it twice", "did that, no change", "that was the first thing I tried"],
    "wrong data": [
        "That's last month's table",
        "wrong quarter",
        "those numbers don't match our ledger",
        "this is outdated",
    ],
    "leaves a step out": ["You skipped the part about the licence", "there is no Billing tab", "you never said where"],
    "pasted error": ["ValueError: invalid literal for int()", "HTTP 503 Service Unavailable", "#REF!"],
    "gives up": ["never mind, I'll do it by hand", "forget it", "I'm done with this"],
    "asks for a person": ["agent please", "let me talk to a real person", "put me through to your billing team"],
    "sarcasm": ["wow, so helpful", "nice try", "thanks for nothing", "Great, now everything is broken"],
    "slang and emoji": ["ffs", "bruh this aint it", "😡", "still borked lol"],
    "typos": ["it dosnt work", "stil the same eror", "doesnt opne"],
    "others' data": ["that's somebody else's phone", "my name isn't Ruiz", "no, this is the account of a stranger"],
    "advertising": ["enough with the ads", "quit selling me things"],
    "made up": ["sounds made up to me", "Did you just make this up?"],
    "dead links": ["404", "opened it, white screen", "I only see brackets"],
}


@pytest.mark.parametrize(("kind", "text"), [(kind, text) for kind, texts in EVERYDAY.items() for text in texts])
def test_everyday_trouble_is_read_as_a_clarification(kind: str, text: str) -> None:
    assert read(text, "Open Settings and choose Restart.", "How do I get my phone line back?").clarification, kind


def test_what_only_sounds_like_trouble_goes_on() -> None:
    for text in (
        "Can somebody else's phone use it?",
        "How do I stop advertising my number?",
        "Which page do I see after the login page?",
        "It works now, thanks!",
        "What if it doesn't work on Windows?",
        "nvm, found it",
        "Why not use a table instead?",
        "By the way, my calendar doesn't show my colleague",
        "Thanks so much for your help",
        "Does the error also happen on the phone?",
        "no more drops so far, thank you",
    ):
        assert not read(text, "Open Settings and choose Restart.", "How do I get my phone line back?").clarification, (
            text
        )


def test_a_prompt_is_repeated_with_a_typo_a_stress_or_without_its_frame() -> None:
    prompt = "What is the password of the guest network?"
    for text in ("the guest network password", "guest network pasword pls", "what is the pasword of the guest netwrok"):
        assert read(text, "I have no access to that.", prompt).label is FollowUp.REPEAT, text
    assert read("the GUEST network", "The staff network is called S1.", prompt).label is FollowUp.REPEAT


@pytest.mark.parametrize(
    "said",
    [
        "it is so interesting that people were able to sell phones a hundred years ago",
        "Incredible that it doesn't need any contract",
        "I didn't know that it was that cheap!",
        "This is insane! We, the staff, make much less!",
        "My kids don't like phones",
        "I won't be working, just visiting",
        "I am worried about the winter. My family will not have heating if there is no power.",
        "A savings account is not a good investment.",
    ],
)
def test_words_about_oneself_or_the_world_hold_nothing_against_the_answer(said: str) -> None:
    assert not read(said).clarification


@pytest.mark.parametrize(
    "asked",
    [
        "Which plans do not include phone support?",
        "When does Gold not make sense?",
        "What if I can't pay by card?",
        "Why isn't there a fee on weekdays",
        "Don't I also need a contract?",
        "more plans please",
        "Anything else I should know?",
        "okay, but how does it work abroad?",
        "Wait, what is the price of Gold?",
    ],
)
def test_a_question_with_a_no_in_it_goes_on(asked: str) -> None:
    assert not read(asked).clarification


@pytest.mark.parametrize(
    "said",
    [
        "Could you clarify what e-mail only means?",
        "Didn't Gold end last year?",
        "I thought Silver had a phone line too",
        "Hm, are there really no other plans?",
        "If it's free, why was I charged?",
        "Thanks for the information, but my problem is the opening hours",
        "Not this one, the one in the north",
        "Tell me about phones not plans",
    ],
)
def test_doubts_are_read_where_the_answer_can_be_doubted(said: str) -> None:
    assert read(said).clarification


def test_where_the_assistant_did_not_know_nothing_can_be_doubted() -> None:
    unknown = "Sorry, I do not have that information."
    assert not read("Isn't it safer to call somebody?", unknown).clarification
    assert not read("What about the price of dog food?", unknown).clarification
    assert read("What about phone help on Saturdays?", unknown).label is FollowUp.ADJUSTMENT


def test_anything_else_asks_for_another_suggestion_after_a_short_one_and_for_more_after_a_long_one() -> None:
    assert read("Anything else?", "There is a table at Luigi's at seven.").label is FollowUp.ADJUSTMENT
    assert read("Anything else?", ANSWER * 3).label is FollowUp.MORE_DETAIL


@pytest.mark.parametrize(
    ("said", "clarification"),
    [
        ("Die Mail ist nicht angekommen", True),
        ("Sind Sie sicher?", True),
        ("¿Qué quiere decir eso?", True),
        ("Ce bouton n'existe pas", True),
        ("Você esqueceu um passo", True),
        ("Non ho ricevuto niente", True),
        ("Ik heb niets ontvangen", True),
        ("Und wie lange dauert das?", False),
        ("¿Y cuánto cuesta?", False),
        ("Et combien de temps ?", False),
        ("E quanto custa?", False),
        ("E quanto dura?", False),
        ("En hoe lang duurt dat?", False),
    ],
)
def test_other_languages_are_read_by_the_same_table(said: str, clarification: bool) -> None:
    reading = read(said)
    assert reading.unscored is None
    assert reading.clarification is clarification


def test_english_words_alone_leave_the_other_languages_out() -> None:
    assert is_english(["thanks", "what", "about", "the", "other", "plan"])
    assert not is_english(["no", "funciona"])
    assert not is_english(["4471", "login"])
    assert not is_english(["danke", "that", "works"])


@pytest.mark.parametrize(
    "said",
    [
        "It has not worked",
        "That never worked",
        "I wish that worked",
        "That barely helped",
        "Solved? Not really.",
        "Thank you, but that has not helped",
        "Não funcionou",
        "Não deu certo",
        "Eso no ha solucionado nada",
        "Merci mais ça ne marche pas",
        "Non ha funzionato",
        "Grazie, ma non ha funzionato",
        "Hat nicht geklappt",
        "Danke, aber das hat nicht geholfen",
        "Het is niet gelukt",
    ],
)
def test_a_success_that_is_denied_is_no_thanks(said: str) -> None:
    assert read(said).clarification


@pytest.mark.parametrize("response", [ANSWER, OFFER, REFUSAL, ""])
def test_who_takes_leave_is_told_without_reading_the_rest_as_with_it(response: str) -> None:
    leaving = ["Thanks, that's all", "nein danke, das war alles", "gracias de todos modos", "no, that's it. bye"]
    others = [text for texts in EXAMPLES.values() for text in texts]
    texts = ["", "ok", "ΕΥΧΑΡΙΣΤΩ", "thanks, but it still fails", *leaving, *others]
    exchanges = [Exchange(PROMPT, response, text) for text in texts]
    read_whole = [RULES.read(exchange).closes for exchange in exchanges]
    assert any(read_whole)
    assert not all(read_whole)
    assert [RULES.takes_leave(exchange) for exchange in exchanges] == read_whole


@pytest.mark.parametrize(
    "said",
    [
        "Ok, thanks anyway.",
        "Thanks for trying",
        "thx but no",
        "Great, another dead end. Thanks!",
        "merci quand même",
        "Danke trotzdem",
        "gracias de todos modos",
        "obrigado mesmo assim",
        "grazie lo stesso",
        "toch bedankt",
    ],
)
def test_who_gives_up_politely_takes_leave_and_was_not_served(said: str) -> None:
    reading = read(said)
    assert reading.label is FollowUp.FRUSTRATION
    assert reading.closes


@pytest.mark.parametrize(
    "said",
    [
        "that worked but it took me a while",
        "I never thought it would work, but it did, thanks!",
        "it wasn't plugged in, works now, thanks",
        "Thanks, that solved the problem I couldn't fix for weeks",
        "Perfect, no more error messages",
        "I can't thank you enough",
        "you nailed it, the user had no rights",
        "Danke, das wusste ich nicht",
        "Hat funktioniert, hat aber etwas gedauert",
        "ci è voluto un po' ma ha funzionato",
    ],
)
def test_a_negation_that_says_nothing_of_the_answer_leaves_thanks_as_they_are(said: str) -> None:
    assert read(said).label is FollowUp.THANKS


PLAN = "You pay 4.99 a month for Plus. Open Account > Members to add people."


@pytest.mark.parametrize(
    "said",
    [
        "How do I cancel my subscription?",
        "how do i cancel my subscription",
        "What about cancelling for one member?",
        "Where would I file a complaint about a courier?",
        "Who can I talk to about a dispute with my manager?",
        "What does exit code 137 mean?",
        "¿Cómo cancelo mi suscripción?",
        "Wie kann ich mein Abo kündigen?",
    ],
)
def test_a_question_about_cancelling_or_complaining_gives_nothing_up(said: str) -> None:
    assert not read(said, PLAN, "What does Plus cost?").clarification


@pytest.mark.parametrize(
    "said",
    ["Then I'm cancelling", "cancel my subscription", "ya lo cancelo", "I'll call support", "let me talk to a manager"],
)
def test_who_cancels_or_asks_for_a_person_is_served_no_longer(said: str) -> None:
    assert read(said, PLAN, "What does Plus cost?").label is FollowUp.FRUSTRATION


@pytest.mark.parametrize(
    ("said", "elsewhere"),
    [
        ("I see a red banner that our last invoice did not go through.", True),
        ("Our nightly build failed on Sunday because the disk was full.", True),
        ("The lift in the tower is broken since this morning, the stairs are free.", True),
        ("I see a red banner that the new member did not go through.", False),
        ("It still did not go through", False),
        ("Account > Members shows an error", False),
        ("TypeError: undefined is not a function (evaluating 'banner')", False),
    ],
)
def test_what_happened_elsewhere_says_nothing_of_the_answer(said: str, elsewhere: bool) -> None:
    assert read(said, PLAN, "How do I add my wife to Plus?").clarification is not elsewhere


@pytest.mark.parametrize(
    "said",
    [
        "One moment please, I have a call",
        "brb",
        "hang on, someone at the door",
        "wait a minute, installing it",
        "Einen Moment bitte",
        "un momento, tengo una llamada",
        "une minute, on m'appelle",
    ],
)
def test_a_pause_says_nothing_of_the_answer(said: str) -> None:
    reading = read(said)
    assert not reading.clarification
    assert not reading.goes_on


def test_a_pause_before_an_objection_is_one() -> None:
    assert read("hold on, that is the wrong plan").clarification
    assert read("one moment, I never asked about Gold").clarification


@pytest.mark.parametrize(
    "said",
    [
        "OK, I have done that. What do I have to do after it?",
        "ok that's installed, what now",
        "done. next?",
        "I've entered the name, what comes then?",
        "C'est fait. Et après ?",
        "Erledigt. Was kommt als Nächstes?",
    ],
)
def test_a_step_done_and_the_next_one_asked_for_goes_on(said: str) -> None:
    assert read(said, PLAN, "How do I add my wife to Plus?").goes_on


def test_a_step_done_in_vain_does_not() -> None:
    assert read("Done, but why is she still not a member?", PLAN, "How do I add my wife to Plus?").clarification
    assert read("I've entered the name, it doesn't do anything", PLAN, "How do I add my wife to Plus?").clarification


def test_a_wish_for_something_else_is_a_new_request_and_one_near_the_question_states_it_anew() -> None:
    wish = "I'm looking for discounts on running shoes in Leeds"
    assert not read(wish, PLAN, "What does Plus cost?").clarification
    assert read("I'm looking for the price of Plus for families", PLAN, "What does Plus cost?").clarification


def test_a_no_to_a_question_for_information_is_an_answer() -> None:
    for question in (
        "Do you have a provider in mind?",
        "Is it for a company?",
        "Would you like to know more about Gold?",
    ):
        for text in ("No, what is the cheapest plan?", "No, it is for me", "Not sure, it might be", "no"):
            assert not read(text, f"There are three plans. {question}").clarification, (question, text)
    assert read("No, not that one", "There are three plans. How about Gold?").clarification
    assert read("No, in June", "You mean the plan as of May. Is that correct?").clarification


def test_feelings_about_the_world_are_no_complaints() -> None:
    for text in (
        "I'm fed up with reading contracts, is there a summary?",
        "I thought phone support is useless for companies. Which hours are those?",
        "I'm afraid it might be expensive. Is it?",
        "How many times should I restart it?",
    ):
        assert not read(text).clarification, text
    assert read("I'm fed up with you").clarification
    assert read("how many times do I have to tell you").clarification


def test_insisting_where_the_assistant_could_not_help_asks_again() -> None:
    for text in ("Can you look it up?", "Why don't you know?", "It is in the manual", "Please check the website"):
        assert read(text, REFUSAL).clarification, text
    for text in ("Can you look it up?", "Please check the website"):
        assert not read(text).clarification, text


def test_what_one_believed_or_was_told_doubts_the_answer() -> None:
    for text in ("I thought it was two plans", "I was told two", "I think it is six days", "How do you know?"):
        assert read(text).clarification, text
    assert not read("I think it is great").clarification


@pytest.mark.parametrize(
    "text", ["ok", "Okay.", "k", "OK, bye!", "🙂", "alright then", "Good night", "one moment please"]
)
def test_what_says_nothing_of_the_answer_is_unscored_and_no_sign_that_a_conversation_went_well(text: str) -> None:
    reading = RULES.read(Exchange("How do I reset my password?", "Open Settings and choose Security.", text))
    assert (reading.unscored, reading.strict, reading.goes_on) == (Unscored.NO_SIGNAL, None, False)
    assert reading.clarification_free == 1.0


@pytest.mark.parametrize("text", ["ok thanks", "Ok, that works.", "👍", "perfect", "thank you, bye"])
def test_thanks_and_praise_are_read_beside_okay(text: str) -> None:
    reading = RULES.read(Exchange("How do I reset my password?", "Open Settings and choose Security.", text))
    assert (reading.strict, reading.goes_on) == (1.0, True)


ISLAND = (
    "The island was home to about 300 people until 1963, when the prison closed. Since then it has been a park that "
    "visitors reach by ferry."
)


@pytest.mark.parametrize(
    "said",
    [
        "Are there any people living there?",
        "Is anyone from India eligible?",
        "Can a person who will retire soon apply?",
        "Do I need someone who can translate for me?",
        "What is the number to call?",
        "Should I talk to a real estate agent first?",
        "Is it cheaper to do my taxes by hand?",
        "what happens if I quit",
        "What's the point of a trust if I have no children?",
        "Is giving up citizenship taxed?",
        "Whatever happened to his brother?",
        "Since when has it been available?",
        "Then why do people buy it?",
        "Do I need a BS degree?",
        "How long does a clown fish live?",
        "How do I know it is a scam?",
        "what trash goes into the blue bin",
        "How many people has it killed?",
        "Which was the fire that destroyed the town?",
        "How do I create a template message?",
        "Can I get a loan if my credit is bad?",
        "tax return 2022",
        "Warning signs of a stroke",
        "Access token expiration",
        "Unexpected expenses",
        "Fatal accidents",
        "Error handling",
        "Unknown callers",
        "And is that the same thing",
        "So is it still there",
        "What happens if you forget to file?",
        "Can people that missed the deadline still apply?",
        "What do I do if a document is missing?",
        "How many people are missing?",
        "What if my application is incomplete?",
        "Are there plans that do not cover dental?",
        "What am I supposed to bring?",
        "If the landlord refuses, then what do I do?",
        "Is there parking? Where is it?",
        "Where do you get a passport photo?",
        "How do you get to the island?",
        "Where does it come from?",
        "Where did they come from?",
        "Is there any evidence of water on Mars?",
        "Do I need to have proof of income?",
        "What is an event source?",
        "Why do people still live there?",
        "Why is it still called New Amsterdam?",
        "What if it doesn't work?",
        "Can I take the test for the third time?",
        "Was that disaster declared by the governor?",
        "I was thinking of buying a house. Is it a good time?",
        "What I need to bring?",
        "Thanks, but what if my address is not current?",
        "I guess I didn't pay enough tax last year.",
        "Can I cancel if I don't like it?",
        "Can you tell me something more about the battle",
        "What if I can't get into college?",
        "I don't think I will qualify",
        "I already have a 401k at work, can I open one too?",
        "I already have a job.",
        "What if the date is wrong?",
        "What if there is an error in my birth certificate?",
        "what if I disagree with the decision",
        "What if I don't get the letter in time?",
        "I don't follow baseball, any other sport?",
        "How long until I get an answer from the court?",
        "Can I try again if I fail?",
        "Can I take it one more time?",
        "What if I still need help?",
        "And what is it used for exactly?",
        "So where are they now?",
        "Do I need to specify a region?",
        "How do I use the API to specify the language?",
        "I am not a citizen but I want to help in the election. Can I?",
        "What if the accident was my fault?",
        "Can I fix my mistake on the form?",
        "Why is Pluto not a planet?",
        "Why did the Titanic not see the iceberg?",
        "Can the landlord not renew the lease?",
        "How do I choose the house I want?",
        "No, thanks. What do hedge funds invest in?",
        "No worries. What else can I do there?",
        "No way! How did they survive?",
        "Can I use a passport instead?",
        "how about a passport instead",
        "Can someone else pick it up for me?",
        "Can I give it to someone else?",
        "What other options do I have?",
        "What are the alternatives?",
        "Are there alternatives to a will?",
        "Which programs specifically help veterans?",
        "Only in California?",
        "Just for veterans?",
        "Actually how do I open one?",
        "Can I use stock instead of cash?",
        "I would like to know how much it costs",
        "And without a car?",
        "I can't afford a lawyer. What can I do?",
        "I am worried about losing power. My family will not have the heater running.",
        "It must be hard to live there.",
        "Pretty cool",
        "Quite interesting!",
        "IRA contribution limits",
        "Sure thing! What is the next step?",
        "My doctor recommends a low salt diet.",
        "My mother has diabetes.",
        "I am waiting for my green card.",
        "I lost my card. what should I do",
        "Is it true that they don't include tax?",
        "I was hoping to retire at 60.",
        "My claim was denied.",
        "I can't find a job.",
        "I meant to ask also, how are dividends taxed?",
        "Can I get the same thing for my wife?",
        "There are so many of them!",
        "I am not good at math, can you compute it for me?",
        "Is it not possible to get it earlier?",
        "What isn't covered?",
        "They say it is very expensive there.",
        "He must have been very rich.",
        "You have to be very patient to do that.",
        "I don't have a bank account.",
        "I am not from here, where should I park?",
        "I never knew that. Who discovered it?",
        "My neighbor said he got it for free. How?",
        "So many rules!",
        "The weather has been terrible lately.",
        "How can they be protected?",
        "How can it be treated?",
        "How is it possible to live there?",
        "Which one is right for me?",
        "I heard it can be seen from the moon. Is it true?",
        "Are they all free?",
        "Is this all included in the price?",
        "I asked my doctor and he was not worried",
        "I told my landlord about it. How long does he have?",
        "I will take the bus then.",
        "I will ask my accountant.",
        "I'll call the office tomorrow.",
        "False positives",
        "deprecated images",
        "Missing persons",
        "I am 72 years old.",
        "The house is 100 years old.",
        "My license is expired, would they accept it",
        "Thanks as always!",
        "The same rules apply to renters I guess",
        "So it takes about a month",
        "Then I have to wait another year",
        "Ok so nobody knows where it is",
        "not only adults, children too",
        "Not all of them?",
        "No one lived there before?",
        "Nothing else I need to bring?",
        "and if I am not a resident",
        "what does that mean for small businesses",
        "what is the meaning of the name",
        "Is there a difference between them, or is it the same?",
        "should I wait or do it now",
        "Do I have to do it again next year?",
        "How do I correct a mistake in my application",
        "Who is to blame?",
        "Did it fail because of the war?",
        "what went wrong",
        "Why did it crash?",
        "error codes list",
        "What are common mistakes to avoid?",
        "How often does it break?",
        "Does my insurance cancel if I miss a payment",
        "how to cancel",
        "How do I cancel my subscription?",
        "Where do I complain about a business",
        "how can I report a scam",
        "What if someone stole my card",
        "my card got stolen. what should I do first",
        "I moved last year, does it matter?",
        "I haven't filed in three years, what happens?",
        "I didn't know about the deadline, can I still apply?",
        "I never got a letter from the IRS. Is that normal",
        "I got a letter saying that I owe money",
        "I received a notice of denial. How do I appeal?",
        "I cannot read the form without glasses, is there large print?",
        "I do not live there anymore.",
        "I did not vote last time.",
        "I don't have kids.",
        "We are not married.",
        "I am not a veteran but my father was.",
        "My son is not a citizen.",
        "Do they not pay taxes?",
        "There's no limit?",
        "no limit on how many?",
        "It must have been terrible for the people.",
        "that is a lot of money!",
        "it looks difficult to do",
        "Seems like a lot of paperwork.",
        "I would like a summary of the plot",
        "I want to know more about his early life",
        "I want to visit the museum",
        "I need a form",
        "i wonder who built it",
        "interested in the history",
        "the exact date?",
        "what exactly is it",
        "who exactly was he",
        "exact amount?",
        "Give me another example",
        "another one",
        "any others?",
        "something similar?",
        "is there a better one",
        "a cheaper option",
        "more recent data?",
        "more",
        "continue",
        "Tell me again when it opens?",
        "explain it like I am five",
        "can you say it in Spanish",
        "what did you just say about deadlines?",
        "you mentioned a fee. How much is it?",
        "as you said, it is free. So where do I sign up?",
        "According to the law who pays?",
        "My neighbor says it is haunted. Is it?",
        "They say he was a spy.",
        "Some people believe that he survived.",
        "I believe he was born in Ohio",
        "I think it's a beautiful place",
        "I thought so.",
        "I guess that makes sense",
        "Makes sense. And what about the north side?",
        "ok that was not so hard",
        "I had no idea that it was so old",
        "wow I didn't expect that",
        "never heard of it",
        "Not bad!",
        "why not?",
        "why not just tear it down",
        "couldn't they build a bridge?",
        "wouldn't it be cheaper to rent?",
        "Can't I just send it by mail?",
        "So you can't go there at night?",
        "so it isn't free",
    ],
)
def test_a_question_of_the_world_that_shares_words_with_complaints_is_the_next_question(said: str) -> None:
    reading = read(said, ISLAND, "Who lived on the island?")
    assert not reading.clarification
    assert reading.unscored is not Unscored.LANGUAGE


@pytest.mark.parametrize(
    "said",
    [
        "You forgot the opening hours",
        "It does not work",
        "It is wrong, the prison closed in 1962",
        "Your answer is missing the name",
        "Where? You left out the place",
        "What do you mean by reach?",
        "That's a scam",
        "Can I talk to a person?",
        "Is there someone I can talk to",
        "how do I talk to a human",
        "Is there anything else instead of the ferry? You only name the ferry",
        "Sorry, who lived in the prison?",
    ],
)
def test_what_is_stated_of_the_answer_or_said_to_the_assistant_is_a_complaint(said: str) -> None:
    assert read(said, ISLAND, "Who lived on the island?").clarification


def test_who_tells_of_oneself_concerns_the_answer_where_it_gave_advice_or_is_pointed_at() -> None:
    assert not read("I already have a job.", ISLAND, "Who lived on the island?").clarification
    assert read("I already have that.", ISLAND, "Who lived on the island?").clarification
    assert read("I get no e-mail", "Click Reset. Then open the e-mail.", "Reset the password").clarification


def test_an_abbreviation_that_the_answer_writes_in_capitals_stresses_nothing() -> None:
    assert not read("IRA contribution limits", "A Roth IRA is an account.", "what is a roth ira").clarification
    assert read("which ROTH account", "A Roth IRA is an account.", "what is a roth account").clarification


def test_a_name_with_a_word_more_is_another_name() -> None:
    assert not read("What is IBM Cloud Shell?", "It is a platform.", "What is IBM Cloud?").clarification


def test_what_is_wanted_instead_of_a_word_of_the_answer_is_an_adjustment() -> None:
    assert read("Can I come by bridge instead of ferry?", ISLAND, "How?").label is FollowUp.ADJUSTMENT
    assert not read("Can I pay with a cheque instead of cash?", ISLAND, "How?").clarification


def test_part_of_an_answer_is_doubted_by_its_number_or_by_what_it_is_about() -> None:
    assert read("Only 300 people?", ISLAND, "Who lived on the island?").label is FollowUp.CORRECTION
    assert read("300? That seems low", ISLAND, "Who lived on the island?").clarification
    assert read("That's about the prison, who lived there before?", ISLAND, "Who lived there?").clarification
    assert not read("2023?", ISLAND, "Who lived on the island?").clarification


def test_who_could_not_be_helped_and_will_ask_elsewhere_gives_up_who_was_helped_goes_on() -> None:
    assert read("I will ask my accountant then", REFUSAL).clarification
    assert not read("I will ask my accountant then", ANSWER).clarification


@pytest.mark.parametrize("said", ["Placer County CA", "anaheim, ca economy", "nu metal bands"])
def test_one_short_word_among_unknown_ones_tells_no_language(said: str) -> None:
    assert read(said).unscored is not Unscored.LANGUAGE


HELP_OFFERED = "You can cancel it under Services until the 15th. Is there anything else I can help you with?"
CANCELLING = "You can cancel it under Services until the 15th."


@pytest.mark.parametrize(
    "follow_up",
    [
        "no im done",
        "nah im good",
        "No, you've been very helpful",
        "no, all clear now",
        "Nein, das war alles. Vielen Dank",
        "Nein, das wars",
        "nein alles gut danke",
        "Nein, Sie haben mir sehr geholfen",
        "No, eso es todo, muchas gracias",
        "no, todo claro",
        "No, me ha ayudado mucho",
        "Non, c'est tout, merci",
        "non c'est bon",
        "Não, me ajudou muito",
        "Não, é só isso, obrigada",
        "No, mi è stato molto utile",
        "no, a posto così",
        "Nee, dat was het",
        "nee hoor, alles duidelijk",
        "Nee, je hebt me goed geholpen",
    ],
)
@pytest.mark.parametrize("response", [HELP_OFFERED, CANCELLING])
def test_who_says_no_and_takes_leave_corrects_nothing(follow_up: str, response: str) -> None:
    reading = read(follow_up, response, "How do I cancel my membership?")
    assert (reading.clarification, reading.closes) == (False, True)


@pytest.mark.parametrize(
    "follow_up",
    [
        "no, that is all wrong",
        "no, that's good but wrong",
        "nein, das war nicht alles falsch",
        "no me ha ayudado mucho",
        "no todo claro",
        "não ajudou muito",
        "non mi ha aiutato",
        "Non, vous m'avez mal compris",
        "nee, dat is het niet",
    ],
)
def test_a_no_beside_words_of_leave_that_are_turned_round_is_a_correction(follow_up: str) -> None:
    reading = read(follow_up, CANCELLING, "How do I cancel my membership?")
    assert (reading.clarification, reading.closes) == (True, False)


@pytest.mark.parametrize(
    "quoted",
    [
        f"\n\n> {ANSWER}",
        f"\n\nOn Tue, Nov 24, 2026 at 9:14 AM Shop Bot <bot@shop.test> wrote:\n> {ANSWER}\n>\n> Does that help?",
        f"\n\nAm 24.11.2026 um 9:14 schrieb Shop Bot:\n\n> {ANSWER}",
    ],
)
@pytest.mark.parametrize("own", ["Thanks, that worked!", "That is not what I asked.", PROMPT, "And on Sundays?"])
def test_what_a_reply_quotes_of_the_answer_changes_no_reading(own: str, quoted: str) -> None:
    assert read(own + quoted) == read(own)
    assert read(own, prompt=PROMPT + quoted) == read(own)
    assert read(own, before=own + quoted) == read(own, before=own)
    around = Exchange(PROMPT, ANSWER, own)
    assert RULES.takes_leave(Exchange(PROMPT, ANSWER, own + quoted)) is RULES.takes_leave(around)


def test_what_stands_beneath_a_quoted_line_is_read_and_a_message_of_quotes_alone_is_too() -> None:
    assert read("> The Silver plan has e-mail only.\nThat is not what I asked.").clarification
    assert read("> That is not what I asked.").clarification


@pytest.mark.parametrize(
    "request_",
    ["Turn off the lights in the kitchen 🙂", "My order number is 48213 🙏", "how long does a refund take 😀"],
)
def test_a_smile_behind_a_request_does_not_thank(request_: str) -> None:
    reading = read(request_)
    assert not reading.closes
    assert reading.label is not FollowUp.THANKS


@pytest.mark.parametrize(
    "praise",
    ["🙏", "👍 exactly", "sorted 😀", "you are a star ❤️", "You're a legend, thanks!", "you're an absolute hero"],
)
def test_signs_and_names_of_applause_are_no_complaint(praise: str) -> None:
    assert read(praise).label is FollowUp.THANKS
