"""What a suite exempts is matched word for word, but for its holes."""

import pytest

from turnsignal.stream.errors import ConfigError
from turnsignal.stream.suite import parse_suite
from turnsignal.stream.text.exemptions import Exemptions

FALLBACK = "I can only help with {{product}}."


@pytest.mark.parametrize("text", ["I can only help with Zephyr.", " I can only help with Zephyr 2.\n", FALLBACK])
def test_a_hole_is_filled_by_any_name(text: str) -> None:
    assert text in Exemptions([FALLBACK])


@pytest.mark.parametrize(
    "text",
    [
        "I can only help with .",
        "I can only help with Zephyr. Bye.\nMore",
        "I can help with Zephyr.",
        f"I can only help with {'x' * 81}.",
        "",
    ],
)
def test_what_differs_elsewhere_is_none(text: str) -> None:
    assert text not in Exemptions([FALLBACK])


def test_what_a_pattern_would_read_is_itself() -> None:
    assert "Wait (1+1)* for \u201cX\u201d" in Exemptions(['Wait (1+1)* for "{{a}}"'])
    assert "anything" not in Exemptions([])


@pytest.mark.parametrize("text", ["{{answer}}", "{{a}} {{b}}.", "Error {{code}}: {{text}}"])
def test_what_is_hardly_more_than_holes_is_refused(text: str) -> None:
    with pytest.raises(ConfigError, match="expected 2 words at least beside what is filled in"):
        Exemptions([text])
    with pytest.raises(ConfigError, match="exempt"):
        parse_suite(f'exempt = ["{text}"]')
    assert "N/A" in Exemptions(["N/A"])
