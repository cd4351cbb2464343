"""Newest first: rows of a table that stand so, several of them in one second, so that their order is not known.

id  role       created_at               Sorted by created_at alone, the question (41) would come
42  assistant  2026-11-09 10:03:13      after its answer (42).
41  user       2026-11-09 10:03:13
"""

from collections.abc import Iterator

from turnsignal.agents.files.items import Item
from turnsignal.stream.formats.protocol import Record
from turnsignal.stream.formats.times import BEGAN, DESCENDING
from turnsignal.stream.formats.values import conversation_of, first, seconds

_IDS = ("id", "turn_id", "message_id", "messageId", "row_id")


def doubt_order(rows: Iterator[Item]) -> Iterator[Item]:
    """Give rows as they come; the last one notes where they stand newest first, and some of one time."""
    before: Item | None = None
    last: Record | None = None
    descends, falls, is_doubtful = True, False, False
    for item in rows:
        if before is not None:
            yield before
        before = item
        if not descends or not isinstance(item.value, dict):
            continue
        if last is not None:
            earlier, later = seconds(first(last, *BEGAN)), seconds(first(item.value, *BEGAN))
            descends = earlier is not None and later is not None and later <= earlier
            falls |= earlier != later
            is_doubtful |= descends and earlier == later and _is_doubtful(last, item.value)
        last = item.value
    if before is not None:
        notes = (DESCENDING,) if descends and falls and is_doubtful else ()
        yield before._replace(notes=(*before.notes, *notes))


def _is_doubtful(above: Record, below: Record) -> bool:
    """Say whether two rows of one time are of one conversation, and no ids say that the upper one was said first."""
    if conversation_of(above) != conversation_of(below):
        return False
    ids = [str(first(row, *_IDS)) for row in (above, below)]
    return not all(map(str.isdecimal, ids)) or int(ids[0]) > int(ids[1])
