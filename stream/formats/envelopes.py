"""Envelopes: known records within another logger's lines, each under one key, or a request and its answer under two.

    {"_index": …, "_source": {"request": …, "response": …}}                       _source
    {"timestamp": …, "message": "{\\"request\\": …}"}                               message
    {"time": …, "properties": {"backendRequestBody": …, "backendResponseBody": …}} properties.backendRequestBody

No list of loggers is kept: what stands under a key is tried, and has to be read with what was asked and what was
answered. So no half of a record is taken for the whole, which would lose a user's words.
"""

from collections import Counter, deque
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple

from turnsignal.stream.errors import Refused
from turnsignal.stream.formats import FORMATS, OWN, reader_of, recognise
from turnsignal.stream.formats.beside import Beside, Occurrence, answer_in, asked_in, find_beside, find_response
from turnsignal.stream.formats.documents import DOCUMENTS, documents_in
from turnsignal.stream.formats.messages import is_pair, role_of
from turnsignal.stream.formats.protocol import Assumed, Call, LogFormat, Record, Row
from turnsignal.stream.formats.rows import is_between
from turnsignal.stream.formats.times import BEGAN
from turnsignal.stream.formats.values import (
    contexts_of,
    conversation_of,
    first,
    id_of,
    mapping,
    nested,
    owner_of,
    seconds,
)
from turnsignal.stream.text.visible import one_line

_TRIED = 50  #: records that are tried, and items of their lists
_PATHS = 60  #: of each that may lead to a record
_DEPTH = 5  #: keys and lists of such a path
_KEYS = 40  #: of an object that may lead to one,
_FIELDS = 500  #: and that are read
_COMPARED = 5  #: items of a list that are looked at to say whether it is one of messages
_HISTORIES = ("history", "chat", "conversation", "dialog")  #: in the name of a history of pairs
_SHORT = 200  #: characters of what is kept beside a request and its answer
_SHOWN = 40  #: characters of a key that are shown
_THREADS = ("thread_id", "threadId")  #: where they are numbers, a logger's own threads, and nobody's conversation
_RUNS = ("trace_id", "traceId", "parentId", "parent_id", "parent_run_id")  #: of what belongs together
_RETRIEVED = "retrieved by a search"  #: the key of the documents of a record that is one
_HIDDEN = ("isSidechain", "isMeta")  #: flags of what a program says to itself
_TIMES = {"created", "startTimeUnixNano", "start_time_unix_nano", *BEGAN}
_RAISED = (Refused, ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError)


