"""The demo's traffic, its pace, and the texts that it remembers."""

from itertools import takewhile
from pathlib import Path
from typing import Any

import orjson
import pytest

from turnsignal import replay
from turnsignal.agents.demo.load_generator import SPEED, SentTexts, demo_traffic
from turnsignal.agents.files.produce import UNTIMED, Pace
from turnsignal.stream.redaction import Redaction
from turnsignal.stream.simulation import simulate


def turn(conversation: str, turn_id: str, role: str, text: str, second: int) -> tuple[bytes, bytes]:
    stamp = f"2026-01-01T10:00:{second:02}Z"
    fields: dict[str, Any] = {"conversation_id": conversation, "turn_id": turn_id, "role": role, "text": text}
    return conversation.encode(), orjson.dumps(fields | {"timestamp": stamp})


def kept(texts: SentTexts) -> SentTexts:
    texts.keep(*turn("c", "u2", "user", "No, by mail.", 20))  # comes before what it follows
    texts.keep(*turn("c", "u1", "user", "How do I write to you?", 1))
    texts.keep(*turn("c", "a1", "assistant", "Call 555.", 10))
    texts.keep(*turn("c", "u3", "user", "Please.", 21))
    texts.keep(b"c", b"{")
    return texts


def test_simulated_traffic_ends_at_the_present_and_gets_worse_on_the_way() -> None:
    traffic = demo_traffic(60.0, 1_767_225_600.0, 60.0)
    assert traffic.start == 1_767_225_600.0 - 3600.0
    assert traffic.regression is not None
    assert 0 < traffic.regression.minute < 60
    assert demo_traffic(None, 1_767_225_600.0, 1.0).start == 1_767_225_600.0


@pytest.mark.slow
def test_a_demo_ends_by_naming_the_release_that_retrieves_worse_and_nothing_else(tmp_path: Path) -> None:
    """Its conversations are the same each time, so a finding of chance would be what everybody reads first."""
    end = 1_767_279_000.0
    shown = takewhile(lambda record: record.time <= end, simulate(demo_traffic(60.0, end, SPEED)))
    recording = tmp_path / "turns.jsonl"
    recording.write_bytes(b"".join((record.value or b"").replace(b"\n", b" ") + b"\n" for record in shown))
    claimed = [finding for finding in replay(recording).findings() if finding.change in ("worse", "better")]
    assert claimed
    assert all(finding.sentence.startswith("v3 retrieves worse") for finding in claimed)


def test_pace_waits_as_long_as_the_event_times_are_apart() -> None:
    waited: list[float] = []
    pace = Pace(60.0, clock=lambda: 100.0, sleep=waited.append)
    for event_time in (1000.0, 1060.0, 1030.0):
        pace.wait(event_time)
    assert waited == [1.0, 0.5]
    Pace(None, sleep=waited.append).wait(5.0)
    assert len(waited) == 2


def test_what_has_no_time_goes_at_once_and_a_long_wait_is_said_with_what_to_do() -> None:
    waited: list[float] = []
    said: list[str] = []
    pace = Pace(60.0, lambda: 100.0, waited.append, untimed=UNTIMED, say=said.append)
    for event_time in (0.0, 1.0, 1.79e9, 1.79e9 + 60, 1.79e9 + 720_000):
        pace.wait(event_time)
    assert waited == [1.0, 12_000.0]
    (line,) = said
    assert "3.3 hours from now" in line
    assert "--speed" in line


def test_an_exchange_is_put_together_from_what_was_sent() -> None:
    exchange = kept(SentTexts()).exchange("c", "a1", ("u2", "u3"))
    assert exchange == ("How do I write to you?", "Call 555.", "No, by mail. / Please.")


def test_what_was_not_kept_is_empty() -> None:
    assert kept(SentTexts()).exchange("c", "a2", ("u2",)) == ("", "", "No, by mail.")
    assert SentTexts().exchange("c", "a1", ()) == ("", "", "")


def test_redacted_texts_are_shown_redacted() -> None:
    redaction = Redaction.model_validate({"patterns": [{"kind": "hotline", "regex": "555"}]})
    _, answer, _ = kept(SentTexts(redaction)).exchange("c", "a1", ())
    assert "555" not in answer


def test_the_quietest_conversations_are_forgotten_first() -> None:
    texts = SentTexts()
    for number in range(200):
        texts.keep(*turn(f"c{number}", "u1", "user", "x" * 200_000, 1))
    assert texts.exchange("c0", "a1", ("u1",))[2] == ""
    assert texts.exchange("c199", "a1", ("u1",))[2] != ""
