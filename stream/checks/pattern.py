"""Pattern checks: a user's own regular expression, required or forbidden.

Patterns come from users and texts from strangers, so they run on RE2, whose time is linear in the text.
"""

from dataclasses import dataclass, field
from typing import Any, ClassVar

import re2

from turnsignal.stream.checks.instruction_check import InstructionCheck, failed, shown
from turnsignal.stream.checks.protocol import PASSED, CheckResult
from turnsignal.stream.conversations.exchanges import Response
from turnsignal.stream.text.markup import blank_code

_OPTIONS = re2.Options()
_OPTIONS.log_errors = False
_OPTIONS.max_mem = 8 << 20  # a pattern that needs more than 8 MiB is a mistake or an attack


@dataclass(frozen=True, slots=True, kw_only=True)
class Pattern(InstructionCheck):
    """A check with a compiled pattern.

    regex: RE2 syntax (no look-around, no back-references); `(?i)` for either case, `(?m)` for lines, `(?s)` for `.`
    over lines; skip_code: whether code blocks and code spans are left out, where `!=` is no exclamation.
    """

    regex: str
    skip_code: bool = False
    compiled: Any = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        InstructionCheck.__post_init__(self)
        object.__setattr__(self, "compiled", re2.compile(self.regex, _OPTIONS))

    def validate(self) -> str | None:
        """Expect a pattern that RE2 takes."""
        if not self.regex:
            return "expected regex to be a pattern; got an empty text"
        try:
            re2.compile(self.regex, _OPTIONS)
        except (re2.error, UnicodeEncodeError) as error:
            complaint = error.args[0].decode("utf-8", "replace") if isinstance(error.args[0], bytes) else str(error)
            return f"expected regex in RE2 syntax (no look-around, no back-references); got {self.regex!r}: {complaint}"
        return None

    def find(self, text: str) -> tuple[int, int] | None:
        """Return the span of the first match."""
        span = self._search(text)
        if span is None or not self.skip_code or ("`" not in text and "~~~" not in text):
            return span
        return self._search(blank_code(text))

    def _search(self, text: str) -> tuple[int, int] | None:
        try:
            match = self.compiled.search(text)
        except UnicodeEncodeError:  # lone surrogates; one character each, so that spans stay right
            match = self.compiled.search(text.encode("utf-8", "replace").decode())
        return None if match is None else match.span()


@dataclass(frozen=True, slots=True, kw_only=True)
class Require(Pattern):
    """The pattern matches somewhere. Source: turnsignal's own, for instructions that no other check knows.

    regex: RE2 syntax, as in `pattern.require(regex='(?i)ticket #[0-9]+')`; skip_code: whether code does not count.
    """

    family: ClassVar[str] = "pattern.require"
    example: ClassVar[str] = "pattern.require(regex='(a|aa)+$')"
    breaks: ClassVar[str] = "Done."

    def evaluate(self, response: Response) -> CheckResult:
        """Fail when nothing matches."""
        if self.find(response.text) is not None:
            return PASSED
        return failed(f"nothing matches {shown(self.regex)}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Forbid(Pattern):
    """The pattern matches nowhere. Source: turnsignal's own, for instructions that no other check knows.

    regex: RE2 syntax, as in `pattern.forbid(regex='(?i)as an ai (language )?model')`; skip_code: whether code is free,
    as in `pattern.forbid(regex='!',skip_code=true)`.
    """

    family: ClassVar[str] = "pattern.forbid"
    example: ClassVar[str] = "pattern.forbid(regex='(a*)*b')"
    breaks: ClassVar[str] = "Do be quick."

    def evaluate(self, response: Response) -> CheckResult:
        """Fail at the first match."""
        span = self.find(response.text)
        if span is None:
            return PASSED
        return failed(f"{shown(response.text[slice(*span)])} matches {shown(self.regex)}", *span)
