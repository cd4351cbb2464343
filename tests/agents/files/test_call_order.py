"""Calls of one time are put in the order in which they were made, whichever way their file stands."""

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import orjson
import pytest

from tests.agents.files.gateway_logs import read
from tests.stream.formats.told_conversations import Said, conversations
from turnsignal.agents.files.importing import Imported
from turnsignal.agents.files.recognising import HowToRead
from turnsignal.stream.formats.call_order import CallOrder
from turnsignal.stream.formats.protocol import Call, Message

Shown = Callable[[int], str]  #: seconds since the log began → a time as it is logged


def minutes(at: int) -> str:
    return f"2026-11-{20 + at // 86_400}T{at // 3_600 % 24:02}:{at // 60 % 60:02}Z"


def day(at: int) -> str:
    return f"2026-11-{20 + at // 86_400}"


def a_quarter(at: int) -> int:
    """Questions follow each other within a quarter of a minute, so that several fall into one."""
    return at // 1_000 * 1_000 + at % 1_000 // 4


def record_of(each: Said, shown: Shown) -> dict[str, Any]:
    return {
        "session_id": f"c{each.conversation}",
        "timestamp": shown(a_quarter(each.at)),
        "request": {"messages": [{"role": "user", "content": each.typed}]},
        "response": {"choices": [{"message": {"role": "assistant", "content": f"About: {each.typed}"}}]},
    }


def truth(told: Sequence[Sequence[Said]]) -> list[list[str]]:
    return sorted([text for each in said for text in (each.typed, f"About: {each.typed}")] for said in told)


@pytest.mark.parametrize("step", [1, -1])
@pytest.mark.parametrize("shown", [minutes, lambda at: minutes(at * 9)[:-1] + ":00Z"])
def test_calls_of_one_minute_are_in_order_whichever_way_the_file_stands(
    tmp_path: Path, step: int, shown: Shown
) -> None:
    told = conversations()
    said = sorted((each for questions in told for each in questions), key=lambda each: each.at)
    found, warnings = read(tmp_path / "log.jsonl", [record_of(each, shown) for each in said[::step]])
    assert found == truth(told)
    assert not [warning for warning in warnings if "one time" in warning]


def test_conversations_newest_first_whose_own_calls_stand_oldest_first_stay_as_they_are(tmp_path: Path) -> None:
    told = conversations()
    records = [record_of(each, minutes) for questions in told[::-1] for each in questions]
    assert read(tmp_path / "log.jsonl", records)[0] == truth(told)


def test_where_only_others_calls_show_which_way_a_file_stands_that_is_said(tmp_path: Path) -> None:
    told = conversations()
    said = sorted((each for questions in told for each in questions), key=lambda each: each.at)
    found, warnings = read(tmp_path / "log.jsonl", [record_of(each, day) for each in said[::-1]])
    assert found != []
    (doubt,) = [warning for warning in warnings if "one time" in warning]
    assert "in files all of which have one time: they are taken as they stand" in doubt

    one_each = [record_of(each, lambda at: minutes(at // 1_000 * 1_000)) for each in said[::-1]]
    found, warnings = read(tmp_path / "other.jsonl", one_each)
    assert found == truth(told)
    (doubt,) = [warning for warning in warnings if "one time" in warning]
    assert "put in the reverse of it; export times with their seconds" in doubt


def test_of_two_files_only_the_one_that_stands_newest_first_is_turned_round(tmp_path: Path) -> None:

    told = conversations()
    halves = [[each for questions in told[at::2] for each in questions] for at in (0, 1)]
    paths = [tmp_path / "a.jsonl", tmp_path / "b.jsonl"]
    for path, half, step in zip(paths, halves, (1, -1), strict=True):
        half.sort(key=lambda each: each.at)
        path.write_bytes(b"\n".join(orjson.dumps(record_of(each, minutes)) for each in half[::step]))
    with Imported(paths, HowToRead()) as imported:
        turns = [orjson.loads(line) for source in imported.sources for line in source.path.read_bytes().splitlines()]
    found: dict[str, list[str]] = {}
    for turn in turns:
        found.setdefault(turn["conversation_id"], []).append(turn["text"])
    assert sorted(found.values()) == truth(told)


def test_calls_of_one_record_stay_as_they_are_in_a_file_that_is_turned_round() -> None:
    order, assumed = CallOrder(), Counter[str]()
    lines = [1, 2, 2, 3]  # of each call's record
    times = [300.0, 200.0, 200.0, 100.0]
    calls = [
        Call(origin=f"x:{number}", conversation="c", start=start, line=number, inputs=[Message("user", f"{number}?")])
        for number, start in enumerate(times, 1)
    ]
    for call in calls:
        order.add(call)
    order.begin()
    had = order.put_right(calls, lines, assumed)
    assert [had[call.line] for call in sorted(calls, key=lambda call: (call.start, call.line))] == [4, 2, 3, 1]
