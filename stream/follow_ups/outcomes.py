"""Outcomes: how a conversation went, from what its follow-ups said and from whether it got an answer in the end.

Why only what was read counts: nobody who writes nothing, or in a language that is not read, has said that the answers
were good, and a product that fails makes people leave. So there is no evidence (`silent`) beside good and bad, and who
got no answer is `unanswered`, whatever was said before.
"""

from collections.abc import Sequence

from turnsignal.stream.conversations.exchanges import Exchange
from turnsignal.stream.conversations.pairing import ASSISTANT, USER, KeptTurn, exchange, last_answer
from turnsignal.stream.conversations.state import Conversation
from turnsignal.stream.follow_ups.commands import is_enough
from turnsignal.stream.follow_ups.failures import acknowledges, ends_idle
from turnsignal.stream.follow_ups.leaving import expects_no_answer
from turnsignal.stream.follow_ups.openings import passes_over
from turnsignal.stream.follow_ups.rules import FollowUpRules
from turnsignal.stream.follow_ups.small_talk import accepts, asks
from turnsignal.stream.records.scores import ConversationOutcome
from turnsignal.stream.text.quoted_lines import own_words

VERSION = 15  #: raised when the same conversation gets another outcome; part of the suite's fingerprint

#: The score `conversation`; `silent` is unscored.
VALUES = {
    ConversationOutcome.RESOLVED: 1.0,
    ConversationOutcome.CLARIFIED: 0.5,
    ConversationOutcome.ABANDONED: 0.0,
    ConversationOutcome.UNANSWERED: 0.0,
}


class Outcomes:
    """Say how conversations went; rules: read follow-ups, and know which answers are none."""

    def __init__(self, rules: FollowUpRules) -> None:
        self._rules = rules

    def find(self, state: Conversation) -> ConversationOutcome | None:
        """Return the outcome of a conversation that is over; None where neither a user nor the assistant spoke."""
        kept = self._without_closing_lines(state.kept)
        last = last_answer(kept)
        if last is None and state.last_evicted_response is None and not any(turn.role == USER for turn in kept):
            return None
        if self._is_unanswered(kept, last):
            return ConversationOutcome.UNANSWERED
        if not state.clarifications and not state.went_on:
            return ConversationOutcome.SILENT
        if _ended_unhappily(state):
            return ConversationOutcome.ABANDONED
        return ConversationOutcome.CLARIFIED if state.clarifications else ConversationOutcome.RESOLVED

    def is_waiting(self, state: Conversation) -> bool:
        """Say whether the last message of a conversation that is over got no answer, be it one that fails."""
        kept = self._without_closing_lines(state.kept)
        return self._is_waiting(kept, last_answer(kept))

    def _without_closing_lines(self, kept: Sequence[KeptTurn]) -> Sequence[KeptTurn]:
        """Leave out what closes an idle chat, behind an answer or what expects none: it takes nothing back."""
        while len(kept) > 1 and kept[-1].role == ASSISTANT and ends_idle(kept[-1].text):
            before = kept[:-1]
            answer = last_answer(before)
            if answer is None or (before[-1].role != ASSISTANT and not self._expects_no_answer(before, answer)):
                return kept
            kept = before
        return kept

    def _is_unanswered(self, kept: Sequence[KeptTurn], last: int | None) -> bool:
        """Say whether the last answer is none, or the last message has none; last: where the last answer stands.

        What could not be read is neither: behind an unreadable record nobody knows.
        """
        if self._is_waiting(kept, last):
            return True
        if last is None or any(turn.role not in (USER, ASSISTANT) for turn in kept[last + 1 :]):
            return False
        is_failing, asked = self._rules.failures.is_failing, kept[:last]
        answer, prompt = kept[last].text, exchange(kept, last, "").prompt
        if passes_over(answer, prompt):
            return not self._expects_no_answer(asked, last_answer(asked))
        failed = is_failing(answer) and not is_enough(answer, prompt)
        if not asked or asked[-1].role != USER or (failed and not acknowledges(kept[last].text)):
            return failed
        # What is said to polite words, as "You're welcome!" or "Okay.", is no answer to what was asked before.
        before = next((at for at in range(len(asked) - 1, -1, -1) if asked[at].role != USER), None)
        if before is None or asked[before].role != ASSISTANT or is_failing(asked[before].text) is failed:
            return failed
        if self._expects_no_answer(asked, before):
            return not failed
        return failed and not accepts(exchange(asked, before, asked[-1].text), self._rules)

    def _is_waiting(self, kept: Sequence[KeptTurn], last: int | None) -> bool:
        end = len(kept)
        while end and kept[end - 1].role == USER and self._expects_no_answer(kept[:end], last):
            end -= 1
        is_open = end > 0 and kept[end - 1].role == USER  # what leave is taken behind got no answer
        return is_open and (end == len(kept) or last is None or asks(own_words(kept[end - 1].text)))

    def _expects_no_answer(self, kept: Sequence[KeptTurn], last: int | None) -> bool:
        """Say whether the last of these messages, a user's, expects no answer; last: where the last answer stands."""
        text = kept[-1].text
        return expects_no_answer(Exchange("", "", text) if last is None else exchange(kept, last, text), self._rules)


def _ended_unhappily(state: Conversation) -> bool:
    """Say whether the last follow-up that was read is a clarification."""
    for turn in reversed(state.kept):
        answer = turn.response
        if answer is not None and (answer.clarification or answer.went_on):
            return answer.clarification
    return state.unhappy
