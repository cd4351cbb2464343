"""Themes: what is said of each figure of a comparison that moved; several that speak of one thing share a sentence."""

from typing import NamedTuple

from turnsignal.stream.records.scores import CITED, CLARIFICATION_FREE, DANGLING, FOLLOW_UP, FOLLOW_UP_PRECISION
from turnsignal.stream.statistics.directions import (
    ANSWER_SECONDS,
    ASKS_BACK,
    CITATIONS,
    CITES_ALL,
    DOCUMENTS,
    FAILED,
    FREE_CONVERSATIONS,
    IN_PARTS,
    LEFTOVERS,
    NO_ANSWER,
    SAME_DOCUMENTS,
    SAME_FIRST,
    SAME_LANGUAGE,
    SHORT_FIRST,
    UNANSWERED_OF_ALL,
    VOTE,
    WASTED,
    WITH_DOCUMENTS,
)


class Theme(NamedTuple):
    """Figures that speak of one thing.

    figures: the first that moved stands in the sentence; rests_on: what the figures alone know, which is said beside
    what is better: answers that say nothing are thanked for, too, and what is cited need not be right.
    """

    figures: tuple[str, ...]
    worse: str
    better: str
    changed: str
    rests_on: str = ""


_CITES_EVERYTHING = "cites all of its documents in another share of answers"
RANKING = Theme(
    (),
    "retrieves worse",
    "retrieves better",
    "retrieves differently",
    "by where what is cited stood, and by that alone",
)
#: Answers that cite less waste more of the same documents; beside a measure that moved, it is part of `RANKING`.
WASTE = Theme(
    (WASTED,),
    "cites less of what it retrieves",
    "cites more of what it retrieves",
    "cites another share of what it retrieves",
)
_RETRIEVES_ALIKE = "retrieves the same few documents more often, whatever is asked"
_ALIKE = Theme((SAME_DOCUMENTS,), _RETRIEVES_ALIKE, _RETRIEVES_ALIKE, _RETRIEVES_ALIKE)
_ASKS = "asks something back more often, before it answers"
_IN_PARTS = "answers more often in several messages"
INSTRUCTIONS = Theme(
    ("compliance",), "breaks instructions more often", "keeps instructions better", "keeps other instructions"
)
#: In the order in which they are said where changes are of one size. Measures join `RANKING`, checks `INSTRUCTIONS`.
THEMES = (
    Theme(
        (FAILED, "unanswered", NO_ANSWER, UNANSWERED_OF_ALL),
        "fails to answer more often",
        "fails to answer less often",
        "answers another share of messages",
        "by the words of its answers, and by that alone",
    ),
    Theme(
        (SAME_LANGUAGE,),
        "answers more often in another language than the question's",
        "answers less often in another language than the question's",
        "answers another share of questions in their language",
    ),
    Theme(
        (LEFTOVERS,),
        "shows users more tags of the model, or variables that nobody filled in",
        "shows users fewer tags of the model, or variables that nobody filled in",
        "shows users other tags of the model",
    ),
    RANKING,
    _ALIKE,
    Theme(
        (CLARIFICATION_FREE, FREE_CONVERSATIONS, FOLLOW_UP, FOLLOW_UP_PRECISION, "resolved", "abandoned", "clarified"),
        "helps its users less",
        "helps its users more",
        "is met with other follow-ups",
        "by what they wrote next, and by that alone",
    ),
    Theme((VOTE,), "gets fewer thumbs up", "gets more thumbs up", "gets other votes"),
    Theme(
        (SAME_FIRST, SHORT_FIRST),
        "begins more often with short answers, or with the same to many",
        "begins less often with short answers, or with the same to many",
        "begins more often with short answers, or with the same to many",
    ),
    Theme((DANGLING,), "invents more citations", "invents fewer citations", "invents another share of its citations"),
    Theme(
        (CITED,),
        "cites documents less often",
        "cites documents more often",
        "cites documents in another share of answers",
    ),
    WASTE,
    Theme((CITES_ALL,), _CITES_EVERYTHING, _CITES_EVERYTHING, _CITES_EVERYTHING),
    INSTRUCTIONS,
    Theme((WITH_DOCUMENTS,), "finds documents less often", "finds documents more often", "finds documents elsewhere"),
    Theme(
        (CITATIONS,),
        "cites fewer documents in an answer",
        "cites more documents in an answer",
        "cites another number of documents in an answer",
    ),
    Theme((ASKS_BACK,), _ASKS, _ASKS, _ASKS),
    Theme((IN_PARTS,), _IN_PARTS, _IN_PARTS, _IN_PARTS),
    Theme((DOCUMENTS,), "passes fewer documents", "passes more documents", "passes another number of documents"),
    Theme((ANSWER_SECONDS,), "answers more slowly", "answers faster", "answers at another speed"),
    Theme(("silent",), "leaves more users silent", "leaves fewer users silent", "leaves another share of users silent"),
)
OTHER = Theme((), "is worse by another figure", "is better by another figure", "can be scored for another share")
