"""Verdicts: what a judge answered about one exchange, or why it was not asked or could not answer.

Exactly one per exchange and judge (topic `turnsignal.verdicts`, keyed by conversation, in the exchange's partition).
"""

from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache
from hashlib import blake2b
from typing import Annotated, Any, Literal, cast

import msgspec
from msgspec import Meta
from pydantic import Field, TypeAdapter, ValidationError

from turnsignal.stream.errors import Reason, Refused
from turnsignal.stream.records.environments import Environment
from turnsignal.stream.records.turns import Id, Short, check_bytes, parse_json, refuse, struct_of
from turnsignal.stream.text.timestamps import LATEST

MAX_REASONING = 2_000  #: characters
MAX_CLAIM = 500  #: characters of one claim, and of the reasoning about it
MAX_RECORD = 1_000_000  #: bytes of one record
_WORD = r"^[a-z][a-z0-9_]{0,39}"

MAX_NAME = 200  #: characters of a model's name
MOST = 2**63 - 1  #: of what is counted
MOST_VERSION = 2**31  #: of a rubric's version, which conversations keep in four bytes a verdict

Ratio = Annotated[float, Field(ge=0, le=1), Meta(ge=0, le=1)]
Count = Annotated[int, Field(ge=0, le=MOST), Meta(ge=0, le=MOST)]
Amount = Annotated[float, Field(ge=0, allow_inf_nan=False), Meta(ge=0)]
_Name = Annotated[str, Field(pattern=f"{_WORD}$"), Meta(pattern=rf"{_WORD}\Z")]
_Rubric = Annotated[
    str, Field(max_length=200, pattern=rf"{_WORD}(\(|$)"), Meta(max_length=200, pattern=rf"{_WORD}(\(|\Z)")
]
_Version = Annotated[int, Field(ge=0, le=MOST_VERSION), Meta(ge=0, le=MOST_VERSION)]
EventTime = Annotated[float, Field(ge=-LATEST, le=LATEST), Meta(ge=-LATEST, le=LATEST)]
_Reasoning = Annotated[str, Field(max_length=MAX_REASONING), Meta(max_length=MAX_REASONING)]


class Unjudged(StrEnum):
    """Say why a verdict has no value. Counted, never 0."""

    NOT_APPLICABLE = "not_applicable"  #: the rubric has nothing to look at here
    NO_RETRIEVAL = "no_retrieval"  #: the response came without documents, or without their texts
    NO_JUDGMENTS = "no_judgments"  #: what would be right is not known
    NO_SIGNAL = "no_signal"  #: the judge's label says nothing about quality
    TIE = "tie"  #: as many jurors find it good as bad
    QUORUM = "quorum"  #: too few jurors have a value
    SAMPLED_OUT = "sampled_out"  #: not among the conversations that this judge is asked about
    BUDGET = "budget"  #: the money for the day was spent
    TIMEOUT = "timeout"  #: no answer in time, or it waited for too long to be asked
    PROVIDER = "provider"  #: the endpoint refused or failed
    PARSE = "parse"  #: the reply does not fit: no JSON, another label, a field missing, cut off, refused
    ERROR = "error"  #: turnsignal itself failed


#: reasons for which an exchange has no value although it was to have one
LOST = frozenset((Unjudged.BUDGET, Unjudged.TIMEOUT, Unjudged.PROVIDER, Unjudged.PARSE, Unjudged.ERROR))


@dataclass(slots=True)
class VerdictJudge:
    """Who judged.

    name: the judge's in the suite; provider: the endpoint; asked, answered: the model that was asked for, and the one
    that says it answered; rubric, version: by which question; prompt: digest of everything that decides what is asked.
    """

    name: _Name
    provider: Short
    asked: Short
    rubric: _Rubric
    version: _Version
    prompt: Short
    answered: Short | None = None


@dataclass(slots=True)
class VerdictClaim:
    """One item with its label. text: the claim, or the document's id; reasoning: why."""

    text: str
    label: str
    reasoning: str = ""


@dataclass(slots=True)
class VerdictTokens:
    """Tokens over all attempts, as the endpoint counted them."""

    input: Count = 0
    output: Count = 0


@dataclass(slots=True)
class VerdictStep:
    """What one step of a cascade, or one juror, came to.

    step: `rules`, `small`, `judge` or `juror`; model: who was asked; inclusion: the probability with which this step
    was asked here: 1 where the step before was unsure, else the share that is asked to measure the cascade.
    """

    step: str
    model: str = ""
    label: str | None = None
    value: Ratio | None = None
    unscored: Unjudged | None = None
    inclusion: Ratio = 1.0


