"""Whatever comes out of the pipeline is a record as documented, whoever sent what."""

from collections import Counter
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.examples import examples
from tests.observed import by_scorer
from turnsignal.stream.errors import Reason, Refused
from turnsignal.stream.judging.exchanges import EXCHANGE_RECORDS, decode_exchange
from turnsignal.stream.pipeline.processor import PartitionProcessor
from turnsignal.stream.pipeline.scoring import CONVERSATION, DIAGNOSIS, scorer_names
from turnsignal.stream.records.environments import ENVIRONMENTS
from turnsignal.stream.records.feedback import decode_feedback
from turnsignal.stream.records.observations import read_observations
from turnsignal.stream.records.scores import SCORE_RECORDS, STAGE, ScoreRecord, Stage, row_id
from turnsignal.stream.records.summaries import SUMMARIES
from turnsignal.stream.records.turns import decode_turn
from turnsignal.stream.records.verdicts import decode_verdict
from turnsignal.stream.records.wire import CONVERSATIONS, DEAD_LETTERS, EXCHANGES, SCORES, SERIES, OutputRecord
from turnsignal.stream.statistics.directions import FREE_CONVERSATIONS
from turnsignal.stream.suite import parse_suite
from turnsignal.stream.testing import T0, FakeRecord, make_record, play

SUITE = parse_suite("[exchanges]\nshare = 1\ntruth = true\n[conversations]\nkept_characters = 100")


TEXTS = st.sampled_from(
    [
        "",
        "See [d1] and [2].",
        "[d1][d2][d1][d2] [9] [^1] 【1†source】 [x](https://d1.example)",
        "# Title\n\n| a | b |\n|---|---|\n| [d1]<br>x | - y |\n",
        "No, I meant the other one.",
        "What about partial refunds?",
        "\0\u202e😀 é",
        "```\n[d1]\n```",
        "Why is it not blue? [d1] 😀 " * 20,
    ]
) | st.text(st.characters(exclude_categories=("Cs",)), max_size=60)
DOCUMENTS = st.lists(
    st.fixed_dictionaries(
        {"doc_id": st.sampled_from(["d1", "d2", "d3", "日本"])},
        optional={
            "rank": st.integers(1, 30),
            "retrieval_rank": st.integers(1, 30),
            "score": st.floats(allow_nan=False, allow_infinity=False),
            "url": st.just("https://d1.example"),
            "text": TEXTS,
        },
    ),
    max_size=6,
)
TURNS = st.fixed_dictionaries(
    {
        "conversation_id": st.sampled_from(["c", "ди 1"]),
        "turn_id": st.sampled_from([f"t{n}" for n in range(9)]),
        "role": st.sampled_from(["user", "assistant", "assistant", "system", "tool"]),
        "text": TEXTS,
        "time": st.sampled_from([0, 1, 2, 3, 50, 400, 3000, 4000, 100_000]),
    },
    optional={
        "retrieved": DOCUMENTS,
        "version": st.sampled_from(["v1", "v|2", ""]),
        "platform": st.sampled_from(["web", "slack"]),
        "assistant": st.sampled_from(["bot", "bot|2"]),
        "model": st.text(st.characters(exclude_categories=("Cs",)), max_size=5),
        "truth": st.just({"doc_ids": ["d1"], "reference": "So [d1]."}),
        "environment": st.sampled_from(ENVIRONMENTS),
        "broken": st.just(True),
    },
)


def records(turns: list[dict[str, Any]]) -> list[FakeRecord]:
    made = []
    for offset, drawn in enumerate(turns):
        fields = dict(drawn)
        second, conversation = fields.pop("time"), fields.pop("conversation_id")
        if fields.pop("broken", False):
            fields["text"] = None
        made.append(make_record(offset, second, conversation, **fields))
    return made


def written(records: list[FakeRecord]) -> list[OutputRecord]:
    processor = PartitionProcessor(SUITE)
    return play(processor, records, range(4, len(records), 4)) + processor.close_all().outputs


def a_score_row(value: bytes, key: bytes | None) -> ScoreRecord:
    record = SCORE_RECORDS.validate_json(value)
    assert record.conversation_id.encode() == key
    assert record.suite == SUITE.fingerprint
    names = [score.scorer for score in record.scores]
    assert len(names) == len(set(names))
    assert set(names) <= {*scorer_names(SUITE), DIAGNOSIS, STAGE, CONVERSATION, FREE_CONVERSATIONS}
    for score in record.scores:
        if score.unscored is not None:
            assert score.value is None
        elif score.value is None:
            assert score.scorer in (DIAGNOSIS, STAGE)
        else:
            assert 0 <= score.value <= 1
    return record


