"""Whatever an endpoint or a provider says, each exchange has one verdict that its readers take, at a possible price."""

import asyncio
from contextlib import suppress
from typing import Any

import pytest

from tests.agents.providers.conftest import Served
from tests.agents.providers.test_asking import KEY, a_judge, ask, once
from tests.stream.judging.exchanges import an_exchange
from tests.stream.judging.test_docket import FIRST, NOON, queued
from turnsignal.agents.providers.asking import JudgeAsker
from turnsignal.agents.providers.endpoints import Endpoint
from turnsignal.agents.providers.openai_compatible import OpenAICompatible
from turnsignal.agents.providers.panels import make_asker
from turnsignal.agents.providers.protocol import Provider, ProviderCall, ProviderReply
from turnsignal.agents.providers.sending import CallSender
from turnsignal.agents.providers.throttling import ThrottledEndpoint
from turnsignal.stream.judging.budget import Budget
from turnsignal.stream.judging.docket import Docket
from turnsignal.stream.judging.judges import NANO, EndpointPart, JudgePart, JudgingPart, make_judge
from turnsignal.stream.judging.rubric_files import choose_rubric
from turnsignal.stream.records.turns import Document
from turnsignal.stream.records.verdicts import VERDICTS, Unjudged, Verdict, decode_verdict

GOOD = '{"intent": "Know.", "reasoning": "So.", "label": "served"}'


def is_readable(verdict: Verdict) -> bool:
    """Whether the score app reads what is written of a verdict."""
    written = VERDICTS.dump_json(verdict, exclude_none=True)
    return decode_verdict(written, verdict.conversation_id.encode()).id == verdict.id


@pytest.mark.parametrize(
    ("model", "expected", "why"),
    [
        ("odd-key", Unjudged.PARSE, "expected the field intent, got ?"),
        ("odd-refusal", Unjudged.PARSE, "the model refused: no ?"),
        ("odd-name", None, ""),
        ("long-name", None, ""),
    ],
)
def test_what_cannot_be_written_is_made_to_fit(
    endpoint: Served, model: str, expected: Unjudged | None, why: str
) -> None:
    (verdict,) = ask(endpoint, model)
    assert (verdict.unscored, verdict.attempts) == (expected, 1)
    assert why in verdict.reasoning
    assert len(verdict.judge.answered or "") <= 200
    assert is_readable(verdict)


def test_a_number_beyond_all_numbers_does_not_fit(endpoint: Served) -> None:
    exchange = an_exchange(documents=[Document("d", text="A text.")])
    (verdict,) = ask(endpoint, "huge-number", exchange, rubric="context_relevance")
    assert verdict.unscored is Unjudged.PARSE
    assert "relevance: expected a label for each of 1 to 1" in verdict.reasoning


@pytest.mark.parametrize("what", ["huge-usage", "zero-usage", "odd-usage", "refused-for-nothing"])
def test_a_count_of_tokens_that_can_be_none_costs_the_most_that_the_call_can(endpoint: Served, what: str) -> None:
    model = once(what)
    (verdict,) = ask(endpoint, model, max_output=64)
    (call,) = endpoint.calls(model)
    written, read = a_judge(model).cost(0, 64), sum(len(message["content"]) for message in call["body"]["messages"])
    assert 0 < verdict.tokens.output < 64
    assert verdict.cost * NANO >= written + (0 if what == "refused-for-nothing" else a_judge(model).cost(read, 0))


def test_tokens_beyond_what_was_asked_for_are_paid_for_as_counted_and_said_once(
    endpoint: Served, caplog: pytest.LogCaptureFixture
) -> None:
    budget = Budget(a_judge("talkative").cost(100, 5_000))
    verdicts = ask(
        endpoint, once("talkative"), *[an_exchange()] * 8, max_output=64, budget=budget, part=EndpointPart(at_once=2)
    )
    reasons = [verdict.unscored for verdict in verdicts]
    assert Unjudged.BUDGET in reasons
    assert {verdict.tokens.output for verdict in verdicts if verdict.unscored is None} == {5_000}
    assert budget.spent == sum(round(verdict.cost * NANO) for verdict in verdicts) >= (budget.limit or 0)
    (warning,) = (record.getMessage() for record in caplog.records if record.name == "turnsignal.judging")
    assert "64 written (max_output) for a call, the endpoint counts 100 and 5000" in warning


@pytest.mark.parametrize("what", ["garbage", "half-close", "no-choices"])
def test_what_is_wrong_with_replies_does_not_have_the_endpoint_left_alone(endpoint: Served, what: str) -> None:
    model = once(what)
    verdicts = ask(endpoint, model, *[an_exchange()] * 20, attempts=1, part=EndpointPart(at_once=1))
    assert {verdict.unscored for verdict in verdicts} == {Unjudged.PROVIDER}
    assert len(endpoint.calls(model)) == 20


def test_an_endpoint_that_does_not_answer_in_time_is_left_alone(endpoint: Served) -> None:
    model = once("hang")
    ask(endpoint, model, *[an_exchange()] * 12, attempts=1, timeout=0.1, part=EndpointPart(at_once=1))
    assert len(endpoint.calls(model)) == 5


