"""One exchange and one judge come to one verdict, whatever a real endpoint does to the genuine client."""

import asyncio
import gc
import itertools
import logging
import socket
import time
import tracemalloc
from typing import Any

import pytest
from pydantic import SecretStr

from tests.agents.providers.conftest import Served
from tests.stream.judging.exchanges import an_exchange
from tests.stream.judging.injections import INJECTIONS
from turnsignal.agents.providers.asking import JudgeAsker, SharedBudget, begin_inquiry
from turnsignal.agents.providers.endpoints import Endpoint
from turnsignal.agents.providers.openai_compatible import OpenAICompatible, retry_after
from turnsignal.agents.providers.protocol import ProviderCall, ProviderError
from turnsignal.agents.providers.throttling import ThrottledEndpoint
from turnsignal.stream.judging.budget import Budget
from turnsignal.stream.judging.judges import NANO, EndpointPart, Judge, JudgePart, PricePart
from turnsignal.stream.judging.material import collect_material
from turnsignal.stream.judging.rubric_files import choose_rubric
from turnsignal.stream.records.turns import Document
from turnsignal.stream.records.verdicts import VERDICTS, Unjudged, Verdict

KEY = "sk-test-secret-0123456789"
NUMBER = itertools.count()


def a_judge(model: str, rubric: str = "task_utility", **more: Any) -> Judge:
    part = JudgePart(rubric=rubric, model=f"lab:{model}", **({"deadline": 20.0, "timeout": 5.0} | more))
    return Judge(part, choose_rubric(rubric), "lab", model, PricePart(input=1.0, output=10.0))


def once(model: str) -> str:
    """The model's name, with a mark so that no other test has used it up."""
    return f"{model},n={next(NUMBER)}"


def ask(
    endpoint: Served,
    model: str,
    *exchanges: Any,
    rubric: str = "task_utility",
    part: EndpointPart | None = None,
    budget: Budget | None = None,
    name: str = "lab",
    key: str = KEY,
    url: str = "",
    **more: Any,
) -> list[Verdict]:
    """Ask a judge about exchanges, all at once."""

    async def asking() -> list[Verdict]:
        provider = OpenAICompatible(Endpoint(name, url or endpoint.url, SecretStr(key)))
        line = ThrottledEndpoint(provider, part or EndpointPart(), first_wait=0.01)
        asker = JudgeAsker(a_judge(model, rubric, **more), line, SharedBudget(budget or Budget(None)))
        try:
            return list(await asyncio.gather(*(asker.ask(each) for each in exchanges or (an_exchange(),))))
        finally:
            await line.close()

    return asyncio.run(asking())


def test_an_answer_becomes_a_verdict_with_who_answered_and_what_it_cost(endpoint: Served) -> None:
    (verdict,) = ask(endpoint, "answer", rubric="groundedness")
    assert (verdict.value, verdict.unscored, verdict.attempts, verdict.decided_by) == (1.0, None, 1, "judge")
    assert (verdict.judge.provider, verdict.judge.asked, verdict.judge.answered) == ("lab", "answer", "answer-dated")
    assert (verdict.tokens.input, verdict.tokens.output) == (100, 20)
    assert verdict.cost == pytest.approx((100 * 1 + 20 * 10) / 1e6)
    assert (verdict.row, verdict.conversation_id, verdict.inclusion) == ("row-1", "c1", 0.5)
    assert VERDICTS.validate_json(VERDICTS.dump_json(verdict)) == verdict


def test_what_is_sent_is_the_instructions_the_material_and_the_schema(endpoint: Served) -> None:
    model = once("answer")
    ask(endpoint, model, max_output=77)
    (call,) = endpoint.calls(model)
    assert [message["role"] for message in call["body"]["messages"]] == ["system", "user"]
    assert call["body"]["response_format"]["json_schema"]["strict"] is True
    assert (call["body"]["temperature"], call["body"]["max_tokens"]) == (0.0, 77)
    assert call["headers"]["Authorization"] == f"Bearer {KEY}"
    plain = once("answer")
    (verdict,) = ask(endpoint, plain, structured=False, temperature="unset", name="openai")
    (call,) = endpoint.calls(plain)
    assert verdict.label == "served"
    assert "max_completion_tokens" in call["body"]
    assert not {"response_format", "temperature", "max_tokens"} & set(call["body"])


@pytest.mark.parametrize("model", ["fenced", "no-usage", "odd-usage"])
def test_replies_that_can_be_read_are_read(endpoint: Served, model: str) -> None:
    (verdict,) = ask(endpoint, model)
    assert (verdict.unscored, verdict.attempts) == (None, 1)
    assert verdict.tokens.input > 0
    assert verdict.tokens.output > 0


