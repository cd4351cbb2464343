"""Nameless: calls without a conversation's id in a log whose others have one, as a program's calls beside have none."""

from collections.abc import Sequence

from turnsignal.stream.formats.heads import Head
from turnsignal.stream.formats.messages import spoken_in
from turnsignal.stream.formats.protocol import Call
from turnsignal.stream.text.visible import one_line

_MOST = 0.5  #: of the calls of a log, after which most have no id
_SHOWN = 60


class Nameless:
    """Calls of a log that name no conversation, and go on from none that others name."""

    def __init__(self) -> None:
        self._calls = self._nameless = 0
        self._first: int | None = None
        self._shown = ""

    def take(self, heads: Sequence[Head], chosen: Sequence[str]) -> None:
        """Take in all calls, each with the name of its conversation, "" for what is in none."""
        named = {name for head, name in zip(heads, chosen, strict=True) if head.conversation is not None}
        for at, name in enumerate(chosen):
            self._calls += bool(name)
            if name and name not in named:
                self._nameless += 1
                self._first = at if self._first is None else self._first

    def see(self, number: int, call: Call) -> None:
        """Look at a call again, which may be quoted."""
        if number == self._first:
            self._shown = one_line("".join(message.text for message in spoken_in(call.inputs)[-1:]), _SHOWN)

    def doubts(self, *, quoted: bool) -> list[str]:
        """Say that they may be a program's. quoted: with the first question of them."""
        if not 0 < self._nameless < _MOST * self._calls:
            return []
        shown = f", such as “{self._shown}”" if quoted else ""
        doubt = (
            f"{self._nameless:,} of {self._calls:,} calls name no conversation, as the others do, and are "
            f"conversations of their own{shown}: where a program asks beside one (a title, an intent, a judge), give "
            "these calls its id, or leave them out of the log"
        )
        return [doubt]
