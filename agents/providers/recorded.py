"""Stored verdicts as a provider: what a judge answered before, for experiments without calls.

A verdict is found by its id, so by its exchange and its judge; what nobody judged before is a `provider` verdict.
"""

from collections.abc import Mapping
from typing import Any

import orjson

from turnsignal.agents.providers.protocol import ProviderCall, ProviderError, ProviderReply
from turnsignal.stream.judging.rubric import DOCUMENT, EXPLANATION, LABEL, LABELS, NUMBER, REASONING
from turnsignal.stream.records.verdicts import Verdict


class RecordedVerdicts:
    """Answer with the verdicts of a file. verdicts: by id; documents are named by their numbers again."""

    def __init__(self, verdicts: Mapping[str, Verdict]) -> None:
        self._verdicts = verdicts

    async def ask(self, call: ProviderCall) -> ProviderReply:
        """Answer with what the verdict of this id holds; raises ProviderError where there is none, or no value."""
        verdict = self._verdicts.get(call.verdict)
        if verdict is None:
            msg = f"expected a recorded verdict with the id {call.verdict}, got none"
            raise ProviderError(msg)
        if verdict.unscored is not None and verdict.label is None and not verdict.claims:
            raise ProviderError(verdict.reasoning or str(verdict.unscored), reason=verdict.unscored)
        reply = {name: _field(name, part, verdict) for name, part in call.prompt.schema["properties"].items()}
        # Those of all its calls, none where it had been remembered: a call of its own would have had some.
        tokens_in = min(verdict.tokens.input, call.prompt.most_tokens) or 1
        tokens_out = min(verdict.tokens.output, call.max_output) or 1
        return ProviderReply(orjson.dumps(reply).decode(), verdict.judge.answered, tokens_in, tokens_out)

    async def close(self) -> None:
        """Nothing to let go of."""


def _field(name: str, schema: dict[str, Any], verdict: Verdict) -> Any:
    if name == LABEL:
        return verdict.label
    if schema["type"] != "array":
        return verdict.reasoning if name in (REASONING, EXPLANATION) else ""  # it stands in the reasoning
    item = schema["items"]
    if item["type"] == "string":
        return [claim.text for claim in verdict.claims]
    key = NUMBER if name == LABELS else next(iter(item["properties"]))
    by_number = key in (NUMBER, DOCUMENT)
    return [
        {key: number if by_number else claim.text, REASONING: claim.reasoning, LABEL: claim.label}
        for number, claim in enumerate(verdict.claims, 1)
    ]
