"""TOML: what is written reads back as the same values, whoever they are from."""

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnsignal.stream.text.toml import parse_toml, write_toml, write_value

TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
VALUES = TEXTS | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.lists(TEXTS)


@given(VALUES)
def test_a_value_reads_back_as_it_was(value: object) -> None:
    assert tomllib.loads(f"x = {write_value(value)}")["x"] == value


@pytest.mark.parametrize("text", ["a\u202eb", "a\x7fb", "a\u2028b", "\u00a0"])
def test_what_a_terminal_would_obey_or_hide_is_escaped(text: str) -> None:
    assert write_value(text).isprintable()


def test_sections_and_lists_of_tables_stand_after_plain_values() -> None:
    data = {"a": {"x": 1}, "n": 2, "many": [{"y": "1"}, {"y": "2", "z": {"w": True}}]}
    written = write_toml(data)
    assert written.startswith("n = 2\n")
    assert tomllib.loads(written) == data


@pytest.mark.parametrize("text", ["x = ", f"x = {'[' * 5_000}{']' * 5_000}", f"x = {'9' * 5_000}"])
def test_whatever_cannot_be_read_is_one_kind_of_error(text: str) -> None:
    with pytest.raises(tomllib.TOMLDecodeError):
        parse_toml(text)


@pytest.mark.parametrize("text", ["nan", "-inf", "1e999"])
def test_what_is_no_finite_number_is_a_text(text: str) -> None:
    assert parse_toml(f"x = {text}\ny = 1.5") == {"x": text, "y": 1.5}