class Enveloped(NamedTuple):
    """A format whose records stand at a path of others. path: keys, and `*` for each item of a list.

    beside: under what keys beside the last one of the path the answer stands, and the question, where the path leads to
    its history; None where everything stands there.
    """

    format: LogFormat
    path: tuple[str, ...]
    beside: Beside | None = None

    def looks_like(self, sample: Sequence[Record], /) -> str:
        """Say by what the records at the path are recognised."""
        return self.format.looks_like([inner for record in sample for inner in self.unwrap(record)])

    def read(self, record: Record, assumed: Assumed) -> Iterator[Any]:
        """Give what the format reads in the records at the path; without any the record is left out and counted."""
        is_empty = True
        for inner, holders in self._unwrapped(record):
            is_empty = False
            run = next((named for each in holders if (named := id_of(first(each, *_RUNS))) is not None), None)
            if _RETRIEVED in inner:
                conversation = owner_of(inner)
                documents = inner[_RETRIEVED]
                yield Call("retrieval:", "retrieval", within=run, conversation=conversation, documents=documents)
                continue
            for part in self.format.read(inner, assumed):
                if isinstance(part, Call):
                    part.within = run
                yield part
        assumed[f"records that hold no object in {self.where} left out"] += is_empty

    def origin(self, turn_id: str) -> dict[str, str]:
        """Return the ids that the format gives."""
        return self.format.origin(turn_id)

    @property
    def where(self) -> str:
        """The path, as people write one."""
        parts = [one_line(part, _SHOWN) for part in self.path]
        others = [one_line(key, _SHOWN) for key in self.beside or () if key]
        return " and ".join([".".join(parts), *others])

    def unwrap(self, record: Record) -> Iterator[dict[str, Any]]:
        """Give the records at the path, with the time and the ids of what holds them where they have none."""
        yield from (inner for inner, _ in self._unwrapped(record))

    def _unwrapped(self, record: Record) -> Iterator[tuple[dict[str, Any], Sequence[Record]]]:
        """Give the records at the path, each with what holds it."""
        for value, holders in _at(record, self.path, optional=self.beside is not None):
            if any(holder.get(flag) is True for holder in holders for flag in _HIDDEN):
                continue
            inner = {"messages": value} if _are_messages(value) else value
            beside = holders
            if self.beside is not None:
                inner, beside = self._exchange(Occurrence(value, holders)), holders[1:]
            if isinstance(inner, dict):
                yield _completed(inner, beside), holders

    def _exchange(self, occurrence: Occurrence) -> dict[str, Any] | None:
        """Put a request and its answer together, with what is short beside them; None without either."""
        question, answer = self.beside or Beside("", "")
        given = occurrence.beside(answer)
        if isinstance(occurrence.messages, dict):
            request = occurrence.messages
        else:
            request = {"messages": asked_in(occurrence, question)}
        if not request.get("messages", True) and given is None:
            return None
        beside = occurrence.holders[0]
        taken = (self.path[-1], question, answer)
        kept = {
            key: value
            for key, value in beside.items()
            if key not in taken and (_is_short(value) or key in ("metadata", *DOCUMENTS))
        }
        if not _are_messages(nested(occurrence.messages)) and (documents := _retrieved_in(request, given)):
            return {**kept, _RETRIEVED: documents}
        retrieved = {key: value for key, value in mapping(given).items() if key in DOCUMENTS}
        return {**retrieved, **kept, "request": request, "response": answer_in(given)}


class Opened(NamedTuple):
    """How records of known formats stand in others. why: by what they are recognised; whole: how many are read."""

    names: list[str]
    why: str
    format: Enveloped
    whole: int

    @property
    def name(self) -> str:
        """The names of the formats and where their records stand."""
        return f"{', '.join(self.names)} in {self.format.where}"


def open_envelopes(sample: Sequence[Record]) -> Opened | None:
    """Find the path under which most of the first records hold one that a format reads; None without any."""
    tried = [_parsed(record, _DEPTH) for record in sample[:_TRIED]]
    held = Counter(path for record in tried for path in _paths(record))
    paths = sorted(path for path, _ in held.most_common(_PATHS))
    opened = [each for path in paths if (each := _try(tried, path)) is not None]
    opened = opened or [each for path in paths if (each := _try_beside(tried, path)) is not None]
    opened = [each for each in opened if not any(_holds(other, each) for other in opened)]
    chosen = max(opened, key=lambda each: (each.whole, -len(each.format.path)), default=None)
    if chosen is None or not (twins := [each.format for each in opened if _are_twins(each.format, chosen.format)]):
        return chosen
    others = " and ".join(each.where for each in twins)
    return chosen._replace(why=f"{chosen.why}; those in {others} are left out")


def _holds(whole: Opened, part: Opened) -> bool:
    """Say whether what is read in one place is read as a whole in what holds it, by the same format."""
    path, inner = whole.format.path, part.format.path
    return whole.names == part.names and len(path) < len(inner) and inner[: len(path)] == path


def _are_twins(one: Enveloped, other: Enveloped) -> bool:
    """Say whether records have two of a kind, such as conversation_a and conversation_b."""
    return one.path != other.path and [part[:-1] for part in one.path] == [part[:-1] for part in other.path]


def holds_history(sample: Sequence[Record]) -> bool:
    """Say whether records hold the history of a question that stands beside it with its answer."""
    keys = {key for record in sample[:_TRIED] for key, value in record.items() if _are_messages(nested(value))}
    return any(_is_history(sample[:_TRIED], (key,)) for key in keys)