def test_the_names_of_a_jury_fit_together(endpoint: Served) -> None:
    part = JudgePart.model_validate(
        {"rubric": "task_utility", "model": "lab:long-name", "jury": {"beside": ["lab:answer", "lab:long-name,x=1"]}}
    )
    judge = make_judge(part, JudgingPart(), choose_rubric("task_utility"))

    async def asking() -> Verdict:
        line = ThrottledEndpoint(OpenAICompatible(Endpoint("lab", endpoint.url, None)), EndpointPart())
        try:
            return await make_asker(judge, {"lab": line}).ask(an_exchange())
        finally:
            await line.close()

    verdict = asyncio.run(asking())
    assert (verdict.unscored, len(verdict.judge.answered or "")) == (None, 200)
    assert is_readable(verdict)


class OwnError(BaseException):
    """What no `except Exception` takes."""


class SelfCancelling:
    """A provider that cancels the task in which it runs."""

    async def ask(self, _call: ProviderCall) -> ProviderReply:
        task = asyncio.current_task()
        assert task is not None
        task.cancel()
        await asyncio.sleep(0)
        return ProviderReply(GOOD)

    async def close(self) -> None:
        pass


class Own:
    """A provider of a user's own that gives, or raises, what it is told to."""

    def __init__(self, what: Any) -> None:
        self.what = what

    async def ask(self, _call: ProviderCall) -> ProviderReply:
        if isinstance(self.what, BaseException):
            raise self.what
        return self.what  # type: ignore[no-any-return]

    async def close(self) -> None:
        pass


@pytest.mark.parametrize(
    ("what", "expected"),
    [
        (None, Unjudged.ERROR),
        ("text", Unjudged.ERROR),
        (RuntimeError("no"), Unjudged.ERROR),
        (ProviderReply(7), Unjudged.PARSE),  # type: ignore[arg-type]
        (ProviderReply("[" * 5_000 + '{"a":' * 5_000), Unjudged.PARSE),
        (ProviderReply(GOOD, 7, -1, 2.5), None),  # type: ignore[arg-type]
        (ProviderReply(GOOD, "m" * 1_000, 2**80, True), None),
        (ProviderReply(None, problem="\ud800" * 5_000), Unjudged.PARSE),
        (ProviderReply(GOOD, problem=None), None),  # type: ignore[arg-type]
    ],
)
def test_whatever_a_provider_of_ones_own_gives_there_is_one_verdict(what: Any, expected: Unjudged | None) -> None:
    judge = a_judge("own", attempts=1)
    asker = JudgeAsker(judge, ThrottledEndpoint(Own(what), EndpointPart()))
    verdict = asyncio.run(asker.ask(an_exchange()))
    assert (verdict.unscored, verdict.attempts) == (expected, 1)
    assert 0 < verdict.cost * NANO <= judge.greatest_cost(1, 20_000)
    assert is_readable(verdict)


def test_the_error_of_a_provider_is_logged_by_its_type_and_place_and_not_with_its_text(
    caplog: pytest.LogCaptureFixture,
) -> None:
    asker = JudgeAsker(a_judge("own"), ThrottledEndpoint(Own(RuntimeError(f"401 for {KEY}")), EndpointPart()))
    asyncio.run(asker.ask(an_exchange()))
    (record,) = caplog.records
    assert "got RuntimeError at " in record.getMessage()
    assert f"{__file__}:" in record.getMessage()
    assert KEY not in caplog.text


class Stubborn:
    """A provider that takes no cancellation, as one with a bare `except` in a loop; it ends when it is released."""

    def __init__(self) -> None:
        self.released = asyncio.Event()
        self.asked = 0

    async def ask(self, _call: ProviderCall) -> ProviderReply:
        self.asked += 1
        while not self.released.is_set():
            with suppress(asyncio.CancelledError):
                await self.released.wait()
        raise RuntimeError("too late")

    async def close(self) -> None:
        pass


def test_a_call_that_takes_no_cancellation_ends_at_its_deadline_and_gives_its_place_away() -> None:
    provider = Stubborn()

    async def asking() -> list[Verdict]:
        asker = JudgeAsker(a_judge("own", deadline=0.1), ThrottledEndpoint(provider, EndpointPart(at_once=1)))
        verdicts = [await asker.ask(an_exchange()) for _ in range(3)]
        provider.released.set()
        return verdicts

    verdicts = asyncio.run(asking())
    assert [verdict.unscored for verdict in verdicts] == [Unjudged.TIMEOUT] * 3
    assert provider.asked == 3


@pytest.mark.parametrize("provider", [Own(asyncio.CancelledError()), Own(OwnError()), SelfCancelling()])
def test_a_call_that_nobody_called_off_has_a_verdict_however_its_provider_ends(provider: Provider) -> None:
    told: list[tuple[Verdict, int]] = []

    async def sending() -> None:
        sender = CallSender([FIRST], {"openai": ThrottledEndpoint(provider, EndpointPart())}, lambda _: None)
        docket = Docket([FIRST], None, 1e9)
        docket.take([queued(0)])
        docket.reserve_calls(NOON, {"openai": 1})
        (call,) = docket.prepare().calls
        sender.send(0, [call], lambda _call, verdict, cost: told.append((verdict, cost)))
        await sender.finish([0], 5.0)
        await sender.close()

    asyncio.run(sending())
    ((verdict, cost),) = told
    assert verdict.unscored is Unjudged.ERROR
    assert "expected an answer or a ProviderError, got" in verdict.reasoning
    assert cost == round(verdict.cost * NANO) > FIRST.cost(0, FIRST.part.max_output)
