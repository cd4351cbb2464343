"""The judges' queue: exchange records of a share of conversations, the same share for every judge."""

from collections.abc import Mapping
from typing import Any

import msgspec
import orjson

from turnsignal.stream.conversations.pairing import KeptTurn
from turnsignal.stream.follow_ups.rules import FollowUpReading
from turnsignal.stream.judging.exchanges import SCHEMA, collect_texts, encode_rules
from turnsignal.stream.judging.sampling import is_sampled
from turnsignal.stream.pipeline.effects import RecordContext
from turnsignal.stream.records.environments import name_environment
from turnsignal.stream.records.scores import Outcome, Stage
from turnsignal.stream.records.turns import Turn
from turnsignal.stream.suite import Suite


class ExchangeQueue:
    """Encode exchanges for the judges; for suites that queue a share of conversations."""

    def __init__(self, suite: Suite) -> None:
        self._suite = suite.fingerprint
        self._share = suite.exchanges.share
        self._truth = suite.exchanges.truth

    def takes(self, key: bytes) -> bool:
        """Say whether a conversation is among those whose exchanges are queued."""
        return is_sampled(key, self._share)

    def on_response(self, context: RecordContext, index: int, row_id: str, turn: Turn) -> bytes:
        """Encode an exchange when its response has come, with its documents, and with known labels if the suite asks.

        index: where the response stands among the kept turns; row_id: of its score row.
        """
        kept = context.state.kept
        texts = collect_texts(kept, index, response=turn.text)
        record = self._describe(context.key, Stage.RESPONSE, row_id, kept[index], kept[index].time, texts)
        record["documents"] = msgspec.to_builtins(turn.retrieved)
        if self._truth and turn.truth is not None:
            record["truth"] = turn.truth
        return orjson.dumps(record)

    def on_follow_up(
        self, context: RecordContext, index: int, follow_up: KeptTurn, reading: FollowUpReading | None
    ) -> bytes:
        """Encode an exchange when its follow-up has come: its texts, and what the rules read in the follow-up."""
        kept = context.state.kept
        texts = collect_texts(kept, index, follow_up=follow_up)
        record = self._describe(context.key, Stage.FOLLOW_UP, None, kept[index], follow_up.time, texts)
        record |= {"follow_up_id": follow_up.turn_id, "outcome": Outcome.FOLLOWED_UP}
        record["rules"] = None if reading is None else encode_rules(reading)
        return orjson.dumps(record)

    def _describe(
        self, key: bytes, stage: Stage, row_id: str | None, turn: KeptTurn, time: float, texts: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Return the fields that the records of both stages have; row_id: by default of the follow-up row."""
        response = turn.response
        assert response is not None, "an exchange is described by a kept response"
        return {
            "schema": SCHEMA,
            "conversation_id": key.decode(),
            "turn_id": turn.turn_id,
            "stage": stage,
            "assistant": response.assistant,
            "version": response.version,
            "model": response.model,
            "platform": response.platform,
            "time": time,
            "row": row_id or response.row_id,
            "suite": self._suite,
            "environment": name_environment(response.environment),
            "inclusion": self._share,
            "relevancy": response.relevancy,
            "compliance": response.compliance,
            **texts,
        }
