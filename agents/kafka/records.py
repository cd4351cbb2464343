"""Records: the parts of one record as a batch has them, read as strangers may have written them."""

from contextlib import suppress

MOST_HEADERS = 1_000  #: of a record that are read

_MORE = 0x80  # a byte of a number that is not its last
_SHIFTS = range(7, 64, 7)
_NONE = b"\0"  # headers, spelt
_ODD = "expected records within their batch, each with a place of its own"

Pair = tuple[bytes | None, bytes | None]  #: a key and a value


def read_record(data: bytes, at: int, end: int) -> tuple[int, bytes | None, bytes | None, int, int]:
    """Read time, key, value and offset of a record, and where its headers begin; raises ValueError, IndexError.

    Most of its numbers are short, and calls would be most of the work.
    """
    number = data[at + 1]  # behind a byte of attributes, which mean nothing yet
    time, at = ((number >> 1) ^ -(number & 1), at + 2) if number < _MORE else read_number(data, at + 1)
    number = data[at]
    place, at = ((number >> 1) ^ -(number & 1), at + 1) if number < _MORE else read_number(data, at)
    number = data[at]
    length, at = ((number >> 1) ^ -(number & 1), at + 1) if number < _MORE else read_number(data, at)
    stop = at + length if length > 0 else at
    key = None
    if length >= 0 and stop <= end:
        key, at = data[at:stop], stop
    length, at = read_number(data, stop)
    stop = at + length if length > 0 else at
    if stop > end:
        msg = f"expected key and value up to byte {end}, got them up to {stop}"
        raise ValueError(msg)
    return time, key, data[at:stop] if length >= 0 else None, place, stop


def read_pairs(data: bytes, at: int, end: int, count: int, last: int) -> tuple[list[Pair], list[tuple[int, bytes]]]:
    """Read keys and values of records, and places and headers of those that have some; the quick way.

    last: the place of the last one at most. Raises ValueError or IndexError where anything is wrong with any of them.
    """
    pairs: list[Pair] = []
    headers: list[tuple[int, bytes]] = []
    append, before = pairs.append, -1
    for _ in range(count):
        if data[at] >= _MORE > data[at + 1]:  # of two bytes, as most lengths of a state are
            number = data[at] & _MORE - 1 | data[at + 1] << 7
            length, at = (number >> 1) ^ -(number & 1), at + 2
        else:
            length, at = read_number(data, at)
        stop = at + length
        if not at < stop <= end:
            raise ValueError(_ODD)
        at = at + 2 if data[at + 1] < _MORE else read_number(data, at + 1)[1]
        number = data[at]
        place, at = ((number >> 1) ^ -(number & 1), at + 1) if number < _MORE else read_number(data, at)
        if not before < place <= last:
            raise ValueError(_ODD)
        before = place
        number = data[at]
        length, at = ((number >> 1) ^ -(number & 1), at + 1) if number < _MORE else read_number(data, at)
        key = None
        if length >= 0:
            key = data[at : at + length]
            at += length
        if data[at] >= _MORE > data[at + 1]:
            number = data[at] & _MORE - 1 | data[at + 1] << 7
            length, at = (number >> 1) ^ -(number & 1), at + 2
        else:
            length, at = read_number(data, at)
        value = None
        if length >= 0:
            value = data[at : at + length]
            at += length
        if at > stop:
            raise ValueError(_ODD)
        append((key, value))
        if data[at:stop] > _NONE:
            headers.append((place, data[at:stop]))
        at = stop
    return pairs, headers


def read_number(data: bytes, at: int) -> tuple[int, int]:
    """Read a varint; return it and where it ends. Raises ValueError when it is none, IndexError behind the end."""
    number = data[at]
    if number >= _MORE:
        number &= _MORE - 1
        for shift in _SHIFTS:
            at += 1
            byte = data[at]
            if byte < _MORE:
                number |= byte << shift
                break
            number |= (byte & _MORE - 1) << shift
        else:
            msg = f"expected a number of at most 64 bits, got none up to byte {at}"
            raise ValueError(msg)
    return (number >> 1) ^ -(number & 1), at + 1


def read_headers(data: bytes) -> list[tuple[str, bytes | None]]:
    r"""Read the headers of a record, in their order, up to the first that cannot be read.

    What is no text in a name becomes \xff, so that it is nobody's. data: their count, and each of them; empty for none.
    """
    headers: list[tuple[str, bytes | None]] = []
    with suppress(ValueError, IndexError):
        count, at = read_number(data, 0)
        for _ in range(min(count, MOST_HEADERS)):
            name, at = _read_field(data, at)
            value, at = _read_field(data, at)
            headers.append(((name or b"").decode("utf-8", "backslashreplace"), value))
    return headers


def _read_field(data: bytes, at: int) -> tuple[bytes | None, int]:
    length, at = read_number(data, at)
    if length < 0:
        return None, at
    stop = at + length
    if stop > len(data):
        msg = f"expected a header within {len(data)} bytes, got one up to {stop}"
        raise ValueError(msg)
    return data[at:stop], stop
