"""Recent ids: digests by which a conversation recognises what came before, as one bounded string of bytes."""

from enum import Enum
from hashlib import blake2b
from zlib import crc32

_ID_BYTES, _BYTES = 6, 9  # of the id's digest, then 3 more of the content's checksum


class Seen(Enum):
    """Whether an id came before, with the same content or with another one."""

    NEW = "new"
    DUPLICATE = "duplicate"
    CONFLICT = "conflict"


_HASH = blake2b(digest_size=_ID_BYTES)
_NEW = Seen.NEW  # found in its class in a thousand steps, for every turn


def digest(name: str) -> bytes:
    """Return the digest of an id: 6 bytes."""
    hashed = _HASH.copy()  # three quarters of what a new one costs
    hashed.update(name.encode())
    return hashed.digest()


def look_up(recent: bytes, name: str, content: str) -> tuple[Seen, bytes]:
    """Say whether an id is among the recent ones, with the same content, and return the entry to be added."""
    id_digest = digest(name)
    entry = id_digest + (crc32(content.encode()) & 0xFFFFFF).to_bytes(3, "big")
    at = recent.find(id_digest)
    while at >= 0:
        if at % _BYTES == 0:
            same = recent.startswith(entry, at)
            return (Seen.DUPLICATE if same else Seen.CONFLICT), entry
        at = recent.find(id_digest, at + 1)
    return _NEW, entry


def add(recent: bytes, entry: bytes, most: int) -> bytes:
    """Add an entry that `look_up` returned; the oldest is dropped when there are more than `most`."""
    return (recent + entry)[-most * _BYTES :]
