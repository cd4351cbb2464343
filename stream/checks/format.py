"""Format checks: JSON, a title, bullets, highlights, sections, fixed answers.

Shapes that another program or a template expects; all are read line by line, in one pass.
"""

import re
from dataclasses import dataclass
from typing import ClassVar

import orjson

from turnsignal.stream.checks.counted import Counted
from turnsignal.stream.checks.instruction_check import InstructionCheck, failed
from turnsignal.stream.checks.protocol import PASSED, CheckResult
from turnsignal.stream.conversations.exchanges import Response
from turnsignal.stream.text.typography import typed

_FENCES = ("```json", "```Json", "```JSON", "```")
_SINGLE = re.compile(r"\*[^\n*]*\*")
_DOUBLE = re.compile(r"\*\*[^\n*]*\*\*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Json(InstructionCheck):
    """The whole response is JSON, in a code fence or bare. Source: IFEval, detectable_format:json_format."""

    family: ClassVar[str] = "format.json"
    example: ClassVar[str] = "format.json"
    breaks: ClassVar[str] = "Done."

    def evaluate(self, response: Response) -> CheckResult:
        """Parse."""
        text = response.text.strip()
        for fence in _FENCES:
            if text.startswith(fence):
                text = text[len(fence) :]
                break
        try:
            orjson.loads(text.removesuffix("```").strip())
        except (orjson.JSONDecodeError, UnicodeEncodeError) as error:
            return failed(f"the response is not JSON: {error}")
        return PASSED


@dataclass(frozen=True, slots=True, kw_only=True)
class Title(InstructionCheck):
    """The response has a title in double angular brackets, such as <<poem of joy>>. Source: IFEval,
    detectable_format:title.
    """

    family: ClassVar[str] = "format.title"
    example: ClassVar[str] = "format.title"
    breaks: ClassVar[str] = "Done."

    def evaluate(self, response: Response) -> CheckResult:
        """Look for a title on one line."""
        if "<<" in response.text:
            for line in response.text.split("\n"):
                start, end = line.find("<<"), line.rfind(">>")
                if 0 <= start < end and line[start:end].lstrip("<").rstrip(">").strip():
                    return PASSED
        return failed("no title in double angular brackets, such as <<title>>")


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberBulletLists(Counted):
    """The response has so many bullet points, lines that begin with `* ` or `-`. Source: IFEval,
    detectable_format:number_bullet_lists (exactly n: at_least and at_most).
    """

    family: ClassVar[str] = "format.number_bullet_lists"
    example: ClassVar[str] = "format.number_bullet_lists(at_least=3,at_most=3)"
    breaks: ClassVar[str] = "- a\n- b"
    unit: ClassVar[str] = "bullet points"

    def evaluate(self, response: Response) -> CheckResult:
        """Count lines."""
        count = 0
        for line in response.text.split("\n"):
            bare = line.lstrip()
            if bare.startswith("-") or (bare.startswith("*") and len(bare) > 1 and bare[1] != "*"):
                count += 1
        return self.count_result(count)


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberHighlightedSections(Counted):
    """The response has so many highlighted sections, *one* or **one**. Source: IFEval,
    detectable_format:number_highlighted_sections.
    """

    family: ClassVar[str] = "format.number_highlighted_sections"
    example: ClassVar[str] = "format.number_highlighted_sections(at_least=2)"
    breaks: ClassVar[str] = "Done."
    unit: ClassVar[str] = "highlighted sections"

    def evaluate(self, response: Response) -> CheckResult:
        """Count highlights with something inside."""
        text = response.text
        if "*" not in text:
            return self.count_result(0)
        highlights = [*_SINGLE.findall(text), *_DOUBLE.findall(text)]
        return self.count_result(sum(1 for highlight in highlights if highlight.strip("* \t")))


@dataclass(frozen=True, slots=True, kw_only=True)
class MultipleSections(Counted):
    """The response has so many sections, each begun with a splitter and a number ("Section 1"). Source: IFEval,
    detectable_format:multiple_sections.

    splitter: the word before the number, upper and lower case differ.
    """

    family: ClassVar[str] = "format.multiple_sections"
    example: ClassVar[str] = "format.multiple_sections(at_least=2,splitter=Part)"
    breaks: ClassVar[str] = "Part 1\nDone."
    unit: ClassVar[str] = "sections"
    splitter: str = "Section"

    def validate(self) -> str | None:
        """Expect a word and bounds."""
        if not self.splitter.strip():
            return f"expected splitter to be a word; got {self.splitter!r}"
        return Counted.validate(self)

    def evaluate(self, response: Response) -> CheckResult:
        """Count splitters that a number follows."""
        pieces = response.text.split(self.splitter.strip())[1:]
        return self.count_result(
            sum(1 for piece in pieces if piece[:1].isdigit() or (piece[:1].isspace() and piece[1:2].isdigit()))
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ConstrainedResponse(InstructionCheck):
    """The response holds one of the fixed answers. Source: IFEval, detectable_format:constrained_response.

    options: separated by `|`; typographic and straight signs are the same.
    """

    family: ClassVar[str] = "format.constrained_response"
    example: ClassVar[str] = "format.constrained_response(options=yes)"
    breaks: ClassVar[str] = "Perhaps."
    version: ClassVar[int] = 4  # since blanks around an option are none of it
    options: str = "My answer is yes.|My answer is no.|My answer is maybe."

    def validate(self) -> str | None:
        """Expect at least one option."""
        return None if self._choices else f"expected options separated by |; got {self.options!r}"

    def evaluate(self, response: Response) -> CheckResult:
        """Look for each option."""
        if any(typed(option) in response.typed for option in self._choices):
            return PASSED
        return failed(f"none of the fixed answers: {' / '.join(self._choices)}")

    @property
    def _choices(self) -> list[str]:
        return [option.strip() for option in self.options.split("|") if option.strip()]
