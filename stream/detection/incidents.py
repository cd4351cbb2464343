"""Incidents: one for an assistant and a change, whatever number of its scorers say so.

An incident is about becoming worse or about what looks better, never about both: what looked better and is still open
when something breaks is another change, and whoever is woken reads of the break alone. A change that is neither joins
the incident that is open. So an assistant has two incidents open at a time at most.

An incident is a record of `turnsignal.regressions` from its first moment on: what is remembered of it is what is
written. So a worker that restores it, and a replay of the same observations, go on exactly as it was.
"""

from collections.abc import Collection, Iterable, Mapping
from hashlib import blake2b

import msgspec

from turnsignal.stream.detection.detector import LOWER, PAGE, TICKET, VERSION, Alarm, AlarmChange, Detector, Paging
from turnsignal.stream.detection.policy import AlertPolicy, leaning_of, meaning_of
from turnsignal.stream.detection.wording import describe_incident
from turnsignal.stream.diagnosis import Level, describe_decline, diagnose
from turnsignal.stream.errors import ConfigError
from turnsignal.stream.names import parse_name
from turnsignal.stream.records.decisions import ACCEPT, REBASE, Decision
from turnsignal.stream.records.observations import Observation
from turnsignal.stream.records.regressions import (
    ACCEPTED,
    ADDED,
    BACK,
    CLOSED,
    OPENED,
    RAISED,
    REBASED,
    REDUCED,
    SHOWN,
    UNKNOWN,
    DiagnosisRow,
    Incident,
    ScorerChange,
)
from turnsignal.stream.statistics.directions import BETTER, WORSE

CLOSES = {ACCEPT: ACCEPTED, REBASE: REBASED}  #: decision → as what it closes incidents
MAX_CHANGES = 100  #: that an incident keeps; scorers' names come from a topic

_REMEMBERED = 1_000  # scorers

QUALITIES = ("relevancy", "follow_up", "instructions")  #: of the diagnosis, in its order
_BEFORE = DiagnosisRow(diagnose(Level.HIGH, Level.HIGH, Level.HIGH).row, describe_decline(False, False, False))

SeriesKey = tuple[str, int, str]  #: assistant, lane, scorer


