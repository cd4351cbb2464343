"""The score app reads turns strictly or leniently as the settings say, and names once what it assumes."""

import logging

import pytest

from turnsignal.agents.score import make_spec, name_assumptions
from turnsignal.agents.settings import Settings
from turnsignal.stream.suite import Suite
from turnsignal.stream.testing import user

HUMAN = user("u1", 0)._replace(role="human").record(0)


@pytest.mark.parametrize(
    ("env", "assumptions"),
    [({}, {}), ({"TURNSIGNAL_LENIENT_TURNS": "true"}, {"role human is user": 1})],
    ids=["strict", "lenient"],
)
def test_a_turn_that_deviates_is_read_where_the_settings_say_so(
    env: dict[str, str], assumptions: dict[str, int]
) -> None:
    spec = make_spec(Settings.from_env({"TURNSIGNAL_BROKERS": "kafka:9092", **env}), Suite())
    processor = spec.make(0, {})
    result = spec.work(processor, {"turnsignal.turns": [HUMAN]}, 0.0)
    assert dict(result.deltas.assumptions) == assumptions
    assert bool(result.deltas.dead_letters) == (not assumptions)


def test_each_assumption_is_named_in_the_log_once(caplog: pytest.LogCaptureFixture) -> None:
    named: set[str] = set()
    with caplog.at_level(logging.WARNING):
        name_assumptions({"role human is user": 3}, named)
        name_assumptions({"role human is user": 1, "content is text": 1}, named)
    assert [record.args for record in caplog.records] == [("role human is user",), ("content is text",)]
