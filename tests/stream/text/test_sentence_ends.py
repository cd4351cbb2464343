"""Where sentences end, as people count them."""

import pytest

from turnsignal.stream.text.sentence_ends import count_sentences


@pytest.mark.parametrize(
    "text",
    [
        "Doors open at 7 p.m. Eastern.",
        "Trains leave at 8 a.m. Monday through Thursday.",
        "The U.S. Congress passed it.",
        "Send it to P.O. Box 1234 in Washington, D.C. if you can.",
        "The author is J.R.R. Tolkien.",
        "She earned her Ph.D. in Leeds.",
        'He shouted "Fire!" and ran out.',
        "“Are you sure?” asked the clerk.",
        "It is free (yes, really!) for members.",
        "It weighs 12 lbs. and is 20 in. wide.",
        "He lives in Austin, Tex. with his dog.",
        "See para. 4, or pp. 12 and 13.",
        "The office is at 5 Elm St. in Boston.",
        "The item is No. 7 on the list.",
        "Press Ctrl + . to open it.",
        "It is open Mon. Tue. and Wed. only.",
    ],
)
def test_what_goes_on_is_one_sentence(text: str) -> None:
    assert count_sentences(text) == 1


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("It opens at 9 a.m. The desk is left.", 2),
        ("She lives in the U.S. He lives here.", 2),
        ("No. We are closed. Sorry.", 3),
        ('"Really?" he asked. "Yes!"', 2),
        ('He said "Stop!" Then he left.', 2),
        ("Stop! Go back. Why?", 3),
        ('ok. sure. so "what?" she asks. stop! go.', 6),
        ("It is free. iPhones cost more.", 2),
        ("It weighs 12 lbs. It is blue.", 2),
        ("It is at 5 Elm St. It is red.", 2),
        ("Really? yes.", 2),
        ("Das kostet ca. 5 Euro. Mehr nicht.", 2),
        ("Great! Customers love it.", 2),
        ("", 0),
        ("...", 1),
    ],
)
def test_what_ends_begins_another(text: str, count: int) -> None:
    assert count_sentences(text) == count
