"""Rows of stores that log no times: their ids say in which order they were written, not how far apart."""

import random
from pathlib import Path
from typing import Any

import orjson
import pytest

from tests.stream.formats.told_conversations import answer_to, conversations
from turnsignal.agents.files.importing import Imported
from turnsignal.agents.files.reading import Recording
from turnsignal.agents.files.recognising import HowToRead

TOLD = conversations(30)
TRUTH = sorted([text for said in questions for text in (said.typed, answer_to(said))] for questions in TOLD)


def rows() -> list[dict[str, Any]]:
    """The messages of conversations that run beside each other, in the order in which they were said."""
    said = sorted((each for questions in TOLD for each in questions), key=lambda each: (each.nth, each.conversation))
    return [
        {"session_id": f"c{each.conversation}", "message": {"type": kind, "data": {"type": kind, "content": text}}}
        for each in said
        for kind, text in (("human", each.typed), ("ai", answer_to(each)))
    ]


def read(path: Path, records: list[dict[str, Any]]) -> tuple[list[list[str]], int, str]:
    """Return the texts of each conversation by their times, in how many hours these lie, and what was assumed."""
    path.write_bytes(b"\n".join(map(orjson.dumps, records)))
    with Imported([path], HowToRead()) as imported:
        turns = [orjson.loads(line) for line, _ in Recording(imported.sources).lines()]
        assumed = " ".join(imported.reports[0].assumed)
    spoken: dict[str, list[tuple[str, str]]] = {}
    for turn in turns:
        spoken.setdefault(turn["conversation_id"], []).append((turn["timestamp"], turn["text"]))
    hours = {time[:13] for times in spoken.values() for time, _ in times}
    return (
        sorted([text for _, text in sorted(times, key=lambda each: each[0])] for times in spoken.values()),
        len(hours),
        assumed,
    )


@pytest.mark.parametrize("step", [1, -1])
def test_numbers_are_an_order_and_no_seconds(tmp_path: Path, step: int) -> None:
    numbered = [{"id": 7 + 90_000 * number, **row} for number, row in enumerate(rows())]
    texts, hours, assumed = read(tmp_path / "log.jsonl", numbered[::step])
    assert texts == TRUTH
    assert hours == 1
    assert "in the order of their ids" in assumed


def test_ids_of_which_some_are_digits_by_chance_stand_as_the_file_does(tmp_path: Path) -> None:
    chance = random.Random(3)
    named = [{"id": f"{chance.randrange(16**8):08x}", **row} for row in rows()]
    named[5]["id"], named[20]["id"] = "10293847", "00000001"
    texts, _, assumed = read(tmp_path / "log.jsonl", named)
    assert texts == TRUTH
    assert "in the order of the file" in assumed
    assert "of their ids" not in assumed


@pytest.mark.parametrize(("processes", "step"), [(1, 1), (1, -1), (2, 1)])
def test_object_ids_of_one_second_are_in_the_order_of_their_counter(tmp_path: Path, step: int, processes: int) -> None:
    made = [
        {"_id": {"$oid": f"{0x6743A1F0 + number // 4:08x}5a0b1c2d3{number % processes}{0x4F5061 + number:06x}"}, **row}
        for number, row in enumerate(rows())
    ]
    texts, hours, assumed = read(tmp_path / "log.jsonl", made[::step])
    assert texts == TRUTH
    assert hours <= 2
    assert "their ObjectId was made" in assumed


def test_a_row_without_a_time_among_others_stands_behind_the_one_before_it(tmp_path: Path) -> None:
    timed = [
        {"id": number, "created_at": f"2026-11-20T09:{number // 60:02}:{number % 60:02}Z", **row}
        for number, row in enumerate(rows())
    ]
    del timed[len(timed) // 2]["created_at"]
    texts, hours, assumed = read(tmp_path / "log.jsonl", timed)
    assert texts == TRUTH
    assert hours == 1
    assert "behind the row before them" in assumed


@pytest.mark.parametrize("spelled", ["ObjectId({})", 'ObjectId("{}")', '{{"$oid": "{}"}}', "{}"])
def test_object_ids_are_read_however_a_tables_tool_spells_them(spelled: str, tmp_path: Path) -> None:
    named = [
        {"_id": spelled.format(f"{0x6743A1F0 + number:08x}5a0b1c2d3e{number:06x}"), **row}
        for number, row in enumerate(rows())
    ]
    texts, _, assumed = read(tmp_path / "log.jsonl", named[::-1])
    assert texts == TRUTH
    assert "their ObjectId was made" in assumed


def test_whole_numbers_may_have_a_nought_behind_a_point(tmp_path: Path) -> None:
    numbered = [{"id": f"{number}.0", **row} for number, row in enumerate(rows())]
    assert read(tmp_path / "log.jsonl", numbered[::-1])[0] == TRUTH


def test_rows_that_nothing_orders_and_that_begin_with_answers_are_doubted(tmp_path: Path) -> None:
    named = [{"id": f"{random.Random(n).getrandbits(64):016x}", **row} for n, row in enumerate(rows())]
    path = tmp_path / "log.jsonl"
    for records, is_doubted in ((named, False), (named[::-1], True)):
        path.write_bytes(b"\n".join(map(orjson.dumps, records)))
        with Imported([path], HowToRead()) as imported:
            assert any("is the file newest first?" in each for each in imported.reports[0].warnings) is is_doubted
