"""Edges and floors: how every answer starts, ends, or how long it is, and what another sentence takes from that."""

import pytest

from turnsignal.stream.prompts.reader import read_prompt

ROLE = "You are Bo, an assistant.\n\n"
TAKEN = [
    ("- End with a question to spark comments.", "- Put 3 to 5 hashtags on the last line."),
    ("- End with a question.", "- Add five hashtags at the end."),
    ("- End with a question to the reader.", '- Sign off as "Maya from Fern".'),
    ('- Open with "Welcome back."', "- Each line starts with the host's name in capitals and a colon."),
    ('- Start with "Dear reader,"', "- An H1 title comes at the top."),
    ("- Answers are between 60 and 120 words.", "- Visitors may ask for opening hours: answer these in one sentence."),
    ("- Answers have at least 30 words.", "- Greetings and thanks get a short line back."),
    ("- Answers have at least 30 words.", "- Yes/no questions can be answered briefly."),
    (
        '- Always end with "Call 911."',
        "- If the user describes chest pain, skip everything else and tell them to call.",
    ),
    ('- Each answer ends with "Solved?"', "- If it did not help, create a ticket and reply with its number only."),
    ('- Always end with "The end."', "- Before the first story, ask for the child's name."),
]
LEFT = [
    ("- End with a question.", "- Never put hashtags at the end."),
    ('- End every answer with "Anything else?"', "- Citations are placed after the text that they support."),
    ('- End every answer with "Anything else?"', "- Answer from the documents only."),
    ("- Answers have at least 30 words.", "- Short paragraphs are easier to read."),
    ("- Answers have at most 90 words.", "- Greetings and thanks get a short line back."),
    ("- No emojis.", "- Put 3 to 5 hashtags on the last line."),
]


@pytest.mark.parametrize(("rule", "other"), TAKEN)
@pytest.mark.parametrize("is_before", [False, True])
def test_what_another_sentence_takes_from_some_answers_is_doubtful(rule: str, other: str, is_before: bool) -> None:
    lines = (other, rule) if is_before else (rule, other)
    proposals = read_prompt(ROLE + "\n".join(lines)).proposals
    asked = [one for one in proposals if rule.removeprefix("- ") in one.sentences]
    assert asked
    assert all(one.doubt is not None for one in asked)


@pytest.mark.parametrize(("rule", "other"), LEFT)
def test_what_no_other_sentence_takes_from_any_answer_holds(rule: str, other: str) -> None:
    proposals = read_prompt(ROLE + f"{rule}\n{other}").proposals
    assert [one.doubt for one in proposals if rule.removeprefix("- ") in one.sentences] == [None]
