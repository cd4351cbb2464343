"""Quoted lines: what a message repeats of the one before is told from what its writer says."""

import pytest

from turnsignal.stream.text.quoted_lines import own_words


@pytest.mark.parametrize(
    ("text", "own"),
    [
        ("Thanks!\n\n> Press Reset.\n> It is red.", "Thanks!"),
        ("> Press Reset.\nThere is none.\n> It is red.\nIt is blue.", "There is none.\nIt is blue."),
        ("Merci !\n\nLe lundi 3 mars, Aide <aide@a.test> a écrit :\n>\n> Appuyez.", "Merci !"),
        ("I wrote:\nno answer came.", "I wrote:\nno answer came."),
        ("  > indented\nmine", "mine"),
        ("a > b and b > c", "a > b and b > c"),
        ("> all of it", "> all of it"),
        ("", ""),
    ],
)
def test_own_words_are_what_is_not_quoted(text: str, own: str) -> None:
    assert own_words(text) == own
