"""Counted: a check that counts something and compares it with `at_least` and `at_most`.

IFEval says "at least n", "less than n" or "exactly n"; all three are a lower and an upper bound.
"""

from dataclasses import dataclass
from typing import ClassVar

from turnsignal.stream.checks.instruction_check import InstructionCheck, failed
from turnsignal.stream.checks.protocol import PASSED, CheckResult


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted(InstructionCheck):
    """A check on how many there are.

    at_least, at_most: both inclusive, one of them is needed; "less than n" is `at_most=n-1`, "exactly n" is both.
    """

    unit: ClassVar[str]  #: what is counted, in the plural

    at_least: int = 0
    at_most: int | None = None

    def validate(self) -> str | None:
        """Expect bounds that some count can meet."""
        if self.at_least == 0 and self.at_most is None:
            return "expected at_least=N, at_most=N or both; got neither"
        if self.at_least < 0:
            return f"expected at_least of 0 or more; got {self.at_least}"
        if self.at_most is not None and self.at_most < self.at_least:
            return f"expected at_most of {self.at_least} or more; got {self.at_most}"
        return None

    def count_result(self, count: int) -> CheckResult:
        """Compare a count with the bounds."""
        if count < self.at_least:
            return failed(f"{count} {self.unit}, at least {self.at_least} were asked for")
        if self.at_most is not None and count > self.at_most:
            return failed(f"{count} {self.unit}, at most {self.at_most} were asked for")
        return PASSED
