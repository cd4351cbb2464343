"""Judges in the suite, what they cost at most, and the breaker of their endpoint."""

from dataclasses import replace

import pytest

from turnsignal.stream.errors import ConfigError
from turnsignal.stream.judging.breaker import AFTER, FIRST, LONGEST, YIELD, EndpointBreaker
from turnsignal.stream.judging.judges import (
    Judge,
    JudgePart,
    PricePart,
    make_judge,
    same_family,
    split_model,
    warn_of_families,
)
from turnsignal.stream.judging.rubric_files import choose_rubric
from turnsignal.stream.redaction import Redaction
from turnsignal.stream.suite import Suite, parse_suite

PRICED = """
[judging]
budget = 2.5
[judging.prices."gpt-4o-mini"]
input = 0.15
output = 0.6
[judging.endpoints.openai]
at_once = 64
requests_per_minute = 500
[[judges]]
rubric = "groundedness"
model = "gpt-4o-mini"
[[judges]]
name = "strict"
rubric = "answer_relevancy(form=four,temperature=0.1)"
model = "gateway:meta/llama-3"
share = 0.1
deadline = "5m"
"""


def test_judges_stand_in_the_suite_and_not_in_its_fingerprint() -> None:
    suite = parse_suite(PRICED)
    assert suite.fingerprint == Suite().fingerprint
    assert [(judge.name, judge.share, judge.deadline) for judge in suite.judges] == [
        ("groundedness", 1.0, 180.0),
        ("strict", 0.1, 300.0),
    ]


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (
            'rubric = "groundednes"\nmodel = "x"',
            "got 'groundednes'; did you mean groundedness?",
        ),
        ('rubric = "groundedness"', "judges.0.model: Field required"),
        ('rubric = "groundedness"\nmodel = "Big:x"', "judges.0.model: expected MODEL or ENDPOINT:MODEL"),
        (
            'rubric = "groundedness"\nmodel = "x"\nshare = 1.5',
            "judges.0.share: Input should be less than or equal to 1",
        ),
        ('rubric = "groundedness"\nmodel = "x"\nshar = 1.0', "unknown key judges.0.shar"),
        (
            'rubric = "groundedness"\nmodel = "x"\n[[judges]]\nrubric = "groundedness"\nmodel = "y"',
            "got groundedness twice",
        ),
        (
            'rubric = "groundedness"\nmodel = "x"\n[judging.prices.x]\ninput = -1.0\noutput = 0.0',
            "judging.prices.x.input",
        ),
    ],
)
def test_an_error_names_the_key(text: str, complaint: str) -> None:
    with pytest.raises(ConfigError) as error:
        parse_suite(f"[[judges]]\n{text}")
    assert complaint in str(error.value)


def test_a_model_string_names_its_endpoint() -> None:
    assert split_model("gpt-4o") == ("openai", "gpt-4o")
    assert split_model("ollama:llama3:8b") == ("ollama", "llama3:8b")


def judge(index: int = 0, text: str = PRICED) -> Judge:
    suite = parse_suite(text)
    part = suite.judges[index]
    return make_judge(part, suite.judging, choose_rubric(part.rubric))


def test_a_budget_wants_to_know_what_a_model_costs() -> None:
    assert judge().price == PricePart(input=0.15, output=0.6)
    with pytest.raises(ConfigError, match=r'add \[judging.prices."gateway:meta/llama-3"\]'):
        judge(1)
    assert judge(1, PRICED.replace("budget = 2.5", "")).price is None


def test_money_is_counted_exactly_and_rounded_up() -> None:
    part = JudgePart(rubric="groundedness", model="x", attempts=2, max_output=100)
    dear = Judge(part, choose_rubric("groundedness"), "openai", "x", PricePart(input=0.0001, output=10.0))
    assert dear.cost(1, 0) == 1
    assert dear.cost(0, 0) == 0
    assert dear.cost(1_000_000, 1_000_000) == 10_000_100_000
    assert dear.greatest_cost(1, 5_000) == 2 * dear.cost(5_000, 100)
    assert dear.greatest_cost(4, 5_000) == 2 * dear.cost(5_600, 400)


def test_whatever_decides_a_verdict_is_in_the_judges_digest() -> None:
    plain = judge()
    others = [
        replace(plain, chosen=choose_rubric("task_utility")),
        replace(plain, redaction="abc"),
        *(
            replace(plain, part=plain.part.model_copy(update=change))
            for change in ({"model": "y"}, {"temperature": 1.0}, {"max_input": 10_000}, {"structured": False})
        ),
    ]
    assert len({plain.digest, *(other.digest for other in others)}) == 7
    assert replace(plain, price=None).digest == plain.digest


def test_a_judge_of_the_judged_models_family_is_noticed() -> None:
    assert same_family("gpt-4o-mini", "gpt-3.5-turbo")
    assert same_family("anthropic/claude-3", "claude-sonnet-4")
    assert not same_family("gpt-4o", "llama-3")
    assert not same_family("gpt-4o", None)
    assert not same_family("", "")


def test_an_endpoint_is_left_alone_after_failures_in_a_row_and_longer_each_time() -> None:
    breaker = EndpointBreaker()
    for _ in range(AFTER - 1):
        breaker.on_failure(0.0)
    assert breaker.acquire(0.0) == 0.0
    breaker.on_failure(0.0)
    assert breaker.acquire(1.0) == FIRST - 1
    assert (breaker.acquire(FIRST), breaker.acquire(FIRST)) == (0.0, 1.0)  # one call tries it, the others wait
    breaker.on_failure(FIRST)
    assert breaker.acquire(FIRST) == 2 * FIRST
    now, pauses = FIRST, []
    for _ in range(8):
        now += breaker.acquire(now)
        breaker.acquire(now)
        breaker.on_failure(now)
        pauses.append(breaker.acquire(now))
    assert pauses[-1] == LONGEST
    now += LONGEST
    assert breaker.acquire(now) == 0.0
    breaker.on_nothing()
    assert breaker.acquire(now) == 0.0
    breaker.on_answer()
    breaker.on_failure(now)
    assert breaker.acquire(now) == 0.0


def test_an_exchange_that_has_failed_lets_another_try_first() -> None:
    breaker = EndpointBreaker()
    for _ in range(AFTER):
        breaker.on_failure(0.0)
    assert breaker.acquire(FIRST, failed=True) == YIELD
    assert breaker.acquire(FIRST + 1) == 0.0
    breaker.on_nothing()
    assert breaker.acquire(FIRST + YIELD, failed=True) == 0.0


def test_every_model_of_a_judge_is_looked_at_for_the_family_of_a_judged_one() -> None:
    part = JudgePart.model_validate(
        {"rubric": "groundedness", "model": "claude-x", "jury": {"beside": ["other:gpt-4o", "google:gemini-2.5-pro"]}}
    )
    (warning,) = warn_of_families([part], ["gpt-3.5-turbo", "llama-3"])
    assert "gpt-4o is of the family of gpt-3.5-turbo" in warning
    assert warn_of_families([part], []) == []


def test_what_a_newer_version_takes_out_makes_no_other_judge_and_what_the_operator_chooses_does() -> None:
    assert Redaction().chosen == "f9b5fccc5554", "as it was when judges were remembered first"
    assert Redaction(builtin=("email",)).chosen != Redaction().chosen
