"""Dead letters as lines of JSON: what was refused, where it stood, and why."""

from collections import Counter
from pathlib import Path
from typing import Any

import orjson

_DIGITS = 18  # that JSON holds for sure


def encode_dead_letter(source: dict[str, Any], headers: dict[str, bytes], value: bytes | None) -> bytes:
    """Write a dead letter as one JSON line: where it stood, why, and what it kept, if anything, as text."""
    row = source | {name: headers[name].decode("utf-8", "replace") for name in ("reason", "detail") if name in headers}
    if "length" in headers:
        digest = headers.get("sha256", b"").decode("utf-8", "replace")
        row |= {"length": _number(headers["length"]), "sha256": digest}
    if value:
        row["value"] = value.decode("utf-8", "replace")
    return orjson.dumps(row)


def encode_kept_letter(headers: dict[str, bytes], value: bytes | None) -> bytes:
    """Write a dead letter of the topic as one JSON line; its headers say where it stood."""
    source = {
        "topic": headers.get("topic", b"").decode("utf-8", "replace"),
        "partition": _number(headers.get("partition", b"")),
        "offset": _number(headers.get("offset", b"")),
    }
    return encode_dead_letter(source, headers, value)


def _number(header: bytes) -> int:
    """Read a header that is a number, -1 for another: whoever may write to the topic may have written it."""
    return int(header) if header.isdigit() and len(header) <= _DIGITS else -1


def count_reasons(refused: Path) -> Counter[str]:
    """Count the dead letters of a file by their reason."""
    with refused.open("rb") as rows:
        return Counter(orjson.loads(row)["reason"] for row in rows)
