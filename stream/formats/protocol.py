"""What every format gives: whole turns, or the calls from which `assembly` makes turns.

A log of calls repeats what was said before, lists planners and tools beside what the user saw, and names documents in
records of their own. A leaf only says what its records are; what a conversation is, is decided once, in assembly.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, Protocol

import msgspec

Record = Mapping[str, Any]
_QUOTED = re.compile("%(25|2F|23)")  #: what `join_origin` writes
#: One turn with the fields of `turnsignal schema turn`, to be written as JSON.
TurnFields = dict[str, Any]
#: What was assumed or left out, in words, and how often.
Assumed = Counter[str]


class CsvRow(dict[str, Any]):
    """A row of CSV: the cells that hold something, by the names of their columns. columns: all names."""

    columns: frozenset[str] = frozenset()


class Message(msgspec.Struct, omit_defaults=True):
    """One message of a call.

    role: as our turns have it; id, time: its own, where the log has them (seconds since 1970); documents: what was
    retrieved for it; metadata: citations delivered beside its text; fields: more of a turn's fields; called: ids of
    the tools' calls that it is, where it is no answer; is_cut: whether it ended at the most that was allowed.
    """

    role: str
    text: str
    id: str | None = None
    time: float | None = None
    documents: list[dict[str, Any]] = []
    metadata: dict[str, Any] | None = None
    fields: dict[str, Any] = {}
    called: list[str] = []
    is_cut: bool = False


class Call(msgspec.Struct, omit_defaults=True):
    """One call of a model, one retrieval, or what else a log says of both.

    origin: ids of its own behind the format's name, unique in its source; kind: an answer; the whole of a trace, whose
    input and output are what the user saw; an inner one, which may be that where nothing above it is logged; a
    retrieval; a reranking; context, which only names the conversation and the fields of others in its trace; or a
    request and a reply that stand in records of their own. session: the conversation, where no call of the trace names
    one; named: the conversation by an id that others may have as well, so that their words must go on from each other,
    too; trace: what belongs to one request; response, previous: its own id and that of the response that it follows;
    returned: ids of the tools' calls whose results are the last that it sends;
    within: the run that it is a step of, where that is not read as a trace; parent: the origin of what a retrieval is a
    step of;
    partial: one of several pieces of the same response; start, end: seconds since 1970; inputs: the history as it was
    sent; typed: what its user typed, where a program put the question, or what a retrieval looked for; fields:
    assistant, version, model and so on of its turns; line: its number in the log, in the order in which calls stand.
    """

    origin: str
    kind: Literal["answer", "whole", "inner", "retrieval", "reranking", "context", "request", "reply"] = "answer"
    trace: str | None = None
    within: str | None = None
    parent: str | None = None
    conversation: str | None = None
    session: str | None = None
    named: str | None = None
    response: str | None = None
    previous: str | None = None
    returned: list[str] = []
    partial: bool = False
    start: float | None = None
    end: float | None = None
    inputs: list[Message] = []
    outputs: list[Message] = []
    typed: str | None = None
    documents: list[dict[str, Any]] = []
    fields: dict[str, Any] = {}
    line: int = 0


class Row(msgspec.Struct, omit_defaults=True):
    """A message that stands alone in a record, with its conversation.

    turn: its fields; line: its number in the log; made: the id that a store gave it, "" for none, where it has no time;
    step: what it is where it is no turn: a tool's call, or what a tool returned, with the documents in that, or the
    request to answer once more, so that the answer before it was none.
    """

    turn: Any
    line: int = 0
    made: str | None = None
    step: Literal["", "call", "result", "retry"] = ""
    documents: list[dict[str, Any]] = []


class LogFormat(Protocol):
    """A kind of log. Frozen values without state; `FORMATS` lists one of each."""

    def looks_like(self, sample: Sequence[Record], /) -> str:
        """Say by what the first records of a file are recognised, in a few words; empty when they are not.

        Must not raise, whatever the records hold.
        """
        ...

    def read(self, record: Record, assumed: Assumed) -> Iterator[Any]:
        """Give what one record holds: `Call`, `TurnFields`, a `Row`, or a `HumanScore` (of `scores`) of an answer.

        A record that is not for the user's eyes gives nothing and is counted.

        Called once for each record of a file. Raises Refused with the reason when the record cannot be read.
        """
        ...

    def origin(self, turn_id: str) -> dict[str, str]:
        """Return the ids in the source that a turn's id was made of, by their names there, so that scores find back."""
        ...


def join_origin(*ids: str) -> str:
    """Put ids of a source together so that `split_origin` finds them again, whatever they hold.

    >>> join_origin("order/17", "o2")
    'order%2F17/o2'
    """
    return "/".join(named.replace("%", "%25").replace("/", "%2F").replace("#", "%23") for named in ids)


def split_origin(turn_id: str, names: Sequence[str]) -> dict[str, str]:
    """Take a turn id of the shape `format:A/B` apart; names: what its parts are called in the source.

    >>> split_origin("langfuse:t1/o2#0", ("trace_id", "observation_id"))
    {'trace_id': 't1', 'observation_id': 'o2'}
    """
    parts = turn_id.partition(":")[2].partition("#")[0].split("/", len(names) - 1)
    return {name: _QUOTED.sub(_unquoted, part) for name, part in zip(names, parts, strict=False) if part}


def _unquoted(quoted: re.Match[str]) -> str:
    return chr(int(quoted[1], 16))
