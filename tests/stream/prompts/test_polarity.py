"""A check is never proposed without doubt where its sentence, or what stands around it, says otherwise."""

import pytest

from turnsignal.stream.prompts.reader import read_prompt
from turnsignal.stream.prompts.reading import PromptReading


def asked(prompt: str) -> list[str]:
    return [one.check.partition("(")[0] for one in read_prompt(prompt).proposals if one.doubt is None]


def doubt(reading: PromptReading, index: int = 0) -> str:
    return str(reading.proposals[index].doubt)


@pytest.mark.parametrize(
    "prompt",
    [
        'Never leave out the word "deposit".',
        "Do not skip headings.",
        "Don't avoid emojis.",
        "Replies without a table are not allowed.",
        "Never answer without bullet points.",
        'Never finish without saying "Goodbye".',
        "It is not forbidden to use emojis.",
        "You don't have to use bullet points.",
        "Not all answers need tables.",
        'Use the word "really" sparingly.',
        "Use emojis rarely.",
        "Do not use long tables.",
        "Never use excessive bold.",
        'Never bold the word "sale".',
        'Do not capitalize the word "web".',
        "Always use emojis, never emoticons.",
    ],
)
def test_a_thing_is_forbidden_only_by_one_plain_denial(prompt: str) -> None:
    assert asked(prompt) == []


@pytest.mark.parametrize(
    "prompt",
    [
        "Don't limit yourself to 40 words.",
        "Never restrict replies to two sentences.",
        "Replies under 30 words are not allowed.",
        "A reply with at most 10 words is too short.",
        "Answers need not have at least 50 words.",
        "Never reply in lowercase.",
        'Don\'t always end with "Any questions?".',
        "Do not only answer in German.",
        "Never put a title in double angular brackets.",
        "Return prose, not JSON.",
        "Do not put citations after the text they support.",
        "Citations do not go after the full stop.",
        'Answer "yes" or "no" and say why.',
    ],
)
def test_what_a_check_requires_is_not_denied(prompt: str) -> None:
    assert asked(prompt) == []


@pytest.mark.parametrize(
    ("prompt", "checks"),
    [
        ("Never use tables, never exceed 90 words.", ["length.number_words", "pattern.forbid"]),
        ("Avoid tables, headings and emojis.", ["pattern.forbid"] * 3),
        ("No emojis, all lowercase.", ["pattern.forbid"]),
        ("All lowercase, no emojis.", ["case.lower", "pattern.forbid"]),
        ('No emojis, end with "Bye".', ["pattern.require", "pattern.forbid"]),
        ('No commas, say "and".', ["punctuation.no_comma"]),
        ("No bullet points, tables only.", ["pattern.forbid"]),
        ("Replies must not be shorter than 30 words.", ["length.number_words"]),
        ("At most 90 words, no less than 20.", ["length.number_words"]),
        ("Don't forget to use at most 60 words.", ["length.number_words"]),
    ],
)
def test_a_denial_reaches_its_own_piece_of_a_sentence(prompt: str, checks: list[str]) -> None:
    assert asked(prompt) == checks


@pytest.mark.parametrize(
    ("prompt", "exception"),
    [
        ("Stay under 90 words. Recipes may be longer.", "Recipes may be longer."),
        ("Max two sentences. Four if it is about law.", "Four if it is about law."),
        ("Max two sentences. If they disagree, use up to 5.", "If they disagree, use up to 5."),
        ("No tables. The only place for tables is prices.", "The only place for tables is prices."),
        ("No tables. Prices go in tables.", "Prices go in tables."),
        ("Return only JSON. Failures are returned as prose.", "Failures are returned as prose."),
        ("Write in lowercase. Brands keep their capitals.", "Brands keep their capitals."),
        ('Begin with "Hey!". Skip it later on.', "Skip it later on."),
        ("Always answer in English. Greet French users in French.", "Greet French users in French."),
        ("Always cite your sources. Chitchat needs no sources.", "Chitchat needs no sources."),
    ],
)
def test_the_next_sentence_may_let_something_off(prompt: str, exception: str) -> None:
    assert doubt(read_prompt(prompt)) == f'has an exception in the next sentence ("{exception}")'


@pytest.mark.parametrize(
    "prompt",
    [
        "At most 90 words. Answers may not use tables.",
        "At most 90 words. Be kind.",
        "No tables. No emojis.",
        "On Slack, at most 40 words. On web, answers can be longer.",
        "Return only JSON. Backticks around it are fine.",
    ],
)
def test_a_next_sentence_that_lets_nothing_off_changes_nothing(prompt: str) -> None:
    assert read_prompt(prompt).proposals[0].doubt is None


def test_a_forbidden_word_that_another_sentence_prescribes_is_doubtful() -> None:
    reading = read_prompt('You are Bo. Never say "alas". Be kind.\nBad news ends with "Alas, no."')
    assert doubt(reading) == 'another sentence quotes it ("Bad news ends with "Alas, no."")'


@pytest.mark.parametrize("kind", ["WhatsApp", "Voice", "Long", "Telegram"])
def test_a_limit_of_some_answers_is_doubtful(kind: str) -> None:
    reading = read_prompt(f"{kind} replies: at most 20 words.")
    assert doubt(reading) == f"may hold of some answers only ({kind.casefold()})"


def test_a_limit_of_the_answers_on_a_platform_is_bound_to_it() -> None:
    reading = read_prompt("Slack replies: at most 20 words.\nWeb answers must have at most 90 words.")
    assert [(one.platforms, one.doubt) for one in reading.proposals] == [(("slack",), None), (("web",), None)]


