"""What a batch writes: rows, exchanges for judges, packed series, dead letters; and what it counts."""

from collections import defaultdict
from hashlib import sha256
from typing import Any

import orjson
import pytest

from tests.observed import by_scorer
from turnsignal.stream.errors import Reason
from turnsignal.stream.judging.exchanges import EXCHANGE_RECORDS
from turnsignal.stream.judging.sampling import is_sampled
from turnsignal.stream.pipeline.batch_output import LANE
from turnsignal.stream.pipeline.batch_result import BatchResult
from turnsignal.stream.pipeline.processor import PartitionProcessor
from turnsignal.stream.records.dead_letters import DEAD_LETTER_BYTES, dead_letter, shorten
from turnsignal.stream.records.observations import Observation, Observations, read_observations
from turnsignal.stream.records.wire import size_of
from turnsignal.stream.suite import Suite, parse_suite
from turnsignal.stream.testing import T0, FakeRecord, make_record

SUITE = Suite()


def came(offset: int, role: str, text: str, conversation: str = "c", **more: Any) -> FakeRecord:
    return make_record(offset, offset, conversation, turn_id=f"t{offset}", role=role, text=text, **more)


def documents(*ids: str) -> list[dict[str, str]]:
    return [{"doc_id": name, "text": "TEXT OF A DOCUMENT"} for name in ids]


def exchange(conversation: str = "c", start: int = 0, answer: str = "Look here [a].", **more: Any) -> list[FakeRecord]:
    return [
        came(start, "user", "How do I change the colour?", conversation),
        came(start + 1, "assistant", answer, conversation, retrieved=documents("a", "b"), **more),
        came(start + 2, "user", "No, I meant the blue one, not the red one.", conversation),
    ]


def packed(batch: BatchResult) -> list[tuple[bytes | None, Observations]]:
    return [(out.key, read_observations(out.value or b"")) for out in batch.outputs if out.topic == "series"]


def series(batch: BatchResult) -> dict[tuple[str, str | None, str], list[Observation]]:
    found: defaultdict[tuple[str, str | None, str], list[Observation]] = defaultdict(list)
    for _, one in packed(batch):
        for scorer, observations in by_scorer(one).items():
            found[one.assistant, one.version, scorer] += observations
    return found


def test_series_are_one_record_per_release_with_every_scorer_under_the_assistants_key() -> None:
    turns = exchange() + exchange("d", 10, "Look there [b].") + exchange("e", 20, version="v2", assistant="shop")
    batch = PartitionProcessor(SUITE).process(turns, T0)
    assert [(key, one.version) for key, one in packed(batch)] == [(b"default", None), (b"shop", "v2")]
    found = series(batch)
    assert found["default", None, "nDCG@5"] == [
        ("c", T0 + 1, 1.0, 0, 0.0, 1.0),
        ("d", T0 + 11, pytest.approx(0.6309, abs=1e-4), 0, 0.0, 1.0),
    ]
    assert found["shop", "v2", "follow_up"] == [("e", T0 + 22, 0.2, 0, 0.0, 1.0)]


def test_series_hold_every_value_of_every_row() -> None:
    batch = PartitionProcessor(SUITE).process(
        exchange() + exchange("d", 10, "Nothing cited.") + exchange("e", 20, "[9]"), T0
    )
    rows: defaultdict[str, list[float]] = defaultdict(list)
    for out in batch.outputs:
        if out.topic == "scores":
            for score in orjson.loads(out.value or b"")["scores"]:
                if score["value"] is not None:
                    rows[score["scorer"]].append(score["value"])
    found = {scorer: sorted(one.value for one in every) for (_, _, scorer), every in series(batch).items()}
    assert found == {scorer: sorted(values) for scorer, values in rows.items()}


