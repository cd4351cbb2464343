"""Results of tools at the end of what a call sends: by their ids it goes on from the call that called these tools."""

from collections.abc import Iterator

from turnsignal.stream.formats.protocol import Record
from turnsignal.stream.formats.values import first, items, nested, short_name


def returned_in(sent: object) -> list[str]:
    """Return the ids of the tools' calls whose results stand at the end of what was sent; earlier ones are history.

    >>> returned_in([{"role": "user", "content": "How?"}, {"type": "function_call_output", "call_id": "c1"}])
    ['c1']
    """
    sent = nested(sent)
    returned: list[str] = []
    for item in reversed(sent if isinstance(sent, list) else []):
        named = list(_ids_in(item)) if isinstance(item, dict) else []
        if not named:
            break
        returned += named
    return returned[::-1]


def _ids_in(item: Record) -> Iterator[str]:
    """Give the ids of the calls whose results an item is, as vendors spell it; none where it is something else."""
    results = [item]
    if item.get("role") == "user":  # Anthropic's results are a user's blocks
        results = [part for part in items(item.get("content")) if isinstance(part, dict)]
    for result in results:
        is_result = result.get("type") in ("function_call_output", "tool_result") or result.get("role") == "tool"
        named = short_name(first(result, "call_id", "tool_call_id", "tool_use_id")) if is_result else None
        if named:
            yield named
