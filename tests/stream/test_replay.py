"""Replay: lines find their partition and their time rightly, and the result depends on neither batches nor shares."""

from zlib import crc32

import orjson
import pytest

from turnsignal.stream.records.wire import DEAD_LETTERS, SCORES
from turnsignal.stream.replay import PARTITIONS, Indexer, Recorded, Replay, Run
from turnsignal.stream.suite import Suite

NOW = 1_767_225_600.0  # 2026-01-01


def turn(conversation: str, turn_id: str, role: str, text: str, second: int, **more: object) -> bytes:
    fields = {"conversation_id": conversation, "turn_id": turn_id, "role": role, "text": text}
    return orjson.dumps(fields | {"timestamp": f"2025-06-15T12:00:{second:02d}Z"} | more)


DIALOGUE = [
    turn("c1", "u1", "user", "How do I reset my password?", 0),
    turn("c1", "a1", "assistant", "Open Settings [doc_2].", 5, version="v1", retrieved=[{"doc_id": "doc_2"}]),
    turn("c1", "u2", "user", "No, I meant the other password, not this one.", 20),
    turn("c2", "u1", "user", "Where is my parcel?", 1),
    turn("c2", "a1", "assistant", "It is under way.", 6),
]


def index(*lines: bytes) -> list[Recorded]:
    return list(Indexer(NOW).index(lines))


def run(lines: list[bytes]) -> tuple[list[tuple[str, bytes | None]], Run]:
    replay = Replay(Suite())
    written = [
        (output.topic, output.value)
        for source in (replay.feed(sorted(index(*lines))), replay.finish())
        for _, outputs in source
        for output in outputs
    ]
    whole = Run(Suite())
    for number in sorted(replay.runs):
        whole.merge(replay.runs[number])
    return written, whole


def test_a_line_is_indexed_by_conversation_and_event_time() -> None:
    (record,) = index(DIALOGUE[1])
    assert (record.key, record.time, record.offset) == (b"c1", 1_749_988_805.0, 0)
    assert record.timestamp == 1_749_988_805_000


AT_NOON = b'"timestamp":"2025-06-15T12:00:05Z"'


@pytest.mark.parametrize(
    ("line", "key", "time"),
    [
        (b'{"timestamp": "2025-06-15T12:00:05+02:00", "conversation_id": "c1"}', b"c1", 1_749_981_605.0),
        (b'{"conversation_id": "c1", "timestamp": "2025-06-15 12:00:05"}', b"c1", 1_749_988_805.0),
        (b'{"conversation_id": "c1", "timestamp": 1749988805}', b"c1", 1_749_988_805.0),
        (b'{"conversation_id":"a\\u0062",' + AT_NOON + b"}", b"ab", 1_749_988_805.0),
        (b'{"conversation_id":"x","conversation_id":"c1",' + AT_NOON + b"}", b"c1", 1_749_988_805.0),
        (b'{"conversation_id":"c1","metadata":{"timestamp":"1999-01-01"},' + AT_NOON + b"}", b"c1", 1_749_988_805.0),
        (b'{"metadata":{"conversation_id":"x"},"conversation_id":"c1",' + AT_NOON + b"}", b"c1", 1_749_988_805.0),
        (b'{"text":"\\"conversation_id\\":1","conversation_id":"c1",' + AT_NOON + b"}", b"c1", 1_749_988_805.0),
    ],
)
def test_what_json_says_counts_however_the_line_is_written(line: bytes, key: bytes, time: float) -> None:
    (record,) = index(line)
    assert (record.key, record.time) == (key, time)


def test_a_line_without_a_readable_time_stays_beside_the_one_before_it_in_its_conversation() -> None:
    records = index(DIALOGUE[2], b'{"conversation_id": "c1", "timestamp": "soon"}')
    assert records[1].time == records[0].time


def test_empty_lines_are_counted_and_left_out() -> None:
    assert [record.offset for record in index(b"", DIALOGUE[0], b"", DIALOGUE[1])] == [1, 3]


def test_the_shares_of_several_indexers_make_up_the_whole() -> None:
    lines = [turn(f"c{n}", "u1", "user", "Hello", 0) for n in range(100)]
    shares = [list(Indexer(NOW, lambda processor, n=n: processor % 3 == n).index(lines)) for n in range(3)]
    assert sorted(record.offset for share in shares for record in share) == list(range(100))
    assert all(crc32(record.key) % PARTITIONS % 3 == n for n, share in enumerate(shares) for record in share)
    assert len({crc32(record.key) % PARTITIONS for share in shares for record in share}) > PARTITIONS / 2


def test_a_replay_writes_rows_and_closes_every_conversation() -> None:
    written, whole = run(DIALOGUE)
    rows = [orjson.loads(value or b"") for topic, value in written if topic == SCORES]
    assert sorted((row["conversation_id"], row["stage"]) for row in rows) == [
        ("c1", "close"),
        ("c1", "follow_up"),
        ("c1", "response"),
        ("c2", "close"),
        ("c2", "response"),
    ]
    assert (whole.conversations, whole.closes) == (2, 2)


def test_the_order_of_the_lines_does_not_matter_once_they_are_sorted() -> None:
    def ids(lines: list[bytes]) -> list[tuple[str, str]]:
        rows = [orjson.loads(value or b"") for topic, value in run(lines)[0] if topic == SCORES]
        return sorted((row["id"], orjson.dumps(row["scores"]).decode()) for row in rows)

    assert ids(DIALOGUE) == ids(DIALOGUE[::-1])


def test_what_cannot_be_read_is_a_dead_letter_with_its_own_reason() -> None:
    bad = [b"{not json", b'{"turn_id": "t1"}', b"[]", turn("c9", "u1", "robot", "Hello", 0)]
    written, whole = run([*DIALOGUE, *bad])
    assert whole.dead_letters == {"not_json": 1, "missing_field": 1, "wrong_type": 1, "unknown_role": 1}
    offsets = [dict(out.headers or [])["offset"] for out in _outputs([*DIALOGUE, *bad]) if out.topic == DEAD_LETTERS]
    assert sorted(offsets) == [b"5", b"6", b"7", b"8"]
    assert sum(topic == DEAD_LETTERS for topic, _ in written) == 4


def _outputs(lines: list[bytes]):  # type: ignore[no-untyped-def]
    replay = Replay(Suite())
    for source in (replay.feed(sorted(index(*lines))), replay.finish()):
        for _, outputs in source:
            yield from outputs


def test_a_summary_counts_scores_by_version_and_says_why_something_has_none() -> None:
    summary = run(DIALOGUE)[1].summary(Suite())
    found = {(row["version"], row["scorer"]): row for row in summary["scores"]}
    assert found["v1", "nDCG@5"] == {
        "assistant": "default",
        "version": "v1",
        "scorer": "nDCG@5",
        "n": 1,
        "mean": 1.0,
        "low": 0.006156,
        "high": 1.0,
        "mean_of_conversations": {"n": 1, "mean": 1.0},
        "good": 1,
    }
    assert found["v1", "follow_up"]["mean"] == 0.2
    assert found[None, "nDCG@5"]["unscored"] == {"no_retrieval": 1}
    assert {row["outcome"]: row["n"] for row in summary["outcomes"]} == {"unanswered": 1, "silent": 1}
    assert summary["diagnosis"][0]["meaning"].endswith(".")
    assert summary["suite"]["fingerprint"] == Suite().fingerprint
    assert orjson.dumps(summary)


def test_an_empty_replay_has_an_empty_summary() -> None:
    written, whole = run([])
    assert written == []
    assert whole.summary(Suite())["turns"] == {}
