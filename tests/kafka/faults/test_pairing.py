"""The oracles of the fault runs see what they are there to see; no broker is needed to know that."""

import ast
from collections import Counter
from pathlib import Path
from random import Random

import orjson
import pytest

from tests.kafka.faults import pairing
from tests.kafka.faults.comparison import compare, compare_pairs
from tests.kafka.faults.oracle import Kept, Outcome, foretell
from tests.kafka.faults.traffic import last_words, make_suite, make_traffic
from turnsignal.agents.kafka.topics import partition_for

BROKER_TIME = 4_000_000_000_000  #: milliseconds, later than all event times


def make_turns(turns: int, seed: int) -> dict[int, list[Kept]]:
    kept: dict[int, list[Kept]] = {0: [], 1: []}
    for key, value in [*((r.key, r.value) for r in make_traffic(turns, seed)), *last_words(2)]:
        partition = partition_for(key or b"", 2)
        kept[partition].append(Kept(partition, len(kept[partition]), key, value, BROKER_TIME))
    return kept


@pytest.fixture(scope="module")
def turns() -> dict[int, list[Kept]]:
    return make_turns(2_000, 3)


@pytest.fixture
def outcome(turns: dict[int, list[Kept]]) -> Outcome:
    return foretell(turns, make_suite(), "turns")


def counted(turns: dict[int, list[Kept]], found: Outcome) -> tuple[int, int, int, int]:
    comparison = compare_pairs(compare(found, found, 0), turns, found, "turns")
    return comparison[-5:-1]


@pytest.mark.parametrize("seed", [0, *(pytest.param(n, marks=pytest.mark.slow) for n in range(1, 4))])
def test_the_plain_pairing_and_the_pipeline_expect_the_same_rows_and_dead_letters(seed: int) -> None:
    turns = make_turns(4_000, seed)
    found = foretell(turns, make_suite(), "turns")
    assert found.count > 3_000
    assert counted(turns, found) == (0, 0, 0, 0)


def make_monologues(seed: int) -> dict[int, list[Kept]]:
    """Make conversations in which users hardly speak, in an order that is not that of their times."""
    chance, records = Random(seed), []
    for name in (f"monologue-{number}" for number in range(20)):
        for number in range(25):
            turn = {"conversation_id": name, "turn_id": f"{name}:{number}", "text": f"Text {number}."}
            turn["role"] = "user" if chance.random() < 0.1 else "assistant"
            at = number + (chance.randrange(-12, 3) if chance.random() < 0.3 else 0)
            turn["timestamp"] = f"2024-05-01T09:{20 + at:02}:00Z"
            records.append(Kept(0, len(records), name.encode(), orjson.dumps(turn), BROKER_TIME))
    return {0: records}


@pytest.mark.parametrize("seed", [*range(3), *(pytest.param(n, marks=pytest.mark.slow) for n in range(3, 20))])
def test_answers_to_nobody_have_no_follow_up_however_many_came_and_whenever_a_question_does(seed: int) -> None:
    turns = make_monologues(seed)
    found = foretell(turns, make_suite(), "turns")
    assert counted(turns, found) == (0, 0, 0, 0)


def test_nobody_follows_up_on_a_monologue() -> None:
    rows, _ = pairing.foretell_rows([turn for turn in make_monologues(1)[0] if b'"assistant"' in turn.value])
    assert {stage for _, _, stage, _, _ in rows} == {"response"}


def test_a_row_that_is_missing_twice_or_made_up_is_seen(turns: dict[int, list[Kept]], outcome: Outcome) -> None:
    key = next(key for key, rows in outcome.rows.items() if len(rows) > 2 and b'"follow_up"' in rows[1])
    first, second, *rest = outcome.rows[key]
    outcome.rows[key] = [second, *rest]
    assert counted(turns, outcome) == (1, 0, 0, 0)
    outcome.rows[key] = [first, second, second, *rest]
    assert counted(turns, outcome) == (0, 0, 1, 0)
    outcome.rows[key] = [first, second, *rest, first.replace(b'"turn_id":"', b'"turn_id":"made-up-')]
    assert counted(turns, outcome) == (0, 1, 0, 0)


def test_a_dead_letter_that_is_missing_or_twice_is_seen(turns: dict[int, list[Kept]], outcome: Outcome) -> None:
    letters = Counter(outcome.letters)
    one = next(iter(letters))
    outcome.letters = letters - Counter([one])
    assert counted(turns, outcome) == (0, 0, 0, 1)
    outcome.letters = letters + Counter([one])
    assert counted(turns, outcome) == (0, 0, 0, 1)


def test_the_plain_pairing_shares_no_code_with_the_product_and_stays_small() -> None:
    text = Path(pairing.__file__).read_text(encoding="utf-8")
    tree = ast.parse(text)
    modules = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    modules |= {name.name for node in ast.walk(tree) if isinstance(node, ast.Import) for name in node.names}
    assert not {module for module in modules if module and module.split(".")[0] in ("agents", "stream", "tests")}
    assert sum(bool(line.strip()) for line in text.splitlines()) <= 100
