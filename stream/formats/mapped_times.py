"""Times by a mapping: when turns were said, or, without any times, the places that they have in their order."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from turnsignal.stream.errors import Reason, Refused
from turnsignal.stream.formats.date_formats import date_formats_of, stamp_written
from turnsignal.stream.formats.paths import BY_FILE, Field, MappedPaths, path_of, value_of
from turnsignal.stream.formats.protocol import Assumed, Record
from turnsignal.stream.formats.times import AS_DAYS, between, could_be_days
from turnsignal.stream.formats.values import seconds, stamp_in
from turnsignal.stream.formats.zones import count_zone, zone_of
from turnsignal.stream.text.timestamps import epoch_seconds
from turnsignal.stream.text.toml import write_value as toml

_SHOWN = 40  #: characters of a value that cannot be read
_MOST = 1e9  #: of numbers by which turns are in order
_IN_ORDER = "records without a time, taken as a second apart from 1970 on in the order of "


def times_between(paths: MappedPaths, group: Sequence[Sequence[Any]]) -> list[float | None]:
    """Return the times of those that have none of their own in a list in which others do, None for all others."""
    if paths.timestamp is None or len(group) < 2 or any(each.keys() == {"*"} for each in group[0][1:2]):
        return [None] * len(group)
    own = [_own_time(paths, where[:1]) for where in group]
    missing = [time is None for time in own]
    if all(missing) or not any(missing):
        return [None] * len(group)
    filled = between(own, _own_time(paths, [each for each in group[0][1:] if isinstance(each, Mapping)]))
    return [time if lacks else None for time, lacks in zip(filled, missing, strict=True)]


def _own_time(paths: MappedPaths, where: Sequence[Any]) -> float | None:
    try:
        return time_at(paths, where, Counter()) if all(isinstance(each, Mapping) for each in where) else None
    except Refused:
        return None


def time_at(paths: MappedPaths, where: Sequence[Record], assumed: Assumed) -> float | None:
    """Return the time, None where there is nothing; raises Refused for what is written otherwise."""
    if paths.order is not None:
        return _place(paths.order, where, assumed)
    value = value_of(paths.timestamp, where)
    if value is None or value == "":
        return None
    written = paths.date_format
    stamp = stamp_in(value) if written is None else stamp_written(value, written) if isinstance(value, str) else None
    time = seconds(value) if written is None else None
    with suppress(OverflowError):  # a time of the first year, or of the last
        time = time if stamp is None else epoch_seconds(stamp, zone_of(paths.zone))
    if time is None:
        wanted = "in ISO 8601, or as a number" if written is None else f"written as {written}"
        fitting = next(iter(date_formats_of([value])), "%d.%m.%Y %H:%M:%S")
        hint = f"; try date_format = {toml(fitting)}, or how it is written here"
        hint = "; leave date_format out" if written is not None and seconds(value) is not None else hint
        detail = f"expected a time at {path_of(paths.timestamp)} {wanted}, got another"
        raise Refused(Reason.BAD_TIMESTAMP, detail, actual=f"{str(value)[:_SHOWN]!r}{hint}")
    if stamp is not None:
        count_zone(stamp, paths.zone, assumed)
    if written is None and could_be_days(time):
        assumed[AS_DAYS] += 1
    return time


def _place(order: Field, where: Sequence[Record], assumed: Assumed) -> float:
    """Return the seconds after 1970 that stand for a place in the order; raises Refused for what is no number."""
    if order == BY_FILE:
        assumed[f"{_IN_ORDER}the file"] += 1
        return float(assumed[f"{_IN_ORDER}the file"])
    value = value_of(order, where)
    try:
        place = math.nan if isinstance(value, bool) else float(value)
    except (TypeError, ValueError):
        place = math.nan
    if not 0 <= place < _MOST:
        detail = f"expected the number of a turn at {path_of(order)}, from 0 on, got another value"
        raise Refused(Reason.WRONG_TYPE, detail, actual=f"{str(value)[:_SHOWN]!r}")
    assumed[f"{_IN_ORDER}{path_of(order)}"] += 1
    return place
