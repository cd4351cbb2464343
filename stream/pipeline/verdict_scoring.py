"""Scoring by verdicts: each has one row, whenever it comes, and moves the judged means of its conversation.

A row depends on the verdict alone, which carries what its exchange carried. So rows are the same however turns and
verdicts interleave, live and in a replay, and nothing ever waits for a judge.
"""

from collections.abc import Sequence
from typing import Any

import orjson

from turnsignal.stream.conversations.judged import Fate, JudgedMemory, VerdictFacts, named, weight_of
from turnsignal.stream.conversations.state import Conversation, Limits
from turnsignal.stream.errors import ConfigError
from turnsignal.stream.judging.judges import JudgePart, is_rubric_file
from turnsignal.stream.judging.rubric_files import choose_rubric
from turnsignal.stream.pipeline.effects import VerdictRow
from turnsignal.stream.pipeline.scoring import Scored
from turnsignal.stream.records.environments import PRODUCTION
from turnsignal.stream.records.observations import Earlier
from turnsignal.stream.records.scores import Score, Stage, Unscored, row_id
from turnsignal.stream.records.verdicts import Verdict, scorer_of


class Judged:
    """One verdict on its way into its conversation.

    scorer: as which it counts; scored: its score; weight: the inverse of its sampling probability, 0 where unscored.
    """

    __slots__ = ("scored", "scorer", "verdict", "weight")

    def __init__(self, verdict: Verdict) -> None:
        self.verdict = verdict
        self.scorer = scorer_of(verdict.judge.rubric, verdict.judge.name)
        self.scored = _score(verdict, self.scorer)
        self.weight = 0.0 if verdict.value is None else weight_of(verdict.inclusion)

    def take_in(self, memory: JudgedMemory, environment: str) -> VerdictRow:
        """Take the verdict in, and return its row. memory: of its conversation; environment: which one moves means."""
        verdict = self.verdict
        value = verdict.value if verdict.environment == environment else None
        about = (verdict.id, verdict.row or verdict.turn_id, verdict.time, self.scorer, verdict.judge.version)
        before = memory.mean_of(self.scorer)
        fate = memory.take(VerdictFacts(*about, value, verdict.inclusion, verdict.turn_id))
        earlier = () if before is None else (before.n, before.n * before.mean)
        return self._row(fate, earlier)

    def late(self) -> VerdictRow:
        """Return its row where its conversation is forgotten: then it moves nothing."""
        return self._row(Fate.LATE)

    def _row(self, fate: Fate, earlier: Earlier = ()) -> VerdictRow:
        verdict = self.verdict
        return VerdictRow(
            None if fate is Fate.DUPLICATE else self.encode(),
            fate,
            self.scored,
            self.weight,
            (verdict.assistant, verdict.version),
            verdict.environment,
            verdict.time,
            earlier,
            moves=fate in (Fate.COUNTED, Fate.WAITS),
        )

    def begin_waiting(self, now: float, limits: Limits) -> Conversation | None:
        """Return a conversation in which the verdict waits for its turn; None when that was too long ago to come.

        now: stream time.
        """
        if now > self.verdict.time + limits.idle + limits.retention:
            return None
        return Conversation(closed=True, clock=now)

    def encode(self) -> bytes:
        """Encode its row, which is the same wherever and whenever it is written."""
        verdict, judge = self.verdict, self.verdict.judge
        by = "\x1f".join((judge.name, str(judge.version), judge.prompt, verdict.id))
        about = (verdict.conversation_id, verdict.turn_id, Stage.VERDICT, verdict.row)
        row: dict[str, Any] = {
            "schema": 1,
            "conversation_id": verdict.conversation_id,
            "turn_id": verdict.turn_id,
            "stage": Stage.VERDICT,
            "assistant": verdict.assistant or None,
            "version": verdict.version,
            "model": verdict.model,
            "platform": verdict.platform,
            "time": verdict.time,
            "id": row_id(*about, verdict.suite, by),
            "suite": verdict.suite,
            "scores": self.scored.scores,
        }
        if verdict.follow_up_id is not None:
            row["follow_up"] = verdict.follow_up_id
        if verdict.environment != PRODUCTION:
            row["environment"] = verdict.environment
        return orjson.dumps(row | {"verdict": _describe(verdict)})


def _describe(verdict: Verdict) -> dict[str, Any]:
    """Return what a row says of its verdict, without what stands in the row anyway."""
    judge = verdict.judge
    fields: dict[str, Any] = {
        "id": verdict.id,
        "row": verdict.row,
        "judge": judge.name,
        "provider": judge.provider,
        "model": judge.answered or judge.asked,
        "rubric": judge.rubric,
        "version": judge.version,
        "prompt": judge.prompt,
        "inclusion": verdict.inclusion,
        "cost": verdict.cost,
    }
    if verdict.cached:
        fields["cached"] = True
    if verdict.cut:
        fields["cut"] = verdict.cut
    return fields


def _score(verdict: Verdict, scorer: str) -> Scored:
    unscored = None if verdict.unscored is None else Unscored(verdict.unscored.value)
    score = Score(
        scorer, verdict.value, verdict.label, unscored, verdict.reasoning or None, decided_by=verdict.decided_by
    )
    if verdict.value is None or unscored is not None:
        return Scored(scores=[score.as_json()], unscored=((scorer, unscored or Unscored.ERROR),))
    return Scored(scores=[score.as_json()], scorers=(scorer,), values=(verdict.value,))


def describe_judged(state: Conversation) -> dict[str, Any]:
    """Return what judges said of a conversation, for people to read; nothing where none has anything to do with it."""
    if state.judged is None:
        return {}
    memory = state.judged
    return {"judged": named(memory.means().items()), "awaiting": memory.awaiting, "awaited": memory.awaited()}


class ExpectedJudges:
    """Who is to judge the exchanges of each stage, by the suite; judges whose rubric is a file are not waited for."""

    def __init__(self, judges: Sequence[JudgePart]) -> None:
        self._scorers: dict[str, list[str]] = {Stage.RESPONSE: [], Stage.FOLLOW_UP: []}
        for part in judges:
            stage = _stage_of(part)
            if stage is not None:
                self._scorers[stage].append(scorer_of(part.rubric, part.name))

    def expect(self, state: Conversation, stage: Stage, row: str, time: float) -> None:
        """Take in that an exchange of a conversation goes to the judges of its stage. row: id of its score row."""
        if scorers := self._scorers[stage]:
            state.judged_memory().expect(row, time, scorers)


def _stage_of(part: JudgePart) -> str | None:
    if is_rubric_file(part.rubric):
        return None
    try:
        return choose_rubric(part.rubric).rubric.stage
    except ConfigError:  # one of a user's own, known to the judge app alone
        return None
