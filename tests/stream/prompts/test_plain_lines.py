"""Rules on lines in lower case, without bullets and full stops, are told apart."""

import pytest

from turnsignal.stream.prompts.reader import read_prompt

RULES = (
    "keep msgs short",
    "no links except to lumo.example",
    "spoilers = no",
    "dont talk about the admins or the other servers or what they did last year",
    'if asked for loot say "nope" and nothing else',
    "always end w/ a random bike fact",
    "be funny but not mean",
)


@pytest.mark.parametrize(
    "opener", ["Bot for my bike club", 'Bot for the server "Lumo".', "ur the bot for our club", "You are Bo."]
)
def test_each_line_is_a_sentence(opener: str) -> None:
    reading = read_prompt("\n".join([opener, *RULES]))
    shown = [*(one for proposal in reading.proposals for one in proposal.sentences), *reading.uncovered]
    shown += [one.sentence for one in reading.exempt]
    assert set(RULES) <= {one.partition(" (no check")[0] for one in shown}


@pytest.mark.parametrize(
    "prompt",
    [
        "You are a bot that answers for\nno reason but to\nkeep us company",
        "if a guest is angry say sorry\nno emojis",
        "Tell guests about the pool and the\nnew sauna",
    ],
)
def test_what_goes_on_or_holds_in_a_case_is_not_parted(prompt: str) -> None:
    reading = read_prompt(prompt)
    assert all(one.doubt is not None for one in reading.proposals)
    assert prompt.replace("\n", " ") in [
        *reading.uncovered,
        *(one for each in reading.proposals for one in each.sentences),
    ]


@pytest.mark.parametrize(
    ("prompt", "sentences"),
    [
        ("One question, to be answered with yes or no. No emojis.", {"No emojis."}),
        ("Answers have at most thirty-five (35) words.", {"Answers have at most thirty-five (35) words."}),
        (
            "Replies must be shorter than two hundred (200) words.",
            {"Replies must be shorter than two hundred (200) words."},
        ),
    ],
)
def test_no_ends_a_sentence_and_a_number_may_be_written_twice(prompt: str, sentences: set[str]) -> None:
    sure = [one for one in read_prompt(prompt).proposals if one.doubt is None]
    assert {sentence for one in sure for sentence in one.sentences} == sentences
