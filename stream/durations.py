"""Durations as people write them in a suite: `90`, `"30m"`, `"24h"`; in seconds everywhere else."""

import re
from typing import Annotated

from pydantic import BeforeValidator, Field

_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}


def _seconds(value: object) -> float:
    """Read `90`, `"30m"`, `"24h"`; pydantic turns the ValueError into its own."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*(ms|s|m|h|d)\s*", value) if isinstance(value, str) else None
    if match is None:
        msg = 'a duration like 90, "30m", "24h" or "7d" is expected'
        raise ValueError(msg)
    return float(match[1]) * _UNITS[match[2]]


Duration = Annotated[float, BeforeValidator(_seconds), Field(gt=0)]