@pytest.mark.parametrize(
    ("model", "why"),
    [
        ("wrong-label", "label: expected one of served, partly, missed, got 'not_"),
        ("empty", "an empty reply"),
        ("null", "an empty reply"),
        ("refusal", "the model refused: I cannot help with that."),
        ("length", "the reply was cut off"),
        ("filter", "filter kept the reply back"),
        ("megabyte", "at most 200,000 characters"),
    ],
)
def test_a_reply_that_does_not_fit_is_unscored_paid_for_and_not_asked_again(
    endpoint: Served, model: str, why: str
) -> None:
    (verdict,) = ask(endpoint, model)
    assert (verdict.value, verdict.unscored, verdict.attempts) == (None, Unjudged.PARSE, 1)
    assert why in verdict.reasoning
    assert (verdict.tokens.input, verdict.tokens.output) == (100, 20)
    assert verdict.cost > 0


@pytest.mark.parametrize(
    "model", ["500,times=2", "503,times=2", "429,times=2", "half-close,times=2", "garbage,times=2"]
)
def test_what_passes_is_tried_again(endpoint: Served, model: str) -> None:
    (verdict,) = ask(endpoint, once(model))
    assert (verdict.unscored, verdict.attempts) == (None, 3)


@pytest.mark.parametrize(
    "model",
    ["500", "429", "half-close", "garbage", "garbage,type=text-plain", "deep", "no-choices", "null-choices", "list"],
)
def test_what_does_not_pass_ends_after_as_many_tries_as_allowed(endpoint: Served, model: str) -> None:
    model = once(model)
    (verdict,) = ask(endpoint, model, attempts=3)
    assert (verdict.value, verdict.unscored, verdict.attempts) == (None, Unjudged.PROVIDER, 3)
    assert len(endpoint.calls(model)) == 3


@pytest.mark.parametrize("model", ["endless", "endless,packed=yes"])
def test_a_reply_that_does_not_end_is_given_up_and_not_asked_for_again(endpoint: Served, model: str) -> None:
    (verdict,) = ask(endpoint, model, timeout=60.0, deadline=60.0)
    assert (verdict.value, verdict.unscored, verdict.attempts) == (None, Unjudged.PARSE, 1)
    assert verdict.reasoning == "lab: expected a reply of at most 4,000,000 bytes, got more"


def test_errors_that_somebody_keeps_hold_nothing_of_the_replies(endpoint: Served) -> None:
    """They stayed, four megabytes each, until garbage was looked for: gigabytes in a worker that does so seldom."""

    async def fail(count: int) -> list[ProviderError]:
        provider = OpenAICompatible(Endpoint("lab", endpoint.url, SecretStr(KEY)))
        judge = a_judge("endless")
        prompt = begin_inquiry(judge, collect_material(an_exchange(), judge.chosen.rubric, judge.part.max_input)).prompt
        assert prompt is not None
        call = ProviderCall("v", "endless", prompt, 100, None, structured=False, timeout=60.0)
        kept = []
        for _ in range(count):
            with pytest.raises(ProviderError) as caught:
                await provider.ask(call)
            kept.append(caught.value)
        await provider.close()
        return kept

    asyncio.run(fail(1))  # what is loaded or remembered the first time
    gc.disable()
    tracemalloc.start()
    try:
        kept = asyncio.run(fail(4))
        held = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
        gc.enable()
    assert len(kept) == 4
    assert held < 4_000_000


@pytest.mark.parametrize("status", [400, 401, 403, 404, 422])
def test_what_cannot_get_better_is_not_tried_again(endpoint: Served, status: int) -> None:
    (verdict,) = ask(endpoint, once(str(status)))
    assert (verdict.unscored, verdict.attempts) == (Unjudged.PROVIDER, 1)
    assert f"HTTP status {status}" in verdict.reasoning


@pytest.mark.slow
@pytest.mark.parametrize("wanted", ["after=1", "date=2"])
def test_the_endpoint_says_when_to_come_back(endpoint: Served, wanted: str) -> None:
    model = once(f"429,{wanted},times=1")
    (verdict,) = ask(endpoint, model)
    first, second = (call["at"] for call in endpoint.calls(model))
    assert verdict.unscored is None
    assert second - first >= 0.99


def test_a_wait_beyond_the_deadline_is_not_begun(endpoint: Served) -> None:
    begun = time.monotonic()
    (verdict,) = ask(endpoint, once("429,after=3000"), deadline=5.0)
    assert (verdict.unscored, verdict.attempts) == (Unjudged.PROVIDER, 1)
    assert time.monotonic() - begun < 4


def test_waiting_for_a_place_takes_nothing_of_the_deadline(endpoint: Served) -> None:
    part = EndpointPart(at_once=1)
    verdicts = ask(endpoint, "delay,seconds=0.2", *[an_exchange()] * 4, part=part, deadline=0.6)
    assert [verdict.unscored for verdict in verdicts] == [None] * 4


