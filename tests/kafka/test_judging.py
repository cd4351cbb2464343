"""Judges on a real broker: one verdict per exchange and judge, and never more spent than allowed, whatever breaks."""

from pathlib import Path

import pytest

from tests.agents.providers.conftest import serve
from tests.kafka.judging import JudgeLab
from turnsignal.agents.kafka.brokers import Broker

pytestmark = pytest.mark.kafka


def judge(name: str, model: str, more: str = "") -> str:
    return f'[[judges]]\nrubric = "task_utility"\nname = "{name}"\nmodel = "{model}"\n{more}\n'


def test_each_queued_exchange_gets_one_verdict(broker: Broker, fresh_prefix: str, tmp_path: Path) -> None:
    with serve() as endpoint:
        lab = JudgeLab(broker, fresh_prefix, tmp_path, endpoint, judge("good", "lab:answer"))
        try:
            lab.queue(20)
            lab.start()
            verdicts = lab.await_verdicts()
            assert {verdict.unscored for verdict in verdicts} == {None}
        finally:
            lab.close()
