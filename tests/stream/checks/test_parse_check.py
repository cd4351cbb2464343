import pytest

from turnsignal.stream.checks import compliance, parse_check
from turnsignal.stream.checks.protocol import NOT_APPLICABLE, PASSED, CheckResult, Result
from turnsignal.stream.checks.startend import EndChecker
from turnsignal.stream.errors import ConfigError

FAILED = CheckResult(Result.FAIL, "no")
BROKEN = CheckResult(Result.ERROR, "the check failed")


def complaint(name: str) -> str:
    with pytest.raises(ConfigError) as caught:
        parse_check(name)
    return str(caught.value)


def test_name_leaves_defaults_out() -> None:
    assert parse_check("citation.max_consecutive(at_most=3)").name == "citation.max_consecutive"
    assert parse_check(" citation.max_consecutive( at_most=2 ) ").name == "citation.max_consecutive(at_most=2)"


def test_name_of_the_loose_form_begins_with_loose() -> None:
    assert parse_check("loose.length.number_words(at_most=9)").name == "loose.length.number_words(at_most=9)"


def test_equal_names_make_equal_checks() -> None:
    assert parse_check("citation.format") == parse_check("citation.format(style=any)")
    assert parse_check("citation.max_consecutive(at_most=1)") != parse_check("citation.max_consecutive")


@pytest.mark.parametrize(
    "text", ["it's", "a|b", "5", "true", "a, b=c", "tab\there", "line\nbreak", "back\\slash'", "(x)@3", "é[0-9]+$"]
)
def test_any_text_survives_in_a_name(text: str) -> None:
    check = EndChecker(phrase=text)
    assert parse_check(check.name) == check


def test_unknown_family_is_named_with_the_nearest_known() -> None:
    assert "got 'citation.formats'; did you mean citation.format?" in complaint("citation.formats")


def test_unknown_parameter_is_named_with_the_known_ones() -> None:
    wanted = "citation.max_consecutive: expected the parameters at_most; got the parameter 'limit'"
    assert complaint("citation.max_consecutive(limit=3)") == wanted
    assert complaint("platform.web(a=1)") == "platform.web: expected no parameters; got the parameter 'a'"


def test_missing_parameter_is_named() -> None:
    assert complaint("keywords.existence") == "keywords.existence: expected words to be given; got 'keywords.existence'"


def test_wrong_type_is_named_with_what_came() -> None:
    assert complaint("citation.max_consecutive(at_most=three)") == (
        "citation.max_consecutive: expected at_most to be a whole number; got 'three'"
    )
    assert "expected at_most to be a whole number; got True" in complaint("citation.max_consecutive(at_most=true)")
    assert complaint("startend.end_checker(phrase=2024)") == (
        "startend.end_checker: expected phrase to be a text; got 2024; write phrase='2024'"
    )


@pytest.mark.parametrize(
    "name",
    [
        "citation.max_consecutive(at_most=0)",
        "citation.format(style=roman)",
        "length.number_words",
        "length.number_words(at_least=-1)",
        "length.number_words(at_least=5,at_most=4)",
        "length.nth_paragraph_first_word(nth=3,paragraphs=2,word=a)",
        "keywords.existence(words='| ')",
        "keywords.letter_frequency(at_least=1,letter=ab)",
        "keywords.frequency(at_least=1,word=' ')",
        "format.multiple_sections(at_least=1,splitter=' ')",
        "format.constrained_response(options='|')",
        "content.postscript(marker=' ')",
        "startend.end_checker(phrase=' ')",
        "combination.repeat_prompt(prompt='')",
        "pattern.require(regex='')",
        "pattern.require(regex='(a')",
        "pattern.forbid(regex='(?=a)b')",
        "citation.format@5",
        "citation.format(",
        "loose.loose.format.json",
        "",
    ],
)
def test_parameters_that_make_no_sense_are_refused(name: str) -> None:
    assert "expected" in complaint(name) or "must look like" in complaint(name) or "no cutoff" in complaint(name)


def test_compliance_is_the_weighted_share_of_what_applies() -> None:
    assert compliance([(PASSED, 1.0), (FAILED, 1.0), (PASSED, 1.0)]) == 2 / 3
    assert compliance([(PASSED, 3.0), (FAILED, 1.0), (NOT_APPLICABLE, 5.0), (BROKEN, 5.0)]) == 0.75


def test_compliance_is_unknown_when_nothing_applies() -> None:
    assert compliance([]) is None
    assert compliance([(NOT_APPLICABLE, 1.0), (BROKEN, 1.0)]) is None


def test_a_loose_form_changes_its_meaning_with_the_strict_check() -> None:
    assert parse_check("loose.language.is(code=en)").version == parse_check("language.is(code=en)").version == 4