class Incidents:
    """The open incidents of some assistants, and what becomes of them."""

    def __init__(self, policy: AlertPolicy) -> None:
        self._open: dict[tuple[str, int], list[Incident]] = {}  # by assistant and lane, by when they opened
        self._policy = policy
        self._paging: dict[str, Paging] = {}  # by scorer

    def restore(self, incident: Incident) -> None:
        """Take up an incident that is open."""
        open_here = self._open.setdefault((incident.assistant, incident.lane), [])
        open_here.append(incident)
        open_here.sort(key=lambda known: (known.opened, known.id))  # a store has an order of its own

    def observe(self, series: SeriesKey, detector: Detector, version: str, observation: Observation) -> list[Incident]:
        """Have a series' detector take in an observation; return the incidents' new records, in their order."""
        change = detector.observe(version, observation, self.paging_of(series[2]))
        return [] if change is None else self.follow(series, change)

    def follow(self, series: SeriesKey, change: AlarmChange) -> list[Incident]:
        """Return the incidents' new records after alarms of a series opened or closed, in their order."""
        closed = self.close(series, change.closed, change.clock, BACK)
        return closed + [self._open_or_add(series, alarm) for alarm in change.opened]

    def paging_of(self, scorer: str) -> Paging:
        """Return what of a scorer's series pages, as the policy says it."""
        paging = self._paging.get(scorer)
        if paging is None:
            if len(self._paging) >= _REMEMBERED:  # names come from a topic
                self._paging.clear()
            paging = self._paging[scorer] = self._policy.paging_of(scorer)
        return paging

    def close(self, series: SeriesKey, alarms: Iterable[Alarm], now: float, why: str) -> list[Incident]:
        """Close alarms of a series in the incidents of its assistant, and each of those with the last of its own."""
        over = {(alarm.direction, alarm.scope, alarm.version if alarm.scope == VERSION else "") for alarm in alarms}
        written = []
        for incident in list(self._open.get(series[:2], ())):
            changes = [
                msgspec.structs.replace(change, closed=now)
                if change.scorer == series[2] and change.closed is None and _name(change) in over
                else change
                for change in incident.changes
            ]
            if changes != incident.changes:
                event = CLOSED if all(change.closed is not None for change in changes) else REDUCED
                written.append(self._write(incident, changes, event, now, why))
        return written

    def scorers_of(self, decision: Decision) -> Collection[str] | None:
        """Return the scorers that a decision is about, None for all of its assistant."""
        if decision.kind == REBASE:
            return None
        open_here = self._open.get((decision.assistant, decision.lane), ())
        return {
            change.scorer for incident in open_here if incident.id == decision.incident for change in incident.changes
        }

    def relearn(self, series: SeriesKey, detector: Detector, why: str) -> list[Incident]:
        """Have a detector take the present level for the usual one; return the records that its alarms leave."""
        alarms, now = list(detector.alarms.values()), detector.clock
        detector.relearn()
        return self.close(series, alarms, now, why)

    def _open_or_add(self, series: SeriesKey, alarm: Alarm) -> Incident:
        assistant, lane, scorer = series
        change = self._change(scorer, alarm)
        incident = self._choose((assistant, lane), change)
        if incident is None:
            first = f"{assistant}\x1f{lane}\x1f{scorer}\x1f{alarm.name}\x1f{alarm.opened!r}"
            name = blake2b(first.encode(), digest_size=8).hexdigest()
            version = alarm.version
            incident = Incident(
                name, OPENED, alarm.opened, assistant, lane, TICKET, alarm.opened, alarm.since, version, []
            )
            return self._write(incident, [change], OPENED, alarm.opened)
        changes = [other for other in incident.changes if not _is_same(change, other)]
        event = RAISED if change.tier == PAGE != incident.tier else ADDED
        return self._write(incident, [*changes, change][-MAX_CHANGES:], event, alarm.opened)

    def _choose(self, who: tuple[str, int], change: ScorerChange) -> Incident | None:
        """Return the open incident that a change belongs to, None where it begins one of its own."""
        open_here = self._open.get(who, ())
        known = [incident for incident in open_here if any(_is_same(change, other) for other in incident.changes)]
        if known:
            return known[0]
        way = _way_of([change])
        fitting = [incident for incident in open_here if way is None or _way_of(incident.changes) in (way, None)]
        return min(fitting, key=lambda incident: _way_of(incident.changes) != WORSE, default=None)

    def _change(self, scorer: str, alarm: Alarm) -> ScorerChange:
        sign = -1.0 if alarm.direction == LOWER else 1.0
        low, high = sorted((sign * alarm.low, sign * alarm.high))
        compared = alarm.scope == VERSION
        return ScorerChange(
            scorer,
            self._policy.qualities.get(scorer, "other"),
            meaning_of(scorer, alarm.direction),
            alarm.direction,
            alarm.scope,
            alarm.tier,
            alarm.opened,
            alarm.since,
            alarm.version,
            alarm.replaces,
            alarm.before,
            min(max(alarm.before + sign * alarm.change, 0.0), 1.0),
            sign * alarm.change,
            low,
            high,
            alarm.n,
            None if compared else alarm.evidence,
            None if compared else alarm.threshold,
            self._policy.promise(alarm),
            list(alarm.conversations),
            or_before=alarm.or_before,
        )

    def _write(
        self, incident: Incident, changes: list[ScorerChange], event: str, now: float, why: str | None = None
    ) -> Incident:
        """Return the incident's new record, and go on with it."""
        over = event == CLOSED
        shown = dict.fromkeys(name for change in _by_size(changes) for name in change.conversations)
        after = diagnosis_of(changes)
        since, or_before = beginning(changes)
        worst = [c for c in _by_size(changes) if c.quality == "instructions" and c.scorer != "compliance"]
        record = msgspec.structs.replace(
            incident,
            event=event,
            time=now,
            tier=PAGE if any(change.tier == PAGE for change in changes) else incident.tier,
            since=since,
            changes=changes,
            before=_BEFORE if after else None,
            after=after,
            instruction=worst[0].scorer if worst else None,
            ranks=worst_ranks(changes),
            conversations=list(shown)[:SHOWN],
            closed=now if over else None,
            closed_by=why if over else None,
            or_before=or_before,
        )
        record.text = list(describe_incident(record))
        who = incident.assistant, incident.lane
        others = [known for known in self._open.pop(who, ()) if known.id != incident.id]
        if not over:
            self._open[who] = sorted([*others, record], key=lambda known: (known.opened, known.id))
        elif others:
            self._open[who] = others
        return record


