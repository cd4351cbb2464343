"""The headers of a record are read as far as they can be, and nobody's harm no other."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.kafka.raw import field, number
from turnsignal.agents.kafka.records import MOST_HEADERS, read_headers

ONE = field(b"a") + field(b"1")


def test_headers_are_read_in_their_order_and_may_have_no_value() -> None:
    data = number(3) + ONE + field(b"b") + field(None) + ONE
    assert read_headers(data) == [("a", b"1"), ("b", None), ("a", b"1")]


def test_a_record_of_an_old_format_has_none() -> None:
    assert read_headers(b"") == []


@pytest.mark.parametrize("name", [b"\xff", "größe".encode("latin-1")])
def test_a_name_that_is_no_text_is_nobodys(name: bytes) -> None:
    (odd, after) = read_headers(number(2) + field(name) + field(b"2") + ONE)
    assert odd == (name.decode("ascii", "backslashreplace"), b"2")
    assert after == ("a", b"1")


def test_what_stands_before_a_header_that_cannot_be_read_is_read() -> None:
    assert read_headers(number(2) + ONE + number(500) + b"b") == [("a", b"1")]
    assert read_headers(number(5) + ONE) == [("a", b"1")]
    assert read_headers(number(-1) + ONE) == []


def test_no_more_are_read_than_anybody_needs() -> None:
    assert len(read_headers(number(100_000) + ONE * 100_000)) == MOST_HEADERS


@given(st.binary(max_size=100))
def test_whatever_stands_there_is_no_error(data: bytes) -> None:
    assert len(read_headers(data)) <= MOST_HEADERS
