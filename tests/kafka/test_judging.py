"""Judges on a real broker: one verdict per exchange and judge, and never more spent than allowed, whatever breaks."""

import signal
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import orjson
import pytest

from tests.agents.providers.conftest import Served, serve
from tests.kafka.faults.workers import wait
from tests.kafka.judging import KEY, JudgeLab, count_asked
from turnsignal.agents.demo.live_statistics import sum_metric
from turnsignal.agents.kafka.brokers import Broker
from turnsignal.agents.kafka.forgetting import send_requests
from turnsignal.agents.kafka.process import free_ports
from turnsignal.stream.judging.held_exchanges import MOST_HELD
from turnsignal.stream.records.verdicts import Unjudged

pytestmark = pytest.mark.kafka

#: what the endpoint does → what the verdict says, None for a value
BEHAVIOURS = {
    "answer": None,
    "429,times=1,after=1": None,
    "429,times=1,date=1": None,
    "500,times=2": None,
    "400": Unjudged.PROVIDER,
    "hang": Unjudged.TIMEOUT,
    "half-close": Unjudged.PROVIDER,
    "garbage": Unjudged.PROVIDER,
    "fenced": None,
    "wrong-label": Unjudged.PARSE,
    "empty": Unjudged.PARSE,
    "null": Unjudged.PARSE,
    "refusal": Unjudged.PARSE,
    "length": Unjudged.PARSE,
    "megabyte": Unjudged.PARSE,
    "no-usage": None,
    "redirect,to=http://127.0.0.1:9/": Unjudged.PROVIDER,
}


@pytest.fixture(scope="module")
def endpoint() -> Iterator[Served]:
    with serve() as served:
        yield served


def judge(name: str, model: str, **more: object) -> str:
    settings = "".join(f"{key} = {value}\n" for key, value in more.items())
    return f'[[judges]]\nrubric = "task_utility"\nname = "{name}"\nmodel = "{model}"\n{settings}'


def test_whatever_an_endpoint_does_each_exchange_gets_one_verdict_that_says_so(
    broker: Broker, fresh_prefix: str, tmp_path: Path, endpoint: Served
) -> None:
    # Each has an endpoint of its own, or failures of some would have others left alone; and fewer exchanges than would
    # have it left alone for its own.
    suite = "".join(
        judge(
            f"j{number}",
            f"lab{number}:{model}",
            timeout=2 if "hang" in model else 60,
            attempts=2 + ("times=2" in model),
        )
        for number, model in enumerate(BEHAVIOURS)
    )
    env = {f"TURNSIGNAL_JUDGE_LAB{number}_URL": endpoint.url for number in range(len(BEHAVIOURS))}
    env |= {f"TURNSIGNAL_JUDGE_LAB{number}_KEY": KEY for number in range(len(BEHAVIOURS))}
    lab = JudgeLab(broker, fresh_prefix, tmp_path, endpoint, suite, env)
    try:
        lab.queue(2)
        lab.write(b"no exchange")
        worker = lab.start()
        verdicts = lab.await_verdicts(len(BEHAVIOURS), 90)
        for number, (model, expected) in enumerate(BEHAVIOURS.items()):
            came = {verdict.unscored for verdict in verdicts if verdict.judge.name == f"j{number}"}
            assert came == {expected}, model
        assert [letter["reason"] for letter in lab.letters()] == [b"not_json"]
        assert "ended with" not in worker.log_text(), "nothing that an endpoint does ends a worker"
    finally:
        lab.close()


def test_an_endpoint_that_refuses_everybody_is_tried_now_and_then_until_what_waits_is_too_old(
    broker: Broker, fresh_prefix: str, tmp_path: Path, endpoint: Served
) -> None:
    suite = '[judging]\nmax_age = "5s"\n' + judge("revoked", "lab:401", deadline=6)
    suite += judge("unknown", "gone:404", deadline=6)
    env = {"TURNSIGNAL_JUDGE_GONE_URL": endpoint.url}
    lab = JudgeLab(broker, fresh_prefix, tmp_path, endpoint, suite, env)
    try:
        worker = lab.start()
        wait(lambda: "working on" in worker.log_text(), 60, "the worker to be at work", lab.workers)
        lab.queue(40)
        verdicts = lab.await_verdicts(2, 60)
        for name, model in (("revoked", "401"), ("unknown", "404")):
            refused = Counter(verdict.unscored for verdict in verdicts if verdict.judge.name == name)
            assert refused.keys() == {Unjudged.PROVIDER, Unjudged.TIMEOUT}
            assert len(endpoint.calls(model)) < 20, "the others wait, and are not used up"
        said = worker.log_text()
        assert said.count("judge revoked: exchanges are not judged: provider") == 1
        assert "it refuses the key (HTTP status 401)" in said
        assert orjson.loads(lab.page(worker, "readyz"))["ok"]
        shown, label = lab.page(worker, "metrics"), 'judge="revoked",outcome="timeout"'
        assert sum_metric(shown, "turnsignal_judge_verdicts_total", lambda labels: label in labels) == sum(
            verdict.judge.name == "revoked" and verdict.unscored is Unjudged.TIMEOUT for verdict in verdicts
        )
        assert sum_metric(shown, "turnsignal_judge_requests_total", lambda labels: 'outcome="refused"' in labels) > 0
        assert sum_metric(shown, "turnsignal_judge_circuit_open") == 2
        assert KEY not in shown + lab.page(worker, "")
    finally:
        lab.close()


