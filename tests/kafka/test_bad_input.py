"""Hostile and broken records on a real broker: the worker goes on, the neighbours are scored, the reason is right."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import orjson
import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, AlterConfigOpType, ConfigEntry, ConfigResource, ResourceType

from tests.kafka.faults.oracle import Outcome, reached_ends, read_outcome
from tests.kafka.faults.play import make_settings, wait
from tests.kafka.faults.workers import FaultyWorker
from turnsignal.agents.kafka.brokers import Broker
from turnsignal.agents.kafka.topics import create_topics, topic_names
from turnsignal.agents.settings import Settings
from turnsignal.stream.errors import Reason
from turnsignal.stream.judging.exchanges import EXCHANGE_RECORDS

pytestmark = pytest.mark.kafka

CONVERSATION = b"neighbours"
DOCUMENTS = [{"doc_id": "doc_1", "text": "Hold the button for ten seconds."}, {"doc_id": "doc_2", "text": "Call us."}]
LARGEST = 12 * 1024 * 1024  #: bytes of a record on the turns topic of this test


def turn(turn_id: str, role: str = "user", text: str = "How do I reset it?", **fields: Any) -> dict[str, Any]:
    return {
        "conversation_id": CONVERSATION.decode(),
        "turn_id": turn_id,
        "role": role,
        "text": text,
        "timestamp": "2024-05-01T09:00:00Z",
        **fields,
    }


def without(field: str) -> bytes:
    return orjson.dumps({name: value for name, value in turn("bad").items() if name != field})


def beside(tail: bytes) -> bytes:
    return orjson.dumps(turn("bad"))[:-1] + b"," + tail + b"}"


Case = tuple[str, bytes | None, bytes | None, Reason | None]

BAD: list[Case] = [
    ("not JSON", CONVERSATION, b"user: how do I reset it?", Reason.NOT_JSON),
    ("nothing at all", CONVERSATION, b"", Reason.NOT_JSON),
    ("not UTF-8", CONVERSATION, beside(b'"user_id":"caf\xe9"'), Reason.NOT_JSON),
    ("a wrong type", CONVERSATION, orjson.dumps(turn("bad", text=42)), Reason.WRONG_TYPE),
    ("a missing field", CONVERSATION, without("text"), Reason.MISSING_FIELD),
    ("an unknown role", CONVERSATION, orjson.dumps(turn("bad", "oracle")), Reason.UNKNOWN_ROLE),
    ("NaN", CONVERSATION, beside(b'"metadata":{"latency":NaN}'), Reason.NOT_JSON),
    ("a lone surrogate", CONVERSATION, beside(b'"user_id":"\\ud83d"'), Reason.NOT_JSON),
    ("NUL in an id", CONVERSATION, orjson.dumps(turn("bad\x00")), Reason.BAD_ID),
    ("10 MB of text", CONVERSATION, orjson.dumps(turn("bad", text="so " * 3_500_000)), Reason.TOO_LARGE),
    (
        "50 000 documents",
        CONVERSATION,
        orjson.dumps(turn("bad", "assistant", retrieved=[{"doc_id": "doc_1"}] * 50_000)),
        Reason.TOO_MANY_DOCUMENTS,
    ),
    ("10 000 deep", CONVERSATION, beside(b'"metadata":' + b'{"a":' * 10_000 + b"1" + b"}" * 10_000), Reason.TOO_DEEP),
    ("an empty key", b"", orjson.dumps(turn("bad")), Reason.EMPTY_KEY),
    ("no key", None, orjson.dumps(turn("bad")), Reason.EMPTY_KEY),
    ("another key", b"somebody", orjson.dumps(turn("bad")), Reason.KEY_MISMATCH),
    ("the year 2200", CONVERSATION, orjson.dumps(turn("bad", timestamp="2200-01-01T00:00Z")), Reason.FUTURE_TIMESTAMP),
    ("no time", CONVERSATION, orjson.dumps(turn("bad", timestamp="soon")), Reason.BAD_TIMESTAMP),
    ("a tombstone", CONVERSATION, None, Reason.TOMBSTONE),
    ("the same turn again", CONVERSATION, orjson.dumps(turn("t1")), None),
    ("another text under its id", CONVERSATION, orjson.dumps(turn("t1", text="Never mind.")), Reason.CONFLICT),
]

FINE: list[Case] = [
    ("NUL in a text", b"nul", orjson.dumps(turn("t1", text="a\x00b") | {"conversation_id": "nul"}), None),
    (
        "no zone",
        b"naive",
        orjson.dumps(turn("t1", "assistant", timestamp="2024-05-01T09:00:00") | {"conversation_id": "naive"}),
        None,
    ),
    (
        "the year 1970",
        b"old",
        orjson.dumps(turn("t1", "assistant", timestamp="1970-01-01T00:00:00Z") | {"conversation_id": "old"}),
        None,
    ),
]


def records() -> Iterator[Case]:
    answer = turn("t2", "assistant", "Hold the button [doc_1].", retrieved=DOCUMENTS, timestamp="2024-05-01T09:00:09Z")
    yield "question", CONVERSATION, orjson.dumps(turn("t1")), None
    yield from BAD
    yield "answer", CONVERSATION, orjson.dumps(answer), None
    yield from FINE
    thanks = turn("t3", "user", "Thanks, that worked!", timestamp="2024-05-01T09:00:30Z")
    yield "follow-up", CONVERSATION, orjson.dumps(thanks), None


def limit(settings: Settings, topic: str, size: int) -> None:
    entry = ConfigEntry("max.message.bytes", str(size), incremental_operation=AlterConfigOpType.SET)
    resource = ConfigResource(ResourceType.TOPIC, topic_names(settings.prefix)[topic], incremental_configs=[entry])
    admin = AdminClient(settings.confluent())
    for answer in admin.incremental_alter_configs([resource]).values():
        answer.result(30)


def work_through(
    settings: Settings, cases: list[Case], directory: Path, forget: Sequence[bytes] = (), letters: int = 0
) -> tuple[Outcome, str]:
    """Feed the records to one partition in their order, and let a worker work until so many dead letters are there."""
    producer = Producer(settings.producer() | {"message.max.bytes": LARGEST, "enable.idempotence": True})
    for _, key, value, _ in cases:
        producer.produce(topic_names(settings.prefix)["turns"], value, key, 0)
    for key in forget:
        producer.produce(topic_names(settings.prefix)["forget"], b"", key, 0)
    assert producer.flush(60) == 0
    worker = FaultyWorker("worker", settings, directory)
    try:
        worker.start()
        wait(lambda: reached_ends(settings), 90, "the turns to be committed", [worker])
        wait(lambda: len(read_outcome(settings).letters) >= letters, 30, "the dead letters", [worker])
        worker.terminate()
        assert worker.join() == 0
    finally:
        worker.kill()
    return read_outcome(settings), worker.log_text()


@pytest.fixture
def settings(broker: Broker, fresh_prefix: str, tmp_path: Path) -> Settings:
    made = make_settings(broker, fresh_prefix, tmp_path)
    create_topics(made)
    limit(made, "turns", LARGEST)
    return made


def stages(outcome: Outcome, conversation: bytes) -> list[str]:
    return [orjson.loads(row)["stage"] for row in outcome.rows.get(conversation, [])]


def test_bad_records_are_set_aside_once_each_and_their_neighbours_are_scored(
    settings: Settings, tmp_path: Path
) -> None:
    cases = list(records())
    outcome, log = work_through(settings, cases, tmp_path)
    found = {int(offset): Reason(reason) for (_, _, offset, reason), _, _ in outcome.letters}
    expected = {offset: reason for offset, (_, _, _, reason) in enumerate(cases) if reason is not None}
    assert {cases[at][0]: found.get(at) for at in expected} == {cases[at][0]: expected[at] for at in expected}
    assert found == expected
    assert set(outcome.letters.values()) == {1}
    assert stages(outcome, CONVERSATION) == ["response", "follow_up"]
    assert stages(outcome, b"naive")[:1] == ["response"]
    assert stages(outcome, b"old")[:1] == ["response"]
    assert outcome.positions[0] == len(cases)
    assert log.count("working on") == 1, log  # it never had to start again


def test_an_exchange_larger_than_its_topic_takes_is_cut_until_it_fits(settings: Settings, tmp_path: Path) -> None:
    """It was a dead letter, and no judge ever saw it."""
    limit(settings, "exchanges", 65_536)
    text = settings.suite.read_text().replace("share = 0.3", "share = 1.0") if settings.suite else ""
    (tmp_path / "suite.toml").write_text(text)
    large = [{"doc_id": "doc_1", "text": "Hold the button. " * 10_000}, {"doc_id": "doc_2", "text": "Or not."}]
    long = "Hold it [doc_1]. " + 'Hört ihr "mich"? 😀 ' * 5_000
    cases: list[Case] = [
        ("question", CONVERSATION, orjson.dumps(turn("t1")), None),
        ("answer", CONVERSATION, orjson.dumps(turn("t2", "assistant", "Hold it [doc_1].", retrieved=large)), None),
        ("follow-up", CONVERSATION, orjson.dumps(turn("t3", text="Thanks!")), None),
        ("long answer", CONVERSATION, orjson.dumps(turn("t4", "assistant", long, retrieved=large)), None),
    ]
    outcome, log = work_through(settings, cases, tmp_path, letters=0)
    assert stages(outcome, CONVERSATION) == ["response", "follow_up", "response"]
    assert not outcome.letters
    written = outcome.exchanges[CONVERSATION]
    assert max(map(len, written)) < 65_536
    first, second, third = map(EXCHANGE_RECORDS.validate_json, written)
    assert [one.row for one in (first, second, third)] == [
        orjson.loads(row)["id"] for row in outcome.rows[CONVERSATION]
    ]
    assert (first.response, first.cut, second.cut) == ("Hold it [doc_1].", ["documents"], [])
    assert [(one.doc_id, one.text) for one in first.documents or []][1] == ("doc_2", "Or not.")
    assert 60_000 < len((first.documents or [])[0].text or "") < 65_536
    assert third.cut == ["documents", "response"]
    assert long.startswith(third.response)
    assert len(third.response.encode()) > 40_000
    assert log.count("working on") == 1, log


def test_keys_that_no_id_could_be_stop_nothing(settings: Settings, tmp_path: Path) -> None:
    """The dead letter kept the key whole, the broker refused it, and the worker met it again at every start."""
    limit(settings, "forget", LARGEST)
    long = b"k" * 3_000_000
    cases: list[Case] = [
        ("question", CONVERSATION, orjson.dumps(turn("t1")), None),
        ("a key of 3 MB", long, orjson.dumps(turn("bad")), Reason.BAD_ID),
        ("a tombstone with one", long, None, Reason.BAD_ID),
        ("answer", CONVERSATION, orjson.dumps(turn("t2", "assistant", "Hold it [doc_1].", retrieved=DOCUMENTS)), None),
    ]
    outcome, log = work_through(settings, cases, tmp_path, [long], letters=3)
    names = topic_names(settings.prefix)
    found = {(topic, int(offset), Reason(reason)) for (topic, _, offset, reason), _, _ in outcome.letters}
    assert found == {(names["turns"], n, Reason.BAD_ID) for n in (1, 2)} | {(names["forget"], 0, Reason.BAD_ID)}
    assert {key for _, key, _ in outcome.letters} == {long[:800]}
    assert stages(outcome, CONVERSATION) == ["response"]
    assert log.count("working on") == 1, log  # it never had to start again


def test_turns_that_deviate_a_little_are_read_where_the_settings_say_so(settings: Settings, tmp_path: Path) -> None:
    lenient = settings.model_copy(update={"lenient_turns": True})
    answer = turn("t2", "ai", "", content=[{"type": "text", "text": "Hold it [doc_1]."}], retrieved=["doc_1", "doc_2"])
    del answer["text"]
    cases: list[Case] = [
        ("question", CONVERSATION, orjson.dumps(turn("t1", "human", timestamp=1_714_554_000)), None),
        ("answer", CONVERSATION, orjson.dumps(answer | {"timestamp": 1_714_554_009_000}), None),
        ("nobody's", CONVERSATION, orjson.dumps(turn("bad", "oracle")), Reason.UNKNOWN_ROLE),
        ("follow-up", CONVERSATION, orjson.dumps(turn("t3", "human", "Thanks!", timestamp=1_714_554_030)), None),
    ]
    outcome, log = work_through(lenient, cases, tmp_path, letters=1)
    assert stages(outcome, CONVERSATION) == ["response", "follow_up"]
    assert [Reason(reason) for (_, _, _, reason), _, _ in outcome.letters] == [Reason.UNKNOWN_ROLE]
    assert log.count("role human is user") == 1
    assert log.count("working on") == 1, log