def read_whole(reader: LogFormat, sample: Sequence[Record]) -> int:
    """Return how many of the first records are read with what was asked and answered; 0 where fewer than half are.

    Records in which nothing is said do not count; turns have to be of both sides.
    """
    whole = partly = 0
    speakers: set[str] = set()
    for record in sample[:_TRIED]:
        sides = _sides_of(reader, record, speakers)
        whole += sides == 2
        partly += sides == 1
    is_one_sided = partly > whole or (bool(speakers) and not {"user", "assistant"} <= speakers)
    return 0 if is_one_sided else whole


def _try_beside(sample: Sequence[Record], path: tuple[str, ...]) -> Opened | None:
    """Return how what was asked at a path and what was answered beside it are read; None where nothing was."""
    occurrences = [Occurrence(*each) for record in sample for each in islice(_at(record, path, optional=True), _TRIED)]
    beside = find_beside(occurrences[:_TRIED], path)
    if beside is None or not beside.answer:
        beside = find_response(occurrences[:_TRIED])
    if beside is None:
        return None
    if beside.question and any(isinstance(each.messages, dict) for each in occurrences):
        return None  # an object beside a question, such as its rating, is no history of it
    return _try(sample, path, beside)


def _try(sample: Sequence[Record], path: tuple[str, ...], beside: Beside | None = None) -> Opened | None:
    """Return how the records at a path are read; None where no format reads most of them whole."""
    if beside is None and _is_history(sample, path):
        return None
    probe = Enveloped(FORMATS[OWN], path, beside)
    inners = list(islice((inner for record in sample for inner in probe.unwrap(record)), _TRIED))
    messages = [inner for inner in inners if not is_between(inner)]
    if sum(map(_is_turn, messages)) * 2 > len(messages):
        fitting = {OWN: "messages with their conversation"}
    else:
        fitting = recognise(inners)
    reader = reader_of(list(fitting))
    if reader is None or (whole := read_whole(reader, inners)) == 0:
        return None
    return Opened(list(fitting), "; ".join(fitting.values()), Enveloped(reader, path, beside), whole)


def _sides_of(reader: LogFormat, record: Record, speakers: set[str]) -> int:
    """Return 2 where a record is read with what was asked and answered, 1 for half of it, 0 where it says nothing.

    speakers: takes the roles of turns, which are one side each.
    """
    sides = 0
    try:
        for part in reader.read(record, Counter()):
            if isinstance(part, Row):
                if part.step:
                    continue
                part = part.turn
            if isinstance(part, dict):
                speakers.add(str(part.get("role")))
                sides = 2
            elif isinstance(part, Call) and part.partial:  # what was asked stands in one record, the answer in another
                speakers |= {each for each, said_by in (("user", part.inputs), ("assistant", part.outputs)) if said_by}
                sides = 2
            elif isinstance(part, Call) and part.kind == "answer":
                is_asked = any(message.role == "user" for message in part.inputs)
                is_answered = bool(part.outputs) or (bool(part.inputs) and part.inputs[-1].role == "assistant")
                sides = max(sides, is_asked + is_answered)
            else:
                sides = 2
    except _RAISED:
        return 0
    return sides


def _paths(record: Record) -> Iterator[tuple[str, ...]]:
    """Give the paths of a record that lead to objects, or to lists of messages, the outermost first."""
    waiting: deque[tuple[tuple[str, ...], Any]] = deque([((), record)])
    left = _PATHS
    while waiting and left > 0:
        path, value = waiting.popleft()
        if isinstance(value, list):
            below = [("*", item) for item in islice(value, 1)]
        else:
            below = list(islice(value.items(), _KEYS))
        for key, inside in below:
            if not isinstance(inside, dict | list) or not inside:
                continue
            left -= 1
            where = (*path, str(key))
            if isinstance(inside, dict) or _are_messages(inside) or _are_pairs(str(key), inside):
                yield where
            if len(where) < _DEPTH and not _are_messages(inside):
                waiting.append((where, inside))


