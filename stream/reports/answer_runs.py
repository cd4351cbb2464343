"""Answer runs: which of several assistant turns in a row is the answer, where no user spoke in between.

Assistants say "one moment", call tools, write in parts and put people through to others before they answer, and close
the chat when nobody writes any more. None of that is an answer of its own: figures that counted it would tell releases
apart by their manners, and a release that stops to say "one moment" would look mended.
"""

from typing import NamedTuple


class RunTurn(NamedTuple):
    """What decides whether a turn is the answer of its run. failed: it is none; documents: it was given some."""

    failed: bool
    documents: bool

    def replaces(self, earlier: "RunTurn") -> bool:
        """Say whether this turn is the answer in the place of an earlier one of its run.

        The last one is, and where it fails, so did the assistant. But a line that is given no documents takes nothing
        back of an answer out of documents ("I'll close this chat now").

        >>> RunTurn(failed=False, documents=True).replaces(RunTurn(failed=True, documents=False))
        True
        >>> RunTurn(failed=False, documents=False).replaces(RunTurn(failed=False, documents=True))
        False
        """
        return self.failed or self.documents or earlier.failed or not earlier.documents
