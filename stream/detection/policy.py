"""Policy: which changes wake somebody, which make a ticket, and what is promised about false ones."""

from collections.abc import Mapping

import msgspec

from turnsignal.stream.detection.detector import HIGHER, LOWER, PAGE, PAGE_DAYS, TICKET_DAYS, VERSION, Alarm, Paging
from turnsignal.stream.detection.rollout import ALPHA
from turnsignal.stream.statistics.directions import CHANGED, DIRECTIONS, HIGH, WORSE


class AlertPolicy(msgspec.Struct, frozen=True):
    """What a suite says of alerts.

    paging: scorers that page when they get worse, everything else makes tickets; ignored: scorers that are not watched;
    directions: scorer → in which it pages, where that is not what is worse; assistants: over how many of them together
    the promise of a page is made; qualities: scorer → the quality of the diagnosis that it is about.
    """

    paging: frozenset[str] = frozenset()
    ignored: frozenset[str] = frozenset()
    directions: Mapping[str, frozenset[str]] = {}
    assistants: int = 1
    qualities: Mapping[str, str] = {}

    def paging_of(self, scorer: str) -> Paging:
        """Return what of a scorer's series pages.

        How many series page is what the suite says, not what was seen so far: so neither the partition, nor the other
        assistants there, nor the order in which they came can move a threshold, and a replay has the same ones.
        """
        series = max(len(self.paging) * self.assistants, 1)
        if scorer not in self.paging:
            return Paging(series=series)
        usual = frozenset(way for way in (LOWER, HIGHER) if meaning_of(scorer, way) == WORSE)
        return Paging(self.directions.get(scorer, usual), series)

    def promise(self, alarm: Alarm) -> str:
        """Say what is promised about alarms of that kind."""
        if alarm.scope == VERSION:
            return f"of the versions that are not {alarm.direction}, {ALPHA:.0%} are called so at most"
        if alarm.tier != PAGE:
            return f"without a change, one ticket in {TICKET_DAYS:.0f} days of this series at most"
        series = f"the {len(self.paging)} scorers that page" if len(self.paging) > 1 else "the scorer that pages"
        whose = "of this assistant" if self.assistants == 1 else f"of {self.assistants} assistants together"
        return f"without a change, one page in {PAGE_DAYS:.0f} days of {series} {whose} at most"


def meaning_of(scorer: str, direction: str) -> str:
    """Say whether a change of a scorer in a direction is worse; by that scorer alone, none is better.

    Wrong answers that cite the first of their documents have a better ranking, refusals keep more instructions, and
    users who leave without a word are in no series. A comparison has all figures of two releases, and says better.
    """
    return WORSE if leaning_of(scorer, direction) == WORSE else CHANGED


def leaning_of(scorer: str, direction: str) -> str:
    """Say whether a change of a scorer in a direction is better, worse, or neither, as long as all else stays."""
    rise, fall = DIRECTIONS.get(scorer, HIGH)
    return fall if direction == LOWER else rise
