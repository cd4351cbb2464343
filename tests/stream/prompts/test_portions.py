"""Where a sentence names several parts or tasks, a limit may bind one of them; otherwise it binds the answer."""

import pytest

from turnsignal.stream.prompts.reader import read_prompt

ROLE = "You are Bo, an assistant.\n\n"


@pytest.mark.parametrize(
    "prompt",
    [
        "Draft a speech with an introduction of three sentences, a middle and an ending.",
        "Create a landing page that includes a slogan in all caps plus a paragraph about the product.",
        "Write a report which contains an abstract (at most 80 words), findings and advice.",
        "Make a flyer with a headline that has no emojis and a funny text.",
        "Write a story with a prologue without commas, and a long middle.",
        'Write a story with a title that doesn\'t contain the word "dragon" and a long middle.',
        "Write an article of 500 words with a lead of at most 50 words.",
        "Write a letter with three paragraphs, a subject line and a valediction.",
        "Provide a summary in 5 bullet points as well as a list of names.",
        "Write a summary with two sentences per chapter.",
        "Translate the text, then explain the grammar in two sentences.",
        "Rewrite the paragraph and give a one-sentence reason for the changes.",
    ],
)
def test_a_limit_beside_other_parts_is_doubtful(prompt: str) -> None:
    limits = [one for one in read_prompt(prompt).proposals if "500" not in one.check]
    assert limits
    assert all(one.doubt is not None for one in limits)


@pytest.mark.parametrize("task", ["give an example", "suggest a topic"])
def test_an_answer_with_a_task_beside_it_has_more_sentences(task: str) -> None:
    for before in ("", ROLE):
        assert read_prompt(f"{before}Answer the question in one sentence and {task}.").doubtful == 1


@pytest.mark.parametrize(
    "prompt",
    [
        "Summarize the text in two sentences.",
        "Write a story about a boy with a red hat in at most 100 words.",
        "Create a story in English about a dragon and a knight with at most 200 words.",
        "Write an essay on tea in three paragraphs and a formal tone.",
        "Write a letter to my boss and tell him about my holiday, at most 100 words.",
        "Please write a summary of the article (at most 80 words).",
        "Write a song in at most 120 words and two paragraphs.",
        "Write a text with a hook of at least 30 words and an ending.",
        ROLE + "Keep your answers under 50 words and include an example.",
        ROLE + "MAX 3 SENTENCES PER REPLY.",
        ROLE + "Answer in two sentences and use a friendly tone.",
    ],
)
def test_a_limit_of_the_one_text_stays(prompt: str) -> None:
    assert read_prompt(prompt).proposals
    assert read_prompt(prompt).doubtful == 0
