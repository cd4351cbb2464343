"""Fetching: what brokers have of a topic's partitions, batch by batch as they keep it, for whoever unpacks it.

librdkafka unpacks by itself: it stands still at a batch that it cannot unpack, says nothing, and its headers end the
process where a name is no text. aiokafka's client sends a request and hands back the bytes that came.
"""

import asyncio
import logging
from collections.abc import Coroutine, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from contextvars import ContextVar, copy_context
from typing import Any, NamedTuple

from aiokafka.client import AIOKafkaClient
from aiokafka.errors import KafkaError, for_code
from aiokafka.protocol.fetch import FetchRequest
from aiokafka.structs import TopicPartition

from turnsignal.agents.settings import Settings

_WAIT_MS = 500  #: for a broker to have something
_BYTES = 1_048_576  #: that are asked for of a partition; a broker gives a batch that is larger as a whole
_BYTES_AT_ONCE = 8_388_608  #: of all partitions of a broker
_REQUEST_SECONDS = 15.0  #: after which a broker that hangs is let go, and it is asked who leads instead
_CLOSE_SECONDS = 5.0
_REST = 0.1  #: seconds before a broker is asked again that did not answer, or refused
_NAMES_REPLICA = 11  #: version of the answer that names one between what was aborted and the records

#: whether what aiokafka says of connections is left out: who reads a log is told once, when nothing comes any more
_quiet = ContextVar("quiet", default=False)


class PartitionFetch(NamedTuple):
    """What a broker answered about one partition.

    offset: from which on it was asked for; code: of what it refused, 0 when it did not; end: the offset behind the last
    that it has; stable: behind the last that no open transaction holds back; aborted: (producer, first offset) of
    transactions; data: batches, the last one often cut.
    """

    partition: int
    offset: int
    code: int
    end: int
    stable: int
    aborted: Sequence[tuple[int, int]]
    data: bytes


class TopicFetcher(AbstractContextManager["TopicFetcher"]):
    """Fetches from the partitions of a topic, each from its leader.

    level: READ_COMMITTED or READ_UNCOMMITTED of aiokafka. It runs a loop of its own, so it is not for a thread with one
    that runs. No call unpacks anything: Ctrl-C, which ends a call, would be lost in work that waits for nothing.
    """

    def __init__(self, settings: Settings, topic: str, level: int) -> None:
        self._settings, self._topic, self._level = settings, topic, level
        self._client: AIOKafkaClient | None = None
        self._asked: dict[int, asyncio.Task[list[PartitionFetch]]] = {}  # by the broker that was asked
        # Beside the tasks and no result of theirs: a runner sets handlers of signals, and Python writes these out then.
        self._fetched: list[PartitionFetch] = []
        self._runner = asyncio.Runner(loop_factory=asyncio.new_event_loop)
        self._context = copy_context()
        self._context.run(_quiet.set, True)

    def fetch(self, offsets: Mapping[int, int], seconds: float) -> list[PartitionFetch]:
        """Ask for what partitions have from some offsets on; return what came first, nothing after so many seconds.

        An answer may be to an earlier call. A broker that does not answer, or whose partition has another leader now,
        is asked again at the next call, after a rest.
        """
        self._run(self._fetch(offsets, seconds))
        fetched, self._fetched = self._fetched, []
        return fetched

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the connections."""
        with self._runner:
            self._run(self._close())

    def _run(self, work: Coroutine[Any, Any, None]) -> None:
        self._runner.run(work, context=self._context)

    async def _fetch(self, offsets: Mapping[int, int], seconds: float) -> None:
        try:
            async with asyncio.timeout(seconds):
                client = self._client = self._client or await self._connect()
                for node, wanted in self._by_leader(client, offsets).items():
                    if node not in self._asked:
                        self._asked[node] = asyncio.create_task(self._ask(client, node, wanted))
                if not self._asked:
                    await asyncio.sleep(_REST)
                    return
                await asyncio.wait(self._asked.values(), return_when=asyncio.FIRST_COMPLETED)
        except TimeoutError:
            return
        except (KafkaError, OSError):
            await asyncio.sleep(_REST)
            return
        for node in [node for node, task in self._asked.items() if task.done()]:
            self._fetched += self._asked.pop(node).result()

    def _by_leader(self, client: AIOKafkaClient, offsets: Mapping[int, int]) -> dict[int, list[tuple[int, int]]]:
        """Return which offsets of which partitions each broker is asked for; ask for leaders where there is none."""
        wanted: dict[int, list[tuple[int, int]]] = {}
        for number, offset in offsets.items():
            leader = client.cluster.leader_for_partition(TopicPartition(self._topic, number))
            if leader is None or leader < 0:
                client.force_metadata_update()
            else:
                wanted.setdefault(leader, []).append((number, offset))
        return wanted

    async def _ask(self, client: AIOKafkaClient, node: int, wanted: list[tuple[int, int]]) -> list[PartitionFetch]:
        asked = [(self._topic, [(number, offset, _BYTES) for number, offset in wanted])]
        try:
            response = await client.send(node, FetchRequest(_WAIT_MS, 1, _BYTES_AT_ONCE, self._level, asked))
            if code := getattr(response, "error_code", 0):
                raise for_code(code)
        except (KafkaError, OSError):
            fetched = []
        else:
            fetched = _read_answer(response, dict(wanted))
        if not fetched or any(each.code for each in fetched):
            client.force_metadata_update()
            await asyncio.sleep(_REST)
        return fetched

    async def _connect(self) -> AIOKafkaClient:
        client = AIOKafkaClient(
            client_id=self._settings.prefix,
            request_timeout_ms=round(_REQUEST_SECONDS * 1000),
            **self._settings.aiokafka(),
        )
        try:
            await client.bootstrap()
            await client.set_topics([self._topic])
        except BaseException:
            await client.close()
            raise
        return client

    async def _close(self) -> None:
        for task in self._asked.values():
            task.cancel()
        await asyncio.gather(*self._asked.values(), return_exceptions=True)
        if self._client is not None:
            with suppress(TimeoutError, KafkaError, OSError):
                async with asyncio.timeout(_CLOSE_SECONDS):
                    await self._client.close()


def _read_answer(response: Any, offsets: Mapping[int, int]) -> list[PartitionFetch]:
    fetched = []
    for _, partitions in response.topics:
        for number, code, end, stable, *more in partitions:
            aborted = more[1] if response.API_VERSION >= _NAMES_REPLICA else more[-2]
            fetched.append(PartitionFetch(number, offsets[number], code, end, stable, aborted or (), more[-1] or b""))
    return fetched


def _may_speak(_: logging.LogRecord) -> bool:
    return not _quiet.get()


for _name in ("aiokafka", "aiokafka.cluster", "aiokafka.conn"):  # the first is the client's
    logging.getLogger(_name).addFilter(_may_speak)
