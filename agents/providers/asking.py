"""Asking: one exchange and one judge → one verdict, whatever the endpoint does."""

import asyncio
import logging
import traceback

from turnsignal.agents.providers.protocol import ProviderCall, ProviderError, ProviderReply
from turnsignal.agents.providers.throttling import Attempts, CallMarks, ThrottledEndpoint
from turnsignal.stream.judging.budget import Budget, Overruns
from turnsignal.stream.judging.docket_entries import ReservedCall
from turnsignal.stream.judging.exchanges import ExchangeRecord
from turnsignal.stream.judging.inquiry import Inquiry, Judgement
from turnsignal.stream.judging.judges import Judge
from turnsignal.stream.judging.material import Material, NothingToJudge, collect_material
from turnsignal.stream.judging.verdicts import identify, make_unjudged, make_verdict, readable, with_costs
from turnsignal.stream.records.verdicts import Unjudged, Verdict

logger = logging.getLogger("turnsignal.judging")


class SharedBudget:
    """A budget of calls side by side: one that has no room waits while others may give back what they reserved."""

    def __init__(self, budget: Budget) -> None:
        self._budget = budget
        self._overruns = Overruns()
        self._settled = asyncio.Event()
        self._turn = asyncio.Lock()  # the first that waits is the first that is paid for: else short ones pass it

    async def reserve(self, judge: str, greatest: int) -> int | None:
        """Return what is reserved for a call of this greatest price; None where the money is spent for its judge."""
        async with self._turn:
            while True:
                most = self._budget.to_reserve(greatest, self._overruns.worst(judge, greatest))
                if self._budget.is_spent_for(judge, greatest, most):
                    return None
                if self._budget.reserve(most):
                    return most
                await self._settled.wait()

    def settle(self, judge: str, greatest: int, most: int, cost: int) -> None:
        """Put the real cost in the place of what was reserved, and let others try again."""
        self._overruns.on_cost(judge, greatest, cost)
        self._budget.settle(most, cost)
        self._settled.set()
        self._settled = asyncio.Event()


