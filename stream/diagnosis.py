"""Diagnosis: relevancy, follow-ups and instructions read together, with one sentence that says where to work.

Why together: each of the three looks at another part of the system, so their combination names the part (Hoffer). Why a
table: 27 rows can be read, argued about and tested one by one; a formula could not.
"""

from enum import StrEnum
from types import MappingProxyType
from typing import NamedTuple


class Level(StrEnum):
    """Say how one of the three signals stands."""

    HIGH = "high"
    LOW = "low"
    UNKNOWN = "unknown"  #: nothing was scored


class WorkOn(StrEnum):
    """Name the part of the system to work on first."""

    GENERATION = "generation"  #: the model and how it uses its documents
    RETRIEVAL = "retrieval"  #: search, reranking, the corpus
    PROMPT = "prompt"  #: the instructions and the checks on them
    NONE = "none"
    UNKNOWN = "unknown"  #: more must be measured first


#: Said of a conversation that ended without an answer, in place of its row's sentence.
NO_ANSWER = "The last answer failed, was empty or never came; look for errors and refusals before anything else."


class Diagnosis(NamedTuple):
    """One row of the table.

    row: `relevancy/follow_ups/instructions`, such as `high/low/high`, a metric label; sentence: for a product manager.
    """

    row: str
    sentence: str
    work_on: WorkOn


_HIGH, _LOW, _UNKNOWN = Level.HIGH, Level.LOW, Level.UNKNOWN  # which to find in its class takes longer than to compare
_LETTERS = {"h": _HIGH, "l": _LOW, "u": _UNKNOWN}

#: Letters: relevancy, follow-ups, instructions. Rows marked Hoffer carry the meaning of its table; the others are ours.
_ROWS = {
    "hhh": (WorkOn.NONE, "Everything works: good documents, content users, instructions kept."),  # Hoffer
    "hhl": (
        WorkOn.PROMPT,
        "The right documents came and users were helped, but the formatting rules are broken; work on the prompt.",
    ),  # Hoffer
    "hlh": (
        WorkOn.GENERATION,
        "Retrieval is good, yet users have to ask again: the answers are poor; work on generation.",
    ),  # Hoffer
    "hll": (
        WorkOn.GENERATION,
        "Retrieval is good, but answers neither help nor keep the instructions; work on generation, then the prompt.",
    ),
    "lhh": (
        WorkOn.RETRIEVAL,
        "Retrieval is poor and the model makes up for it; work on retrieval before that luck ends.",
    ),  # Hoffer
    "lhl": (
        WorkOn.RETRIEVAL,
        "Users are helped in spite of poor retrieval and broken instructions; work on retrieval, then the prompt.",
    ),
    "llh": (
        WorkOn.RETRIEVAL,
        "The form is right but the content is not: poor documents lead to poor answers; work on retrieval.",
    ),
    "lll": (
        WorkOn.RETRIEVAL,
        "Several things fail at once: documents, answers and format; work on retrieval first, the rest builds on it.",
    ),  # Hoffer
    "hhu": (
        WorkOn.NONE,
        "Documents and answers are good; no instruction was checked, so add checks before calling it done.",
    ),
    "hlu": (
        WorkOn.GENERATION,
        "Retrieval is good, yet users have to ask again; work on generation, and add instruction checks.",
    ),
    "lhu": (
        WorkOn.RETRIEVAL,
        "Users are helped in spite of poor retrieval; work on retrieval, and add instruction checks.",
    ),
    "llu": (
        WorkOn.RETRIEVAL,
        "Poor documents and users who ask again; work on retrieval first, and add instruction checks.",
    ),
    "huh": (
        WorkOn.UNKNOWN,
        "Documents and instructions are fine; whether users were helped is not known until they write again.",
    ),
    "hul": (
        WorkOn.PROMPT,
        "The documents are right but instructions are broken; work on the prompt while users' reactions are awaited.",
    ),
    "luh": (
        WorkOn.RETRIEVAL,
        "Instructions are kept, but retrieval is poor; work on retrieval while users' reactions are awaited.",
    ),
    "lul": (
        WorkOn.RETRIEVAL,
        "Retrieval is poor and instructions are broken; work on retrieval, then the prompt, whatever users say.",
    ),
    "uhh": (
        WorkOn.NONE,
        "Users are content and instructions are kept; retrieval was not scored, nothing calls for work.",
    ),
    "uhl": (
        WorkOn.PROMPT,
        "Users are helped but instructions are broken; work on the prompt. Retrieval was not scored.",
    ),
    "ulh": (
        WorkOn.UNKNOWN,
        "Users have to ask again; score retrieval to learn whether to work on it or on generation.",
    ),
    "ull": (
        WorkOn.PROMPT,
        "Users have to ask again and instructions are broken; work on the prompt, and score retrieval to see further.",
    ),
    "huu": (
        WorkOn.UNKNOWN,
        "Retrieval is good; nothing is known of answers and instructions, so wait for follow-ups and add checks.",
    ),
    "luu": (WorkOn.RETRIEVAL, "Retrieval is poor, and that is all that is known; work on retrieval."),
    "uhu": (WorkOn.NONE, "Users are content; nothing else was scored, nothing calls for work."),
    "ulu": (
        WorkOn.UNKNOWN,
        "Users have to ask again, and nothing else was scored; score retrieval and instructions to see where to work.",
    ),
    "uuh": (
        WorkOn.UNKNOWN,
        "Instructions are kept; neither retrieval nor follow-ups were scored, so where to work is not known.",
    ),
    "uul": (WorkOn.PROMPT, "Instructions are broken, and that is all that is known; work on the prompt."),
    "uuu": (WorkOn.UNKNOWN, "Nothing was scored, so where to work is not known."),
}

