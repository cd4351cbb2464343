"""What a conversation remembers of feedback: bounded, whatever strangers send."""

import msgspec

from turnsignal.stream.conversations.feedback_memory import (
    MAX_BYTES,
    MAX_IDS,
    MAX_NEWEST,
    MAX_WAITING,
    FeedbackMemory,
    KeptFeedback,
    NewestFeedback,
)
from turnsignal.stream.conversations.pairing import PendingResponse
from turnsignal.stream.records.feedback import MAX_REASON
from turnsignal.stream.records.turns import MAX_ID, MAX_SHORT


def test_what_is_remembered_takes_no_more_bytes_than_suites_leave_for_it() -> None:
    name, sign = "\U0001f600" * MAX_ID, "\U0001f600" * MAX_SHORT
    feedback = KeptFeedback(name, name, "label", 1e9, 2**62, None, "\U0001f600" * MAX_REASON, sign, 1.0, sign, "f" * 16)
    memory = FeedbackMemory(waiting=[feedback] * MAX_WAITING, ids=b"\xff" * 9 * MAX_IDS)
    memory.newest = [NewestFeedback(1e9, name, "f" * 24, b"\xff" * 6, name, 1)] * MAX_NEWEST
    for n in range(100):
        memory.on_evicted(f"a{n}", PendingResponse(sign[:-3] + f"{n:03}", sign, sign, sign))
    assert len(msgspec.msgpack.encode(memory)) <= MAX_BYTES
