"""State that is damaged behind its first fields is no turn's fault: whatever needs it says so and changes nothing."""

import msgspec
import pytest

from turnsignal.stream.conversations.clock import Moment
from turnsignal.stream.conversations.state import Conversation, restore, restore_judged
from turnsignal.stream.errors import SchemaError, UnreadableStateError
from turnsignal.stream.pipeline.processor import PartitionProcessor, check_entry
from turnsignal.stream.suite import Suite
from turnsignal.stream.testing import T0, Played, reply, user

TOPIC = "turnsignal.turns"


def damage(snapshot: bytes, field: int) -> bytes:
    fields = msgspec.msgpack.decode(snapshot)
    fields[field] = "x"
    return msgspec.msgpack.encode(fields)


def damaged_processor() -> PartitionProcessor:
    """One that has a conversation `c` whose state cannot be read, and takes it up all the same, as its head can."""
    played = Played().say(user("u1", 0), reply("a1", 1))
    snapshot = played.processor.store[b"c"]
    processor = PartitionProcessor(Suite(), {b"c": damage(snapshot, 4)}, topic=TOPIC)
    processor.read_store()
    return processor


def test_a_turn_of_a_conversation_whose_state_is_damaged_is_not_to_blame() -> None:
    processor = damaged_processor()
    with pytest.raises(UnreadableStateError, match="expected a conversation's state, got ") as caught:
        processor.process([user("u2", 2).record(2)], T0)
    assert caught.value.key == b"c"


def test_a_conversation_that_is_due_is_not_forgotten_where_its_state_is_damaged() -> None:
    processor = damaged_processor()
    with pytest.raises(UnreadableStateError) as caught:
        processor.process([user("u1", 1e5, conversation="d").record(2)], T0 + 1e5)
    assert caught.value.key == b"c"


def test_a_record_that_is_set_aside_takes_no_damaged_state_along() -> None:
    with pytest.raises(UnreadableStateError):
        damaged_processor().set_aside(TOPIC, user("u2", 2).record(2), "it ended two workers")


@pytest.mark.parametrize("byte", [b"\xff", b"\xc1"])
def test_a_byte_that_belongs_to_no_text_is_damage(byte: bytes) -> None:
    snapshot = Conversation(suite="a name that is easy to recognise").snapshot()
    with pytest.raises(UnreadableStateError):
        restore(snapshot.replace(b"easy", byte + b"asy"))


def test_damage_to_what_a_verdict_reads_is_damage() -> None:
    state = Conversation()
    state.judged_memory()
    snapshot = state.snapshot()
    assert restore_judged(snapshot) is not None
    with pytest.raises(UnreadableStateError):
        restore_judged(damage(snapshot, 5))
    with pytest.raises(UnreadableStateError):
        restore(damage(snapshot, 6))


def test_a_conversation_whose_state_is_damaged_is_erased_on_request() -> None:
    processor = damaged_processor()
    batch = processor.process([], T0, [user("forget", 2).record(2)])
    assert batch.changes == {b"c": None}
    assert ("conversations", b"c", None) in [(out.topic, out.key, out.value) for out in batch.outputs]


FAR = 4e9  # the year 2096


@pytest.mark.parametrize("time", [float("nan"), float("inf"), 1e12])
@pytest.mark.parametrize("field", ["due", "clock"])
def test_a_time_that_never_comes_is_damage_and_says_of_which_conversation(field: str, time: float) -> None:
    state = Conversation()
    setattr(state, field, time)
    processor = PartitionProcessor(Suite(), {b"sound": Conversation().snapshot(), b"c": state.snapshot()}, topic=TOPIC)
    with pytest.raises(UnreadableStateError, match="no time is "):
        processor.read_store()
    with pytest.raises(UnreadableStateError, match="no time is "):
        check_entry(b"c", state.snapshot())
    state.judged_memory()
    with pytest.raises(UnreadableStateError, match="no time is "):
        restore_judged(state.snapshot())


def test_stream_time_that_lies_ahead_closes_nothing_and_spreads_to_no_other_conversation() -> None:
    played = Played().say(user("u1", 0), reply("a1", 1), user("u1", 0, conversation="d"))
    ahead = restore(played.processor.store[b"d"])
    ahead.clock = FAR
    processor = PartitionProcessor(Suite(), {**played.processor.store, b"d": ahead.snapshot()}, topic=TOPIC)
    processor.read_store()
    processor.resume(Moment(T0 + 2, 5.0), Moment(T0 + 4, 7.0))
    batch = processor.process([user("u2", 5).record(9)], 8.0)
    assert {b"c"} == batch.changes.keys(), "nothing was due"
    assert restore(batch.changes[b"c"] or b"").clock == T0 + 5


def test_what_a_newer_version_wrote_is_no_damage_whatever_its_times_say() -> None:
    newer = Conversation(version=99, due=1.7e12, clock=1.7e12).snapshot()  # milliseconds, as that one may have them
    for read in (restore, lambda value: check_entry(b"c", value)):
        with pytest.raises(SchemaError, match="a newer turnsignal wrote it") as caught:
            read(newer)
        assert not isinstance(caught.value, UnreadableStateError)
