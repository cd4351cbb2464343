"""Answers that ended at the most that was allowed, as a vendor says, rather than where the model ended them."""

from typing import Any

from turnsignal.stream.formats.values import mapping

_REASONS = ("length", "max_tokens", "max_output_tokens", "MAX_TOKENS")


def is_cut(answer: Any) -> bool:
    """Say whether what a vendor says of an answer, in its choice, message or response, is that it was cut off.

    >>> is_cut({"finish_reason": "length"}), is_cut({"stop_reason": "end_turn"}), is_cut({"status": "completed"})
    (True, False, False)
    """
    if (answer.get("finish_reason") or answer.get("stop_reason") or answer.get("finishReason")) in _REASONS:
        return True
    return answer.get("status") == "incomplete" and mapping(answer.get("incomplete_details")).get("reason") in _REASONS
