"""Lenient turns: records of the topic of turns that deviate a little, read as files of turns are.

A topic is strict unless told otherwise: a producer can be put right, and what it meant is its own to say.
"""

from collections.abc import Callable, MutableMapping

from turnsignal.stream.errors import Refused
from turnsignal.stream.records.turns import MAX_RECORD, Turn, decode_turn

DecodeTurn = Callable[[bytes | None, bytes | None, float | None], Turn]
Counts = MutableMapping[str, int]  #: assumption → turns that were read under it


def lenient_decoder(counts: Callable[[], Counts]) -> DecodeTurn:
    """Return `decode_turn` for turns that may deviate; counts: where each turn's assumptions are counted.

    A turn is first decoded as it is. Only where that is refused, it is mended and decoded again, so a turn that does
    not deviate costs nothing more. A turn without a turn_id stays refused: sent again, it would stand at another
    offset, and nothing would tell it from a new one.
    """

    def decode(value: bytes | None, key: bytes | None, broker_time: float | None) -> Turn:
        try:
            return decode_turn(value, key, broker_time)
        except Refused:
            # Not before: to import all formats takes a tenth of a worker's start and a quarter of its memory.
            from turnsignal.stream.formats.protocol import Assumed
            from turnsignal.stream.formats.turnsignal import mend_line

            assumed = Assumed()
            mended = mend_line(value, None, assumed) if value is not None and len(value) <= MAX_RECORD else None
            if mended is None:
                raise
        turn = decode_turn(mended, key, broker_time)  # it may be right in itself, and refused for its key or time
        for assumption in +assumed:
            counts()[assumption] += 1
        return turn

    return decode
