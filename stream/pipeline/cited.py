"""Cited: whether a response that was given documents cites one of them, and whether what it cites was retrieved at all.

A mean of these is a share of answers: it says what a ranking measure cannot, which is silent where nothing is cited.
"""

from typing import NamedTuple

import orjson

from turnsignal.stream.citations.reader import Citations
from turnsignal.stream.records.scores import CITED, DANGLING, Score, Unscored


class CitedScores(NamedTuple):
    """Both scores, encoded once; scorers, values: of what is scored; unscored: scorer and reason of what is not."""

    scores: list[orjson.Fragment]
    scorers: tuple[str, ...]
    values: tuple[float, ...]
    unscored: tuple[tuple[str, Unscored], ...]


def score_cited(citations: Citations, *, given: bool, exempt: bool = False) -> CitedScores:
    """Score what a response cites.

    given: whether it was given documents; exempt: whether it need not cite, since it is prescribed word for word, or
    only asks something back.
    """
    if not given:
        return _UNSCORED[Unscored.NO_RETRIEVAL]
    if exempt:
        return _UNSCORED[Unscored.NOT_APPLICABLE]
    faults = citations.faults
    dangling = bool(faults) and any(fault.kind == "dangling" for fault in faults)
    return _SCORED[bool(citations.with_earlier), dangling]


def _encode(*scores: Score) -> CitedScores:
    given = [score for score in scores if score.value is not None]
    return CitedScores(
        [orjson.Fragment(orjson.dumps([score.as_json() for score in scores])[1:-1])],
        tuple(score.scorer for score in given),
        tuple(score.value for score in given if score.value is not None),
        tuple((score.scorer, score.unscored) for score in scores if score.unscored is not None),
    )


#: whether something retrieved is cited, whether a marker names nothing retrieved
_SCORED = {
    (True, False): _encode(Score(CITED, 1.0, "cited"), Score(DANGLING, 0.0, "resolved")),
    (True, True): _encode(Score(CITED, 1.0, "cited"), Score(DANGLING, 1.0, "dangling")),
    (False, True): _encode(Score(CITED, 0.0, "dangling"), Score(DANGLING, 1.0, "dangling")),
    (False, False): _encode(Score(CITED, 0.0, "uncited"), Score(DANGLING, unscored=Unscored.NO_CITATIONS)),
}
_UNSCORED = {
    reason: _encode(Score(CITED, unscored=reason), Score(DANGLING, unscored=reason))
    for reason in (Unscored.NO_RETRIEVAL, Unscored.NOT_APPLICABLE)
}
