"""Words that may be one word, misspelt: one letter apart, or two neighbours that changed places."""

from hypothesis import given
from hypothesis import strategies as st

from tests.examples import examples
from turnsignal.stream.text.wordplay import nearly, spelled_as

LETTERS = "abß"
WORDS = st.text(LETTERS, max_size=7)


def one_change_away(word: str) -> set[str]:
    """Write out every word that one slip makes of a word."""
    cuts = [(word[:at], word[at:]) for at in range(len(word) + 1)]
    added = {head + letter + tail for head, tail in cuts for letter in LETTERS}
    lost = {head + tail[1:] for head, tail in cuts if tail}
    changed = {head + letter + tail[1:] for head, tail in cuts if tail for letter in LETTERS}
    turned = {head + tail[1] + tail[0] + tail[2:] for head, tail in cuts if len(tail) > 1}
    return {word} | added | lost | changed | turned


@examples(500)
@given(WORDS, WORDS)
def test_words_are_nearly_the_same_where_one_slip_makes_one_of_the_other(word: str, other: str) -> None:
    assert nearly(word, other) == nearly(other, word) == (other in one_change_away(word))


@examples(100)
@given(WORDS)
def test_every_slip_is_nearly_the_word(word: str) -> None:
    assert all(nearly(word, other) for other in one_change_away(word))


def test_a_misspelt_word_of_the_prompt_is_read_as_that_word() -> None:
    asked = frozenset(("password", "reset"))
    assert [spelled_as(word, asked) for word in ("pasword", "passwrod", "passwords", "paswrod", "rset", "reser")] == [
        *("password", "password", "password", "paswrod", "reset", "reset")
    ]
