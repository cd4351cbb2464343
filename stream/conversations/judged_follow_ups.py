"""How judges of follow-ups read those of one conversation, by the verdicts that it remembers."""

from collections.abc import Sequence
from typing import NamedTuple

from turnsignal.stream.conversations.judged import LEFT_OUT, PARTS, JudgedMemory, VerdictMark
from turnsignal.stream.records.scores import FOLLOW_UP

_CLARIFIED = PARTS // 2  # a follow-up whose value is below asks for clarification
_BY = f"{FOLLOW_UP}(by="


class JudgedFollowUps(NamedTuple):
    """How a judge read a conversation's follow-ups.

    scorer: as which it counts; went_on: whether each one that it read went on, in order of event time; left_out:
    whether it was not to be asked about some; inclusion: the probability with which it was asked about all of them.
    """

    scorer: str
    went_on: list[bool]
    left_out: bool
    inclusion: float


def judged_follow_ups(memory: JudgedMemory) -> list[JudgedFollowUps]:
    """Return how each judge of follow-ups read those that it was given, in the order of their names."""
    judges = [number for number, scorer in enumerate(memory.scorers) if scorer.startswith(_BY)]
    if not judges:
        return []
    marks: dict[int, list[VerdictMark]] = {number: [] for number in judges}
    for exchange in memory.current():
        for number, mark in exchange.counted().items():
            if number in marks:
                marks[number].append(mark)
    return [_read(memory.scorers[number], of_one) for number, of_one in marks.items()]


def _read(scorer: str, marks: Sequence[VerdictMark]) -> JudgedFollowUps:
    # Shares are parts of one order of conversations: who is asked at the smallest of them is asked at all.
    largest = max((mark.weight for mark in marks if mark.value >= 0), default=PARTS)
    went_on = [mark.value >= _CLARIFIED for mark in marks if mark.value >= 0]
    return JudgedFollowUps(scorer, went_on, any(mark.value == LEFT_OUT for mark in marks), PARTS / largest)
