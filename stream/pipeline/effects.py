"""Effects: what one record does to its conversation, beside changing the conversation's state.

The conversation processor and the feedback scorer return effects. The partition processor hands them to the batch
output, which writes and counts them. So the logic of a conversation knows no output, and can be read without it.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import msgspec

from turnsignal.stream.conversations.judged import Fate
from turnsignal.stream.conversations.pairing import Responder
from turnsignal.stream.conversations.state import Conversation
from turnsignal.stream.pipeline.scoring import Scored
from turnsignal.stream.records.observations import Earlier
from turnsignal.stream.records.scores import Stage, Unscored
from turnsignal.stream.records.summaries import Summary
from turnsignal.stream.records.verdicts import Verdict


class RecordContext(msgspec.Struct, gc=False):
    """One record on its way through its conversation.

    key, state: the conversation's; offset: of the record on its topic; time: event time in seconds since 1970; late:
    whether the record came after the conversation's grace.
    """

    key: bytes
    state: Conversation
    offset: int
    time: float
    late: bool = False


class ScoreRow(msgspec.Struct, gc=False):
    """One score record before it is written, and what is counted with it.

    id: of the row; turn_id, responder: the turn that is scored, and who gave it; time: event time of what completed
    the row; scored: its scores; fields: those that only some rows have; offset, topic: of the record that completed
    the row, without an offset where no record did, without a topic where turns come from; closed_as: the word by
    which its exchange is counted once it has closed; fate: the word by which feedback is counted; window_expired: how
    many windows it came too late for; earlier: what its scorers had said in the conversation; moves: whether its
    values go into series and metrics; meetings: of its label with judges (`HumanLabels`).
    """

    id: str
    stage: Stage
    turn_id: str
    responder: Responder
    time: float
    scored: Scored
    fields: dict[str, Any]
    offset: int | None = None
    topic: str | None = None
    closed_as: str = ""
    fate: str = ""
    window_expired: int = 0
    earlier: Earlier = ()
    moves: bool = True
    meetings: Sequence[tuple[str, str, str]] = ()


class VerdictRow(msgspec.Struct, gc=False):
    """The row of a verdict, and what is counted with it.

    encoded: the row, None where the verdict came before or is to be forgotten; fate: the word by which it is counted;
    scorer: as which its judge counts; unscored: why the verdict has no value; earlier: number and sum of what its
    scorer had said in the conversation; meetings: with the labels of people that came before, as `HumanLabels` says
    them.
    """

    encoded: bytes | None
    fate: Fate
    verdict: Verdict
    scorer: str
    unscored: Unscored | None
    earlier: Earlier = ()
    meetings: Sequence[tuple[str, str, str]] = ()


class Effects(msgspec.Struct, gc=False):
    """What one record of a conversation has to write and count.

    rows: score rows in their order; exchanges: encoded exchange records for the judges, in their order; counts: words
    to count beside the rows, of `MetricDeltas.pairing`.
    """

    rows: list[ScoreRow] = []
    exchanges: tuple[bytes, ...] = ()
    counts: tuple[str, ...] = ()


class Close(NamedTuple):
    """What the end of a conversation has to write: its summary, and a row for its last response if there is one.

    judged: the row anew, with what judges make of the conversation, once none is awaited.
    """

    summary: Summary
    row: ScoreRow | None
    judged: ScoreRow | None = None
