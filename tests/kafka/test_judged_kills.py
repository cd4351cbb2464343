"""Judge and score workers that are killed together, mid-call: one verdict and one row each, and the oracle's state."""

import random
import signal
from collections import Counter
from pathlib import Path

import orjson
import pytest

from tests.agents.providers.conftest import serve
from tests.kafka.faults.oracle import read_states, read_topic
from tests.kafka.faults.workers import FaultyWorker, wait
from tests.kafka.judging import JudgeLab
from tests.kafka.test_verdicts import foretell, reached, send, verdict_rows
from turnsignal.agents.kafka.brokers import Broker
from turnsignal.agents.kafka.topics import topic_names
from turnsignal.stream.testing import make_record

pytestmark = pytest.mark.kafka

TALKS, AT_ONCE, KILLS = 30, 4, 3
OF_EACH = 4  #: exchanges of a talk, two for each stage
JUDGES = """
[judging.endpoints.lab]
at_once = {at_once}
[[judges]]
rubric = "follow_up"
model = "lab:{model}"
name = "strong"
attempts = 1
[[judges]]
rubric = "task_utility"
model = "lab:{model}"
attempts = 1
"""


def talk(number: int) -> list[tuple[str, bytes]]:
    """Two questions with answers, and thanks: as in no other talk, so that each has to be asked about."""
    texts = [
        f"How do I change part {number}?",
        "Look there.",
        f"No, I meant the colour of {number}.",
        "There.",
        "Thanks!",
    ]
    turns = []
    for at, text in enumerate(texts):
        role = "user" if at % 2 == 0 else "assistant"
        record = make_record(0, 10 * at, f"c{number}", turn_id=f"{role[0]}{at}", role=role, text=text)
        turns.append((f"c{number}", record.value or b""))
    return turns


@pytest.mark.parametrize("seed", [1, 2])
def test_both_killed_amid_calls_leave_one_verdict_and_one_row_each_and_pay_twice_only_for_what_was_in_flight(
    broker: Broker, fresh_prefix: str, tmp_path: Path, seed: int
) -> None:
    chance, model = random.Random(seed), f"delay,seconds=0.1,test={fresh_prefix}"
    with serve() as endpoint:
        lab = JudgeLab(broker, fresh_prefix, tmp_path, endpoint, JUDGES.format(at_once=AT_ONCE, model=model))
        settings, names = lab.settings, topic_names(lab.settings.prefix)
        scoring = FaultyWorker("score", settings, tmp_path)
        lab.workers.append(scoring)
        try:
            scoring.start()
            judging = lab.start()
            send(settings, "turns", *(record for n in range(TALKS) for record in talk(n)))
            calls = 0
            for _ in range(KILLS):
                calls += chance.randint(5, 25)
                wait(lambda most=calls: len(endpoint.calls(model)) > most, 90, "calls to kill amid", lab.workers)
                both = [(judging, "judge"), (scoring, "score")]
                for worker, app in chance.sample(both, 2):
                    wait(lambda at=worker, app=app: at.send(signal.SIGKILL, app), 60, "a worker to kill", lab.workers)
            wait(
                lambda: len(verdict_rows(settings)) >= TALKS * OF_EACH and lab.is_decided and reached(settings)(),
                150,
                "a row for each verdict",
                lab.workers,
            )
            exchanges = [record for part in read_topic(settings, names["exchanges"]).values() for record in part]
            asked = len(endpoint.calls(model))
        finally:
            lab.close()
        verdicts = Counter((verdict.row, verdict.judge.name) for verdict in lab.verdicts())
        assert len(exchanges) == len(verdicts) == TALKS * OF_EACH
        assert set(verdicts.values()) == {1}
        # What was asked beyond the attempts that verdicts tell of was in flight at a kill. A partition names twice as
        # many as may go out at once, and their answers may have come and not be committed.
        paid = sum(verdict.attempts for verdict in lab.verdicts())
        assert asked - paid <= KILLS * settings.partitions * 2 * AT_ONCE
        rows, states = foretell(settings)
        assert verdict_rows(settings) == rows
        assert len({orjson.loads(row)["verdict"]["id"] for row in rows}) == len(rows) == TALKS * OF_EACH
        assert {n: kept for n, kept in read_states(settings).items() if kept} == {
            n: kept for n, kept in states.items() if kept
        }