@pytest.mark.parametrize("size", [1, 2, 100])
def test_beside_each_value_stand_count_and_sum_of_the_earlier_ones_of_its_conversation(size: int) -> None:
    hours = [0, 1, 3600, 3601, 90_000, 90_001, 90_002, 90_003]  # from window to window, and from day to day
    turns = [
        came(second, ("user", "assistant")[n % 2], ("Thanks!", f"See [{'ab'[n // 2 % 2]}].")[n % 2], ("c", "d")[n > 6])
        for n, second in enumerate(hours)
    ]
    answers = {b"user": {}, b"assistant": {"retrieved": documents("a", "b")}}
    turns = [
        one._replace(
            value=orjson.dumps(orjson.loads(one.value or b"") | answers[b"user" if n % 2 == 0 else b"assistant"])
        )
        for n, one in enumerate(turns)
    ]
    processor, found = PartitionProcessor(SUITE), []
    for start in range(0, len(turns), size):
        batch = processor.process(turns[start : start + size], T0)
        processor.accept(batch)
        found += series(batch)["default", None, "nDCG@5"]
    low = pytest.approx(0.6309, abs=1e-4)
    assert [one[2:5] for one in found] == [
        (1.0, 0, 0),
        (low, 1, 1.0),
        (1.0, 2, pytest.approx(1.6309, abs=1e-4)),
        (low, 0, 0),
    ]


def test_a_corrected_value_counts_without_the_one_that_it_replaces() -> None:
    turns = [
        *exchange(),
        came(12, "assistant", "The blue one is here [a].", retrieved=documents("a")),
        came(13, "user", "Thanks!"),
    ]
    late = make_record(30, 12.5, turn_id="t20", role="user", text="No, that is wrong.")
    processor = PartitionProcessor(SUITE)
    processor.accept(processor.process(turns, T0))
    again = series(processor.process([late], T0))["default", None, "follow_up"]
    assert [(one.value, one.n, one.total) for one in again] == [(0.2, 1, pytest.approx(0.2))]


def test_a_busy_assistants_series_are_split_by_the_partition_that_conversations_come_from() -> None:
    found = [packed(PartitionProcessor(SUITE, partition=n).process(exchange(), T0))[0] for n in (0, LANE - 1, LANE)]
    assert [(key, one.lane) for key, one in found] == [(b"default", 0), (b"default", 0), (b"default|1", 1)]


def test_good_bad_and_unscored_are_counted_and_the_worst_is_named() -> None:
    turns = exchange() + exchange("d", 10, "Nothing cited.") + exchange("e", 20, "Look there [b].")
    deltas = PartitionProcessor(parse_suite("[thresholds]\nrelevancy = 0.7")).process(turns, T0).deltas
    assert [deltas.quality["default", None, "nDCG@5", kind] for kind in ("good", "bad", "unscored")] == [1, 1, 1]
    assert deltas.exemplars["default", None, "nDCG@5"].conversation_id == "e"
    assert deltas.unscored["default", None, "nDCG@5", "no_citations"] == 1
    assert deltas.turns["default", None, "user"] == 6
    assert deltas.cited["default", None, "2"] == 1
    assert deltas.retrieved["default", None, "1"] == 3
    assert deltas.diagnosis["default", None, "high/low/high"] == 1


def test_by_default_nothing_is_queued_for_judges() -> None:
    assert not [out for out in PartitionProcessor(SUITE).process(exchange(), T0).outputs if out.topic == "exchanges"]


def test_an_exchange_is_queued_twice_at_most_with_documents_only_the_first_time() -> None:
    batch = PartitionProcessor(parse_suite("[exchanges]\nshare = 1")).process(exchange(), T0)
    queued = [out for out in batch.outputs if out.topic == "exchanges"]
    response, follow_up = [EXCHANGE_RECORDS.validate_json(out.value or b"") for out in queued]
    assert (response.stage, follow_up.stage) == ("response", "follow_up")
    assert [document.doc_id for document in response.documents or []] == ["a", "b"]
    assert follow_up.documents is None
    assert (follow_up.prompt, follow_up.follow_up_id) == ("How do I change the colour?", "t2")
    assert response.inclusion == follow_up.inclusion == 1.0
    assert b"TEXT OF A DOCUMENT" not in (queued[1].value or b"")


