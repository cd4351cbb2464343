"""Loose: an instruction is kept if the response keeps it after dropping what assistants wrap answers in.

A first line "Sure, here it is:", a closing line, or `*` decoration breaks many strict checks without breaking the
answer.
"""

from dataclasses import dataclass
from typing import ClassVar

from turnsignal.stream.checks.instruction_check import InstructionCheck
from turnsignal.stream.checks.protocol import CheckResult, Result
from turnsignal.stream.conversations.exchanges import Response

PREFIX = "loose."  #: `loose.punctuation.no_comma` is the loose form of `punctuation.no_comma`


@dataclass(frozen=True, slots=True, kw_only=True)
class Loose(InstructionCheck):
    """The response, or a variant of it, keeps the instruction. Source: IFEval, section 2.2 (loose accuracy).

    inner: the strict check. Variants: without the first line, the last, both, each also without asterisks. What fails
    everywhere is reported as the strict check says it.
    """

    family: ClassVar[str] = "loose"
    inner: InstructionCheck

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", PREFIX + self.inner.name)

    @property
    def version(self) -> int:  # type: ignore[override]
        """Version of the meaning: the strict check's, whose meaning it is."""
        return self.inner.version

    def evaluate(self, response: Response) -> CheckResult:
        """Return the first pass, or the strict result."""
        strict = self.inner.check(response)
        if strict.result is not Result.FAIL:
            return strict
        for text in _variants(response.text):
            if text.strip():
                checked = self.inner.check(response.with_text(text))
                if checked.result is Result.PASS:
                    return checked
        return strict


def _variants(text: str) -> list[str]:
    lines = text.split("\n")
    cut = ["\n".join(part).strip() for part in (lines[1:], lines[:-1], lines[1:-1])]
    return [*cut, *(variant.replace("*", "") for variant in [text, *cut])]
