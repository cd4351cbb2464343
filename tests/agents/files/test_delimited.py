"""CSV as people export it: read where it is plain what is meant, and no row lost without a word."""

import csv
import gzip
import io
import subprocess
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnsignal.agents.files.blocks import BLOCK
from turnsignal.agents.files.containers import Kind, read_items
from turnsignal.agents.files.importing import Imported
from turnsignal.agents.files.items import Item
from turnsignal.agents.files.recognising import HowToRead, choose_format
from turnsignal.stream.errors import Refused, TurnsignalError

NAMES = ["conversation_id", "turn_id", "role", "text", "timestamp"]
ROWS = [
    [f"c{c}", f"c{c}-{n}", ("user", "assistant")[n % 2], f"hello {c} {n}, how", f"2026-11-18T09:0{c}:0{n}Z"]
    for c in range(5)
    for n in range(4)
]


def spelled(rows: list[list[str]] = ROWS, delimiter: str = ",", end: str = "\n") -> str:
    file = io.StringIO()
    csv.writer(file, delimiter=delimiter, lineterminator=end).writerows([NAMES, *rows])
    return file.getvalue()


def items_of(text: str, path: Path) -> list[Item]:
    path.write_bytes(text.encode())
    return list(read_items(path, Kind.CSV))


def naive(*texts: str) -> str:
    """Rows as they are joined with commas by who does not think of quotes."""
    rows = [",".join([*row[:3], text, row[4]]) for row, text in zip(ROWS, texts, strict=False)]
    return "\n".join([",".join(NAMES), *rows]) + "\n"


@pytest.mark.parametrize(
    ("text", "note"),
    [
        (spelled(), None),
        (spelled(end="\r"), None),
        (spelled(end="\r\n"), None),
        ("sep=;\n" + spelled(delimiter=";"), "lines above"),
        (spelled().replace("Z\n", "Z,\n"), "end with a delimiter"),
        ("Chat export 2026-11-18\n\n" + spelled(), "lines above"),
    ],
    ids=["plain", "CR", "CRLF", "sep=", "a comma behind each line", "a title"],
)
def test_what_excel_and_old_exporters_add_is_no_part_of_the_rows(text: str, note: str | None, tmp_path: Path) -> None:
    items = items_of(text, tmp_path / "log.csv")
    assert [item.value for item in items] == [dict(zip(NAMES, row, strict=True)) for row in ROWS]
    notes = [each for item in items for each in item.notes]
    assert (note is None and not notes) or (note is not None and note in notes[0])


def test_quotes_that_a_backslash_escapes_are_part_of_the_text(tmp_path: Path) -> None:
    text = ",".join(NAMES) + "\n" + "".join(f'{a},{b},{r},"say \\"hi\\", {t}",{z}\n' for a, b, r, t, z in ROWS)
    values = [item.value for item in items_of(text, tmp_path / "log.csv")]
    assert [value["text"] for value in values if isinstance(value, dict)] == [f'say "hi", {row[3]}' for row in ROWS]


@pytest.mark.parametrize("last", ['"Settings" is where', 'of 12"', "no quote at all"])
def test_an_opening_quote_takes_no_other_rows_with_it(last: str, tmp_path: Path) -> None:
    items = items_of(naive("a", "b", '"Where is it', *["how"] * 10, last, "z"), tmp_path / "log.csv")
    read = [item.line for item in items if isinstance(item.value, dict)]
    refused = {item.line: item.value.detail for item in items if isinstance(item.value, Refused)}
    assert sorted([*read, *refused]) == list(range(2, 17))
    assert 4 in refused
    assert set(refused) <= {4, 15}
    assert "expected a" in refused[4]
    assert "quote that ends" in refused[4]


def test_a_long_text_is_read_and_doubted(tmp_path: Path) -> None:
    text = "\n".join(["a line, of some text, or two, or so,"] * 150)
    (item,) = items_of(spelled([[*ROWS[0][:3], text, ROWS[0][4]]]), tmp_path / "log.csv")
    assert isinstance(item.value, dict)
    assert item.value["text"] == text
    assert "is a quote missing?" in item.notes[0]


