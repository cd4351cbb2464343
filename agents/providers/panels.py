"""Panels: a judge with a cascade or a jury → one verdict of all whom it takes, asked at once where they are jurors."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain

from turnsignal.agents.providers.asking import JudgeAsker, SharedBudget
from turnsignal.agents.providers.throttling import CallMarks, ThrottledEndpoint
from turnsignal.stream.judging.deliberation import Deliberation
from turnsignal.stream.judging.docket_entries import ReservedCall
from turnsignal.stream.judging.exchanges import ExchangeRecord
from turnsignal.stream.judging.judges import NANO, Judge
from turnsignal.stream.judging.verdicts import make_verdict, readable
from turnsignal.stream.records.verdicts import Verdict, VerdictTokens


class PanelAsker:
    """Ask the models of a judge, each only where the ones before are unsure. endpoints: by name."""

    def __init__(
        self, judge: Judge, endpoints: Mapping[str, ThrottledEndpoint], budget: SharedBudget | None = None
    ) -> None:
        self._judge = judge
        self._askers = {member: JudgeAsker(member, endpoints[member.endpoint_name], budget) for member in judge.members}

    async def answer(self, call: ReservedCall, marks: CallMarks) -> tuple[Verdict, int]:
        """Return the verdict of a call that the docket has named, and what it cost in billionths."""
        verdict = await self.ask(call.exchange, marks)
        return verdict, round(verdict.cost * NANO)

    async def ask(self, exchange: ExchangeRecord, marks: CallMarks | None = None) -> Verdict:
        """Return the verdict; never raises for anything that an endpoint or a text does."""
        deliberation = Deliberation(self._judge, exchange)
        rounds: list[Sequence[Verdict]] = []
        while deliberation.asks:
            answers = (self._askers[member].ask(exchange, marks) for member in deliberation.asks)
            verdicts = await asyncio.gather(*answers)
            rounds.append(verdicts)
            deliberation.on_verdicts(verdicts)
        assert deliberation.judgement is not None, "a deliberation that asks nobody has a judgement"
        verdict = add_up(make_verdict(exchange, self._judge, deliberation.judgement), rounds)
        return readable(verdict, exchange, self._judge)


def make_asker(
    judge: Judge, endpoints: Mapping[str, ThrottledEndpoint], budget: SharedBudget | None = None
) -> JudgeAsker | PanelAsker:
    """Return the asker of a judge. endpoints: by name; budget: what may be spent, where no docket says so."""
    if judge.part.cascade is None and judge.part.jury is None:
        return JudgeAsker(judge, endpoints[judge.endpoint_name], budget)
    return PanelAsker(judge, endpoints, budget)


def add_up(verdict: Verdict, rounds: Sequence[Sequence[Verdict]]) -> Verdict:
    """Put down what all who were asked took together; those of a round were asked side by side."""
    asked = [*chain.from_iterable(rounds)]
    tokens = VerdictTokens(sum(each.tokens.input for each in asked), sum(each.tokens.output for each in asked))
    models = dict.fromkeys(each.judge.answered for each in asked if each.judge.answered)
    return replace(
        verdict,
        judge=replace(verdict.judge, answered=", ".join(models) or None),
        attempts=sum(each.attempts for each in asked),
        tokens=tokens,
        cost=sum(each.cost for each in asked),
        latency=round(sum(max(each.latency for each in verdicts) for verdicts in rounds), 3),
        cut=[*dict.fromkeys(name for each in asked for name in each.cut)],
    )
