"""Exchanges as judges get them, for tests."""

from typing import Any

from turnsignal.stream.judging.exchanges import Before, ExchangeRecord
from turnsignal.stream.records.turns import Document, Truth

DOCUMENTS = [
    Document("kb/1", title="Warranty", text="The warranty is two years."),
    Document("kb/2", text="Opening hours."),
]


def an_exchange(stage: str = "response", **more: Any) -> ExchangeRecord:
    """An exchange with everything that any rubric needs."""
    fields: dict[str, Any] = {
        "conversation_id": "c1",
        "turn_id": "a1",
        "assistant": "shop",
        "time": 1_750_000_000.0,
        "inclusion": 0.5,
        "prompt": "How long is the warranty?",
        "response": "The warranty is two years.",
        "row": "row-1",
        "suite": "f00",
        "before": Before("Hello?", "Hello, how can I help?"),
        "documents": DOCUMENTS if stage == "response" else None,
        "truth": Truth(reference="Two years.") if stage == "response" else None,
        "follow_up": "Thanks!" if stage == "follow_up" else None,
        "follow_up_id": "u2" if stage == "follow_up" else None,
    }
    return ExchangeRecord(schema=2, stage=stage, **(fields | more))  # type: ignore[arg-type]