class JudgeAsker:
    """Ask one judge. endpoint: that answers for it; budget: what may be spent, where no docket says so."""

    def __init__(self, judge: Judge, endpoint: ThrottledEndpoint, budget: SharedBudget | None = None) -> None:
        self._judge = judge
        self._endpoint = endpoint
        self._budget = budget or SharedBudget(Budget(None))

    async def ask(self, exchange: ExchangeRecord, marks: CallMarks | None = None) -> Verdict:
        """Return the verdict; never raises for anything that an endpoint or a text does."""
        judge = self._judge
        try:
            material = collect_material(exchange, judge.chosen.rubric, judge.part.max_input)
        except NothingToJudge as error:
            return make_unjudged(exchange, judge, error.reason, error.detail)
        inquiry = begin_inquiry(judge, material)
        greatest = judge.greatest_cost(inquiry.calls, inquiry.most_tokens)
        most = await self._budget.reserve(judge.digest, greatest)
        if most is None:
            return make_unjudged(
                exchange, judge, Unjudged.BUDGET, "the budget has no room for the price that it can have"
            )
        asked = _Asked(identify(exchange, judge), marks)
        try:
            return await self._verdict(exchange, material, inquiry, asked)
        finally:
            self._budget.settle(judge.digest, greatest, most, asked.cost)

    async def answer(self, call: ReservedCall, marks: CallMarks) -> tuple[Verdict, int]:
        """Return the verdict of a call that the docket has named, and what it cost in billionths."""
        asked = _Asked(identify(call.exchange, self._judge), marks)
        inquiry = begin_inquiry(self._judge, call.material)
        return await self._verdict(call.exchange, call.material, inquiry, asked), asked.cost

    async def _verdict(
        self, exchange: ExchangeRecord, material: Material, inquiry: Inquiry, asked: "_Asked"
    ) -> Verdict:
        judgement = await self._judge_it(inquiry, asked)
        verdict = make_verdict(exchange, self._judge, judgement)
        verdict.judge.answered, verdict.cut = asked.model, [*material.cut]
        with_costs(verdict, asked.attempts, (asked.tokens_in, asked.tokens_out), asked.cost, asked.latency)
        return readable(verdict, exchange, self._judge)

    async def _judge_it(self, inquiry: Inquiry, asked: "_Asked") -> Judgement:
        loop = asyncio.get_running_loop()
        begun = loop.time()
        used = Attempts(self._judge.part.deadline, asked.marks)
        try:
            while inquiry.prompt is not None:
                call = self._call(inquiry, asked.verdict)
                before = used.unknown
                try:
                    reply = await self._endpoint.ask(call, self._judge.part.attempts, used)
                finally:
                    asked.count(self._judge, call, used.unknown - before)
                asked.take(self._judge, call, reply)
                self._warn_of_overrun(call, reply)
                if reply.problem:
                    return Judgement(reasoning=reply.problem, unscored=Unjudged.PARSE)
                inquiry.on_reply(reply.text)
        except ProviderError as error:
            return Judgement(reasoning=str(error), unscored=error.reason)
        except Exception as error:  # a provider of a user's own may raise anything, also with its key in the message
            *_, (frame, line) = traceback.walk_tb(error.__traceback__)
            place = f"{frame.f_code.co_filename}:{line}"
            msg = "%s: expected an answer or a ProviderError, got %s at %s"
            logger.error(msg, self._judge.part.name, type(error).__name__, place)
            detail = f"expected an answer or a ProviderError, got {type(error).__name__}"
            return Judgement(reasoning=detail, unscored=Unjudged.ERROR)
        finally:
            asked.attempts, asked.latency = used.made, loop.time() - begun
        assert inquiry.judgement is not None, "an inquiry without a prompt has a judgement"
        return inquiry.judgement

    def _warn_of_overrun(self, call: ProviderCall, reply: ProviderReply) -> None:
        """Say once of an endpoint that it counts more than a call was to take, so that a budget can be passed."""
        read, written = reply.input or 0, reply.output or 0
        most = call.prompt.most_tokens
        if self._endpoint.has_overrun or (read <= most and written <= call.max_output):
            return
        self._endpoint.has_overrun = True
        logger.warning(
            "%s: expected at most %d tokens read and %d written (max_output) for a call, the endpoint counts %d and %d:"
            " they are paid for as counted, and so much is reserved from now on; raise max_output of the judge, or have"
            " the endpoint keep to it",
            *(self._judge.endpoint_name, most, call.max_output, read, written),
        )

    def _call(self, inquiry: Inquiry, verdict: str) -> ProviderCall:
        part = self._judge.part
        assert inquiry.prompt is not None, "only an inquiry with a prompt has a call"
        temperature = None if part.temperature == "unset" else part.temperature
        model = self._judge.model
        return ProviderCall(verdict, model, inquiry.prompt, part.max_output, temperature, part.structured, part.timeout)


class _Asked:
    """What asking about one exchange took."""

    def __init__(self, verdict: str, marks: CallMarks | None) -> None:
        self.verdict = verdict
        self.marks = marks or CallMarks()
        self.model: str | None = None
        self.tokens_in = self.tokens_out = self.attempts = self.cost = 0
        self.latency = 0.0

    def count(self, judge: Judge, call: ProviderCall, unknown: int) -> None:
        """Count calls of which nobody says what they cost at the most that it can be: a model may have answered."""
        self.cost += unknown * judge.cost(call.prompt.most_tokens, call.max_output)

    def take(self, judge: Judge, call: ProviderCall, reply: ProviderReply) -> None:
        """Count a reply by the endpoint's own figures; where it has none, tokens as they are likely, money at most."""
        text = reply.text or ""
        most = call.prompt.most_tokens, call.max_output  # a model may have thought, too, and not said so
        likely = call.prompt.likely_tokens, len(text) // 4
        given = reply.input, reply.output
        self.cost += judge.cost(*(greatest if n is None else n for greatest, n in zip(most, given, strict=True)))
        tokens_in, tokens_out = (guess if n is None else n for guess, n in zip(likely, given, strict=True))
        self.tokens_in += tokens_in
        self.tokens_out += tokens_out
        self.model = reply.model or self.model


def begin_inquiry(judge: Judge, material: Material) -> Inquiry:
    """Begin to ask a judge's rubric about material."""
    return Inquiry(judge.chosen.rubric, material, judge.chosen.form, judge.chosen.how)
