"""How judges of follow-ups read those of one conversation, by the verdicts that it remembers."""

from collections.abc import Sequence
from typing import NamedTuple

from turnsignal.stream.conversations.judged import LEFT_OUT, PARTS, UNREAD, JudgedMemory, VerdictMark
from turnsignal.stream.records.scores import FOLLOW_UP, Unscored

_CLARIFIED = PARTS // 2  # a follow-up whose value is below asks for clarification
_BY = f"{FOLLOW_UP}(by="


class JudgedFollowUps(NamedTuple):
    """How a judge read a conversation's follow-ups.

    scorer: as which it counts; went_on: whether each one that it has an opinion of went on, in order of event time;
    missing: why it is not known how all of them went, None where the judge has read them all; inclusion: the
    probability with which it was asked about all of them.
    """

    scorer: str
    went_on: list[bool]
    missing: Unscored | None
    inclusion: float


def judged_follow_ups(memory: JudgedMemory, least: int = 0) -> list[JudgedFollowUps]:
    """Return how each judge of follow-ups read those of a conversation, in the order of their names.

    A follow-up is one that any of them was given: who has no verdict on it was not asked, as it was not in the suite.
    least: how many there are at least, by the rules. Those from before the first judge came into the suite are not
    expected from any, and unread.
    """
    judges = [number for number, scorer in enumerate(memory.scorers) if scorer.startswith(_BY)]
    if not judges:
        return []
    marks: dict[int, list[VerdictMark | None]] = {number: [] for number in judges}
    for exchange in memory.current():
        counted = exchange.counted()
        if marks.keys() & counted.keys():
            for number, of_one in marks.items():
                of_one.append(counted.get(number))
    early = any(mark.scorer in marks for exchange in memory.waiting() for mark in exchange.marks)
    return [
        _read(memory.scorers[number], of_one, is_partial=early or memory.is_full or len(of_one) < least)
        for number, of_one in marks.items()
    ]


def _read(scorer: str, marks: Sequence[VerdictMark | None], *, is_partial: bool) -> JudgedFollowUps:
    valued = [mark for mark in marks if mark is not None and mark.value >= 0]
    # Shares are parts of one order of conversations: who is asked at the smallest of them is asked at all.
    largest = max((mark.weight for mark in valued), default=PARTS)
    missing = None
    if any(mark is not None and mark.value == LEFT_OUT for mark in marks):
        missing = Unscored.SAMPLED_OUT
    elif is_partial or any(mark is None or mark.value == UNREAD for mark in marks):
        missing = Unscored.UNREAD
    return JudgedFollowUps(scorer, [mark.value >= _CLARIFIED for mark in valued], missing, PARTS / largest)