def a_series(value: bytes, key: bytes | None) -> None:
    observed = read_observations(value)
    assert orjson.loads(value)["schema"] == 2
    assert observed.assistant.encode() == key
    assert set(observed.scorers) <= set(scorer_names(SUITE))
    assert len(observed.values) > 0
    assert all(found.n >= 0 for every in by_scorer(observed).values() for found in every)


def a_summary(value: bytes, key: bytes | None) -> None:
    summary = orjson.loads(value)
    SUMMARIES.validate_json(value)
    assert summary["schema"] == 1
    assert summary["conversation_id"].encode() == key
    assert summary["first"] <= summary["last"] < summary["closed_at"]
    assert min(summary[name] for name in ("turns", "responses", "clarifications", "superseded", "late", "gaps")) >= 0
    assert summary["clarifications"] <= summary["responses"] <= summary["turns"]
    free = summary["outcome"] and summary["outcome"] in ("resolved", "silent")
    assert summary["clarification_free"] is (free if summary["outcome"] else None)
    assert all(score["n"] > 0 and -1e-9 <= score["mean"] <= 1 + 1e-9 for score in summary["scores"].values())


@examples(150)
@given(st.lists(TURNS, max_size=25))
def test_everything_that_is_written_is_a_record_as_documented(turns: list[dict[str, Any]]) -> None:
    for out in written(records(turns)):
        value = out.value or b""
        if out.topic == SCORES:
            a_score_row(value, out.key)
        elif out.topic == EXCHANGES:
            assert EXCHANGE_RECORDS.validate_json(value).conversation_id.encode() == out.key
        elif out.topic == SERIES:
            a_series(value, out.key)
        elif out.topic == CONVERSATIONS:
            a_summary(value, out.key)
        else:
            assert out.topic == DEAD_LETTERS
            assert dict(out.headers or [])["reason"].decode() in set(Reason)


@examples(100)
@given(st.lists(TURNS, max_size=25))
def test_nothing_is_written_twice_and_ids_are_the_same_every_time(turns: list[dict[str, Any]]) -> None:
    """Unless a conversation was forgotten in between: what nobody remembers cannot be told from new."""
    turns = [turn for turn in turns if turn["time"] < 100_000]
    first, second = written(records(turns)), written(records(turns))
    assert first == second
    ids = Counter(orjson.loads(out.value or b"")["id"] for out in first if out.topic == SCORES)
    assert [(row, times) for row, times in ids.items() if times > 1] == []


def test_a_response_row_can_be_named_by_whoever_knows_the_turn() -> None:
    (came,) = records([{"conversation_id": "c", "turn_id": "t1", "role": "assistant", "text": "Hi.", "time": 0}])
    row = next(out for out in PartitionProcessor(SUITE).process([came], T0).outputs if out.topic == SCORES)
    assert orjson.loads(row.value or b"")["id"] == row_id("c", "t1", Stage.RESPONSE, "t1", SUITE.fingerprint)


def test_ids_differ_in_everything_they_are_made_of() -> None:
    whole = ("c", "t", "response", "t", "suite", "judge")
    ids = {row_id(*whole)} | {row_id(*[*whole[:n], "other", *whole[n + 1 :]]) for n in range(6)}
    assert len(ids) == 7
    assert all(len(one) == 24 for one in ids)


def test_no_record_of_a_topic_is_parsed_by_pydantic_whose_parser_takes_a_kilobyte_for_each_bracket() -> None:
    """A verdict of 1 MB of brackets took three seconds and stopped all scoring; what a worker itself wrote is small."""
    root = Path(__file__).parents[2]
    readers = [*(root / "stream" / "records").glob("*.py"), *(root / "stream" / "pipeline").glob("*.py")]
    readers += [
        *(root / "stream" / "conversations").glob("*.py"),
        *(root / "agents" / f"{app}.py" for app in ("score", "watch", "judge")),
    ]
    assert [path.name for path in readers if "validate_json" in path.read_text()] == []
    for read in (decode_turn, decode_feedback, decode_verdict, decode_exchange):
        for value in (b"[" * 90_000, b'{"metadata":[' + b"[]," * 30_000 + b"[]]}"):
            with pytest.raises(Refused):
                read(value)
