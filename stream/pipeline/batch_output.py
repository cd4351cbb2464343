"""Batch output: everything that one batch writes and counts, held back until the batch is safe.

Score records are encoded at once and never validated: most of a row is the same from turn to turn, and validating our
own output again would cost more than computing it. Tests read every row back through `stream.records.scores`.
"""

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache, partial
from typing import Any, TypeVar

import msgspec
import orjson

from turnsignal.stream.conversations.judged import Fate, weight_of
from turnsignal.stream.errors import Reason, Refused
from turnsignal.stream.pipeline.compliance import Results
from turnsignal.stream.pipeline.effects import Close, Effects, ScoreRow, VerdictRow
from turnsignal.stream.pipeline.metric_deltas import MetricDeltas, Release, SeriesName, rank_band
from turnsignal.stream.pipeline.row_head import RowHead
from turnsignal.stream.pipeline.scoring import Scored
from turnsignal.stream.pipeline.truth_scoring import failing_stage_of
from turnsignal.stream.records.dead_letters import dead_letter, reason_for
from turnsignal.stream.records.environments import name_environment
from turnsignal.stream.records.observations import ObservedRow, columns, pack
from turnsignal.stream.records.scores import Stage, Unscored
from turnsignal.stream.records.turns import Turn
from turnsignal.stream.records.wire import CONVERSATIONS, EXCHANGES, SCORES, SERIES, OutputRecord, Record
from turnsignal.stream.truth.stages import Basis

#: Partitions of turns whose series share a lane. All that is said of an assistant in one lane goes to one partition and
#: one worker, which works off about ten times what a score worker does; beyond that, an assistant has more lanes.
LANE = 64


class _Source(msgspec.Struct, gc=False):
    """Which record completed a row."""

    topic: str
    partition: int
    offset: int


class _WrittenRow(RowHead, gc=False, omit_defaults=True):
    """A score record as it is written, in this order; the last fields only where they say something."""

    scores: msgspec.Raw
    source: _Source | None = None
    outcome: str | None = None
    follow_up: str | None = None
    late: bool = False
    replaces: str | None = None
    follow_ups: list[str] | None = None
    turns: int | None = None
    environment: str | None = None
    feedback: Mapping[str, Any] | None = None
    replaced_by: str | None = None


_MOVING = (Fate.COUNTED, Fate.WAITS)  #: verdicts that go into series and metrics
_UNWRITTEN = (Fate.DUPLICATE, Fate.FORGOTTEN)  #: those that have no row
_RESPONSE = Stage.RESPONSE  # found in its class in a thousand steps, for every row
#: an output record of its four fields; as a tuple with names is made otherwise, it takes three times as long
_written: Callable[[tuple[str, bytes | None, bytes | None, None]], OutputRecord] = partial(tuple.__new__, OutputRecord)
_K = TypeVar("_K")
_encode_row = msgspec.json.Encoder().encode


