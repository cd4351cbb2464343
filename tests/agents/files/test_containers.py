"""Records of a JSON array, and whatever stands between them."""

from collections import Counter
from pathlib import Path

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.examples import examples
from turnsignal.agents.files import blocks, items, scanning
from turnsignal.agents.files.containers import Kind, kind_of, read_items
from turnsignal.agents.files.recognising import HowToRead, choose_format
from turnsignal.stream.errors import Refused, TurnsignalError

SCALARS = st.one_of(st.none(), st.integers(0, 99), st.text('a]}[{"\\,', max_size=4))
VALUES = st.one_of(st.dictionaries(st.text("k", min_size=1, max_size=2), SCALARS, max_size=2), SCALARS)


def read(path: Path) -> list[bytes]:
    return [item.value for item in read_items(path, Kind.ARRAY) if isinstance(item.value, bytes)]


@examples(30)
@given(st.lists(VALUES, max_size=6), st.integers(1, 9))
def test_every_object_is_a_record_and_nothing_beside_them_is_passed_over_in_silence(
    tmp_path_factory: pytest.TempPathFactory, values: list[object], block: int
) -> None:
    path = tmp_path_factory.getbasetemp() / "array.json"
    path.write_bytes(orjson.dumps(values))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks, "BLOCK", block)
        items = read(path)
    objects = [value for value in values if isinstance(value, dict)]
    assert [orjson.loads(item) for item in items if item.startswith(b"{")] == objects
    between = b"".join(item for item in items if not item.startswith(b"{"))
    for value in values:
        assert isinstance(value, dict) or orjson.dumps(value).strip(b'"') in between.replace(b'""', b'"')


def test_what_stands_behind_the_last_object_of_one_line_is_told(tmp_path: Path) -> None:
    (tmp_path / "array.json").write_bytes(b'[{"a":1},{"b":2}, 5, "x"]')
    assert read(tmp_path / "array.json") == [b'{"a":1}', b'{"b":2}', b'5, "x"']


def test_lines_of_csv_with_too_few_fields_or_cut_within_a_quote_are_refused_with_their_line(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text('a,b,c\n1,2,3\n1,2\n\n"x\ny",,\n1,"two\nlines')
    given = list(read_items(path, Kind.CSV))
    assert [(item.line, item.value) for item in given if isinstance(item.value, dict)] == [
        (2, {"a": "1", "b": "2", "c": "3"}),
        (5, {"a": "x\ny"}),
    ]
    refused = [(item.line, str(item.value)) for item in given if isinstance(item.value, Exception)]
    assert [line for line, _ in refused] == [3, 7, 8]
    assert "expected 3 fields, as the first line names them, got 2: is the line cut?" in refused[0][1]
    assert "expected a quote that ends the field, got the end of the file in line 8" in refused[1][1]


@pytest.mark.parametrize(
    "content", [bytes(range(256)), b"\x7fELF\x02\x01\x01" + bytes(200), b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"]
)
def test_what_is_no_text_is_called_that_and_not_utf_16(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_bytes(content)
    with pytest.raises(TurnsignalError, match="got bytes that are no text"):
        kind_of(path)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_utf_16_is_named_with_the_command_that_mends_it(encoding: str, tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_text('{"a": 1}\n', encoding=encoding)
    with pytest.raises(TurnsignalError, match="got UTF-16"):
        kind_of(path)


def test_brackets_without_end_are_refused_before_the_end_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "log.json"
    path.write_bytes(b"[" * 5_000_000)
    (item,) = read_items(path, Kind.ARRAY)
    with pytest.raises(Refused, match="expected a record, got 1,048,576 open brackets"):
        item.load(Counter())


def test_a_document_that_is_too_large_is_called_that_with_its_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (items, scanning):  # where the bound is, it takes seconds to get there
        monkeypatch.setattr(module, "MAX_LINE", 1 << 20)
    path = tmp_path / "log.json"
    path.write_bytes(b'{"text": "' + b"x" * 2_000_000 + b'"}')
    with pytest.raises(TurnsignalError, match="line 1: too_large: expected a record of less than"):
        choose_format(path, HowToRead())


def test_csv_whose_lines_end_with_cr_alone_is_read_like_any_other(tmp_path: Path) -> None:
    text = 'conversation_id,role,text\nc1,user,"two\nlines"\n\nc1,assistant,"a ""b"""\n'
    given = {}
    for name, end in (("lf", "\n"), ("cr", "\r"), ("crlf", "\r\n")):
        path = tmp_path / name
        path.write_bytes(text.replace("\n", end).encode())
        assert kind_of(path) is Kind.CSV
        given[name] = [item.value for item in read_items(path, Kind.CSV)]
    assert (
        given["cr"]
        == given["lf"]
        == [
            {"conversation_id": "c1", "role": "user", "text": "two\nlines"},
            {"conversation_id": "c1", "role": "assistant", "text": 'a "b"'},
        ]
    )
    assert len(given["crlf"]) == 2


def test_csv_whose_first_line_cannot_be_read_is_told_in_one_line(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_bytes(b'a,b"x\rc\n1,2\n')
    with pytest.raises(TurnsignalError, match=r"log.csv, line 1: expected a line of CSV that names the columns, got "):
        list(read_items(path, Kind.CSV))


def test_what_a_program_says_before_its_printed_records_is_refused_alone(tmp_path: Path) -> None:
    path = tmp_path / "console.txt"
    path.write_bytes(
        b'INFO: starting "all"\n' + b"\n".join(orjson.dumps({"a": n}, option=orjson.OPT_INDENT_2) for n in (1, 2))
    )
    assert kind_of(path) is Kind.VALUES
    values = [item.value for item in read_items(path, Kind.VALUES)]
    assert [orjson.loads(value) for value in values[1:] if isinstance(value, bytes)] == [{"a": 1}, {"a": 2}]
    path.write_bytes(b'INFO: starting\n{"a": 1}\n{"a": 2}\n')
    assert kind_of(path) is Kind.LINES
