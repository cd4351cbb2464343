"""A Faust app that is at work on a real broker: its tables show what its partitions have committed."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import orjson
import pytest
from aiokafka.consumer import fetcher
from confluent_kafka import Producer

from turnsignal.agents.kafka.topics import partition_for, topic_names
from turnsignal.agents.pages.listening import listen
from turnsignal.agents.score import make_score_app
from turnsignal.agents.settings import Settings
from turnsignal.agents.worker.consumer import PartitionApp
from turnsignal.stream.suite import Suite

pytestmark = pytest.mark.kafka


@asynccontextmanager
async def working(settings: Settings) -> AsyncIterator[PartitionApp]:
    """Start a score app in this process, as Faust starts any of its apps."""
    app = make_score_app(settings, Suite())
    app.sockets = listen("127.0.0.1", 0)
    app.finalize()
    await app.start()
    try:
        yield app
    finally:
        await app.stop()
        app.task_manager.close()


def produce(settings: Settings, conversation: str) -> None:
    said = [("u-1", "user", "How do I reset it?"), ("a-1", "assistant", "Hold the button [a].")]
    documents = [{"doc_id": "a", "text": "Hold the button."}, {"doc_id": "b", "text": "Call us."}]
    producer = Producer(settings.producer() | {"enable.idempotence": True})
    for second, (turn_id, role, text) in enumerate(said):
        turn = {"conversation_id": conversation, "turn_id": turn_id, "role": role, "text": text}
        turn |= {"timestamp": f"2025-06-15T12:00:{second:02}Z", "retrieved": documents if role == "assistant" else []}
        producer.produce(topic_names(settings.prefix)["turns"], orjson.dumps(turn), conversation.encode())
    assert producer.flush(30) == 0


async def test_the_tables_of_an_app_at_work_show_what_it_has_committed(
    fresh_topics: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("MemoryRecords", "PartitionRecords"):  # the app has aiokafka unpack otherwise, for the whole process
        monkeypatch.setattr(fetcher, name, getattr(fetcher, name))
    names = [f"c-{number}" for number in range(20)]
    for name in names:
        produce(fresh_topics, name)
    async with working(fresh_topics) as app:
        conversations, windows = app.tables["conversations"], app.tables["windows-5m"]
        async with asyncio.timeout(60):
            while sum(kept["turns"] for kept in conversations.values()) < 40:
                await asyncio.sleep(0.1)
        assert sorted(conversations) == sorted(names)
        assert {partition_for(name.encode(), 4) for name in names} == app.task_manager.owned()
        assert windows["c-7"].current()["nDCG@5"]["n"] == 1
        assert sorted(windows.windows.keys()) == sorted(names)
        with pytest.raises(KeyError):
            windows["c-7"].delta(300)
        app.task_manager.tasks.clear()  # as when its partitions are somebody else's
        assert list(conversations) == list(windows) == []
