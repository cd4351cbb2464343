"""The fake that we ship: replies by fixed rules, without a model, a key or a cost.

Groundedness and relevance are word overlap, which is also the floor that a real judge has to beat; follow-ups are read
by turnsignal's own rules; any other rubric gets the label whose place fits the overlap of answer and question.
"""

from typing import Any

import orjson

from turnsignal.agents.providers.protocol import ProviderCall, ProviderReply
from turnsignal.stream.conversations.exchanges import Exchange
from turnsignal.stream.follow_ups.rules import FollowUpRules
from turnsignal.stream.judging.overlap import overlap, sentences_of
from turnsignal.stream.judging.rubric import DOCUMENT, LABEL, NUMBER, REASONING

_SUPPORTED = 0.5  #: share of words from which on a claim counts as standing in the documents
_TOKEN = 4  #: characters
_ITEMS = 20
_SHARED = "Share of words in common."


class Scripted:
    """Answer by rules; the same prompt always gets the same reply."""

    def __init__(self) -> None:
        self._rules = FollowUpRules()

    async def ask(self, call: ProviderCall) -> ProviderReply:
        """Answer one prompt."""
        parts = orjson.loads(call.prompt.material)
        text = orjson.dumps(self._object(call.prompt.schema, parts)).decode()
        tokens = sum(map(len, (call.prompt.instructions, call.prompt.material))) // _TOKEN
        return ProviderReply(text, f"scripted:{call.model}", tokens, len(text) // _TOKEN)

    async def close(self) -> None:
        """Nothing to let go of."""

    def _object(self, schema: dict[str, Any], parts: dict[str, Any]) -> dict[str, Any]:
        return {name: self._field(part, parts) for name, part in schema["properties"].items()}

    def _field(self, schema: dict[str, Any], parts: dict[str, Any]) -> Any:
        if "enum" in schema:
            return self._whole(schema["enum"], parts)
        if schema["type"] == "array":
            return _list(schema["items"], parts)
        return "Answered by fixed rules, not by a model."

    def _whole(self, labels: list[str], parts: dict[str, Any]) -> str:
        if "follow_up" in parts:
            exchange = Exchange(parts.get("prompt", ""), parts.get("response", ""), parts["follow_up"])
            label = str(self._rules.read(exchange).label)
            return label if label in labels else labels[-1]
        if "response" not in parts:  # were the documents retrieved that the right answer rests on?
            return _by_place(labels, overlap(" ".join(_texts(parts.get("truth"))), _texts(parts.get("documents"))))
        against = parts.get("truth") or parts.get("documents") or parts.get("prompt", "")
        return _by_place(labels, overlap(parts["response"], _texts(against)))


def _list(item: dict[str, Any], parts: dict[str, Any]) -> list[Any]:
    """Return the items of a reply: texts, or objects whose first field is a number or a text."""
    sentences = sentences_of(parts.get("response", ""), _ITEMS)
    if item["type"] == "string":
        return sentences
    key = next(iter(item["properties"]))
    shares: dict[int | str, float]
    if key == DOCUMENT:
        shares = {n: overlap(parts["prompt"], _texts(each)) for n, each in enumerate(parts["documents"], 1)}
    else:
        known = _texts(parts.get("documents")) or [parts.get("prompt") or parts.get("intent") or ""]
        listed = next((value for value in parts.values() if isinstance(value, list)), [])
        named = enumerate(listed, 1) if key == NUMBER else ((text, text) for text in sentences)
        shares = {name: overlap(text, known) for name, text in named}
    labels = item["properties"][LABEL]["enum"]
    return [{key: name, REASONING: _SHARED, LABEL: _by_place(labels, share)} for name, share in shares.items()]


def _by_place(labels: list[str], share: float) -> str:
    """Return a label for a share of words: labels stand from the best to the worst, a third one for what is neither."""
    if len(labels) == 2 or "inferable" in labels:
        return labels[0] if share >= _SUPPORTED else labels[-1]
    return labels[min(len(labels) - 1, int((1 - share) * len(labels)))]


def _texts(value: Any) -> list[str]:
    """Return all texts in a part of the material."""
    if isinstance(value, str):
        return [value]
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [text for each in inside for text in _texts(each)]
