"""Questions that one conversation without an id was asked so often that it may be many."""

from collections.abc import Sequence

from turnsignal.stream.formats.heads import digested
from turnsignal.stream.formats.messages import spoken_in
from turnsignal.stream.formats.protocol import Call
from turnsignal.stream.text.visible import one_line

_OFTEN = 10  #: times that a user has one question answered, at most
_SHOWN = 60  #: characters of a question


class AskedAgain:
    """Conversations that nothing but their words holds together, and that ask one question again and again."""

    def __init__(self) -> None:
        self._conversations = self._times = 0
        self._shown = ""

    def add(self, calls: Sequence[Call]) -> None:
        """Take in the calls of a conversation."""
        if len(calls) < _OFTEN or any(call.conversation or call.fields.get("user_id") for call in calls):
            return
        asked: dict[tuple[int, bytes], list[str]] = {}
        for spoken in (spoken_in(call.inputs) for call in calls):
            if spoken:
                asked.setdefault((len(spoken), digested(spoken[-1])[1]), []).append(spoken[-1].text)
        often = max(asked.values(), key=len, default=[])
        if len(often) < _OFTEN:
            return
        self._conversations += 1
        self._times = max(self._times, len(often))
        self._shown = self._shown or one_line(often[0], _SHOWN)

    def doubts(self, *, quoted: bool) -> list[str]:
        """Say that these may be several users, and what tells them apart. quoted: with the first question."""
        if not self._conversations:
            return []
        shown = f", such as “{self._shown}”" if quoted else ""
        doubt = (
            f"{self._conversations:,} conversations hold a question that was asked up to {self._times:,} times after "
            f"the same words{shown}, and are each taken for one user who had it answered again: where they are several "
            "users, as of a menu, nothing in the log tells them apart; log a session_id, or the user, with each call"
        )
        return [doubt]
