"""Answers seen: what the turns of a system show of its answers, whatever scorers make of them.

A replay counts the same of each release while it scores. Where two systems are compared, only their rows are left, so
the turns are read once more: who refuses, fails, answers in another language or finds nothing must not look better.
"""

from collections import OrderedDict
from collections.abc import Collection, Mapping
from typing import NamedTuple

from turnsignal.stream.conversations.pairing import ASSISTANT, USER, KeptTurn
from turnsignal.stream.conversations.state import Limits
from turnsignal.stream.follow_ups.failures import Failures, asks_back, hands_over, refuses
from turnsignal.stream.follow_ups.rules import FollowUpRules
from turnsignal.stream.follow_ups.small_talk import ignores, is_reply, is_small_talk, suffices
from turnsignal.stream.formats.completeness import FIRST_PLAUSIBLE
from turnsignal.stream.records.turns import Turn
from turnsignal.stream.reports.answer_runs import RunTurn
from turnsignal.stream.reports.asked_again import figures_of_asking
from turnsignal.stream.reports.first_answers import FirstAnswer, first_answer, first_documents
from turnsignal.stream.reports.logged_otherwise import figures_of_log, is_hidden, is_rough
from turnsignal.stream.reports.question_language import match_languages
from turnsignal.stream.reports.scales import DOCUMENTS_GIVEN, SECONDS
from turnsignal.stream.statistics.directions import (
    ANSWER_SECONDS,
    ASKS_BACK,
    BEFORE_ASKED,
    BEGUN_BEHIND,
    COMPLAINED_OF,
    DOCUMENTS,
    ELSEWHERE,
    EXEMPTED,
    FAILED,
    FOLLOWED,
    HANDED_ON,
    HIDDEN,
    IN_PARTS,
    LEFTOVERS,
    ONLY_ASKS,
    REFUSED,
    ROUNDED,
    SAME_LANGUAGE,
    VOTE,
    WITH_DOCUMENTS,
)
from turnsignal.stream.text.leftovers import has_leftovers

_OPEN = 10_000  #: conversations whose last turns are remembered
_KEPT = 6  #: turns of each
_IDLE = Limits().idle
_READ = 400  #: characters of a question, and of the end of an answer


class SeenAnswer(NamedTuple):
    """One answer.

    run: what decides whether it is the answer; figures: that no scorer gives; first: what is kept of it, should it be
    the first.
    """

    turn_id: str
    run: RunTurn
    figures: dict[str, float]
    first: FirstAnswer

    def opening(self, before: FirstAnswer | None) -> FirstAnswer:
        """Return what is kept of the first answer with this one; before: without it, None where it is the first."""
        return self.first if before is None else before.with_documents(self.first)

    def in_place_of(self, earlier: "SeenAnswer") -> "SeenAnswer":
        """Return this answer in the place of an earlier one of its run."""
        run, figures = self.run.in_place_of(self.figures, earlier.run, earlier.figures)
        first = self.first.or_longer(earlier.first) if self.run.is_another_part(earlier.run) else self.first
        return self._replace(run=run, figures=figures, first=first)

    def behind_hand_off(self) -> "SeenAnswer":
        """Return this answer as the first of its run, where the user was put through to somebody in an earlier one."""
        run, figures = self.run.behind_hand_off(self.figures)
        return self._replace(run=run, figures=figures)


