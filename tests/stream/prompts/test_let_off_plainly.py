"""A plain exception in the next sentence or item makes the rule that it lets some answers off doubtful."""

import pytest

from turnsignal.stream.prompts.reader import read_prompt

ROLE = "You are the support assistant of a web shop.\n\n"
FORMS = ["{} {}", "- Be friendly.\n- {}\n- {}\n- Stay on topic."]


def doubts(form: str, rule: str, other: str) -> list[bool]:
    return [one.doubt is not None for one in read_prompt(ROLE + form.format(rule, other)).proposals]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    ("rule", "other"),
    [
        ("Keep replies under 50 words.", "This rule does not apply to guides."),
        ("Keep replies under 50 words.", "Guides are excluded from this."),
        ("No headings.", "This doesn't hold for reports."),
        ("No tables.", "In comparisons they are welcome."),
        ("No exclamation marks.", 'One is okay after "Welcome".'),
        ("Do not use lists.", "If steps are needed, number them."),
        ("No numbered lists.", "Number the options so that users can choose."),
        ("No bullet points.", "Itemise charges, one per line, with a dash in front."),
        ("No Markdown.", "Put commands in backticks."),
        ("No code blocks.", "Show commands in fenced blocks."),
        ("No bullet points.", "Steps go one per line with a dash."),
        ("No tables.", "Comparisons stand side by side in a grid."),
        ("No tables.", "Price lists have three columns."),
        ("Keep replies under 50 words.", "On request, expand the answer with everything you know."),
        ('Never say "bug".', "Engineers call it a bug, and with them you may do so, too."),
        ('Always start with "Hi there".', "Don't greet again later."),
        ('Always start with "Hi there".', "Greet only once."),
        ("Exactly three sentences per reply.", "Answer yes/no questions with just yes or no."),
        ("Between 50 and 100 words per reply.", "Thank-you messages get a one-liner."),
        ("At least 50 words per reply.", "Simple questions get one sentence."),
        ('Always end with "Acme".', "For greetings you can leave the ending out."),
    ],
)
def test_a_plain_exception_doubts_the_rule(form: str, rule: str, other: str) -> None:
    assert doubts(form, rule, other) == [True]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    ("rule", "other"),
    [
        ("Keep replies under 50 words.", "This rule applies to all replies."),
        ("No tables.", "They are never welcome."),
        ("No exclamation marks.", "One is too many."),
        ("Do not use lists.", "A number of users dislike them."),
        ('Always start with "Hi there".', "Be polite."),
        ("Exactly three sentences per reply.", "Every question gets a kind answer."),
        ('Always end with "Acme".', "Never leave the ending out."),
    ],
)
def test_what_lets_nothing_off_does_not(form: str, rule: str, other: str) -> None:
    assert doubts(form, rule, other) == [False]


def test_the_reason_names_the_sentence_that_numbers_steps() -> None:
    (one,) = read_prompt(f"{ROLE}- Be friendly.\n- No lists.\n- Number the steps of a guide.\n").proposals
    assert one.doubt == "contradicts “Number the steps of a guide.”"


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    ("rule", "other"),
    [
        ("Never use emojis.", "Hearts are allowed."),
        ("No links.", "Our own site is OK."),
        ("No links.", "acme.example is fine."),
        ("Never use Markdown.", "Bold is fine."),
        ("Keep replies under 50 words.", "Order summaries don't count."),
        ("Keep replies under 50 words.", "This excludes the disclaimer."),
        ('Always start with "Ahoy".', "If it annoys them, drop the Ahoy."),
        ('Always start with "Ahoy".', "If it annoys them, drop the pirate voice entirely."),
        ('Always start with "Ahoy".', 'When they ask, stop saying "Ahoy".'),
        ('Always end with "Acme".', "Once is enough."),
        ('Always end with "Acme".', "In later messages it can go."),
    ],
)
def test_what_is_allowed_behind_a_rule_doubts_it(form: str, rule: str, other: str) -> None:
    assert doubts(form, rule, other) == [True]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    ("rule", "other"),
    [
        ("Never use tables.", "Bullet lists are fine."),
        ("Never use emojis.", "Humour is fine."),
        ("Never use emojis.", "No exceptions are allowed."),
        ("Never use tables.", "Plain links are OK."),
        ('Always start with "Ahoy".', "Never drop the accent."),
    ],
)
def test_what_is_no_thing_of_the_rule_doubts_nothing(form: str, rule: str, other: str) -> None:
    assert doubts(form, rule, other) == [False]
