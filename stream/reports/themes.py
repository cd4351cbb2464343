"""Themes: what is said of each figure of a comparison that moved; several that speak of one thing share a sentence.

The sentence says which way the figure moved; whether that is worse, better or neither is the claim's to say. Where the
words themselves call it worse or better, others stand for a figure that is neither.
"""

from typing import NamedTuple

from turnsignal.stream.records.scores import (
    CITED,
    CITED_ARTICLE,
    CLARIFICATION_FREE,
    DANGLING,
    FOLLOW_UP,
    FOLLOW_UP_PRECISION,
    ROUTING,
)
from turnsignal.stream.statistics.directions import (
    ANSWER_SECONDS,
    ASKS_AGAIN,
    ASKS_BACK,
    CITATIONS,
    CITES_ALL,
    DOCUMENTS,
    FAILED,
    FALL,
    FREE_CONVERSATIONS,
    IN_PARTS,
    LEFTOVERS,
    NO_ANSWER,
    ONLY_ASKS,
    RISE,
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

    figures: the first that moved stands in the sentence; rises, falls: what is said where they do; falling: those of
    the figures that fall where the others rise; unjudged: what is said of both ways where it is neither worse nor
    better, for `rises` and `falls` that say so; rests_on: what the figures alone know, which is said beside what is
    better: answers that say nothing are thanked for, too, and what is cited need not be right; or_else: what moves the
    figures in the same way, which is said beside what is worse.
    """

    figures: tuple[str, ...]
    rises: str
    falls: str
    falling: tuple[str, ...] = ()
    unjudged: tuple[str, str] | None = None
    rests_on: str = ""
    or_else: str = ""

    def way(self, figure: str, value: float) -> int:
        """Say whether the theme rises or falls where one of its figures changes by so much."""
        return RISE if (value > 0) != (figure in self.falling) else FALL

    def phrase(self, way: int, *, judged: bool) -> str:
        """Return what is said of a release; judged: it is worse or better, and not merely changed."""
        rises, falls = (self.rises, self.falls) if judged or self.unjudged is None else self.unjudged
        return rises if way == RISE else falls


#: Answers that cite less waste more of the same documents; beside a measure that moved, it is part of `RANKING`.
WASTE = Theme((WASTED,), "cites less of what it retrieves", "cites more of what it retrieves")
RANKING = Theme(
    (),
    "retrieves better",
    "retrieves worse",
    unjudged=("scores higher on retrieval", "scores lower on retrieval"),
    rests_on="by where what is cited stood, and by that alone",
    or_else="or cites the wrong ones of what it retrieves",
)
USERS = Theme(
    (CLARIFICATION_FREE, FREE_CONVERSATIONS, FOLLOW_UP, FOLLOW_UP_PRECISION, "resolved", "abandoned"),
    "helps its users more",
    "helps its users less",
    falling=("abandoned",),
    unjudged=("is met with good follow-ups more often", "is met with good follow-ups less often"),
    rests_on="by what they wrote next, and by that alone",
)
#: From resolved it is worse, from abandoned better; where those moved, `USERS` says so.
CLARIFIED = Theme(
    ("clarified",),
    "has more conversations that go on after a clarification",
    "has fewer conversations that go on after a clarification",
)
INSTRUCTIONS = Theme(("compliance",), "keeps instructions more often", "breaks instructions more often")
#: In the order in which they are said where changes are of one size. Measures join `RANKING`, checks `INSTRUCTIONS`.
THEMES = (
    Theme(
        (FAILED, "unanswered", NO_ANSWER, UNANSWERED_OF_ALL),
        "fails to answer more often",
        "fails to answer less often",
        rests_on="by the words of its answers, and by that alone",
    ),
    Theme(
        (ONLY_ASKS,),
        "asks something back and never answers in more conversations",
        "asks something back and never answers in fewer conversations",
    ),
    Theme(
        (ASKS_AGAIN,),
        "asks the same again more often, though its user replied",
        "asks the same again less often, though its user replied",
    ),
    Theme(
        (SAME_LANGUAGE,),
        "answers less often in another language than the question's",
        "answers more often in another language than the question's",
    ),
    Theme(
        (LEFTOVERS,),
        "shows users more tags of the model, or variables that nobody filled in",
        "shows users fewer tags of the model, or variables that nobody filled in",
    ),
    Theme((ROUTING,), "asks the right agents more often", "asks the right agents less often"),
    Theme((CITED_ARTICLE,), "cites the right article more often", "cites the right article less often"),
    RANKING,
    Theme(
        (SAME_DOCUMENTS,),
        "retrieves the same few documents more often, whatever is asked",
        "retrieves the same few documents less often, whatever is asked",
    ),
    USERS,
    Theme((VOTE,), "gets more thumbs up", "gets fewer thumbs up"),
    Theme(
        (SAME_FIRST, SHORT_FIRST),
        "begins more often with short answers, or with the same to many",
        "begins less often with short answers, or with the same to many",
    ),
    Theme((DANGLING,), "invents more citations", "invents fewer citations"),
    Theme((CITED,), "cites documents more often", "cites documents less often"),
    WASTE,
    Theme((CITES_ALL,), "cites all of its documents more often", "cites all of its documents less often"),
    INSTRUCTIONS,
    Theme((WITH_DOCUMENTS,), "finds documents more often", "finds documents less often"),
    Theme((CITATIONS,), "cites more documents in an answer", "cites fewer documents in an answer"),
    Theme(
        (ASKS_BACK,),
        "asks something back more often, before it answers",
        "asks something back less often, before it answers",
    ),
    Theme((IN_PARTS,), "answers more often in several messages", "answers less often in several messages"),
    Theme((DOCUMENTS,), "passes more documents", "passes fewer documents"),
    Theme((ANSWER_SECONDS,), "answers more slowly", "answers faster"),
    Theme(("silent",), "leaves more users silent", "leaves fewer users silent"),
    CLARIFIED,
)
OTHER = Theme((), "leaves more to score", "leaves less to score")
