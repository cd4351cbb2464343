"""The fakes that ship: fixed rules, and verdicts that are stored."""

import asyncio
from typing import Any

import pytest

from tests.stream.judging.exchanges import an_exchange
from turnsignal.agents.providers.asking import JudgeAsker
from turnsignal.agents.providers.protocol import Provider
from turnsignal.agents.providers.recorded import RecordedVerdicts
from turnsignal.agents.providers.scripted import Scripted
from turnsignal.agents.providers.throttling import ThrottledEndpoint
from turnsignal.stream.judging.judges import EndpointPart, Judge, JudgePart, JudgingPart, make_judge
from turnsignal.stream.judging.rubric_files import BUILT_IN, choose_rubric
from turnsignal.stream.records.verdicts import Unjudged, Verdict


def a_judge(rubric: str) -> Judge:
    part = JudgePart(rubric=rubric, model="scripted:overlap")
    return make_judge(part, JudgingPart(), choose_rubric(rubric))


def ask(provider: Provider, rubric: str, **changes: Any) -> Verdict:
    async def asking() -> Verdict:
        judge = a_judge(rubric)
        asker = JudgeAsker(judge, ThrottledEndpoint(provider, EndpointPart()))
        return await asker.ask(an_exchange(judge.chosen.rubric.stage, **changes))

    return asyncio.run(asking())


@pytest.mark.parametrize("rubric", [*BUILT_IN, "answer_relevancy(form=four)"])
def test_every_rubric_is_answered_the_same_every_time_and_again_from_the_record(rubric: str) -> None:
    first, second = ask(Scripted(), rubric), ask(Scripted(), rubric)
    assert first.unscored is None
    assert first.value is not None
    first.latency = second.latency = 0.0
    assert first == second
    recorded = ask(RecordedVerdicts({first.id: first}), rubric)
    assert (recorded.label, recorded.value, recorded.claims) == (first.label, first.value, first.claims)
    assert (recorded.id, recorded.reasoning.split()[-1]) == (first.id, first.reasoning.split()[-1])


def test_groundedness_falls_with_what_the_documents_do_not_say() -> None:
    made_up = "The warranty is two years. Penguins colonised Antarctica yesterday."
    assert ask(Scripted(), "groundedness").value == 1.0
    assert ask(Scripted(), "groundedness", response=made_up).value == 0.5


def test_a_follow_up_is_read_by_the_rules() -> None:
    assert ask(Scripted(), "follow_up").label == "thanks"
    assert ask(Scripted(), "follow_up", follow_up="No, I meant the guarantee of the kettle.").label == "correction"


def test_what_nobody_judged_before_is_not_invented() -> None:
    verdict = ask(RecordedVerdicts({}), "groundedness")
    assert (verdict.unscored, verdict.value) == (Unjudged.PROVIDER, None)
    assert verdict.id in verdict.reasoning
