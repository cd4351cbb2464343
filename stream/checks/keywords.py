"""Keyword checks: words and letters that must or must not appear.

Parameters are plain words, never patterns: user-written patterns belong to `pattern.require`, on an engine that cannot
stall. In words and responses alike, an apostrophe is one whether typographic or straight, and so are quotation marks,
spaces and hyphens.
"""

import re
from dataclasses import dataclass, field
from typing import ClassVar

from turnsignal.stream.checks.counted import Counted
from turnsignal.stream.checks.instruction_check import InstructionCheck, failed, shown
from turnsignal.stream.checks.protocol import PASSED, CheckResult
from turnsignal.stream.conversations.exchanges import Response
from turnsignal.stream.text.typography import typed


@dataclass(frozen=True, slots=True, kw_only=True)
class Existence(InstructionCheck):
    """Every word of the list appears. Source: IFEval, keywords:existence.

    words: separated by `|`; found inside longer words too, upper and lower case are the same, as in the reference.
    """

    family: ClassVar[str] = "keywords.existence"
    example: ClassVar[str] = "keywords.existence(words='reset|link')"
    breaks: ClassVar[str] = "Done."
    version: ClassVar[int] = 3  # since typographic signs are the same as typed ones
    words: str

    def validate(self) -> str | None:
        """Expect at least one word."""
        return _complain(self.words)

    def evaluate(self, response: Response) -> CheckResult:
        """Fail at the first word that is missing."""
        text = response.typed.lower()
        for word in _split(self.words):
            if typed(word).lower() not in text:
                return failed(f"the word {shown(word)} does not appear")
        return PASSED


@dataclass(frozen=True, slots=True, kw_only=True)
class ForbiddenWords(InstructionCheck):
    """No word of the list appears. Source: IFEval, keywords:forbidden_words.

    words: separated by `|`; whole words only, upper and lower case are the same. A word may begin or end with a sign:
    `c++`, `c#`, `.net`.
    """

    family: ClassVar[str] = "keywords.forbidden_words"
    example: ClassVar[str] = "keywords.forbidden_words(words='sorry|c++')"
    breaks: ClassVar[str] = "I am sorry."
    version: ClassVar[int] = 4  # since typographic signs are the same as typed ones
    words: str
    pattern: re.Pattern[str] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        InstructionCheck.__post_init__(self)
        words = "|".join(re.escape(typed(word)) for word in _split(self.words))
        object.__setattr__(self, "pattern", re.compile(rf"(?<!\w)(?:{words})(?!\w)", re.IGNORECASE))

    def validate(self) -> str | None:
        """Expect at least one word."""
        return _complain(self.words)

    def evaluate(self, response: Response) -> CheckResult:
        """Fail at the first forbidden word."""
        match = self.pattern.search(response.typed)
        if match is None:
            return PASSED
        return failed(f"the forbidden word {shown(response.text[slice(*match.span())])} appears", *match.span())


@dataclass(frozen=True, slots=True, kw_only=True)
class Frequency(Counted):
    """A word appears at least or at most so often. Source: IFEval, keywords:frequency.

    word: found inside longer words too, upper and lower case are the same, as in the reference.
    """

    family: ClassVar[str] = "keywords.frequency"
    example: ClassVar[str] = "keywords.frequency(at_least=2,word=link)"
    breaks: ClassVar[str] = "One link."
    version: ClassVar[int] = 3  # since typographic signs are the same as typed ones
    unit: ClassVar[str] = "occurrences of the word"
    word: str

    def validate(self) -> str | None:
        """Expect a word and bounds."""
        return _complain(self.word) or Counted.validate(self)

    def evaluate(self, response: Response) -> CheckResult:
        """Count the word."""
        return self.count_result(response.typed.lower().count(typed(self.word).strip().lower()))


@dataclass(frozen=True, slots=True, kw_only=True)
class LetterFrequency(Counted):
    """A letter or sign appears at least or at most so often. Source: IFEval, keywords:letter_frequency.

    letter: one character; upper and lower case are the same.
    """

    family: ClassVar[str] = "keywords.letter_frequency"
    example: ClassVar[str] = "keywords.letter_frequency(at_most=5,letter='!')"
    breaks: ClassVar[str] = "Done!!!!!!"
    unit: ClassVar[str] = "occurrences of the letter"
    letter: str

    def validate(self) -> str | None:
        """Expect one character and bounds."""
        if len(self.letter) != 1:
            return f"expected letter to be one character; got {self.letter!r}"
        return Counted.validate(self)

    def evaluate(self, response: Response) -> CheckResult:
        """Count the letter."""
        return self.count_result(response.text.lower().count(self.letter.lower()))


def _split(words: str) -> list[str]:
    return [word.strip() for word in words.split("|") if word.strip()]


def _complain(words: str) -> str | None:
    return None if _split(words) else f"expected at least one word; got {words!r}"
