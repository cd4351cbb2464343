"""Held answers: what an answer adds to the figures of its release, read at once, and held until its run is over.

Which turn is the answer is known when the user speaks, or the conversation is over (`stream.reports.answer_runs`). So
one answer of each open conversation is held, and no text of it beyond what the worst exchanges show.
"""

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from turnsignal.stream.checks.protocol import Result
from turnsignal.stream.conversations.pairing import ASKED, USER, KeptTurn
from turnsignal.stream.conversations.state import Conversation
from turnsignal.stream.pipeline.metric_deltas import Release
from turnsignal.stream.pipeline.scoring import Scored
from turnsignal.stream.records.turns import Turn
from turnsignal.stream.reports.answer_runs import RunTurn
from turnsignal.stream.reports.first_answers import FirstAnswer, first_answer, first_documents
from turnsignal.stream.reports.question_language import match_languages
from turnsignal.stream.reports.scales import DOCUMENTS_GIVEN, SECONDS
from turnsignal.stream.reports.worst import WorstExchange
from turnsignal.stream.statistics.claims import (
    ANSWER_SECONDS,
    CHECKS_APPLIED,
    CITES_ALL,
    CITES_TOP,
    DOCUMENTS,
    FAILED,
    SAME_LANGUAGE,
    WASTED,
)
from turnsignal.stream.suite import Suite

_WORDS = RunTurn(failed=False, documents=False)


class HeldAnswer(NamedTuple):
    """One answer that waits.

    turn_id, time, release: of the answer; run: what decides whether it is the answer; prompted: a user spoke before it;
    scorers, values: what was scored of it; derived: index and value of the figures that no scorer gives; seconds: the
    same of the time that it took, None where nobody knows; first: what is kept of it where it may be the first, without
    its documents; documents: what is kept of them, where they may be the first; worst: as an exchange that went badly,
    None where it did not; broken: checks that it fails; ranks, cited: of its documents, and of those that it cites.
    """

    turn_id: str
    time: float
    release: Release
    run: RunTurn
    prompted: bool
    scorers: tuple[str, ...]
    values: tuple[float, ...]
    derived: tuple[tuple[int, float], ...]
    seconds: tuple[int, float] | None
    first: FirstAnswer | None
    documents: tuple[str, ...]
    worst: WorstExchange | None
    broken: tuple[str, ...]
    ranks: tuple[int, ...]
    cited: tuple[int, ...]

    def in_place_of(self, earlier: "HeldAnswer") -> "HeldAnswer":
        """Return this answer in the place of an earlier one of its run.

        Where both might be the answer, what came first is the first answer, and its time is how long it took: a line
        that closes the conversation comes when nobody has written for long.
        """
        if self.run == earlier.run == _WORDS:
            return self._replace(first=earlier.first, seconds=earlier.seconds)
        return self

    def beside(self) -> tuple[tuple[int, float], ...]:
        """Return all figures that no scorer gives."""
        return self.derived if self.seconds is None else (*self.derived, self.seconds)

    def opening(self, before: FirstAnswer | None) -> FirstAnswer | None:
        """Return what is kept of the first answer with this one; before: without it, None where it is the first."""
        first = self.first if before is None else before
        return first if first is None or first.documents else first._replace(documents=self.documents)


class AnswerReader:
    """Read what answers add to figures under one suite; indices: of the figures in a conversation's values."""

    def __init__(self, suite: Suite, indices: Mapping[str, int]) -> None:
        self._indices = indices
        self._suite = suite  # whose rules are compiled where answers are read, not where parts are put together
        self._kept_whole = suite.limits.kept_characters  #: characters of an answer that its follow-up is read with
        self._checks = frozenset(check.name for _, check in suite.parsed_checks)

    def is_failing(self, text: str) -> bool:
        """Say whether an answer is empty, an error or a refusal."""
        failures = self._suite.follow_up_rules.failures
        return failures.find_ahead(text) if len(text) <= self._kept_whole else failures.is_failing(text)

    def read(
        self,
        state: Conversation,
        turn: Turn,
        scored: Scored,
        before: FirstAnswer | None,
        worst: WorstExchange | None,
        *,
        failed: bool,
    ) -> HeldAnswer:
        """Read an answer, before its conversation keeps it; before: what is kept of the first, None where it may be."""
        names = turn.retrieved if before is None or not before.documents else ()
        broken: tuple[str, ...] = ()
        if scored.compliance is not None and scored.compliance < 1.0:
            broken = tuple([check for check, result in scored.findings if result is Result.FAIL])
        return HeldAnswer(
            turn.turn_id,
            turn.time,
            (turn.assistant, turn.version),
            RunTurn(failed, bool(turn.retrieved)),
            state.prompted_before or speaks_between(state.kept, turn.time),
            scored.scorers,
            scored.values,
            self._derive(state, turn, scored, failed=failed),
            self._measure(state, turn),
            first_answer(turn.platform, turn.text) if before is None else None,
            first_documents(document.doc_id for document in names),
            worst,
            broken,
            scored.ranks,
            scored.cited,
        )

    def _derive(
        self, state: Conversation, turn: Turn, scored: Scored, *, failed: bool
    ) -> tuple[tuple[int, float], ...]:
        """Return the figures of an answer that no scorer gives."""
        figures: dict[str, float] = {FAILED: failed}
        if scored.findings:
            checks = sum(name in self._checks for name in scored.scorers)
            figures[CHECKS_APPLIED] = checks / len(scored.findings)
        if turn.retrieved:
            figures[DOCUMENTS] = DOCUMENTS_GIVEN.fraction(len(turn.retrieved))
            if len(turn.retrieved) > 1:
                figures[CITES_ALL] = WASTED in scored.scorers and not scored.values[scored.scorers.index(WASTED)]
                if scored.cited:
                    figures[CITES_TOP] = scored.cited == tuple(range(1, len(scored.cited) + 1))
        fits = match_languages(state.kept, turn.time, turn.text).value_of_answer
        if fits is not None:
            figures[SAME_LANGUAGE] = fits
        return tuple([(self._indices[name], value) for name, value in figures.items()])

    def _measure(self, state: Conversation, turn: Turn) -> tuple[int, float] | None:
        """Return how long an answer took, as its figure has it: since the last message of a user."""
        asked = next((before for before in reversed(state.kept) if before.role in ASKED), None)
        if asked is None or asked.role != USER or turn.time < asked.time:
            return None
        return self._indices[ANSWER_SECONDS], SECONDS.fraction(turn.time - asked.time)


def speaks_between(kept: Sequence[KeptTurn], until: float, since: float = -math.inf) -> bool:
    """Say whether a user speaks among kept turns, between two event times."""
    return any(turn.role in ASKED and since <= turn.time <= until for turn in kept)
