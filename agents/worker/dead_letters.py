"""Dead letters in the log: that records are set aside, once a minute, with their count and the first of them.

A worker that can read nothing of a topic does all that it is asked: its lag is 0, its commits go through. Without a
line in its log only a metric says that nothing of what came was of use.
"""

from collections.abc import Iterable

from turnsignal.stream.records.wire import DEAD_LETTERS, OutputRecord

SECONDS = 60.0  #: between two warnings at least

_SHOWN = 300  #: characters of the sentence that says why
_COMMAND = "turnsignal export dead_letters --last 1h --out letters.jsonl"


class DeadLetterWarnings:
    """What is to be said of the dead letters of a worker. quotes: whether their details quote what came (`full`)."""

    def __init__(self, *, quotes: bool) -> None:
        self._quotes = quotes
        self._count = 0  # since the last warning
        self._first = ""  # of them, in words
        self._began = 0.0  # when it was written
        self._due = float("-inf")

    def add(self, outputs: Iterable[OutputRecord], now: float) -> None:
        """Take in what was written. now: seconds on a steady clock."""
        for output in outputs:
            if output.topic == DEAD_LETTERS:
                if not self._count:
                    self._first, self._began = self._describe(output), now
                self._count += 1

    def next_warning(self, now: float) -> str | None:
        """Return what is to be said at a time, None where nothing came, or it is too early."""
        if not self._count or now < self._due:
            return None
        seconds = max(1.0, min(now - self._began, SECONDS))
        count, self._count, self._due = self._count, 0, now + SECONDS
        became = "1 record became a dead letter" if count == 1 else f"{count:,} records became dead letters"
        return f"{became} within {seconds:.0f} s, first {self._first}; where each stood, and why: `{_COMMAND}`"

    def _describe(self, letter: OutputRecord) -> str:
        """Say where a record stood and why it was set aside, with nothing that anybody said."""
        headers = {name: value.decode("utf-8", "replace") for name, value in letter.headers or ()}
        offset = headers.get("offset", "-1")
        where = f"{headers.get('topic')}-{headers.get('partition')}" + ("" if offset == "-1" else f" offset {offset}")
        why = headers.get("reason", "")
        return f"{where}: {why}" if self._quotes else f"{where}: {why}: {headers.get('detail', '')[:_SHOWN]}"
