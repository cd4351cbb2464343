"""The simulation, written out as teams' tools log it and read back, has the scores that it has as turns."""

from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import orjson
import pytest

from tests.agents.files.logs_of_tools import ANSWERED, LOST, TIMES, WRITERS, Turn, without, written
from turnsignal.agents.files.importing import Imported
from turnsignal.agents.files.recognising import HowToRead
from turnsignal.agents.replaying.run import replay_files
from turnsignal.stream.formats import FORMATS, OWN
from turnsignal.stream.pipeline.truth_scoring import OF_TRUTH
from turnsignal.stream.simulation import Traffic, simulate
from turnsignal.stream.suite import Suite

NOW = 1_800_000_000.0
Key = tuple[str, str, int]


def rows(path: Path, out: Path) -> dict[Key, dict[str, Any]]:
    """The scores of each row by its conversation, its stage, and how many of both were before it."""
    with Imported([path], HowToRead()) as imported:
        replay_files(imported.sources, out, Suite(), NOW, workers=1)
    scored = sorted(map(orjson.loads, (out / "scores.jsonl").read_bytes().splitlines()), key=lambda row: row["time"])
    before: Counter[tuple[str, str]] = Counter()
    by_key: dict[Key, dict[str, Any]] = {}
    for row in scored:
        key = row["conversation_id"].removeprefix("sharegpt:"), row["stage"]
        before[key] += 1
        by_key[*key, before[key]] = {
            score["scorer"]: (score["value"], score.get("label"), score.get("unscored"))
            for score in row["scores"]
            if score["scorer"] not in OF_TRUTH  # logs hold no labels
        }
    return by_key


def test_every_format_is_written() -> None:
    assert WRITERS.keys() == LOST.keys() == FORMATS.keys() - {OWN}


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], dict[Key, dict[str, Any]]]:
    """The scores of the turns themselves, each as far as a format can carry it."""

    @cache
    def scored(lost: tuple[str, ...]) -> dict[Key, dict[str, Any]]:
        path = tmp_path_factory.mktemp("own")
        carried = [without(turn, lost) for turn in turns()]
        (path / "turns.jsonl").write_bytes(b"\n".join(map(orjson.dumps, carried)))
        return rows(path / "turns.jsonl", path / "out")

    return lambda name: scored(LOST[name])


@cache
def turns() -> list[Turn]:
    knobs = Traffic(seed=3, turns=900, rate=1.0)
    return [orjson.loads(record.value) for record in simulate(knobs) if record.value is not None]


def is_cut(scores: dict[str, Any]) -> bool:
    return any(unscored == "cut" for _, _, unscored in scores.values())


@pytest.mark.slow
@pytest.mark.parametrize("name", WRITERS)
def test_the_simulation_has_the_same_scores_however_it_was_logged(
    name: str, own: Callable[[str], dict[Key, dict[str, Any]]], tmp_path: Path
) -> None:
    (tmp_path / "log.jsonl").write_bytes(b"\n".join(map(orjson.dumps, written(turns(), name))))
    read, expected = rows(tmp_path / "log.jsonl", tmp_path / "out"), own(name)
    assert len(expected) > 800
    if {TIMES, ANSWERED} & set(LOST[name]):  # when the last message was said decides whether the recording cuts it off
        expected = {key: scores for key, scores in expected.items() if not is_cut(scores)}
    different = [(key, scores, read.get(key)) for key, scores in expected.items() if read.get(key) != scores]
    assert len(different) <= 0.001 * len(expected), different[:3]