def test_a_call_that_hangs_is_given_up_and_holds_up_nobody(endpoint: Served) -> None:
    """Each try has its time; the whole exchange has its own."""
    (verdict,) = ask(endpoint, "hang", timeout=0.2, attempts=2)
    assert (verdict.unscored, verdict.attempts) == (Unjudged.TIMEOUT, 2)
    (verdict,) = ask(endpoint, "hang", timeout=60.0, deadline=0.3)
    assert (verdict.unscored, verdict.attempts) == (Unjudged.TIMEOUT, 1)
    assert "before the deadline" in verdict.reasoning


def test_a_refused_connection_is_tried_again_and_named(endpoint: Served) -> None:
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{nobody.getsockname()[1]}/v1"
        (verdict,) = ask(endpoint, "answer", url=url, attempts=2)
    assert (verdict.unscored, verdict.attempts) == (Unjudged.PROVIDER, 2)
    assert "expected to reach" in verdict.reasoning


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_a_redirect_is_not_followed(endpoint: Served, status: int) -> None:
    stolen = once("answer")
    (verdict,) = ask(
        endpoint, f"redirect,status={status},to=http://127.0.0.1:{endpoint.port}/v1/chat/completions?{stolen}"
    )
    assert (verdict.unscored, verdict.attempts) == (Unjudged.PROVIDER, 1)
    assert "a redirect" in verdict.reasoning


def test_an_endpoint_that_fails_in_a_row_is_left_alone(endpoint: Served) -> None:
    model = once("500")
    verdicts = ask(endpoint, model, *[an_exchange()] * 30, attempts=1, part=EndpointPart(at_once=1))
    assert {verdict.unscored for verdict in verdicts} == {Unjudged.PROVIDER}
    assert len(endpoint.calls(model)) == 5
    assert sum("left alone" in verdict.reasoning for verdict in verdicts) == 25


@pytest.mark.slow
def test_calls_are_paced_and_no_more_are_in_flight_than_allowed(endpoint: Served) -> None:
    model = once("answer")
    ask(endpoint, model, *[an_exchange()] * 4, part=EndpointPart(requests_per_minute=240))
    times = [call["at"] for call in endpoint.calls(model)]
    assert times[-1] - times[0] >= 3 * 0.25 - 0.1
    model = once("delay,seconds=0.2")
    ask(endpoint, model, *[an_exchange()] * 6, part=EndpointPart(at_once=2))
    times = [call["at"] for call in endpoint.calls(model)]
    assert times[2] - times[0] >= 0.15
    assert times[4] - times[2] >= 0.15


def test_a_budget_is_held_whatever_is_in_flight(endpoint: Served) -> None:
    judge = a_judge("answer")
    model = once("answer")
    (alone,) = ask(endpoint, model)
    budget = Budget(round(alone.cost * NANO) * 3 + judge.greatest_cost(1, 4_000))
    verdicts = ask(endpoint, model, *[an_exchange()] * 40, budget=budget)
    reasons = [verdict.unscored for verdict in verdicts]
    assert Unjudged.BUDGET in reasons
    assert reasons.count(None) >= 4  # those that found no room at first waited until there was some
    assert budget.limit is not None
    assert budget.reserved == 0
    assert sum(round(verdict.cost * NANO) for verdict in verdicts) == budget.spent <= budget.limit
    assert len(endpoint.calls(model)) - 1 == reasons.count(None)


@pytest.mark.parametrize(
    ("what", "is_free"),
    [*((what, True) for what in ("429", "500", "401", "redirect,to=/x")), ("half-close", False), ("garbage", False)],
)
def test_a_call_without_a_reply_costs_the_most_it_can_unless_no_model_saw_it(
    endpoint: Served, what: str, is_free: bool
) -> None:
    model = once(what)
    (verdict,) = ask(endpoint, model, attempts=2)
    judge = a_judge(model, attempts=1)
    sent = [call["body"] for call in endpoint.calls(model)]
    assert verdict.attempts == len(sent)
    least = judge.cost(sum(len(message["content"]) for body in sent for message in body["messages"]), 0)
    written = judge.cost(0, judge.part.max_output * len(sent))
    assert verdict.cost == 0.0 if is_free else verdict.cost * NANO >= least + written


def test_a_call_that_was_given_up_costs_the_most_it_can(endpoint: Served) -> None:
    (verdict,) = ask(endpoint, once("hang"), timeout=0.3, attempts=1)
    assert verdict.unscored is Unjudged.TIMEOUT
    assert verdict.cost * NANO > a_judge("hang").cost(0, a_judge("hang").part.max_output)


