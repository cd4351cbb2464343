from functools import cache

import pytest
from markdown_it import MarkdownIt

from tests.conformance.growth import steps
from tests.conformance.hostile import SHAPES, repeated
from turnsignal.stream.checks import parse_check
from turnsignal.stream.checks.protocol import CheckResult, Result
from turnsignal.stream.citations.reader import Citations
from turnsignal.stream.conversations.exchanges import Response
from turnsignal.stream.text.markdown import MAX_CHARACTERS, parse_markdown

PROSE = "Open **Settings** and choose *Security*, then reset the password [doc_1]. It takes effect at once.\n\n"
LAZY = ">>>>>\na\n"  #: every line of it made the parser look through all that follow, at each depth
NESTED = "1. **Open** `Settings` [1].\n   - Choose *Security*.\n     - Press [Reset](https://a.example).\n"
TABLE = "| Name | Where | Since |\n|------|-------|-------|\n" + "| `reset` | **Settings** | 2024 [1] |\n" * 50
ANSWERS = {
    "prose": repeated(PROSE, MAX_CHARACTERS),
    "nested lists": "# Steps\n\n" + NESTED * 20,
    "a list of one word each": "- milk\n" * 80,
    "a quote of 20 lines": "> A line of what was said, with *stress*.\n" * 20 + "\nAnd so on.\n",
    "quotes in quotes": "> > > He said so.\n> > She did.\n> Nobody did.\nLazily.\n\n" * 10,
    "a table of 50 rows": TABLE,
    "all of these": "# All\n\n" + PROSE * 5 + NESTED * 10 + "\n> A line.\n" * 20 + "\n" + TABLE + "\n```\na | b\n```\n",
}


@cache
def steps_of_prose(size: int) -> int:
    prose = repeated(PROSE, size)
    return steps(lambda: parse_markdown(prose))


def find(check: str, text: str, platform: str | None = None) -> CheckResult:
    response = Response(text, [], lambda _text, _documents: Citations(markers=[(0, 1)]), platform)
    return parse_check(check).check(response)


@pytest.mark.parametrize("name", ANSWERS)
def test_what_is_meant_to_be_read_is_parsed_whole_and_as_the_parser_does(name: str) -> None:
    parsed = parse_markdown(ANSWERS[name])
    plain = MarkdownIt("commonmark").enable("table").parse(ANSWERS[name][:MAX_CHARACTERS])
    assert not parsed.cut
    assert [token.as_dict() for token in parsed.tokens] == [token.as_dict() for token in plain]


@pytest.mark.slow
@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("opener", ["", pytest.param("- a\n  - b\n\n", marks=pytest.mark.slow)])
def test_no_text_takes_many_times_the_lines_of_code_that_prose_takes(name: str, opener: str) -> None:
    for size in (2_000, 8_000):
        hostile = opener + SHAPES[name](size)
        assert steps(lambda: parse_markdown(hostile)) <= 20 * steps_of_prose(size)  # noqa: B023


@pytest.mark.parametrize("check", ["table.cells", "platform.slack", "citation.no_source_urls"])
def test_a_check_that_finds_nothing_in_a_text_that_is_not_read_whole_says_so(check: str) -> None:
    text = "Quotes & |- https in code: `https://a.example`\n\n" + LAZY * 1_000
    finding = find(check, text, "slack")
    assert finding.result is Result.ERROR
    assert "was not read" in str(finding.explanation)


def test_what_fails_before_a_text_is_cut_fails() -> None:
    assert find("table.cells", "|a|b|\n|-|-|\n|c<br>|d|\n\n" + LAZY * 1_000).result is Result.FAIL
    assert find("platform.slack", "- a\n  - b\n\n" + LAZY * 1_000, "slack").result is Result.FAIL
    assert find("citation.no_source_urls", "See https://a.example now.\n\n" + LAZY * 1_000).result is Result.FAIL


def test_a_text_is_cut_at_the_same_place_each_time() -> None:
    text = PROSE * 3 + LAZY * 1_000
    once, again = parse_markdown(text), parse_markdown(text)
    assert once == again
    assert once.cut
    assert sum(token.type == "paragraph_open" for token in once.tokens) >= 3
