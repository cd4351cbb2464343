"""Start and end checks: how a response must open or close."""

from dataclasses import dataclass
from typing import ClassVar

from turnsignal.stream.checks.instruction_check import InstructionCheck, failed, shown
from turnsignal.stream.checks.protocol import PASSED, CheckResult
from turnsignal.stream.conversations.exchanges import Response
from turnsignal.stream.text.typography import typed


@dataclass(frozen=True, slots=True, kw_only=True)
class Quotation(InstructionCheck):
    """The whole response stands in double quotation marks, of either kind. Source: IFEval, startend:quotation."""

    family: ClassVar[str] = "startend.quotation"
    example: ClassVar[str] = "startend.quotation"
    breaks: ClassVar[str] = "Done."
    version: ClassVar[int] = 3  # since typographic signs are the same as typed ones

    def evaluate(self, response: Response) -> CheckResult:
        """Look at both ends."""
        text = response.typed.strip()
        if len(text) > 1 and text[0] == text[-1] == '"':
            return PASSED
        return failed("the response is not wrapped in double quotation marks")


@dataclass(frozen=True, slots=True, kw_only=True)
class EndChecker(InstructionCheck):
    """The response ends with a phrase and nothing after it. Source: IFEval, startend:end_checker.

    phrase: upper and lower case are the same, typographic and straight signs, too; double quotation marks at its end
    do not count.
    """

    family: ClassVar[str] = "startend.end_checker"
    example: ClassVar[str] = "startend.end_checker(phrase='Anything else?')"
    breaks: ClassVar[str] = "Done."
    version: ClassVar[int] = 3  # since typographic signs are the same as typed ones
    phrase: str

    def validate(self) -> str | None:
        """Expect a phrase."""
        return None if self.phrase.strip() else f"expected phrase to be a text; got {self.phrase!r}"

    def evaluate(self, response: Response) -> CheckResult:
        """Look at the end."""
        text, phrase = response.typed.strip().lower(), typed(self.phrase).strip().lower()
        if text.endswith(phrase) or text.strip('"').endswith(phrase):
            return PASSED
        text = response.text.strip()
        return failed(f"the response ends with {shown(text[-40:])}, not with {shown(self.phrase)}")
