"""Scores: what one scorer said of one exchange, and the record that carries all of a stage."""

from dataclasses import dataclass, field
from enum import StrEnum
from hashlib import blake2b
from typing import Annotated, Any, Literal

from pydantic import Field, TypeAdapter

from turnsignal.stream.records.environments import Environment

#: Names of scorers that are spoken of where others are looked up in the suite.
FOLLOW_UP, FOLLOW_UP_PRECISION = "follow_up", "follow_up(policy=precision)"
CLARIFICATION_FREE = "clarification_free"  #: of an exchange: 0 when its follow-up asks to clarify, 1 otherwise
CITED = "cited"  #: 1 when a document is cited, 0 when none is
DANGLING = "dangling"  #: of answers with markers: 1 when one names nothing retrieved, 0 when none does
ROUTING = "routing"  #: of turns with truth: 1 when exactly the agents were asked that the question belongs to
STAGE = "stage"  #: of turns with truth: a label, the first stage of the answer that was wrong
CITED_ARTICLE = "cited_article"  #: of turns with truth: 1 when the one cited document is a relevant one


class Unscored(StrEnum):
    """Say why there is no value. Counted, never 0."""

    NO_RETRIEVAL = "no_retrieval"  #: the response came without documents
    NO_CITATIONS = "no_citations"  #: documents, but none cited
    ALL_DANGLING = "all_dangling"  #: it cites, but nothing that was retrieved
    CITED_EARLIER = "cited_earlier"  #: it cites nothing but what an earlier answer of its conversation retrieved
    NO_JUDGMENTS = "no_judgments"  #: what would be right is not given: relevant documents, agents
    NOT_APPLICABLE = "not_applicable"  #: the scorer has nothing to look at here
    TIE = "tie"  #: as many jurors find it good as bad
    QUORUM = "quorum"  #: too few jurors have a value
    NO_EVIDENCE = "no_evidence"  #: nothing was read that says how the conversation went
    UNREAD = "unread"  #: the judge has not read every follow-up of the conversation
    CUT = "cut"  #: the recording ends before the conversation does
    NO_SIGNAL = "no_signal"  #: no rule recognises the message
    UNKNOWN_TURN = "unknown_turn"  #: feedback about a response that is not known, or not any more
    LANGUAGE = "language"  #: the message is in a language that the rules do not read
    GAP = "gap"  #: an unreadable record stands between the response and this message
    ERROR = "error"  #: the scorer itself failed
    SAMPLED_OUT = "sampled_out"  #: not among the conversations that this judge is asked about
    BUDGET = "budget"  #: the judges' money for the day was spent
    TIMEOUT = "timeout"  #: the judge gave no answer in time, or was not asked in time
    PROVIDER = "provider"  #: the judge's endpoint refused or failed
    PARSE = "parse"  #: the judge's reply does not fit its rubric


class Stage(StrEnum):
    """When an exchange got a score record."""

    RESPONSE = "response"
    FOLLOW_UP = "follow_up"
    CLOSE = "close"
    FEEDBACK = "feedback"
    VERDICT = "verdict"


class Outcome(StrEnum):
    """How an exchange closed."""

    FOLLOWED_UP = "followed_up"
    ENDED = "ended"
    SUPERSEDED = "superseded"


class ConversationOutcome(StrEnum):
    """How a conversation went; where two fit, the later one of these."""

    SILENT = "silent"  #: no follow-up came, or none could be read: no evidence
    RESOLVED = "resolved"  #: a follow-up went on or thanked, none was a clarification
    CLARIFIED = "clarified"  #: a clarification, and a later follow-up that went on
    ABANDONED = "abandoned"  #: the last follow-up that was read is a clarification
    UNANSWERED = "unanswered"  #: the last answer is none, whatever thanks followed; or the last message got none


#: Hoffer's success: nobody ever had to clarify. Saying nothing counts too, so the share of `silent` stands beside it.
FREE_OUTCOMES = (ConversationOutcome.RESOLVED, ConversationOutcome.SILENT)


