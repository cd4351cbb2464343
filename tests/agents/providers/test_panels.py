"""A judge with several models, on real endpoints: each is asked where it has to be, and one verdict adds them up."""

import asyncio
import itertools
from typing import Any

from pydantic import SecretStr

from tests.agents.providers.conftest import Served
from tests.stream.judging.exchanges import an_exchange
from turnsignal.agents.providers.asking import SharedBudget
from turnsignal.agents.providers.endpoints import Endpoint
from turnsignal.agents.providers.openai_compatible import OpenAICompatible
from turnsignal.agents.providers.panels import add_up, make_asker
from turnsignal.agents.providers.throttling import ThrottledEndpoint
from turnsignal.stream.judging.budget import Budget
from turnsignal.stream.judging.inquiry import Judgement
from turnsignal.stream.judging.judges import EndpointPart, JudgePart, JudgingPart, PricePart, make_judge
from turnsignal.stream.judging.rubric_files import choose_rubric
from turnsignal.stream.judging.verdicts import make_verdict
from turnsignal.stream.records.verdicts import Unjudged, Verdict

NUMBER = itertools.count()


def ask(endpoint: Served, model: str, budget: Budget, **panel: Any) -> Verdict:
    fields = {"rubric": "task_utility", "model": model, "attempts": 1, "deadline": 20.0, "timeout": 5.0} | panel
    part = JudgePart.model_validate(fields)
    models = [model, *(["lab:null"] if "cascade" in panel else []), *panel.get("jury", {}).get("beside", ())]
    prices = {each: PricePart(input=1.0, output=10.0) for each in models}
    judge = make_judge(part, JudgingPart(prices=prices), choose_rubric("task_utility"))

    async def asking() -> Verdict:
        line = ThrottledEndpoint(OpenAICompatible(Endpoint("lab", endpoint.url, SecretStr("k"))), EndpointPart())
        try:
            return await make_asker(judge, {"lab": line}, SharedBudget(budget)).ask(an_exchange())
        finally:
            await line.close()

    return asyncio.run(asking())


def once(model: str) -> str:
    return f"lab:{model},n=panel{next(NUMBER)}"


def test_a_small_model_that_cannot_answer_is_followed_by_the_judge_and_both_are_paid(endpoint: Served) -> None:
    budget = Budget(None)
    verdict = ask(endpoint, once("answer"), budget, cascade={"small": "lab:null", "anchor": 0.0})
    assert (verdict.decided_by, verdict.unscored, verdict.attempts) == ("judge", None, 2)
    assert [step.unscored for step in verdict.steps] == [Unjudged.PARSE, None]
    assert str(verdict.judge.answered).startswith("null-dated, answer")
    assert round(verdict.cost * 1e9) == budget.spent > 0
    assert budget.reserved == 0


def test_a_jury_with_an_endpoint_that_fails_has_no_value_and_says_who_failed_why(endpoint: Served) -> None:
    failing = once("400")
    verdict = ask(endpoint, once("answer"), Budget(None), jury={"beside": [once("answer"), failing], "quorum": 2})
    assert (verdict.value, verdict.unscored) == (None, Unjudged.PROVIDER)
    assert verdict.reasoning.startswith(f"1 of 3 jurors failed, first {failing.removeprefix('lab:')}: ")
    assert verdict.tokens.input == 200


def test_jurors_are_waited_for_side_by_side_and_the_steps_of_a_judge_one_after_another() -> None:
    part = JudgePart(rubric="task_utility", model="m")
    judge = make_judge(part, JudgingPart(), choose_rubric("task_utility"))

    def after(seconds: float) -> Verdict:
        verdict = make_verdict(an_exchange(), judge, Judgement("x", 1.0))
        verdict.latency = seconds
        return verdict

    assert add_up(after(0.0), [[after(0.5)], [after(1.0), after(2.0), after(0.25)]]).latency == 2.5


def test_no_model_of_a_jury_spends_more_than_there_is(endpoint: Served) -> None:
    verdict = ask(endpoint, once("answer"), Budget(0), jury={"beside": [once("answer")]})
    assert (verdict.unscored, verdict.attempts) == (Unjudged.BUDGET, 0)