def _parsed(value: Any, depth: int) -> Any:
    """Return a value with what its texts hold as JSON, so that none is read again for every path."""
    value = nested(value)
    if depth == 0:
        return value
    if isinstance(value, dict):
        return {key: _parsed(inside, depth - 1) for key, inside in islice(value.items(), _FIELDS)}
    return [_parsed(item, depth - 1) for item in value[:_TRIED]] if isinstance(value, list) else value


def _is_history(sample: Sequence[Record], path: tuple[str, ...]) -> bool:
    """Say whether the messages at a path are what was said before a question that stands beside them."""
    occurrences = [Occurrence(*each) for record in sample for each in islice(_at(record, path), _TRIED)]
    if not any(_are_messages(each.messages) for each in occurrences):
        return False
    beside = find_beside(occurrences[:_TRIED], path)
    return beside is not None and beside.question != ""


def _at(
    value: Any, path: Sequence[str], holders: tuple[Record, ...] = (), *, optional: bool = False
) -> Iterator[tuple[Any, Sequence[Record]]]:
    """Give what stands at a path, through JSON in texts, too, each with what holds it, from the inside out.

    optional: give None, where the last key is not there.
    """
    value = nested(value)
    if not path:
        yield value, holders
    elif isinstance(value, list):
        for item in value if path[0] == "*" else ():
            yield from _at(item, path[1:], holders, optional=optional)
    elif isinstance(value, dict) and path[0] in value:
        yield from _at(value[path[0]], path[1:], (value, *holders), optional=optional)
    elif isinstance(value, dict) and optional and len(path) == 1:
        yield None, (value, *holders)


def _completed(inner: dict[str, Any], holders: Sequence[Record]) -> dict[str, Any]:
    """Return a record with the id, the time and the conversation of the innermost of its holders that has one."""
    missing: dict[str, Any] = {}
    for holder in holders:
        if first(inner, "id") is None and (own := id_of(first(holder, "id", "_id"))) is not None:
            missing.setdefault("id", own)
        contexts = contexts_of(holder)
        if inner.keys().isdisjoint(_TIMES):
            times = (first(each, *BEGAN) for each in (holder, *contexts))
            time = next((time for time in times if seconds(time) is not None), None)
            missing |= {} if time is None else {"timestamp": missing.get("timestamp", time)}
        if "after" in holder and holder.get("op") == "u":
            missing["op"] = "u"
        if conversation_of(inner) is None:
            named = conversation_of(_without_threads(holder), *contexts)
            missing |= {} if named is None else {"session_id": missing.get("session_id", named)}
    return {**inner, **missing}


def _without_threads(holder: Record) -> Record:
    if not any(isinstance(holder.get(key), int) for key in _THREADS):
        return holder
    return {key: value for key, value in holder.items() if key not in _THREADS}


def _are_messages(value: Any) -> bool:
    """Say whether a value is a list of messages, so that it is one record itself."""
    if not isinstance(value, list) or not value:
        return False
    return all(isinstance(item, dict) and _speaks(item) for item in value[:_COMPARED])


def _are_pairs(key: str, value: Any) -> bool:
    """Say whether a history is one of questions with their answers, without roles; headers are pairs, too."""
    is_history = any(name in key.lower() for name in _HISTORIES)
    return is_history and isinstance(value, list) and all(map(is_pair, value[:_COMPARED]))


def _is_turn(record: Record) -> bool:
    """Say whether a record is one message with its conversation."""
    return "role" in record and _speaks(record) and conversation_of(record) is not None


def _speaks(record: Record) -> bool:
    return role_of(first(record, "role", "type")) is not None and not record.keys().isdisjoint(
        ("content", "text", "parts")
    )


def _retrieved_in(request: Record, given: Any) -> list[dict[str, Any]]:
    """Return the documents that a search got beside what was looked for, none where messages stand on either side."""
    is_call = "messages" in request and bool(request["messages"])
    return [] if is_call or _are_messages(nested(given)) else documents_in(given)


def _is_short(value: object) -> bool:
    return isinstance(value, bool | int | float) or (isinstance(value, str) and len(value) <= _SHORT)