@dataclass(slots=True)
class Verdict:
    """One judge's answer about one exchange.

    id: digest of the exchange's row and the judge; conversation_id to follow_up_id: as the exchange has them; label: of
    the whole; value: 0–1; reasoning: the judge's, where unscored a sentence that says why; claims: items with a label
    each; decided_by: which step decided, or lost it; attempts: calls that were made; cost: in the currency of the
    suite's prices; latency: seconds from the first call to the answer; inclusion: the probability with which it was
    judged; cached: taken from an earlier verdict on the same question and material; cut: parts that had been shortened;
    steps: of a cascade, and jurors.
    """

    schema: Literal[1]
    id: Short
    conversation_id: Id
    turn_id: Id
    stage: Literal["response", "follow_up"]
    assistant: Short
    time: EventTime
    row: Short
    suite: Short
    judge: VerdictJudge
    inclusion: Ratio
    version: Short | None = None
    model: Short | None = None
    platform: Short | None = None
    environment: Environment = "production"
    follow_up_id: Id | None = None
    label: Short | None = None
    value: Ratio | None = None
    reasoning: _Reasoning = ""
    claims: Annotated[list[VerdictClaim], Field(fail_fast=True)] = field(default_factory=list)
    unscored: Unjudged | None = None
    decided_by: Short | None = None
    attempts: Count = 0
    tokens: VerdictTokens = field(default_factory=VerdictTokens)
    cost: Amount = 0.0
    latency: Amount = 0.0
    cached: bool = False
    cut: Annotated[list[str], Field(fail_fast=True)] = field(default_factory=list)
    steps: Annotated[list[VerdictStep], Field(fail_fast=True)] = field(default_factory=list)


VERDICTS: TypeAdapter[Verdict] = TypeAdapter(Verdict)
_validate = VERDICTS.validator.validate_python
_KEPT_JUDGES, _KEPT_BYTES = 200, 2_000  # judges that are kept as they were read, and bytes of one at most

# What these take, pydantic would have taken, too.
_quick: Any = struct_of(Verdict, judge=msgspec.Raw, tokens=struct_of(VerdictTokens))
_read_but_judge = msgspec.json.Decoder(_quick).decode
_read_judge = msgspec.json.Decoder(VerdictJudge).decode
_remember_judge = lru_cache(_KEPT_JUDGES)(_read_judge)  # the same in verdict after verdict


def decode_verdict(value: bytes | None, key: bytes | None = None) -> Verdict:
    """Read one record of `turnsignal.verdicts`.

    key: the Kafka key, None when there is none to compare (files). Raises Refused with the reason.
    """
    given = check_bytes(value, key, "a verdict", MAX_RECORD)
    try:
        verdict = _read_at_once(given)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        verdict = _read_slowly(given)
    conversation_id, turn_id, judged = verdict.conversation_id, verdict.turn_id, verdict.value
    if key is not None and conversation_id.encode() != key:
        detail = f"expected the key to be the conversation_id {conversation_id!r}, got a key of {len(key)} bytes"
        raise Refused(Reason.KEY_MISMATCH, detail)
    if not (conversation_id.isprintable() and turn_id.isprintable()):
        raise Refused(Reason.BAD_ID, f"expected ids of printable characters, got {conversation_id!r} / {turn_id!r}")
    if (judged is None) == (verdict.unscored is None):
        detail = f"expected a value or a reason why there is none, got {'neither' if judged is None else 'both'}"
        raise Refused(Reason.MISSING_FIELD if judged is None else Reason.WRONG_TYPE, detail)
    if judged is not None and not verdict.inclusion:
        raise Refused(Reason.WRONG_TYPE, "expected the probability with which this was judged, got 0 beside a value")
    return verdict


def _read_at_once(value: bytes) -> Verdict:
    read: Any = _read_but_judge(value)
    judge = bytes(read.judge)
    read.judge = _remember_judge(judge) if len(judge) <= _KEPT_BYTES else _read_judge(judge)
    verdict: Verdict = read  # it has the same fields
    return verdict


def _read_slowly(value: bytes) -> Verdict:
    """Read what msgspec does not take, or find the reason to refuse it."""
    try:
        return cast("Verdict", _validate(parse_json(value)))
    except ValidationError as error:
        raise refuse(error) from None


def clean(text: str, most: int) -> str:
    """Return a text that can be written: without lone surrogates, which JSON may spell, and of bounded length."""
    return text.strip()[:most].encode("utf-8", "replace").decode()


@lru_cache(_KEPT_JUDGES)
def scorer_of(rubric: str, judge: str) -> str:
    """Name the scorer that a judge is, by the rubric that it is asked.

    >>> scorer_of("answer_relevancy(form=four)", "strong")
    'answer_relevancy(by=strong)'
    """
    return f"{rubric.partition('(')[0]}(by={judge})"


def verdict_id(row: str, judge: str) -> str:
    """Digest what a verdict is about: 24 hex digits. row: the exchange's; judge: the judge's own digest."""
    return blake2b(f"{row}\x1f{judge}".encode(), digest_size=12, person=b"verdict").hexdigest()
