"""Regressions: incidents as records of `turnsignal.regressions`, a whole one each time that an incident changes.

    {"schema": 1, "id": "5d0c…", "event": "opened", "assistant": "support", "lane": 0, "tier": "page",
     "opened": 1750000000.0, "version": "v2", "changes": [{"scorer": "nDCG@5", "meaning": "worse", …}], …}

The key is the assistant. Of the records of one id, the newest says how things are.
"""

from collections.abc import Mapping
from typing import Any

import msgspec
import orjson

SCHEMA = 1
OPENED, ADDED, RAISED, REDUCED, CLOSED = "opened", "added", "raised", "reduced", "closed"  #: what a record is about
BACK, ACCEPTED, REBASED, FORGOTTEN = "back", "accepted", "rebased", "forgotten"  #: why an incident closed
UNKNOWN = 0.0  #: `since` of a change that was under way when an older version began to watch
SHOWN = 5  #: conversations that an incident is shown by


class ScorerChange(msgspec.Struct):
    """How one scorer has changed.

    quality: of the diagnosis that it is about; meaning: worse or changed, as none is better by itself (of
    earlier versions better, too); direction: lower or higher; scope: `usual`, against what is usual, or `version`,
    against the version `replaces`; tier: page or ticket; called, since: when its alarm opened and when the change most
    likely began, seconds since 1970, or UNKNOWN; version: which was seen then; before, after: mean values; change, low,
    high: after − before with bounds (95 %), negative where it is lower; n: values since; evidence, threshold:
    logarithms to base 10, None between versions; promise: about false alarms, in words; conversations: the worst first;
    closed: since when it is over, None while it is open; or_before: it may have begun before `since`, as it was not
    watched until then.
    """

    scorer: str
    quality: str
    meaning: str
    direction: str
    scope: str
    tier: str
    called: float
    since: float
    version: str
    replaces: str | None
    before: float
    after: float
    change: float
    low: float
    high: float
    n: int
    evidence: float | None
    threshold: float | None
    promise: str
    conversations: list[str] = []
    closed: float | None = None
    or_before: bool = False


class DiagnosisRow(msgspec.Struct):
    """A row of the diagnosis: the three qualities as levels, and what the combination says."""

    row: str
    sentence: str


class Incident(msgspec.Struct, tag_field="schema", tag=SCHEMA):
    """One change of one assistant, whatever number of its scorers show it.

    id: digest of its first alarm, never another one's; event: what this record is about; time: event time of that;
    lane: which part of a busy assistant's conversations; tier: the highest that any change had; opened, since: when the
    first alarm opened, and when the change most likely began, or UNKNOWN; version: which was served when it opened;
    before, after: the diagnosis, where after has low what became worse; instruction: the check that became worse most;
    conversations: five at most, the worst first; closed, closed_by: when it was over and why, None while it is open;
    text: all of it in lines, for people; ranks: which part of a ranking became worse most, where rankings did;
    or_before: as in `ScorerChange`.
    """

    id: str
    event: str
    time: float
    assistant: str
    lane: int
    tier: str
    opened: float
    since: float
    version: str
    changes: list[ScorerChange]
    before: DiagnosisRow | None = None
    after: DiagnosisRow | None = None
    instruction: str | None = None
    conversations: list[str] = []
    closed: float | None = None
    closed_by: str | None = None
    text: list[str] = []
    ranks: str | None = None
    or_before: bool = False

    def encode(self) -> bytes:
        """Write it as a record."""
        return orjson.dumps(self.as_json())

    def as_json(self) -> Mapping[str, Any]:
        """Return it as JSON has it."""
        content: dict[str, Any] = msgspec.to_builtins(self)
        return content


class _IncidentHead(msgspec.Struct):
    """What a record of any schema has."""

    schema: int


_decode = msgspec.json.Decoder(Incident).decode
_decode_head = msgspec.json.Decoder(_IncidentHead).decode


def schema_of(value: bytes) -> int:
    """Return the schema of a record, of whatever version; 0 where it has none."""
    try:
        return _decode_head(value).schema
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return 0


def read_incident(value: bytes) -> Incident:
    """Read a record; fields that it does not know are ignored.

    Raises ValueError that says what is wrong with it.
    """
    try:
        return _decode(value)
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
        msg = f"expected an incident of schema {SCHEMA}, got {len(value)} bytes that are none: {error}"
        raise ValueError(msg) from None