def test_the_same_conversations_are_chosen_every_time_and_more_of_them_for_a_larger_share() -> None:
    keys = [f"conversation-{n}".encode() for n in range(2000)]
    few, many = {key for key in keys if is_sampled(key, 0.1)}, {key for key in keys if is_sampled(key, 0.5)}
    assert few < many
    assert (len(few), len(many)) == (pytest.approx(200, abs=60), pytest.approx(1000, abs=100))
    assert all(is_sampled(key, 1.0) for key in keys)
    assert not any(is_sampled(key, 0.0) for key in keys)


def test_a_dead_letter_says_where_and_why_and_keeps_nothing_that_was_said() -> None:
    letter = dead_letter(
        FakeRecord(17, b"k\xff", b"\x00raw", 0), "some.turns", 3, Reason.NOT_JSON, "expected a, got é\ud800"
    )
    assert (letter.topic, letter.key, letter.value) == ("dead_letters", b"k\xff", b"")
    assert dict(letter.headers or []) == {
        "topic": b"some.turns",
        "partition": b"3",
        "offset": b"17",
        "reason": b"not_json",
        "detail": "expected a, got é?".encode(),
        "length": b"4",
        "sha256": sha256(b"\x00raw").hexdigest().encode(),
    }


def test_a_full_dead_letter_keeps_the_bytes() -> None:
    letter = dead_letter(FakeRecord(17, b"k", b"\x00raw", 0), "some.turns", 3, Reason.NOT_JSON, "", full=True)
    assert letter.value == b"\x00raw"
    assert "length" not in dict(letter.headers or [])


def test_a_full_dead_letter_is_cut_to_fit_with_length_and_digest() -> None:
    value = b"x" * (DEAD_LETTER_BYTES + 1)
    letter = dead_letter(FakeRecord(0, None, value, 0), "t", 0, Reason.TOO_LARGE, "d" * 5000, full=True)
    headers = dict(letter.headers or [])
    assert letter.value == value[:-1]
    assert (headers["length"], headers["sha256"]) == (str(len(value)).encode(), sha256(value).hexdigest().encode())
    assert len(headers["detail"]) == 1000


def test_a_tombstone_stays_one_in_the_dead_letters() -> None:
    assert dead_letter(FakeRecord(0, b"k", None, 0), "t", 0, Reason.TOMBSTONE, "").value is None


def test_a_dead_letter_fits_whatever_came() -> None:
    key, value = b"k" * 3_000_000, b"v" * 3_000_000
    letter = dead_letter(
        FakeRecord(2**62, key, value, 0), "t" * 249, 1_000_000, Reason.BAD_ID, "é" * 1_000_000, full=True
    )
    headers = dict(letter.headers or [])
    assert size_of(letter) < 103_000
    assert (letter.key, letter.value) == (key[:800], value[:DEAD_LETTER_BYTES])
    assert (headers["key_length"], headers["key_sha256"]) == (b"3000000", sha256(key).hexdigest().encode())
    assert (headers["length"], headers["sha256"]) == (b"3000000", sha256(value).hexdigest().encode())


def test_a_dead_letter_for_a_small_topic_is_cut_further_and_still_says_what_came() -> None:
    value = b"v" * 3_000_000
    whole = dead_letter(FakeRecord(0, b"k" * 900, value, 0), "t", 0, Reason.BAD_ID, "d" * 5000, full=True)
    small = shorten(whole, 5_000)
    assert 4_000 < size_of(small) <= 5_000
    assert small.headers == whole.headers
    short = shorten(dead_letter(FakeRecord(0, b"k", value[:6_000], 0), "t", 0, Reason.NOT_JSON, "", full=True), 4_000)
    headers = dict(short.headers or [])
    assert size_of(short) <= 4_000
    assert (headers["length"], headers["sha256"]) == (b"6000", sha256(value[:6_000]).hexdigest().encode())
