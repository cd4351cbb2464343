"""Checkpoints: the input positions that a partition's state belongs to, kept in its changelog beside the state.

Kafka keeps the positions of a group apart from the state, and lets them expire, or a topic be made anew, without
telling the other. So each transaction writes where it has come to into the changelog too, as Flink keeps offsets in its
checkpoints: then state and position prove each other, and a position that is gone is restored.

A checkpoint is a header of the last state that a transaction writes; of one that writes none, it is a tombstone under
a key that no conversation and no series can have. Workers of earlier versions read past both, so they can run in one
group during a rolling upgrade. It is not compacted away: the state that has it stays until its conversation has a
newer one, which comes with a newer checkpoint, and the newest segment of a log is never compacted. Should it alone be
lost all the same, the positions of the group are believed; without any record the changelog was emptied.
"""

from collections.abc import Mapping, Sequence

import msgspec

from turnsignal.agents.worker.bisection import Bisection, Caution
from turnsignal.stream.conversations.clock import Moment
from turnsignal.stream.errors import SchemaError

SCHEMA = 1  #: of the header's content; raised when older code could misread it
KEY = b"\xffcheckpoint"  #: no UTF-8 text begins with this byte
HEADER = "checkpoint"
_LIGHT = 64_000  #: bytes of a state that has room for a checkpoint: a larger one may be near what its topic takes


class Checkpoint(msgspec.Struct, frozen=True, omit_defaults=True):
    """Where a partition's state stands.

    positions: input topic → the next offset to read; ids: topic → the broker's id of it, the changelog's among them
    (empty on a broker that has none); fed: when records of the first input last came, None before the first; starts:
    take-overs at these very positions since a batch was committed; caution, begun, begun_at: with them, what the next
    worker has to know of batches that failed here, as in `Bisection`.
    """

    schema: int = SCHEMA
    positions: dict[str, int] = {}
    ids: dict[str, str] = {}
    fed: Moment | None = None
    starts: int = 0
    caution: Caution | None = None
    begun: str = ""
    begun_at: int = -1

    @classmethod
    def make(
        cls, positions: Mapping[str, int], ids: dict[str, str], fed: Moment | None, known: Bisection
    ) -> "Checkpoint":
        """Make a checkpoint of where a partition stands; known: of batches that failed there."""
        return cls(
            positions=dict(positions),
            ids=ids,
            fed=fed,
            starts=known.starts,
            caution=known.caution,
            begun=known.begun,
            begun_at=known.begun_at,
        )

    def encode(self) -> bytes:
        """Encode as the JSON that the header holds."""
        return _encode(self)

    def bisection_at(self, positions: Mapping[str, int]) -> Bisection:
        """Return what is known of batches that failed at these positions; nothing where some were committed since."""
        if self.positions != dict(positions):
            return Bisection()
        return Bisection(self.caution, self.starts, self.begun, self.begun_at)


_ANEW = "`turnsignal topics repair APP --to accept` writes one anew, of the positions that the group has"

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(Checkpoint).decode


def find_checkpoint(headers: Sequence[tuple[str, bytes | None]] | None) -> bytes | None:
    """Return the checkpoint in a record's headers as it stands there; None when there is none."""
    return dict(headers or ()).get(HEADER)


def read_checkpoint(content: bytes) -> Checkpoint:
    """Read a checkpoint as it stands in a header.

    Raises SchemaError for one that a newer turnsignal wrote, or that cannot be read.
    """
    try:
        checkpoint = _decode(content)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        msg = f"expected a checkpoint, got {content[:200]!r}: {error}; {_ANEW}"
        raise SchemaError(msg) from None
    if checkpoint.schema > SCHEMA:
        newer = SchemaError.newer("checkpoint", SCHEMA, checkpoint.schema)
        msg = f"{newer}. Where none of a newer release has ever run, it is damaged: {_ANEW}"
        raise SchemaError(msg)
    return checkpoint


def checkpoint_record(
    checkpoint: Checkpoint, changes: Mapping[bytes, bytes | None] | None = None
) -> tuple[bytes, bytes | None, list[tuple[str, bytes]]]:
    """Return key, value and headers of the changelog record that holds a checkpoint: the last one of its transaction.

    changes: the state that is written with it, of which it takes the last that is not forgotten and has room for it.
    """
    headers = [(HEADER, checkpoint.encode())]
    for key, value in reversed(tuple(() if changes is None else changes.items())):
        if value is not None and len(value) <= _LIGHT:
            return key, value, headers
    return KEY, None, headers
