"""The judges' pipeline: exchange records in, verdicts out, for one partition; the judge app's `PartitionProcessor`.

What `process` returns names the calls that may be sent once it is committed; `accept`, called then, hands them on.
Their answers come back through `settle`, at any time and in any order.
"""

from collections.abc import Callable, Collection, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from turnsignal.stream.conversations.clock import Moment
from turnsignal.stream.errors import Reason, Refused
from turnsignal.stream.judging.budget import Overruns
from turnsignal.stream.judging.docket import Docket
from turnsignal.stream.judging.docket_entries import QueuedExchange, ReservedCall
from turnsignal.stream.judging.docket_state import STATE, decode_docket
from turnsignal.stream.judging.exchanges import ExchangeRecord, decode_exchange
from turnsignal.stream.judging.forgotten import ForgottenConversations
from turnsignal.stream.judging.held_exchanges import MOST_HELD
from turnsignal.stream.judging.judges import Judge
from turnsignal.stream.judging.material import redact_exchange
from turnsignal.stream.judging.panels import HALF, threshold_of
from turnsignal.stream.judging.repeats import repeat_result
from turnsignal.stream.judging.sampling import is_sampled
from turnsignal.stream.pipeline.batch_result import BatchResult
from turnsignal.stream.pipeline.metric_deltas import MetricDeltas
from turnsignal.stream.pipeline.setting_aside import counted_letter
from turnsignal.stream.records.dead_letters import reason_for
from turnsignal.stream.records.verdicts import VERDICTS as VERDICT_RECORDS
from turnsignal.stream.records.verdicts import Verdict
from turnsignal.stream.records.wire import VERDICTS, OutputRecord, Record
from turnsignal.stream.redaction import Redaction

JUDGED, CACHED = "judged", "cached"  #: outcomes of a verdict with a value; without one it is the reason


def check_entry(key: bytes, value: bytes) -> None:
    """Read an entry of the state; those beside the docket's are answers, any bytes. Raises SchemaError."""
    if key == STATE:
        decode_docket(value)


@dataclass(slots=True)
class JudgedResult(BatchResult):
    """The result of a batch. calls: may be sent once it is committed; verdicts: among its outputs."""

    calls: list[ReservedCall] = field(default_factory=list)
    verdicts: list[Verdict] = field(default_factory=list)


