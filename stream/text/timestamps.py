"""Timestamps: what stands in a record, as seconds since 1970; in all spellings that name day, month and year clearly.

`03/04/2026` is none of them: nobody can tell March from April there, so whoever reads it has to be told.
"""

import re
from contextlib import suppress
from datetime import UTC, datetime, tzinfo

from turnsignal.stream.errors import ConfigError

LATEST = 253_402_300_800.0  #: seconds from 1970 to the year 10000, before which all times are that can be written

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_FULL = ("january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november")
_MONTH_OF = {name: number for names in (_MONTHS, (*_FULL, "december")) for number, name in enumerate(names, 1)}
_MONTH_OF["sept"] = 9
_WEEKDAY = r"(?:(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*,? )?"
_CLOCK = (
    r"(?:[t:,@ ]{1,4}(?P<hour>\d{1,2}):(?P<minute>\d\d)(?::(?P<second>\d\d)(?:[.,](?P<fraction>\d{1,9}))?)?"
    r"(?: ?(?P<half>[ap])\.?m\.?)?)?"
)
_ZONE = r"(?: ?(?P<utc>z|utc|gmt)?(?P<zone>[+-]\d\d:?\d\d)?)(?: (?P<named>utc|gmt|z))?"
_SPELLINGS = [
    re.compile(spelling, re.IGNORECASE | re.ASCII)
    for spelling in (
        rf"(?P<year>\d{{4}})[-/.](?P<month>\d\d?)[-/.](?P<day>\d\d?){_CLOCK}{_ZONE}",  # 2026/11/18 09:00:00
        rf"{_WEEKDAY}(?P<day>\d\d?)[ /-](?P<month>[a-z]{{3,9}})\.?[ /-](?P<year>\d{{4}}){_CLOCK}{_ZONE}",
        rf"{_WEEKDAY}(?P<month>[a-z]{{3,9}})\.? (?P<day>\d\d?),? (?P<year>\d{{4}}){_CLOCK}{_ZONE}",  # toString()
        rf"{_WEEKDAY}(?P<month>[a-z]{{3}}) +(?P<day>\d\d?){_CLOCK}{_ZONE} (?P<year>\d{{4}})",  # of `date`, and ctime
    )
]
_COMPACT = re.compile(r"(?:19[89]|20\d)\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])(?:[0-2]\d(?:[0-5]\d){2})?", re.ASCII)


def epoch_seconds(stamp: datetime, zone: tzinfo = UTC) -> float:
    """Return a time as seconds since 1970; one that names no zone is of `zone`, the first of two that are called so.

    >>> epoch_seconds(datetime(1970, 1, 2))
    86400.0
    """
    return (stamp if stamp.tzinfo is not None else stamp.replace(tzinfo=zone)).timestamp()


def read_given_time(text: str, name: str) -> float:
    """Read a time that a person gave, in ISO 8601, as seconds since 1970; one that names no zone is UTC.

    name: of the option. Raises ConfigError for anything else.
    """
    try:
        stamp = datetime.fromisoformat(text)
        time = (stamp if stamp.tzinfo is not None else stamp.replace(tzinfo=UTC)).astimezone(UTC).timestamp()
        datetime.fromtimestamp(time, UTC)  # the last microsecond of the year 9999 is of the next one, rounded
    except (ValueError, OverflowError):
        like = "2026-11-20T14:00, 2026-11-20 or 2026-11-20T14:00+01:00"
        msg = f"{name}: expected a time such as {like}; got {text[:80]!r}"
        raise ConfigError(msg) from None
    return time


def parse_compact(text: str) -> datetime | None:
    """Read digits that are a day, or a day and a time, of the years 1980 to 2099; None for other numbers.

    >>> parse_compact("20261118")
    datetime.datetime(2026, 11, 18, 0, 0)
    """
    if _COMPACT.fullmatch(text) is None:
        return None
    try:
        return datetime.strptime(text, "%Y%m%d%H%M%S" if len(text) > 8 else "%Y%m%d")  # noqa: DTZ007 - epoch_seconds
    except ValueError:
        return None


def is_iso(text: str) -> bool:
    """Say whether a text is a time in ISO 8601 with its dashes.

    >>> is_iso("2026-11-18T09:00:00Z"), is_iso("20261118")
    (True, False)
    """
    with suppress(ValueError):
        return datetime.fromisoformat(text) is not None and "-" in text[:8]
    return False


def parse_time(text: str) -> datetime | None:
    """Read a time in ISO 8601, or in another spelling that leaves no doubt; None for what is none, or unclear.

    >>> parse_time("Nov 18, 2026 @ 09:00:00.000")
    datetime.datetime(2026, 11, 18, 9, 0)
    >>> parse_time("11/10/2026 09:00")
    """
    with suppress(ValueError):
        stamp = datetime.fromisoformat(plain := text.removesuffix(" UTC"))
        return stamp.replace(tzinfo=UTC) if plain != text and stamp.tzinfo is None else stamp
    text = " ".join(text.partition(" (")[0].split())  # JavaScript names the zone again, in words
    for spelling in _SPELLINGS:
        if (match := spelling.fullmatch(text)) is not None:
            return _stamp(match)
    return None


def _stamp(match: re.Match[str]) -> datetime | None:
    """Return the time that a spelling holds; None for a day or an hour that there is not."""
    part = match.groupdict()
    month = part["month"].lower()
    number = int(month) if month.isdigit() else _MONTH_OF.get(month, 0)
    hour = int(part["hour"] or 0)
    if part["half"] is not None:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + (12 if part["half"].lower() == "p" else 0)
    clock = f"{hour:02d}:{part['minute'] or '00'}:{part['second'] or '00'}.{(part['fraction'] or '').ljust(6, '0')[:6]}"
    zone = part["zone"] or ("+00:00" if part["utc"] or part["named"] else "")
    try:
        return datetime.fromisoformat(f"{part['year']}-{number:02d}-{int(part['day']):02d}T{clock}{zone}")
    except ValueError:
        return None