def test_nobody_is_asked_when_there_is_nothing_to_judge(endpoint: Served) -> None:
    model = once("answer")
    (verdict,) = ask(endpoint, model, an_exchange(documents=[]), rubric="groundedness")
    assert (verdict.unscored, verdict.attempts, verdict.cost) == (Unjudged.NO_RETRIEVAL, 0, 0.0)
    assert endpoint.calls(model) == []


def test_four_calls_are_one_verdict_with_the_tokens_of_all(endpoint: Served) -> None:
    model = once("answer")
    (verdict,) = ask(endpoint, model, rubric="answer_relevancy(form=four)")
    assert (verdict.attempts, verdict.tokens.input, verdict.unscored) == (4, 400, None)
    assert verdict.judge.rubric == "answer_relevancy(form=four)"
    assert len(endpoint.calls(model)) == 4


def test_the_key_stands_in_no_verdict_and_in_no_log(endpoint: Served, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    for model in ("answer", "401", "500", "garbage", "half-close", "redirect,to=/x"):
        (verdict,) = ask(endpoint, once(model), attempts=2)
        assert KEY not in VERDICTS.dump_json(verdict).decode()
    assert KEY not in caplog.text
    assert KEY not in repr(Endpoint("lab", endpoint.url, SecretStr(KEY)))


@pytest.mark.parametrize("what", ["echo", "echo-spelt", "echo-refusal"])
def test_a_reply_that_quotes_the_key_is_read_without_it(endpoint: Served, what: str) -> None:
    (verdict,) = ask(endpoint, once(what))
    assert verdict.unscored is (Unjudged.PARSE if what == "echo-refusal" else None)
    assert KEY not in VERDICTS.dump_json(verdict).decode()
    assert "Bearer [key]" in verdict.reasoning


def test_a_key_that_may_be_a_word_of_an_answer_takes_nothing_out(endpoint: Served) -> None:
    (verdict,) = ask(endpoint, once("answer"), key="partly")
    assert verdict.label == "partly"


def test_nothing_of_the_environment_goes_to_an_endpoint(endpoint: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    """The client would send OpenAI's key, organisation and headers to whatever URL it has."""
    for name in ("OPENAI_API_KEY", "OPENAI_ADMIN_KEY", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID", "OPENAI_WEBHOOK_SECRET"):
        monkeypatch.setenv(name, "stray-secret")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "X-Stray: stray-secret")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://stray-secret.example")
    model = once("answer")
    (verdict,) = ask(endpoint, model)
    assert verdict.unscored is None
    assert "stray-secret" not in str(endpoint.calls(model))


@pytest.mark.parametrize("variable", ["HTTP_PROXY", "http_proxy", "ALL_PROXY"])
def test_no_proxy_of_the_environment_gets_what_goes_over_http(
    endpoint: Served, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv(variable, f"http://127.0.0.1:{endpoint.port}/proxy")
    (verdict,) = ask(endpoint, "answer", url=f"http://localhost:{endpoint.port}/v1")
    assert verdict.unscored is None
    monkeypatch.setenv("HTTPS_PROXY", f"http://127.0.0.1:{endpoint.port}")
    (verdict,) = ask(endpoint, "answer", url="https://gateway.example/v1", attempts=1)
    assert "got ProxyError" in verdict.reasoning, "a tunnel, which this endpoint makes for nobody"


def test_no_injection_changes_where_anything_is_sent_or_what_is_asked(endpoint: Served) -> None:
    model = once("answer")
    exchanges = [an_exchange(prompt=text, response=text, documents=[Document("d", text=text)]) for text in INJECTIONS]
    verdicts = ask(endpoint, model, *exchanges, an_exchange(), rubric="groundedness", max_input=1_000_000)
    calls = endpoint.calls(model)
    assert len(calls) == sum(verdict.attempts for verdict in verdicts) == 41
    assert len({str(call["body"]["messages"][0]) for call in calls}) == 1
    assert len({str(call["body"]["response_format"]) for call in calls}) == 1
    assert {call["headers"]["Host"] for call in calls} == {f"127.0.0.1:{endpoint.port}"}
    assert {len(call["body"]["messages"]) for call in calls} == {2}
    labels = {"inferable", "generic", "ungrounded"}
    assert {claim.label for verdict in verdicts for claim in verdict.claims} <= labels


def test_retry_after_is_read_as_seconds_or_date_and_bounded() -> None:
    assert retry_after("Wed, 21 Oct 2015 07:28:00 GMT", 1445412470.0) == 10.0
    assert retry_after("Wed, 21 Oct 2015 07:28:00 GMT", 2e9) == 0.0
    assert retry_after("99999999", 0.0) == 3_600.0
    assert [retry_after(text, 0.0) for text in (None, "", "-5", "soon", "9" * 5_000)] == [
        None,
        None,
        None,
        None,
        3_600.0,
    ]
