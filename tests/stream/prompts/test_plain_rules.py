"""Rules in a few plain words are read, and what only gives their reason or an example narrows none."""

import pytest

from turnsignal.stream.checks import parse_check
from turnsignal.stream.citations.reader import citation_reader
from turnsignal.stream.conversations.exchanges import Response
from turnsignal.stream.prompts.reader import read_prompt

ROLE = "You are Bo, an assistant.\n\n"


@pytest.mark.parametrize(
    ("rule", "start"),
    [
        ("Keep it under 300 characters (hard limit).", "pattern.forbid"),
        ("Maximal 5 sentences in answer", "length.number_sentences(at_most=5,skip_markers=true)"),
        ("<100 words.", "length.number_words(at_most=99,by_spaces=true)"),
        ('At the end of every answer write "Bo".', "pattern.require"),
        ('Every answer contains the line "No advice."', "keywords.existence"),
        ('These words are banned: "cheap", "free".', "keywords.forbidden_words(words='cheap|free')"),
        ('You never diagnose, you never say "hi there".', "keywords.forbidden_words(words='hi there')"),
        ('Never use the word "hacked" in either part.', "keywords.forbidden_words(words=hacked)"),
        ('Observe the Fair Housing Act: never say "safe area".', "keywords.forbidden_words(words='safe area')"),
        ("dont use emojis", "pattern.forbid"),
        ('No "please".', "keywords.forbidden_words(words=please)"),
        ('No "simply", "just" or "easy".', "keywords.forbidden_words(words='simply|just|easy')"),
        ('No hedging ("perhaps", "maybe").', "keywords.forbidden_words(words='perhaps|maybe')"),
        ('Do not use legal terms (e.g., "tort", "lien").', "keywords.forbidden_words(words='tort|lien')"),
        ("Never mention competitors (Acme, West Elm) by name.", "pattern.forbid"),
        ("Reply in US English.", "language.is(code=en)"),
        ('Every answer includes "Ref seven".', "keywords.existence"),
        ('It is important that every answer includes "Ref seven".', "keywords.existence"),
        ('Finish with a line "THE END".', "pattern.require(regex='(?i)THE"),
        ("Every reply ends with the line: Stay safe.", "pattern.require(regex='(?i)Stay"),
        ('Never answer "no comment".', "keywords.forbidden_words(words='no comment')"),
        ("Do not say the following: shall I; if so, I can.", "keywords.forbidden_words(words='shall I|if so, I can')"),
        ('Do not use the following words: "cheap", "free".', "keywords.forbidden_words(words='cheap|free')"),
        ('Never "game-changer", "unique".', "keywords.forbidden_words(words='game-changer|unique')"),
        ("So: no line begins with #.", "pattern.forbid"),
        ('That means you don\'t write "is free".', "keywords.forbidden_words(words='is free')"),
        ("Emojis are fine, up to two.", "pattern.forbid"),
        ('Start with the answer, not with a preamble such as "Sure".', "pattern.forbid(regex='(?i)\\\\A"),
        ("Use British English.", "language.is(code=en)"),
        ("No Markdown: WhatsApp shows the signs.", "pattern.forbid"),
        ("No tables, Slack can't render them.", "pattern.forbid"),
        ("Never use double asterisks.", "pattern.forbid"),
        ("No rockets, moons or other emojis.", "pattern.forbid"),
        ("Finish with one short question.", "pattern.require"),
        ("Short messages, 2-4 sentences.", "length.number_sentences(at_least=2,at_most=4,skip_markers=true)"),
        ('State "No legal advice." once in every answer.', "keywords.existence"),
        ("Never put more than two citations next to each other.", "citation.max_consecutive(at_most=2)"),
    ],
)
def test_a_plain_rule_is_a_check(rule: str, start: str) -> None:
    (one,) = read_prompt(f"{ROLE}- {rule}").proposals
    assert one.doubt is None
    assert one.check.startswith(start)


@pytest.mark.parametrize(
    "rule",
    [
        "One argument per reply, 100 words or fewer.",
        "No lists, headings do not count.",
        "Use plain English.",
        'No "tl;dr" at the top.',
        "No tables, unless Slack can show them.",
    ],
)
def test_what_says_more_is_for_a_person(rule: str) -> None:
    assert all(one.doubt is not None for one in read_prompt(f"{ROLE}- {rule}").proposals)


