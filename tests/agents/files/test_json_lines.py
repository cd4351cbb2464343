"""JSON lines: every line is a record or named; only a last one that was cut off while it was written is left out."""

import logging
from pathlib import Path

import orjson
import pytest

from turnsignal.agents.files.json_lines import read_json_lines
from turnsignal.stream.errors import TurnsignalError


def read_number(line: bytes) -> int:
    match orjson.loads(line):
        case {"n": int(n)}:
            return n
    msg = "expected a record with n"
    raise ValueError(msg)


def test_records_come_with_their_lines_and_empty_lines_do_not_count(tmp_path: Path) -> None:
    path = tmp_path / "numbers.jsonl"
    path.write_bytes(b'{"n": 1}\n\n  \r\n{"n": 2}')
    assert list(read_json_lines(path, "numbers", read_number)) == [(1, 1), (4, 2)]


def test_a_last_line_that_was_cut_off_is_left_out_and_logged(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "numbers.jsonl"
    path.write_bytes(b'{"n": 1}\n{"n": 2')
    with caplog.at_level(logging.WARNING):
        assert list(read_json_lines(path, "numbers", read_number)) == [(1, 1)]
    assert f"{path}:2: left out" in caplog.text


@pytest.mark.parametrize("line", [b'{"n": 2\n', b"no JSON", b'{"m": 1}', b'{"m": 1}\n', b"\xff"])
def test_any_other_line_is_named(tmp_path: Path, line: bytes) -> None:
    path = tmp_path / "numbers.jsonl"
    path.write_bytes(b'{"n": 1}\n' + line)
    with pytest.raises(TurnsignalError, match=r"numbers\.jsonl:2: "):
        list(read_json_lines(path, "numbers", read_number))


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(TurnsignalError, match="expected a list of numbers, got: No such file"):
        list(read_json_lines(tmp_path / "none.jsonl", "numbers", read_number))
