"""Compliance: how a response keeps the instructions that bind it, check by check and as one share."""

from collections.abc import Callable, Sequence
from typing import Any

import msgspec
import orjson

from turnsignal.stream.checks import compliance
from turnsignal.stream.checks.instruction_check import InstructionCheck, is_blank
from turnsignal.stream.checks.protocol import NOT_APPLICABLE, PASSED, Check, CheckResult, Result
from turnsignal.stream.conversations.exchanges import Response
from turnsignal.stream.pipeline.cited import CitedScores
from turnsignal.stream.records.scores import Score, Unscored
from turnsignal.stream.suite import CheckPart

COMPLIANCE = "compliance"

_SPENT = CheckResult(Result.ERROR, "this response had used up its processor time before the check's turn came")
_REMEMBERED = 1000  #: combinations of results that are kept encoded
_USUAL = frozenset((PASSED, NOT_APPLICABLE))  #: the two results that say no more than that

#: scores ready to be written: plain values, or bytes encoded once where they are always the same
Encoded = dict[str, Any] | orjson.Fragment

#: check and result, in the suite's order
Results = tuple[tuple[str, Result], ...]


class EncodedScores(msgspec.Struct, gc=False):
    """Some of a row's scores: encoded, by name and value, or with the reason why there is none."""

    scores: list[Encoded] = []
    scorers: tuple[str, ...] = ()
    values: tuple[float, ...] = ()
    unscored: tuple[tuple[str, Unscored], ...] = ()

    def take(self, score: Score) -> None:
        """Add one score."""
        self.scores.append(score.as_json())
        if score.unscored is not None:
            self.unscored += ((score.scorer, score.unscored),)
        elif score.value is not None:
            self.scorers += (score.scorer,)
            self.values += (score.value,)

    def add(self, part: "EncodedScores | CitedScores") -> None:
        """Add what another part says."""
        self.scores += part.scores
        self.scorers += part.scorers
        self.values += part.values
        self.unscored += part.unscored


class InstructionScorer:
    """Check a response against the instructions that bind its assistant, platform and version."""

    def __init__(self, parts: Sequence[tuple[CheckPart, Check]]) -> None:
        self._checks = [check for _, check in parts]
        # Of ours, what follows the question whether there is anything to look at, which is asked once here.
        self._looks = [check.evaluate if isinstance(check, InstructionCheck) else check.check for check in self._checks]
        self._names = [check.name for check in self._checks]
        self._weights = [part.weight for part, _ in parts]
        self._usual: dict[tuple[CheckResult, ...], tuple[EncodedScores, Results, float | None]] = {}
        self._passed = [Score(name, 1.0, "pass").as_json() for name in self._names]
        self._left_out = [Score(name, unscored=Unscored.NOT_APPLICABLE).as_json() for name in self._names]

    def exempt(self) -> tuple[EncodedScores, Results, float | None]:
        """Return what there is to say of a response that no check binds."""
        return self._encode([NOT_APPLICABLE] * len(self._checks))

    def score(
        self, response: Response, is_over: Callable[[], bool] | None = None
    ) -> tuple[EncodedScores, Results, float | None]:
        """Return the scores, compliance last among them; the result of every check; and compliance.

        is_over: asked before every check whether the response has used up its time.
        """
        try:
            if is_over is not None:
                findings = [_SPENT if is_over() else _check(check, response) for check in self._checks]
            elif is_blank(response):
                findings = [check.check(response) for check in self._checks]
            else:
                findings = [look(response) for look in self._looks]
        except Exception:  # one of them: find out which
            findings = [_check(check, response) for check in self._checks]
        # What only passes or does not apply is always the same: encoded once per combination.
        combination = tuple(findings)
        usual = self._usual.get(combination)
        if usual is None:
            if not _USUAL.issuperset(combination):
                return self._encode(findings)
            if len(self._usual) >= _REMEMBERED:
                self._usual.clear()
            part, results, share = self._encode(findings)
            part.scores = [orjson.Fragment(orjson.dumps(part.scores)[1:-1])]
            usual = self._usual[combination] = (part, results, share)
        return usual

    def _encode(self, findings: Sequence[CheckResult]) -> tuple[EncodedScores, Results, float | None]:
        part = EncodedScores()
        for at, (name, finding) in enumerate(zip(self._names, findings, strict=True)):
            if finding is PASSED:
                part.scores.append(self._passed[at])
                part.scorers += (name,)
                part.values += (1.0,)
            elif finding is NOT_APPLICABLE:
                part.scores.append(self._left_out[at])
                part.unscored += ((name, Unscored.NOT_APPLICABLE),)
            else:
                part.take(_as_score(name, finding))
        share = compliance(list(zip(findings, self._weights, strict=True)))
        part.take(_as_compliance(findings, share))
        return part, tuple((n, f.result) for n, f in zip(self._names, findings, strict=True)), share


def _check(check: Check, response: Response) -> CheckResult:
    try:
        return check.check(response)
    except Exception as error:
        return CheckResult(Result.ERROR, f"the check failed: {type(error).__name__}")


def _as_compliance(findings: Sequence[CheckResult], share: float | None) -> Score:
    """Score the share, and say of how many checks it is: 1.0 of one check is less than 0.9 of ten."""
    passed, failed = (sum(finding.result is result for finding in findings) for result in (Result.PASS, Result.FAIL))
    explanation = f"{passed} of {passed + failed} checks passed that applied, of {len(findings)} in all"
    missing = Unscored.NOT_APPLICABLE if share is None else None
    return Score(COMPLIANCE, share, unscored=missing, explanation=explanation, applied=passed + failed)


def _as_score(name: str, finding: CheckResult) -> Score:
    if finding.result is Result.PASS:
        return Score(name, 1.0, "pass")
    if finding.result is Result.NOT_APPLICABLE:
        return Score(name, unscored=Unscored.NOT_APPLICABLE)
    if finding.result is Result.ERROR:
        return Score(name, unscored=Unscored.ERROR, explanation=finding.explanation)
    span = (finding.start, finding.end) if finding.start >= 0 else None
    return Score(name, 0.0, "fail", None, finding.explanation, None, span)