@dataclass(slots=True)
class Score:
    """What one scorer said.

    scorer: its canonical name; value: 0–1, or None when unscored or when only the label means something;
    label: a word from the scorer's own set; unscored: the reason when there is no score;
    explanation: one plain sentence; decided_by: which step of a cascade decided; span: the characters of the response
    that it is about, [start, end); confidence: 0–1, how sure the deciding step is, where it can be unsure; applied: of
    how many checks a compliance is; inclusion: the probability, below 1, with which there is a value, as of a judge
    that is asked about a share of the conversations: its inverse is the score's weight.
    """

    scorer: str
    value: Annotated[float, Field(ge=0, le=1)] | None = None
    label: str | None = None
    unscored: Unscored | None = None
    explanation: str | None = None
    decided_by: str | None = None
    span: tuple[int, int] | None = None
    confidence: Annotated[float, Field(ge=0, le=1)] | None = None
    applied: Annotated[int, Field(ge=0)] | None = None
    inclusion: Annotated[float, Field(gt=0, le=1)] | None = None

    def as_json(self) -> dict[str, Any]:
        """Leave out what is empty; every byte is written once per turn."""
        out: dict[str, Any] = {"scorer": self.scorer, "value": self.value}
        if self.label is not None:
            out["label"] = self.label
        if self.unscored is not None:
            out["unscored"] = self.unscored
        if self.explanation is not None:
            out["explanation"] = self.explanation
        if self.decided_by is not None:
            out["decided_by"] = self.decided_by
        if self.span is not None:
            out["span"] = self.span
        if self.confidence is not None:
            out["confidence"] = self.confidence
        if self.applied is not None:
            out["applied"] = self.applied
        if self.inclusion is not None:
            out["inclusion"] = self.inclusion
        return out


@dataclass(slots=True)
class Source:
    """Where the record came from that completed a score record."""

    topic: str
    partition: int
    offset: int


@dataclass(slots=True)
class About:
    """Which feedback a row is of: its id, None where a turn carried it; a label's scorer; the rater's digest."""

    kind: str
    id: str | None = None
    scorer: str | None = None
    rater: str | None = None


@dataclass(slots=True)
class JudgedBy:
    """Which verdict a row is of.

    id: the verdict's; row: of the exchange that was judged; judge, provider, model: who was asked, and the model that
    answered; rubric, version, prompt: by which question; inclusion: the probability with which this was judged, whose
    inverse is the score's weight; cost: in the currency of the suite's prices; cut: parts that had been shortened;
    asked: whether a call was made for what has no value, left out where one was.
    """

    id: str
    row: str
    judge: str
    provider: str
    model: str
    rubric: str
    version: int
    prompt: str
    inclusion: Annotated[float, Field(ge=0, le=1)]
    cost: float = 0.0
    cached: bool = False
    cut: list[str] = field(default_factory=list)
    asked: bool = True


@dataclass(slots=True)
class ScoreRecord:
    """All scores of one exchange at one stage (topic `turnsignal.scores`, keyed by conversation).

    id: digest of conversation, turn, stage, the turns it saw (of feedback: its id), suite and judge; turn_id: the
    assistant turn, and of a conversation that nobody answered, in its close row, the last user turn; assistant: None
    for feedback about a turn that is not known; time: event time in seconds since 1970 of the turn, or feedback, that
    completed the row; outcome: how the exchange closed, if it did; follow_up: the user turn that was judged;
    follow_ups: all of them where several came before the next answer; replaces: the row that this one corrects;
    replaced_by: the row of later feedback that came before this one; turns: of the conversation, in its close row;
    environment: of the response, at the close of the conversation, left out where it is production; verdict: whose
    scores these are, at the stage of that name, whose rows say no source, as they depend on the verdict alone.
    Append-only: readers take the newest per (conversation, turn, stage), of feedback those that nothing replaces, and
    of verdicts those on rows that nothing replaces.
    """

    schema: Literal[1]
    id: str
    conversation_id: str
    turn_id: str
    stage: Stage
    assistant: str | None
    time: float
    suite: str
    scores: list[Score]
    version: str | None = None
    model: str | None = None
    platform: str | None = None
    source: Source | None = None
    outcome: Outcome | None = None
    follow_up: str | None = None
    replaces: str | None = None
    late: bool = False
    turns: int | None = None
    follow_ups: list[str] | None = None
    environment: Environment = "production"
    feedback: About | None = None
    replaced_by: str | None = None
    verdict: JudgedBy | None = None


SCORE_RECORDS: TypeAdapter[ScoreRecord] = TypeAdapter(ScoreRecord)


_HASH = blake2b(digest_size=12)


def row_id(conversation_id: str, turn_id: str, stage: str, saw: str, suite: str, judge: str = "") -> str:
    """Digest what a score record is about: 24 hex digits, the same wherever and whenever it is computed."""
    text = "\x1f".join((conversation_id, turn_id, stage, saw, suite, judge))
    hashed = _HASH.copy()
    hashed.update(text.encode("utf-8", "surrogatepass"))
    return hashed.hexdigest()
