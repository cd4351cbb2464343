"""Instruction check: a check's parameters are its fields, and its name is spelled from them.

The name is the config entry, the metric label and the legend, so no check writes it by hand.
"""

from abc import ABC, abstractmethod
from dataclasses import MISSING, dataclass, field, fields
from typing import ClassVar

from turnsignal.stream.checks.protocol import NOT_APPLICABLE, CheckResult, Result
from turnsignal.stream.conversations.exchanges import Response
from turnsignal.stream.errors import ConfigError
from turnsignal.stream.names import write_name


@dataclass(frozen=True, slots=True, kw_only=True)
class InstructionCheck(ABC):
    """One instruction with typed parameters; subclass it as a frozen, slotted dataclass and write `evaluate`.

    family: the name without parameters; example: a whole name, parameters and all, which the tests of all checks and
    the price list use; breaks: a response that breaks the example; version: raised when the meaning changes; name:
    spelled once, defaults left out.
    Raises ConfigError when `validate` has something to say about the parameters.
    """

    family: ClassVar[str]
    example: ClassVar[str]
    breaks: ClassVar[str]
    version: ClassVar[int] = 2  # since blank responses are not judged

    name: str = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        wrong = self.validate()
        if wrong is not None:
            msg = f"{self.family}: {wrong}"
            raise ConfigError(msg)
        chosen = {
            one.name: getattr(self, one.name)
            for one in fields(self)
            if one.init and (one.default is MISSING or getattr(self, one.name) != one.default)
        }
        object.__setattr__(self, "name", write_name(self.family, chosen))

    def validate(self) -> str | None:
        """Say what is wrong with the parameters: what was expected and what came; None when nothing is."""
        return None

    def check(self, response: Response) -> CheckResult:
        """Say whether the response keeps the instruction; one that says nothing neither keeps nor breaks any."""
        return NOT_APPLICABLE if is_blank(response) else self.evaluate(response)

    @abstractmethod
    def evaluate(self, response: Response) -> CheckResult:
        """Say whether a response that says something keeps the instruction."""


def is_blank(response: Response) -> bool:
    """Say whether a response has nothing but white space."""
    text = response.text
    return not text or text.isspace()


def failed(explanation: str, start: int = -1, end: int = -1) -> CheckResult:
    """Return a failing result; start, end: the span in the response's text, -1 when there is none."""
    return CheckResult(Result.FAIL, explanation, start, end)


def shown(text: str, limit: int = 40) -> str:
    """Quote a piece of a response in an explanation, cut to `limit` characters, control characters escaped."""
    return repr(text if len(text) <= limit else text[: limit - 1] + "…")
