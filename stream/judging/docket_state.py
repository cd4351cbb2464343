"""The docket's state as it is stored: one value of a changelog, read by every version after the one that wrote it."""

import msgspec

from turnsignal.stream.errors import SchemaError

VERSION = 1
STATE = b"docket"  #: key of the state; beside it stand the keys of remembered answers


class StoredDocket(msgspec.Struct, array_like=True):
    """What is stored: decided: (offset, judges as bits); named: (offset, judge, attempt, greatest price).

    pace: of the pacer; others: money by day; overruns: by judge; left out by dockets that had none.
    """

    version: int
    position: int
    day: int
    spent: int
    judges: list[str]
    decided: list[tuple[int, int]]
    named: list[tuple[int, str, int, int]]
    pace: list[float] = []
    others: dict[int, int] = {}
    overruns: dict[str, float] = {}

    def encode(self) -> bytes:
        """Return what is stored."""
        return msgspec.msgpack.encode(self)


def decode_docket(value: bytes) -> StoredDocket:
    """Read what was stored; raises SchemaError where a newer version wrote it."""
    version = msgspec.msgpack.decode(value)[0]
    if version > VERSION:
        raise SchemaError.newer("docket", VERSION, version)
    return msgspec.msgpack.decode(value, type=StoredDocket)
