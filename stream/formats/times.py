"""Times of records: by whose names they stand, and what is said where one is there that cannot be read.

A log whose times are spelled otherwise must not look like one without times: its order would be taken for theirs.
"""

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from turnsignal.stream.formats.call_order import UNKNOWN, UNSURE
from turnsignal.stream.formats.protocol import Assumed, Call, Message, Record
from turnsignal.stream.formats.values import is_zoneless, seconds, timestamp, unwrapped
from turnsignal.stream.text.timestamps import is_iso, parse_compact
from turnsignal.stream.text.visible import one_line

#: Names of when a record began that no format has to itself; each format's own are looked at before.
BEGAN = (
    *("timestamp", "created_at", "createdAt", "create_time", "createTime", "start_time", "startTime", "started_at"),
    *("startedAt", "time", "datetime", "dateTime", "date", "sent_at", "sentAt", "request_time", "requestTime"),
    *(
        "@timestamp",
        "ts",
        "timestamp_ms",
        "timestampMs",
        "event_time",
        "event_ts",
        "eventTime",
        "logged_at",
        "TimeGenerated",
        "when",
        "request_created_at",
    ),
)
ENDED = ("end_time", "endTime", "completed_at", "completedAt", "ended_at", "endedAt")  #: of when it ended
NEWEST_FIRST = "messages newest first, put in the order of their times"
BACKWARDS = "conversations without times that begin with an answer and end with a question"
DESCENDING = "files newest first in which rows of a conversation have one time"
_DAYS = (32_874, 73_050)  #: numbers of the years 1990 to 2100 where days are counted, as Excel does
AS_DAYS = "numbers as times that would be days of our years, taken as seconds since 1970"
ZONELESS = "times without a zone are UTC"
_UNREAD = "times that cannot be read, such as "
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_SECONDS = 86_400.0  #: of a day
_NUMBER = re.compile(r"[0-9]{5,19}(\.[0-9]{1,15})?")  #: since 1970
_UNITS = {"seconds": 1e2, "milliseconds": 1e5, "microseconds": 1e8, "nanoseconds": 1e99}  # less than, a second
_HOURS_ALONE = re.compile(r"[+-][0-9]{2}")  #: a zone as PostgreSQL spells it, at the end of a time
_SHOWN = 40  #: characters of a time that cannot be read


def time_in(assumed: Assumed, record: Record, *keys: str) -> float | None:
    """Return the first time that a record holds under these names, None without any; one that is none is counted.

    A day alone is taken where no other says more.
    """
    if record.keys().isdisjoint(keys):  # as most messages
        return None
    unread: Any = None
    day: float | None = None
    for key in keys:
        value = record.get(key)
        if value is None or value == "":
            continue
        if (time := seconds(value)) is not None:
            if isinstance(value, str) and _DAY.fullmatch(value.strip()):
                day = time if day is None else day
                continue
            assumed[AS_DAYS] += could_be_days(time)
            count_zoneless(value, assumed)
            return time
        unread = value if unread is None else unread
    if day is not None:
        assumed[ZONELESS] += 1
        return day
    if unread is not None:
        known = next((what for what in assumed if what.startswith(_UNREAD)), None)
        assumed[known or f"{_UNREAD}{one_line(str(unread), _SHOWN)!r}"] += 1
    return None


def read_time(value: object, assumed: Assumed) -> float | None:
    """Return a value as a time, as `seconds` does, and count one that names no zone."""
    count_zoneless(value, assumed)
    return seconds(value)


def count_zoneless(value: object, assumed: Assumed) -> None:
    """Count a time that names no zone, and is taken for UTC."""
    if is_zoneless(value):
        assumed[ZONELESS] += 1


def is_day_of(day: float, time: float) -> bool:
    """Say whether one time is the beginning of the day of another, as those have it that only name days."""
    return day % _SECONDS == 0 and 0 <= time - day < _SECONDS


