"""Stored turns: single records of the input, read again from the broker, for a page that shows what no state keeps."""

import asyncio
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from confluent_kafka import Consumer, KafkaException, TopicPartition

from turnsignal.agents.settings import Settings

SECONDS = 3.0  #: for all records of a page

_WAIT = 0.2  #: seconds between looks at the clock


class StoredTurns:
    """Records of one topic by partition and offset; one page at a time."""

    def __init__(self, settings: Settings, topic: str) -> None:
        self._settings = settings
        self._topic = topic
        self._thread = ThreadPoolExecutor(1, "stored-turns")

    async def read(self, partition: int, offsets: Sequence[int]) -> dict[int, bytes]:
        """Return the values of records by offset; those are missing that retention took or that come too late."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._read, partition, offsets)

    def _read(self, partition: int, offsets: Sequence[int]) -> dict[int, bytes]:
        options = {"group.id": f"{self._settings.prefix}-pages", "enable.auto.commit": False, "log_level": 0}
        options |= {"isolation.level": "read_committed", "auto.offset.reset": "error", "fetch.wait.max.ms": 50}
        consumer, until = Consumer({**self._settings.confluent(), **options}), time.monotonic() + SECONDS
        values: dict[int, bytes] = {}
        try:
            for offset in sorted(offsets):
                consumer.assign([TopicPartition(self._topic, partition, offset)])
                value = self._await(consumer, offset, until)
                if value is not None:
                    values[offset] = value
        except KafkaException:  # the page says what it could not have
            pass
        finally:
            consumer.close()
        return values

    @staticmethod
    def _await(consumer: Consumer, offset: int, until: float) -> bytes | None:
        """Return the value of the record at an offset; None when it is gone, or the time is over."""
        while time.monotonic() < until:
            message = consumer.poll(_WAIT)
            if message is None:
                continue
            if message.error() is not None or message.offset() != offset:
                return None
            value: bytes | None = message.value()
            return value
        return None