@pytest.mark.parametrize(
    "beside",
    [
        "You are a language tutor for learners of Spanish.",
        "You are a Spanish tutor.",
        "You help English speakers to write e-mails in German.",
        "Always give an example sentence in Spanish.",
        "Localise the texts into German when asked.",
    ],
)
def test_a_language_is_doubtful_beside_one_that_is_taught_or_written(beside: str) -> None:
    (proposal,) = read_prompt(f"{beside}\n\n- Answer in English.").proposals
    assert proposal.doubt is not None


@pytest.mark.parametrize(
    "beside",
    [
        "You are the assistant of a German company.",
        "Users may write in German.",
        "Never write in German.",
    ],
)
def test_a_language_holds_beside_one_that_nobody_is_to_use(beside: str) -> None:
    (proposal,) = read_prompt(f"{beside}\n\n- Answer in English.").proposals
    assert proposal.doubt is None


@pytest.mark.parametrize("part", ["the list of sources", "the disclaimer", "any code"])
def test_a_limit_that_leaves_a_part_out_of_the_count_is_doubtful(part: str) -> None:
    (proposal,) = read_prompt(f"You are Bo.\n\n- Answers have at most 120 words, without {part}.").proposals
    assert proposal.doubt is not None


@pytest.mark.parametrize(
    ("rule", "free", "broken"),
    [
        ("No question marks.", "See https://a.example/?q=1.", "Is it so? Yes."),
        ("No bold.", "It is 2**3**4.", "It is **so**."),
        ("No bold.", "a**b**c", "**Note:** yes"),
    ],
)
def test_signs_of_addresses_and_arithmetic_break_no_ban(rule: str, free: str, broken: str) -> None:
    (proposal,) = read_prompt(f"You are Bo.\n\n- {rule}").proposals
    check = parse_check(proposal.check)
    assert [check.check(Response(text, [], citation_reader())).result.name for text in (free, broken)] == [
        "PASS",
        "FAIL",
    ]


@pytest.mark.parametrize(("rule", "count"), [("Use plain text only.", 3), ("One sentence, at most 125 characters.", 2)])
def test_a_rule_may_ask_for_several_checks(rule: str, count: int) -> None:
    assert [one.doubt for one in read_prompt(f"{ROLE}{rule}").proposals] == [None] * count


@pytest.mark.parametrize(
    "lead",
    [
        "You shall comply with the following:",
        "Here's how you answer:",
        "Legal requires that every message:",
        "Please observe the following guidelines when responding to members:",
    ],
)
def test_a_plain_lead_in_narrows_nothing(lead: str) -> None:
    reading = read_prompt(f"You are Mia.\n\n{lead}\n- has at most 50 words\n")
    assert [(one.check, one.doubt) for one in reading.proposals] == [
        ("length.number_words(at_most=50,by_spaces=true)", None)
    ]


@pytest.mark.parametrize(
    ("rule", "check"),
    [
        ("Responses over 200 words are not permitted.", "length.number_words(at_most=200,by_spaces=true)"),
        ("Answers longer than 3 sentences are forbidden.", "length.number_sentences(at_most=3,skip_markers=true)"),
        ("Use plain language, at most 150 words.", "length.number_words(at_most=150,by_spaces=true)"),
        ("max 3 sentences plz", "length.number_sentences(at_most=3,skip_markers=true)"),
    ],
)
def test_a_plain_limit_is_read(rule: str, check: str) -> None:
    reading = read_prompt(f"You are Mia. {rule}")
    assert [(one.check, one.doubt) for one in reading.proposals] == [(check, None)]


def test_how_the_language_is_to_be_is_listed_beside_a_limit() -> None:
    sentence = "Use plain language, at most 150 words."
    assert read_prompt(f"You are Mia. {sentence}").uncovered == (f"{sentence} (no check: Use plain language)",)


@pytest.mark.parametrize("rule", ["Exactly -1 sentences.", "Use exactly −3 bullet points.", "Max -5 words."])
def test_no_answer_holds_less_than_nothing(rule: str) -> None:
    reading = read_prompt(f"You are Mia. {rule}")
    assert (reading.proposals, reading.uncovered) == ((), (rule,))


def test_a_range_with_a_space_before_its_sign_is_one() -> None:
    (one,) = read_prompt("You are Mia. Use 2 -3 sentences.").proposals
    assert one.check == "length.number_sentences(at_least=2,at_most=3,skip_markers=true)"
