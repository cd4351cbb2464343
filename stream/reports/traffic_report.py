"""The traffic report: what fails in a replay, at which stage, in which classes, and what mending it would gain."""

from collections import OrderedDict
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from typing import Any

from turnsignal.stream.citations.earlier_documents import EarlierDocuments
from turnsignal.stream.citations.reader import Citations
from turnsignal.stream.conversations.exchanges import Response
from turnsignal.stream.conversations.pairing import USER, KeptTurn
from turnsignal.stream.diagnosis import Level
from turnsignal.stream.errors import Refused
from turnsignal.stream.follow_ups.small_talk import ignores, suffices
from turnsignal.stream.pipeline.metric_deltas import Release
from turnsignal.stream.records.turns import MAX_SHORT, Truth, Turn
from turnsignal.stream.reports.answer_runs import RunTurn
from turnsignal.stream.reports.answers import Answers, is_good
from turnsignal.stream.reports.article_overlap import ArticleOverlap
from turnsignal.stream.reports.article_report import ArticleReport
from turnsignal.stream.reports.label_ids import LabelIds
from turnsignal.stream.reports.labelled import DIMENSIONS, LabelledQueries
from turnsignal.stream.reports.labelled_figures import LabelledFigures
from turnsignal.stream.reports.query_classes import QueryClasses, describe_classes
from turnsignal.stream.reports.routing import Routing
from turnsignal.stream.reports.routing_errors import combination
from turnsignal.stream.reports.routing_report import report_routing
from turnsignal.stream.reports.row_signals import RowSignals
from turnsignal.stream.reports.waterfall import (
    bases,
    compare_stages,
    lost_evidence,
    newest_versions,
    seen_otherwise,
    waterfall,
)
from turnsignal.stream.reports.waterfall_text import describe_waterfall, in_100, told_by_citations
from turnsignal.stream.suite import Suite
from turnsignal.stream.truth.articles import ArticleLabel
from turnsignal.stream.truth.stages import CUTOFF, AnswerStage, Basis, Signals, SystemOutput, find_stages

_OPEN = 100_000  # conversations whose last question, and documents, are remembered
_ROUTED = 50_000  # answers whose routing is told apart by agent
_QUESTION = 400  # characters of it
_KEEPS = RunTurn(failed=False, documents=True)  # an answer that is not replaced by what the assistant says behind it
_NAMING = ("doc_id", "structured")  # styles of citations that name a document by its id