class SeenAnswers:
    """Those of one conversation.

    first: what is kept of the first; documents: how many each turn was given, by its id; replaced: ids of turns in
    whose place another one of their run is the answer; unasked: of those that answer small talk; answering: of those
    that answer, and do not fail; held: what a turn says of itself whose run may go on.
    """

    __slots__ = ("_first", "_handed", "_sums", "answering", "documents", "held", "replaced", "unasked")

    def __init__(self) -> None:
        self._first: FirstAnswer | None = None
        self._handed = False  # in the run before, to somebody who may answer all that follows
        self.documents: dict[str, int] = {}
        self.replaced: set[str] = set()
        self.unasked: set[str] = set()
        self.answering: set[str] = set()
        self.held: SeenAnswer | None = None
        self._sums: dict[str, tuple[int, float]] = {}

    @property
    def first(self) -> FirstAnswer | None:
        """What is kept of the first answer."""
        return self._first if self.held is None else self.held.opening(self._first)

    def hold(self, answer: "SeenAnswer") -> None:
        """Hold an answer in the place of the one that is held, where both are of one run."""
        if self.held is not None and not answer.run.replaces(self.held.run):
            self.replaced.add(answer.turn_id)
            return
        if self.held is not None:
            self.replaced.add(self.held.turn_id)
            answer = answer.in_place_of(self.held)
        elif self._handed:
            answer = answer.behind_hand_off()
        self.held = answer

    def count(self, *, followed: bool = False, hidden: bool = False) -> None:
        """Take in the answer that is held: its run is over.

        followed: its user wrote again; hidden: nothing of that can be read.
        """
        held = self.held
        if held is not None:
            if followed and FOLLOWED in held.figures:
                held.figures[FOLLOWED] = 1.0
                if hidden:
                    held.figures[HIDDEN] = 1.0
            self._first, self.held, self._handed = held.opening(self._first), None, held.run.handed
            for figure, value in held.figures.items():
                self.add(figure, value)

    def see_again(self, turn: Turn) -> None:
        """Take in an answer that came before: with another text, it came in parts."""
        if self.held is not None and self.held.turn_id == turn.turn_id:
            again = first_answer(turn.platform, turn.text)
            if (again.text, again.length) != (self.held.first.text, self.held.first.length):
                self.held.figures[IN_PARTS] = 1.0

    def complain(self, turn_id: str) -> None:
        """Take in, once all turns are, that the user asked to clarify behind a turn; of one that fails, nothing."""
        if turn_id in self.answering and COMPLAINED_OF in self._sums:
            n, total = self._sums[COMPLAINED_OF]
            self._sums[COMPLAINED_OF] = n, min(float(n), total + 1)

    def add(self, figure: str, value: float) -> None:
        """Take in one answer's value of a figure."""
        n, total = self._sums.get(figure, (0, 0.0))
        self._sums[figure] = n + 1, total + value

    def means(self) -> dict[str, float]:
        """Return the mean of each figure that any answer has, once all turns are taken in."""
        self.count()
        means = {figure: total / n for figure, (n, total) in self._sums.items()}
        if ONLY_ASKS in means:
            means[ONLY_ASKS] = float(means[ONLY_ASKS] == 1)
            if not means.get(FOLLOWED):
                del means[ONLY_ASKS]  # nobody could reply to the single questions of a test
        return means