def diagnosis_of(changes: Iterable[ScorerChange]) -> DiagnosisRow | None:
    """Diagnose with every quality that became worse as low and the others as high; None where none became worse.

    The sentence says no more of the others than that they did not become worse: an incident knows changes, not levels.
    """
    worse = {change.quality for change in changes if change.meaning == WORSE}
    if worse.isdisjoint(QUALITIES):
        return None
    relevancy, follow_ups, instructions = (name in worse for name in QUALITIES)
    levels = [Level.LOW if is_worse else Level.HIGH for is_worse in (relevancy, follow_ups, instructions)]
    return DiagnosisRow(diagnose(*levels).row, describe_decline(relevancy, follow_ups, instructions))


def worst_ranks(changes: Iterable[ScorerChange]) -> str | None:
    """Return the ranks of the ranking measure that became worse most; None where none with a cutoff did.

    Of nDCG@5 and nDCG@10 it is the former that falls further when the best documents no longer stand at the top.
    """
    for change in _by_size(changes):
        if change.meaning != WORSE or change.quality != QUALITIES[0]:
            continue
        try:
            name = parse_name(change.scorer)
        except ConfigError:  # it comes from a topic
            continue
        if name.cutoff is not None:
            where = "as retrieved" if name.params.get("order") == "retrieval" else "in the context"
            return f"1 to {name.cutoff} {where}"
    return None


def newest(records: Iterable[Incident]) -> Mapping[str, Incident]:
    """Return the newest record of each incident, by id, in the order in which they opened."""
    return {incident.id: incident for incident in records}


def beginning(changes: Collection[ScorerChange]) -> tuple[float, bool]:
    """Return when the first of some changes most likely began, UNKNOWN where that is of none, and if maybe before."""
    since = min((change.since for change in changes if change.since != UNKNOWN), default=UNKNOWN)
    return since, any(change.since == UNKNOWN or (change.or_before and change.since <= since) for change in changes)


def _name(change: ScorerChange) -> tuple[str, str, str]:
    """What tells a change from the other ones of its scorer."""
    return change.direction, change.scope, change.version if change.scope == VERSION else ""


def _is_same(change: ScorerChange, other: ScorerChange) -> bool:
    """Say whether two changes are of one alarm, as it opened and as it was raised."""
    return change.scorer == other.scorer and _name(change) == _name(other)


def _way_of(changes: Iterable[ScorerChange]) -> str | None:
    """Return whether changes lean to the worse or to the better, None where none of them does either."""
    ways = {leaning_of(change.scorer, change.direction) for change in changes} & {WORSE, BETTER}
    return WORSE if WORSE in ways else next(iter(ways), None)


def _by_size(changes: Iterable[ScorerChange]) -> list[ScorerChange]:
    """Sort changes: what became worse first, and the largest."""
    return sorted(changes, key=lambda change: (change.meaning != WORSE, -abs(change.change)))
