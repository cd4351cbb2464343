"""Comparisons: the scores of a turn beside its labels.

The scorers are those of the pipeline: follow-ups and ranking measures on citations are read from the rows that a replay
of the turns writes, citations by the suite's reader, checks and measures by their names. Scorers never see labels; only
a comparison sees both.
"""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

from turnsignal.stream.agreement.figures import LabelledPair
from turnsignal.stream.agreement.mappings import (
    CitationLabels,
    FollowUpLabels,
    InstructionLabels,
    Labels,
    MeasureLabels,
    ScoredLabels,
    find,
)
from turnsignal.stream.agreement.raters import RatedItem
from turnsignal.stream.checks import parse_check
from turnsignal.stream.checks.protocol import Result
from turnsignal.stream.citations.reader import CitationReader
from turnsignal.stream.conversations.exchanges import Response
from turnsignal.stream.errors import ConfigError, TurnsignalError
from turnsignal.stream.follow_ups.rules import CLARIFICATIONS
from turnsignal.stream.measures import parse_measure
from turnsignal.stream.measures.order import in_order
from turnsignal.stream.measures.rr import ReciprocalRank
from turnsignal.stream.records.scores import CLARIFICATION_FREE, FOLLOW_UP, FOLLOW_UP_PRECISION, Stage
from turnsignal.stream.records.turns import Document, Turn
from turnsignal.stream.statistics.prediction_powered import JudgedLabel
from turnsignal.stream.suite import Suite

NO_ANSWER = "no answer before it"
NO_FOLLOW_UP = "no follow-up"
_UNKNOWN = 0.5  #: the value of a message that no rule recognises, between complaints and messages that go on
NOT_RETRIEVED = "not retrieved"  #: a labelled document that was not retrieved, which no reader can find cited


class ScoreDifference(NamedTuple):
    """How far one of our values is from its reference. measure: our name; group: as in LabelledPair."""

    measure: str
    distance: float
    group: str


@dataclass(slots=True)
class ComparisonResult:
    """The result of one comparison.

    observed: label and prediction, for each observation; differences: distances of measures; unscored: reason → how
    many labelled turns the scorer left unscored; left_out: label → how many had a label that means neither yes nor no;
    labelled: how many labels were read; of verdicts also judged: all of them, with and without a label, sampled_out:
    how many answers the judge was not asked of, for others of their kind, valueless: reason → how many it was asked of
    and gave no value for, and rated: what each rater said.
    """

    observed: list[LabelledPair] = field(default_factory=list)
    differences: list[ScoreDifference] = field(default_factory=list)
    unscored: Counter[str] = field(default_factory=Counter)
    left_out: Counter[str] = field(default_factory=Counter)
    labelled: int = 0
    judged: list[JudgedLabel] = field(default_factory=list)
    sampled_out: int = 0
    valueless: Counter[str] = field(default_factory=Counter)
    rated: list[RatedItem] = field(default_factory=list)


class LabelledRecord(NamedTuple):
    """One record with its labels.

    record: as it was read; turn: decodes the record without its labels, as scorers see it; where: file and line.
    """

    record: Mapping[str, Any]
    turn: Callable[[], Turn]
    where: str


class Comparison(Protocol):
    """One kind of scorer, compared with the labels of one block of a mapping."""

    def on_record(self, labelled: LabelledRecord) -> None:
        """Read one record's label. Called once for each record that passes the mapping's `where`, before all rows.

        Must not hand the label to a scorer. Raises TurnsignalError, with file and line, for a label of another shape.
        """
        ...

    def on_row(self, row: Mapping[str, Any]) -> None:
        """Read one score row of the replay. Called after all records, also with rows of turns without a label."""
        ...

    def get(self) -> ComparisonResult:
        """Return the result. Called once, after all records and rows."""
        ...


def comparison(labels: ScoredLabels, suite: Suite) -> Comparison:
    """Make the comparison that a block of a mapping asks for."""
    if isinstance(labels, FollowUpLabels):
        return FollowUpsCompared(labels)
    if isinstance(labels, MeasureLabels):
        return MeasuresCompared(labels)
    if isinstance(labels, InstructionLabels):
        return InstructionsCompared(labels, suite)
    return CitationsCompared(labels, suite)


def needs_rows(labels: Labels) -> bool:
    """Return whether a comparison reads the score rows of a replay."""
    return isinstance(labels, FollowUpLabels) or (isinstance(labels, MeasureLabels) and labels.gains is None)


