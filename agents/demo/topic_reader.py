"""Topic reader: what the demo's view is drawn from: rows of the topics, the group's positions, and /metrics."""

import contextlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import IO

from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaError, KafkaException, TopicPartition

from turnsignal.agents.app_table import APPS
from turnsignal.agents.demo.live_statistics import Rate, sum_metric
from turnsignal.agents.files.dead_letters import encode_kept_letter
from turnsignal.agents.kafka.topics import topic_names
from turnsignal.agents.process.loopback import open_page
from turnsignal.agents.replaying.files import FILES
from turnsignal.agents.settings import Settings
from turnsignal.stream.errors import TurnsignalError
from turnsignal.stream.records.wire import DEAD_LETTERS

LOOK = 1.0  #: seconds between looks at positions and /metrics
FIRST_LOOK = 0.25  #: the same as long as nothing is committed, for somebody who waits for the workers to join


class RowReader(contextlib.AbstractContextManager["RowReader"]):
    """Reads committed rows of scores, conversations and dead letters from their beginning, and writes them to files.

    more: of other topics, in which files.
    """

    def __init__(self, settings: Settings, out: Path, more: Mapping[str, str] | None = None) -> None:
        names, files = topic_names(settings.prefix), {**FILES, **(more or {})}
        self._topics = {names[topic]: topic for topic in files}
        self._stack = contextlib.ExitStack()
        self._files: dict[str, IO[bytes]] = {
            topic: self._stack.enter_context((out / name).open("wb")) for topic, name in files.items()
        }
        options = {
            "group.id": f"{settings.prefix}-view",
            "enable.auto.commit": False,
            "enable.partition.eof": True,
            "fetch.wait.max.ms": 100,
            "isolation.level": "read_committed",
            "log_level": 0,
        }
        self._consumer = Consumer({**settings.confluent(), **options})
        topics = self._consumer.list_topics(timeout=10).topics
        self._places = [
            TopicPartition(name, number, OFFSET_BEGINNING)
            for name in self._topics
            for number in topics[name].partitions
        ]
        self._consumer.assign(self._places)
        self._reached: dict[tuple[str, int], int] = {}  # topic and partition → the offset to be read next

    def complete(self) -> bool:
        """Ask the broker whether everything that is committed by now has been read."""
        try:
            ends = [self._consumer.get_watermark_offsets(place, timeout=5)[1] for place in self._places]
        except KafkaException:
            return False
        reached = [self._reached.get((place.topic, place.partition), 0) for place in self._places]
        return all(at >= end for at, end in zip(reached, ends, strict=True))

    def read(self, seconds: float) -> Iterable[tuple[str, bytes | None, dict[str, bytes]]]:
        """Give what came: topic (without prefix), value, headers."""
        for message in self._consumer.consume(2_000, seconds):
            error = message.error()
            if error is not None:
                if error.code() == KafkaError._PARTITION_EOF:  # behind the markers of transactions, which never come
                    self._reached[message.topic(), message.partition()] = message.offset()
                    continue
                if error.code() in (KafkaError._TRANSPORT, KafkaError._ALL_BROKERS_DOWN):
                    continue
                msg = f"expected to read {message.topic()}, got: {error.str()}"
                raise TurnsignalError(msg)
            self._reached[message.topic(), message.partition()] = message.offset() + 1
            topic, value, headers = self._topics[message.topic()], message.value(), dict(message.headers() or [])
            self._write(topic, value, headers)
            yield topic, value, headers

    def _write(self, topic: str, value: bytes | None, headers: dict[str, bytes]) -> None:
        if topic == DEAD_LETTERS:
            value = encode_kept_letter(headers, value)
        if value is not None:
            self._files[topic].write(value + b"\n")

    def __exit__(self, *_: object) -> None:
        self._consumer.close()
        self._stack.close()


class SystemWatch:
    """Looks at the group's positions and at /metrics, now and then.

    apps: whose workers run; lag: turns on the topic behind the committed position, None while
    nothing is committed; at: when it was looked at, on the monotonic clock.
    """

    def __init__(self, settings: Settings, apps: Sequence[str]) -> None:
        self.turns_per_second = self.exchanges_per_second = 0.0
        self.lag: int | None = None
        self.at = 0.0
        addresses = [settings.page_address(APPS[app].port) for app in apps]
        self.urls = tuple(f"http://{address}/" for address in addresses if address is not None)
        self._turns, self._exchanges = Rate(), Rate()
        self._topic = topic_names(settings.prefix)["turns"]
        group = {"group.id": settings.app_id("score"), "enable.auto.commit": False, "log_level": 0}
        self._consumer = Consumer({**settings.confluent(), **group})
        partitions = self._consumer.list_topics(self._topic, timeout=10).topics[self._topic].partitions
        self._places = [TopicPartition(self._topic, number) for number in partitions]
        self._label = f'topic="{self._topic}"'
        self._due = 0.0

    def refresh(self, now: float, exchanges: int) -> None:
        """Look again, if the last look is old enough."""
        if now < self._due:
            return
        self._due = now + (LOOK if self.lag is not None else FIRST_LOOK)
        self.exchanges_per_second = self._exchanges.update(now, exchanges)
        with contextlib.suppress(KafkaException):
            end, worked = self._ends(), self._positions()
            if worked is None:
                worked = self._counted()
            if worked is not None:
                self.turns_per_second = self._turns.update(now, worked)
                self.lag, self.at = max(0, end - worked), now

    def _ends(self) -> int:
        return sum(self._consumer.get_watermark_offsets(place, timeout=5)[1] for place in self._places)

    def _positions(self) -> int | None:
        """Add the group's positions up; None before the first, and on the mock, which tells none of transactions."""
        offsets = [place.offset for place in self._consumer.committed(self._places, timeout=5)]
        return sum(offset for offset in offsets if offset >= 0) if max(offsets) >= 0 else None

    def _counted(self) -> int | None:
        """Ask the worker how many records it has worked through."""
        if not self.urls:
            return None
        with (
            contextlib.suppress(OSError, ValueError),
            open_page(f"{self.urls[0]}metrics", timeout=1.0) as answer,
        ):
            page = answer.read().decode()
            return round(sum_metric(page, "turnsignal_records_total", lambda labels: self._label in labels))
        return None  # not up yet, or gone already
