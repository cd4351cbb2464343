"""Answers seen: what the turns of a system show of its answers, whatever scorers make of them.

A replay counts the same of each release while it scores. Where two systems are compared, only their rows are left, so
the turns are read once more: who refuses, fails, answers in another language or finds nothing must not look better.
"""

from collections import OrderedDict
from collections.abc import Mapping

from turnsignal.stream.conversations.pairing import ASSISTANT, USER, KeptTurn
from turnsignal.stream.follow_ups.failures import Failures
from turnsignal.stream.records.turns import Turn
from turnsignal.stream.reports.first_answers import FirstAnswer, first_answer, first_documents
from turnsignal.stream.reports.question_language import match_languages
from turnsignal.stream.reports.scales import DOCUMENTS_GIVEN
from turnsignal.stream.statistics.claims import DOCUMENTS, FAILED, SAME_LANGUAGE, VOTE, WITH_DOCUMENTS

_OPEN = 10_000  #: conversations whose last turns are remembered
_KEPT = 6  #: turns of each
_READ = 400  #: characters of a question


class SeenAnswers:
    """Those of one conversation. first: what is kept of the first; documents: how many each was given, by turn id."""

    __slots__ = ("_sums", "documents", "first")

    def __init__(self) -> None:
        self.first: FirstAnswer | None = None
        self.documents: dict[str, int] = {}
        self._sums: dict[str, tuple[int, float]] = {}

    def add(self, figure: str, value: float) -> None:
        """Take in one answer's value of a figure."""
        n, total = self._sums.get(figure, (0, 0.0))
        self._sums[figure] = n + 1, total + value

    def means(self) -> dict[str, float]:
        """Return the mean of each figure that any answer has."""
        return {figure: total / n for figure, (n, total) in self._sums.items()}


class AnswersSeen:
    """The answers of one system by conversation: `add` its turns by event time."""

    def __init__(self) -> None:
        self._failures = Failures()
        self._seen: dict[str, SeenAnswers] = {}
        self._kept: OrderedDict[str, list[KeptTurn]] = OrderedDict()

    @property
    def by_conversation(self) -> Mapping[str, SeenAnswers]:
        """The conversations that have an answer."""
        return self._seen

    def add(self, turn: Turn) -> None:
        """Take in one turn; a second one under its id is the same once more."""
        if turn.role not in (USER, ASSISTANT):
            return
        kept = self._kept.setdefault(turn.conversation_id, [])
        self._kept.move_to_end(turn.conversation_id)
        if len(self._kept) > _OPEN:
            self._kept.popitem(last=False)
        if turn.role == ASSISTANT:
            seen = self._seen.setdefault(turn.conversation_id, SeenAnswers())
            if turn.turn_id not in seen.documents:
                self._count(seen, turn, kept)
        kept.append(KeptTurn(turn.turn_id, turn.role, turn.time, turn.text[:_READ] if turn.role == USER else ""))
        del kept[:-_KEPT]

    def _count(self, seen: SeenAnswers, turn: Turn, kept: list[KeptTurn]) -> None:
        given = seen.documents[turn.turn_id] = len(turn.retrieved)
        if seen.first is None:
            seen.first = first_answer(turn.platform, turn.text)
        seen.add(FAILED, self._failures.is_failing(turn.text))
        seen.add(WITH_DOCUMENTS, given > 0)
        if given:
            seen.add(DOCUMENTS, DOCUMENTS_GIVEN.fraction(given))
            if not seen.first.documents:
                names = first_documents(document.doc_id for document in turn.retrieved)
                seen.first = seen.first._replace(documents=names)
        if turn.vote is not None:
            seen.add(VOTE, turn.vote > 0)
        fits = match_languages(kept, turn.time, turn.text).value_of_answer
        if fits is not None:
            seen.add(SAME_LANGUAGE, fits)
