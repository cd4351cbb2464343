"""Assessments: what was said of a trace of MLflow's, in its `info.assessments`: by people, judges, and code.

{assessment_name, source: {source_type: "HUMAN", source_id}, feedback: {value: true}, rationale, create_time, valid}
"""

from collections.abc import Iterator, Set

from turnsignal.stream.formats.human_scores import JUDGED, HumanScore, human_scores_of
from turnsignal.stream.formats.protocol import Assumed, Record
from turnsignal.stream.formats.values import first, items, mapping, short_name

EXPECTED = "expectations (what an answer should have been) left out"
REPLACED = "assessments that were replaced by later ones left out"
OF_STEPS = "assessments of searches and tools left out"
FAILED = "assessments that failed left out"
_ABOUT = ("span_id", "trace_id")


def assessed(info: Record, trace: str, steps: Set[str | None], assumed: Assumed) -> Iterator[HumanScore]:
    """Give the scores that people gave a trace, or one of its spans; all others are counted.

    steps: ids of the spans that answer nobody.
    """
    for item in items(info.get("assessments")):
        assessment = mapping(item)
        source, feedback = mapping(assessment.get("source")), mapping(assessment.get("feedback"))
        if "expectation" in assessment and not feedback:
            assumed[EXPECTED] += 1
        elif str(source.get("source_type")).upper() != "HUMAN":
            assumed[JUDGED] += 1
        elif assessment.get("valid") is False:
            assumed[REPLACED] += 1
        elif assessment.get("span_id") and short_name(assessment["span_id"]) in steps:
            assumed[OF_STEPS] += 1
        elif feedback.get("error") or feedback.get("value") is None:
            assumed[FAILED] += 1
        else:
            yield from human_scores_of(_score(assessment, feedback["value"], trace), "mlflow", _ABOUT, assumed)


def _score(assessment: Record, value: object, trace: str) -> Record:
    return {
        "id": assessment.get("assessment_id"),
        "trace_id": trace,
        "span_id": assessment.get("span_id"),
        "name": first(assessment, "assessment_name", "name"),
        "value": value,
        "data_type": "BOOLEAN" if isinstance(value, bool) else "",
        "timestamp": first(assessment, "create_time", "create_time_ms", "last_update_time"),
        "comment": assessment.get("rationale"),
        "user_id": mapping(assessment.get("source")).get("source_id"),
    }
