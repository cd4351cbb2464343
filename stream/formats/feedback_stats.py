"""Feedback stats: what runs of LangSmith hold of the feedback on them, summed up by its key.

    {run_type: "chain", feedback_stats: {user_score: {n: 1, avg: 1.0, sources: ['{"type": "app"}']}}}

One score alone is that score. It counts only where the feedback itself is not given, which says it of all.
"""

from collections.abc import Iterator

from turnsignal.stream.formats.human_scores import JUDGED, HumanScore, human_scores_of, is_machine, names_vote
from turnsignal.stream.formats.protocol import Assumed, Record
from turnsignal.stream.formats.values import items, mapping

_EXPORT = "(give the feedback itself, as list_feedback exports it, beside the runs)"
SEVERAL = f"feedback_stats that sum up several scores {_EXPORT} left out"
NOBODYS = f"feedback_stats that do not say whether people or evaluators gave the score {_EXPORT} left out"
BESIDE = "feedback_stats of runs whose feedback is given itself left out"


def scores_in_stats(record: Record, assumed: Assumed) -> Iterator[HumanScore]:
    """Give the single scores by people that the sums of a run are; all others are counted."""
    for key, value in mapping(record.get("feedback_stats")).items():
        stats = mapping(value)
        times = stats.get("n")
        if not isinstance(times, int | float) or times < 1:
            continue
        sources = [str(mapping(source).get("type")) for source in items(stats.get("sources")) if mapping(source)]
        if any(map(is_machine, sources)):
            assumed[JUDGED] += 1
        elif times != 1:
            assumed[SEVERAL] += 1
        elif not sources and not names_vote(key):
            assumed[NOBODYS] += 1
        else:
            for score in human_scores_of(_score(record, key, stats), "langsmith", ("run_id", "trace_id"), assumed):
                score.summed = True
                yield score


def without_stats(assumed: Assumed, summed: int) -> None:
    """Say of sums that they do not count beside the feedback, which says all that they lack. summed: single scores."""
    assumed[BESIDE] += summed + sum(assumed.pop(what, 0) for what in (SEVERAL, NOBODYS))


def _score(record: Record, key: str, stats: Record) -> Record:
    return {
        "id": f"{record.get('id')}:{key}",
        "run_id": record.get("id"),
        "trace_id": record.get("trace_id"),
        "key": key,
        "score": stats.get("avg"),
        "value": next(iter(mapping(stats.get("values"))), None),
        "comment": next((text for text in items(stats.get("comments")) if isinstance(text, str)), None),
    }
