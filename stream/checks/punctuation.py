"""Punctuation checks: signs that a response must do without."""

from dataclasses import dataclass
from typing import ClassVar

from turnsignal.stream.checks.instruction_check import InstructionCheck, failed
from turnsignal.stream.checks.protocol import PASSED, CheckResult
from turnsignal.stream.conversations.exchanges import Response


@dataclass(frozen=True, slots=True, kw_only=True)
class NoComma(InstructionCheck):
    """The response has no comma. Source: IFEval, punctuation:no_comma."""

    family: ClassVar[str] = "punctuation.no_comma"
    example: ClassVar[str] = "punctuation.no_comma"
    breaks: ClassVar[str] = "Yes, done."

    def evaluate(self, response: Response) -> CheckResult:
        """Fail at the first comma."""
        at = response.text.find(",")
        return PASSED if at < 0 else failed("the response has a comma", at, at + 1)
