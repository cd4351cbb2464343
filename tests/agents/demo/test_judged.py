"""A demo with a judge: the suite that asks it, and what is said of its verdicts and their price."""

from pathlib import Path

import pytest

from tests.stream.judging.exchanges import an_exchange
from tests.stream.judging.test_docket import FIRST
from turnsignal.agents.demo.judged import JudgedTotals, write_suite
from turnsignal.stream.errors import ConfigError
from turnsignal.stream.judging.inquiry import Judgement
from turnsignal.stream.judging.verdicts import make_unjudged, make_verdict, with_costs
from turnsignal.stream.records.verdicts import VERDICTS, Unjudged
from turnsignal.stream.suite import load_suite


def test_a_scripted_judge_has_a_price_so_that_the_demo_can_say_what_one_would_cost(tmp_path: Path) -> None:
    suite = load_suite(write_suite("scripted", None, tmp_path))
    assert {judge.model for judge in suite.judges} == {"scripted:overlap"}
    assert suite.exchanges.share == 1.0
    assert suite.judging.prices["scripted:overlap"].input > 0


def test_the_rest_of_the_suite_in_force_stays_and_its_own_judges_are_not_mixed_with_the_demos(tmp_path: Path) -> None:
    mine = tmp_path / "mine.toml"
    mine.write_text('name = "mine"\n[exchanges]\nshare = 0.5\n')
    suite = load_suite(write_suite("ollama:llama3", mine, tmp_path))
    assert (suite.name, suite.exchanges.share, suite.judges[0].model) == ("mine", 0.5, "ollama:llama3")
    mine.write_text('[[judges]]\nrubric = "groundedness"\nmodel = "gpt-4o"\n')
    with pytest.raises(ConfigError, match="without --judge"):
        write_suite("scripted", mine, tmp_path)


def test_what_judges_say_and_cost_is_told_with_the_share_that_was_judged() -> None:
    totals = JudgedTotals()
    assert totals.describe() == ""
    judged = make_verdict(an_exchange(), FIRST, Judgement("served", 1.0, "It helps."))
    totals.on_verdict(VERDICTS.dump_json(with_costs(judged, 1, (900, 100), 2_000_000_000, 0.5)), 1.0)
    totals.on_verdict(VERDICTS.dump_json(make_unjudged(an_exchange(), FIRST, Unjudged.PROVIDER, "401")), 2.0)
    assert totals.describe() == "judged: task_utility(by=first) 1.00 of 1 (50% judged)"
    assert totals.describe_price() == "openai:first cost 2.00: 900 tokens in and 100 out in 1 calls."
