"""Sure steps: what is known without a judge's model goes the way of what its model is asked.

Else, while an endpoint is down, its replies do not fit or the money is spent, only easy exchanges and those that come
again and again would have a value, and the mean would move although no answer is another one. What the rules are sure
of, and what was answered before, waits for the question before it that needs a call, as it costs nothing to wait. What
a small model is sure of is paid for, and must not be asked again after a kill; so it is decided at once, by what became
of the newest question that went on to the last step.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

from turnsignal.stream.judging.deliberation import SMALL
from turnsignal.stream.judging.docket_entries import Question
from turnsignal.stream.records.verdicts import LOST, Unjudged, Verdict


class LostValue(NamedTuple):
    """Why a question has no value although it was to have one. detail: in words."""

    reason: Unjudged
    detail: str


@dataclass(slots=True)
class AskedQuestion:
    """A question that needs a call, None before the first. lost: None while, and where, it is not."""

    question: Question | None = None
    lost: LostValue | None = None


class KnownQuestion(NamedTuple):
    """A question that needs no call. verdict: that it has; before: the last one of its judge that needs a call."""

    verdict: Verdict
    before: AskedQuestion


class SureSteps:
    """The questions of one partition that need no call, or that an earlier step has decided."""

    def __init__(self) -> None:
        self._known: dict[Question, KnownQuestion] = {}
        self._asked: dict[str, AskedQuestion] = {}  # judge → the last question that needs a call
        self._last: dict[str, LostValue] = {}  # judge → why the newest that went to its last step has no value

    def on_asked(self, question: Question) -> None:
        """Take note of a question that needs a call."""
        self._asked[question.judge] = AskedQuestion(question)

    def on_known(self, question: Question, verdict: Verdict) -> None:
        """Have a question wait that needs no call."""
        self._known[question] = KnownQuestion(verdict, self._asked.get(question.judge, AskedQuestion()))

    def on_answer(self, question: Question, verdict: Verdict) -> Verdict:
        """Return the verdict of a call: without a value where a small model decided and the last step has none now."""
        if verdict.unscored in LOST:
            self._last[question.judge] = LostValue(verdict.unscored, verdict.reasoning)
        elif verdict.decided_by != SMALL:
            self._last.pop(question.judge, None)
        elif (lost := self._last.get(question.judge)) is not None:
            return replace(verdict, value=None, label=None, claims=[], unscored=lost.reason, reasoning=lost.detail)
        return verdict

    def on_decided(self, question: Question, verdict: Verdict) -> None:
        """Take note of what became of a question."""
        if self._known.pop(question, None) is not None or verdict.unscored not in LOST:
            return
        for asked in (self._asked.get(question.judge), *(known.before for known in self._known.values())):
            if asked is not None and asked.question == question:
                asked.lost = LostValue(verdict.unscored, verdict.reasoning)

    def on_money(self) -> None:
        """Take note that there is money again: what was lost for want of it says nothing of what comes."""
        self._asked.clear()

    def drop(self, offset: int) -> None:
        """Let go of the questions on one exchange."""
        for question in [question for question in self._known if question.offset == offset]:
            del self._known[question]

    def ready(self, is_open: Callable[[Question], bool]) -> list[tuple[Question, Verdict, LostValue | None]]:
        """Return the questions whose one before is decided; None beside them where that has a value.

        is_open: whether a question waits or is asked about.
        """
        return [
            (question, known.verdict, known.before.lost)
            for question, known in self._known.items()
            if known.before.question is None or not is_open(known.before.question)
        ]
