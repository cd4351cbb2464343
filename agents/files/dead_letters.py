"""Dead letters as lines of JSON: what was refused, where it stood, and why."""

from collections import Counter
from pathlib import Path
from typing import Any

import orjson


def encode_dead_letter(source: dict[str, Any], headers: dict[str, bytes], value: bytes | None) -> bytes:
    """Write a dead letter as one JSON line: where it stood, why, and what it kept, if anything, as text."""
    row = source | {name: headers[name].decode("utf-8", "replace") for name in ("reason", "detail") if name in headers}
    if "length" in headers:
        row |= {"length": int(headers["length"]), "sha256": headers["sha256"].decode()}
    if value:
        row["value"] = value.decode("utf-8", "replace")
    return orjson.dumps(row)


def encode_kept_letter(headers: dict[str, bytes], value: bytes | None) -> bytes:
    """Write a dead letter of the topic as one JSON line; its headers say where it stood."""
    source = {
        "topic": headers.get("topic", b"").decode("utf-8", "replace"),
        "partition": int(headers.get("partition", b"-1")),
        "offset": int(headers.get("offset", b"-1")),
    }
    return encode_dead_letter(source, headers, value)


def count_reasons(refused: Path) -> Counter[str]:
    """Count the dead letters of a file by their reason."""
    with refused.open("rb") as rows:
        return Counter(orjson.loads(row)["reason"] for row in rows)
