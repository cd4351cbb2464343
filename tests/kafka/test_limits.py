"""An operator lowers the size of records under a worker: it says so, goes on in smaller parts, and asks again."""

import random
from pathlib import Path

import pytest

from tests.kafka.faults.oracle import reached_ends
from tests.kafka.faults.play import wait
from tests.kafka.test_going_on import limit_records
from tests.kafka.test_isolation import conversations, letters, produce, readiness, rows, running, turn
from turnsignal.agents.settings import Settings
from turnsignal.stream.errors import Reason

pytestmark = pytest.mark.kafka


def incompressible(name: str, turns: int) -> list[tuple[bytes, bytes]]:
    letters_of = random.Random(name)
    texts = ["".join(chr(letters_of.randrange(0x4E00, 0x9F00)) for _ in range(10_000)) for _ in range(turns)]
    return [turn(name, number, text) for number, text in enumerate(texts, 1)]


def test_a_changelog_that_takes_smaller_records_than_before_stops_nobody(
    fresh_topics: Settings, tmp_path: Path
) -> None:
    suite = tmp_path / "suite.toml"
    suite.write_text("[conversations]\nkept_characters = 10000\n")  # by default states are smaller than that
    worker = ("turnsignal.agents.cli", "worker", "score")
    with running(fresh_topics, tmp_path, *worker, TURNSIGNAL_SUITE=str(suite)) as log:
        produce(fresh_topics, conversations("before", 20))
        wait(lambda: reached_ends(fresh_topics), 60, "the first turns to be committed")
        assert readiness(log)[0] == 200
        limit_records(fresh_topics, "conversations_changelog", 65_536)
        produce(fresh_topics, incompressible("long", 5))  # its state grows beyond what the changelog takes
        produce(fresh_topics, conversations("after", 20))
        wait(lambda: readiness(log)[0] == 503, 30, "the worker to say what is wrong")
        condition = readiness(log)[1]["batches"]
        wait(lambda: reached_ends(fresh_topics), 120, "the last turns to be committed")
        said = log.read_text()
    assert condition["ok"] is False
    assert "MSG_SIZE_TOO_LARGE" in condition["detail"]
    assert "to be started again" not in said
    assert {reason for reason, _ in letters(fresh_topics)} == {Reason.POISON}
    assert rows(fresh_topics) >= 2 * 2 * 20
