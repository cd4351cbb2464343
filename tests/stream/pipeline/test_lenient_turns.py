"""Turns on the topic that deviate a little get the rows of a replay of the same lines, where that is asked for."""

from collections import Counter
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from turnsignal.stream.errors import Reason
from turnsignal.stream.formats.turnsignal import mend_line
from turnsignal.stream.pipeline.processor import PartitionProcessor
from turnsignal.stream.records.turns import MAX_RECORD
from turnsignal.stream.records.wire import DEAD_LETTERS, SCORES, OutputRecord
from turnsignal.stream.replay import Indexer, Replay
from turnsignal.stream.suite import Suite
from turnsignal.stream.testing import T0, FakeRecord, decoded

NOW = T0 + 86_400

USER: list[dict[str, Any]] = [
    {"role": role} for role in ("user", "human", "Customer", " USER ", "end-user", "End User")
]
ASSISTANT: list[dict[str, Any]] = [{"role": role} for role in ("assistant", "ai", "Bot", "model")]
DOCUMENTS: list[dict[str, Any]] = [
    {"retrieved": documents}
    for documents in ([{"doc_id": "a"}, {"doc_id": "b"}], ["a", "b"], [{"id": "a"}, {"doc_id": "b"}], None)
]
TIMES = ("iso", "seconds", "milliseconds", "nanoseconds", "text")
TEXTS = ("text", "content", "blocks")
NAMES = ("conversation_id", "session_id", "thread_id")


def written(turn: dict[str, Any], second: int, time: str, text: str, name: str) -> bytes:
    """Write a turn with the deviations that are named."""
    at, said = int(T0) + second, turn.pop("said")
    stamps = {"iso": f"2025-06-15T15:{6 + (40 + second) // 60:02d}:{(40 + second) % 60:02d}Z", "seconds": at}
    stamps |= {"milliseconds": at * 1000, "nanoseconds": at * 10**9, "text": f"{at}"}
    texts = {
        "text": {"text": said},
        "content": {"content": said},
        "blocks": {"content": [{"type": "text", "text": said}]},
    }
    return orjson.dumps({name: "c", "timestamp": stamps[time], **texts[text], **turn})


@st.composite
def conversations(draw: st.DrawFn) -> list[bytes]:
    """Draw a conversation of questions and answers, each with deviations of its own."""
    lines = []
    for n in range(draw(st.integers(1, 5))):
        question = n % 2 == 0
        turn = {
            "turn_id": draw(st.sampled_from([f"t{n}", n])),
            "said": "Where is it? [a]" if question else "It is in [a].",
        }
        turn |= draw(st.sampled_from(USER if question else ASSISTANT))
        turn |= {} if question else draw(st.sampled_from(DOCUMENTS))
        parts = (draw(st.sampled_from(each)) for each in (TIMES, TEXTS, NAMES))
        lines.append(written(turn, 10 * n, *parts))
    return lines


def replayed(lines: list[bytes]) -> list[OutputRecord]:
    indexer = Indexer(NOW, mend=lambda line, offset: mend_line(line, f"file:{offset}", Counter()))
    replay = Replay(Suite())
    sources = replay.feed(list(indexer.index(lines))), replay.finish()
    return [output for source in sources for _, outputs in source for output in outputs]


def delivered(lines: list[bytes], *, lenient: bool = True) -> tuple[list[OutputRecord], dict[str, int]]:
    """Return everything that is written of records on the topic, and what was assumed of them."""
    processor = PartitionProcessor(Suite(), lenient=lenient)
    records = [FakeRecord(offset, b"c", line, round(NOW * 1000)) for offset, line in enumerate(lines)]
    result = processor.process(records, T0)
    processor.accept(result)
    return [*result.outputs, *processor.close_all().outputs], dict(result.deltas.assumptions)


def rows(outputs: list[OutputRecord]) -> list[Any]:
    """Return score rows without where their records stood, which is of the run."""
    return [{**row, "source": None} for row in decoded(outputs, SCORES)]


def reasons(outputs: list[OutputRecord]) -> list[str]:
    return [dict(output.headers or ())["reason"].decode() for output in outputs if output.topic == DEAD_LETTERS]


@settings(deadline=None)
@given(conversations())
def test_rows_are_those_of_a_replay_of_the_same_lines(lines: list[bytes]) -> None:
    outputs, _ = delivered(lines)
    assert rows(outputs) == rows(replayed(lines))
    assert reasons(outputs) == []


def test_assumptions_are_counted_by_turn_and_right_turns_need_none() -> None:
    human = written({"turn_id": "u1", "role": "human", "said": "Where?"}, 0, "seconds", "content", "conversation_id")
    right = written({"turn_id": "a1", "role": "assistant", "said": "Here."}, 5, "iso", "text", "conversation_id")
    again = written({"turn_id": "u2", "role": "human", "said": "Thanks!"}, 9, "iso", "text", "conversation_id")
    _, assumed = delivered([human, right, again])
    assert assumed == {
        "role human is user": 2,
        "a number as timestamp counts seconds since 1970": 1,
        "content is text": 1,
    }


def labelled(truth: Any) -> list[bytes]:
    asked = {"turn_id": "u1", "role": "user", "said": "Where?", "truth": truth}
    answered = {
        "turn_id": "a1",
        "role": "assistant",
        "said": "In [a].",
        "retrieved": [{"doc_id": "b"}, {"doc_id": "a"}],
    }
    return [written(turn, n, "iso", "text", "conversation_id") for n, turn in enumerate((asked, answered))]


@pytest.mark.parametrize("truth", [{"doc_ids": "a", "agents": [[]]}, {"doc_ids": ["a"]}])
def test_a_label_that_deviates_gets_the_rows_of_one_that_does_not_also_in_a_replay(truth: Any) -> None:
    outputs, assumed = delivered(labelled(truth))
    assert reasons(outputs) == []
    assert rows(outputs) == rows(delivered(labelled({"doc_ids": ["a"]}))[0]) == rows(replayed(labelled(truth)))
    assert len(assumed) == (2 if "agents" in truth else 0)


def test_a_strict_topic_refuses_a_label_that_deviates() -> None:
    assert reasons(delivered(labelled({"doc_ids": "a"}), lenient=False)[0]) == [Reason.WRONG_TYPE]


def test_a_topic_is_strict_unless_told_otherwise() -> None:
    line = written({"turn_id": "u1", "role": "human", "said": "Where?"}, 0, "iso", "text", "conversation_id")
    outputs, assumed = delivered([line], lenient=False)
    assert reasons(outputs) == [Reason.UNKNOWN_ROLE]
    assert not assumed


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"turn_id": None}, Reason.WRONG_TYPE),  # sent again, nothing would tell it from another turn
        ({"role": "narrator"}, Reason.UNKNOWN_ROLE),
        ({"timestamp": "soon"}, Reason.BAD_TIMESTAMP),
        ({"role": "human", "timestamp": NOW + 172_800}, Reason.FUTURE_TIMESTAMP),
        ({"role": "human", "conversation_id": "another"}, Reason.KEY_MISMATCH),
        ({"role": "human", "text": ["x" * MAX_RECORD]}, Reason.TOO_LARGE),
    ],
)
def test_what_has_no_obvious_reading_stays_a_dead_letter(changes: dict[str, Any], reason: Reason) -> None:
    right = {"conversation_id": "c", "turn_id": "u1", "role": "user", "text": "a", "timestamp": "2025-06-15T12:00:00Z"}
    outputs, assumed = delivered([orjson.dumps(right | changes)])
    assert reasons(outputs) == [reason]
    assert not assumed
