"""Human labels beside verdicts: whether a judge and a person find the same answer good.

A label and a verdict about one turn meet once, whichever comes first, by their ids: the later of the two finds the
other in the conversation. A verdict on a row that was replaced meets labels too, as it is about the same answer.
"""

from collections.abc import Iterable, Sequence

from turnsignal.stream.conversations.feedback_memory import KeptFeedback
from turnsignal.stream.conversations.judged import PARTS, JudgedMemory, LabelMark
from turnsignal.stream.conversations.recent_ids import digest
from turnsignal.stream.conversations.state import Conversation
from turnsignal.stream.judging.judges import JudgePart, judged_scorer, readable_rubric
from turnsignal.stream.judging.panels import threshold_of
from turnsignal.stream.judging.rubric import Rubric
from turnsignal.stream.records.feedback import LABEL

GOOD, BAD = ("good", "bad")

Meeting = tuple[str, str, str]  #: a judge's name, what a person finds the answer, and what the judge does


class HumanLabels:
    """Compare labels and verdicts, by the judges of a suite.

    A label's scorer is a rubric, for all its judges, or the name of a judged score, for that judge alone.
    """

    def __init__(self, judges: Sequence[JudgePart]) -> None:
        self._rubrics: dict[str, Rubric] = {}  # by judged scorer
        self._names: dict[str, str] = {}
        self._scorers: dict[str, list[str]] = {}  # by what a label may call them
        for part in judges:
            rubric = readable_rubric(part)
            if rubric is not None:
                scorer = judged_scorer(part)
                self._rubrics[scorer], self._names[scorer] = rubric, part.name
                for name in (scorer, scorer.partition("(")[0]):
                    self._scorers.setdefault(name, []).append(scorer)

    def on_label(self, state: Conversation, label: KeptFeedback) -> Sequence[Meeting]:
        """Take in a label of a person, and return the meetings with the verdicts that have come."""
        scorers = self._scorers.get(label.scorer or "") if label.kind == LABEL else None
        if not scorers:
            return ()
        value = label.value if label.value is not None else self._rubrics[scorers[0]].values.get(label.label or "")
        if value is None:
            return ()
        turn, memory = digest(label.turn_id), state.judged_memory()
        about = digest(label.scorer or "")
        memory.keep_label(LabelMark(label.time, digest(label.id), turn, about, round(value * PARTS)))
        return [
            self._meet(scorer, judged, round(value * PARTS))
            for scorer, judged in memory.values_of(turn)
            if scorer in scorers
        ]

    def on_verdict(self, memory: JudgedMemory, turn_id: str, scorer: str, value: float | None) -> Sequence[Meeting]:
        """Return the meetings of a verdict that has just come with the labels that came before."""
        if not memory.labels or value is None or scorer not in self._rubrics:
            return ()
        names = [name for name, scorers in self._scorers.items() if scorer in scorers]
        labels: Iterable[LabelMark] = memory.labels_on(digest(turn_id), {digest(name) for name in names})
        return [self._meet(scorer, round(value * PARTS), label.value) for label in labels]

    def _meet(self, scorer: str, judged: int, labelled: int) -> Meeting:
        least = threshold_of(self._rubrics[scorer]) * PARTS
        return self._names[scorer], GOOD if labelled >= least else BAD, GOOD if judged >= least else BAD
