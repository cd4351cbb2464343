"""The judge app's sender asks one question in a hundred twice, and hands one verdict on."""

import asyncio

from tests.stream.judging.exchanges import an_exchange
from turnsignal.agents.providers.scripted import Scripted
from turnsignal.agents.providers.sending import CallSender
from turnsignal.agents.providers.throttling import ThrottledEndpoint
from turnsignal.stream.judging.docket import Docket
from turnsignal.stream.judging.docket_entries import QueuedExchange, ReservedCall
from turnsignal.stream.judging.judges import EndpointPart, JudgePart, JudgingPart, make_judge
from turnsignal.stream.judging.repeats import REPEAT, is_repeated
from turnsignal.stream.judging.rubric_files import choose_rubric
from turnsignal.stream.records.verdicts import Verdict


def test_a_repeated_question_has_one_verdict_with_both_answers() -> None:
    judge = make_judge(
        JudgePart(rubric="task_utility", model="scripted:x"), JudgingPart(), choose_rubric("task_utility")
    )
    several = [an_exchange(conversation_id=f"c{n}", response=f"Answer {n}.") for n in range(400)]
    twice = sum(map(is_repeated, several))
    answered: list[Verdict] = []

    def on_answer(_call: ReservedCall, verdict: Verdict, _cost: int) -> None:
        answered.append(verdict)

    async def sending() -> None:
        sender = CallSender([judge], {"scripted": ThrottledEndpoint(Scripted(), EndpointPart())}, lambda _: None)
        docket = Docket([judge], None, 1e9)
        docket.take([QueuedExchange(n, each, 0.0, 100) for n, each in enumerate(several)])
        docket.reserve_calls(0.0, {"scripted": 400})
        sender.send(0, docket.prepare().calls, on_answer)
        await sender.finish([0], 60.0)
        await sender.close()

    asyncio.run(sending())
    assert len(answered) == 400
    assert [len(verdict.steps) for verdict in answered if verdict.attempts == 2] == [1] * twice
    assert {step.step for verdict in answered for step in verdict.steps} == {REPEAT}
    assert twice > 0
