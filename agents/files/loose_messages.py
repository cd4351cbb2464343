"""Messages that stand alone, one a record: joined into one conversation of their file, in bounded memory."""

import shlex
from typing import Any

from turnsignal.agents.files.recognising import repeated_key
from turnsignal.stream.errors import TurnsignalError
from turnsignal.stream.formats.agent_messages import is_agent_message, is_typed
from turnsignal.stream.formats.mapping import describe_key
from turnsignal.stream.formats.messages import role_of
from turnsignal.stream.formats.protocol import Assumed, Record
from turnsignal.stream.formats.several_at_once import SEVERAL, look_like_several
from turnsignal.stream.formats.values import first

_MOST = 50_000  #: messages that are taken for one conversation,
_MOST_BYTES = 16 << 20  #: and bytes of them
_CUT = "messages one a record beyond 50,000 or 16 MB, taken for another conversation"
_TAKEN = "messages one a record, taken for one conversation"


class LooseMessages:
    """The messages of one file that no record has joined yet. begun: the line of the first."""

    def __init__(self, file: str, assumed: Assumed) -> None:
        self.begun = 0
        self._file = file
        self._assumed = assumed
        self._messages: list[Any] = []
        self._bytes = 0
        self._last = (0, 0)  # the line of the last, and its bytes

    def __bool__(self) -> bool:
        return bool(self._messages)

    def put(self, message: Any, line: int, size: int) -> None:
        """Add a message. size: its bytes, about."""
        self.begun = self.begun if self._messages else line
        self._messages.append(message)
        self._bytes += size
        self._last = line, size

    @property
    def are_full(self) -> bool:
        """Say whether the last message, a user's, has to begin another conversation."""
        is_many = len(self._messages) > _MOST or self._bytes > _MOST_BYTES
        last = self._messages[-1] if is_many else {}
        return is_many and (role_of(first(last, "role", "type")) == "user" or is_typed(last))

    def take(self) -> Record:
        """Return them as one record, but the last where they are full.

        Raises TurnsignalError where a key of theirs seems to name conversations.
        """
        cut = len(self._messages) - self.are_full
        taken, self._messages = self._messages[:cut], self._messages[cut:]
        if not is_agent_message(taken[0]) and (key := repeated_key(taken)) is not None:
            msg = (
                f"{self._file}: expected messages that name their conversation, got no known name for it, but "
                f"{describe_key(key)!r} repeats like one; `turnsignal convert {shlex.quote(self._file)} "
                "--propose mapping.toml` writes a mapping"
            )
            raise TurnsignalError(msg)
        self.begun, self._bytes = self._last if self._messages else (0, 0)
        self._assumed[_TAKEN] += len(taken)
        self._assumed[SEVERAL] += len(taken) * look_like_several(taken)
        self._assumed[_CUT] += len(self._messages)
        return {"messages": taken}