def test_a_budget_holds_through_kills_and_only_what_was_in_flight_is_paid_twice(
    broker: Broker, fresh_prefix: str, tmp_path: Path, endpoint: Served
) -> None:
    budget = 100.0  # a call costs 0.12 and 3 at most, which count where it was named when a worker was killed
    model, at_once, price = f"delay,seconds=0.1,test={fresh_prefix}", 4, 1_000.0
    suite = f'[judging]\nbudget = {budget}\n[judging.prices."lab:{model}"]\ninput = {price}\noutput = {price}\n'
    suite += f"[judging.endpoints.lab]\nat_once = {at_once}\n"
    suite += judge("dear", f"lab:{model}", attempts=1, max_output=64)
    lab = JudgeLab(broker, fresh_prefix, tmp_path, endpoint, suite)
    try:
        lab.queue(800)
        worker = lab.start()
        for kill in range(1, 4):
            wait(lambda kill=kill: len(endpoint.calls(model)) > 12 * kill, 60, "calls to kill amid", lab.workers)
            wait(lambda: worker.send(signal.SIGKILL, "judge"), 60, "a judge worker to kill", lab.workers)
        verdicts = lab.await_verdicts(seconds=90)
        asked = count_asked(endpoint.calls(model))
        judged = [verdict for verdict in verdicts if verdict.unscored is None]
        # Beyond the attempts that verdicts tell of (a repeat is one of them) is what was in flight at a kill:
        # a partition names twice as many as may go out at once, and their answers may have come and not be committed.
        lost = asked.total() - sum(verdict.attempts for verdict in verdicts)
        assert lost <= 3 * lab.settings.partitions * 2 * at_once, "calls that were paid twice"
        reasons = {verdict.unscored for verdict in verdicts}
        assert reasons & {Unjudged.BUDGET, Unjudged.SAMPLED_OUT}, "it was reached, or paced"
        assert reasons <= {None, Unjudged.BUDGET, Unjudged.SAMPLED_OUT, Unjudged.ERROR}
        assert 0 < len(judged) <= len(asked)
        assert asked.total() * 120 * price / 1e6 <= budget, "spent, by the endpoint's own count"
    finally:
        lab.close()


def test_tens_of_thousands_that_wait_are_decided_once_each_and_a_worker_holds_as_few_as_ever(
    broker: Broker, fresh_prefix: str, tmp_path: Path, endpoint: Served
) -> None:
    suite = '[judging]\nmax_age = "20s"\n[judging.endpoints.lab]\nat_once = 4\n'
    suite += judge("slow", "lab:delay,seconds=0.5,forget=1", deadline=10)
    lab = JudgeLab(broker, fresh_prefix, tmp_path, endpoint, suite)
    try:
        lab.queue(30_000)
        worker = lab.start()
        wait(lambda: "pages on" in worker.log_text(), 60, "its pages", lab.workers)
        held = 0

        def decide() -> bool:
            nonlocal held
            held = max(held, int(sum_metric(lab.page(worker, "metrics"), "turnsignal_judge_queue_exchanges")))
            return lab.is_decided

        wait(decide, 120, "all to be decided", lab.workers)
        verdicts = lab.await_verdicts()
        assert {verdict.unscored for verdict in verdicts} == {None, Unjudged.TIMEOUT}
        assert 0 < held <= MOST_HELD * lab.settings.partitions
    finally:
        lab.close()


def test_an_endpoint_that_is_gone_for_a_while_costs_few_verdicts_and_nobody_waits_for_workers_that_join_or_leave(
    broker: Broker, fresh_prefix: str, tmp_path: Path
) -> None:
    (port,) = free_ports(1)
    suite = "[judging.endpoints.lab]\nat_once = 8\n" + judge("patient", "lab:answer")
    suite += judge("free", "scripted:overlap", share=0.5)
    lab = JudgeLab(broker, fresh_prefix, tmp_path, Served(port), suite)
    try:
        lab.queue(10_000, prompt="")  # nothing to be asked: the queue is worked off all the same
        lab.queue(200)
        first = lab.start("first")
        wait(
            lambda: "exchanges are not judged: provider" in first.log_text(),
            60,
            "the outage to be noticed",
            lab.workers,
        )
        with serve(port):
            lab.start("second")
            wait(lambda: sum(v.unscored is None for v in lab.verdicts()) > 50, 90, "verdicts again", lab.workers)
            first.terminate()
            verdicts = lab.await_verdicts(2, 90)
        lost = sum(verdict.unscored is Unjudged.PROVIDER for verdict in verdicts)
        assert 0 < lost <= 50
        assert {v.unscored for v in verdicts} == {
            *(None, Unjudged.PROVIDER, Unjudged.NOT_APPLICABLE, Unjudged.SAMPLED_OUT)
        }
    finally:
        lab.close()


def test_what_is_to_be_forgotten_is_not_sent_whether_a_worker_runs_or_is_started_later(
    broker: Broker, fresh_prefix: str, tmp_path: Path, endpoint: Served
) -> None:
    model = f"delay,seconds=0.2,test={fresh_prefix}"
    lab = JudgeLab(
        broker,
        fresh_prefix,
        tmp_path,
        endpoint,
        "[judging.endpoints.lab]\nat_once = 1\n" + judge("one", f"lab:{model}"),
    )
    try:
        lab.queue(60)
        send_requests(lab.settings, ["c0", "c1", "c2"])
        lab.start()
        wait(lambda: len(endpoint.calls(model)) > 3, 60, "the first calls", lab.workers)
        send_requests(lab.settings, ["c58", "c59"])
        wait(lambda: lab.is_decided, 60, "all others to be decided", lab.workers)
        forgotten = {0, 1, 2, 58, 59}
        assert {int(verdict.conversation_id[1:]) for verdict in lab.verdicts()} == set(range(60)) - forgotten
        assert not count_asked(endpoint.calls(model)).keys() & forgotten
    finally:
        lab.close()
