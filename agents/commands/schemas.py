"""Schemas: what each record looks like, for those who write turns and read rows."""

from typing import Any

from pydantic import TypeAdapter

from turnsignal.stream.judging.exchanges import EXCHANGE_RECORDS
from turnsignal.stream.judging.rubric import Rubric
from turnsignal.stream.records.feedback import FEEDBACK
from turnsignal.stream.records.scores import SCORE_RECORDS
from turnsignal.stream.records.summaries import SUMMARIES
from turnsignal.stream.records.turns import TURNS
from turnsignal.stream.records.verdicts import VERDICTS
from turnsignal.stream.suite import Suite


def schema_of(record: str) -> dict[str, Any]:
    """Return the JSON Schema of turn, feedback, score, exchange, verdict, conversation, rubric or suite."""
    if record == "suite":
        return Suite.model_json_schema()
    if record == "rubric":
        return Rubric.model_json_schema()
    adapters: dict[str, TypeAdapter[Any]] = {
        "turn": TURNS,
        "feedback": FEEDBACK,
        "score": SCORE_RECORDS,
        "exchange": EXCHANGE_RECORDS,
        "verdict": VERDICTS,
        "conversation": SUMMARIES,
    }
    return adapters[record].json_schema()
