"""Observer: what a replay hears of conversations beyond their rows."""

from typing import Protocol

from turnsignal.stream.conversations.exchanges import Exchange
from turnsignal.stream.conversations.means import Means
from turnsignal.stream.conversations.pairing import PendingResponse, Responder
from turnsignal.stream.conversations.state import Conversation
from turnsignal.stream.pipeline.scoring import Scored
from turnsignal.stream.records.turns import Turn


class Observer(Protocol):
    """Is called as turns are scored, so that a replay can sum up more than rows; a worker has none.

    A method must not change what it is given.
    """

    def on_user(self, key: bytes, turn: Turn) -> None:
        """Called when a user speaks, before the conversation keeps it."""
        ...

    def on_earlier_release(self) -> None:
        """Called when an answer counts for the release under which its conversation began, and a later one had come."""
        ...

    def on_documents(self, key: bytes) -> None:
        """Called when a turn that is no response has documents."""
        ...

    def on_other_text(self, key: bytes, turn_id: str) -> None:
        """Called when a response that is known came again with another text, which is refused."""
        ...

    def on_response(self, key: bytes, state: Conversation, turn: Turn, scored: Scored) -> None:
        """Called when a response is scored, before its conversation keeps it; `state.responses` counts it already."""
        ...

    def on_follow_up(self, key: bytes, turn_id: str, answer: PendingResponse, scored: Scored, around: Exchange) -> None:
        """Called when the response `turn_id` is paired; the new pairing replaces the one before it.

        around: the texts, as the conversation keeps them.
        """
        ...

    def on_close(self, key: bytes, state: Conversation, responder: Responder, outcome: str, means: Means) -> None:
        """Called when a conversation closes, which may open again later.

        responder: of its last response, or whom it asked where nobody answered; outcome: `cut` where the recording
        ends.
        """
        ...

    def on_vote(self, key: bytes, state: Conversation) -> None:
        """Called when a vote came, which is in the state already."""
        ...
