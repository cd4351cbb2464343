"""Detector: one scorer of one assistant, watched observation by observation.

It raises an alarm when values have become lower or higher than is usual, and when a new version's are lower or higher
than those of the version that it replaces. An alarm is latched: nothing is learned, and no second one opens, until
values are back for a day, or somebody says that the new level is the usual one. What it does follows from the series'
own observations alone, in their order: no other series and no clock takes part.

Judged values, of which a sample exists, are tested as they were drawn, and not by their weights (the inverse of the
probability of being asked for). The promise about false alarms rests on no payoff costing more than its stake: a value
of weight 50 would, unless all stakes were a fiftieth, and then a change takes fifty times as many values to be noticed.
What is usual is learned from the same unweighted values, so like is compared with like; the means that are shown weigh.
The price: where the probabilities themselves shift between easy and hard answers, an alarm opens.
"""

import math
from typing import NamedTuple

import msgspec

from turnsignal.stream.detection.baseline import Baseline
from turnsignal.stream.detection.evidence import LEAST_THRESHOLD, Evidence, Onset, threshold
from turnsignal.stream.detection.rollout import ClusterSums, compare
from turnsignal.stream.records.observations import Observation

PAGE, TICKET = "page", "ticket"
PAGE_DAYS, TICKET_DAYS = 30.0, 7.0  #: of traffic, in which one false alarm of that tier is promised at most
LOWER, HIGHER = "lower", "higher"
USUAL, VERSION = "usual", "version"  #: what an alarm compares with: what is usual, or the version before
MAX_VERSIONS = 20  #: told apart; the one unseen for longest leaves
DAY = 86_400.0  #: seconds for which values have to be back
#: Seconds of stream time after which a series that nobody fed is forgotten, with its alarms: nobody serves it any more.
RETENTION = 7 * DAY

MAX_ALARMS = 12  #: open at a time; versions come from strangers
#: Days by which an observation may be older than the newest one: what is sent again says nothing of today.
LATEST = 2.0

COMPARED_EVERY = 8  #: observations of a version between two comparisons: more would cost more than they tell sooner
_LEAST_BACK = 50.0  # observations in a day, below which nobody can say that values are back


class Paging(NamedTuple):
    """What of a series wakes somebody.

    directions: in which it pages; series: how many paging series there are, over which the promise of a page is made.
    """

    directions: frozenset[str] = frozenset()
    series: int = 1


class Alarm(msgspec.Struct, array_like=True):
    """An alarm that is open: a change for which the evidence was enough.

    direction; scope: `usual` or `version`; tier; opened, since: when, and when the change most likely began, 0 where an
    older version did not know; version: which was seen then; before: mean of what was usual, or of the version before;
    change, low, high: how much values are off in that direction, with bounds; n: observations since; evidence,
    threshold: logarithms to base 10, of the version's comparison 0; day, day_n, day_total: since when values are looked
    at for being back, and what came; or_before: it may have begun before `since`, as nothing was watched until then.
    """

    direction: str
    scope: str
    tier: str
    opened: float
    since: float
    version: str
    before: float
    change: float
    low: float
    high: float
    n: int
    evidence: float
    threshold: float
    day: float
    day_n: float = 0.0
    day_total: float = 0.0
    conversations: list[str] = []
    replaces: str | None = None
    or_before: bool = False

    @property
    def name(self) -> str:
        """What tells it from the other alarms of its series."""
        return f"{self.direction} {self.version}" if self.scope == VERSION else self.direction


class Released(msgspec.Struct, array_like=True, gc=False):
    """One version's shortfalls; since: stream time when it came; start: those of the version it replaces then."""

    sums: ClusterSums = msgspec.field(default_factory=ClusterSums)
    replaces: str | None = None
    start: ClusterSums = msgspec.field(default_factory=ClusterSums)
    since: float = 0.0


class AlarmChange(NamedTuple):
    """What one value did to alarms: closed some, opened some; clock: stream time of the series then."""

    clock: float
    closed: list[Alarm]
    opened: list[Alarm]