class FollowUpsCompared:
    """Compares the follow-up label in score rows, clarification or not, with the recorded label."""

    def __init__(self, labels: FollowUpLabels) -> None:
        self._labels = labels
        self._wanted: dict[tuple[str, str], tuple[bool, str, str]] = {}
        self._scores: dict[tuple[str, str], Mapping[str, Any]] = {}
        self._out = ComparisonResult()

    def on_record(self, labelled: LabelledRecord) -> None:
        """Keep the label until the rows come."""
        record, labels = labelled.record, self._labels
        value = find(record, labels.label)
        if value is None or record.get("role") != labels.on:
            return
        try:
            truth = labels.read(value)
        except ValueError as error:
            raise unlike(labelled, labels.label, error) from None
        label_text = format_label(value) if labels.below is None else f"{'below' if truth else 'from'} {labels.below:g}"
        self._out.labelled += 1
        if truth is None:
            self._out.left_out[label_text] += 1
        else:
            key = str(record.get("conversation_id")), str(record.get("turn_id"))
            self._wanted[key] = truth, label_text, labels.group(record)

    def on_row(self, row: Mapping[str, Any]) -> None:
        """Keep the follow-up scores of a labelled turn; a later row replaces an earlier one."""
        turn = row.get("follow_up") if self._labels.on == "user" else row["turn_id"]
        key = row["conversation_id"], str(turn)
        if row["stage"] == Stage.FOLLOW_UP and key in self._wanted:
            scores = {score["scorer"]: score for score in row["scores"]}
            strict = scores[FOLLOW_UP]  # the only policy in the row if the follow-up could not be read
            score = strict if self._labels.policy == "strict" else scores.get(FOLLOW_UP_PRECISION, strict)
            self._scores[key] = {**score, "free": scores[CLARIFICATION_FREE]["value"]}

    def get(self) -> ComparisonResult:
        """Pair each label with its score."""
        for key, (truth, label, group) in self._wanted.items():
            score = self._scores.get(key)
            if score is None or score["free"] is None:
                reason = NO_ANSWER if self._labels.on == "user" else NO_FOLLOW_UP
                self._out.unscored[reason if score is None else str(score.get("unscored"))] += 1
                continue
            if score["value"] is None:  # the rules know the language and none matched: predicted not to be one
                self._out.observed.append(LabelledPair(key[0], truth, False, _UNKNOWN, label, score["unscored"], group))
                continue
            word, value = str(score["label"]), 1.0 - score["value"]
            called = word in CLARIFICATIONS and (self._labels.policy == "strict" or value > 0.5)
            self._out.observed.append(LabelledPair(key[0], truth, called, value, label, word, group))
        self._wanted.clear()
        return self._out


class CitationsCompared:
    """Compares the documents that the suite's reader finds cited with the documents in the label."""

    def __init__(self, labels: CitationLabels, suite: Suite) -> None:
        self._labels = labels
        self._read = suite.citations.reader()
        self._out = ComparisonResult()

    def on_record(self, labelled: LabelledRecord) -> None:
        """Compare one answer."""
        value = find(labelled.record, self._labels.label)
        if value is None or labelled.record.get("role") != "assistant":
            return
        if not isinstance(value, list):
            raise unlike(labelled, self._labels.label, "a list of document ids is expected", value)
        self._out.labelled += 1
        turn = labelled.turn()
        retrieved = {document.doc_id for document in turn.retrieved}
        cited = {str(doc_id) for doc_id in value}
        self._out.left_out[NOT_RETRIEVED] += len(cited - retrieved)
        cited &= retrieved
        read = set(_response(turn, self._read).citations.cited_ids)
        group, means = self._labels.group(labelled.record), self._labels.means
        for doc_id in sorted(cited | read):
            truth, is_read = doc_id in cited, doc_id in read
            label, word = means if truth else f"not {means}", "found" if is_read else "not found"
            pair = LabelledPair(turn.conversation_id, truth, is_read, float(is_read), label, word, group)
            self._out.observed.append(pair)

    def on_row(self, row: Mapping[str, Any]) -> None:
        """Ignore rows: this comparison does not read the replay."""

    def get(self) -> ComparisonResult:
        """Return the comparison so far."""
        return self._out


