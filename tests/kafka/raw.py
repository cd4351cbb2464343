"""Record batches made by hand, and produced as they are: what no client library would write, a stranger may."""

import socket
import struct
import time
from collections.abc import Sequence
from typing import NamedTuple

from aiokafka.record.util import calc_crc32c, encode_varint

#: Milliseconds. Now: the broker deletes what is older than a topic retains, at its first look after half a minute.
NOW = int(time.time() * 1000)
_FOR_A_WHILE = (14, 15, 16, 51)  # the coordinator loads, or is not there yet; the transaction before is not over
NOBODY = -1, -1, -1  #: producer, its epoch, and the number of its next record: of batches outside transactions
TRANSACTIONAL, CONTROL = 16, 32
CODECS = {"none": 0, "gzip": 1, "snappy": 2, "lz4": 3, "zstd": 4}


def number(value: int) -> bytes:
    """Spell a varint."""
    spelt = bytearray()
    encode_varint(value, spelt.append)
    return bytes(spelt)


def field(value: bytes | None) -> bytes:
    return number(-1) if value is None else number(len(value)) + value


def body(content: bytes) -> bytes:
    """Put its length before what a record holds."""
    return number(len(content)) + content


def record(
    place: int,
    key: bytes | None,
    value: bytes | None,
    headers: Sequence[tuple[bytes, bytes]] = (),
    *,
    length: int | None = None,
) -> bytes:
    """Spell a record; length: what it says of itself, by default the truth."""
    told = b"\0" + number(0) + number(place) + field(key) + field(value) + number(len(headers))
    told += b"".join(field(name) + field(content) for name, content in headers)
    return body(told) if length is None else number(length) + told


def batch(
    content: bytes,
    count: int,
    codec: str = "none",
    *,
    base: int = 0,
    crc: int | None = None,
    last: int | None = None,
    producer: tuple[int, int, int] = NOBODY,
    control: bool = False,
) -> bytes:
    """Spell a batch around its records, packed already; crc, last: a checksum and an offset that are not the truth.

    producer: whose transaction it is of; control: it is what a broker ends one with.
    """
    last = count - 1 if last is None else last
    attributes = CODECS[codec] | TRANSACTIONAL * (producer != NOBODY) | CONTROL * control
    checked = struct.pack(">hiqqqhii", attributes, last, NOW, NOW, *producer, count) + content
    crc = calc_crc32c(checked) if crc is None else crc
    return struct.pack(">qiibI", base, len(checked) + 9, -1, 2, crc) + checked


def produce_batch(address: str, topic: str, partition: int, data: bytes, transactional_id: str | None = None) -> int:
    """Send a batch to a broker that leads the partition; return its error code, 0 when it was taken."""
    request = _string(transactional_id) + struct.pack(">hii", -1, 30_000, 1) + _string(topic)
    request += struct.pack(">iii", 1, partition, len(data)) + data
    code: int = struct.unpack_from(">h", _ask(address, 0, 7, request), 4 + 2 + len(topic) + 4 + 4)[0]
    return code


def _string(text: str | None) -> bytes:
    encoded = (text or "").encode()
    return struct.pack(">h", -1 if text is None else len(encoded)) + encoded


def _ask(address: str, key: int, version: int, request: bytes) -> bytes:
    """Send a request to a broker; return what it answers."""
    host, port = address.rsplit(":", 1)
    request = struct.pack(">hhi", key, version, 1) + _string("raw") + request
    with socket.create_connection((host, int(port)), 30) as connection, connection.makefile("rb") as answer:
        connection.sendall(struct.pack(">i", len(request)) + request)
        (size,) = struct.unpack(">i", answer.read(4))
        return answer.read(size)[4:]


class Attempt(NamedTuple):
    """A batch of a transaction: its records, packed already, their count and codec."""

    content: bytes
    count: int
    codec: str = "none"


class RawTransactions:
    """Transactions of one producer on a partition, batch by batch. Its id is one that the broker knows already."""

    def __init__(self, address: str, topic: str, partition: int, transactional_id: str) -> None:
        self._address, self._topic, self._partition, self._id = address, topic, partition, transactional_id
        answer = self._until_ready(22, _string(transactional_id) + struct.pack(">i", 60_000), 4)
        self._producer, self._epoch = struct.unpack_from(">qh", answer, 6)
        self._next = 0

    def run(self, *attempts: Attempt, commit: bool) -> None:
        """Write batches in a transaction, and commit or abort it."""
        who = _string(self._id) + struct.pack(">qh", self._producer, self._epoch)
        where = struct.pack(">i", 1) + _string(self._topic) + struct.pack(">ii", 1, self._partition)
        self._until_ready(24, who + where, 4 + 4 + 2 + len(self._topic) + 4 + 4)
        for content, count, codec in attempts:
            data = batch(content, count, codec, producer=(self._producer, self._epoch, self._next))
            assert produce_batch(self._address, self._topic, self._partition, data, self._id) == 0
            self._next += count
        self._until_ready(26, who + struct.pack(">?", commit), 4)

    def _until_ready(self, key: int, request: bytes, at: int) -> bytes:
        """Ask until the transaction before has ended and the coordinator is there. at: where the error code stands."""
        deadline = time.monotonic() + 30
        while True:
            answer = _ask(self._address, key, 0, request)
            (code,) = struct.unpack_from(">h", answer, at)
            if not code:
                return answer
            assert code in _FOR_A_WHILE, code
            assert time.monotonic() < deadline, code
            time.sleep(0.05)
