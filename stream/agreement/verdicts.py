"""Verdicts beside labels: how far a judge agrees with people, and what its rate comes to when they correct it."""

from collections.abc import Iterable, Mapping
from typing import Any

from turnsignal.stream.agreement.comparisons import ComparisonResult, LabelledRecord, format_label, unlike
from turnsignal.stream.agreement.figures import LabelledPair
from turnsignal.stream.agreement.mappings import VerdictLabels, find
from turnsignal.stream.agreement.raters import RatedItem
from turnsignal.stream.conversations.judged import weight_of
from turnsignal.stream.errors import TurnsignalError
from turnsignal.stream.records.verdicts import Unjudged, Verdict
from turnsignal.stream.statistics.prediction_powered import JudgedLabel

NO_VERDICT = "no verdict"

_Key = tuple[str, str]


class VerdictsCompared:
    """Compares the verdicts of one judge with the labels of the turns that they are about."""

    def __init__(self, labels: VerdictLabels, verdicts: Iterable[Verdict]) -> None:
        self._labels = labels
        self._verdicts: dict[_Key, Verdict] = {}
        self._wanted: dict[_Key, tuple[bool, str, str]] = {}
        self._turns: set[_Key] = set()  # of this data, as a file may hold the verdicts of several
        self._out = ComparisonResult()
        known = list(verdicts)
        named = [verdict for verdict in known if verdict.judge.name == labels.judge]
        for verdict in named or [verdict for verdict in known if verdict.judge.rubric == labels.judge]:
            self._add(verdict)

    def _add(self, verdict: Verdict) -> None:
        turn = verdict.turn_id if self._labels.on == "assistant" else verdict.follow_up_id or ""
        other = next(iter(self._verdicts.values()), verdict)
        if _who(other) != _who(verdict):
            msg = f"judge = {self._labels.judge!r}: expected verdicts of one judge, got {' and '.join(_who(other))}"
            msg += f", and {' and '.join(_who(verdict))}; give them apart"
            raise TurnsignalError(msg)
        self._verdicts[verdict.conversation_id, turn] = verdict

    def on_record(self, labelled: LabelledRecord) -> None:
        """Keep the label of a turn that carries one, and what each rater said."""
        record, labels = labelled.record, self._labels
        if record.get("role") != labels.on:
            return
        key = str(record.get("conversation_id")), str(record.get("turn_id"))
        self._turns.add(key)
        value = find(record, labels.label)
        if value is None:
            return
        try:
            truth = labels.read(value)
            raters = [labels.read(one) for one in _each(find(record, labels.raters) if labels.raters else None)]
        except ValueError as error:
            raise unlike(labelled, labels.label, error) from None
        self._out.labelled += 1
        self._out.rated.append(RatedItem(key[0], tuple(one for one in raters if one is not None)))
        if truth is None:
            self._out.left_out[format_label(value)] += 1
        else:
            text = (
                format_label(value)
                if labels.at_least is None
                else f"{'from' if truth else 'below'} {labels.at_least:g}"
            )
            self._wanted[key] = truth, text, labels.group(record)

    def on_row(self, row: Mapping[str, Any]) -> None:
        """Ignore rows: verdicts are compared without a replay."""

    def get(self) -> ComparisonResult:
        """Pair each label with its verdict."""
        out, threshold = self._out, self._labels.threshold
        for key, (truth, label, group) in self._wanted.items():
            verdict = self._verdicts.get(key)
            if verdict is None or verdict.value is None:
                out.unscored[NO_VERDICT if verdict is None else str(verdict.unscored)] += 1
                continue
            good = verdict.value >= threshold
            word = verdict.label or ("good" if good else "bad")
            out.observed.append(LabelledPair(key[0], truth, good, verdict.value, label, word, group))
        for key, verdict in self._verdicts.items():
            if key not in self._turns:
                continue
            if verdict.value is not None:
                known = self._wanted.get(key)
                truth_value = None if known is None else float(known[0])
                weight = weight_of(verdict.inclusion)
                out.judged.append(JudgedLabel(key[0], float(verdict.value >= threshold), truth_value, weight))
            if verdict.unscored is Unjudged.SAMPLED_OUT:
                out.sampled_out += 1
            elif verdict.unscored is not None:
                out.valueless[str(verdict.unscored)] += 1
        self._wanted.clear()
        return out


def _who(verdict: Verdict) -> tuple[str, str, str]:
    return verdict.judge.name, verdict.judge.asked, verdict.judge.prompt


def _each(value: Any) -> list[Any]:
    """Return the raters' labels of a list, or of an object by rater."""
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []
