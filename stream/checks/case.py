"""Case checks: all capitals, no capitals, or so many words in capitals.

IFEval asks for English as well; that is another instruction here: `language.is(code=en)`. Code keeps its own case:
`README.md` is no other name for `readme.md`.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from turnsignal.stream.checks.counted import Counted
from turnsignal.stream.checks.instruction_check import InstructionCheck, failed, shown
from turnsignal.stream.checks.protocol import NOT_APPLICABLE, PASSED, CheckResult
from turnsignal.stream.conversations.exchanges import Response
from turnsignal.stream.text.markup import blank_code

_TOKEN = re.compile(r"[^\W_]+(?:[-./&_][^\W_]+)*")
_CAPITAL = re.compile(r"[^\W\d_]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Upper(InstructionCheck):
    """Every letter outside code is a capital. Source: IFEval, change_case:english_capital.

    Not applicable without such letters.
    """

    family: ClassVar[str] = "case.upper"
    example: ClassVar[str] = "case.upper"
    breaks: ClassVar[str] = "Done."
    version: ClassVar[int] = 3  # since code has its own case

    def evaluate(self, response: Response) -> CheckResult:
        """Fail at the first word with a small letter."""
        text = response.text
        return PASSED if text.isupper() else _first(text, str.isupper, "is not in capital letters")


@dataclass(frozen=True, slots=True, kw_only=True)
class Lower(InstructionCheck):
    """No letter outside code is a capital. Source: IFEval, change_case:english_lowercase.

    Not applicable without such letters.
    """

    family: ClassVar[str] = "case.lower"
    example: ClassVar[str] = "case.lower"
    breaks: ClassVar[str] = "Done."
    version: ClassVar[int] = 3  # since code has its own case

    def evaluate(self, response: Response) -> CheckResult:
        """Fail at the first word with a capital."""
        text = response.text
        return PASSED if text.islower() else _first(text, str.islower, "is not in lower case")


@dataclass(frozen=True, slots=True, kw_only=True)
class CapitalWordFrequency(Counted):
    """So many words are all in capitals. Source: IFEval, change_case:capital_word_frequency.

    A hyphenated word is one; "I" and "A" count, as in the reference.
    """

    family: ClassVar[str] = "case.capital_word_frequency"
    example: ClassVar[str] = "case.capital_word_frequency(at_most=3)"
    breaks: ClassVar[str] = "READ THE MANUAL FIRST."
    unit: ClassVar[str] = "words in capitals"

    def evaluate(self, response: Response) -> CheckResult:
        """Count words in capitals."""
        return self.count_result(sum(1 for word in _TOKEN.findall(response.text) if word.isupper()))


def _first(text: str, fits: Callable[[str], bool], complaint: str) -> CheckResult:
    """Point at the first word that breaks the case, and none in code."""
    if "`" in text or "~~~" in text:
        text = blank_code(text)
    is_kept = False
    for word in _CAPITAL.finditer(text):
        if word[0].lower() == word[0].upper():
            continue
        if not fits(word[0]):
            return failed(f"{shown(word[0])} {complaint}", *word.span())
        is_kept = True
    return PASSED if is_kept else NOT_APPLICABLE
