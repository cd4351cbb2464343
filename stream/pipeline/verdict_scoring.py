"""Scoring by verdicts: each has one row, whenever it comes, and moves the judged means of its conversation.

A row depends on the verdict alone, which carries what its exchange carried. So rows are the same however turns and
verdicts interleave, live and in a replay, and nothing ever waits for a judge.
"""

from collections.abc import Sequence
from typing import Any

import msgspec

from turnsignal.stream.conversations.judged import LEFT_OUT, NO_SIGNAL, UNREAD, Fate, JudgedMemory, VerdictFacts, named
from turnsignal.stream.conversations.state import Conversation, Limits
from turnsignal.stream.judging.deliberation import JUROR
from turnsignal.stream.judging.forgotten import is_forgotten
from turnsignal.stream.judging.inquiry import JUDGE
from turnsignal.stream.judging.judges import JudgePart, judged_scorer, readable_rubric
from turnsignal.stream.pipeline.effects import VerdictRow
from turnsignal.stream.pipeline.row_head import RowHead
from turnsignal.stream.records.environments import read_environment
from turnsignal.stream.records.scores import Stage, Unscored, row_id
from turnsignal.stream.records.turns import MAX_AHEAD
from turnsignal.stream.records.verdicts import Unjudged, Verdict, scorer_of

_STAGE = Stage.VERDICT.value
_DUPLICATE = Fate.DUPLICATE  # found in its class in a thousand steps, for every verdict
_LEFT_OUT = (Unjudged.SAMPLED_OUT, Unjudged.BUDGET)
#: what a verdict says of its exchange where it has no value; whatever else there is, nobody has read the exchange
_OF_EXCHANGE = (Unjudged.NO_SIGNAL, Unjudged.NOT_APPLICABLE, Unjudged.NO_RETRIEVAL, Unjudged.NO_JUDGMENTS)
_DISAGREE = (Unjudged.TIE, Unjudged.QUORUM)  # of jurors, who may have failed
_JURORS = (JUDGE, JUROR)
_encode_row = msgspec.json.Encoder().encode


class _WrittenScore(msgspec.Struct, gc=False, omit_defaults=True):
    """The score in the row of a verdict, as `Score.as_json` has it."""

    scorer: str
    value: float | None
    label: str | None = None
    unscored: Unscored | None = None
    explanation: str | None = None
    decided_by: str | None = None


class _WrittenVerdict(msgspec.Struct, gc=False, omit_defaults=True):
    """What a row says of its verdict, without what stands in the row anyway; as `JudgedBy` reads it."""

    id: str
    row: str
    judge: str
    provider: str
    model: str
    rubric: str
    version: int
    prompt: str
    inclusion: float
    cost: float
    cached: bool = False
    cut: list[str] | None = None
    asked: bool = True


class _WrittenVerdictRow(RowHead, gc=False, omit_defaults=True):
    """The row of a verdict as it is written, in this order."""

    scores: tuple[_WrittenScore]
    follow_up: str | None = None
    environment: str | None = None
    verdict: _WrittenVerdict | None = None


