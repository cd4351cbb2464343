"""Check protocol: what a check says of one response, and the seam that every check implements."""

from enum import StrEnum
from typing import NamedTuple, Protocol

from turnsignal.stream.conversations.exchanges import Response


class Result(StrEnum):
    """How a response stands to one instruction."""

    PASS = "pass"
    FAIL = "fail"
    NOT_APPLICABLE = "not_applicable"
    ERROR = "error"


class CheckResult(NamedTuple):
    """What one check found.

    start, end: the failing span in the response's text (characters, end exclusive), −1 when there is none;
    explanation: one plain sentence, always there when the result is fail or error.
    """

    result: Result
    explanation: str | None = None
    start: int = -1
    end: int = -1


PASSED = CheckResult(Result.PASS)
NOT_APPLICABLE = CheckResult(Result.NOT_APPLICABLE)


class Check(Protocol):
    """One verifiable instruction.

    name: canonical, as `stream.names` spells it, defaults left out; version: raised when the meaning changes
    (part of the suite's fingerprint). `check` is deterministic, bounded in time (linear in the text) and never raises
    on any text.
    """

    @property
    def name(self) -> str:
        """Canonical name."""
        ...

    @property
    def version(self) -> int:
        """Version of the meaning."""
        ...

    def check(self, response: Response) -> CheckResult:
        """Say whether the response keeps the instruction."""
        ...
