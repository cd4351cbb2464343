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
ASIDES = [
    "Emergencies: drop everything above and give the number 112.",
    "In a crisis: stop the conversation style above and give the number 988.",
    "Suicidal thoughts: give the crisis line only, nothing else.",
    "Off-hours: just say we are closed.",
    "Spam: ignore the message and reply with a short no instead.",
]
NO_ASIDES = ["Tone: use only plain words.", "Sources: answer only from the documents.", "Format: plain text only."]
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


@pytest.mark.parametrize("aside", ASIDES)
@pytest.mark.parametrize("rule", ["Answers have 30 to 80 words.", 'End every answer with "Sleep well".'])
def test_a_line_for_a_case_of_its_own_is_an_exception(aside: str, rule: str) -> None:
    (proposal,) = read_prompt(f"{ROLE}- {rule}\n- {aside}").proposals
    assert proposal.doubt == f"has an exception (“{aside[:80]}”)"


@pytest.mark.parametrize("line", NO_ASIDES)
def test_a_line_about_all_answers_is_no_exception(line: str) -> None:
    (proposal,) = read_prompt(f"{ROLE}- Answers have 30 to 80 words.\n- {line}").proposals
    assert proposal.doubt is None


@pytest.mark.parametrize(
    "rest", ["Only the farewell doesn't.", "Only refusals do not.", "Only the first one never does."]
)
def test_a_sentence_that_names_what_does_not_is_an_exception(rest: str) -> None:
    (proposal,) = read_prompt(f'{ROLE}All replies begin with "Beep". {rest}').proposals
    assert proposal.doubt is not None


@pytest.mark.parametrize(
    ("sentence", "text"),
    [
        ('You never give advice on injuries. You say instead: "See a doctor first."', "See a doctor first."),
        ('Minors get none; they hear "Come back when you are 18."', "Come back when you are 18."),
        ('Callers under 16 hear "Please ask a parent."', "Please ask a parent."),
        ('You never talk about politics. You reply "Let us stick to wine." to that.', "Let us stick to wine."),
        ('Text for outages, to be used verbatim: "We are sorry, a fix is near."', "We are sorry, a fix is near."),
    ],
)
def test_a_fixed_text_in_place_of_an_answer_is_exempt(sentence: str, text: str) -> None:
    assert [one.text for one in read_prompt(ROLE + sentence).exempt] == [text]


@pytest.mark.parametrize(
    "sentence",
    [
        'Never say "stop". Instead, say "please do hold on".',
        'Say "basket" instead.',
        'Users often hear "No." elsewhere.',
    ],
)
def test_words_in_place_of_others_are_no_answer(sentence: str) -> None:
    assert read_prompt(ROLE + sentence).exempt == ()


STORIES = "You write bedtime stories for children.\n\n"


@pytest.mark.parametrize(
    "beside",
    [
        "If the parent asks something else than a story, answer briefly.",
        "If someone asks for anything other than a story, help them.",
        "Answer other questions of parents politely.",
        "Parents also ask questions about sleep.",
        "Questions about the app: answer politely.",
    ],
)
@pytest.mark.parametrize(
    "rule", ['End with "Good night."', 'Start with "Long ago"', "At most 300 words.", "No commas."]
)
def test_what_is_said_of_texts_of_one_kind_is_not_of_other_answers(rule: str, beside: str) -> None:
    (proposal,) = read_prompt(f"{STORIES}- {rule}\n- {beside}").proposals
    assert proposal.doubt == f"has an exception (“{beside}”)"


@pytest.mark.parametrize("rule", ["Answers have at most 300 words.", "No emojis.", 'Never use the word "monster".'])
def test_what_is_said_of_all_answers_is_of_those_to_other_questions(rule: str) -> None:
    (proposal,) = read_prompt(f"{STORIES}- {rule}\n- Answer other questions of parents politely.").proposals
    assert proposal.doubt is None


def test_an_assistant_that_writes_no_texts_of_one_kind_answers_other_questions_alike() -> None:
    (proposal,) = read_prompt(f'{ROLE}- End with "Bye."\n- Answer other questions politely.').proposals
    assert proposal.doubt is None