def test_of_columns_of_one_name_the_first_counts_and_it_is_said(tmp_path: Path) -> None:
    (item,) = items_of("id,text,text\n1,one,two\n", tmp_path / "log.csv")
    assert item.value == {"id": "1", "text": "one", "text (2)": "two"}
    assert "columns of one name" in item.notes[0]


def test_rows_that_open_ever_new_quotes_are_read_again_a_bounded_number_of_times(tmp_path: Path) -> None:
    items = items_of("a,b\n" + 'x","""\n' * 2_000, tmp_path / "log.csv")
    assert len(items) <= 2_001
    assert not any(isinstance(item.value, dict) for item in items)


@pytest.mark.parametrize(
    ("name", "text", "why"),
    [
        (
            "log.csv",
            "a,b\n1,2,3\n4,5,6\n",
            "line 2: wrong_type: expected 2 fields, as the first line names them, got 3",
        ),
        ("log.jsonl", "{'role': 'user'}\n{'role': None}\n", "line 1: not_json: expected JSON, got what Python prints"),
    ],
)
def test_a_file_of_which_nothing_can_be_read_says_where_and_why(name: str, text: str, why: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(TurnsignalError) as raised:
        choose_format(tmp_path / name, HowToRead())
    assert why in str(raised.value)


@pytest.mark.parametrize("name", ["log.csv", "log.csv.gz"])
def test_a_table_in_letters_of_one_byte_is_refused_with_what_converts_it(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    data = spelled().replace("hello", "größer").encode("cp1252")
    path.write_bytes(gzip.compress(data) if name.endswith("gz") else data)
    with pytest.raises(TurnsignalError, match="got letters of one byte") as error:
        choose_format(path, HowToRead())
    done = subprocess.run(
        ["bash", "-c", str(error.value).partition("try: ")[2]], cwd=tmp_path, capture_output=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert (tmp_path / "utf8-log.csv").read_bytes().decode() == spelled().replace("hello", "größer")


def test_a_letter_that_the_end_of_the_first_block_cuts_is_no_other_encoding(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    head = f"{','.join(NAMES)}\nc1,t1,user,"
    rest = f"\U0001f600,2026-11-18T09:00:00Z\n{spelled(ROWS[1:]).partition(chr(10))[2]}"
    path.write_text(head + "a" * (BLOCK - len(head) - 2) + rest, encoding="utf-8")
    assert choose_format(path, HowToRead())[0] is Kind.CSV


def test_cells_that_hold_what_python_prints_are_read_as_what_it_is(tmp_path: Path) -> None:
    runs = [
        {
            "id": f"r{number}",
            "run_type": "chain",
            "start_time": f"2026-11-09T10:0{number}:00",
            "inputs": repr({"question": f"What's part {number}?", "chat_history": []}),
            "outputs": repr({"output": f'It\'s "box" {number}.'}),
            "extra": repr({"metadata": {"thread_id": "k1", "ok": True, "none": None}}),
        }
        for number in range(2)
    ]
    path = tmp_path / "runs.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(runs[0]))
        writer.writeheader()
        writer.writerows(runs)
    with Imported([path], HowToRead()) as imported:
        (report,) = imported.reports
        turns = [orjson.loads(line) for line in imported.sources[0].path.read_bytes().splitlines()]
    assert (report.format, report.conversations) == ("langsmith", 1)
    assert [turn["text"] for turn in turns] == ["What's part 0?", 'It\'s "box" 0.', "What's part 1?", 'It\'s "box" 1.']


TALK = ["conversation_id", "role", "content", "created_at", "tokens"]


def talk(*texts: str) -> list[list[str]]:
    roles = ("user", "assistant") * len(texts)
    return [
        ["c1", role, text, f"2026-01-05T10:0{n}:05Z", "11"]
        for n, (role, text) in enumerate(zip(roles, texts, strict=False))
    ]


def written(rows: list[list[str]], **spelling: Any) -> str:
    file = io.StringIO()
    csv.writer(file, **spelling).writerows(rows)
    return file.getvalue()


@pytest.mark.parametrize(
    "answer",
    [
        "By card.\nOpen Billing, choose Cards, then Add.",
        "By card.\n\nOpen Billing, choose Cards, then Add.\nOr ask us, by mail, at once.",
        "One, two, three, four\nOne, two, three, four\nOne, two, three, four",
        'It says "no", then\n"yes, but", and "no, sir", again, \nor nothing, at, all, really, ok',
        "Your log has these rows:\nc1,user,Hi,2026-01-05T10:00:05Z,11\nc1,assistant,Hello,2026-01-05T10:00:06Z,12",
        "id,role,text,at,n\n1,user,Hi,10:00,1\n2,user,Ho,10:01,1",
    ],
)
def test_an_answer_over_several_lines_is_one_text_however_many_commas_are_in_it(answer: str, tmp_path: Path) -> None:
    rows = talk("How do I pay?", answer, "And by invoice?", answer)
    items = items_of(written([TALK, *rows]), tmp_path / "log.csv")
    assert [item.value for item in items] == [dict(zip(TALK, row, strict=True)) for row in rows]
    assert not any(item.notes for item in items)


def test_of_a_text_whose_quotes_are_not_doubled_no_line_becomes_a_row(tmp_path: Path) -> None:
    good = written([TALK, *talk("How do I pay?")])
    torn = 'c1,assistant,"Open\n""Billing"", choose "Cards", and,\n Add, or, more.",2026-01-05T10:00:05Z,11\n'
    items = items_of(good + torn + written(talk("And?", "So.")), tmp_path / "log.csv")
    assert [item.value["content"] for item in items if isinstance(item.value, dict)] == ["How do I pay?", "And?", "So."]


def test_a_row_of_several_lines_and_too_many_cells_is_refused_as_one(tmp_path: Path) -> None:
    wide = written([[*talk("Open Billing,\nchoose Cards, then Add.")[0], "more"]])
    items = items_of(written([TALK, *talk("How?")]) + wide + written(talk("And?")), tmp_path / "log.csv")
    assert [item.value["content"] for item in items if isinstance(item.value, dict)] == ["How?", "And?"]


@pytest.mark.parametrize("between", [0, 1, 10])
@pytest.mark.parametrize("first", ['"Where is it', '"Where'])
def test_a_quote_that_opens_a_text_and_one_that_ends_another_hold_no_rows_between_them(
    first: str, between: int, tmp_path: Path
) -> None:
    items = items_of(naive("a", first, *["how"] * between, 'of 12"', "z"), tmp_path / "log.csv")
    texts = [item.value["text"] for item in items if isinstance(item.value, dict)]
    assert texts == ["a", *["how"] * between, 'of 12"', "z"]


_texts = st.lists(
    st.sampled_from(["a", " ", "0", "yes", "2026", ",", ",,,,", ";", "|", "\t", "\n", "\r\n", '"', '",']), max_size=20
).map(lambda parts: "".join(["?", *parts]))


@given(
    texts=st.lists(st.tuples(_texts, _texts), min_size=1, max_size=4),
    quoting=st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC]),
    delimiter=st.sampled_from(",;\t|"),
    end=st.sampled_from(["\n", "\r\n"]),
    order=st.permutations(range(5)),
)
def test_what_a_writer_of_csv_wrote_is_read_back_cell_by_cell(
    texts: list[tuple[str, str]],
    quoting: int,
    delimiter: str,
    end: str,
    order: list[int],
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    names = ["conversation_id", "created_at", "question", "answer", "tokens"]
    rows = [[f"c{n % 2}", f"2026-01-05T10:0{n}:05Z", *pair, str(n)] for n, pair in enumerate(texts)]
    table = [[row[at] for at in order] for row in [names, *rows]]
    text = written(table, quoting=quoting, delimiter=delimiter, lineterminator=end)
    items = items_of(text, tmp_path_factory.mktemp("csv") / "log.csv")
    assert [item.value for item in items] == [dict(zip(table[0], row, strict=True)) for row in table[1:]]
