"""Whether a broker takes records is asked until it does, or time is up; what it refused last is said."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from confluent_kafka import KafkaError

from turnsignal.agents.kafka import process
from turnsignal.stream.errors import TurnsignalError

REFUSED = KafkaError(KafkaError._MSG_TIMED_OUT)


class Library:
    """What confluent_kafka would do with a broker that answers a record by one of these, the last of them for ever."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *answers: KafkaError | None) -> None:
        self.left, self.now = list(answers), 0.0
        monkeypatch.setattr(process, "AdminClient", lambda _: self)
        monkeypatch.setattr(process, "Producer", lambda _: self)
        monkeypatch.setattr(process, "time", SimpleNamespace(monotonic=lambda: self.now))

    def create_topics(self, *_: Any, **__: Any) -> dict[str, "Library"]:
        return {process.PROBE_TOPIC: self}

    def result(self, _: float) -> None: ...

    def produce(self, *_: Any, on_delivery: Callable[[Any, Any], None]) -> None:
        on_delivery(self.left[0], None)

    def flush(self, _: float) -> None:
        self.now += 1
        if len(self.left) > 1:
            self.left.pop(0)


def test_a_record_that_is_refused_is_sent_again(monkeypatch: pytest.MonkeyPatch) -> None:
    library = Library(monkeypatch, REFUSED, REFUSED, None)
    process.await_acknowledgement("nowhere:1", 10)
    assert library.now == 3


def test_the_last_refusal_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    Library(monkeypatch, REFUSED)
    with pytest.raises(TurnsignalError, match=r"^did not acknowledge a record within 5 s: Local: Message timed out$"):
        process.await_acknowledgement("nowhere:1", 5)
