"""A sentence that lets some answers off a rule by words of the same aspect makes it doubtful, wherever it stands."""

import pytest

from turnsignal.stream.prompts.reader import read_prompt

ROLE = "You are Mia, the assistant of a shop.\n\n"
PLAIN = "{} {}"
LISTED = "- Be friendly.\n- {}\n- Stay on topic.\n- {}\n"
WORDS, SENTENCES = "Keep answers under 50 words.", "Max 3 sentences."
HELLO, CLOSING, QUESTION = 'Always start with "Hello".', 'Always end with "Have a great day!"', "End with a question."
NAMES, WORD = "Never mention Emma, Casper or Simba.", 'Never use the word "guarantee".'
EMOJIS, MARKS, TABLES, SMALL = "Don't use emojis.", "Do not use exclamation marks.", "No tables.", "Write in lowercase."
JSON, PARAGRAPHS, POINTS = (
    "Respond in JSON only.",
    "Write exactly two paragraphs.",
    "Reply with at most 3 bullet points.",
)
MENTION = 'Always mention "Acme Plus".'
GIVEN = 'If you do not know, say "I am not sure." and point to the helpline.'


def doubts(form: str, rule: str, other: str) -> list[bool]:
    proposals = read_prompt(ROLE + form.format(rule, other)).proposals
    return [one.doubt is not None for one in proposals if rule in one.sentences]


@pytest.mark.parametrize("form", [PLAIN, LISTED])
@pytest.mark.parametrize(
    ("rule", "other"),
    [
        (WORDS, "When the user asks for details, go deeper."),
        (WORDS, "If the user asks for more detail, give it."),
        (WORDS, "Expand when asked."),
        (WORDS, "Recipes are written out in full."),
        (WORDS, "Follow the user's wishes on length."),
        (WORDS, "Let the question decide how long the answer is."),
        (WORDS, "If someone needs step-by-step help, walk them through it fully."),
        (SENTENCES, "Complex questions deserve complete answers."),
        (SENTENCES, "Adapt the length to the question."),
        (SENTENCES, "Feel free to go deeper on pricing."),
        (SENTENCES, "Subscribers get the long version."),
        (SENTENCES, "When giving directions, include every turn."),
        (SENTENCES, "Say more if they ask."),
        (HELLO, 'If the user writes in Spanish, greet with "Hola".'),
        (HELLO, 'Greet German speakers with "Guten Tag".'),
        (HELLO, 'Before noon, say "Good morning" instead.'),
        (HELLO, "Greet once per conversation."),
        (CLOSING, 'After 6pm use "Have a great evening!"'),
        (CLOSING, "When the case is a death in the family, end quietly."),
        (QUESTION, "When the user says goodbye, say goodbye too."),
        (QUESTION, "If the chat is over, end it."),
        (QUESTION, "Once the order is confirmed, thank them and close the chat."),
        (NAMES, "If the customer asks about one of them, you may name it once."),
        (NAMES, "You may repeat a competitor's name if the customer used it first."),
        (WORD, "Explain our 2-year guarantee when asked."),
        (WORD, "When asked, describe what the guarantee covers."),
        (MARKS, "Our brand is written Yum! with the mark."),
        (SMALL, "Proper nouns aside."),
        (JSON, "If the user says hello, greet back."),
        (JSON, "If the message is not a CV, tell the user."),
        (JSON, "If you cannot parse the text, explain why."),
        (PARAGRAPHS, "If the user just says thanks, say you're welcome."),
        (PARAGRAPHS, "If details are missing, ask for them first."),
        (POINTS, "The user may ask for a longer list."),
    ],
)
def test_a_let_off_of_the_same_aspect_doubts_the_rule(form: str, rule: str, other: str) -> None:
    assert any(doubts(form, rule, other))


@pytest.mark.parametrize(
    ("rule", "other"),
    [
        (CLOSING, "A condolence message has no such line."),
        (CLOSING, "Do not add it twice in a conversation."),
        (MENTION, "Members who have it needn't hear of it."),
        (EMOJIS, "If the customer uses them first, feel free to mirror them."),
        (EMOJIS, "With children it's okay."),
        ("Use exactly one emoji per reply.", "Grieving customers get none."),
        (POINTS, "Users may ask for more."),
        (TABLES, "The customer may request one."),
    ],
)
def test_what_points_back_is_of_the_rule_right_before(rule: str, other: str) -> None:
    assert any(doubts(PLAIN, rule, other))
    assert not any(doubts("{} Be kind. Stay on topic. {}", rule, other))


@pytest.mark.parametrize("form", [PLAIN, LISTED])
@pytest.mark.parametrize(
    ("rule", "other"),
    [
        (WORDS, "If you need more details, ask the user."),
        (WORDS, "If the user asks for more detail, link to the manual."),
        (WORDS, "If the user wants more information, send them to the help page."),
        (WORDS, "Never elaborate on internal processes."),
        (WORDS, "When a user asks about refunds, explain the policy."),
        (WORDS, "Under Risks, list each risk as a bullet with a severity."),
        (WORDS, "If unsure, say so in one sentence."),
        (WORDS, "Users may ask about orders, refunds or returns."),
        (HELLO, "Greet the customer by name if you know it."),
        (HELLO, "When the user asks for a human, give the phone number."),
        (CLOSING, "Close the ticket if the problem is solved."),
        (CLOSING, "Once the issue is solved, close it."),
        (QUESTION, "When a user mentions a problem, ask for details."),
        (NAMES, "If a customer asks about Emma, say that we only sell our own beds."),
        (WORD, "If a user asks for a guarantee, refer them to the terms."),
        (EMOJIS, "It's okay to be informal."),
        (EMOJIS, "You can use the order tool to look it up."),
        (TABLES, "Customers may request a refund."),
        (JSON, "If a field is missing, use null."),
        (JSON, "Do not greet the user."),
        (PARAGRAPHS, "If the source mentions a date, tell the reader."),
        (POINTS, "Users may ask about anything."),
    ],
)
def test_what_is_of_another_aspect_lets_nothing_off(form: str, rule: str, other: str) -> None:
    assert not any(doubts(form, rule, other))


@pytest.mark.parametrize(
    "sentence",
    ["The user may ask for a longer list.", "Users may ask for more.", "The customer may request one."],
)
def test_what_users_may_have_is_listed(sentence: str) -> None:
    assert sentence in read_prompt(f"You are Mia. No tables. {sentence}").uncovered


@pytest.mark.parametrize(
    ("rule", "other", "is_doubtful"),
    [
        ("Answer in one sentence.", GIVEN, True),
        ("Answer in one sentence.", 'For other topics say "Please ask at the desk." and add the number 555.', True),
        ("Max 2 sentences.", 'If it is closed, answer "We are closed. Sorry." and give the hours.', True),
        ("Max 2 sentences.", GIVEN, False),
        ("Answer in one sentence.", 'If you do not know, say "I am not sure."', False),
    ],
)
def test_a_reply_that_is_given_with_more_than_the_limit_doubts_it(rule: str, other: str, is_doubtful: bool) -> None:
    assert doubts(PLAIN, rule, other) == [is_doubtful]
