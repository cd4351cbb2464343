"""A decoded conversation is handed out once, for the very bytes that it was encoded to, and few of them are kept."""

from turnsignal.stream.conversations import decoded
from turnsignal.stream.conversations.decoded import DecodedConversations
from turnsignal.stream.conversations.state import Conversation
from turnsignal.stream.pipeline.processor import PartitionProcessor
from turnsignal.stream.suite import Suite
from turnsignal.stream.testing import T0, FakeTurn, reply, user


def test_is_handed_out_once() -> None:
    kept, state = DecodedConversations(), Conversation()
    snapshot = state.snapshot()
    kept.put(b"c", snapshot, state)
    assert kept.take(b"c", snapshot) is state
    assert kept.take(b"c", snapshot) is None


def test_equal_bytes_are_not_the_same_bytes() -> None:
    kept, state = DecodedConversations(), Conversation()
    kept.put(b"c", state.snapshot(), state)
    assert kept.take(b"c", state.snapshot()) is None


def test_the_longest_untouched_gives_way(monkeypatch) -> None:
    monkeypatch.setattr(decoded, "MOST", 2)
    kept, states = DecodedConversations(), {key: Conversation() for key in (b"a", b"b", b"c")}
    snapshots = {key: state.snapshot() for key, state in states.items()}
    for key, state in states.items():
        kept.put(key, snapshots[key], state)
    assert kept.take(b"a", snapshots[b"a"]) is None
    assert kept.take(b"c", snapshots[b"c"]) is states[b"c"]


def test_a_conversation_that_is_too_large_is_not_kept(monkeypatch) -> None:
    monkeypatch.setattr(decoded, "MAX_BYTES", 100)
    kept, small, large = DecodedConversations(), Conversation(), Conversation(recent=bytes(100))
    for key, state in ((b"a", small), (b"b", large), (b"b", large)):
        kept.put(key, snapshot := state.snapshot(), state)
    assert kept.take(b"b", snapshot) is None
    kept.put(b"a", snapshot := small.snapshot(), small)
    assert kept.take(b"a", snapshot) is small


def test_what_a_failed_batch_made_of_a_conversation_is_never_met_again() -> None:
    def outputs(processor: PartitionProcessor, turn: FakeTurn) -> list[bytes | None]:
        return [output.value for output in processor.process([turn.record(2)], T0).outputs]

    processor = PartitionProcessor(Suite())
    begun = [user("u1", T0).record(0), reply("a1", T0 + 1).record(1)]
    processor.accept(processor.process(begun, T0))
    outputs(processor, user("u2", T0 + 2, "No, that is wrong."))  # and never accepted
    anew = PartitionProcessor(Suite(), dict(processor.store))
    anew.read_store()
    turn = user("u3", T0 + 3, "Thank you, that helps!")
    assert outputs(processor, turn) == outputs(anew, turn)
