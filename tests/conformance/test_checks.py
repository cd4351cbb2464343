"""What every check in the table promises; a new check is covered by its `example`."""

from collections.abc import Callable
from functools import cache
from importlib.util import find_spec

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conformance.growth import is_linear, ratio_of_times, steps
from tests.conformance.hostile import OPENERS, PIECES, TEXTS, repeated
from tests.examples import examples
from turnsignal.stream.checks import CHECKS, parse_check
from turnsignal.stream.checks.protocol import NOT_APPLICABLE, CheckResult, Result
from turnsignal.stream.citations.reader import Citations, citation_reader
from turnsignal.stream.conversations.exchanges import Response
from turnsignal.stream.records.turns import Document
from turnsignal.stream.text.markdown import CUT

EXAMPLES = {family: vars(check).get("example", family) for family, check in CHECKS.items()}
RUNNABLE = [name for name in EXAMPLES.values() if not name.startswith("language.") or find_spec("py3langid")]
NAMES = [*RUNNABLE, *(f"loose.{name}" for name in RUNNABLE)]

DOCUMENTS = [Document(doc_id=f"doc_{number}", url=f"https://a.example/{number}") for number in range(1, 6)]
READ = citation_reader()


@cache
def cited(text: str) -> Citations:
    """Read the citations of a text once for all checks, as a worker does."""
    return READ(text, DOCUMENTS)


def answer(text: str, platform: str = "slack") -> Response:
    return Response(text, DOCUMENTS, lambda text, _documents: cited(text), platform)


@pytest.mark.parametrize("family", CHECKS)
def test_every_check_has_an_example_of_itself_beside_its_family(family: str) -> None:
    assert "example" in vars(CHECKS[family]), f"{family} needs a line `example: ClassVar[str] = …` below its family"
    assert parse_check(EXAMPLES[family]).name.partition("(")[0] == family


@pytest.mark.parametrize("family", CHECKS)
def test_every_check_breaks_on_a_response_of_its_own(family: str) -> None:
    """One that nothing breaks checks nothing."""
    check = CHECKS[family]
    assert "breaks" in vars(check), f"{family} needs a line `breaks: ClassVar[str] = …`: a response that breaks it"
    if EXAMPLES[family] in RUNNABLE:
        assert any(
            parse_check(EXAMPLES[family]).check(answer(check.breaks, platform)).result is Result.FAIL
            for platform in ("slack", "web")
        )


@pytest.mark.parametrize("family", CHECKS)
def test_family_is_the_key_and_the_version_counts_from_one(family: str) -> None:
    assert CHECKS[family].family == family
    assert CHECKS[family].version >= 1


@pytest.mark.parametrize("family", CHECKS)
def test_docstring_states_the_instruction_and_its_source(family: str) -> None:
    documented = CHECKS[family].__doc__ or ""
    assert "Source: " in documented
    assert any(source in documented for source in ("Hoffer", "IFEval", "Slack", "turnsignal's own"))


@pytest.mark.parametrize("name", NAMES)
def test_name_reads_back(name: str) -> None:
    check = parse_check(name)
    assert check.name == name
    assert parse_check(check.name) == check
    assert hash(parse_check(check.name)) == hash(check)


@pytest.mark.parametrize("name", NAMES)
def test_a_response_that_says_nothing_is_not_judged(name: str) -> None:
    for text in ("", " ", "\n\n", "\u3000\t"):
        assert parse_check(name).check(answer(text)) == NOT_APPLICABLE


@pytest.mark.parametrize("name", NAMES)
def test_same_text_same_finding(name: str) -> None:
    text = (
        "# Reset\n\nOpen *Settings*, see [doc_1][doc_2]. P.S. More at https://a.example/1\n\n| a |\n|---|\n| b<br>c |\n"
    )
    assert parse_check(name).check(answer(text)) == parse_check(name).check(answer(text))


@pytest.mark.parametrize("name", RUNNABLE)
def test_hostile_text_gets_a_finding_inside_the_text(name: str) -> None:
    check = parse_check(name)
    for piece in PIECES:
        for opener in OPENERS:
            text = repeated(piece, 2_000, opener) + "\nend"
            for platform in ("slack", "web"):
                is_a_finding(check.check(answer(text, platform)), text)


@pytest.mark.parametrize("name", NAMES)
@examples(30)
@given(text=TEXTS)
def test_any_text_gets_a_finding_and_always_the_same(name: str, text: str) -> None:
    finding = parse_check(name).check(answer(text))
    is_a_finding(finding, text)
    assert parse_check(name).check(answer(text)) == finding


def is_a_finding(finding: CheckResult, text: str) -> None:
    """A failure says why in one line that a product manager can read on any screen."""
    if finding.result is Result.ERROR:  # the one thing that a text can do to a check: not be read whole
        assert finding == CheckResult(Result.ERROR, CUT)
        assert len(text) > 800
        return
    assert finding.result in (Result.PASS, Result.FAIL, Result.NOT_APPLICABLE)
    assert -1 <= finding.start <= finding.end <= len(text)
    said = finding.explanation or ""
    if finding.result is Result.FAIL:
        assert said.isprintable()
        assert len(said.split()) >= 3
        assert len(said) < 300
        assert not any(word in said for word in ("None", "object at 0x", "Error", "<class") if word not in text)
    else:
        assert not said


@pytest.mark.parametrize("name", RUNNABLE)
def test_a_turn_of_200_kb_gets_a_finding(name: str) -> None:
    check = parse_check(name)
    for text in ("word " * 40_000, "[" * 200_000, "a" * 200_000, "One. Two [1]. " * 14_000):
        assert check.check(answer(text)).result is not Result.ERROR


@pytest.mark.parametrize("name", RUNNABLE)
@pytest.mark.parametrize("opener", [OPENERS[1], *(pytest.param(OPENERS[n], marks=pytest.mark.slow) for n in (0, 2))])
def test_steps_grow_no_worse_than_the_text(name: str, opener: str) -> None:
    for piece in PIECES:
        assert is_linear(lambda size: work(name, piece, size, opener)), piece  # noqa: B023


@pytest.mark.parametrize("name", RUNNABLE)
@examples(20)
@given(unit=st.lists(st.sampled_from(PIECES), min_size=2, max_size=4).map("".join))
def test_steps_grow_no_worse_than_a_text_of_several_pieces(name: str, unit: str) -> None:
    assert is_linear(lambda size: work(name, unit, size)), unit


def work(name: str, piece: str, size: int, opener: str = "") -> int:
    """Count steps, with citations read before: they have tests of their own."""
    check, response = parse_check(name), answer(repeated(piece, size, opener))
    return steps(lambda: check.check(response))


@pytest.mark.slow
@pytest.mark.parametrize("piece", PIECES)
def test_times_grow_no_worse_than_the_text(piece: str) -> None:
    texts = {size: repeated(piece, size) for size in (50_000, 200_000)}
    citations = {size: READ(text, DOCUMENTS) for size, text in texts.items()}

    def timed(name: str, size: int) -> Callable[[], CheckResult]:
        check = parse_check(name)
        return lambda: check.check(Response(texts[size], DOCUMENTS, lambda *_: citations[size], "slack"))

    slow = {name: ratio_of_times(lambda size: timed(name, size)) for name in RUNNABLE}  # noqa: B023
    assert {name: ratio for name, ratio in slow.items() if ratio > 9} == {}


def test_patterns_that_users_write_run_on_re2_and_no_other_engine() -> None:
    for name in ("pattern.require(regex='(a|aa)+$')", "pattern.forbid(regex='(a*)*b')"):
        assert type(parse_check(name).compiled).__module__ == "re2"
