"""Pages of real workers: any of them answers for all, and one that came back elsewhere is no fault."""

import re
import signal
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest
from confluent_kafka import Producer

from tests.kafka.faults.workers import FaultyWorker, wait
from turnsignal.agents.kafka.topics import topic_names
from turnsignal.agents.settings import Settings

pytestmark = pytest.mark.kafka

CONVERSATIONS = [f"c-{number}" for number in range(12)]


@pytest.fixture
def workers(fresh_topics: Settings, tmp_path: Path) -> Iterator[list[FaultyWorker]]:
    started = [FaultyWorker(name, fresh_topics, tmp_path) for name in ("one", "other")]
    for worker in started:
        worker.start()
    yield started
    for worker in started:
        worker.terminate()
    for worker in started:
        worker.join()


def address(worker: FaultyWorker) -> str:
    """Where its pages are now, "" as long as it has not said so."""
    return (["", *re.findall(r"pages on (http://\S+),", worker.log_text())])[-1]


def get(worker: FaultyWorker, path: str) -> tuple[int, Any]:
    if not address(worker):
        return 0, {}
    request = urllib.request.Request(f"{address(worker)}{path}", headers={"Accept": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=10) as answer:
            return answer.status, orjson.loads(answer.read())
    except urllib.error.HTTPError as error:
        with error:
            return error.code, orjson.loads(error.read())
    except OSError:  # not up yet, or killed
        return 0, {}


def say(settings: Settings) -> None:
    producer = Producer(settings.producer())
    for conversation_id in CONVERSATIONS:
        for turn_id, role, text in (("u", "user", "How do I reset it?"), ("a", "assistant", "Hold the button [1].")):
            turn = {"conversation_id": conversation_id, "turn_id": turn_id, "role": role, "text": text}
            documents = [{"doc_id": "guide", "text": "Hold it."}] if role == "assistant" else []
            value = orjson.dumps(turn | {"timestamp": "2025-06-15T12:00:00Z", "retrieved": documents})
            producer.produce(topic_names(settings.prefix)["turns"], value, conversation_id)
    producer.flush(30)


def shared(workers: list[FaultyWorker]) -> bool:
    """Whether both have partitions, and know each other."""
    fronts = [get(worker, "/") for worker in workers]
    return all(status == 200 and answer["partitions"] and answer["peers"] for status, answer in fronts)


def fetched(worker: FaultyWorker) -> dict[str, str | None]:
    """Conversation → where a worker fetched it from, None for its own; only those that are shown."""
    answers = {conversation_id: get(worker, f"/conversations/{conversation_id}") for conversation_id in CONVERSATIONS}
    return {name: answer.get("fetched_from") for name, (status, answer) in answers.items() if status == 200}


def test_each_worker_shows_every_conversation_also_after_one_came_back_at_another_address(
    workers: list[FaultyWorker], fresh_topics: Settings
) -> None:
    one, other = workers
    wait(lambda: shared(workers), 60, "both to have partitions and to know each other", workers)
    say(fresh_topics)
    wait(lambda: all(len(fetched(worker)) == len(CONVERSATIONS) for worker in workers), 60, "all on both", workers)
    assert set(fetched(one).values()) == {None, address(other)}
    assert set(fetched(other).values()) == {None, address(one)}
    kept = [name for name, owner in fetched(one).items() if owner is None]
    texts = [turn["text"] for turn in get(other, f"/conversations/{kept[0]}")[1]["kept"]]
    assert texts == ["How do I reset it?", "Hold the button [1]."]

    read_again = get(other, f"/conversations/{kept[0]}?documents=yes")[1]["kept"][1]
    assert [(document["doc_id"], document["cited"]) for document in read_again["documents"]] == [("guide", True)]

    before = address(other)
    assert other.send(signal.SIGKILL)  # its supervisor starts it again, as the same member on another port
    wait(lambda: address(other) != before and get(other, "/readyz")[0] == 200, 60, "it to be back", workers)
    wait(lambda: len(fetched(other)) == len(CONVERSATIONS), 60, "all of them on the one that came back", workers)
    assert {owner for owner in fetched(other).values() if owner} == {address(one)}
    assert "Traceback" not in one.log_text() + other.log_text()
