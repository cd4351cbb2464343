"""What some messages get alone, or without a link, lets off from what answers hold; a part of one does not."""

import pytest

from turnsignal.stream.prompts.reader import read_prompt

LINK = "Always include the link https://x.example/help."


@pytest.mark.parametrize(
    "other",
    [
        'If somebody asks for a manager, answer with the text "MANAGER" only.',
        "In an alarm tell them to leave the house and nothing else.",
        "If it is illegal, refuse without any link.",
        "The last reply has no links.",
        "Refusals are brief and bare.",
        "Respond to compliments with a smile only.",
        "Greet back with a plain hello.",
        'When asked for your name: "I am Mia."',
    ],
)
def test_what_some_messages_get_alone_lets_off(other: str) -> None:
    doubt = read_prompt(f"{LINK}\n{other}").proposals[0].doubt
    assert doubt is not None
    assert other[:40] in doubt


@pytest.mark.parametrize(
    "other", ["Keep lists bare of jargon.", "Do not send more than one link.", "Use words only you know."]
)
def test_what_is_said_of_all_answers_lets_nothing_off(other: str) -> None:
    assert read_prompt(f"{LINK}\n{other}").proposals[0].doubt is None


def test_what_fills_a_part_is_no_answer() -> None:
    reading = read_prompt(
        'You review code.\nList the risks. If there are none, write "None found."\n'
        'Every answer must contain the word "Summary".'
    )
    assert reading.exempt == ()
    assert [one.doubt for one in reading.proposals] == [None]


def test_what_may_fill_a_part_makes_a_requirement_doubtful_that_is_not_of_every_answer() -> None:
    (proposal,) = read_prompt(
        'You review code.\nStart with "Risks:".\nIf there are none, write "None found."'
    ).proposals
    assert proposal.doubt is not None


def test_a_reply_that_something_is_added_to_is_no_answer_yet() -> None:
    thanks = 'If the user thanks you, say "My pleasure!"'
    assert read_prompt(f"{thanks} Then ask for a rating.").exempt == ()
    assert [one.text for one in read_prompt(f"{thanks} Then stop.").exempt] == ["My pleasure!"]
