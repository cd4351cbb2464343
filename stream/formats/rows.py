"""Rows: messages that stand one a record → the turns of their conversation, by the rules that hold for calls' messages.

user       How do I pay?                           a turn
assistant  Let me check.          calls a tool     a remark on the way
tool       [{"id": "kb-1", …}]                     its documents are the answer's
assistant  You can                id: 7            an earlier state of the next one
assistant  You can pay by card.   id: 7            a turn, with kb-1
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from turnsignal.stream.formats.documents import found_in, once
from turnsignal.stream.formats.messages import blocks_in, role_of, said_in
from turnsignal.stream.formats.protocol import Assumed, CsvRow, Message, Record, Row, TurnFields
from turnsignal.stream.formats.values import first, items, seconds

FOR_NOBODY = "messages that are for no user's eyes left out"
STATES = "earlier states of messages that came again under their id left out"
_RESULTS = "results of tools left out"
_SAID = ("text", "content", "parts")
_CALLED = ("tool_calls", "tool_call_id", "function_call")
_CALL, _RESULT = "function_call", "function_call_output"
_ITEMS = (_CALL, _RESULT, "reasoning", "file_search_call", "web_search_call")  #: that stand between messages
_CHANGES = ("op", "__op")  #: where a change that a database logged says what it is


def with_said(record: Record) -> dict[str, Any]:
    """Return a row with what its message says in the place of JSON that holds it."""
    key = _said_key(record)
    return {**record, "text" if key == "text" else "content": _content_in(record, key)}


def _said_key(record: Record) -> str:
    return next((key for key in _SAID if record.get(key) not in (None, "")), "text")


def _content_in(record: Record, key: str) -> Any:
    content = record.get(key)
    if record.get("turn_id") in (None, ""):
        return said_in(content)
    return blocks if isinstance(blocks := blocks_in(content), list) else content  # all else a turn of our own says


def is_plain(record: Record) -> bool:
    """Say whether a row says all that there is in a plain text, right or wrong: no message has to be read in it."""
    key = _said_key(record)
    text = record.get(key)
    is_text = not isinstance(text, list | dict) and _content_in(record, key) is text
    return is_text and not any(record.get(called) for called in _CALLED)


def is_empty_answer(record: Record, columns: Iterable[str] = _SAID) -> bool:
    """Say whether a row of CSV by an assistant answers nothing: its cell for the text is empty, and it calls no tool.

    columns: that may hold the text. JSON tells an empty text from none; a row of CSV has that cell or another file.
    """
    if not isinstance(record, CsvRow) or not any(name in record.columns and name not in record for name in columns):
        return False
    return not any(record.get(called) for called in _CALLED)


def is_between(record: Record) -> bool:
    """Say whether a record is an item that stands between messages, and none: a call, a result, a thought."""
    return "role" not in record and record.get("type") in _ITEMS


def step_in(record: Record, message: Message | None) -> Row | None:
    """Return the step that a row is: a call of a tool, or what one returned. None for a message, or what is none.

    message: that was read of the row, None where it is plain. The turn of a step has what is known of it but its words.
    """
    about = {key: value for key, value in record.items() if key not in _SAID}
    if "role" not in record:
        if record.get("type") not in (_CALL, _RESULT):
            return None
        is_result = record["type"] == _RESULT
        return Row(about, step="result" if is_result else "call", documents=found_in([record]) or [])
    if message is None:
        return None
    if message.called or record.get("stop_reason") == "tool_use":
        return Row(about, step="call")
    is_known = bool(message.documents) or bool(record.get("tool_call_id")) or role_of(record["role"]) == "user"
    return Row(about, step="result", documents=message.documents) if message.role == "tool" and is_known else None


def turns_of(rows: Sequence[Row], assumed: Assumed) -> Iterator[tuple[TurnFields, int]]:
    """Give the turns of one conversation, each with its line: in their order, by their times where tools are called."""
    rows = _last_states(rows, assumed)
    if not any(row.step for row in rows):
        yield from ((row.turn, row.line) for row in rows)
        return
    times = [seconds(row.turn.get("timestamp")) for row in rows]
    order = sorted(range(len(rows)), key=lambda at: times[at] or 0.0)
    documents: list[dict[str, Any]] = []
    last: Row | None = None
    for row in (rows[at] for at in order):
        if last is not None and _is_over(last.turn, row):
            assumed[FOR_NOBODY] += 1
            last = None
        if row.step:
            documents += row.documents
            assumed[_RESULTS if row.step == "result" else FOR_NOBODY] += row.step != "retry"
            continue
        if last is not None:
            yield last.turn, last.line
        last = row
        if row.turn.get("role") == "user":
            documents = []
        elif row.turn.get("role") == "assistant" and documents and not items(row.turn.get("retrieved")):
            row.turn["retrieved"] = once(documents)
    if last is not None:
        yield last.turn, last.line


def _is_over(remark: TurnFields, step: Row) -> bool:
    """Say whether a step shows that what stands right before it was no answer."""
    if step.step == "retry":
        return remark.get("role") == "assistant"
    return step.step == "call" and _is_beside(step.turn, remark)


def _is_beside(call: TurnFields, remark: TurnFields) -> bool:
    """Say whether a call of a tool and the remark right before it are of one response, a row each."""
    is_item = "role" not in call and call.get("type") == _CALL
    is_block = call.get("id") is not None and call.get("id") == remark.get("id")
    return remark.get("role") == "assistant" and (is_item or is_block)


def goes_on(text: object, later: object) -> bool:
    """Say whether a text is the beginning of a later one, as states of an answer that is being written are."""
    return isinstance(text, str) and isinstance(later, str) and later.startswith(text)


def is_change(record: Record) -> bool:
    """Say whether a row is a change that a database logged: the message's new state, whatever it says."""
    return bool(first(record, *_CHANGES) == "u")


def _last_states(rows: Sequence[Row], assumed: Assumed) -> list[Row]:
    """Leave out what was written of a message before its last state; one that only came twice stays twice."""
    kept: dict[tuple[str, str], int] = {}
    chosen: list[Row | None] = list(rows)
    changed: set[tuple[str, str]] = set()
    for at, row in enumerate(rows):
        key = (str(row.turn.get("turn_id")), str(row.turn.get("role")))
        if row.step or (before := kept.setdefault(key, at)) == at:
            continue
        old, new = rows[before].turn.get("text"), row.turn.get("text")
        if old == new and not (is_change(row.turn) or key in changed):
            continue
        if is_change(row.turn) or goes_on(old, new):
            chosen[before], kept[key] = None, at
        elif goes_on(new, old):
            chosen[at] = None
        else:
            continue
        changed.add(key)
        assumed[STATES] += 1
    return [row for row in chosen if row is not None]
