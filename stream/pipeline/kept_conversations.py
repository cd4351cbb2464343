"""Kept conversations: what a processor remembers of them, for people: their last turns, and which of them are worst.

A conversation is as bad as the lowest of its means over the three qualities of the diagnosis: relevancy, follow-ups,
instructions. Of one scorer, it is as bad as that scorer's mean.
"""

import heapq
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from turnsignal.stream.conversations.pairing import GAP_ASSISTANT, GAP_USER, KeptTurn, PendingResponse
from turnsignal.stream.conversations.state import Conversation
from turnsignal.stream.pipeline.compliance import COMPLIANCE
from turnsignal.stream.pipeline.score_layout import ScoreLayout
from turnsignal.stream.pipeline.scoring import describe_scorers, relevancy_name
from turnsignal.stream.records.scores import FOLLOW_UP
from turnsignal.stream.records.turns import Turn
from turnsignal.stream.suite import Suite

MAX_DOCUMENTS = 100  #: of an answer that are described

_GAPS = {GAP_USER: "user", GAP_ASSISTANT: "assistant"}


class ConversationFilter(NamedTuple):
    """Which conversations are asked for; None is any. scorer: by whose means, too, they are ordered."""

    assistant: str | None = None
    version: str | None = None
    scorer: str | None = None


class TurnDescriber:
    """Describe the turns that a conversation keeps, with the spans of citation markers in them."""

    def __init__(self, suite: Suite) -> None:
        self._read = suite.citations.reader()

    def describe(self, state: Conversation) -> list[dict[str, Any]]:
        """Return the kept turns in the order of their times, as JSON."""
        return [self._describe_turn(turn) for turn in state.kept]

    def _describe_turn(self, turn: KeptTurn) -> dict[str, Any]:
        if turn.role in _GAPS:
            return {"turn_id": turn.turn_id, "role": _GAPS[turn.role], "time": turn.time, "unreadable": True}
        out: dict[str, Any] = {"turn_id": turn.turn_id, "role": turn.role, "time": turn.time, "text": turn.text}
        if turn.remainder is not None:
            out["cut"] = True
        if turn.response is not None:
            out["markers"] = self._read(turn.text, []).markers
            out |= _describe_response(turn.response)
        return out

    def describe_documents(self, turn: Turn) -> dict[str, Any]:
        """Return a whole answer with the documents that it was given, and which of them it cites, as JSON."""
        citations = self._read(turn.text, turn.retrieved, turn.metadata)
        cited = set(citations.cited_ids)
        documents = [
            {"rank": document.rank or number, "doc_id": document.doc_id, "title": document.title}
            | {"cited": document.doc_id in cited}
            for number, document in enumerate(turn.retrieved[:MAX_DOCUMENTS], 1)
        ]
        return {"text": turn.text, "markers": citations.markers, "documents": documents}


def _describe_response(response: PendingResponse) -> dict[str, Any]:
    scores = {
        "relevancy": response.relevancy,
        "compliance": response.compliance,
        "follow_up": response.strict,
    }
    who = {"assistant": response.assistant, "version": response.version, "model": response.model}
    who |= {"platform": response.platform, "environment": response.environment}
    return {name: value for name, value in (who | scores).items() if value is not None}


class WorstConversations:
    """Collect the worst conversations of those that it is shown, of one suite.

    limit: how many; shown: how many it was shown; scored: how many of them fit the filter and have a score.
    """

    def __init__(self, suite: Suite, asked: ConversationFilter, limit: int) -> None:
        self._asked = asked
        self._limit = limit
        self._suite = suite.fingerprint
        self._position = {scorer: 2 * index for index, scorer in enumerate(ScoreLayout(suite).scorers)}
        names = (relevancy_name(suite), FOLLOW_UP, COMPLIANCE) if asked.scorer is None else (asked.scorer,)
        lower = {facts.name for facts in describe_scorers(suite) if facts.better == "low"}
        #: position, whether low is good, name
        self._scorers = [(self._position[name], name in lower, name) for name in names if name in self._position]
        self._worst: list[tuple[float, int, int, bytes, Conversation, str, float, int]] = []
        self.shown = self.scored = 0

    @property
    def known(self) -> bool:
        """Whether the suite has the scorer that is asked for."""
        return bool(self._scorers)

    def add(self, key: bytes, state: Conversation) -> None:
        """Take a conversation in."""
        self.shown += 1
        if state.suite != self._suite or not self._fits(state):
            return
        lowest = self._lowest(state)
        if lowest is None:
            return
        self.scored += 1
        badness, name, mean, n = lowest
        # The count makes entries comparable before two states would be compared.
        entry = (badness, state.clarifications, -self.shown, key, state, name, mean, n)
        if len(self._worst) < self._limit:
            heapq.heappush(self._worst, entry)
        else:
            heapq.heappushpop(self._worst, entry)

    def describe(self) -> list[dict[str, Any]]:
        """Return the worst ones first, as JSON."""
        return [self._describe(*entry[3:]) for entry in sorted(self._worst, reverse=True)]

    def _fits(self, state: Conversation) -> bool:
        if self._asked.assistant is None and self._asked.version is None:
            return True
        return any(
            self._asked.assistant in (None, response.assistant) and self._asked.version in (None, response.version)
            for response in _responses(state)
        )

    def _lowest(self, state: Conversation) -> tuple[float, str, float, int] | None:
        """Return how bad it is, and whose mean over how many values says so."""
        means = state.score_windows.means()
        worst: tuple[float, str, float, int] | None = None
        for position, low_is_good, name in self._scorers:
            if position + 1 < len(means) and (n := int(means[position])):
                mean = means[position + 1] / n
                badness = mean if low_is_good else 1.0 - mean
                if worst is None or badness > worst[0]:
                    worst = (badness, name, mean, n)
        return worst

    def _describe(self, key: bytes, state: Conversation, name: str, mean: float, n: int) -> dict[str, Any]:
        last = next(_responses(state), None)
        return {
            "conversation_id": key.decode("utf-8", "replace"),
            "assistant": last.assistant if last else None,
            "version": last.version if last else None,
            "open": not state.closed,
            "last": state.last,
            "turns": state.turns,
            "clarifications": state.clarifications,
            "scorer": name,
            "mean": mean,
            "n": n,
        }


def _responses(state: Conversation) -> Iterator[PendingResponse]:
    """Yield who gave the answers that are kept, the newest first."""
    for turn in reversed(state.kept):
        if turn.response is not None:
            yield turn.response
    gone = state.last_evicted_response
    if gone is not None and gone.response is not None:
        yield gone.response


def has_label(row: Mapping[str, Any], label: str, scorer: str | None) -> bool:
    """Say whether a score row has a label, of one scorer or of any."""
    return any(score.get("label") == label and scorer in (None, score.get("scorer")) for score in row["scores"])
