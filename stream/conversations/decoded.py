"""Decoded conversations: the last ones that were touched, beside the snapshots that they were encoded to.

An answer comes seconds after its question, and to decode a conversation takes a tenth of all that a turn takes. A
conversation is handed out only for the very bytes that it was encoded to: where a batch failed, the store still has
those of before, and what that batch made of a conversation is never met again.
"""

from turnsignal.stream.conversations.state import Conversation

#: Conversations of a process, of about 7 kB each. Users come back after half a minute, answers come within seconds: at
#: up to 100 turns/s in a process nearly all turns find theirs, at up to 800 those with answers, half of all.
MOST = 4_000
MAX_BYTES = 12_000_000  #: of their snapshots together; decoded they take three to four times as much


class DecodedConversations:
    """A bounded number of decoded conversations, each with its snapshot; the longest untouched ones give way."""

    __slots__ = ("_kept", "_size")

    def __init__(self) -> None:
        self._kept: dict[bytes, tuple[bytes, Conversation]] = {}  # in the order in which they were put here
        self._size = 0

    def put(self, key: bytes, snapshot: bytes, state: Conversation) -> None:
        """Keep a conversation that nobody changes from now on."""
        if key in self._kept:
            self.take(key, snapshot)
        self._kept[key] = snapshot, state
        self._size += len(snapshot)
        while len(self._kept) > MOST or self._size > MAX_BYTES:
            oldest = next(iter(self._kept))
            self.take(oldest, snapshot)

    def take(self, key: bytes, snapshot: bytes) -> Conversation | None:
        """Take out a conversation, to be changed; None where it is not kept, or is not that of this snapshot."""
        known = self._kept.pop(key, None)
        if known is None:
            return None
        encoded, state = known
        self._size -= len(encoded)
        return state if encoded is snapshot else None
