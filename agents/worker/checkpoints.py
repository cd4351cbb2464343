"""Checkpoints: the input positions that a partition's state belongs to, kept in its changelog beside the state.

Kafka keeps the positions of a group apart from the state, and lets them expire, or a topic be made anew, without
telling the other. So each transaction writes where it has come to into the changelog too, as Flink keeps offsets in its
checkpoints: then state and position prove each other, and a position that is gone is restored.

A checkpoint is a tombstone under a key that no conversation and no series can have, with its content in a header:
workers of the versions before this one read past it, so both can run in one group during a rolling upgrade. It is not
compacted away, because it is the last record of its transaction and the newest segment of a log is never compacted;
should it be lost all the same, the positions of the group are believed, as before.
"""

from collections.abc import Mapping, Sequence

import msgspec

from turnsignal.agents.worker.caution import Caution
from turnsignal.stream.conversations.clock import Moment
from turnsignal.stream.errors import SchemaError

SCHEMA = 1  #: of the header's content; raised when older code could misread it
KEY = b"\xffcheckpoint"  #: no UTF-8 text begins with this byte
HEADER = "checkpoint"
#: What `begun` says of a batch that is computed, and may still be too much to write. No topic has such a name, so
#: workers of the versions before this one make the next batch smaller, too, and set nothing aside.
COMPUTED = "(computed)"


class Checkpoint(msgspec.Struct, frozen=True, omit_defaults=True):
    """Where a partition's state stands.

    positions: input topic → the next offset to read; ids: topic → the broker's id of it, the changelog's among them
    (empty on a broker that has none); fed: when records of the first input last came, None before the first; starts:
    take-overs at these very positions since a batch was committed; caution: how carefully to go on from here; begun:
    the inputs of a batch that was begun here under caution, `COMPUTED` once only writing it is left, "" for none.
    """

    schema: int = SCHEMA
    positions: dict[str, int] = {}
    ids: dict[str, str] = {}
    fed: Moment | None = None
    starts: int = 0
    caution: Caution | None = None
    begun: str = ""

    def encode(self) -> bytes:
        """Encode as the JSON that the header holds."""
        return _encode(self)


_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(Checkpoint).decode


def read_checkpoint(headers: Sequence[tuple[str, bytes]] | None) -> Checkpoint | None:
    """Read the checkpoint in a record's headers; None when there is none.

    Raises SchemaError for one that a newer turnsignal wrote, or that cannot be read.
    """
    content = dict(headers or ()).get(HEADER)
    if content is None:
        return None
    try:
        checkpoint = _decode(content)
    except msgspec.DecodeError as error:
        msg = f"expected a checkpoint of the changelog, got {content[:200]!r}: {error}"
        raise SchemaError(msg) from None
    if checkpoint.schema > SCHEMA:
        raise SchemaError.newer("checkpoint", SCHEMA, checkpoint.schema)
    return checkpoint


def checkpoint_record(checkpoint: Checkpoint) -> tuple[bytes, None, list[tuple[str, bytes]]]:
    """Return key, value and headers of the changelog record that holds a checkpoint."""
    return KEY, None, [(HEADER, checkpoint.encode())]


def resume(
    checkpoint: Checkpoint | None, positions: Mapping[str, int], limit: int, *, waiting: int
) -> tuple[int, Caution | None]:
    """Say how a take-over at these positions goes on: how many there were in a row, and how careful it has to be.

    limit: records in a batch without caution; waiting: about how many there are to read. Two take-overs at one place
    with records waiting and no batch between them are suspicious: from then on the beginning of each batch is committed
    before it is computed, so that the next worker knows which records ended this one.
    """
    if checkpoint is None or checkpoint.positions != dict(positions):
        return int(waiting > 0), None
    caution = checkpoint.caution
    if caution is None and checkpoint.starts and waiting:
        caution = Caution.first(min(limit, waiting))
    elif caution is not None and checkpoint.begun == COMPUTED:
        caution = caution.narrowed()
    elif caution is not None and checkpoint.begun:
        caution = caution.ended(checkpoint.begun)
    return checkpoint.starts + (waiting > 0), caution