class MeasuresCompared:
    """Compares our measures with their reference values, for each answer and measure."""

    def __init__(self, labels: MeasureLabels) -> None:
        self._labels = labels
        self._measures = {theirs: parse_measure(ours) for theirs, ours in labels.names.items()}
        self._wanted: dict[tuple[str, str], tuple[Mapping[str, Any], str]] = {}
        self._out = ComparisonResult()

    def on_record(self, labelled: LabelledRecord) -> None:
        """Measure a ranking by its known gains. If gains are citations, keep the references until the rows come."""
        record, labels = labelled.record, self._labels
        values = find(record, labels.label)
        if values is None or record.get("role") != "assistant":
            return
        if not isinstance(values, dict):
            raise unlike(labelled, labels.label, "reference values by name are expected", values)
        self._out.labelled += 1
        if labels.gains is None:
            key = str(record.get("conversation_id")), str(record.get("turn_id"))
            self._wanted[key] = values, labels.group(record)
            return
        gains = _gains(find(record, labels.gains))
        if gains is None:
            raise unlike(labelled, labels.gains, "gains by document id, or a list of ids, are expected", values)
        ranking = _ranking(labelled.turn().retrieved, labels.order)
        ours = {measure.name: measure(ranking, gains) for measure in self._measures.values()} if ranking else {}
        self._compare(values, ours, labels.group(record))

    def on_row(self, row: Mapping[str, Any]) -> None:
        """Take the values of a response that has references."""
        if row["stage"] == Stage.RESPONSE:
            references = self._wanted.pop((row["conversation_id"], row["turn_id"]), None)
            if references is not None:
                ours = {score["scorer"]: score["value"] for score in row["scores"] if score["value"] is not None}
                self._compare(references[0], ours, references[1])

    def get(self) -> ComparisonResult:
        """Return the comparison so far."""
        self._out.unscored["no row"] += len(self._wanted)
        self._wanted.clear()
        return self._out

    def _compare(self, values: Mapping[str, Any], ours: Mapping[str, float], group: str) -> None:
        depth = self._labels.depth
        for theirs, measure in self._measures.items():
            value = values.get(theirs)
            if not isinstance(value, int | float):
                continue
            if depth is not None and isinstance(measure, ReciprocalRank) and value * depth < 1:
                self._out.left_out[f"{theirs} beyond rank {depth}"] += 1
            elif measure.name in ours:
                self._out.differences.append(ScoreDifference(measure.name, abs(ours[measure.name] - value), group))
            else:
                self._out.unscored[f"no {measure.name}"] += 1


class InstructionsCompared:
    """Compares the result of our checks with the label of each instruction."""

    def __init__(self, labels: InstructionLabels, suite: Suite) -> None:
        self._labels = labels
        self._read = suite.citations.reader()
        self._out = ComparisonResult()

    def on_record(self, labelled: LabelledRecord) -> None:
        """Run the checks that the mapping gives for each instruction of an answer."""
        entries = find(labelled.record, self._labels.label)
        if entries is None or labelled.record.get("role") != "assistant":
            return
        if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
            raise unlike(labelled, self._labels.label, "a list of instructions is expected", entries)
        turn = labelled.turn()
        response = _response(turn, self._read)
        for entry in entries:
            self._check(labelled, turn.conversation_id, response, entry)

    def on_row(self, row: Mapping[str, Any]) -> None:
        """Ignore rows: this comparison does not read the replay."""

    def get(self) -> ComparisonResult:
        """Return the comparison so far."""
        return self._out

    def _check(self, labelled: LabelledRecord, conversation: str, response: Response, entry: Mapping[str, Any]) -> None:
        labels = self._labels
        kind, truth = str(entry.get(labels.kind)), entry.get(labels.verdict)
        if not isinstance(truth, bool):
            raise unlike(labelled, f"{labels.label}.{labels.verdict}", "true or false is expected", truth)
        self._out.labelled += 1
        try:
            names = labels.check_name(kind, entry.get(labels.parameters) or {})
            results = [parse_check(name).check(response).result for name in names or ()]
        except (ConfigError, ValueError) as error:
            raise unlike(labelled, f"{labels.label} ({kind})", error) from None
        if not results:
            self._out.left_out[kind] += 1
        elif Result.ERROR in results:
            self._out.unscored["error"] += 1
        else:
            kept = all(result is Result.PASS for result in results)
            word = "kept" if kept else "broken"
            seen = LabelledPair(conversation, truth, kept, float(kept), "kept" if truth else "broken", word, kind)
            self._out.observed.append(seen)


def _response(turn: Turn, read: CitationReader) -> Response:
    return Response(turn.text, turn.retrieved, read, turn.platform, metadata=turn.metadata)


def _ranking(documents: list[Document], order: str) -> list[str]:
    if order == "context":
        return in_order(documents)[0]
    ranked = sorted([(document.score or 0.0, document.doc_id) for document in documents], reverse=True)
    return list(dict.fromkeys(doc_id for _, doc_id in ranked))


def _gains(value: object) -> dict[str, float] | None:
    if isinstance(value, list):
        return dict.fromkeys(map(str, value), 1.0)
    if isinstance(value, dict) and all(isinstance(gain, int | float) for gain in value.values()):
        return value
    return None


def format_label(value: object) -> str:
    """Format a label for a table, cut."""
    return (" + ".join(str(item) for item in value)[:100] or "nothing") if isinstance(value, list) else str(value)[:100]


def unlike(labelled: LabelledRecord, path: str, expected: object, actual: object = "") -> TurnsignalError:
    """Return the error for a label that does not have the shape that its mapping declares."""
    shown = f", got {str(actual)[:80]!r}" if actual != "" else ""
    return TurnsignalError(f"{labelled.where}: {path}: {expected}{shown}; see `turnsignal measure --help`")
