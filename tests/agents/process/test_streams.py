"""Standard output takes any text, and piped lines end where their words end."""

import io
import sys

import pytest

from turnsignal.agents.process.streams import Trimmed, make_printable


def test_signs_that_an_encoding_does_not_have_are_written_plainly(monkeypatch: pytest.MonkeyPatch) -> None:
    written = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(written, encoding="ascii"))
    make_printable()
    print("▼ 0.83 ±.04 “a” → … caf\u00e9 \ud800")
    sys.stdout.flush()
    assert written.getvalue() == b'v 0.83 ~.04 "a" > . caf? ?\n'


def test_blanks_at_the_end_of_a_line_go_and_those_within_and_after_the_last_stay() -> None:
    written = io.StringIO()
    stream = Trimmed(written)
    stream.write("a  b  \n  c \n   \nrest ")
    stream.write("of it  \n")
    assert written.getvalue() == "a  b\n  c\n\nrest of it\n"
