"""The load: the turns that every variant works through, made once per run and kept in a file.

Variants are processes of their own; reading the same bytes back is faster than making them again, and leaves no doubt
that they are the same.
"""

import struct
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import orjson
from confluent_kafka import Producer

from turnsignal.stream.simulation import steady

CONVERSATIONS = 10_000  #: of which a partition of four has more than a batch has turns, so that none comes twice
DOCUMENTS = 8  #: that an answer retrieves
_SIZES = struct.Struct("<HI")


class Turn(NamedTuple):
    """One record as a consumer gets it; timestamp: milliseconds since 1970."""

    offset: int
    key: bytes
    value: bytes
    timestamp: int


def write_turns(path: Path, turns: int, conversations: int = CONVERSATIONS, *, documents: int = DOCUMENTS) -> None:
    """Make the turns of this run: event times begin an hour ago, so that no clock calls them early or idle."""
    start = float(int(time.time()) - 3600)
    with path.open("wb") as file:
        for key, made in steady(turns, conversations, seed=1, start=start):
            value = made if documents == DOCUMENTS else _with_documents(made, documents)
            file.write(_SIZES.pack(len(key), len(value)) + key + value)


def _with_documents(value: bytes, count: int) -> bytes:
    """Have an answer retrieve so many documents, behind its own the same ones under other ids."""
    turn = orjson.loads(value)
    if own := turn.get("retrieved"):
        more = [{**own[i % len(own)], "doc_id": f"doc_{9_000 + i}"} for i in range(len(own), count)]
        turn["retrieved"] = [{key: v for key, v in document.items() if key != "rank"} for document in own + more]
    return orjson.dumps(turn)


def read_turns(path: Path, limit: int | None = None) -> list[Turn]:
    """Read the turns back, at most `limit`."""
    now = int(time.time() * 1000)
    return [Turn(i, key, value, now) for i, (key, value) in enumerate(_pairs(path, limit))]


def produce_turns(path: Path, brokers: str, topic: str) -> None:
    """Write the turns to a topic, partitioned as Java does."""
    producer = Producer(
        {
            "bootstrap.servers": brokers,
            "partitioner": "murmur2_random",
            "linger.ms": 20,
            "queue.buffering.max.messages": 1_000_000,
            "queue.buffering.max.kbytes": 1_048_576,
        }
    )
    for number, (key, value) in enumerate(_pairs(path, None)):
        producer.produce(topic, value, key)
        if number % 1000 == 0:
            producer.poll(0)
    if producer.flush(60):
        msg = f"the broker at {brokers} did not take the turns within a minute"
        raise RuntimeError(msg)


def _pairs(path: Path, limit: int | None) -> Iterator[tuple[bytes, bytes]]:
    with path.open("rb") as file:
        count = 0
        while (sizes := file.read(_SIZES.size)) and (limit is None or count < limit):
            key, value = _SIZES.unpack(sizes)
            count += 1
            yield file.read(key), file.read(value)
