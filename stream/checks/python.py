"""Python checks: a user's own function, by its place (`package.module:function`) or by an entry point.

Here is what they are called, what they are given and how their answers are read. They run in a process of their own
(agents.python_checks.host), as a stranger's function may hang, crash or eat the memory, and scoring must go on.
"""

import re
from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

from turnsignal.stream.checks.instruction_check import InstructionCheck, is_blank, shown
from turnsignal.stream.checks.protocol import NOT_APPLICABLE, PASSED, CheckResult, Result
from turnsignal.stream.conversations.exchanges import Response
from turnsignal.stream.text.visible import one_line

GROUP = "turnsignal.checks"  #: the entry points that packages offer checks under
TIMEOUT = 0.1  #: seconds that a call may take where the suite does not say
LONGEST_TIMEOUT = 10.0

_CALL = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*:[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*")
_EXPECTED = "expected true, false or {passed or result, explanation, start, end}"
_WORDS = ("pass", "fail", "not_applicable")
_KEYS = frozenset({"passed", "result", "explanation", "start", "end"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Python(InstructionCheck):
    """A check that is a user's function. Source: turnsignal's own, for instructions that no pattern can tell."""

    @property
    @abstractmethod
    def target(self) -> str:
        """What is to be loaded."""

    def evaluate(self, response: Response) -> CheckResult:  # noqa: ARG002 - the seam of every check
        """Return an error: only a `Hosted` check has a runner."""
        return errored(f"{self.name} has no process to run in; see turnsignal.agents.python_checks.host.hosted")


@dataclass(frozen=True, slots=True, kw_only=True)
class Function(Python):
    """A function of a module that can be imported where the worker runs. Source: turnsignal's own.

    call: `package.module:function`, as in `python.function(call=acme.checks:polite)`.
    """

    family: ClassVar[str] = "python.function"
    call: str

    @property
    def target(self) -> str:
        """The module and the function."""
        return self.call

    def validate(self) -> str | None:
        """Expect a module and a function."""
        return None if _CALL.fullmatch(self.call) else f"expected call=package.module:function; got {shown(self.call)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryPoint(Python):
    """A function that an installed package offers under `turnsignal.checks`. Source: turnsignal's own.

    entry: the entry point's name, as in `python.entry_point(entry=polite)`.
    """

    family: ClassVar[str] = "python.entry_point"
    entry: str

    @property
    def target(self) -> str:
        """The entry point's name."""
        return self.entry

    def validate(self) -> str | None:
        """Expect a name."""
        return None if self.entry.strip() else f"expected the entry point's name; got {self.entry!r}"


class Runner(Protocol):
    """Who runs Python checks: bounded in time, never raising."""

    def __call__(self, check: "Hosted", response: Response) -> CheckResult:
        """Run one check on one response."""
        ...


@dataclass(frozen=True, slots=True)
class Hosted:
    """A Python check as a suite sets it up.

    version: the suite's number for what the function means, raised by whoever changes it; timeout: seconds for one
    call; run: who runs it, None where nothing is to be scored. The same response gives the same result as long as the
    function depends on nothing else and stays beneath half of its time. Beyond, live and replay cannot be the same: how
    long a call takes, and so which calls the quota leaves out, depends on the machine and on what else it does.
    """

    inner: Python
    version: int = 1
    timeout: float = TIMEOUT
    run: Runner | None = None

    @property
    def name(self) -> str:
        """Canonical name."""
        return self.inner.name

    def check(self, response: Response) -> CheckResult:
        """Have it run, unless the response says nothing."""
        return self.inner.check(response) if self.run is None or is_blank(response) else self.run(self, response)


def plain(response: Response) -> dict[str, Any]:
    """Return what a user's function is given: plain data, so that it needs nothing of ours and can break nothing.

    {text, platform, documents: [{doc_id, rank, retrieval_rank, score, title, url}]}; rank is 1-based in the context.
    """
    return {
        "text": response.text,
        "platform": response.platform,
        "documents": [
            {
                "doc_id": one.doc_id,
                "rank": place if one.rank is None else one.rank,
                "retrieval_rank": one.retrieval_rank,
                "score": one.score,
                "title": one.title,
                "url": one.url,
            }
            for place, one in enumerate(response.documents, 1)
        ],
    }


def read_returned(answer: object, length: int) -> CheckResult:
    """Read what a user's function returned about a text of `length` characters; anything unexpected is an error.

    answer: true or false, or {passed: bool} or {result: pass, fail or not_applicable}, with explanation (text), start
    and end (the failing span, characters, end exclusive).
    """
    if isinstance(answer, bool):
        answer = {"passed": answer}
    if not isinstance(answer, dict) or not answer.keys() <= _KEYS or ("passed" in answer) == ("result" in answer):
        return errored(f"{_EXPECTED}; got {shown(repr(answer), 80)}")
    word = answer.get("result")
    if type(answer.get("passed")) is bool:
        word = "pass" if answer["passed"] else "fail"
    explanation, start, end = answer.get("explanation"), answer.get("start"), answer.get("end")
    if word not in _WORDS or not isinstance(explanation, str | None):
        return errored(f"{_EXPECTED}; got {shown(repr(answer), 80)}")
    if word != "fail":
        return PASSED if word == "pass" else NOT_APPLICABLE
    sentence = one_line(explanation or "") or "the function says no"
    if start is None and end is None:
        return CheckResult(Result.FAIL, sentence)
    if type(start) is int and type(end) is int and 0 <= start <= end <= length:
        return CheckResult(Result.FAIL, sentence, start, end)
    return errored(f"expected 0 ≤ start ≤ end ≤ {length}; got {shown(repr((start, end)), 80)}")


def errored(explanation: str) -> CheckResult:
    """Return the result of a check that says nothing about the response."""
    return CheckResult(Result.ERROR, explanation)
