"""Decisions: what an operator says of incidents, as records of `turnsignal.decisions`.

    {"schema": 1, "kind": "accept", "assistant": "support", "lane": 0, "incident": "5d0c…", "time": 1750000000.0}

They have the key of the assistant's series, so that the worker that has its detectors hears them. As records they are
part of the history: a restart and a replay hear them, too.
"""

from typing import Annotated, Literal

import msgspec

SCHEMA = 1
ACCEPT: Literal["accept"] = "accept"
REBASE: Literal["rebase"] = "rebase"
MAX_ASSISTANT = 1_000  #: characters of a name


class Decision(msgspec.Struct, tag_field="schema", tag=SCHEMA):
    """An operator's word.

    kind: `accept`, the level that an incident is about is the usual one from now on; `rebase`, whatever all scorers of
    an assistant say is; lane: which part of a busy assistant's conversations; time: seconds since 1970; incident: the
    id of the one that is accepted.
    """

    kind: Literal["accept", "rebase"]
    assistant: Annotated[str, msgspec.Meta(min_length=1, max_length=MAX_ASSISTANT)]
    lane: Annotated[int, msgspec.Meta(ge=0, le=2**31)]
    time: float
    incident: str | None = None

    def encode(self) -> bytes:
        """Write it as a record."""
        return msgspec.json.encode(self)


_decode = msgspec.json.Decoder(Decision).decode


def read_decision(value: bytes) -> Decision:
    """Read a record.

    Raises ValueError that says what is wrong with it.
    """
    try:
        decision = _decode(value)
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
        raise ValueError(str(error)) from None
    if (decision.incident is None) != (decision.kind == REBASE):
        msg = f"an accepted incident is named, and no other; got {decision.kind} of {decision.incident!r}"
        raise ValueError(msg)
    return decision


def series_key(assistant: str, lane: int) -> bytes:
    """Return the key of what is about an assistant's series, on `turnsignal.series` and `turnsignal.decisions`."""
    return (f"{assistant}|{lane}" if lane else assistant).encode()