class AnswersSeen:
    """The answers of one system by conversation: `add` its turns by event time; failed, exempt: its suite's."""

    def __init__(self, failed: Collection[str] = (), exempt: Collection[str] = ()) -> None:
        self._rules = FollowUpRules(failures=Failures(failed, exempt))
        self._exempts = bool(exempt)
        self._seen: dict[str, SeenAnswers] = {}
        self._elsewhere: set[str] = set()  # conversations with documents on another turn than an answer
        self._kept: OrderedDict[str, list[KeptTurn]] = OrderedDict()

    @property
    def by_conversation(self) -> Mapping[str, SeenAnswers]:
        """The conversations that have an answer."""
        return self._seen

    def add(self, turn: Turn) -> None:
        """Take in one turn; a second one under its id is the same once more, or tells that an answer came in parts."""
        if turn.role not in (USER, ASSISTANT):
            if turn.retrieved:
                self._elsewhere.add(turn.conversation_id)
            return
        kept = self._kept.setdefault(turn.conversation_id, [])
        self._kept.move_to_end(turn.conversation_id)
        if len(self._kept) > _OPEN:
            self._kept.popitem(last=False)
        if turn.role == USER and (known := self._seen.get(turn.conversation_id)) is not None:
            known.count(followed=True, hidden=is_hidden(turn.text))
        if turn.role == ASSISTANT:
            seen = self._seen.setdefault(turn.conversation_id, SeenAnswers())
            if turn.turn_id not in seen.documents:
                self._count(seen, turn, kept)
            else:
                seen.see_again(turn)
        elif turn.retrieved:
            self._elsewhere.add(turn.conversation_id)
        text = (
            turn.text[:_READ] if turn.role == USER else turn.text[-_READ:]
        )  # where an answer asks, it does at its end
        kept.append(KeptTurn(turn.turn_id, turn.role, turn.time, text))
        del kept[:-_KEPT]

    def _count(self, seen: SeenAnswers, turn: Turn, kept: list[KeptTurn]) -> None:
        given = seen.documents[turn.turn_id] = len(turn.retrieved)
        is_greeting = ignores(turn.text, kept, self._rules)
        failed = self._rules.failures.is_failing(turn.text) and not suffices(turn.text, kept, self._rules)
        failed |= is_greeting
        exempt = self._rules.failures.exempts(turn.text)
        figures: dict[str, float] = {IN_PARTS: 0.0, LEFTOVERS: has_leftovers(turn.text)}
        is_asked, back = (
            not is_small_talk(kept, self._rules, "" if given else turn.text),
            asks_back(turn.text) and not is_greeting,
        )
        questions = [before for before in kept if before.role == USER]
        if failed or (is_asked and questions):  # what answers nobody, and does not fail, is a greeting
            figures[FAILED], figures[FOLLOWED], figures[HANDED_ON] = failed, 0.0, 0.0
            figures[REFUSED] = failed and refuses(turn.text)
            if self._exempts:
                figures[EXEMPTED] = exempt
            figures[ASKS_BACK] = back
            if not back:
                figures[WITH_DOCUMENTS] = given > 0
                figures[ELSEWHERE] = turn.conversation_id in self._elsewhere and not given
                if not failed:
                    figures[COMPLAINED_OF] = 0.0
                    seen.answering.add(turn.turn_id)
        elif not is_asked:
            seen.unasked.add(turn.turn_id)
        wants_answer = ASKS_BACK in figures
        figures |= figures_of_asking(kept, len(kept), turn.text[-_READ:], back=back, wants_answer=wants_answer)
        if given:
            figures[DOCUMENTS] = DOCUMENTS_GIVEN.fraction(given)
        if turn.vote is not None:
            seen.add(VOTE, turn.vote > 0)
        asked = questions[-1].time if questions else None
        if is_asked and not back and asked is not None and FIRST_PLAUSIBLE <= asked <= turn.time:
            figures[ANSWER_SECONDS] = SECONDS.fraction(turn.time - asked)
            figures[ROUNDED] = is_rough(turn.time, asked)
        fits = match_languages(kept, turn.time, turn.text).value_of_answer
        if fits is not None:
            figures[SAME_LANGUAGE] = fits
        first = first_answer(turn.platform, turn.text)
        first = first._replace(documents=first_documents(document.doc_id for document in turn.retrieved))
        figures[BEFORE_ASKED] = not questions and given > 0
        figures |= figures_of_log(turn, kept, len(kept), turn.text[-_READ:], _IDLE, cites=False)
        self._elsewhere.discard(turn.conversation_id)
        if len(questions) == 1 and seen.first is None:
            figures[BEGUN_BEHIND] = is_reply(questions[0].text, self._rules)
        if not questions:
            seen.count()  # it answers nobody, and neither does what comes next
        run = RunTurn(failed, given > 0, (failed or exempt) and hands_over(turn.text))
        seen.hold(SeenAnswer(turn.turn_id, run, figures, first))
