"""Frames: titles, salutations, sign-offs, postscripts and lists of sources, which counts would take for the text."""

import pytest

from turnsignal.stream.checks import parse_check
from turnsignal.stream.checks.protocol import Result
from turnsignal.stream.citations.reader import citation_reader
from turnsignal.stream.conversations.exchanges import Response
from turnsignal.stream.prompts.reader import read_prompt

ROLE = "You are Bo, an assistant.\n\n"
FRAMED = [
    ("- At most two paragraphs.", '- Sign off with "The press office".'),
    ("- At most two paragraphs.", '- End every answer with "This is not advice."'),
    ("- At most two paragraphs.", "- Greet the customer by name."),
    ("- At most 120 words.", '- Finish with a section "Sources" that lists what you used.'),
    ("- At most 120 words.", "- Below the answer, list three related articles."),
    ("- At most 900 characters.", "- The references come below the answer."),
    (
        "- At most 120 words.",
        '- Always append the disclaimer "This is general information and no advice for your own case."',
    ),
    ("- Answers have at most 60 words.", "- Answer in German first and then in English."),
    ("- No more than three paragraphs.", "- Write a subject line, then the text."),
    ("- No more than three paragraphs.", "- Add a postscript that names the next event."),
    ("- Answer in one paragraph.", "- List the sources at the very end, one per line."),
    ("- 2 sentences max.", '- Sign with "Paws & Co".'),
    ("- At most 3 sentences.", '- Always close with "Your Aurelia team"'),
    ("- At most 3 sentences.", '- Always close with "Your Aurelia team."'),
    ("- At most 3 sentences.", '- If it is urgent, close with "Your Aurelia team"'),
    ("- At most 3 sentences.", "- Finish with the line: Viewings by appointment"),
    ("- At most 2 paragraphs.", '- At the end of every answer add the sentence "This is no advice." on its own line.'),
    ("- At most 2 paragraphs.", '- The last line must be "This is not advice."'),
    ("- At most three sentences.", '- End every answer with "Stay curious!"'),
    ("- At most three sentences.", '- Always say "Stay curious!" at the end of the answer.'),
    ("- At most three sentences.", '- Start every answer with "Thanks for writing!"'),
    ("- At most three sentences.", '- At the end of the call say "Thank you for calling Acme Bank."'),
    ("- At most three sentences.", '- Add the disclaimer "Rates may change." after your answer.'),
    ("- At most three sentences.", "- Every answer carries a legal notice."),
    ("- At most three sentences.", '- Start each answer by greeting the patient ("Hello! Thanks for writing.").'),
    ("- At most three sentences.", "- Show prices in a table."),
    ("- At most three sentences.", "- Put code in fenced code blocks."),
    ("- At most three sentences.", "- Follow with a bulleted list of links."),
    ("- At most two paragraphs.", "- After each answer, suggest three follow-up questions as a list."),
    ('- Never start with "Sure".', "- Write a subject line, then the text."),
    ("- At most 6 sentences.", "- Finish with a list of references."),
    ('- Start with "Long ago".', "- Give each fable a title."),
    ('- Begin every answer with "Dear parents,".', "- Every newsletter has a headline."),
    ('- Begin every answer with "Dear parents,".', "- Subject: at most six words."),
    ('- Begin every reply with "Thanks for reaching out".', "- Greet the customer by name."),
    ("- Cite the source as [n] behind each sentence.", "- List all sources at the end."),
]
BARE = [
    ("- A single paragraph, no line breaks.", '- End every answer with "This is not advice."'),
    ("- At most two paragraphs.", "- No greeting, no sign-off."),
    ("- At most two paragraphs.", '- Never end with "Your Aurelia team".'),
    ("- At most two paragraphs.", '- The caption ends with "Your Aurelia team".'),
    ('- Never start with "Sure".', "- Start with the answer itself."),
    ("- At most two paragraphs, including the closing.", '- End every answer with "Ask again."'),
    ("- At most two paragraphs.", "- End with a question."),
    ("- At most three sentences.", "- Greet the customer by name."),
    ("- At most three sentences.", "- Close with a question."),
    ("- At most three sentences.", "- No tables, no code blocks, no bullet points."),
    ("- At most three sentences.", "- Answer from the table below."),
    ("- At most two paragraphs.", "- Show prices in a table."),
    ("- At most two paragraphs.", "- Put code in fenced code blocks."),
    ('- Start with "Sure:".', "- Do not add a title."),
    ('- Start with "Sure:".', "- Mention the title of the film."),
    ('- Start with "Sure:".', "- Give the title of the film in each answer."),
    ('- Start with "Hello!".', "- Greet the guest warmly."),
    ("- Answers have at most 90 words.", '- Sign off with "The press office".'),
    ("- Answers have at most 90 words.", '- Always append "Your Aurelia team".'),
    ("- Answers have at most 90 words.", "- Citations stand after the text that they support."),
    ("- Answers have at least 90 words.", "- Below the answer, list three related articles."),
]


def doubts(rule: str, other: str) -> list[str | None]:
    proposals = read_prompt(ROLE + f"{rule}\n{other}").proposals
    sentence = rule.removeprefix("- ")
    return [one.doubt for one in proposals if sentence in one.sentences and not one.check.startswith("citation.f")]


@pytest.mark.parametrize(("rule", "other"), FRAMED)
def test_what_would_count_or_displace_a_frame_is_doubtful(rule: str, other: str) -> None:
    assert any(doubt is not None and other.removeprefix("- ")[:40] in doubt for doubt in doubts(rule, other))


@pytest.mark.parametrize(("rule", "other"), BARE)
def test_what_no_frame_touches_holds(rule: str, other: str) -> None:
    assert doubts(rule, other) == [None]


@pytest.mark.parametrize("role", ["You write letters to customers.", "You answer guests by e-mail."])
def test_letters_have_a_salutation_that_nobody_names(role: str) -> None:
    (proposal,) = read_prompt(f"{role}\n\n- At most three paragraphs.").proposals
    assert proposal.doubt is not None
    assert "would count" in proposal.doubt


def test_a_least_number_of_paragraphs_holds_whatever_frames_them() -> None:
    reading = read_prompt(f'{ROLE}- Write at least two paragraphs.\n- Sign off with "The press office".')
    assert [one.doubt for one in reading.proposals] == [None, None]


TABLE = "| Item | Price |\n|---|---|\n| Oil | 9 |"
CODE = "```sh\nmake\n\n\nmake check\n```"


@pytest.mark.parametrize("piece", [TABLE, CODE, f"{CODE}\n\n{TABLE}"])
def test_tables_and_code_are_no_paragraphs(piece: str) -> None:
    (proposal,) = read_prompt(f"{ROLE}- At most two paragraphs.").proposals
    check = parse_check(proposal.check)
    for text, passes in [
        (f"Here it is.\n\n{piece}\n\nAsk again.", True),
        (f"{piece}\n\nHere it is.\n\nAsk again.", True),
        (f"Here it is.\n\n{piece}\n\nAsk again.\n\nBye.", False),
        ("`make` builds it.\n\nSo it is.\n\nBye.", False),
        ("One.\r\n\r\nTwo.\r\n\r\nThree.", False),
    ]:
        assert (check.check(Response(text, [], citation_reader())).result is Result.PASS) is passes, text
