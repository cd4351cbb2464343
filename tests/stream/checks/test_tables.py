import pytest

from turnsignal.stream.checks import parse_check
from turnsignal.stream.checks.protocol import CheckResult, Result
from turnsignal.stream.citations.reader import Citations
from turnsignal.stream.conversations.exchanges import Response
from turnsignal.stream.text.markdown import max_steps, parse_markdown

HEAD = "| Step | Where |\n|------|-------|\n"


def find(text: str) -> CheckResult:
    response = Response(text, [], lambda _text, _documents: Citations())
    return parse_check("table.cells").check(response)


@pytest.mark.parametrize(
    "row",
    ["| **Open** | *Settings* [1][2] |", "| `a` | 1. first |", "| - | -5 |", "| a | [link](https://a.example) |"],
)
def test_decoration_and_citations_may_stand_in_a_cell(row: str) -> None:
    assert find(f"Do this:\n\n{HEAD}{row}\n").result is Result.PASS


@pytest.mark.parametrize(
    "row",
    ["| a<br>b | c |", "| a<BR/>b | c |", "| a<br />b | c |", "| a&#10;b | c |", "| <p>a</p> | c |", "| a | b\nc |"],
)
def test_a_line_break_in_a_cell_fails(row: str) -> None:
    finding = find(HEAD + row + "\n")
    assert finding.result is Result.FAIL
    assert "line break" in str(finding.explanation)


@pytest.mark.parametrize(
    "row",
    [
        "| - a | c |",
        "| * a - b | c |",
        "| c | • a • b |",
        "| <ul><li>a</li></ul> | c |",
        "| 1. a 2. b | c |",
        "| a | b\n- c |",
    ],
)
def test_a_list_in_a_cell_fails(row: str) -> None:
    assert find(HEAD + row + "\n").result is Result.FAIL


def test_a_row_that_is_only_left_unclosed_is_whole() -> None:
    assert find(HEAD + "| a | b\n| c | d").result is Result.PASS
    assert find(HEAD + "| a | b\n\nThat is all.").result is Result.PASS


def test_the_failing_row_is_pointed_at() -> None:
    text = HEAD + "| a | b |\n| c<br>d | e |\n"
    finding = find(text)
    assert text[finding.start : finding.end] == "| c<br>d | e |"


def test_the_second_table_and_one_in_a_quote_are_read_too() -> None:
    assert find(f"{HEAD}| a | b |\n\nand\n\n{HEAD}| a<br>b | c |\n").result is Result.FAIL
    assert find("> | a | b |\n> |---|---|\n> | c<br>d | e |\n").result is Result.FAIL
    assert find("> | a | b |\n> |---|---|\n> | c | e |\n").result is Result.PASS


def test_a_table_without_outer_pipes_is_a_table() -> None:
    assert find("a | b\n--- | ---\nc | d\n").result is Result.PASS
    assert find("a | b\n--- | ---\nc<br>d | e\n").result is Result.FAIL


@pytest.mark.parametrize(
    "text", ["", "No table.", "a | b", "Run `a | b` --- or not", "```\n| a |\n|---|\n| b<br>c |\n```"]
)
def test_the_check_does_not_apply_without_a_table(text: str) -> None:
    assert find(text).result is Result.NOT_APPLICABLE


def test_carriage_returns_do_not_move_the_rows() -> None:
    assert find("| a | b |\r\n|---|---|\r\n| c | d |\r\n").result is Result.PASS
    assert find("| a | b |\r|---|---|\r| c<br>d | e |\r").result is Result.FAIL


def ragged(columns: int, row: str = "|b") -> str:
    """Return 8 kB of a table whose rows lack nearly all of its cells."""
    head = "|a" * columns + "|\n" + "|-" * columns + "|\n"
    return head + (row + "\n") * ((8_000 - len(head)) // (len(row) + 1))


@pytest.mark.parametrize("columns", [5, 30, 700])
@pytest.mark.parametrize("row", ["|b", "b"])
@pytest.mark.parametrize("before", ["", "- a\n\n  ", "> "])
def test_cells_that_rows_lack_do_not_make_a_table_of_65_000_cells(columns: int, row: str, before: str) -> None:
    text = before + ragged(columns, row).replace("\n", "\n" + ("> " if before == "> " else "  " if before else ""))
    assert sum(token.type in ("td_open", "th_open") for token in parse_markdown(text).tokens) <= max_steps(text)
    finding = find(text)  # a row that does not open with a pipe, as the head does, is a broken one
    assert finding.result is (Result.ERROR if row == "|b" else Result.FAIL)
    assert row == "b" or "a step for every four characters" in str(finding.explanation)


def test_many_tables_share_the_cells_of_one_text() -> None:
    several = "\n\n".join(ragged(20)[:1_990] for _ in range(4))
    assert sum(token.type == "td_open" for token in parse_markdown(several).tokens) <= max_steps(several)


def test_a_large_table_that_is_written_out_is_read_whole() -> None:
    row = "| " + " | ".join("ab" for _ in range(12)) + " |\n"
    table = row + "|--" * 12 + "|\n" + row * 100
    assert find(table + "| `a` |\n").result is Result.PASS
    assert find(table + "| `a`<br> |\n").result is Result.FAIL


def test_what_fails_before_the_table_is_cut_fails() -> None:
    head, rows = ragged(30).split("|\n|b\n", 1)
    assert find(f"{head}|\n| a<br>b |\n{rows}").result is Result.FAIL