class TrafficReport:
    """What a replay's rows and turns say together: `add` every turn in the order of time, then `as_json`.

    on_labelled: is given each answer that has labels, and its question; unranked: releases whose citations say nothing
    of what was retrieved, and why: without labels, it is not known of their answers; order: of versions, as
    `newest_versions` has it; bare: releases whose log has no documents, so that labels do not tell what was retrieved.
    """

    def __init__(
        self,
        suite: Suite,
        signals: RowSignals,
        on_labelled: Callable[[Turn, str], None] = lambda _turn, _question: None,
        unranked: Mapping[Release, str] | None = None,
        order: Sequence[str | None] = (),
        bare: Collection[Release] = (),
    ) -> None:
        self.answers = Answers()
        self.labelled = LabelledFigures(CUTOFF)
        self.articles = ArticleReport(CUTOFF, suite.aggregates.minimum_n)
        self.overlap = ArticleOverlap()
        self.classes = QueryClasses(suite.aggregates.minimum_n)
        self.not_scored = 0
        self.unread = 0
        self.with_truth = 0
        self.wrongly_cited = 0
        self._label_ids = LabelIds()
        self._agents = LabelledQueries(), LabelledQueries()  # expected, and asked
        self._minimum = suite.aggregates.minimum_n
        self._signals = signals
        self._on_labelled = on_labelled
        self._unranked = unranked or {}
        self._order = order
        self._bare = bare
        self._rules = suite.follow_up_rules
        self._read = suite.citations.reader()
        self._held: dict[str, Turn] = {}  # superseded, and an answer all the same where only a line follows
        self._asked: OrderedDict[str, tuple[Truth | None, str, bool]] = OrderedDict()
        self._earlier = EarlierDocuments(suite.limits.forgotten_after, _OPEN)

    def add(self, turn: Turn) -> None:
        """Take in one turn."""
        if turn.role == "user":
            self._hear(turn)
        elif turn.role == "assistant":
            self._take_answer(turn)
        self._earlier.take(turn)

    def _hear(self, turn: Turn) -> None:
        known = len(self.answers.conversations)
        number = self.answers.number(turn.conversation_id)
        if number == known:
            self.classes.open(number, turn.conversation_id, turn.text)
        self._asked[turn.conversation_id] = turn.truth, turn.text[:_QUESTION], number == known
        if len(self._asked) > _OPEN:
            self._asked.popitem(last=False)

    def _take_answer(self, turn: Turn) -> None:
        """Count an answer, unless another turn of its run may be the answer."""
        failed = self._rules.failures.is_failing(turn.text)
        if (asked := self._asked.get(turn.conversation_id)) is not None:
            kept = [KeptTurn("", USER, turn.time, asked[1])]
            failed = (failed and not suffices(turn.text, kept, self._rules)) or ignores(turn.text, kept, self._rules)
        run = RunTurn(failed, bool(turn.retrieved))
        superseded = self._signals.is_superseded(turn.conversation_id, turn.turn_id)
        earlier = self._held.pop(turn.conversation_id, None)
        if earlier is not None and not run.replaces(_KEEPS):
            turn, run = earlier, _KEEPS
        if not superseded:
            self._count_turn(turn, failed=run.failed)
        elif run == _KEEPS:
            self._held[turn.conversation_id] = turn

    def _count_turn(self, turn: Turn, *, failed: bool) -> None:
        signals = self._signals.get(turn.conversation_id, turn.turn_id, failed=failed)
        if signals is None:
            self.not_scored += 1
            return
        if (turn.assistant, turn.version) in self._unranked:
            signals = signals._replace(relevancy=Level.UNKNOWN)
        asked_truth, question, opens = self._asked.get(turn.conversation_id, (None, "", False))
        truth = turn.truth or asked_truth
        citations = self._read_citations(turn)
        # "How exactly?" is the same question in no two conversations, an opening one is.
        self.overlap.add(question if opens else "", _cited_articles(turn, citations), turn.retrieved)
        if truth is None:
            self.answers.add(
                turn.conversation_id, turn.version, find_stages(None, SystemOutput(), signals), failed=failed
            )
            return
        self._take_labelled(turn, truth, question, signals, citations)

    def _read_citations(self, turn: Turn) -> Citations:
        known = (None, turn.metadata, self._earlier.before(turn))
        return Response(turn.text, turn.retrieved, self._read, turn.platform, *known).citations

    def _take_labelled(self, turn: Turn, truth: Truth, question: str, signals: Signals, citations: Citations) -> None:
        self.with_truth += 1
        self._on_labelled(turn, question)
        number = self.answers.number(turn.conversation_id)
        relevant = list(filter(None, truth.doc_ids or ()))
        cited = article = None
        if relevant and turn.retrieved:
            cited = citations.cited_ids
            article = self.articles.add(
                *(number, turn.model, relevant, turn.retrieved, cited),
                approved=signals.approved,
                dangling=any(fault.kind == "dangling" for fault in citations.faults),
            )
        self._label_ids.add(turn.version, relevant, [document.doc_id for document in turn.retrieved])
        self._route(turn, truth, question)
        findings = find_stages(truth, SystemOutput(turn.routed_to, turn.retrieved, cited), signals)
        if (turn.assistant, turn.version) in self._bare:
            findings.pop(AnswerStage.RETRIEVAL, None)
        outcome = self.answers.add(turn.conversation_id, turn.version, findings, failed=signals.failed)
        self.labelled.add(number, truth, turn.retrieved, turn.text)
        self.wrongly_cited += article is ArticleLabel.WRONG and is_good(outcome)
        if outcome:
            self.classes.add(number, _labels(truth), good=is_good(outcome))

    def _route(self, turn: Turn, truth: Truth, question: str) -> None:
        if truth.agents is None or turn.routed_to is None or len(self._agents[0]) >= _ROUTED:
            return
        name = {"id": f"{len(self._agents[0]) + 1}", "query": question}
        known = {field: label for field in DIMENSIONS if (label := getattr(truth, field))}
        with suppress(Refused):  # more labels than any query has
            self._agents[1].add({**name, "labels": turn.routed_to})
            self._agents[0].add({**name, **known, "labels": truth.agents})

    def _routing(self) -> dict[str, Any] | None:
        """Return the routing report of labelled answers; None where none belongs to any agent."""
        expected, asked = self._agents
        if not any(query.labels for query in expected.by_id.values()):
            return None
        return report_routing(Routing(expected, asked))

    def as_json(self) -> dict[str, Any]:
        """Return the report; `waterfall` is None where nothing is known of any answer."""
        flow = waterfall(self.answers.of_version())
        versions = newest_versions(self.answers, self._minimum, self._order)
        compared = None
        if len(versions) > 1:
            (before, theirs), (after, mine) = versions[-2:]
            changes = [change.as_json() for change in compare_stages(mine, theirs, self._minimum)]
            lost = [stage.value for stage in lost_evidence(mine, theirs)]
            compared = {"after": after, "before": before, "stages": changes, "lost": lost}
        known = bases(self.answers)
        classes = self.classes.as_json(self.answers)
        return {
            "says": [
                *describe_waterfall(
                    flow,
                    versions,
                    self._minimum,
                    self.wrongly_cited,
                    len(self.articles),
                    by_citations=told_by_citations(known),
                ),
                *self._seen_otherwise(),
            ],
            "notes": [*self._notes(known), *describe_classes(classes)],
            "answers": {
                "read": len(self.answers),
                "with_truth": self.with_truth,
                "not_scored": self.not_scored,
                "unread": self.unread,
                "elsewhere": self._signals.elsewhere,
            },
            "waterfall": None if flow is None else flow.as_json(),
            "known_by": known,
            "versions": [{"version": name, **flow.as_json()} for name, flow in versions],
            "compared": compared,
            "classes": classes,
            "routing": self._routing(),
            "articles": self.articles.as_json(),
            "overlap": self.overlap.as_json(),
            "labelled": self.labelled.as_json(),
        }

    def _seen_otherwise(self) -> list[str]:
        """Say beside the headline where labels contradict it."""
        return [
            f"By labels, {in_100(labelled.value)} answers fail at {stage}, by the diagnosis, which judges the others,"
            f" {in_100(diagnosed.value)}: what fails there, and what mending it would gain, is best told of labelled"
            " answers alone."
            for stage, labelled, diagnosed in seen_otherwise(self.answers)
        ]

    def _notes(self, known: dict[str, dict[str, int]]) -> list[str]:
        notes = []
        guessed = [stage for stage, of in known.items() if not of[Basis.TRUTH.value]]
        if guessed:
            notes.append(
                f"Judged without labels, from the diagnosis: {', '.join(guessed)}. Retrieval is then the ranking of"
                " what was cited, generation what the user said next, format the checks."
            )
        notes += [
            f"Retrieval of {version or 'what has no version'} ({assistant}) is not judged by what was cited: {why}."
            for (assistant, version), why in self._unranked.items()
        ]
        unknown = [stage.value for stage in AnswerStage if stage.value not in known]
        if unknown and known:
            notes.append(f"Nothing is known of: {', '.join(unknown)}; labels (`truth`) on turns would say.")
        if self.unread:
            notes.append(f"Turns that could not be read, and are no part of this: {self.unread:,}.")
        if self.not_scored:
            notes.append(f"Answers in the turns that the replay has not scored: {self.not_scored:,}.")
        if self._signals.elsewhere:
            notes.append(f"Left out, of other environments: {self._signals.elsewhere:,}.")
        if self.wrongly_cited:
            notes.append(
                "An answer that cites a wrong article counts as good where the user goes on: what its reader does says"
                f" more of it than a citation. Such answers: {self.wrongly_cited:,}."
            )
        notes += self._label_ids.notes()
        if self.labelled.moved:
            notes.append(f"Labelled pages that have moved, known again by their text: {self.labelled.moved:,}.")
        if self.answers.versions.left_out:
            notes.append("There are more versions than are told apart; the last ones are taken together.")
        return notes


def _cited_articles(turn: Turn, citations: Citations) -> list[str]:
    """Return the articles that an answer cites; by the names in its markers where what was retrieved is not known."""
    if turn.retrieved:
        return citations.cited_ids
    named = (
        fault.text.strip("[]") for fault in citations.faults if fault.kind == "dangling" and fault.style in _NAMING
    )
    return list(dict.fromkeys(named))


def _labels(truth: Truth) -> dict[str, str]:
    """Return what a question is labelled with, by kind."""
    labels = {name: getattr(truth, name) for name in DIMENSIONS}
    if truth.agents:
        labels["agents"] = combination(truth.agents)[:MAX_SHORT]
    return {name: label for name, label in labels.items() if label}
