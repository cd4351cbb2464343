"""Limits: how many bytes a record of each topic may have, as the broker says it now.

They are an operator's, who may change them under a worker: what was written by the old ones may be refused.
"""

import logging
from collections.abc import Iterable, Mapping
from typing import Any

from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.admin import AdminClient, ConfigResource, ResourceType

from turnsignal.stream.pipeline.processor import BatchResult

logger = logging.getLogger("turnsignal.limits")


class RecordLimits:
    """The limits of an app's topics, asked for again and again.

    connection: librdkafka's options; topics: those that are written, the changelog among them; sizes: topic → bytes, a
    topic of which nothing is known is left out; revision: counts the changes.
    """

    def __init__(self, connection: Mapping[str, Any], topics: Iterable[str]) -> None:
        self.sizes: dict[str, int] = {}
        self.revision = 0
        self._connection = connection
        self._topics = list(dict.fromkeys(topics))

    def learn(self) -> None:
        """Ask the broker; blocks."""
        sizes = record_limits(self._connection, self._topics)
        if any(self.sizes.get(topic) != size for topic, size in sizes.items()):
            self.sizes |= sizes
            self.revision += 1

    def expect_same(self, revision: int) -> None:
        """Ask the broker, and give up what was written by other limits than now; blocks.

        Raises KafkaException, as the broker would.
        """
        self.learn()
        if revision != self.revision:
            msg = "the limits of its topics are others than those that it was written by"
            raise KafkaException(KafkaError(KafkaError.MSG_SIZE_TOO_LARGE, msg))

    def drop_too_large(self, batch: BatchResult, changelog: str) -> None:
        """Drop from a refused batch the conversations whose state its changelog does not take."""
        limit = self.sizes.get(changelog)
        for key, value in batch.changes.items():
            if limit is not None and value is not None and len(value) > limit:
                shown = key[:100].decode(errors="replace")
                logger.error(
                    "the state of %r is forgotten: expected at most %d bytes, got %d; raise max.message.bytes of %s",
                    shown,
                    limit,
                    len(value),
                    changelog,
                )
                batch.changes[key] = None


def record_limits(connection: Mapping[str, Any], topics: Iterable[str]) -> dict[str, int]:
    """Ask how many bytes a record of each topic may have; a topic of which nothing is known is left out.

    Not everybody who may write may ask, and the mock cluster has no answer.
    """
    limits: dict[str, int] = {}
    resources = [ConfigResource(ResourceType.TOPIC, topic) for topic in topics]
    admin = AdminClient({**connection, "log_level": 0})
    for resource, answer in admin.describe_configs(resources, request_timeout=10).items():
        try:
            limits[resource.name] = int(answer.result(15)["max.message.bytes"].value)
        except (KafkaException, KeyError, ValueError, TimeoutError):
            continue
    return limits
