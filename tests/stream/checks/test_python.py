"""What users' functions are called, given, and may answer."""

import pytest

from turnsignal.stream.checks import parse_check
from turnsignal.stream.checks.protocol import NOT_APPLICABLE, PASSED, CheckResult, Result
from turnsignal.stream.checks.python import Hosted, Python, plain, read_returned
from turnsignal.stream.citations.reader import citation_reader
from turnsignal.stream.conversations.exchanges import Response
from turnsignal.stream.errors import ConfigError
from turnsignal.stream.records.turns import Document
from turnsignal.stream.suite import parse_suite
from turnsignal.stream.text.visible import one_line

POLITE = '[[checks]]\ncheck = "python.function(call=acme.checks:polite)"\n'


def answer(text: str) -> Response:
    documents = [Document(doc_id="doc_1", title="Reset", url="https://a.example/1", text="long"), Document(doc_id="2")]
    return Response(text, documents, citation_reader(), "slack")


@pytest.mark.parametrize(
    "name",
    [
        "python.function(call=acme.checks:polite)",
        "python.function(call=checks:Rules.polite)",
        "python.entry_point(entry=polite)",
        "python.entry_point(entry='two words')",
    ],
)
def test_a_python_check_is_known_by_a_name_that_reads_back(name: str) -> None:
    check = parse_check(name)
    assert isinstance(check, Python)
    assert check.name == name
    assert parse_check(check.name) == check


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("python.function(call=acme.checks)", "package.module:function"),
        ("python.function(call='os; import sys:x')", "package.module:function"),
        ("python.function", "call"),
        ("python.entry_point(entry='')", "entry point"),
        ("loose.python.function(call=acme.checks:polite)", "built-in"),
    ],
)
def test_a_wrong_name_is_refused_with_what_was_expected(name: str, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        parse_check(name)


def test_a_check_that_nobody_runs_is_an_error_and_passes_nobody() -> None:
    [(_, check)] = parse_suite(POLITE).parsed_checks
    found = check.check(answer("x"))
    assert found.result is Result.ERROR
    assert "acme.checks:polite" in str(found.explanation)


def test_a_suite_hands_the_runner_the_check_with_its_version_and_time() -> None:
    asked: list[tuple[str, int, float, str]] = []

    def runner(check: Hosted, response: Response) -> CheckResult:
        asked.append((check.name, check.version, check.timeout, response.text))
        return PASSED

    suite = parse_suite(POLITE + 'version = 3\ntimeout = "250ms"')
    [(_, check)] = suite.run_by(runner).parsed_checks
    assert check.check(answer("please")) is PASSED
    assert asked == [("python.function(call=acme.checks:polite)", 3, 0.25, "please")]
    [(_, before)] = suite.parsed_checks
    assert before.check(answer("please")).result is Result.ERROR


def test_version_and_time_are_part_of_the_fingerprint_and_the_defaults_are_not_told_apart() -> None:
    plain_one, second, slower, spelled = (
        parse_suite(POLITE + more).fingerprint
        for more in ("", "version = 2", 'timeout = "1s"', 'version = 1\ntimeout = "100ms"')
    )
    assert len({plain_one, second, slower}) == 3
    assert spelled == plain_one


def test_the_python_that_checks_run_in_is_a_place_and_no_part_of_the_fingerprint() -> None:
    suite = parse_suite('python = "/opt/checks/bin/python"\n' + POLITE)
    assert suite.python == "/opt/checks/bin/python"
    assert suite.fingerprint == parse_suite(POLITE).fingerprint
    for path in ("python3", "bin/python", ""):
        with pytest.raises(ConfigError, match=f"python: expected the absolute path of a Python, .*; got '{path}'"):
            parse_suite(f'python = "{path}"\n{POLITE}')


@pytest.mark.parametrize(
    ("more", "said"),
    [("version = 0", "version"), ('timeout = "11s"', "timeout"), ("timeout = 0", "timeout")],
)
def test_version_and_time_have_bounds(more: str, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        parse_suite(POLITE + more)


def test_version_and_time_are_refused_beside_a_built_in_check() -> None:
    with pytest.raises(ConfigError, match=r"python\.function"):
        parse_suite('[[checks]]\ncheck = "table.cells"\nversion = 2')


def test_a_kind_is_refused_with_the_spelling_there_is() -> None:
    with pytest.raises(ConfigError, match=r"python\.function\(call=package\.module:function\)"):
        parse_suite('[[checks]]\nkind = "python"\nfunction = "acme.checks:polite"')


def test_a_function_is_given_plain_data_without_the_texts_of_documents() -> None:
    assert plain(answer("Open it [doc_1].")) == {
        "text": "Open it [doc_1].",
        "platform": "slack",
        "documents": [
            {
                "doc_id": "doc_1",
                "rank": 1,
                "retrieval_rank": None,
                "score": None,
                "title": "Reset",
                "url": "https://a.example/1",
            },
            {"doc_id": "2", "rank": 2, "retrieval_rank": None, "score": None, "title": None, "url": None},
        ],
    }


@pytest.mark.parametrize(
    ("returned", "finding"),
    [
        (True, PASSED),
        (False, CheckResult(Result.FAIL, "the function says no")),
        ({"passed": True, "explanation": "fine"}, PASSED),
        ({"result": "not_applicable"}, NOT_APPLICABLE),
        ({"passed": False, "explanation": "rude", "start": 2, "end": 6}, CheckResult(Result.FAIL, "rude", 2, 6)),
        ({"result": "fail", "explanation": "two\nlines"}, CheckResult(Result.FAIL, "two lines")),
    ],
)
def test_what_a_function_may_answer(returned: object, finding: CheckResult) -> None:
    assert read_returned(returned, 10) == finding


@pytest.mark.parametrize(
    "returned",
    [
        None,
        1,
        "pass",
        [],
        {},
        {"passed": 1},
        {"passed": True, "result": "pass"},
        {"result": "error"},
        {"result": []},
        {"passed": True, "score": 1},
        {"passed": False, "explanation": 5},
        {"passed": False, "start": 0},
        {"passed": False, "start": 5, "end": 2},
        {"passed": False, "start": -1, "end": 2},
        {"passed": False, "start": 0, "end": 11},
        {"passed": False, "start": False, "end": True},
    ],
)
def test_any_other_answer_is_an_error_that_says_what_was_expected(returned: object) -> None:
    found = read_returned(returned, 10)
    assert found.result is Result.ERROR
    assert str(found.explanation).startswith("expected ")
    assert len(str(found.explanation)) < 300


def test_a_strangers_text_becomes_one_short_line_that_no_terminal_obeys() -> None:
    line = one_line("a\n\x1b[31m\u202eb " + "x" * 100_000)
    assert line.startswith("a �[31m�b xxx")
    assert len(line) == 300
    assert line.endswith("…")
