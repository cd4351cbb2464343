"""The docket's state as it is stored: one value of a changelog, read by every version after the one that wrote it."""

import msgspec

from turnsignal.stream.errors import SchemaError, UnreadableStateError

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


class _DocketHead(msgspec.Struct, array_like=True):
    """The first field of the state."""

    version: int


_decode = msgspec.msgpack.Decoder(StoredDocket).decode
_decode_head = msgspec.msgpack.Decoder(_DocketHead).decode


def decode_docket(value: bytes) -> StoredDocket:
    """Read what was stored; raises SchemaError where a newer version wrote it, or none."""
    try:
        version = _decode_head(value).version
        if version > VERSION:
            raise SchemaError.newer("docket", VERSION, version)
        return _decode(value)
    except msgspec.DecodeError as error:
        msg = f"expected the state of a docket, got {len(value)} bytes that do not read as one: {error}"
        raise UnreadableStateError(msg) from None
