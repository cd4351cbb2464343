"""Material: what of an exchange a judge gets, as one JSON object of bounded size.

Texts of users, assistants and documents are data. They stand inside JSON strings of a message of their own, so none of
them can end the material and go on as instructions. Documents are numbered; their ids stay here.
"""

from collections.abc import MutableMapping
from dataclasses import dataclass, replace
from typing import Any

import orjson

from turnsignal.stream.judging.exchanges import EXCHANGE_RECORDS, Before, ExchangeRecord, Field, fit
from turnsignal.stream.judging.rubric import DOCUMENT, Rubric
from turnsignal.stream.records.turns import Document, Truth
from turnsignal.stream.records.verdicts import Unjudged
from turnsignal.stream.redaction import Redaction

MAX_INPUT = 60_000  #: bytes of an exchange that are sent, unless a judge says otherwise
_IDENTITY = 12_000  #: bytes that ids and names of an exchange may take, which are not sent


@dataclass(slots=True)
class Material:
    """The parts of an exchange that a rubric shows. documents: their ids, by number; cut: parts that were shortened."""

    parts: dict[str, Any]
    documents: list[str]
    cut: list[Field]


class NothingToJudge(Exception):  # noqa: N818 - an outcome with a reason, not a fault
    """Say why a rubric has nothing to judge in an exchange."""

    def __init__(self, reason: Unjudged, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason
        self.detail = detail


def collect_material(exchange: ExchangeRecord, rubric: Rubric, max_input: int = MAX_INPUT) -> Material:
    """Collect what a rubric shows of an exchange, in `max_input` bytes at most.

    Raises NothingToJudge where a part that it needs is missing.
    """
    _require(exchange, rubric)
    exchange = _fitted(_restricted(exchange, rubric), max_input)
    parts = {name: _PARTS[name](exchange) for name in rubric.shown}
    ids = [document.doc_id for document in exchange.documents or ()] if "documents" in parts else []
    shown = {name.partition(".")[0] for name in parts}
    cut = [name for name in exchange.cut if name.partition(".")[0] in shown]
    return Material({name: value for name, value in parts.items() if value}, ids, cut)


def encode_material(parts: dict[str, Any]) -> str:
    """Return the material as the one JSON object that is sent."""
    return orjson.dumps(parts, default=str).decode()


def redact_exchange(exchange: ExchangeRecord, redaction: Redaction, counts: MutableMapping[str, int]) -> ExchangeRecord:
    """Return an exchange without what identifies people; counts: replacements by kind are added to it."""

    def redacted(text: str | None) -> str | None:
        return redaction.redact(text, counts).text if text else text

    documents, truth, before = exchange.documents, exchange.truth, exchange.before
    if documents is not None:
        documents = [replace(each, title=redacted(each.title), text=redacted(each.text)) for each in documents]
    if truth is not None:
        chunks = truth.chunks and [redacted(chunk) or "" for chunk in truth.chunks]
        truth = replace(truth, reference=redacted(truth.reference), chunks=chunks)
    if before is not None:
        before = Before(redacted(before.prompt) or "", redacted(before.response) or "")
    return replace(
        exchange,
        prompt=redacted(exchange.prompt) or "",
        response=redacted(exchange.response) or "",
        follow_up=redacted(exchange.follow_up),
        before=before,
        documents=documents,
        truth=truth,
    )


def _require(exchange: ExchangeRecord, rubric: Rubric) -> None:
    if exchange.stage != rubric.stage:
        detail = f"expected an exchange of the stage {rubric.stage}, got {exchange.stage}"
        raise NothingToJudge(Unjudged.NOT_APPLICABLE, detail)
    for name in rubric.needs:
        if name == "documents":
            if not exchange.documents:
                raise NothingToJudge(Unjudged.NO_RETRIEVAL, "the response came without documents")
            if not any((document.text or "").strip() for document in exchange.documents):
                raise NothingToJudge(Unjudged.NO_RETRIEVAL, "the documents came without their texts")
        elif name == "truth":
            if not _truth(exchange):
                raise NothingToJudge(Unjudged.NO_JUDGMENTS, "no reference answer or passage is known")
        elif name == "before":
            if exchange.before is None:
                raise NothingToJudge(Unjudged.NOT_APPLICABLE, "there is no exchange before")
        elif not (getattr(exchange, name) or "").strip():
            raise NothingToJudge(Unjudged.NOT_APPLICABLE, f"the {name.replace('_', '-')} is empty")


def _restricted(exchange: ExchangeRecord, rubric: Rubric) -> ExchangeRecord:
    """Return an exchange without what the rubric does not show, so that it takes no room from what it does."""
    shown = set(rubric.shown)
    documents = [Document(each.doc_id, title=each.title, text=each.text) for each in exchange.documents or ()]
    truth = exchange.truth
    return replace(
        exchange,
        prompt=exchange.prompt if "prompt" in shown else "",
        response=exchange.response if "response" in shown else "",
        follow_up=exchange.follow_up if "follow_up" in shown else None,
        before=exchange.before if "before" in shown else None,
        documents=documents if "documents" in shown else None,
        truth=Truth(reference=truth.reference, chunks=truth.chunks) if truth and "truth" in shown else None,
    )


def _fitted(exchange: ExchangeRecord, max_input: int) -> ExchangeRecord:
    value = EXCHANGE_RECORDS.dump_json(exchange)
    limit = max_input + min(_IDENTITY, len(EXCHANGE_RECORDS.dump_json(_blank(exchange))))
    return exchange if len(value) <= limit else EXCHANGE_RECORDS.validate_json(fit(value, limit))


def _blank(exchange: ExchangeRecord) -> ExchangeRecord:
    """Return the exchange without its texts: what is left are ids and names."""
    return replace(exchange, prompt="", response="", follow_up=None, before=None, documents=None, truth=None)


def _documents(exchange: ExchangeRecord) -> list[dict[str, Any]]:
    return [
        {DOCUMENT: number} | ({"title": document.title} if document.title else {}) | {"text": document.text or ""}
        for number, document in enumerate(exchange.documents or (), 1)
    ]


def _truth(exchange: ExchangeRecord) -> dict[str, Any]:
    truth = exchange.truth
    known = {"reference": truth.reference, "passages": truth.chunks} if truth is not None else {}
    return {name: value for name, value in known.items() if value}


def _before(exchange: ExchangeRecord) -> dict[str, Any]:
    return {} if exchange.before is None else {"prompt": exchange.before.prompt, "response": exchange.before.response}


_PARTS: dict[str, Any] = {
    "prompt": lambda exchange: exchange.prompt,
    "response": lambda exchange: exchange.response,
    "follow_up": lambda exchange: exchange.follow_up,
    "documents": _documents,
    "before": _before,
    "truth": _truth,
}
