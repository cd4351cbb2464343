"""Start and end checks: how a response must open or close."""

from dataclasses import dataclass
from typing import ClassVar

from turnsignal.stream.checks.instruction_check import InstructionCheck, failed, shown
from turnsignal.stream.checks.protocol import PASSED, CheckResult
from turnsignal.stream.conversations.exchanges import Response


@dataclass(frozen=True, slots=True, kw_only=True)
class Quotation(InstructionCheck):
    """The whole response stands in double quotation marks. Source: IFEval, startend:quotation."""

    family: ClassVar[str] = "startend.quotation"
    example: ClassVar[str] = "startend.quotation"
    breaks: ClassVar[str] = "Done."

    def evaluate(self, response: Response) -> CheckResult:
        """Look at both ends."""
        text = response.text.strip()
        if len(text) > 1 and text[0] == text[-1] == '"':
            return PASSED
        return failed("the response is not wrapped in double quotation marks")


@dataclass(frozen=True, slots=True, kw_only=True)
class EndChecker(InstructionCheck):
    """The response ends with a phrase and nothing after it. Source: IFEval, startend:end_checker.

    phrase: upper and lower case are the same; closing double quotation marks do not count.
    """

    family: ClassVar[str] = "startend.end_checker"
    example: ClassVar[str] = "startend.end_checker(phrase='Anything else?')"
    breaks: ClassVar[str] = "Done."
    phrase: str

    def validate(self) -> str | None:
        """Expect a phrase."""
        return None if self.phrase.strip() else f"expected phrase to be a text; got {self.phrase!r}"

    def evaluate(self, response: Response) -> CheckResult:
        """Look at the end."""
        text = response.text.strip().strip('"')
        if text.lower().endswith(self.phrase.strip().lower()):
            return PASSED
        return failed(f"the response ends with {shown(text[-40:])}, not with {shown(self.phrase)}")
