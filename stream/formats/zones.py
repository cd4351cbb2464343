"""Zones: of which one times are that name none, by a name such as Europe/Berlin.

Where clocks are put back, an hour comes twice, and a time in it is taken for the first of both; where they are put
forward, one never comes, and a time in it is taken as if they had not been.
"""

from datetime import UTC, datetime, tzinfo
from functools import cache
from zoneinfo import ZoneInfo, available_timezones

from turnsignal.stream.errors import ConfigError
from turnsignal.stream.formats.protocol import Assumed
from turnsignal.stream.formats.times import ZONELESS
from turnsignal.stream.text.misspelt import got, nearest

TWICE = "times in the hour that clocks have twice in autumn, taken for the first of both"
NEVER = "times in the hour that clocks leave out in spring, taken for an hour later"
_SHOWN = 80  #: characters of a name in a message


@cache
def zone_of(name: str | None) -> tzinfo:
    """Return a zone by its name; UTC without one. Raises ConfigError for a name that there is not."""
    if name is None:
        return UTC
    try:
        return ZoneInfo(name)
    except (ValueError, OSError, KeyError):
        known = available_timezones()
    if not known:
        msg = f"expected to find time zones on this machine, got none for {name[:_SHOWN]!r}; try: pip install tzdata"
        raise ConfigError(msg)
    given = got(name, known)
    cities = {each.rpartition("/")[2]: each for each in sorted(known)}
    if "did you mean" not in given and (near := nearest(name, cities)):  # who names the city alone
        given += f"; did you mean {cities[near[0]]}?"
    msg = f'expected the name of a time zone, such as "Europe/Berlin" or "UTC"; {given}'
    raise ConfigError(msg)


def count_zone(stamp: datetime, name: str | None, assumed: Assumed) -> None:
    """Count a time by what it was taken for where it names no zone itself."""
    if stamp.tzinfo is not None:
        return
    assumed[ZONELESS if name is None else f"times without a zone are {name}"] += 1
    first, second = (stamp.replace(tzinfo=zone_of(name), fold=fold).utcoffset() for fold in (0, 1))
    if first is not None and second is not None and first != second:
        assumed[TWICE if first > second else NEVER] += 1
