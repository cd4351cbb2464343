"""Every instruction of a prompt is covered, doubtful or listed, wherever it stands; examples alone are not read."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnsignal.stream.prompts.reader import read_prompt

INSTRUCTIONS = [
    "Never use emojis.",
    "Keep every answer under 120 words.",
    "Always cite a source.",
    "Output a single JSON object and nothing else.",
    "Do not give legal advice.",
    "Links go at the end.",
    "Ask one question at a time.",
    'Sign off with "Best regards, Ada".',
    "Use the customer's first name at most once.",
    "If the user is angry, apologise in one sentence.",
    'Greeting: "Hi {first_name},"',
    "No lists.",
    "Respond only in German.",
    'If nothing fits, say "I do not know." and cite nothing.',
    "Do not wrap the answer in code fences.",
    "Titles are in title case.",
    "Dates as DD/MM/YYYY.",
    "Prices with the tax added.",
    "US spelling.",
    "Off-label questions: decline.",
    "Numbers below ten are spelled out.",
    'If the player dies, the turn is just "GAME OVER".',
    'Salaries, dismissals: "Please ask Ada."',
    "Warm, nosy, loves gossip.",
    "Values keep the original case.",
    'At the end of the call say "Thank you for banking with us."',
    "For complaints: apologise, and take it seriously.",
    "The user is in a hurry, so answer in two sentences.",
    "Write the result inside <answer> tags.",
]
PLACES = [
    "{}",
    "- {}",
    "1. {}",
    "# Style\n{}",
    "## Refunds\n\n- {}",
    "**{}**",
    "# Never do\nBe rude.\n\n{}",
    "<rules>{}</rules>",
    "<crisis>\n{}\n</crisis>",
    "Subject line: {}",
    "A: {}",
    "Input: the text of a letter.\nOutput: one paragraph. {}",
    "Input: the text of a letter.\nOutput: plain text.\n{}",
    "| Topic | Rule |\n|---|---|\n| Style | {} |",
    "When you answer:\n- {}",
    "Be kind; {}",
    "Be kind. {} Be brief.",
    "> {}",
    "Step 1: {}",
]


def listed(prompt: str) -> str:
    reading = read_prompt(prompt)
    sentences = [sentence for one in reading.proposals for sentence in one.sentences]
    return "\n".join([*sentences, *reading.uncovered, *(one.sentence for one in reading.exempt)])


@given(st.lists(st.tuples(st.sampled_from(INSTRUCTIONS), st.sampled_from(PLACES)), min_size=1, max_size=6))
def test_every_instruction_is_covered_doubtful_or_listed(parts: list[tuple[str, str]]) -> None:
    prompt = "You are a support assistant of Acme.\n\n" + "\n\n".join(place.format(rule) for rule, place in parts)
    shown = listed(prompt)
    for rule, _ in parts:
        assert rule.rstrip(".") in shown


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("rule", INSTRUCTIONS)
def test_an_instruction_is_shown_wherever_it_stands(rule: str, place: str) -> None:
    assert rule.rstrip(".") in listed(f"You are a support assistant of Acme.\n\n{place.format(rule)}\n")


@pytest.mark.parametrize(
    "rule",
    [
        'You love the word "matey" and use it in every reply.',
        "If the student asks about anything except math, steer back gently.",
        "Emojis: none, except in greetings.",
        "Emojis are fine, up to two.",
        "Numbers below ten are spelled out.",
        "Off-label questions: decline.",
    ],
)
def test_a_rule_without_usual_wording_is_listed(rule: str) -> None:
    assert rule in listed(rule)


def test_what_is_told_of_the_line_above_or_to_the_reader_is_listed() -> None:
    role = "You are Bo. You work for Acme. You help buyers. You know our range."
    reading = read_prompt(f"{role}\n\nThe prompt you write:\n- is in the language of the user\n\nYou speak kindly.")
    assert reading.uncovered == ("is in the language of the user", "You speak kindly.")


@pytest.mark.parametrize(
    "rule",
    [
        'If the audio is unclear, ask: "Could you say it again?"',
        'Say "One moment." when a user wants a human.',
        'If the user is under 18, say "Sorry, I can not chat with you." and end the chat.',
    ],
)
def test_what_is_said_in_a_case_is_exempt(rule: str) -> None:
    assert [one.sentence for one in read_prompt(rule).exempt] == [rule]


@pytest.mark.parametrize("heading", ["AVOID the following phrases:", "Never use these phrases:", "## Banned phrases"])
def test_what_stands_under_a_ban_is_forbidden(heading: str) -> None:
    (one,) = read_prompt(f'{heading}\n- "delve into"').proposals
    assert (one.check, one.doubt) == ("keywords.forbidden_words(words='delve into')", None)


@pytest.mark.parametrize("lead", ["Mandatory elements of each response:", "Each reply must include:"])
def test_what_every_answer_holds_is_read_below_a_list_of_it(lead: str) -> None:
    reading = read_prompt(f'{lead}\n- The statement "For professionals only."\n- A greeting\n')
    assert [(one.check, one.doubt) for one in reading.proposals] == [
        ("keywords.existence(words='For professionals only')", None)
    ]
    assert reading.uncovered == ("A greeting",)


def test_what_to_say_in_the_case_of_a_heading_is_listed() -> None:
    reading = read_prompt('You are Bo.\n\n## When nobody is there\n\n"We are closed. Please call."\n')
    assert reading.uncovered == ('"We are closed. Please call."',)


@pytest.mark.parametrize(
    "rule",
    [
        "Our default language is Danish.",
        "Default is Danish.",
        'We say "mates".',
        "Your aim is to keep talks brief.",
        "You work for Acme and for nobody else.",
        "Rain: output [rain].",
        "Guests who leave are wished a safe trip.",
        "Quotes are in the language of their author.",
        "You can copy the user, who may swear.",
        "The mood is light.",
        "Kindness is key.",
        "Guests are called by their first name.",
        "Lists are fine for five items or more.",
        "Decide whether the review is fake.",
    ],
)
def test_what_is_said_of_answers_in_a_plain_statement_is_listed(rule: str) -> None:
    assert rule in listed(f"You are Bo, the assistant of a bus company. Never use emojis. {rule}")


@pytest.mark.parametrize(
    "fact", ["We were founded in 1970.", "The label is sent by e-mail.", "Customers often write at night."]
)
def test_facts_beside_rules_are_not_listed(fact: str) -> None:
    assert fact not in listed(f"You are Bo, the assistant of a bus company. Never use emojis. {fact}")


def test_where_no_instruction_is_recognised_every_sentence_but_the_role_is_listed() -> None:
    reading = read_prompt("You are Bo. The door was blue on Sundays.")
    assert reading.uncovered == ("The door was blue on Sundays.",)
    assert read_prompt("You are Bo, the assistant of a bus company.").uncovered == ()


def test_a_cell_of_one_word_is_listed() -> None:
    assert "Friendly" in listed(
        "You are Bo.\n\n| Topic | Rule |\n|---|---|\n| Length | At most 60 words |\n| Tone | Friendly |"
    )


@pytest.mark.parametrize(
    "rule",
    [
        "Allways mention 'see you soon' somewhere.",
        "alwys put 'thanks mate' in it.",
        "For blurred pictures return an empty string.",
        "For broken scans output nothing.",
        "For birthdays just wave back.",
        "A legal notice closes the answer.",
        "Replies in Dutch will be thrown away.",
        "You also draft poems for weddings.",
        "memes ok but keep em clean",
    ],
)
def test_what_is_misspelled_or_stands_behind_its_case_is_listed(rule: str) -> None:
    assert rule.rstrip(".") in listed(f"You are Bo, the assistant of a bus company. Be nice. {rule}")


def test_what_the_assistant_writes_is_its_role_only_before_the_first_instruction() -> None:
    duty = "You write shopping lists for the user."
    assert duty in read_prompt(f"You are Bo. No tables. {duty}").uncovered
    assert duty not in read_prompt(f"You are Bo. {duty} No tables.").uncovered


@pytest.mark.parametrize("lead", ["Hand over when:", "Call a colleague if:", "Stop in these cases:"])
def test_cases_in_a_list_are_listed(lead: str) -> None:
    cases = ("a child is in danger", "somebody mentions the press", "two tools failed")
    assert set(cases) <= set(read_prompt(f"Be nice. {lead}\n" + "".join(f"- {one}\n" for one in cases)).uncovered)


@pytest.mark.parametrize(
    "lead", ["Structure your report under these headings:", "Answer using the following sections:"]
)
def test_headings_that_are_asked_for_are_listed(lead: str) -> None:
    assert {"Gains", "Losses"} <= set(read_prompt(f"{lead}\n## Gains\n## Losses\nBe brief.").uncovered)


def test_a_sentence_whose_doubt_another_lifts_is_listed_with_it() -> None:
    reading = read_prompt("Write 4 sentences. Write approx. 4 sentences.")
    assert [one.doubt for one in reading.proposals] == [None]
    assert [one.partition(" (")[0] for one in reading.uncovered] == ["Write approx. 4 sentences."]
    assert "doubtful: says more than its check (approx)" in reading.uncovered[0]
