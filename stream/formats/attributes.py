"""Attributes of spans and of their resources, in whatever way they are kept: flat by dotted names, in the end.

{"gen_ai.system": "openai"}                                       as they are
[{"key": "gen_ai.system", "value": {"stringValue": "openai"}}]    OTLP's JSON
'{"gen_ai.system": "openai"}'                                     a column of a table that holds JSON
{"gen_ai": {"system": "openai"}}                                  Phoenix's database, ClickHouse's type JSON
"""

from collections.abc import Iterable
from typing import Any

from turnsignal.stream.formats.values import items, mapping, nested

MAX_DEPTH = 32  #: of values within values
_SPACES = {"gen_ai", "llm", "openinference", "traceloop", "ai", "retrieval", "reranker", "input", "output", "session"}
_OF_MODELS = ("gen_ai.", "llm.", "openinference.", "traceloop.", "ai.", "retrieval.", "reranker.", "langfuse.")


def attributes_of(value: object) -> dict[str, Any]:
    """Return attributes as a plain object with dotted names, whether they came as one, as a list of pairs, or as JSON.

    >>> attributes_of('{"llm": {"model_name": "m1"}}')["llm.model_name"]
    'm1'
    """
    value = nested(value) if isinstance(value, str) else value
    if isinstance(value, dict):
        return value if _SPACES.isdisjoint(value) else _flat(value)
    pairs = [mapping(pair) for pair in value] if isinstance(value, list) else []
    return {str(pair["key"]): plain(pair.get("value")) for pair in pairs if "key" in pair}


def tell_of_models(names: Iterable[object]) -> bool:
    """Say whether any of these is the name of an attribute by which spans of models are known."""
    return any(isinstance(name, str) and name.startswith(_OF_MODELS) for name in names)


def plain(value: object, depth: int = 0) -> Any:
    """Return what an AnyValue of OTLP's holds."""
    if not isinstance(value, dict) or depth > MAX_DEPTH:
        return value
    if "stringValue" in value:  # most are
        return value["stringValue"]
    for key, inner in value.items():
        if key == "arrayValue":
            return [plain(part, depth + 1) for part in items(mapping(inner).get("values"))]
        if key == "kvlistValue":
            pairs = [mapping(pair) for pair in items(mapping(inner).get("values"))]
            return {str(pair.get("key")): plain(pair.get("value"), depth + 1) for pair in pairs}
        if key == "intValue":
            return int(inner) if isinstance(inner, str) and inner.lstrip("-").isdigit() and len(inner) < 30 else inner
        if key.endswith("Value"):
            return inner
    return value if value else None


def _flat(tree: dict[str, Any], before: str = "", depth: int = 0) -> dict[str, Any]:
    """Return what an object holds by dotted names, and each object within it whole, too: it may be a value itself."""
    flat: dict[str, Any] = {}
    for key, inner in tree.items():
        name = f"{before}{key}"
        flat[name] = inner
        if isinstance(inner, dict) and depth < MAX_DEPTH:
            flat |= _flat(inner, f"{name}.", depth + 1)
    return flat
