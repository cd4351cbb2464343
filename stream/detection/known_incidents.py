"""Known incidents: what operators know went wrong, beside alerts that would have fired: hits, misses, false ones."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from turnsignal.stream.detection.backtest import BackTest
from turnsignal.stream.detection.detector import DAY, PAGE, PAGE_DAYS
from turnsignal.stream.detection.policy import leaning_of
from turnsignal.stream.records.regressions import Incident
from turnsignal.stream.statistics.directions import BETTER

LASTS = 7 * DAY  #: seconds after its begin in which a known incident can be detected, where its end is not given
AFTER = DAY  #: seconds after its end in which it still can
ASSISTANTS = tuple(10**power for power in range(6))  #: that a quieter setting is looked for with


class KnownIncident(NamedTuple):
    """What somebody knows went wrong.

    assistant: None for any; began, ended: seconds since 1970, ended is None where nobody noted it.
    """

    name: str
    assistant: str | None
    began: float
    ended: float | None = None

    def explains(self, incident: Incident) -> bool:
        """Say whether an incident of a back-test is this one."""
        until = self.began + LASTS if self.ended is None else self.ended + AFTER
        return (
            self.assistant in (None, incident.assistant)
            and self.began <= incident.opened <= until
            and any(leaning_of(change.scorer, change.direction) != BETTER for change in incident.changes)
        )


class Hit(NamedTuple):
    """A known incident that the detectors noticed; delay: seconds from its begin until then."""

    known: KnownIncident
    incident: Incident
    delay: float


class MatchedIncidents(NamedTuple):
    """Known incidents beside those of a back-test.

    misses: known, and not detected though series were watched; unwatched: known, but none of their assistants' series
    was watched when they began; outside: known, but not of the time of the recording; false: detected, tier by tier,
    and not known.
    """

    hits: list[Hit]
    misses: list[KnownIncident]
    unwatched: list[KnownIncident]
    outside: list[KnownIncident]
    false: list[Incident]

    @property
    def false_pages(self) -> int:
        """How many of the false ones woke somebody."""
        return sum(incident.tier == PAGE for incident in self.false)

    def as_json(self) -> dict[str, Any]:
        """Return it as JSON has it."""
        return {
            "hits": [{**hit.known._asdict(), "id": hit.incident.id, "delay": round(hit.delay, 3)} for hit in self.hits],
            "misses": [known._asdict() for known in self.misses],
            "unwatched": [known._asdict() for known in self.unwatched],
            "outside": [known._asdict() for known in self.outside],
            "false": [incident.id for incident in self.false],
            "false_pages": self.false_pages,
        }


def match_incidents(test: BackTest, known: Iterable[KnownIncident]) -> MatchedIncidents:
    """Say which known incidents would have raised an alert, and which alerts are of none of them."""
    matched = MatchedIncidents([], [], [], [], [])
    every = sorted(known, key=lambda incident: incident.began)
    for incident in every:
        if not test.first <= incident.began <= test.last:
            matched.outside.append(incident)
            continue
        opened = min(filter(incident.explains, test.incidents), key=lambda one: one.opened, default=None)
        if opened is not None:
            matched.hits.append(Hit(incident, opened, opened.opened - incident.began))
        elif test.series.covers(incident.assistant, incident.began):
            matched.misses.append(incident)
        else:
            matched.unwatched.append(incident)
    matched.false.extend(one for one in test.incidents if not any(incident.explains(one) for incident in every))
    return matched


class Tried(NamedTuple):
    """The incidents that a setting of `alerts.assistants` would have opened.

    false_per_month: false pages in 30 days of this history; hits, misses: of the known incidents.
    """

    assistants: int
    false_pages: int
    false_per_month: float
    hits: int
    misses: int


def find_quiet(run: Callable[[int], BackTest], known: Sequence[KnownIncident]) -> list[Tried]:
    """Try settings, the least quiet first, until one has one false page in 30 days of this history at most.

    run: back-tests with so many assistants in the promise. A history shorter than 30 days proves little: a single false
    page in it is more than one in 30 days. One in which no series is watched proves nothing, and nothing is tried.
    """
    tried: list[Tried] = []
    for assistants in ASSISTANTS:
        test = run(assistants)
        if not test.series.began:
            break
        matched = match_incidents(test, known)
        days = max((test.last - test.first) / DAY, 1.0) if test.rows else 1.0
        pages = matched.false_pages
        per_month = pages * PAGE_DAYS / days
        tried.append(Tried(assistants, pages, per_month, len(matched.hits), len(matched.misses)))
        if per_month <= 1.0:
            break
    return tried