def test_a_heading_that_narrows_makes_doubtful_what_stands_under_it() -> None:
    reading = read_prompt("# Acme bot\n## Escalations\n### Style\n- No emojis.\n## Answer format\n- No tables.")
    assert [one.doubt for one in reading.proposals] == ["stands under “Escalations”", None]


@pytest.mark.parametrize(
    "sentence",
    [
        "Exclamations are banned.",
        "Readers hate question marks.",
        "Our brand book prohibits slang.",
        "Customers must get a name.",
    ],
)
def test_a_demand_is_listed_whoever_makes_it(sentence: str) -> None:
    assert read_prompt(f"You are Bo.\n{sentence}").uncovered == (sentence,)


@pytest.mark.parametrize(
    "rule", ["Don't be verbose - keep it under 60 words.", "Don't be verbose (stay under 60 words)."]
)
def test_a_denial_before_a_dash_does_not_turn_a_limit(rule: str) -> None:
    assert [one.check for one in read_prompt(f"You are Bo. {rule}").proposals] == [
        "length.number_words(at_most=59,by_spaces=true)"
    ]


def test_what_need_not_be_kept_short_asks_for_nothing() -> None:
    reading = read_prompt("You are Bo. You need not keep it under 60 words.\nDon't limit yourself to 2 sentences.")
    assert reading.proposals == ()


@pytest.mark.parametrize(
    ("prompt", "reason"),
    [
        ("At most 90 words. Hard questions deserve up to 200 words.", "another limit stands in the next sentence"),
        ("Use at most 5 words. Then answer the question in detail.", "is followed by more"),
    ],
)
def test_a_next_sentence_that_is_no_exception_is_not_called_one(prompt: str, reason: str) -> None:
    assert (doubt(read_prompt(prompt)) or "").startswith(f"{reason} (")


@pytest.mark.parametrize(
    "prompt",
    [
        "Never use emojis. It is fine to say that you don't know.",
        "Never use emojis. They may ask for discounts.",
        "Do not use exclamation marks. They look unprofessional and can annoy customers.",
        "Keep it under 100 words. This is because customers may read on phones.",
        "Keep replies under 50 words. Otherwise they are cut off.",
        "No headings. However, be thorough.",
        "Max 90 words. Use a table if you compare more than two firms.",
        "Answer in German. Users may write in other languages.",
        'Every response must contain "subject to review". No response may exceed 200 words.',
        'Avoid the phrase "in short". For essays, write at least 300 words.',
        'Every answer has to include "No advice." Every answer has to be shorter than 150 words.',
        "At most 90 words. No answer may contain a link, with the exception of our own.",
    ],
)
def test_a_next_sentence_about_something_else_is_no_exception(prompt: str) -> None:
    assert read_prompt(prompt).proposals[0].doubt is None


@pytest.mark.parametrize("prompt", ["No paragraphs, bullet points.", "Not a list, a table.", "No HTML, Markdown."])
def test_one_form_in_place_of_another_is_not_forbidden(prompt: str) -> None:
    assert [one.check for one in read_prompt(prompt).proposals if one.doubt is None] == []


@pytest.mark.parametrize(
    "prompt", ["No tables, lists, code.", "No tables or code.", "No tables, no code.", "No tables, please."]
)
def test_a_list_of_bans_forbids_each(prompt: str) -> None:
    sure = [one.check for one in read_prompt(prompt).proposals if one.doubt is None]
    assert any("|" in check for check in sure)


@pytest.mark.parametrize(
    ("rule", "check"),
    [
        ('Start with the answer, not with "As an AI".', "pattern.require(regex='(?i)\\\\A"),
        ('The last line must not be "Bye".', "pattern.require"),
        ("Use only 280 characters.", "pattern.require"),
        ('Include "fees" without "prices".', "keywords.existence(words='fees|prices')"),
    ],
)
def test_not_even_a_doubtful_check_is_the_opposite_of_its_sentence(rule: str, check: str) -> None:
    assert not any(one.check.startswith(check) for one in read_prompt(f"You are Bo.\n\n{rule}").proposals)


def test_a_sentence_that_may_mean_the_opposite_is_no_origin_of_a_check() -> None:
    reading = read_prompt('You are Bo.\n\nWrite answers in capital letters. Never write "Holm" in lower case.')
    (upper,) = (one for one in reading.proposals if one.check == "case.upper")
    assert (upper.doubt, upper.sentences) == (None, ("Write answers in capital letters.",))


def test_as_if_is_no_condition() -> None:
    (one,) = read_prompt("You are Bo.\n\nSpeak as if in court and use no emojis.").proposals
    assert not (one.doubt or "").startswith("only under a condition")


@pytest.mark.parametrize(
    "sentence",
    [
        'Never leave out the word "deposit".',
        "Never answer without bullet points.",
        "We never shout, beg, or use more than one exclamation mark in a row.",
        "Answer in English, but dish names stay in Italian.",
        "Use *bold* and `code`.",
        "Always mention the booking reference.",
        "Find texts without a date, return the word NONE.",
    ],
)
def test_the_reverse_of_a_sentence_is_not_even_proposed_as_doubtful(sentence: str) -> None:
    reading = read_prompt(f"You are Bo.\n{sentence}")
    assert reading.proposals == ()
    assert reading.uncovered == (sentence,)
