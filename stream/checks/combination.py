"""Combination checks: instructions about the response as a whole."""

from dataclasses import dataclass
from typing import ClassVar

from turnsignal.stream.checks.instruction_check import InstructionCheck, failed, shown
from turnsignal.stream.checks.protocol import PASSED, CheckResult
from turnsignal.stream.conversations.exchanges import Response
from turnsignal.stream.text.typography import typed


@dataclass(frozen=True, slots=True, kw_only=True)
class TwoResponses(InstructionCheck):
    """Two different responses, separated by six asterisks. Source: IFEval, combination:two_responses."""

    family: ClassVar[str] = "combination.two_responses"
    example: ClassVar[str] = "combination.two_responses"
    breaks: ClassVar[str] = "One answer."

    def evaluate(self, response: Response) -> CheckResult:
        """Split and compare."""
        parts = [part.strip() for part in response.text.split("******")]
        given = [part for part in parts if part]
        if len(given) != 2 or not all(parts[1:-1]):
            return failed(f"{len(given)} responses separated by ******, two were asked for")
        return PASSED if given[0] != given[1] else failed("both responses are the same")


@dataclass(frozen=True, slots=True, kw_only=True)
class RepeatPrompt(InstructionCheck):
    """The response first repeats a text word for word. Source: IFEval, combination:repeat_prompt.

    prompt: the text; upper and lower case are the same, typographic and straight signs, too.
    """

    family: ClassVar[str] = "combination.repeat_prompt"
    example: ClassVar[str] = "combination.repeat_prompt(prompt='Write it.')"
    breaks: ClassVar[str] = "Done."
    version: ClassVar[int] = 3  # since typographic signs are the same as typed ones
    prompt: str

    def validate(self) -> str | None:
        """Expect a text."""
        return None if self.prompt.strip() else f"expected prompt to be a text; got {self.prompt!r}"

    def evaluate(self, response: Response) -> CheckResult:
        """Compare the beginning."""
        if response.typed.strip().lower().startswith(typed(self.prompt).strip().lower()):
            return PASSED
        return failed(f"the response begins with {shown(response.text.strip())}, not with {shown(self.prompt.strip())}")
