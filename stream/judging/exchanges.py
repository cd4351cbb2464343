"""Exchange records: what a judge gets of an exchange, in full, and cut only where a record would not fit its topic.

At the response stage with all texts and documents, at the follow-up stage with texts only, as far as the conversation
still has them. Whatever was shortened, by the conversation's memory or by the broker's limit, is named in `cut`.
"""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, NamedTuple, get_args

import orjson
from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError
from pydantic import Field as Within

from turnsignal.stream.conversations.pairing import ASSISTANT, KeptTurn, asked
from turnsignal.stream.errors import Reason, Refused
from turnsignal.stream.follow_ups.rules import FollowUpReading
from turnsignal.stream.records.environments import Environment
from turnsignal.stream.records.scores import Unscored
from turnsignal.stream.records.turns import Documents, Id, Short, Truth, check_bytes, parse_json, refuse
from turnsignal.stream.records.verdicts import EventTime

SCHEMA = 2

#: what may be shortened
Field = Literal["documents", "truth", "prompt", "response", "follow_up", "before.prompt", "before.response"]
FIELDS: tuple[Field, ...] = get_args(Field)  #: in the order in which `cut` names them

Ratio = Annotated[float, Within(ge=0, le=1)]


class ExchangePart(BaseModel):
    """The judges' queue (`turnsignal.exchanges`): what is written to it.

    share: of conversations whose exchanges are; truth: whether labels known for a response go with it.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    share: Ratio = 0.0
    truth: bool = False


@dataclass(slots=True)
class Before:
    """The exchange before: its prompt, and its last response."""

    prompt: str
    response: str


@dataclass(slots=True)
class Rules:
    """What the rules read in the follow-up; unscored: why there is no value."""

    label: str
    strict: Ratio | None
    precision: Ratio | None
    confidence: Ratio
    unscored: Unscored | None = None


@dataclass(slots=True)
class ExchangeRecord:
    """One exchange as a judge gets it (topic `turnsignal.exchanges`, keyed by conversation).

    stage: `response` with documents when the response arrives, `follow_up` with texts only when the user's next
    message does; row: the score row it belongs to, under that suite; prompt: the user turns before the response,
    joined; before: the exchange before this one; outcome: how it closed, if it did; rules: their reading of the
    follow-up; relevancy, compliance: of the response, where scored; truth: known labels, where the suite asks for them;
    inclusion: the probability with which this conversation was chosen for judging; cut: which fields were shortened.
    Of schema 1, texts were cut to what the conversation keeps, and nothing said so. What a verdict repeats has the
    bounds that it has there, so that nobody is asked for a verdict which its readers refuse.
    """

    schema: Literal[1, 2]
    conversation_id: Id
    turn_id: Id
    stage: Literal["response", "follow_up"]
    assistant: Short
    time: EventTime
    inclusion: Ratio
    prompt: str
    response: str
    version: Short | None = None
    model: Short | None = None
    platform: Short | None = None
    follow_up: str | None = None
    follow_up_id: Id | None = None
    outcome: str | None = None
    documents: Documents | None = None
    row: Short = ""
    suite: Short = ""
    environment: Environment = "production"
    before: Before | None = None
    rules: Rules | None = None
    relevancy: Ratio | None = None
    compliance: Ratio | None = None
    truth: Truth | None = None
    cut: Annotated[list[Field], Within(fail_fast=True)] = field(default_factory=list)


MAX_RECORD = 8_000_000  #: bytes of one record: what a turn may have, and the texts before it

EXCHANGE_RECORDS: TypeAdapter[ExchangeRecord] = TypeAdapter(ExchangeRecord)


def decode_exchange(value: bytes | None) -> ExchangeRecord:
    """Read one record of `turnsignal.exchanges`. Raises Refused with the reason."""
    given = check_bytes(value, None, "an exchange", MAX_RECORD)
    try:
        exchange = EXCHANGE_RECORDS.validate_python(parse_json(given))
    except ValidationError as error:
        raise refuse(error) from None
    ids = exchange.conversation_id, exchange.turn_id
    if not all(name.isprintable() for name in ids):
        raise Refused(Reason.BAD_ID, f"expected ids of printable characters, got {' / '.join(map(repr, ids))}")
    if not exchange.inclusion:
        raise Refused(Reason.WRONG_TYPE, "expected the probability with which this was chosen for judging, got 0")
    return exchange


def collect_texts(
    kept: Sequence[KeptTurn], index: int, response: str | None = None, follow_up: KeptTurn | None = None
) -> dict[str, Any]:
    """Spell the texts of the exchange of the response at `index`, and which of them the conversation did not keep.

    response: its whole text, where it is at hand. What was cut from a turn's text is given a few times, then no more.
    """
    start, end = asked(kept, index)
    begin, stop = asked(kept, start) if start else (0, 0)
    answers = [turn for turn in kept[stop:start] if turn.role == ASSISTANT][-1:]
    parts: dict[str, Sequence[KeptTurn]] = {
        "prompt": kept[start:end],
        "response": () if response is not None else (kept[index],),
        "follow_up": () if follow_up is None else (follow_up,),
        "before.prompt": kept[begin:stop],
        "before.response": answers,
    }
    cut = [name for name, part in parts.items() if any(turn.remainder == "" for turn in part)]
    texts = {name: "\n".join(turn.text + turn.give_remainder() for turn in part) for name, part in parts.items()}
    spelled: dict[str, Any] = {
        "prompt": texts["prompt"],
        "response": texts["response"] if response is None else response,
        "before": {"prompt": texts["before.prompt"], "response": texts["before.response"]} if start else None,
        "cut": cut,
    }
    if follow_up is not None:
        spelled["follow_up"] = texts["follow_up"]
    return spelled


def encode_rules(reading: FollowUpReading) -> dict[str, Any]:
    """Write what the rules read."""
    spelled = {name: getattr(reading, name) for name in ("label", "strict", "precision", "confidence")}
    return spelled if reading.unscored is None else spelled | {"unscored": reading.unscored}


class _Text(NamedTuple):
    """A text of a record: what it belongs to in `cut`, where it stands, and its bytes as serialized."""

    name: str
    holder: Any
    key: Any
    size: int


def fit(value: bytes, limit: int) -> bytes:
    """Shorten an exchange record until it takes `limit` bytes at most, and name in `cut` what was shortened.

    Documents come first, the longest of them, and where that is not enough the last ones leave; then known labels in
    the same way, then the other texts. Ids and names stay, so beneath 10 kB it may be too large all the same.
    """
    if len(value) <= limit:
        return value
    record = orjson.loads(value)
    documents, truth, before = record.get("documents") or [], record.get("truth") or {}, record["before"] or {}
    cut = set(record["cut"])
    record["cut"] = FIELDS  # room for all names
    over = len(orjson.dumps(record)) - limit

    texts = [text for document in documents for text in _find("documents", document, "text", "title", "url")]
    over = _shorten(texts, over, cut)
    over = _drop("documents", documents, over, cut)

    chunks = truth.get("chunks") or []
    texts = [*_find("truth", truth, "reference"), *_find("truth", chunks, *range(len(chunks)))]
    over = _shorten(texts, over, cut)
    for name in ("chunks", "doc_ids", "agents"):
        over = _drop("truth", truth.get(name) or [], over, cut)

    texts = [text for name in ("prompt", "response", "follow_up") for text in _find(name, record, name)]
    texts += [text for name in ("prompt", "response") for text in _find(f"before.{name}", before, name)]
    _shorten(texts, over, cut)
    record["cut"] = [name for name in FIELDS if name in cut]
    return orjson.dumps(record)


def _find(name: str, holder: Any, *keys: str | int) -> Iterator[_Text]:
    """Yield the texts that stand under some keys of an object or places of a list."""
    for key in keys:
        text = holder.get(key) if isinstance(holder, dict) else holder[key]
        if text:
            yield _Text(name, holder, key, _size(text))


def _size(text: str) -> int:
    return len(orjson.dumps(text)) - 2  # quotes


def _shorten(texts: Sequence[_Text], over: int, cut: set[str]) -> int:
    """Cut the longest texts to one length, so that they take `over` bytes less; return what is still over."""
    if over <= 0:
        return over
    level = _level(sorted((text.size for text in texts), reverse=True), over)
    for name, holder, key, size in texts:
        if size > level:
            holder[key] = _head(holder[key], level)
            over -= size - _size(holder[key])
            cut.add(name)
    return over


def _level(sizes: Sequence[int], over: int) -> int:
    """Return the greatest size to which all larger ones can be cut to save `over` bytes; sizes: the largest first."""
    total = 0
    for count, size in enumerate(sizes, 1):
        total += size
        level = (total - over) // count
        if level >= (sizes[count] if count < len(sizes) else 0):
            return level
    return 0


def _head(text: str, room: int) -> str:
    """Return as many characters of a text as take at most `room` bytes as serialized, where `"` takes two."""
    most = min(len(text), room)
    return text[: bisect_right(range(most + 1), room, key=lambda length: _size(text[:length])) - 1]


def _drop(name: str, items: list[Any], over: int, cut: set[str]) -> int:
    """Take the last items out until they take `over` bytes less; return what is still over."""
    while over > 0 and items:
        over -= len(orjson.dumps(items.pop())) + bool(items)  # the comma
        cut.add(name)
    return over
