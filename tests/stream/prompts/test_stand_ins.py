"""Stand-ins: a reply in place of an answer takes from the others what it cannot keep, and nothing else."""

import pytest

from turnsignal.stream.prompts.reader import read_prompt

ROLE = "You are Bo, an assistant of a library.\n\n"
REQUIRED = [
    'Start every answer with "Good day".',
    'End every answer with "Happy reading!"',
    "Every answer has at least 60 words.",
]
STAND_INS = [
    "If the catalogue doesn't list the book, say so and name the desk on floor two.",
    "When the leaflets are silent, admit it and refer the reader to the desk.",
    "Say that you don't know when the leaflets do not cover it.",
    'If the fee is not listed, say "The desk knows the fee" and point to desk@lib.example.',
    'Answer QUIT with "You get no more messages."',
    "If a reader is in danger, drop the act and tell them to call the porter.",
    "If a reader is hurt, stop acting and give the number of the porter.",
    "Never leave your role unless a reader is in danger.",
    "Hellos and thanks get a brief, kind reply.",
    "Other topics: decline in one sentence.",
    "You write letters to readers and you chat with the librarian.",
    "To call the porter, output [PORTER] and nothing else.",
    "Emergencies: output [PORTER].",
    "For an emergency, reply with the token `<porter/>`.",
    'Thank-you notes get a short "With pleasure!"',
    "Reply with [LOAN] when a book is lent.",
    'Confirmations ("ok") need only a few words.',
]
NO_STAND_INS = [
    "If the user doesn't speak English, write slowly.",
    "If the book is not there, never say so.",
    "Never break character.",
    'If a reader asks for a book, say "I would love to" first and then list it.',
    'If they write "please tell me more", add a title.',
    'If no book fits, say "Good day, no book fits here. Happy reading!"',
    "If you don't know, say so and still end with the wish.",
    "Short answers are easier to read.",
    'Every reader gets a short "Good day".',
    "Never output [PORTER].",
    'Say "loan" when readers do not know "lending".',
]
KEPT = ["Answers have at most 90 words.", "No emojis.", 'Never use the word "cheap".']


def doubts(*sentences: str) -> list[str | None]:
    rules = "\n".join(f"- {sentence}" for sentence in sentences)
    asked = [one for one in read_prompt(ROLE + rules).proposals if sentences[0] in one.sentences]
    assert asked
    return [one.doubt for one in asked]


@pytest.mark.parametrize("other", STAND_INS)
@pytest.mark.parametrize("rule", REQUIRED)
def test_what_a_reply_in_place_of_an_answer_fails_is_doubtful(rule: str, other: str) -> None:
    assert all((one or "").startswith("has an exception") for one in doubts(rule, other))


def test_a_reply_in_a_table_stands_in_for_an_answer() -> None:
    table = '| Case | {} |\n|---|---|\n| Angry | "I hear you." |'
    for column, doubt in (("Reply", 'has an exception (“"I hear you."”)'), ("Feeling", None)):
        proposals = read_prompt(f"{ROLE}- {REQUIRED[1]}\n\n{table.format(column)}").proposals
        assert [one.doubt for one in proposals] == [doubt]


UNANSWERING = ["Decline legal questions.", "If the question is unclear, ask back."]


@pytest.mark.parametrize("other", UNANSWERING)
def test_a_refusal_and_a_question_are_short_and_end_as_answers_do(other: str) -> None:
    assert doubts(REQUIRED[1], other) == [None]
    assert doubts(REQUIRED[2], other) == [f"has an exception (“{other}”)"]


@pytest.mark.parametrize("other", [*STAND_INS, *UNANSWERING])
def test_no_such_reply_cites(other: str) -> None:
    reading = read_prompt(f"{ROLE}- Always cite a source.\n- {other}")
    assert [one.doubt is None for one in reading.proposals if one.check == "citation.required"] == [False]


@pytest.mark.parametrize("other", [*STAND_INS, *NO_STAND_INS])
@pytest.mark.parametrize("rule", KEPT)
def test_limits_and_bans_hold_of_such_replies_too(rule: str, other: str) -> None:
    assert doubts(rule, other) == [None]


@pytest.mark.parametrize("other", NO_STAND_INS)
def test_what_keeps_the_rule_or_stands_in_an_answer_changes_nothing(other: str) -> None:
    assert doubts('End every answer with "Happy reading!"', other) == [None]


def test_a_reply_of_fixed_words_alone_is_exempt() -> None:
    reading = read_prompt(f'{ROLE}- {REQUIRED[1]}\n- Reply to QUIT messages with "You are off the list." only.')
    assert [one.text for one in reading.exempt] == ["You are off the list."]
    assert [one.doubt for one in reading.proposals] == [None]