class DocketProcessor:
    """The exchanges of one partition on their way to verdicts.

    budget: of a day for this partition, in billionths, None for no limit; max_age: seconds; redaction: what is taken
    out before anything is sent; store: what was committed; topic, partition: where exchanges come from; on_accepted:
    told of each batch that is committed; forgotten: conversations about which nothing is asked, told or kept; overruns:
    of the judges, known to all partitions of a worker.
    """

    def __init__(
        self,
        judges: Sequence[Judge],
        budget: int | None,
        max_age: float,
        redaction: Redaction | None,
        store: MutableMapping[bytes, bytes],
        topic: str = "turnsignal.exchanges",
        partition: int = 0,
        *,
        most_held: int = MOST_HELD,
        full_letters: bool = False,
        on_accepted: Callable[["DocketProcessor", JudgedResult], None] = lambda *_: None,
        forgotten: ForgottenConversations | None = None,
        overruns: Overruns | None = None,
    ) -> None:
        self.store = store
        self.topic = topic
        self.partition = partition
        self._judges = judges
        self._thresholds = {judge.part.name: threshold_of(judge.chosen.rubric) for judge in judges}
        self._redaction = redaction
        self._full_letters = full_letters
        self._on_accepted = on_accepted
        self._docket = Docket(
            judges, budget, max_age, store, most_held=most_held, forgotten=forgotten, overruns=overruns
        )
        self._begins = True  # as long as no record came
        self._position = self._docket.position  # as given last
        self._leaves = self._holds = False

    @property
    def docket(self) -> Docket:
        """What is decided and what is asked, to be looked at."""
        return self._docket

    @property
    def waits(self) -> bool:
        """Whether exchanges are taken in that have no verdict yet."""
        return not self._docket.is_idle

    def read_store(self) -> int:
        """Return the last input offset before the first undecided one, −1 where nothing was stored."""
        return self._docket.position - 1 if STATE in self.store else -1

    def resume(self, last: Moment, now: Moment) -> None:
        """Do nothing: no exchange waits for silence."""

    def describe(self, key: bytes) -> dict[str, Any] | None:
        """Say what is kept under a key, for people: texts of judges are not shown."""
        return {"bytes": len(self.store[key])} if key in self.store else None

    def leave(self) -> None:
        """Make the next batch the last one before another worker may go on from there."""
        self._leaves = True

    def hold(self) -> None:
        """Reserve no calls in the next batch: it may end the worker, and they would be asked in vain."""
        self._holds = True

    def forget(self) -> list[ReservedCall]:
        """Heed requests to forget conversations that came since; return calls that are to be ended, as nobody waits."""
        return self._docket.forget()

    def process(
        self,
        records: Sequence[Record],
        now: float,
        capacity: Mapping[str, int],
        *,
        alone: bool = False,
        trials: Collection[str] = (),
    ) -> JudgedResult:
        """Take exchanges in as far as there is room, and name calls.

        now: seconds since 1970; capacity: line → calls that may be reserved; alone, trials: as `Docket` has them.
        """
        result, taken = JudgedResult(), 0
        for record in records:
            if not self._docket.has_room:
                break
            self._on_exchange(record, now, result)
            taken += 1
        leaves, holds, self._leaves, self._holds = self._leaves, self._holds, False, False
        if not leaves and not holds:
            self._docket.reserve_calls(now, capacity, alone=alone, trials=trials)
        self._prepare(result, leaves=leaves)
        result.consumed = {self.topic: taken}
        return result

    def settle(self, call: ReservedCall, verdict: Verdict, cost: int) -> None:
        """Take the answer to a call; its verdict is in the next batch. cost: in billionths."""
        self._docket.settle(call, verdict, cost)

    def take_back(self, calls: Sequence[ReservedCall]) -> None:
        """Have calls wait again that were named and not sent."""
        self._docket.take_back(calls)

    def set_aside(self, topic: str, record: Record, why: str) -> BatchResult:
        """Return the dead letter of a record that cannot be worked on. topic: where it came from; why: in words."""
        result = JudgedResult(consumed={topic: 1}, set_aside=True)
        self._add_letter(record, Reason.POISON, why, result)
        self._prepare(result, leaves=False)
        return result

    def accept(self, result: BatchResult) -> None:
        """Remember what a batch changed, and hand its calls on; call when it is safe."""
        result.apply_to(self.store)
        if isinstance(result, JudgedResult):
            self._on_accepted(self, result)

    def _prepare(self, result: JudgedResult, *, leaves: bool) -> None:
        prepared = self._docket.prepare(leaves=leaves)
        result.changes, result.calls, result.verdicts = prepared.changes, prepared.calls, prepared.verdicts
        if self.store.get(STATE) == result.changes[STATE]:
            del result.changes[STATE]
        if prepared.position != self._position or not self._docket.is_idle:
            result.positions, self._position = {self.topic: prepared.position}, prepared.position
        for verdict in prepared.verdicts:
            value = VERDICT_RECORDS.dump_json(verdict, exclude_none=True)
            result.outputs.append(OutputRecord(VERDICTS, verdict.conversation_id.encode(), value))
            count_verdict(result.deltas, verdict)
            if (repeated := repeat_result(verdict, self._thresholds.get(verdict.judge.name, HALF))) is not None:
                result.deltas.judge_repeats[verdict.judge.name, repeated] += 1

    def _on_exchange(self, record: Record, now: float, result: JudgedResult) -> None:
        if self._begins:
            self._docket.begin_at(record.offset)
            self._begins = False
        try:
            exchange = decode_exchange(record.value)
            written = record.timestamp / 1000 if record.timestamp > 0 else now
            size = len(record.value or b"")
            self._docket.take([QueuedExchange(record.offset, self._redacted(exchange, result), written, size)])
        except Refused as refused:
            detail = f"expected an exchange as the score app writes it: {refused.detail}"
            self._add_letter(record, refused.reason, detail, result)
        except MemoryError:
            raise
        except Exception as error:  # one exchange that cannot be worked on must not hold up the others
            detail = f"expected an exchange that can be worked on, got {type(error).__name__}"
            self._add_letter(record, Reason.POISON, detail, result)
        else:
            result.deltas.records[self.topic, "queued"] += 1

    def _redacted(self, exchange: ExchangeRecord, result: JudgedResult) -> ExchangeRecord:
        if self._redaction is None or not self._is_asked_about(exchange):
            return exchange
        return redact_exchange(exchange, self._redaction, result.deltas.redactions)

    def _is_asked_about(self, exchange: ExchangeRecord) -> bool:
        key = exchange.conversation_id.encode()
        return any(
            judge.chosen.rubric.stage == exchange.stage and is_sampled(key, judge.part.share) for judge in self._judges
        )

    def _add_letter(self, record: Record, reason: Reason, detail: str, result: JudgedResult) -> None:
        reason, detail = reason_for(record, reason, detail)
        self._docket.pass_over(record.offset)
        deltas, full = result.deltas, self._full_letters
        letter = counted_letter(record, self.topic, self.partition, reason, detail, deltas, full=full)
        result.outputs.append(letter)


def count_verdict(deltas: MetricDeltas, verdict: Verdict) -> None:
    """Count a verdict under its judge's name."""
    name = verdict.judge.name
    outcome = CACHED if verdict.cached else JUDGED if verdict.unscored is None else verdict.unscored.value
    deltas.judge_verdicts[name, outcome] += 1
    for kind, tokens in (("input", verdict.tokens.input), ("output", verdict.tokens.output)):
        if tokens:
            deltas.judge_tokens[name, kind] += tokens
    if verdict.cost:
        deltas.judge_cost[name] += verdict.cost