DIAGNOSES = MappingProxyType(
    {
        (first, second, third): Diagnosis(f"{first}/{second}/{third}", sentence, work_on)
        for letters, (work_on, sentence) in _ROWS.items()
        for first, second, third in [(_LETTERS[letters[0]], _LETTERS[letters[1]], _LETTERS[letters[2]])]
    }
)


#: Of what became worse among what is watched: relevancy, follow-ups, instructions. All that is known of the others is
#: that nothing called them worse: they may be as bad as before, or answers that fail cite nothing that could be ranked.
_DECLINES = {
    "hhh": "None of relevancy, follow-ups and instructions had become worse.",
    "lhh": "What answers cite stands lower in their rankings, nothing else became worse; work on retrieval.",
    "hlh": (
        "Users have to ask again more often, no ranking or instruction that is watched became worse; look for errors "
        "and refusals among the answers first, then work on generation."
    ),
    "hhl": "Instructions are kept less, rankings and follow-ups did not become worse; work on the prompt.",
    "llh": "Rankings became worse and users have to ask again more often; work on retrieval first.",
    "lhl": "Rankings became worse and instructions are kept less; work on retrieval, then the prompt.",
    "hll": (
        "Users have to ask again more often and instructions are kept less, no ranking that is watched became worse; "
        "look for errors and refusals among the answers first, then work on generation and the prompt."
    ),
    "lll": (
        "Rankings, answers and format became worse at once; look for errors and refusals among the answers first, then "
        "work on retrieval, the rest builds on it."
    ),
}


def describe_decline(relevancy: bool, follow_ups: bool, instructions: bool) -> str:
    """Say where to work when some of the three became worse, and no more of the others than that they did not."""
    return _DECLINES["".join("l" if worse else "h" for worse in (relevancy, follow_ups, instructions))]


def diagnose(relevancy: Level, follow_ups: Level, instructions: Level) -> Diagnosis:
    """Look the combination up.

    >>> diagnose(Level.HIGH, Level.LOW, Level.HIGH).work_on
    <WorkOn.GENERATION: 'generation'>
    """
    return DIAGNOSES[relevancy, follow_ups, instructions]


def level(value: float | None, threshold: float) -> Level:
    """Place a value (0–1, None when nothing was scored) against the suite's threshold; the threshold itself is high."""
    if value is None or value != value:  # NaN is no value either
        return _UNKNOWN
    return _HIGH if value >= threshold else _LOW