class BatchOutput:
    """What one batch writes and counts.

    topic, partition: where the input came from; suite: its fingerprint; good_from: scorer → lowest good value;
    full_letters: dead letters keep what came; environment: whose rows move series and metrics. Rows of other ones are
    written, and counted under `environment_…` alone.
    """

    def __init__(
        self,
        topic: str,
        partition: int,
        suite: str,
        good_from: Mapping[str, float],
        full_letters: bool = False,
        environment: str | None = None,
    ) -> None:
        self.topic = topic
        self.partition = partition
        self.outputs: list[OutputRecord] = []
        self.deltas = MetricDeltas()
        self._suite = suite
        self._good_from = good_from
        self._full_letters = full_letters
        self._environment, self._environment_name = environment, name_environment(environment)
        self._weighed = 0  # outputs of which the bytes are counted already
        self._lane = partition // LANE
        self._observed: defaultdict[Release, list[ObservedRow]] = defaultdict(list)
        self._judged: defaultdict[Release, list[tuple[ObservedRow, float]]] = defaultdict(list)  # with their weights
        # Many rows of a batch say the same. They are counted as they are, and taken apart once at the end of the batch.
        self._turns: defaultdict[SeriesName, int] = defaultdict(int)
        self._newest = float("-inf")
        self._verdicts: defaultdict[str, list[tuple[bytes, VerdictRow]]] = defaultdict(list)  # by their topic
        self._unscored: list[tuple[Release, tuple[tuple[str, Unscored], ...]]] = []
        self._findings: list[tuple[Release, Results]] = []
        self._markers: list[tuple[Release, int, tuple[str, ...]]] = []
        self._retrieved: list[tuple[Release, tuple[int, ...]]] = []
        self._cited: list[tuple[Release, tuple[int, ...]]] = []

    def weigh(self) -> int:
        """Return the bytes of what was added since this was asked last."""
        size, outputs = 0, self.outputs
        while self._weighed < len(outputs):
            size += len(outputs[self._weighed].value or b"")
            self._weighed += 1
        return size

    def add(self, key: bytes, effects: Effects) -> None:
        """Write and count what one record of a conversation did."""
        if effects.rows:
            self.add_rows(key, effects.rows)
        if effects.exchanges:
            self.outputs += [OutputRecord(EXCHANGES, key, exchange) for exchange in effects.exchanges]
        if effects.counts:
            for word in effects.counts:
                self.deltas.pairing[word] += 1

    def add_rows(self, key: bytes, rows: Sequence[ScoreRow]) -> None:
        """Write score rows of a conversation; count what they say, and hand their values to the series."""
        conversation = key.decode()
        for row in rows:
            self.outputs.append(_written((SCORES, key, self._encode(conversation, row), None)))
        self._count_rows(conversation, rows)

    def _count_rows(self, conversation: str, rows: Sequence[ScoreRow]) -> None:
        for row in rows:
            responder, scored = row.responder, row.scored
            if row.window_expired:
                self.deltas.pairing["window_expired"] += row.window_expired
            if responder.environment != self._environment:
                if row.moves:
                    self._observe_other(name_environment(responder.environment), scored)
                if scored.failing_stage:
                    self.deltas.other_failing_stages[name_environment(responder.environment), scored.failing_stage] += 1
                continue
            release = (responder.assistant, responder.version)
            if row.stage is _RESPONSE:
                self._findings.append((release, scored.findings))
                self._markers.append((release, scored.markers, scored.faults))
                self._retrieved.append((release, scored.ranks))
                self._cited.append((release, scored.cited))
                if scored.failing_stage:
                    self.deltas.failing_stages[(*release, scored.failing_stage, Basis.TRUTH)] += 1
            elif row.closed_as:
                self.deltas.pairing[row.closed_as] += 1
                if scored.diagnosis:
                    self.deltas.diagnosis[(*release, scored.diagnosis)] += 1
            if row.moves:
                if scored.values:
                    observed = conversation, row.time, scored.scorers, scored.values, row.earlier
                    self._observed[release].append(observed)
                if scored.unscored:
                    self._unscored.append((release, scored.unscored))

    def add_feedback(self, key: bytes, rows: Sequence[ScoreRow]) -> None:
        """Write the rows of feedback; count each by its kind and by what is known of its response."""
        self.add_end(key, None, rows)

    def add_close(self, key: bytes, close: Close) -> None:
        """Write the summary of a conversation that has closed, and the row of its last response; count its outcome."""
        self.add_end(key, close, ())

    def add_end(self, key: bytes, close: Close | None, feedback: Sequence[ScoreRow]) -> None:
        """Write and count what ends with a conversation, wholly or not at all: all of it is encoded first.

        close: as in `add_close`; feedback: rows of what has waited for turns that do not come any more.
        """
        conversation, rows = key.decode(), [*feedback]
        written: list[OutputRecord] = []
        if close is not None:
            rows = [*filter(None, (close.row, close.judged)), *feedback]
            written.append(OutputRecord(CONVERSATIONS, key, close.summary.encode()))
        written += [_written((SCORES, key, self._encode(conversation, row), None)) for row in rows]
        self.outputs += written
        self._count_rows(conversation, rows)
        for row in feedback:
            self.deltas.feedback[row.fields["feedback"]["kind"], row.fate] += 1
            for meeting in row.meetings:
                self.deltas.judge_anchors[meeting] += 1
        if close is None or close.row is None:
            return
        summary, responder = close.summary, close.row.responder
        outcome = (summary.outcome or Unscored.CUT).value
        if summary.environment == name_environment(self._environment):
            self.deltas.outcomes[responder.assistant, responder.version, outcome] += 1
        else:
            self.deltas.other_outcomes[summary.environment, outcome] += 1

    def add_verdict(self, key: bytes, row: VerdictRow, topic: str) -> None:
        """Write the row of a verdict; a repeated verdict is only counted. topic: where it came from."""
        self._verdicts[topic].append((key, row))
        if row.encoded is not None:
            self.outputs.append(_written((SCORES, key, row.encoded, None)))

    def erase_summary(self, key: bytes) -> None:
        """Write the tombstone that erases a conversation's summary from its compacted topic."""
        self.outputs.append(OutputRecord(CONVERSATIONS, key, None))

    def _encode(self, conversation: str, row: ScoreRow) -> bytes:
        responder = row.responder
        record = _WrittenRow(
            1,
            conversation,
            row.turn_id,
            row.stage,
            responder.assistant or None,  # nobody is known where feedback is about an unknown turn
            responder.version,
            responder.model,
            responder.platform,
            row.time,
            row.id,
            self._suite,
            msgspec.Raw(orjson.dumps(row.scored.scores)),
            None if row.offset is None else _Source(row.topic or self.topic, self.partition, row.offset),
            **row.fields,
        )
        if record.environment is None and responder.environment is not None:
            record.environment = responder.environment
        return _encode_row(record)

    def _observe_other(self, environment: str, scored: Scored) -> None:
        for scorer, value in zip(scored.scorers, scored.values, strict=True):
            self.deltas.other_scores[environment, scorer].append(value)
        for scorer, _ in scored.unscored:
            self.deltas.other_unscored[environment, scorer] += 1

    def count_turn(self, turn: Turn, time: float, before: str | None, *, late: bool) -> None:
        """Count a turn that was taken in. before: the version of the answer before it, which a user turn reacts to."""
        if turn.environment == self._environment:
            version = turn.version if turn.role == "assistant" else turn.version or before
            self._turns[turn.assistant, version, turn.role] += 1
        else:
            self.deltas.other_turns[name_environment(turn.environment), turn.role] += 1
        if time > self._newest:
            self._newest = time
        if late:
            self.deltas.pairing["late"] += 1
        if turn.timestamp.tzinfo is None:
            self.deltas.pairing["naive_timestamp"] += 1

    def count_feedback(self, topic: str, time: float, *, duplicate: bool) -> None:
        """Count a record of feedback that was read; topic: where it came from; time: its event time."""
        self.deltas.records[topic, "duplicate" if duplicate else "scored"] += 1
        self.deltas.last_event[topic] = time

    def add_undecodable(self, record: Record, refused: Refused, topic: str | None = None) -> None:
        """Set aside a record that could not be read; the rest as in `add_dead_letter`."""
        self.add_dead_letter(record, refused.reason, refused.shown if self._full_letters else refused.detail, topic)

    def add_dead_letter(self, record: Record, reason: Reason, detail: str, topic: str | None = None) -> None:
        """Set a record aside: in headers where it stood and why.

        topic: where it came from, by default where turns come from.
        """
        topic = topic or self.topic
        reason, detail = reason_for(record, reason, detail)
        self.deltas.on_dead_letter(record, topic, reason)
        self.outputs.append(dead_letter(record, topic, self.partition, reason, detail, full=self._full_letters))

    def add_conflict(self, record: Record, name: str, other: str, topic: str | None = None) -> None:
        """Set aside a record whose id came before with another content; name: what it is, with its id."""
        detail = f"expected {name} as it came before, got {other} under the same id"
        self.add_dead_letter(record, Reason.CONFLICT, detail, topic)

    def add_poison(self, record: Record, detail: str, topic: str | None = None) -> None:
        """Set aside what cannot be worked on, never with what came; the rest as in `add_dead_letter`."""
        topic = topic or self.topic
        self.deltas.on_dead_letter(record, topic, Reason.POISON)
        self.outputs.append(dead_letter(record, topic, self.partition, Reason.POISON, detail))

    def finish(self) -> list[OutputRecord]:
        """Finish the counts, pack the series, and return everything to write."""
        self._count()
        for topic, verdicts in self._verdicts.items():
            self._count_verdicts(topic, verdicts)
        for release, rows in self._observed.items():
            for scorer, conversations, values in columns(rows):
                self._classify((*release, scorer), conversations, values)
            self._add_series(release, pack(*release, self._lane, rows))
        for release, judged in self._judged.items():
            self._add_judged(release, judged)
        return self.outputs

    def _count_verdicts(self, topic: str, verdicts: Sequence[tuple[bytes, VerdictRow]]) -> None:
        """Count the verdicts of the batch, and hand the values of those that move something to the series."""
        deltas, fates = self.deltas, [row.fate for _, row in verdicts]
        for fate in dict.fromkeys(fates):
            count = fates.count(fate)
            deltas.verdicts[fate] += count
            deltas.records[topic, fate if fate in _UNWRITTEN else "scored"] += count
        deltas.last_event[topic] = verdicts[-1][1].verdict.time
        for key, row in verdicts:
            for meeting in row.meetings:
                deltas.judge_anchors[meeting] += 1
            verdict, value = row.verdict, row.verdict.value
            if row.fate not in _MOVING or verdict.environment != self._environment_name:
                continue
            release = (verdict.assistant, verdict.version)
            if value is None:
                deltas.judged_unscored[(*release, row.scorer, row.unscored or Unscored.ERROR)] += 1
                continue
            deltas.judged_times.append(verdict.time)
            observed = key.decode(), verdict.time, (row.scorer,), (value,), row.earlier
            self._judged[release].append((observed, weight_of(verdict.inclusion)))

    def _add_judged(self, release: Release, rows: Sequence[tuple[ObservedRow, float]]) -> None:
        """Add up what judges said of a release, and write it as series."""
        sums: defaultdict[str, list[float]] = defaultdict(lambda: [0.0, 0.0])
        for (_, _, (scorer,), (value,), _), weight in rows:
            total = sums[scorer]
            total[0] += weight
            total[1] += weight * value
        for scorer, (weight, weighted) in sums.items():
            self.deltas.judged_weight[(*release, scorer)] = weight
            self.deltas.judged_sum[(*release, scorer)] = weighted
        observed, weights = zip(*rows, strict=True)
        self._add_series(release, pack(*release, self._lane, observed, weights))

    def _add_series(self, release: Release, packed: Iterable[bytes]) -> None:
        """Write observations of a release, under its assistant's key in the lane of this partition."""
        key = release[0] if not self._lane else f"{release[0]}|{self._lane}"
        self.outputs += [OutputRecord(SERIES, key.encode(), value) for value in packed]

    def _classify(self, name: SeriesName, conversations: Sequence[str], values: Sequence[float]) -> None:
        """Count good and bad values of one series, and remember the worst."""
        deltas = self.deltas
        deltas.scores[name] += values
        lowest = self._good_from.get(name[2])
        if lowest is None:
            return
        ordered = sorted(values)
        bad = bisect_left(ordered, lowest)
        if len(values) > bad:
            deltas.quality[(*name, "good")] += len(values) - bad
        if bad:
            deltas.quality[(*name, "bad")] += bad
            deltas.on_bad(name, conversations[values.index(ordered[0])], ordered[0])

    def _count(self) -> None:
        deltas = self.deltas
        if self._turns or deltas.other_turns:
            deltas.turns = self._turns
            deltas.records[self.topic, "scored"] = sum(self._turns.values()) + sum(deltas.other_turns.values())
            deltas.last_event[self.topic] = self._newest
        for (release, unscored), count in _alike(self._unscored):
            for scorer, reason in unscored:
                deltas.unscored[(*release, scorer, reason)] += count
                deltas.quality[(*release, scorer, "unscored")] += count
        for (assistant, version, diagnosis), count in deltas.diagnosis.items():
            if stage := failing_stage_of(diagnosis):
                deltas.failing_stages[assistant, version, stage, Basis.DIAGNOSIS] += count
        # Rows that say the same of all checks share one tuple; its identity is counted in a tenth of the time.
        known = {id(findings): findings for _, findings in self._findings}
        for (release, at), count in _alike([(release, id(findings)) for release, findings in self._findings]):
            for check, result in known[at]:
                deltas.checks[(*release, check, result)] += count
        for (release, valid, faults), count in _alike(self._markers):
            for kind in [*["valid"] * valid, *faults]:
                deltas.citations[(*release, kind)] += count
        for (release, ranks), count in _alike(self._retrieved):
            for band, documents in _bands(ranks):
                deltas.retrieved[(*release, band)] += documents * count
        for (release, ranks), count in _alike(self._cited):
            for band, documents in _bands(ranks):
                deltas.cited[(*release, band)] += documents * count


@lru_cache(1_000)  # nearly all documents have the ranks from 1 to their number
def _bands(ranks: tuple[int, ...]) -> tuple[tuple[str, int], ...]:
    """Return the bands of some ranks, and of how many of them each is."""
    return tuple(Counter(map(rank_band, ranks)).items())


def _alike(items: Iterable[_K]) -> list[tuple[_K, int]]:
    """Count equal items, in the order in which they first came; a library's counter costs a small batch more."""
    counts: dict[_K, list[int]] = {}
    for item in items:
        count = counts.get(item)
        if count is None:
            counts[item] = [1]
        else:
            count[0] += 1
    return [(item, count) for item, (count,) in counts.items()]
