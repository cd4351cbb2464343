"""Content checks: parts that a response must contain, whatever it says."""

import re
from dataclasses import dataclass, field
from typing import ClassVar

from turnsignal.stream.checks.counted import Counted
from turnsignal.stream.checks.instruction_check import InstructionCheck, failed, shown
from turnsignal.stream.checks.protocol import PASSED, CheckResult
from turnsignal.stream.conversations.exchanges import Response
from turnsignal.stream.text.typography import typed


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberPlaceholders(Counted):
    """The response has so many placeholders in square brackets, such as [address]. Source: IFEval,
    detectable_content:number_placeholders.
    """

    family: ClassVar[str] = "content.number_placeholders"
    example: ClassVar[str] = "content.number_placeholders(at_least=2)"
    breaks: ClassVar[str] = "Dear [name],"
    unit: ClassVar[str] = "placeholders"

    def evaluate(self, response: Response) -> CheckResult:
        """Count brackets that close on their line; a search per bracket would be quadratic on "[[[[…"."""
        count = 0
        for line in response.text.split("\n"):
            opened = line.find("[")
            while opened >= 0:
                closed = line.find("]", opened + 1)
                if closed < 0:
                    break
                count += 1
                opened = line.find("[", closed + 1)
        return self.count_result(count)


@dataclass(frozen=True, slots=True, kw_only=True)
class Postscript(InstructionCheck):
    """The response has a postscript. Source: IFEval, detectable_content:postscript.

    marker: what begins it; a space after its full stops, upper or lower case, and typographic signs make no
    difference.
    """

    family: ClassVar[str] = "content.postscript"
    example: ClassVar[str] = "content.postscript(marker=P.P.S)"
    breaks: ClassVar[str] = "Done."
    version: ClassVar[int] = 3  # since typographic signs are the same as typed ones
    marker: str = "P.S."
    pattern: re.Pattern[str] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        InstructionCheck.__post_init__(self)
        loose = re.escape(typed(self.marker).strip()).replace(r"\.", r"\.\s?").removesuffix(r"\s?")
        object.__setattr__(self, "pattern", re.compile(loose, re.IGNORECASE))

    def validate(self) -> str | None:
        """Expect a marker."""
        return None if self.marker.strip() else f"expected marker to be a text; got {self.marker!r}"

    def evaluate(self, response: Response) -> CheckResult:
        """Look for the marker."""
        if self.pattern.search(response.typed) is not None:
            return PASSED
        return failed(f"no postscript that begins with {shown(self.marker)}")