class Detector(msgspec.Struct, array_like=True):
    """What is remembered of one scorer of one assistant.

    lower, higher: evidence in each direction; versions: the one used last standing last; alarms: by `Alarm.name`;
    clock: stream time of this series.
    """

    baseline: Baseline = msgspec.field(default_factory=Baseline)
    lower: Evidence = msgspec.field(default_factory=Evidence)
    higher: Evidence = msgspec.field(default_factory=Evidence)
    versions: dict[str, Released] = {}
    alarms: dict[str, Alarm] = {}
    clock: float = -math.inf

    def observe(
        self, version: str, observation: Observation, paging: Paging, latest: float = math.inf
    ) -> AlarmChange | None:
        """Take in what a version was given, as `update`; return what became of alarms, None where nothing did."""
        before = tuple(self.alarms.values()) if self.alarms else ()
        opened = self.update(version, observation, paging, latest)
        closed = [alarm for alarm in before if alarm.name not in self.alarms]
        return AlarmChange(self.clock, closed, opened) if closed or opened else None

    def update(self, version: str, observation: Observation, paging: Paging, latest: float = math.inf) -> list[Alarm]:
        """Take in what a version was given; return the alarms that are new, or a page now that were a ticket.

        latest: the most that an event time counts: no observation is of a time when nobody had it yet.
        """
        conversation_id, time, value, n, total, _ = observation
        now = self.clock
        if time > now and latest > now:
            now = self.clock = min(time, latest)
        elif time < now - LATEST * DAY:
            return []
        baseline = self.baseline
        usual = baseline.mean(time)
        shortfall = usual - value
        before = n * usual - total
        opened: list[Alarm] = []
        if baseline.is_known(now):
            released = self.meet(version, now)
            surprise = shortfall
            if n:
                correlation = baseline.intraclass_correlation
                surprise -= correlation * before / (1.0 + (n - 1.0) * correlation)
            expected, margin = value + surprise, baseline.margin  # of this conversation, before its value came
            for direction, evidence, sign in ((LOWER, self.lower, 1.0), (HIGHER, self.higher, -1.0)):
                if self.alarms and self._is_alarmed(direction, paging):
                    continue
                payoff = sign * surprise - margin
                least = (expected - 1.0 if sign > 0.0 else -expected) - margin
                if payoff < least or payoff < -1.0:  # no value below 0 or above 1 may cost more than there is
                    payoff = max(least, -1.0)
                strength = evidence.add(payoff, least, now, sign * shortfall, n, conversation_id)
                if strength >= LEAST_THRESHOLD:
                    opened += self._open_if_enough(direction, evidence, strength, version, now, paging)
            if len(self.versions) > 1:  # of one alone nobody asks: a new one is compared with what comes beside it
                released.sums.add(shortfall, n, before)
            if released.replaces is not None and not released.sums.n % COMPARED_EVERY:
                opened += self._compare(version, released, now)
            if self.alarms:
                self._look_back(version, shortfall, now)
        if not self.alarms:
            baseline.learn(value, time, now, shortfall, n, before)
        return opened

    @property
    def is_watching(self) -> bool:
        """Whether it knows what is usual, and has compared a value with it."""
        return bool(self.versions)  # as many are known as were compared

    def relearn(self) -> None:
        """Take the present level for the usual one: what was learned is forgotten, and every alarm is closed."""
        self.baseline, self.lower, self.higher = Baseline(), Evidence(), Evidence()
        self.versions, self.alarms = {}, {}

    def levels(self, paging: Paging) -> dict[str, float]:
        """Return the evidence by direction and the thresholds of the tiers, as logarithms to base 10.

        Nothing while it is not armed.
        """
        if not self.baseline.is_known(self.clock):
            return {}
        per_day = self.baseline.per_day(self.clock)
        levels = {LOWER: self.lower.value(), HIGHER: self.higher.value(), TICKET: threshold(per_day, TICKET_DAYS)}
        if paging.directions:
            levels[PAGE] = threshold(per_day, PAGE_DAYS, paging.series)
        return {name: math.log10(max(level, 1e-9)) for name, level in levels.items()}

    def _is_alarmed(self, direction: str, paging: Paging) -> bool:
        """Say whether an alarm says already all that there is to say of a direction."""
        alarm = self.alarms.get(direction)
        return alarm is not None and (alarm.tier == PAGE or direction not in paging.directions)

    def _open_if_enough(
        self, direction: str, evidence: Evidence, strength: float, version: str, now: float, paging: Paging
    ) -> list[Alarm]:
        """Open an alarm if the evidence is enough for a tier that has none yet."""
        tier, bar = self._tier(direction, paging, strength, now)
        known = self.alarms.get(direction)
        if strength < bar or (known is not None and known.tier == tier):
            return []
        self.alarms[direction] = alarm = self._make_alarm(direction, tier, evidence, strength, bar, version, now)
        return [alarm]

    def _tier(self, direction: str, paging: Paging, strength: float, now: float) -> tuple[str, float]:
        """Return the tier that evidence is for, and the threshold of that."""
        per_day = self.baseline.per_day(now)
        page = threshold(per_day, PAGE_DAYS, paging.series)
        if direction in paging.directions and strength >= page:
            return PAGE, page
        return TICKET, threshold(per_day, TICKET_DAYS)

    def _make_alarm(
        self, direction: str, tier: str, evidence: Evidence, strength: float, bar: float, version: str, now: float
    ) -> Alarm:
        onset = evidence.onset()
        since, n = self._not_before(version, onset)
        change, low, high = evidence.change(self.baseline.intraclass_correlation)
        return Alarm(
            direction=direction,
            scope=USUAL,
            tier=tier,
            opened=now,
            since=since,
            version=version,
            before=self.baseline.total / self.baseline.weight,
            change=change,
            low=low,
            high=high,
            n=round(n),
            evidence=math.log10(strength),
            threshold=math.log10(bar),
            day=now,
            conversations=evidence.conversations(),
            or_before=since <= evidence.first,
        )

    def _not_before(self, version: str, onset: Onset) -> tuple[float, float]:
        """Return since when it began, and how many values came since, of a version that has taken over.

        Chance may have made the last values before it a little worse; what it does did not begin before it came.
        """
        known = self.versions[version]
        old = self.versions.get(known.replaces or "")
        if old is None or known.since <= onset.since or known.sums.n <= old.sums.since(known.start).n:
            return onset.since, onset.n
        return known.since, min(onset.n, known.sums.n + 1.0)  # the value that opens it is not in the sums yet

    def meet(self, version: str, now: float) -> Released:
        """Return what is known of a version, the last of them from now on; a new one replaces the last before."""
        last = next(reversed(self.versions), None)
        if version == last:
            return self.versions[version]
        known = self.versions.pop(version, None)
        if known is None:
            known = Released(since=now)
            if last is not None:
                known.replaces = last
                known.start = msgspec.structs.replace(self.versions[last].sums)
            if len(self.versions) >= MAX_VERSIONS:
                del self.versions[next(iter(self.versions))]
        self.versions[version] = known
        return known

    def _compare(self, version: str, known: Released, now: float) -> list[Alarm]:
        """Compare a version with the one that it replaces."""
        old = self.versions.get(known.replaces or "")
        if old is None or len(self.alarms) >= MAX_ALARMS:
            return []
        difference = compare(known.sums, old.sums.since(known.start))
        if difference is None or difference.lower <= 0.0 <= difference.upper:
            return []
        direction, sign = (LOWER, 1.0) if difference.lower > 0.0 else (HIGHER, -1.0)
        low, high = sorted((sign * difference.lower, sign * difference.upper))
        alarm = Alarm(
            direction=direction,
            scope=VERSION,
            tier=TICKET,
            opened=now,
            since=known.since,
            version=version,
            before=self.baseline.total / self.baseline.weight - old.sums.since(known.start).mean(),
            change=sign * difference.mean,
            low=low,
            high=high,
            n=difference.n,
            evidence=0.0,
            threshold=0.0,
            day=now,
            replaces=known.replaces,
        )
        if alarm.name in self.alarms:
            return []
        self.alarms[alarm.name] = alarm
        return [alarm]

    def _look_back(self, version: str, shortfall: float, now: float) -> None:
        """Close what is back for a day."""
        for alarm in list(self.alarms.values()):
            if alarm.scope == USUAL or alarm.version == version:
                alarm.day_n += 1.0
                alarm.day_total += shortfall if alarm.direction == LOWER else -shortfall
            if now - alarm.day < DAY:
                continue
            gone = alarm.scope == VERSION and not alarm.day_n
            if gone or (alarm.day_n >= _LEAST_BACK and alarm.day_total / alarm.day_n < alarm.change / 2):
                self._close(alarm)
            alarm.day, alarm.day_n, alarm.day_total = now, 0.0, 0.0

    def _close(self, alarm: Alarm) -> None:
        del self.alarms[alarm.name]
        if alarm.scope == VERSION:
            self.versions.pop(alarm.version, None)
        elif alarm.direction == LOWER:
            self.lower = Evidence()
        else:
            self.higher = Evidence()
