"""Record batches made by hand, and produced as they are: what no client library would write, a stranger may."""

import socket
import struct
import time
from collections.abc import Sequence

from aiokafka.record.util import calc_crc32c, encode_varint

#: Milliseconds. Now: the broker deletes what is older than a topic retains, at its first look after half a minute.
NOW = int(time.time() * 1000)
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
    content: bytes, count: int, codec: str = "none", *, base: int = 0, crc: int | None = None, last: int | None = None
) -> bytes:
    """Spell a batch around its records, packed already; crc, last: a checksum and an offset that are not the truth."""
    last = count - 1 if last is None else last
    checked = struct.pack(">hiqqqhii", CODECS[codec], last, NOW, NOW, -1, -1, -1, count) + content
    crc = calc_crc32c(checked) if crc is None else crc
    return struct.pack(">qiibI", base, len(checked) + 9, -1, 2, crc) + checked


def produce_batch(address: str, topic: str, partition: int, data: bytes) -> int:
    """Send a batch to a broker that leads the partition; return its error code, 0 when it was taken."""
    host, port = address.rsplit(":", 1)
    name = topic.encode()
    request = struct.pack(">hhih3shhiih", 0, 7, 1, 3, b"raw", -1, -1, 30_000, 1, len(name)) + name
    request += struct.pack(">iii", 1, partition, len(data)) + data
    with socket.create_connection((host, int(port)), 30) as connection, connection.makefile("rb") as answer:
        connection.sendall(struct.pack(">i", len(request)) + request)
        (size,) = struct.unpack(">i", answer.read(4))
        code: int = struct.unpack_from(">h", answer.read(size), 4 + 4 + 2 + len(name) + 4 + 4)[0]
    return code
