"""Series: what the watch app remembers of one assistant's scorer, observation by observation, in event order.

How many there were, a rolling mean per version, and the detector that says when they changed; beside the series the
incidents that are made of what the detectors call. Names come from the traffic, so anyone can make them up: a partition
keeps a bounded number of series, and forgets those that nobody has fed for long.
"""

import math
from collections import OrderedDict
from collections.abc import Callable, MutableMapping, Sequence
from typing import Any

from turnsignal.stream.conversations.clock import Moment, StreamClock
from turnsignal.stream.detection.detector import RETENTION, Detector
from turnsignal.stream.detection.incidents import CLOSES, SeriesKey
from turnsignal.stream.detection.policy import AlertPolicy
from turnsignal.stream.errors import Reason
from turnsignal.stream.pipeline.allowance import SECONDS, Allowance
from turnsignal.stream.pipeline.batch_result import BatchResult
from turnsignal.stream.pipeline.bounded_labels import MAX_LABEL, OTHER
from turnsignal.stream.pipeline.incident_log import IncidentLog
from turnsignal.stream.pipeline.metric_deltas import MetricDeltas
from turnsignal.stream.pipeline.series_columns import MOST, SeriesColumns, SeriesPart
from turnsignal.stream.pipeline.series_gauges import SeriesGauges
from turnsignal.stream.pipeline.series_state import BEFORE_ALL, Series, restore_series
from turnsignal.stream.pipeline.setting_aside import counted_letter
from turnsignal.stream.records.dead_letters import reason_for
from turnsignal.stream.records.decisions import Decision, read_decision
from turnsignal.stream.records.observations import Observations, read_observations
from turnsignal.stream.records.regressions import FORGOTTEN
from turnsignal.stream.records.wire import Record, size_of

MAX_SERIES = 10_000  #: kept per partition; what is new beyond them counts as the assistant "other"
MAX_NAME = MAX_LABEL  #: bytes of an assistant's or a version's name; a longer one counts as "other"

_OTHERS = 1_000  # series for which there is room beyond the limit: of "other", one per scorer
_MAX_KEY = 1_000  # bytes; a scorer whose name is longer counts as "other", too
_SWEEP = 10  # series that one record forgets at most
_STATE = 2_000  # bytes of a series' state, about: those of a batch are only spelled at its end


def check_entry(key: bytes, value: bytes) -> None:
    """Read an entry of the state, a series or an incident. Raises SchemaError where that cannot be done."""
    if IncidentLog.holds(key):
        IncidentLog.describe(value)
    else:
        restore_series(value)


