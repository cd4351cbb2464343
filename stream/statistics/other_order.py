"""Other order: documents that stand otherwise than they were found: rankings move, and say nothing of the search."""

from collections.abc import Collection, Mapping

from turnsignal.stream.statistics.directions import CITES_LAST, FALL, LEAST, RISE, SORTED
from turnsignal.stream.statistics.intervals import Difference
from turnsignal.stream.statistics.promise import moved
from turnsignal.stream.statistics.record_change import RecordChange, more, note_of

_BY_SEARCH = "order=retrieval"  #: in the name of a measure of the order in which documents were found


def by_ids(beside: Mapping[str, Difference], ranked: Collection[str]) -> RecordChange | None:
    """Tell a search that ranks otherwise from documents that are logged in the order of their ids.

    beside: after − before of `OF_THE_RECORD`, where known; ranked: figures that depend on the order of documents.
    """
    in_order = beside.get(SORTED)
    if in_order is None or not any(moved(in_order, way, LEAST[SORTED]) for way in (RISE, FALL)):
        return None
    why = f"{more(in_order)} answers have their documents in the order of the ids"
    note = note_of(in_order, f"{why}, {abs(in_order.value):.0%} of them: is that the order in which they were found?")
    return RecordChange(why, dict.fromkeys(ranked, 1.0), note)


def put_last(
    deltas: Mapping[str, Difference], beside: Mapping[str, Difference], ranked: Collection[str]
) -> RecordChange | None:
    """Tell a search that ranks worse from one whose best documents are put last on purpose, next to the question.

    deltas: after − before of every figure; beside, ranked: as in `by_ids`.
    """
    last = beside.get(CITES_LAST)
    search = [deltas[name] for name in ranked if _BY_SEARCH in name and name in deltas]
    if last is None or not any(moved(last, way, LEAST[CITES_LAST]) for way in (RISE, FALL)):
        return None
    if not search or any(moved(delta, way, 0.0) for delta in search for way in (RISE, FALL)):
        return None
    why = f"{more(last)} answers cite just the last of their documents, and the search ranks them as before"
    note = note_of(last, f"{why}, {abs(last.value):.0%} of them: is the best one put last on purpose?")
    return RecordChange(why, {name: 1.0 for name in ranked if _BY_SEARCH not in name}, note, unranks=True)
