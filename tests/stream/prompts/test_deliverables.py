"""Where an answer holds several texts, one after the other, the limit of one of them is none of the answer."""

import pytest

from turnsignal.stream.prompts.reader import read_prompt


@pytest.mark.parametrize(
    "prompt",
    [
        "Summarize the text in three sentences. Next, list the places mentioned.",
        "First, condense it to at most 40 words. Second, rate it from 1 to 5.",
        "Rewrite the text in lowercase. Append a remark on style.",
        "Write a slogan in all caps. Write a text for the flyer.",
        "Tasks:\n1. Summarize the text in one sentence.\n2. List five keywords.",
        "To do:\n- Classify the text.\n- Summarize it in at most 30 words.",
        "You are Bo.\n\nAnswer with:\n- one sentence\n- a table of the figures\n- two questions",
        "You are Bo.\n\nRespond in two sentences. Additionally, propose a headline.",
    ],
)
def test_the_limit_of_one_of_several_texts_is_doubtful(prompt: str) -> None:
    proposals = read_prompt(prompt).proposals
    assert proposals
    assert all(one.doubt is not None for one in proposals)


def test_a_list_of_parts_bounds_no_bullets_of_the_answer() -> None:
    prompt = "You summarise meetings. Produce:\n- a title\n- 3 to 5 bullet points\n- a section on owners"
    assert {one.doubt for one in read_prompt(prompt).proposals} == {"may concern one of several parts (“a title”)"}


@pytest.mark.parametrize(
    "prompt",
    [
        "Write a poem about rain. Write a poem of at most 40 words. Write it in lowercase.",
        "Write a story about a dog. Give the story a title. Use at most 200 words.",
        "Your answers must:\n- have at most 100 words\n- contain a question",
        "Write a tweet.\n- max 200 characters\n- no hashtags",
        "Rules:\n- Use at most 3 sentences.\n- Give an example.",
        "You are Bo. Respond in at most 50 words. Also answer in plain English.",
    ],
)
def test_rules_of_one_text_stay(prompt: str) -> None:
    assert read_prompt(prompt).proposals
    assert read_prompt(prompt).doubtful == 0