class Judged:
    """One verdict on its way into its conversation. scorer: as which it counts; unscored: why it has no value."""

    __slots__ = ("scorer", "unscored", "verdict")

    def __init__(self, verdict: Verdict) -> None:
        self.verdict = verdict
        self.scorer = scorer_of(verdict.judge.rubric, verdict.judge.name)
        self.unscored = None if verdict.unscored is None else Unscored(verdict.unscored.value)

    def take_in(self, memory: JudgedMemory, environment: str) -> VerdictRow:
        """Take the verdict in, and return its row. memory: of its conversation; environment: which one moves means."""
        verdict = self.verdict
        value = verdict.value if verdict.environment == environment else None
        about = (verdict.id, verdict.row or verdict.turn_id, verdict.time, self.scorer, verdict.judge.version)
        kept_as = UNREAD if self.unscored is None else _kept_as(verdict)
        fate, earlier = memory.take(VerdictFacts(*about, value, verdict.inclusion, verdict.turn_id, kept_as))
        encoded = None if fate is _DUPLICATE else self.encode()
        return VerdictRow(encoded, fate, verdict, self.scorer, self.unscored, earlier)

    def without_effect(self, fate: Fate) -> VerdictRow:
        """Return what is written and counted of it where it moves nothing; its row only where it is late."""
        encoded = self.encode() if fate is Fate.LATE else None
        return VerdictRow(encoded, fate, self.verdict, self.scorer, self.unscored)

    def is_before(self, erased: float, written: float, *, returned: bool) -> bool:
        """Whether it is from before a request to forget its conversation.

        erased: when that was; written: when the verdict was, 0 where that is not known; returned: whether there is a
        conversation of that name again, whose turns may have older timestamps than the request.
        """
        time = self.verdict.time
        if written > 0:  # a turn's timestamp may be ahead of the request, but not when the verdict on it was written
            time = written if returned else min(time, written)
        return is_forgotten(erased, time)

    def begin_waiting(self, now: float, limits: Limits, written: float = 0.0) -> Conversation | None:
        """Return a conversation in which the verdict waits for its turn; None when that will not come.

        It was too long ago, or more than a day ahead of when the verdict was written. now: stream time; written: when
        the verdict was, 0 where that is not known.
        """
        time = self.verdict.time
        if now > time + limits.idle + limits.retention or (written > 0 and time > written + MAX_AHEAD):
            return None
        return Conversation(closed=True, clock=now)

    def encode(self) -> bytes:
        """Encode its row, which is the same wherever and whenever it is written."""
        verdict, judge = self.verdict, self.verdict.judge
        conversation_id, turn_id, row, suite = verdict.conversation_id, verdict.turn_id, verdict.row, verdict.suite
        by = f"{judge.name}\x1f{judge.version}\x1f{judge.prompt}\x1f{verdict.id}"
        answer = (verdict.value, verdict.label, self.unscored, verdict.reasoning or None, verdict.decided_by)
        written = _WrittenVerdictRow(
            1,
            conversation_id,
            turn_id,
            _STAGE,
            verdict.assistant or None,
            verdict.version,
            verdict.model,
            verdict.platform,
            verdict.time,
            row_id(conversation_id, turn_id, _STAGE, row, suite, by),
            suite,
            (_WrittenScore(self.scorer, *answer),),
            verdict.follow_up_id,
            read_environment(verdict.environment),
            _WrittenVerdict(
                verdict.id,
                row,
                judge.name,
                judge.provider,
                judge.answered or judge.asked,
                judge.rubric,
                judge.version,
                judge.prompt,
                verdict.inclusion,
                verdict.cost,
                verdict.cached,
                verdict.cut or None,
                verdict.attempts > 0 or verdict.value is not None or verdict.cached,
            ),
        )
        return _encode_row(written)


def _kept_as(verdict: Verdict) -> int:
    """Return as what a conversation keeps a verdict without a value: whether the exchange was read, or was to be."""
    reason = verdict.unscored
    if reason in _LEFT_OUT:
        return LEFT_OUT
    if reason in _DISAGREE:
        votes = [step.unscored for step in verdict.steps if step.step in _JURORS]
        return NO_SIGNAL if all(vote is None or vote in _OF_EXCHANGE for vote in votes) else UNREAD
    return NO_SIGNAL if reason in _OF_EXCHANGE else UNREAD


def describe_judged(state: Conversation) -> dict[str, Any]:
    """Return what judges said of a conversation, for people to read; nothing where none has anything to do with it."""
    if state.judged is None:
        return {}
    memory = state.judged
    return {"judged": named(memory.means().items()), "awaiting": memory.awaiting, "awaited": memory.awaited()}


class ExpectedJudges:
    """Who is to judge the exchanges of each stage, by the suite.

    A judge whose rubric stands in a file that cannot be read here is not waited for: its stage is not known.
    """

    def __init__(self, judges: Sequence[JudgePart]) -> None:
        self._scorers: dict[str, list[str]] = {Stage.RESPONSE: [], Stage.FOLLOW_UP: []}
        self._are_known = True
        for part in judges:
            rubric = readable_rubric(part)
            if rubric is None:
                self._are_known = False
            else:
                self._scorers[rubric.stage].append(judged_scorer(part))

    def expect(self, state: Conversation, stage: Stage, row: str, time: float) -> None:
        """Take in that an exchange of a conversation goes to the judges of its stage. row: id of its score row."""
        scorers = self._scorers[stage]
        if scorers or not self._are_known:  # a verdict that nobody waits for may come all the same, and is to count
            state.judged_memory().expect(row, time, scorers)
