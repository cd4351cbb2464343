"""A name that is an everyday word, too, is for a person to decide; the names beside it are not."""

import pytest

from turnsignal.stream.prompts.reader import read_prompt


def doubts(prompt: str) -> dict[str, str | None]:
    return {str(one.check).partition("(?:")[2].partition(")")[0]: one.doubt for one in read_prompt(prompt).proposals}


@pytest.mark.parametrize(
    ("prompt", "expected"),
    [
        ("Never mention Trello, Monday or Asana.", {"Trello|Asana": None, "Monday": "is an everyday word, too"}),
        ("Do not mention competitors such as Target.", {"Target": "is an everyday word, too"}),
        ('Never mention "Webex" or "Zoom".', {"Webex": None, "Zoom": "is an everyday word, too"}),
        ("Never mention Zendesk.", {"Zendesk": None}),
    ],
)
def test_a_name_that_is_an_everyday_word_is_doubtful(prompt: str, expected: dict[str, str | None]) -> None:
    assert doubts(prompt) == expected


def test_a_word_that_is_forbidden_as_a_word_is_not() -> None:
    (proposal,) = read_prompt('Never say "Monday".').proposals
    assert proposal.doubt is None