def spell_time(stamp: Any, assumed: Assumed) -> Any:
    """Return a turn's timestamp as a topic takes it, and count how it was read; what is right, or no time, as it is."""
    given = unwrapped(stamp)
    if isinstance(given, str) and is_iso(given.strip()):
        if given is not stamp:
            assumed["an object as timestamp is the time in it"] += 1
        count_zoneless(given, assumed)
        has_hours = ":" in given and _HOURS_ALONE.fullmatch(given.strip()[-3:]) is not None
        return f"{given.strip()}:00" if has_hours else given
    if (time := seconds(given)) is None:
        return stamp
    count_zoneless(given, assumed)
    if isinstance(given, str) and not _NUMBER.fullmatch(given.strip()):
        assumed["times that are not in ISO 8601 are read"] += 1
    elif parse_compact(str(given).strip()) is not None:
        assumed["digits as timestamp that are a day of our years, are that day"] += 1
    elif could_be_days(time):
        assumed["a number as timestamp counts seconds since 1970, and could be days, as Excel counts them"] += 1
    else:
        size = abs(float(given))
        unit = next(unit for unit, most in _UNITS.items() if size <= most * max(abs(time), 1e-9))
        assumed[f"a number as timestamp counts {unit} since 1970"] += 1
    return timestamp(time)


def could_be_days(time: float) -> bool:
    """Say whether a time in January 1970 is a day of our years in a sheet's count, which begins in 1900.

    >>> could_be_days(45_979.375), could_be_days(1_790_000_000.0)
    (True, False)
    """
    return _DAYS[0] <= time < _DAYS[1]


def are_timeless(calls: Sequence[Call]) -> bool:
    """Say whether nothing in a conversation has a time, so that the order in which it stands is all that is known."""
    return not any(
        call.start is not None or any(message.time is not None for message in (*call.inputs, *call.outputs))
        for call in calls
    )


def take_doubts(assumed: Assumed, conversations: int, *, quoted: bool = True) -> list[str]:
    """Subtract from the counts what makes the times of turns doubtful, and say what mends it.

    quoted: with the first time that cannot be read, which may be anything that stands in its place.
    """
    unread = {what: what if quoted else what.partition(",")[0] for what in assumed if what.startswith(_UNREAD)}
    doubts = [
        f"{assumed.pop(what):,} {shown}: these records count as without a time, in the order in which they stand; day "
        "and month are never guessed: --propose writes a mapping, in which date_format says how times are written"
        for what, shown in unread.items()
    ]
    if n := assumed.pop(AS_DAYS, 0):
        doubts.append(f"{n:,} {AS_DAYS}: where Excel counted days, export times in ISO 8601")
    if n := assumed.pop(DESCENDING, 0):
        doubts.append(
            f"{n:,} {DESCENDING}, and nobody can tell which was said first: answers may stand before their questions; "
            "export them by their times and ids from the first on"
        )
    if n := assumed.pop(UNSURE, 0):
        doubts.append(f"{n:,} {UNSURE}: they are put in the reverse of it; export times with their seconds")
    if n := assumed.pop(UNKNOWN, 0):
        doubts.append(
            f"{n:,} {UNKNOWN}: they are taken as they stand: where that is newest "
            "first, conversations are backwards; export times with their seconds, or the oldest first"
        )
    if (n := assumed.pop(BACKWARDS, 0)) * 2 > conversations:
        doubts.append(f"{n:,} {BACKWARDS}: is the file newest first? Then log times, or turn it round")
    return doubts


def between(times: Sequence[float | None], begun: float | None) -> list[float | None]:
    """Give those of a list that have no time one between their neighbours', so that the order of the list holds.

    begun: when the whole began, None where that is not known. Without any time all stay as they are.

    >>> between([None, 60.0, None, 80.0, None], 50.0)
    [50.0, 60.0, 70.0, 80.0, 81.0]
    """
    filled = list(times)
    known = [(index, time) for index, time in enumerate(times) if time is not None]
    if not known:
        return filled
    (first, opened), (last, closed) = known[0], known[-1]
    begun = begun if begun is not None and begun <= opened else opened - first
    for (start, earlier), (end, later) in pairwise([(0, begun), *known] if first else known):
        for index in range(start, end):
            filled[index] = earlier + (later - earlier) * (index - start) / (end - start)
    for index in range(last + 1, len(filled)):
        filled[index] = closed + index - last
    return filled


def oldest_first(messages: list[Message], assumed: Assumed) -> list[Message]:
    """Return messages in the order of their times where each has one and they stand newest first."""
    times = [message.time for message in messages]
    if len(times) < 2 or times[0] is None or times[-1] is None or times[0] <= times[-1]:
        return messages
    known = [time for time in times if time is not None]
    if len(known) < len(times) or known != sorted(known, reverse=True):
        return messages
    assumed[NEWEST_FIRST] += len(messages)
    return messages[::-1]