class SeriesProcessor:
    """The series of one partition; the counterpart of `stream.pipeline.processor.PartitionProcessor`.

    store: series key → snapshot; topic, decisions_topic, partition: where records come from; skip_applied: skip records
    that a series has taken in already; limit: series that are kept; policy: who pages. Which series are kept follows
    from the records alone, however they are cut into batches: there is no clock but theirs.
    """

    def __init__(
        self,
        store: MutableMapping[bytes, bytes],
        topic: str,
        partition: int,
        *,
        decisions_topic: str = "turnsignal.decisions",
        skip_applied: bool = False,
        limit: int = MAX_SERIES,
        policy: AlertPolicy = AlertPolicy(),  # noqa: B008 - it is frozen
    ) -> None:
        self.store = store
        self.topic = topic
        self.decisions_topic = decisions_topic
        self.partition = partition
        self.clock = StreamClock()
        self._skip_applied = skip_applied
        self._limit = limit
        self._fed: OrderedDict[bytes, float] = OrderedDict()  # series → stream time when fed last, longest ago first
        self._live: dict[bytes, Series] = {}  # touched by this batch
        self._decoded: dict[bytes, tuple[bytes, Series]] = {}  # what snapshots decode to, while the store has them
        self._policy = policy
        self._log = IncidentLog(policy)
        self._columns = SeriesColumns()
        self._gauges = SeriesGauges(self._log.incidents.paging_of)

    def read_store(self) -> int:
        """Take up what the store holds; call once, after filling it.

        Returns the last input offset that any series has taken in, −1 if none.
        """
        order = []
        for key, value in self.store.items():
            if self._log.holds(key):
                self._log.restore(key, value)
                continue
            series = restore_series(value)
            self.clock.advance(series.clock)
            if series.detector is not None:
                self._gauges.restore(key, series.assistant, series.scorer, series.detector)
            order.append((series.offset, key, series.clock))
        order.sort()
        self._fed = OrderedDict((key, clock) for _, key, clock in order)
        return order[-1][0] if order else -1

    def show(self) -> MetricDeltas:
        """Return the gauges of everything that is kept, for a worker that takes it over."""
        return self._gauges.show_all()

    def hide(self) -> MetricDeltas:
        """Return what takes these gauges away again: another worker shows them now."""
        return self._gauges.hide_all()

    def resume(self, last: Moment, now: Moment) -> None:
        """Go on; no series waits for silence, but one that is damaged may say that it is far in the future."""
        self.clock.hold(max(last.wall, now.wall))

    def describe(self, key: bytes) -> dict[str, Any] | None:
        """Give what is kept of a series or of an incident, for people."""
        value = self.store.get(key)
        if value is None:
            return None
        if self._log.holds(key):
            return self._log.describe(value)
        series = restore_series(value)
        versions = {
            name: {"n": rolling.count, "rolling_mean": rolling.get(), "last": rolling.last}
            for name, rolling in series.versions.items()
        }
        lane = {"lane": series.lane} if series.lane else {}
        return {"assistant": series.assistant, "scorer": series.scorer, **lane, "versions": versions}

    def accept(self, result: BatchResult) -> None:
        """Remember what a batch changed; call when it is safe."""
        result.apply_to(self.store)

    def set_aside(self, topic: str, record: Record, why: str) -> BatchResult:
        """Return the dead letter of a record that cannot be worked on. topic: where it came from; why: in words."""
        result = BatchResult(consumed={topic: 1}, set_aside=True)
        result.outputs.append(counted_letter(record, topic, self.partition, Reason.POISON, why, result.deltas))
        return result

    def process(
        self,
        records: Sequence[Record],
        decisions: Sequence[Record] = (),
        *,
        clock: Callable[[], float] | None = None,
        budget: float = SECONDS,
    ) -> BatchResult:
        """Work through packed observations in their order, then through what operators decided meanwhile.

        clock, budget: as of `PartitionProcessor.process`. At least one record of each is done: nobody waits for ever.
        """
        self._live = {}
        self._columns.clear()
        result, allowance = BatchResult(), Allowance(clock, budget)
        observed = self._take_in(records, self._on_observations, result, allowance)
        written = len(result.outputs)
        self._feed(result)
        allowance.write(sum(map(size_of, result.outputs[written:])))
        decided = self._take_in(decisions, self._on_decision, result, allowance)
        result.consumed = {self.topic: observed, self.decisions_topic: decided}
        for key, series in self._live.items():
            snapshot = result.changes[key] = series.snapshot()
            self._decoded[key] = snapshot, series
            if series.detector is not None:
                self._gauges.show(key, series.assistant, series.scorer, series.detector, result.deltas)
        self._live = {}
        return result

    def _take_in(
        self,
        records: Sequence[Record],
        handle: Callable[[Record, BatchResult], None],
        result: BatchResult,
        allowance: Allowance,
    ) -> int:
        """Take in records as far as the allowance goes; return how many."""
        taken, written, touched = 0, len(result.outputs), len(self._live)
        for taken, record in enumerate(records, 1):  # noqa: B007 - it is what is returned
            handle(record, result)
            if len(result.outputs) > written or len(self._live) != touched:
                allowance.write(
                    sum(map(size_of, result.outputs[written:])) + _STATE * max(0, len(self._live) - touched)
                )
                written, touched = len(result.outputs), len(self._live)
            if allowance.is_over():
                break
        return taken

    def _on_observations(self, record: Record, result: BatchResult) -> None:
        try:
            observed = read_observations(record.value or b"")
        except ValueError as error:
            self._add_letter(record, self.topic, "observations as the score app writes them", error, result)
        else:
            self._update_series(record, observed, result)

    def _on_decision(self, record: Record, result: BatchResult) -> None:
        try:
            decision = read_decision(record.value or b"")
        except ValueError as error:
            self._add_letter(
                record, self.decisions_topic, "a decision as `turnsignal regressions` writes it", error, result
            )
        else:
            known = self._decide(decision, result)
            result.deltas.records[self.decisions_topic, "applied" if known else "unknown"] += 1

    def _add_letter(self, record: Record, topic: str, expected: str, error: ValueError, result: BatchResult) -> None:
        """Set a record aside that cannot be read."""
        self._feed(result)  # what comes of those before it is written before it
        detail = f"expected {expected}, got {str(error).splitlines()[0]}"
        reason, detail = reason_for(record, Reason.WRONG_TYPE, detail)
        result.outputs.append(counted_letter(record, topic, self.partition, reason, detail, result.deltas))

    def _decide(self, decision: Decision, result: BatchResult) -> bool:
        """Have detectors take the present level for the usual one; False where the decision is about nothing here."""
        incidents, changed = self._log.incidents, False
        scorers, who = incidents.scorers_of(decision), (decision.assistant, decision.lane)
        for key in sorted(key for key in self._fed if key.startswith(f"{decision.assistant}|".encode())):
            series = self._live.get(key) or self._restore(key, self.store[key])
            if (series.assistant, series.lane) != who or not (scorers is None or series.scorer in scorers):
                continue
            if series.detector is not None:
                changed, self._live[key] = True, series
                records = incidents.relearn((*who, series.scorer), series.detector, CLOSES[decision.kind])
                self._log.report(records, result)
        return changed

    def _update_series(self, record: Record, observed: Observations, result: BatchResult) -> None:
        """Feed the series of every scorer in a record, that of "other" where there is no room for a new one."""
        broker_time = record.timestamp / 1000 if record.timestamp > 0 else None
        latest = math.inf if broker_time is None else broker_time
        parts = self._parts_of(record, observed, broker_time, result)
        self._columns.add(observed, parts, latest)
        if self._columns.waiting >= MOST:
            self._feed(result)
        result.deltas.records[self.topic, "watched"] += 1

    def _feed(self, result: BatchResult) -> None:
        """Have the series take in what waits for them, and report what comes of it."""
        for name, change in self._columns.feed(self._log.incidents):
            self._log.report(self._log.incidents.follow(name, change), result)

    def _parts_of(
        self, record: Record, observed: Observations, broker_time: float | None, result: BatchResult
    ) -> list[SeriesPart | None]:
        """Return what each scorer in a record moves, which is touched by it; None if that took the record in before."""
        newest, now = max(observed.times, default=BEFORE_ALL), None
        fed, parts = set[bytes](), list[SeriesPart | None]()
        limit = self._limit if len(observed.assistant.encode()) <= MAX_NAME else 0
        known = self._columns.parts_of(observed)
        for scorer in observed.scorers:
            part = known.get(scorer)
            is_new = part is None
            if part is None:
                part = self._make_part(observed, scorer, limit)
            if self._skip_applied and part.key not in fed:
                if record.offset <= part.series.offset:
                    parts.append(None)
                    continue
                fed.add(part.key)
            if now is None:
                now = self.clock.advance(newest, broker_time)
                if self._expire_unfed(now, result):
                    known, is_new = self._columns.parts_of(observed), True
                    part = self._make_part(observed, scorer, limit)  # there may be room for it now
            if is_new:
                known[scorer] = part
                self._touch(part, observed, scorer)
            if part.is_other:
                result.deltas.overflow["series"] += 1
            key, series = part.key, part.series
            series.offset, series.clock = record.offset, now
            self._fed[key] = now
            self._fed.move_to_end(key)
            parts.append(part)
        return parts

    def _make_part(self, observed: Observations, scorer: str, limit: int) -> SeriesPart:
        """Return what a scorer moves; nothing is touched by it yet."""
        name, key = self._bounded_name(observed, scorer, limit)
        return SeriesPart(key, name, self._load(name, key), _short_version(observed), self._columns.runs_of(key))

    def _touch(self, part: SeriesPart, observed: Observations, scorer: str) -> None:
        """Count a series among those that this batch touches, and have it watched if it is to be."""
        series = self._live[part.key] = part.series
        assistant, _, name = part.name
        part.is_other = (assistant, part.version) != (observed.assistant, observed.version or "")
        if assistant == observed.assistant and name == scorer and scorer not in self._policy.ignored:
            if series.detector is None:
                series.detector = Detector()
            part.detector = series.detector

    def _bounded_name(self, observed: Observations, scorer: str, limit: int) -> tuple[SeriesKey, bytes]:
        """Return the assistant, the scorer and the lane that observations count for, and their key.

        limit: series that there may be for one of this assistant to begin.
        """
        for assistant, room in ((observed.assistant, limit), (OTHER, self._limit + _OTHERS - 1)):
            key = _key(assistant, scorer, observed.lane)
            if key in self._fed or (len(self._fed) < room and len(key) <= _MAX_KEY):
                return (assistant, observed.lane, scorer), key
        return (OTHER, 0, OTHER), _key(OTHER, OTHER, 0)

    def _load(self, name: SeriesKey, key: bytes) -> Series:
        live = self._live.get(key)
        if live is not None:
            return live
        value = self.store.get(key) if key in self._fed else None  # forgotten in this batch, it is still in the store
        if value is not None:
            return self._restore(key, value)
        assistant, lane, scorer = name
        return Series(assistant=assistant, scorer=scorer, lane=lane)

    def _restore(self, key: bytes, value: bytes) -> Series:
        """Return what a snapshot decodes to; whoever changes it changes no other snapshot's."""
        snapshot, series = self._decoded.pop(key, (b"", None))
        return series if series is not None and snapshot == value else restore_series(value)

    def _expire_unfed(self, now: float, result: BatchResult) -> bool:
        """Forget the series that were fed longest ago: after retention, or because there are too many.

        Returns whether any was forgotten.
        """
        for count in range(_SWEEP):
            key = next(iter(self._fed), None)
            if key is None or (now - self._fed[key] <= RETENTION and len(self._fed) <= self._limit + _OTHERS):
                return count > 0
            if not count:
                self._feed(result)
            series = self._live.pop(key, None) or self._restore(key, self.store[key])
            del self._fed[key]
            result.changes[key] = None
            self._gauges.hide(key, result.deltas)
            if series.detector is not None and series.detector.alarms:
                who, alarms = (series.assistant, series.lane, series.scorer), series.detector.alarms.values()
                self._log.report(self._log.incidents.close(who, alarms, now, FORGOTTEN), result)
        return True


def _short_version(observed: Observations) -> str:
    """Return the version that observations count for."""
    version = observed.version or ""
    return OTHER if len(version.encode()) > MAX_NAME else version


def _key(assistant: str, scorer: str, lane: int) -> bytes:
    return (f"{assistant}|{scorer}|{lane}" if lane else f"{assistant}|{scorer}").encode()
