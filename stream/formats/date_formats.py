"""Date formats: how logs write dates that are neither ISO 8601 nor numbers, and dates read by a format."""

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

from turnsignal.stream.text.timestamps import epoch_seconds

MAX_DATE_FORMAT = 60  #: characters
#: The likeliest first; each also with a time behind it.
_DATES = ("%d.%m.%Y", "%d.%m.%y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%m-%d-%Y", "%Y/%m/%d", "%d/%m/%y", "%m/%d/%y")
_HOURS = ("%H:%M:%S", "%H:%M", "%I:%M:%S %p", "%I:%M %p", "%H:%M:%S.%f", "%I:%M:%S.%f %p")
_CLOCKS = ("", *(f"{between}{hours}" for hours in _HOURS for between in (" ", ", ")))
_FORMATS = (*(date + clock for date in _DATES for clock in _CLOCKS), "%d/%b/%Y:%H:%M:%S %z", "%d %b %Y %H:%M:%S")
_FORMATS += ("%a, %d %b %Y %H:%M:%S %z", "%a %b %d %H:%M:%S %Y")
#: With AM and PM months come first: who writes so writes dates so, too.
_LIKELIEST = tuple(sorted(_FORMATS, key=lambda each: "%p" in each and not each.startswith("%m")))
_DIRECTIVE = re.compile("%(.?)")
_DIRECTIVES = frozenset("YymdbBjaAHIpMSfz%")  #: of dates that mean the same on every machine
_TRIED = datetime(2024, 12, 31, 23, 45, 59, tzinfo=UTC)  #: what a date format is tried on


def read_date(text: str, date_format: str) -> float | None:
    """Read a time that is written in a format of `strptime`, without a zone UTC; None for what is written otherwise.

    >>> read_date("02.01.1970", "%d.%m.%Y")
    86400.0
    """
    stamp = stamp_written(text, date_format)
    return None if stamp is None else epoch_seconds(stamp)


def stamp_written(text: str, date_format: str) -> datetime | None:
    """Return the day and time that is written in a format, with a zone where that has %z; None for another.

    >>> stamp_written("02.01.1970 09:00", "%d.%m.%Y %H:%M")
    datetime.datetime(1970, 1, 2, 9, 0)
    """
    return _parsed(text.strip()[:MAX_DATE_FORMAT], date_format)


def date_formats_of(values: Sequence[Any]) -> list[str]:
    """Return the formats in which all values are dates, the likeliest first.

    >>> date_formats_of(["05/14/2026, 9:00:00 AM"])
    ['%m/%d/%Y, %I:%M:%S %p']
    """
    if not values or not all(isinstance(value, str) for value in values):
        return []
    fitting = list(_LIKELIEST)
    for value in dict.fromkeys(values):
        fitting = [each for each in fitting if read_date(value, each) is not None]
    return fitting


def describe_wrong(text: str) -> str:
    """Say what is wrong with a date format; empty for one that gives back the day that it was written from."""
    if len(text) > MAX_DATE_FORMAT:
        return f"got {len(text)} characters"
    unknown = [part[1] for part in _DIRECTIVE.finditer(text) if part[1] not in _DIRECTIVES or not part[1]]
    if unknown:
        return f"got {text!r}, in which %{unknown[0]} means nothing; there are %{' %'.join(sorted(_DIRECTIVES))}"
    read = _parsed(_TRIED.strftime(text), text)
    if read is None or read.date() != _TRIED.date():
        return f"got {text!r}, which does not name day, month and year once each"
    return ""


@lru_cache(4096)
def _parsed(text: str, date_format: str) -> datetime | None:
    try:
        return datetime.strptime(text, date_format)  # noqa: DTZ007 - whoever reads it gives it a zone
    except (ValueError, OverflowError, re.error):
        return None
