"""Posting incidents on a real broker: each once, what was written while nobody read too, and no history."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import msgspec
import pytest
from confluent_kafka import Producer

from tests.agents.receiver import Receiver, receiving
from tests.agents.test_notify import INCIDENT
from tests.kafka.faults.oracle import committed
from tests.kafka.faults.workers import wait
from turnsignal.agents.kafka.topics import topic_names
from turnsignal.agents.metrics.exposition import WorkerMetrics
from turnsignal.agents.notify import run
from turnsignal.agents.settings import Settings

pytestmark = pytest.mark.kafka


def write(settings: Settings, *names: str) -> None:
    """Write incidents in a transaction, as the watch app does."""
    producer = Producer(settings.producer("test-notify"))
    producer.init_transactions(30)
    producer.begin_transaction()
    for name in names:
        incident = msgspec.structs.replace(INCIDENT, id=name)
        producer.produce(topic_names(settings.prefix)["regressions"], incident.encode(), b"support")
    producer.commit_transaction(30)


@contextmanager
def notifying(settings: Settings, receiver: Receiver) -> Iterator[None]:
    told = Settings.model_validate(settings.model_dump() | {"notify": receiver.address})
    stop = threading.Event()
    thread = threading.Thread(target=run, args=(told, WorkerMetrics(app="watch"), stop))
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def test_incidents_are_posted_once_also_those_of_a_pause_and_no_history(fresh_topics: Settings) -> None:
    write(fresh_topics, "history")
    with receiving() as receiver:
        with notifying(fresh_topics, receiver):
            # Where it begins is committed at its first assignment; history is behind that.
            wait(lambda: sum(committed(fresh_topics, "regressions", "notify").values()) > 0, 60, "a first position")
            write(fresh_topics, "one", "two")
            receiver.wait(2)
        write(fresh_topics, "pause")
        with notifying(fresh_topics, receiver):
            receiver.wait(3)
            write(fresh_topics, "last")
            receiver.wait(4)
    posted = [post.body["id"] for post in receiver.posts]
    assert (set(posted[:2]), posted[2:]) == ({"one", "two"}, ["pause", "last"]), "two incidents go beside each other"


def test_what_an_address_refuses_holds_up_nothing_else_and_is_posted_after_a_stop(fresh_topics: Settings) -> None:
    refuses = threading.Event()
    refuses.set()

    def answer(number: int) -> int:
        return 500 if refuses.is_set() and receiver.posts[number - 1].body["id"] == "refused" else 200

    def taken() -> list[str]:
        return [post.body["id"] for post in list(receiver.posts) if post.body["id"] != "refused"]

    write(fresh_topics, "history")
    with receiving(answer) as receiver:
        with notifying(fresh_topics, receiver):
            wait(lambda: sum(committed(fresh_topics, "regressions", "notify").values()) > 0, 60, "a first position")
            write(fresh_topics, "refused")
            receiver.wait(1)
            write(fresh_topics, "next")
            wait(lambda: taken() == ["next"], 60, "what came behind it")
        refuses.clear()
        refused = len(receiver.posts)
        with notifying(fresh_topics, receiver):
            posts = receiver.wait(refused + 2)
    assert {post.body["id"] for post in posts[refused:]} == {"refused", "next"}
