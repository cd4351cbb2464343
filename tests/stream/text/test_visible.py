import pytest

from turnsignal.stream.text.visible import OF_TEXTS, visible


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain", "plain"),
        ("a\nb", r"a\nb"),
        ("\x1b[31m", r"\x1b[31m"),
        ("abc\u202edcba", r"abc\u202edcba"),
        ("\ud800", r"\ud800"),
        ("\u2066x\u2069", r"\u2066x\u2069"),
    ],
)
def test_what_a_text_hides_is_spelled_out(text: str, shown: str) -> None:
    assert visible(text) == shown


def test_a_text_over_several_lines_keeps_its_lines_and_its_joiners_and_nothing_else() -> None:
    assert visible("a\n\tb\u200cc\u200dd\u202ee", OF_TEXTS) == "a\n\tb\u200cc\u200dd\\u202ee"
