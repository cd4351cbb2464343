"""Everyday words that let some answers off: a smile is enough, "Birthdays deserve one.", another language."""

import pytest

from turnsignal.stream.prompts.reader import read_prompt

ROLE = "You are Ada, the assistant of a hotel."
LETS_OFF = [
    ('End every reply with "Best, Ada".', "If somebody only says hi, a wave is enough."),
    ('End every reply with "Best, Ada".', "When they confirm, a thumbs-up will do."),
    ('Always include the sentence "Rates may vary."', "Should the guest be in danger, a phone number suffices."),
    ("Every answer has at least 12 words.", "Thank-yous need just a short reply."),
    ('End every reply with "Best, Ada".', "Complaints from members get only the link to the form."),
    ('End every reply with "Best, Ada".', "People who curse are told to calm down instead."),
    (
        'Always include the sentence "Rates may vary."',
        "In a medical emergency, give the number 112 and leave it at that.",
    ),
    ("Every answer has at least 12 words.", "On weekends, reply only with a pointer to the website."),
    ('Start each reply with "Ada here:".', "For bots, output IGNORE."),
    ('End every reply with "Best, Ada".', "If there is no question, stick to a plain thank-you."),
    ("Every answer has at least 12 words.", "Confirmations get a simple yes or no."),
    ('End every reply with "Best, Ada".', "When the order is unclear, ask back instead of answering."),
    ('End every reply with "Best, Ada".', "Whoever wants to cancel gets only the link."),
    ("Every answer has at least 12 words.", "A smiley is enough when the guest says thanks."),
    ('End every reply with "Best, Ada".', "If the user asks for a human, print [AGENT] on its own."),
    ('Start each reply with "Ada here:".', "Messages without a question receive just a thumbs-up."),
    ('End every reply with "Best, Ada".', "After a goodbye, simply wave."),
    ("Every answer has at least 12 words.", "If the guest jokes, laugh along in a word or two."),
    ('End every reply with "Best, Ada".', "When the user is silent, send a single question mark."),
    ('Always include the sentence "Rates may vary."', "If a caller is rude, end it with a polite goodbye."),
    ('End every reply with "Best, Ada".', "Spam is met with silence."),
    ("Every answer has at least 12 words.", "For a yes/no question, yes or no is all they need."),
    ("Never use exclamation marks.", "Anniversaries are worth one."),
    ("No emojis.", "Teens may get some."),
    ("No emojis.", "With kids, throw some in."),
    ("Do not use bullet points.", "Shopping lists are lists, after all."),
    ("Answer in English.", "Poems are quoted in the original language."),
    ("Answer in English.", "Should a guest prefer it, switch to French."),
    ("Answer in English.", "Names of dishes and quotes stay as they are in Italian."),
    ('Never say "cheap".', "Use it only when you repeat what the guest wrote."),
    ("No tables.", "A price list looks best as one."),
    ("Reply in JSON.", "If the request is unclear, ask a question in plain words."),
    ("Reply in JSON.", "For an empty input return the word NOTHING."),
    ("Keep it under 30 words.", "If somebody grieves, take your time."),
    ('Start each reply with "Ada here:".', "In the middle of a talk, drop it."),
    ('Start each reply with "Ada here:".', "Only in the first message, mind you."),
    ('End every reply with "Best, Ada".', "But only when you close a case."),
    ("No headings.", "Long guides profit from some."),
    ('Do not use the word "sorry".', "It is fine in a real apology."),
    ('Include "Terms apply." in every reply.', "In an emergency, tell them to call 112 and say nothing else."),
    ("Every answer has at least 12 words.", "Simple questions deserve simple answers."),
    ("Answer in English.", "Translations are in the language that was asked for."),
    ("Reply in JSON.", "When the request is not clear, ask a question first."),
    ('Each turn ends with "Go on?"', 'When the player dies, write "THE END" and stop.'),
    ('Close every message with "Yours, Mo".', "A patient who says thanks gets a short you're welcome."),
    ("Replies have at least 20 words.", "To a mere thank-you, a thumbs-up suffices."),
    (
        'Close every message with "Yours, Mo".',
        "Where the question is about tax, hand over with <agent/> and say no more.",
    ),
    ("Replies have at least 20 words.", "Quick questions want quick answers."),
    ("No emojis.", "Children love them, so give them some."),
    ("Stay below 40 words.", "When they ask why, give the whole story."),
    ('Close every message with "Yours, Mo".', "With regulars, a nod is fine."),
    ('Close every message with "Yours, Mo".', "For prank calls: silence."),
    ('Close every message with "Yours, Mo".', "Once the case is closed, you need not sign."),
    ('Close every message with "Yours, Mo".', "The last message of a day ends differently."),
    ("Your output is valid JSON.", "Whenever the file is broken, simply report BROKEN."),
]
LETS_NOTHING_OFF = [
    ('Close every message with "Yours, Mo".', "Guests want one clear answer."),
    ('Close every message with "Yours, Mo".', "Visitors are asked to ring twice."),
    ('Close every message with "Yours, Mo".', "When they book, repeat the date."),
    ("Each message has 15 words or more.", "If they ask for a table, ask how many people come."),
    ("Do not use emojis.", "Guests like a clear tone."),
    ("Respond in English.", "Most guests are from Leeds."),
    ('End every reply with "Best, Ada".', "If somebody is angry, stay calm."),
    ('End every reply with "Best, Ada".', "When they confirm, thank them."),
    ("Every answer has at least 12 words.", "Guests get a warm welcome."),
    ('End every reply with "Best, Ada".', "Every guest gets a polite answer."),
    ('End every reply with "Best, Ada".', "One question at a time is enough."),
    ('End every reply with "Best, Ada".', 'If they write "wifi", say "Wi-Fi" instead.'),
    ("Every answer has at least 12 words.", "Never ask for the card number; the booking code is enough."),
    ('End every reply with "Best, Ada".', "Do not guess. Check the handbook instead."),
    ('Always include the sentence "Rates may vary."', "Users are often in a hurry."),
    ("No emojis.", "Customers dislike them."),
    ("No emojis.", "Users send some."),
    ("No exclamation marks.", "We find them loud."),
    ("Answer in English.", "The users live in Wales."),
    ("Answer in English.", "Use British spelling."),
    ("No tables.", "Our app cannot show them."),
    ("Reply in JSON.", "Use the keys a and b."),
    ('End every reply with "Best, Ada".', "Use first names."),
    ('Start each reply with "Ada here:".', "Only use facts from the handbook."),
    ("Do not use bullet points.", "Write in full sentences."),
    ("Keep it under 30 words.", "Take your time to think."),
    ('End every reply with "Best, Ada".', "Prices are given in euro."),
    ("Every answer has at least 12 words.", "Dates are given as DD.MM.YYYY."),
    ('End every reply with "Best, Ada".', "Customers are told the truth."),
    ('Always include the sentence "Rates may vary."', "When you give a price, name the date, too."),
    ('End every reply with "Best, Ada".', "If you quote a law, give its number."),
    ('End every reply with "Best, Ada".', "In long answers, use short paragraphs."),
    ('End every reply with "Best, Ada".', "Users want one answer."),
    ('End every reply with "Best, Ada".', "If in doubt, use simple words instead of jargon."),
]


