"""Votes beside follow-ups: whether what users clicked fits what they wrote next.

Neither corrects the other. A thumbs-down under an answer, after which the user just goes on, is no silent success. So
how the two meet is a figure of its own: they agree, they disagree, or there is only one of them.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from turnsignal.stream.conversations.feedback_memory import CLARIFICATION, FINE, NONE, VoteMeeting
from turnsignal.stream.conversations.pairing import Responder
from turnsignal.stream.conversations.state import Conversation
from turnsignal.stream.pipeline.metric_deltas import Release
from turnsignal.stream.records.summaries import VoteFigures, Votes

VOTE_MEETS_FOLLOW_UP = "vote_meets_follow_up"
AGREE, DISAGREE, ONLY_VOTE = "agree", "disagree", "only_vote"
SHOWN = 5  #: contradictions that are named

_UP, _DOWN = 1, -1

#: votes, and responses without a vote (0), by release (None where it is not known any more), vote and follow-up
Counts = Counter[tuple[Release | None, int, int]]


class Voted(NamedTuple):
    """The votes of one conversation.

    counts: as they meet follow-ups; shares: by release, how many of its answers have votes, and the sum of their shares
    of thumbs up: an answer whose raters contradict each other is half good.
    """

    counts: Counts
    shares: dict[Release, tuple[int, float]]


def meetings(state: Conversation) -> Iterator[VoteMeeting]:
    """Yield each vote in a conversation, and each response without votes whose follow-up was read."""
    memory = state.feedback
    if memory is not None:
        yield from (meeting for meeting in memory.meetings(state.kept) if meeting.vote or meeting.follow_up)


def count(met: Iterable[VoteMeeting]) -> Counts:
    """Count meetings by release."""
    return Counter(
        (None if meeting.responder is None else _release(meeting.responder), meeting.vote, meeting.follow_up)
        for meeting in met
    )


def count_votes(state: Conversation) -> Voted:
    """Count the votes of a conversation, and what they say of its answers."""
    met = list(meetings(state))
    answers: dict[tuple[Release, str], list[int]] = {}
    for meeting in met:
        if meeting.vote and meeting.responder is not None:
            answers.setdefault((_release(meeting.responder), meeting.turn_id), []).append(meeting.vote)
    shares: dict[Release, tuple[int, float]] = {}
    for (release, _), votes in answers.items():
        n, total = shares.get(release, (0, 0.0))
        shares[release] = (n + 1, total + votes.count(_UP) / len(votes))
    return Voted(count(met), shares)


def _release(responder: Responder) -> Release:
    return responder.assistant, responder.version


def figures(counts: Counts, release: Release | None = None) -> VoteFigures:
    """Return how votes and follow-ups meet, of one release or of all of them."""
    n: Counter[tuple[int, int]] = Counter()
    for (who, vote, follow_up), by in counts.items():
        if release is None or who == release:
            n[vote, follow_up] += by
    agree = n[_UP, FINE] + n[_DOWN, CLARIFICATION]
    disagree = n[_UP, CLARIFICATION] + n[_DOWN, FINE]
    out: VoteFigures = {
        "up": sum(n[_UP, follow_up] for follow_up in (NONE, FINE, CLARIFICATION)),
        "down": sum(n[_DOWN, follow_up] for follow_up in (NONE, FINE, CLARIFICATION)),
        "agree": agree,
        "disagree": disagree,
        "only_vote": n[_UP, NONE] + n[_DOWN, NONE],
        "only_follow_up": n[0, FINE] + n[0, CLARIFICATION],
    }
    if both := agree + disagree:
        out["agreement"] = round(agree / both, 6)
        ups, fine = n[_UP, FINE] + n[_UP, CLARIFICATION], n[_UP, FINE] + n[_DOWN, FINE]
        chance = (ups * fine + (both - ups) * (both - fine)) / both**2
        if chance < 1.0:
            out["kappa"] = round((agree / both - chance) / (1.0 - chance), 6)
    return out


def rows(counts: Counts) -> list[dict[str, Any]]:
    """Return the figures of each release that has votes."""
    voted = {who for (who, vote, _), by in counts.items() if who is not None and vote and by}
    return [
        {"assistant": assistant, "version": version, **figures(counts, (assistant, version))}
        for assistant, version in sorted(voted, key=lambda who: (who[0], who[1] or ""))
    ]


def describe(state: Conversation) -> Votes | None:
    """Return how votes and follow-ups meet in a conversation, and the first few turns where not; None without votes."""
    if state.feedback is None or not any(feedback.vote for feedback in state.feedback.newest):
        return None
    met = list(meetings(state))
    contradicted = dict.fromkeys(
        meeting.turn_id for meeting in met if meeting.vote == _DOWN and meeting.follow_up == FINE
    )
    return {**figures(count(met)), "contradicted": list(contradicted)[:SHOWN]}


def score(described: Votes) -> dict[str, Any]:
    """Return that as a score of a close row: the share that agrees, and in words what does not."""
    both = described["agree"] + described["disagree"]
    label = DISAGREE if described["disagree"] else AGREE if both else ONLY_VOTE
    out = {"scorer": VOTE_MEETS_FOLLOW_UP, "value": described.get("agreement"), "label": label}
    if described["contradicted"]:
        out["explanation"] = f"thumbs down under {', '.join(described['contradicted'])}, and the user went on"
    return out
