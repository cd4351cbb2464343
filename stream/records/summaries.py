"""Summaries: what is written of a conversation when it closes, and what readers of its topic get."""

from dataclasses import dataclass, fields
from typing import Annotated, Literal, NotRequired

import orjson
from pydantic import Field, TypeAdapter
from typing_extensions import TypedDict

from turnsignal.stream.records.environments import Environment
from turnsignal.stream.records.scores import ConversationOutcome


class ScoreMean(TypedDict):
    """How many values a scorer gave in a conversation, and their mean; a judge's by inverse sampling probability."""

    n: int
    mean: Annotated[float, Field(ge=0, le=1)]


class VoteFigures(TypedDict):
    """How votes and follow-ups meet.

    up, down, agree, disagree, only_vote: votes, of each rater one a response; only_follow_up: responses; agreement:
    share of those with both; kappa: Cohen's, left out where both always say the same one thing.
    """

    up: int
    down: int
    agree: int
    disagree: int
    only_vote: int
    only_follow_up: int
    agreement: NotRequired[float]
    kappa: NotRequired[float]


class Votes(VoteFigures):
    """How they meet in one conversation; contradicted: turns with a thumbs-down after which the user went on."""

    contradicted: list[str]


class ConversationCounts(TypedDict):
    """What is counted of a conversation, over its life.

    clarifications: follow-ups that asked for one; went_on: follow-ups that were read as going on or as thanks;
    superseded: responses that another response followed; late: turns that came after the conversation's grace; gaps:
    records that could not be read.
    """

    turns: int
    responses: int
    clarifications: int
    went_on: int
    superseded: int
    late: int
    gaps: int


@dataclass(slots=True, kw_only=True)
class Summary:
    """A closed conversation (topic `turnsignal.conversations`, compacted, keyed by conversation).

    assistant, version, model, platform: of the last response, or without any of the last user turn; first, last: event
    times, closed_at: event time of the close, all in seconds since 1970; closes: how often it has closed so far;
    clarifications: follow-ups that asked for one, went_on: that were read as going on or as thanks; outcome: None where
    a recording ends before the conversation does; clarification_free: whether nobody ever had to clarify, and the last
    message was answered (Hoffer's success: read it beside the share of `silent` and the number of turns); diagnosis,
    meaning: relevancy/follow-ups/instructions and the sentence for it; scores: scorer → n and mean; environment: the
    one furthest from production among its turns; scores are of production's alone; votes: those that had come by then;
    awaiting: verdicts that had not come by then; once the last one is in, the summary is written anew.
    The fields are written in this order; those with a default are missing from older summaries.
    """

    schema: Literal[1]
    conversation_id: str
    assistant: str | None
    version: str | None
    model: str | None
    platform: str | None
    first: float
    last: float
    closed_at: float
    closes: int
    environment: Environment = "production"
    turns: int
    responses: int
    clarifications: int
    went_on: int | None = None
    superseded: int
    late: int
    gaps: int
    outcome: ConversationOutcome | None
    clarification_free: bool | None = None
    diagnosis: str
    meaning: str
    scores: dict[str, ScoreMean]
    suite: str
    votes: Votes | None = None
    awaiting: int | None = None

    def encode(self) -> bytes:
        """Encode as JSON; `votes` and `awaiting` stand in it only where there are any."""
        written = {name: getattr(self, name) for name in _WRITTEN}
        if self.votes is None:
            del written["votes"]
        if self.awaiting is None:
            del written["awaiting"]
        return orjson.dumps(written)


_WRITTEN = [field.name for field in fields(Summary)]

SUMMARIES: TypeAdapter[Summary] = TypeAdapter(Summary)