def doubts(rule: str, other: str) -> list[bool]:
    asked = [one for one in read_prompt(f"{ROLE} {rule} {other}").proposals if rule in one.sentences]
    assert asked
    return [one.doubt is not None for one in asked]


@pytest.mark.parametrize(("rule", "other"), LETS_OFF)
def test_what_some_messages_get_instead_doubts_the_rule(rule: str, other: str) -> None:
    assert doubts(rule, other) == [True]


@pytest.mark.parametrize(("rule", "other"), LETS_NOTHING_OFF)
def test_what_is_said_of_other_things_doubts_nothing(rule: str, other: str) -> None:
    assert doubts(rule, other) == [False]


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        ('In case of an injury, your whole answer is: "Call 112 now."', "Call 112 now."),
        ('During an outage, your only reply is "We are down, please wait."', "We are down, please wait."),
        ('Messages in a foreign language are answered with "English only, please."', "English only, please."),
        ('Guests without a booking are simply told "Please ask at the desk."', "Please ask at the desk."),
    ],
)
def test_a_whole_answer_that_is_prescribed_for_a_case_is_exempt(rule: str, text: str) -> None:
    reading = read_prompt(f'{ROLE} End every reply with "Best, Ada". {rule}')
    assert [one.text for one in reading.exempt] == [text]
    assert [one.doubt for one in reading.proposals] == [None]
