"""Paired: two replays of the same turns, under two suites or two versions of the code, row by row.

What differs lies within an exchange, so differences are taken there, and a conversation is the unit that they are
uncertain by: the variance of their mean is the cluster-robust one of a ratio (Cameron and Miller 2015; Miller 2024,
arXiv 2411.00640, paired differences). Words of comparison follow the one promise of `stream.statistics.claims`, by the
same figures as those of two releases: what may be called better is decided there alone. How conversations went, and how
much could be scored, are figures here, too, or users who leave without a word would look content.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Mapping
from typing import Any

from turnsignal.stream.conversations.judged import LEAST
from turnsignal.stream.pipeline.compliance import COMPLIANCE
from turnsignal.stream.pipeline.scoring import FOLLOW_UPS
from turnsignal.stream.records.scores import CLARIFICATION_FREE, FOLLOW_UP, Stage
from turnsignal.stream.reports.first_answers import FirstAnswers
from turnsignal.stream.reports.missing_cases import NONE_MISSING, MissingCases
from turnsignal.stream.reports.moved_conversations import Moved, MovedConversations, SideScore
from turnsignal.stream.reports.paired_rows import Row
from turnsignal.stream.reports.release_figures import SCALES, ranked_figures
from turnsignal.stream.reports.scales import DOCUMENTS_GIVEN, LogScale
from turnsignal.stream.statistics.claim import Claim
from turnsignal.stream.statistics.claims import claims
from turnsignal.stream.statistics.directions import (
    BY_CONVERSATION,
    BY_USERS,
    CITATIONS,
    CITES_TOP,
    COMPLAINED_OF,
    DOCUMENTS,
    FOLLOWED,
    NO_ANSWER,
    OF_THE_RECORD,
    OUTCOMES,
    REFUSED,
    SAME,
    SAME_DOCUMENTS,
    SAME_FIRST,
    SHORT_FIRST,
    SMALL,
    UNHEARD,
    WASTED,
    coverage_name,
)
from turnsignal.stream.statistics.intervals import Clusters, Difference, difference, mean_over_turns
from turnsignal.stream.statistics.paired_difference import paired_difference
from turnsignal.stream.statistics.rankings import RankingDoubts, cited_by_place, said_nothing, says_nothing
from turnsignal.stream.statistics.record_change import RecordChange
from turnsignal.stream.statistics.record_changes import Circumstances, record_changes
from turnsignal.stream.statistics.refusals import doubt_refusals
from turnsignal.stream.statistics.sample_size import least_shown, level_of

IDENTICAL, EQUIVALENT, TOO_FEW = "identical", "equivalent", "too few conversations to compare"
_NEARLY = 0.9  #: share of cases in which both found the same, so that another ranking is only how answers cite
SHOWN = 10  #: conversations that moved most


_HIDDEN = {CITES_TOP, UNHEARD, *OF_THE_RECORD}  # neither better nor worse by themselves
_BY_USERS = {*BY_USERS, "clarified"}  # which say nothing where no answer of either side was followed by a message
_NOTHING = SideScore(None, None, None)
_Sums = tuple[defaultdict[str, list[float]], defaultdict[str, list[float]]]


class PairedScores:
    """Two sides of the same turns, row by row: `add` every pair of rows, then `differences`, `labels` and `moved`.

    rows: pairs of them; exchanges: those of which both sides have scored the answer; an exchange has several rows;
    same_suite: whether both sides were scored by the same: then what only one of them has a value for was lost, or
    gained, and is no matter of the suites; same_checks: whether their instruction checks are the same; missing: cases
    that only one side has; unheard: why users say nothing of either side; limit: that users of one side ran into one;
    first_answers: of both sides, where they answered differently; moved: what moved most.
    """

    def __init__(
        self,
        *,
        same_suite: bool = False,
        same_checks: bool = True,
        missing: MissingCases = NONE_MISSING,
        unheard: str = "",
        limit: str = "",
    ) -> None:
        self.rows = 0
        self.exchanges = 0
        self.first_answers = FirstAnswers(), FirstAnswers()
        self._complained_of: _Sums = defaultdict(_zeros), defaultdict(_zeros)  # of what answers, by case on each side
        self.searches = [0, 0]  #: cases whose documents are the same, in one order; cases with documents on both sides
        self._same_suite, self._same_checks = same_suite, same_checks
        self._missing, self._unheard, self._limit = missing, unheard, limit
        self._afterwards: defaultdict[str, list[float]] = defaultdict(_zeros)  # what came of figures: how many, and sum
        self._beside: set[str] = set()  # figures that no scorer gives
        self._sums: defaultdict[str, defaultdict[str, list[float]]] = defaultdict(lambda: defaultdict(_zeros))
        self._coverage: defaultdict[str, defaultdict[str, list[float]]] = defaultdict(lambda: defaultdict(_zeros))
        self.labels: defaultdict[str, Counter[tuple[str, str]]] = defaultdict(Counter)
        self._names: tuple[dict[str, None], dict[str, None]] = ({}, {})  # of scorers, in their order
        self.since, self.until = math.inf, -math.inf  #: event times of the rows, seconds since 1970
        self.moved = MovedConversations()

    def add(self, before: Row, after: Row) -> None:
        """Take in what both sides say of one exchange at one stage."""
        conversation, turn = before["conversation_id"], before["turn_id"]
        mine, theirs = _scores(before), _scores(after)
        self._names[0].update(dict.fromkeys(mine))
        self._names[1].update(dict.fromkeys(theirs))
        self.rows += 1
        self.exchanges += before["stage"] == Stage.RESPONSE
        if (time := before.get("time")) is not None:
            self.since, self.until = min(self.since, time), max(self.until, time)
        weight = _weight(before, after)
        for name in mine | theirs:
            old, new = mine.get(name, _NOTHING), theirs.get(name, _NOTHING)
            covered = self._coverage[name][conversation]
            covered[0] += 1
            covered[1] += (new.value is not None) - (old.value is not None)
            if old.label is not None and new.label is not None and old.label != new.label:
                self.labels[name][old.label, new.label] += 1
            if old.value is None or new.value is None:
                continue
            self._count(name, conversation, weight, old.value, new.value)
            if change := new.value - old.value:
                self.moved.add(Moved(abs(change), conversation, turn, name, old, new))
        was, became = _beside(before), _beside(after)
        for sums, beside in zip(self._complained_of, (was, became), strict=True):
            if (
                share := beside.pop(COMPLAINED_OF, None)
            ) is not None:  # one side may have declined what the other answers
                sums[conversation][0] += 1
                sums[conversation][1] += share
        for name in was.keys() & became.keys():
            self._beside.add(name)
            self._count(name, conversation, weight, was[name], became[name])

    def _count(self, name: str, conversation: str, weight: float, before: float, after: float) -> None:
        sums, afterwards = self._sums[name][conversation], self._afterwards[name]
        sums[0] += weight
        sums[1] += weight * (after - before)
        afterwards[0] += weight
        afterwards[1] += weight * after

    def only_on(self, side: int) -> list[str]:
        """Return the scorers that only one side gives; side: 0 before, 1 after."""
        return sorted(self._names[side].keys() - self._names[1 - side].keys())

    def differences(self) -> dict[str, Difference]:
        """Return after − before of each scorer that has values on both sides."""
        return {
            name: paired_difference(_clusters(of))
            for name, of in sorted(self._sums.items())
            if name not in self._beside
        }

    def figures(self, minimum: int, primary: str) -> dict[str, Difference]:
        """Return after − before of all that is claimed anything of.

        Beside the scorers: how conversations went, how much relevancy and follow-ups could be scored of, and the
        primary, where nothing of it is left to compare; and what is seen of answers whatever their words.
        """
        deltas = self.differences()
        for name in sorted(self._beside - _HIDDEN):
            n, total = self._afterwards[name]
            step = SCALES[name].step(total / n) if name in SCALES else 0.0
            deltas[name] = paired_difference(_clusters(self._sums[name]), step)
        if NO_ANSWER in deltas and not (deltas[NO_ANSWER].value or self._afterwards[NO_ANSWER][1]):
            del deltas[NO_ANSWER]  # as usual: each case got some answer from both
        if self._no_user_says:
            kept = "" if self._unheard else primary
            deltas = {name: delta for name, delta in deltas.items() if name == kept or name not in _BY_USERS}
        coverages = self.coverages()
        relevancy = next((name for name in self._names[0] if name in self._ranked and name != WASTED), FOLLOW_UP)
        for name in dict.fromkeys((relevancy, FOLLOW_UP, *(() if primary in deltas else (primary,)))):
            if name in coverages and not (self._unheard and name in _BY_USERS):
                deltas[coverage_name(name)] = coverages[name]
        was, became = self.first_answers
        if min(was.n, became.n) >= minimum:
            deltas[SHORT_FIRST] = became.short(was)
            if (same := became.same(was)) is not None:
                deltas[SAME_FIRST] = same[0]
        if (alike := self._alike(minimum)) is not None:
            deltas[SAME_DOCUMENTS] = alike[0]
        return deltas

    def coverages(self) -> dict[str, Difference]:
        """Return after − before of the share of exchanges that each scorer could score."""
        both = self._names[0].keys() & self._names[1].keys()
        return {
            name: paired_difference(_clusters(of))
            for name, of in sorted(self._coverage.items())
            if self._same_suite or name in both
        }

    def lost(self, minimum: int) -> list[str]:
        """Return the scorers that gave many conversations of the first side values, and none of the second any.

        minimum: how many conversations are many. Under another suite that is no loss.
        """
        return [
            name
            for name, of in sorted(self._coverage.items())
            if self._same_suite
            and not (name in self._sums or (self._no_user_says and name in _BY_USERS))
            and sum(change < 0 for _, change in of.values()) >= minimum
        ]

    @property
    def _no_user_says(self) -> bool:
        return bool(self._unheard) or all(names.keys().isdisjoint(FOLLOW_UPS) for names in self._names)

    def _record_changes(self, deltas: Mapping[str, Difference]) -> list[RecordChange]:
        """Return what both sides write down otherwise; the questions are the same."""
        known = {name: paired_difference(_clusters(self._sums[name])) for name in OF_THE_RECORD if name in self._sums}
        if self._same_suite and self._beside.isdisjoint(OF_THE_RECORD):  # of the same turns all are followed alike
            known[FOLLOWED] = Difference(0.0, 0.0, 0.0, 0, 1.0)
        was, became = self.first_answers
        n, total = self._afterwards[CLARIFICATION_FREE]
        free, change = total / max(1.0, n), deltas.get(CLARIFICATION_FREE)
        clarified = 1.0 - min(free, free if change is None else free - change.value)
        around = became.edges.more_alike(was.edges)
        cut = became.edges.more_cut(was.edges)
        n, total = self._afterwards[FOLLOWED]
        rise = known[FOLLOWED].value if FOLLOWED in known else 0.0
        circumstances = Circumstances(
            around=around,
            clarified=clarified,
            cut=cut,
            ranked=self._ranked,
            replaced=became.replaced(was),
            thinning=max(0.0, 1.0 - rise * n / total) if total else 1.0,
        )
        changes = record_changes(deltas, known, circumstances)
        if self._limit:
            changes.append(RecordChange(self._limit, dict.fromkeys((*BY_CONVERSATION, *BY_USERS), 1.0), self._limit))
        if not self._same_checks:
            changes.append(RecordChange("the suites have different checks", {COMPLIANCE: 1.0}))
        return changes

    @property
    def _ranked(self) -> tuple[str, ...]:
        return ranked_figures(self._names[0])

    def _alike(self, minimum: int) -> tuple[Difference, float] | None:
        was, became = self.first_answers
        return became.same_documents(was) if min(was.searched, became.searched) >= minimum else None

    def _says_nothing(self, minimum: int) -> str:
        """Say why rankings say nothing of what the second side found, "" where they do."""
        top, documents, alike = self._sums.get(CITES_TOP), self._sums.get(DOCUMENTS), self._alike(minimum)
        deltas = {
            name: paired_difference(_clusters(of)) for name, of in ((CITES_TOP, top), (DOCUMENTS, documents)) if of
        }
        if alike is not None:
            deltas[SAME_DOCUMENTS] = alike[0]
        n, total = self._afterwards[CITES_TOP] if top else (1.0, 0.0)
        return says_nothing(deltas, total / n, 0.0 if alike is None else alike[1])

    def _said_nothing(self, minimum: int) -> str:
        """Say why rankings said nothing of what the first side found, "" where they did."""
        was, became = self.first_answers
        enough = min(was.searched, became.searched) >= minimum
        given = None
        if sums := self._sums.get(DOCUMENTS):
            n, total = self._afterwards[DOCUMENTS]
            given = SCALES[DOCUMENTS].value(total / n - paired_difference(_clusters(sums)).value)
        return said_nothing(was.same_documents(became) if enough else None, given)

    def _cited_alike(self) -> str:
        same, both = self.searches
        if not both or same < _NEARLY * both:
            return ""
        return f"the same documents came, in one order, in {same:,} of {both:,}"

    def _cited_by_place(self) -> str:
        if not (sums := self._sums.get(CITES_TOP)):
            return ""
        change, (n, total) = paired_difference(_clusters(sums)), self._afterwards[CITES_TOP]
        back = change._replace(value=-change.value, low=-change.high, high=-change.low)
        return cited_by_place((back, total / n - change.value))

    def _more_complained_of(self, minimum: int) -> Difference | None:
        """Return after − before of the answers that answer and are complained of; None where too few answer."""
        before, after = map(_clusters, self._complained_of)
        if min(before.n, after.n) < minimum:
            return None
        return difference(mean_over_turns(after), mean_over_turns(before))

    def as_json(self, primary: str, least_change: float, minimum: int) -> dict[str, Any]:
        """Return all of it as JSON has it; arguments as in `claimed`."""
        deltas = self.figures(minimum, primary)
        named = self.claimed(deltas, primary, least_change, minimum)
        return {
            "exchanges": self.exchanges,
            "conversations": max((delta.n for delta in deltas.values()), default=0),
            "primary": primary,
            "minimum_n": minimum,
            "lacking": self._missing.lacking(least_change),
            "lost": self.lost(minimum),
            "unheard": self._unheard,
            "record": [change.note for change in self._record_changes(deltas) if change.note],
            "not_compared": sorted((self._names[0] | self._names[1]).keys() - deltas.keys()),
            "too_few": [name for name, delta in deltas.items() if delta.n < minimum],
            "figures": {
                name: _figure(name, delta, named[name], level_of(name, primary, deltas))
                for name, delta in deltas.items()
            },
            "labels": {
                name: [{"before": before, "after": after, "n": n} for (before, after), n in counts.most_common(SHOWN)]
                for name, counts in sorted(self.labels.items())
            },
            "only_before": self.only_on(0),
            "only_after": self.only_on(1),
            "moved": [moved.as_json() for moved in self.moved.furthest(SHOWN)],
        }

    def claimed(
        self, deltas: Mapping[str, Difference], primary: str, least_change: float, minimum: int
    ) -> dict[str, Claim]:
        """Say of each scorer whether it is better, worse, changed, equivalent, or not known.

        deltas: the `figures`; primary: the one that the comparison is about; least_change: the smallest difference
        worth naming; minimum: conversations beneath which nothing is said.
        """
        enough = {name: delta for name, delta in deltas.items() if delta.n >= minimum}
        covered = {name: delta for name, delta in self.coverages().items() if delta.n >= minimum}
        unheard = None if self._unheard else self._sums.get(UNHEARD)
        refused = paired_difference(_clusters(self._sums[REFUSED])) if REFUSED in self._sums else None
        named = claims(
            enough,
            covered,
            primary,
            least_change,
            self._ranked,
            doubts=RankingDoubts(
                self._says_nothing(minimum),
                self._said_nothing(minimum),
                self._cited_by_place(),
                self._cited_alike(),
            ),
            lacking=self._missing.lacking(least_change),
            unheard=paired_difference(_clusters(unheard)) if unheard else None,
            changes=self._record_changes(enough),
            complained_of=None if self._no_user_says else self._more_complained_of(minimum),
            refused=refused,
        )
        if refused is not None:
            doubt_refusals(named, enough, {REFUSED: refused})
        return {name: _revise(named.get(name), delta, least_change, SCALES.get(name)) for name, delta in deltas.items()}


def _weight(before: Row, after: Row) -> float:
    """Return the inverse of the probability with which both sides have a row; parts of judges are nested."""
    chances = [about["inclusion"] for row in (before, after) if (about := row.get("verdict")) is not None]
    return 1 / max(min(chances), LEAST) if chances else 1.0


def _figure(name: str, delta: Difference, claim: Claim, level: float) -> dict[str, Any]:
    scale = SCALES.get(name)
    figure: dict[str, Any] = {name: getattr(delta, name) for name in ("value", "low", "high")}
    least = least_shown(delta, level)
    if scale is not None:
        figure, least = {name: scale.change(value) for name, value in figure.items()}, scale.change(least)
    figure = {name: round(value, 6) for name, value in figure.items()} | ({"unit": "ratio - 1"} if scale else {})
    figure |= {"n": delta.n, "p": float(f"{delta.p:.3g}"), "adjusted": float(f"{claim.adjusted:.3g}")}
    figure |= {"verdict": claim.change, "least_shown": round(least, 6)}
    return figure | ({"why": claim.why} if claim.why else {})


def _revise(claim: Claim | None, delta: Difference, least_change: float, scale: LogScale | None = None) -> Claim:
    if not (delta.value or delta.low or delta.high):
        return Claim(IDENTICAL, 1.0)
    if claim is None:
        return Claim(TOO_FEW, 1.0)
    bounds = delta.low, delta.high
    if scale is not None:
        bounds = scale.change(delta.low), scale.change(delta.high)  # a ratio, as it is shown
    if claim.change in (SAME, SMALL) and max(map(abs, bounds)) < least_change:
        return claim._replace(change=EQUIVALENT, why=f"within ±{least_change:g}")
    return claim


def _scores(row: Row) -> dict[str, SideScore]:
    return {
        score["scorer"]: SideScore(score.get("value"), score.get("label"), score.get("explanation"))
        for score in row["scores"]
    }


def _beside(row: Row) -> dict[str, float]:
    """Return what a row says that no scorer does: how its conversation went, and what was seen of its answers.

    Two suites read the citations of the same answers, out of as many documents on both sides, so that what is not
    wasted tells how many times more one of them reads, though not how many.
    """
    beside = dict(row.get("beside", ()))
    for score in row["scores"]:
        if score["scorer"] == WASTED and (wasted := score.get("value")) is not None and "beside" not in row:
            beside[CITATIONS] = DOCUMENTS_GIVEN.fraction((1 - wasted) * DOCUMENTS_GIVEN.most)
        if score["scorer"] == "conversation" and score.get("label") in OUTCOMES:
            beside |= {outcome: float(outcome == score["label"]) for outcome in OUTCOMES}
            beside[UNHEARD] = beside["silent"] + beside["unanswered"]
    return beside


def _clusters(by_conversation: Mapping[str, list[float]]) -> Clusters:
    sums = Clusters()
    for name in sorted(by_conversation):
        sums.add(*by_conversation[name])
    return sums


def _zeros() -> list[float]:
    return [0.0, 0.0]
