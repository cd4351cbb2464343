"""Logs in which calls came twice, in all the ways of that: each counts once, and what chance may do stays."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import orjson
import pytest

from turnsignal.agents.files.importing import Imported
from turnsignal.agents.files.reading import Recording
from turnsignal.agents.files.recognising import HowToRead
from turnsignal.stream.formats.came_twice import LEFT_OUT

BEGUN = datetime(2026, 11, 20, 8, 0, 0, 125_417, tzinfo=UTC)
CHATS = 40
Record = dict[str, Any]


def at(seconds: float) -> str:
    return (BEGUN + timedelta(seconds=seconds)).isoformat()


def user(text: str) -> Record:
    return {"role": "user", "content": text}


def calls(chats: int = CHATS) -> Iterator[tuple[int, float, list[Record], str]]:
    """The calls of chats of two exchanges, the first alike in many: the chat, when, what was sent, what was said."""
    for chat in range(chats):
        began = chat * 61.37
        greeted = chat % 4 == 0
        asked, said = ("Hi", "Hello!") if greeted else (f"How do I pay bill {chat}?", f"By card number {chat}.")
        yield chat, began, [user(asked)], said
        history = [user(asked), {"role": "assistant", "content": said}, user(f"And then, for {chat}?")]
        yield chat, began + 23.5, history, f"It is booked on day {chat}."


def line(seconds: float, sent: list[Record], said: str) -> Record:
    return {"timestamp": at(seconds), "model": "gpt-4o", "messages": sent, "completion": said}


def gateway(seconds: float, sent: list[Record], said: str, named: str) -> Record:
    answer = {"index": 0, "message": {"role": "assistant", "content": said}, "finish_reason": "stop"}
    return {"ts": at(seconds), "request": {"messages": sent}, "response": {"id": named, "choices": [answer]}}


class Read:
    """What files say: the texts of each conversation, sorted; how many were left out; the warnings."""

    def __init__(self, folder: Path, *files: Sequence[Record]) -> None:
        paths = [folder / f"part-{number}.jsonl" for number, _ in enumerate(files)]
        for path, records in zip(paths, files, strict=True):
            path.write_bytes(b"".join(orjson.dumps(record) + b"\n" for record in records))
        said: dict[str, list[tuple[str, str]]] = {}
        with Imported(paths, HowToRead()) as imported:
            for turn in (orjson.loads(each) for each, _ in Recording(imported.sources).lines()):
                said.setdefault(turn["conversation_id"], []).append((turn["timestamp"], turn["text"]))
            report = imported.reports[0]
            self.left_out, self.warnings = report.assumed[LEFT_OUT], " ".join(report.warnings)
        self.chats = sorted([text for _, text in sorted(turns)] for turns in said.values())


def truth(chats: int = CHATS) -> list[list[str]]:
    spoken: dict[int, list[str]] = {}
    for chat, _, sent, said in calls(chats):
        spoken.setdefault(chat, []).extend((sent[-1]["content"], said))
    return sorted(spoken.values())


SEVERAL = {
    "a handler attached twice": lambda t, sent, said, _: [line(t, sent, said)] * 2,
    "a millisecond later": lambda t, sent, said, _: [line(t, sent, said), line(t + 0.001, sent, said)],
    "a handler attached three times": lambda t, sent, said, _: [line(t, sent, said)] * 3,
    "a shipper with ids of its own": lambda t, sent, said, n: [
        {"insertId": f"{n}{each}", "timestamp": at(t + 2), "jsonPayload": line(t, sent, said)} for each in "ab"
    ],
    "two loggers of one response": lambda t, sent, said, n: [
        gateway(t + later, sent, said, f"chatcmpl-{n}") for later in (0, 0.3)
    ],
    "two loggers, one of which waits": lambda t, sent, said, n: [
        gateway(t + later, sent, said, f"chatcmpl-{n}") for later in (0, 8.0)
    ],
    "two loggers with ids of their own": lambda t, sent, said, n: [
        gateway(t + later, sent, said, f"chatcmpl-{n}{later}") for later in (0, 0.3)
    ],
    "in a session": lambda t, sent, said, n: [line(t, sent, said) | {"session_id": f"s{n.split('-')[0]}"}] * 2,
}


@pytest.mark.parametrize("how", SEVERAL)
def test_a_call_that_came_several_times_counts_once_and_is_told(how: str, tmp_path: Path) -> None:
    doubled = [
        (t, record)
        for number, (chat, t, sent, said) in enumerate(calls())
        for record in SEVERAL[how](t, sent, said, f"{chat}-{number}")
    ]
    records = [record for _, record in sorted(doubled, key=lambda each: each[0])]
    read = Read(tmp_path, records)
    assert read.chats == truth()
    assert read.left_out == len(records) - 2 * CHATS


def test_the_smallest_log_of_that_kind_is_two_lines(tmp_path: Path) -> None:
    for seconds in (0.0, -0.125417):  # to the microsecond, or the second
        read = Read(tmp_path, [line(seconds, [user("Hi")], "Hello!")] * 2)
        assert (read.chats, read.left_out) == ([["Hi", "Hello!"]], 1)


def test_files_that_overlap_are_read_as_one(tmp_path: Path) -> None:
    records = [line(t, sent, said) for _, t, sent, said in calls()]
    read = Read(tmp_path, records[:50], records[40:])
    assert (read.chats, read.left_out) == (truth(), 10)


def test_a_call_now_and_then_that_came_twice_is_found_among_the_others(tmp_path: Path) -> None:
    records = [line(t, sent, said) for _, t, sent, said in calls()]
    read = Read(tmp_path, [record for n, each in enumerate(records) for record in [each] * (1 + (n % 10 == 3))])
    assert (read.chats, read.left_out) == (truth(), 8)


def test_of_two_loggers_the_one_that_sent_more_of_the_history_is_read(tmp_path: Path) -> None:
    records: list[Record] = []
    for number, (_, t, sent, said) in enumerate(calls()):
        records += [
            gateway(t, sent[-1:], said, f"chatcmpl-{number}"),
            gateway(t + 0.4, sent, said, f"chatcmpl-{number}"),
        ]
    read = Read(tmp_path, records)
    assert (read.chats, read.left_out) == (truth(), 2 * CHATS)


def test_chats_alike_without_a_time_stay(tmp_path: Path) -> None:
    short = [{"messages": [user("Hi"), {"role": "assistant", "content": "Hello!"}]}] * 6
    read = Read(tmp_path, short)
    assert (len(read.chats), read.left_out, "without a time" in read.warnings) == (6, 0, False)


def test_a_log_without_times_that_repeats_its_lines_is_told(tmp_path: Path) -> None:
    said = [(f"How do I pay bill {n}?", f"Bill {n} is paid by card, in the app, under Payments.") for n in range(10)]
    records = [{"messages": [user(asked), {"role": "assistant", "content": answer}]} for asked, answer in said]
    read = Read(tmp_path, [record for each in records for record in (each, each)])
    assert len(read.chats) == 20
    assert "10 records without a time say word by word what another does" in read.warnings


def test_greetings_of_many_users_in_one_second_stay_where_chance_brings_them_together(tmp_path: Path) -> None:
    records: list[Record] = []
    for n in range(600):  # two a second, half of them alike
        asked, said = (f"How do I pay bill {n}?", f"By card {n}.") if n % 2 else ("Hi", "Hello!")
        records.append(line(n // 2 - 0.125417 + (n // 4 % 2) * 0.6, [user(asked)], said))
    read = Read(tmp_path, records)
    assert (len(read.chats), read.left_out) == (600, 0)
    records += [line(n - 0.125417, [user("Hi")], "Hello!") for n in range(0, 300, 10)]
    read = Read(tmp_path, records)
    assert read.left_out == 0
    assert "as often as chance brings two users together" in read.warnings


def test_times_that_all_calls_share_tell_nothing(tmp_path: Path) -> None:
    records = [line(0, [user("Hi")], "Hello!")] * 2
    records += [line(0, [user(f"How do I pay {n}?")], f"By card {n}.") for n in range(5)]
    read = Read(tmp_path, records)
    assert (len(read.chats), read.left_out) == (7, 0)


def test_what_several_users_or_sessions_say_at_once_or_one_says_again_later_stays(tmp_path: Path) -> None:
    one = line(0, [user("Is the shop open?")], "Yes, until eight.")
    others = [line(60.0 * n, [user(f"How do I pay {n}?")], f"By card {n}.") for n in range(1, 9)]
    for key in ("session_id", "user_id"):
        read = Read(tmp_path, [one | {key: "a"}, one | {key: "b"}, *others])
        assert (len(read.chats), read.left_out) == (10, 0)
    again = line(5.0, [user("Is the shop open?")], "Yes, until eight.")
    assert Read(tmp_path, [one, again, *others]).left_out == 0


def test_an_answer_from_a_cache_has_an_id_that_came_before_and_another_user_is_given_it(tmp_path: Path) -> None:
    cached = [gateway(600.0 * n, [user("Is the shop open?")], "Yes, until eight.", "chatcmpl-1") for n in range(3)]
    others = [gateway(60.0 * n + 7, [user(f"Pay {n}?")], f"By card {n}.", f"chatcmpl-x{n}") for n in range(20)]
    read = Read(tmp_path, sorted([*cached, *others], key=lambda record: str(record["ts"])))
    assert (len(read.chats), read.left_out) == (23, 0)


def test_an_id_that_names_a_logger_rather_than_a_response_tells_nothing(tmp_path: Path) -> None:
    records = [gateway(3.0 * n, [user(f"Pay {n % 3}?")], f"By card {n % 3}.", "chatcmpl") for n in range(12)]
    assert Read(tmp_path, records).left_out == 0


def test_two_calls_that_say_the_same_at_once_and_have_ids_of_their_own_are_two(tmp_path: Path) -> None:
    started = [
        gateway(300 * chat + 0.2 * twin, [user("Track my order")], "Which one?", f"chatcmpl-{chat}{twin}")
        for chat in range(4)
        for twin in range(2)
    ]
    others = [gateway(600 * n + 99, [user(f"What is part {n}?")], f"A part {n}.", f"chatcmpl-x{n}") for n in range(30)]
    read = Read(tmp_path, [*started, *others])
    assert (read.left_out, len(read.chats)) == (0, 38)
