"""Quality: how the conversations of a release went, with n and intervals, and whether the next release went worse.

Single conversations are noise: some people explore, some leave (Hoffer). So releases with fewer than a minimum of them
are not compared, and every figure comes with its n and 95 % interval. An answer counts for the release that gave it;
the outcome of a conversation for the release of its last answer. Conversations that the recording cuts are left out and
counted: those in its middle of which it begins, and those that are younger than `idle` when it ends.

A rollout cuts conversations, too, and long ones more often: were they the new release's, it would have more follow-ups
of every kind without being different. So where releases are compared, a conversation that began before a release
existed counts, with all of its answers, for the release that began it (intention to treat).

Where turns name their users, those are what an interval is over (`stream.reports.user_spread`). Where shares of
platforms or of users' languages moved, releases are compared within these (`stream.reports.standardised`).
"""

import math
from array import array
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any

import numpy as np
import numpy.typing as npt

from turnsignal.stream.pipeline.metric_deltas import Release
from turnsignal.stream.records.scores import CLARIFICATION_FREE, FOLLOW_UP, Unscored
from turnsignal.stream.reports.first_questions import Opening
from turnsignal.stream.reports.release_figures import figure_as_json, ranked_figures
from turnsignal.stream.reports.release_order import Period, Step, check_baseline, in_order, steps
from turnsignal.stream.reports.release_pair import FigureReader, ReleasePair
from turnsignal.stream.reports.release_totals import (
    MAX_RELEASES,
    MOMENTS,
    OTHER_RELEASES,
    UNANSWERED,
    ConversationScores,
    NamedReleases,
    ReleaseTotals,
    as_begun,
    begun_by,
)
from turnsignal.stream.reports.scales import QUESTIONS_ASKED
from turnsignal.stream.reports.unattributed import Unattributed
from turnsignal.stream.statistics.closing_habit import REPLIES
from turnsignal.stream.statistics.directions import (
    ANSWER_SECONDS,
    ASKS_AGAIN,
    ASKS_BACK,
    BEGUN_COMPLAINING,
    CHECKS_APPLIED,
    CITATIONS,
    CITES_ALL,
    CITES_TOP,
    DOCUMENTS,
    FAILED,
    IN_PARTS,
    LEFTOVERS,
    OF_THE_RECORD,
    ONLY_ASKS,
    QUESTIONS,
    SAME_LANGUAGE,
    UNANSWERED_OF_ALL,
    VOTE,
    WASTED,
    WITH_DOCUMENTS,
    coverage_name,
)
from turnsignal.stream.statistics.intervals import Clusters

#: figures of answers that no scorer of a response gives
DERIVED = (
    *(
        QUESTIONS,
        *OF_THE_RECORD,
        WITH_DOCUMENTS,
        DOCUMENTS,
        CITATIONS,
        IN_PARTS,
        VOTE,
        FAILED,
        CHECKS_APPLIED,
        CITES_ALL,
        CITES_TOP,
        SAME_LANGUAGE,
        LEFTOVERS,
        ASKS_BACK,
        ASKS_AGAIN,
        ONLY_ASKS,
    ),
    *REPLIES,
    ANSWER_SECONDS,
)

_ONLY_FAILS = (
    0.95  #: share of conversations that end without an answer, from which on what names no version is nobody's
)
_MOST_TAKEN_OVER = 2_000  #: conversations of a partition that are held because a release may have taken them over


class Quality:
    """Conversations by release: `add` each once, `merge` the parts, `finish`, then `rows` and `comparisons`.

    scorers: of the suite; idle: seconds after which a conversation is over, 0 where the recording holds whole ones;
    covered: scorers whose coverage is a figure of its own: of the answers that could be scored by them. What answers a
    "thanks" could not, and happier users thank more often.
    """

    def __init__(
        self,
        scorers: Sequence[str],
        idle: float = 0.0,
        covered: Sequence[str] = (FOLLOW_UP,),
    ) -> None:
        covered = [name for name in covered if name in scorers]
        self.figures = (*scorers, *map(coverage_name, covered), *DERIVED)
        self.start, self.end = math.inf, -math.inf
        self.named = NamedReleases()
        self._idle = idle
        self._reader = FigureReader(self.figures)
        self._covered = tuple(
            (self.figures.index(coverage_name(name)), self.figures.index(name), self.figures.index(_among(name)))
            for name in covered
        )
        self._questions, self._asked = map(self.figures.index, (QUESTIONS, FAILED))
        self._asks_back, self._only_asks = map(self.figures.index, (ASKS_BACK, ONLY_ASKS))
        self._complaining = self.figures.index(BEGUN_COMPLAINING)
        self._free = self.figures.index(CLARIFICATION_FREE) if CLARIFICATION_FREE in self.figures else None
        ranking = next((name for name in ranked_figures(scorers) if name in scorers and name != WASTED), None)
        self._ranks = None if ranking is None else self.figures.index(ranking)
        self._releases: dict[Release, ReleaseTotals] = {}
        self._begun: dict[Release, float] = {}  # event time of a release's first conversation that it began
        self._opened: dict[Release, float] = {}  # and of the first answer that opened one
        self._cut: list[ConversationScores] = []  # that the recording or a rollout may cut: known when its ends are
        self._taken_over = 0  # of these, at most so many are held for the sake of a rollout
        self._cohorts: dict[Release, ReleaseTotals] = {}  # what is compared, where it is not what is shown
        self._taken: Counter[Release] = Counter()  # conversations that a release took over
        self._set_aside: dict[Release, ReleaseTotals] = {}  # of those that it does cut
        self._unattributed = Unattributed()

    def empty(self) -> "array[float]":
        """Return the values of a conversation before its first answer, as `ConversationScores` holds them."""
        return array("d", bytes(8 * (2 * len(self.figures) + 1)))

    def add(self, went: ConversationScores) -> None:
        """Count a conversation; each once."""
        self.start, self.end = min(self.start, went.first), max(self.end, went.clock)
        for values in went.parts.values():
            for coverage, scored, among in self._covered:
                could = values[2 * among] or values[-1]  # rows alone do not tell which
                values[2 * coverage : 2 * coverage + 2] = array("d", (could, min(values[2 * scored], could)))
            at = 2 * self._only_asks
            answers, asking = values[at : at + 2]
            if answers:
                values[at : at + 2] = array("d", (1.0, asking == answers))
            if asked := values[2 * self._asked]:
                at, back = 2 * self._questions, values[2 * self._asks_back + 1]
                # What is asked back, and what is replied to that, are of one question.
                values[at : at + 2] = array("d", (1.0, QUESTIONS_ASKED.fraction(asked - back)))
        known = self._unattributed.update(went)
        if known is not None:
            self._add(known)

    def leave_out(self, release: Release, first: float, why: str) -> None:
        """Count a conversation as left out, for another reason than that the recording cuts it."""
        self._totals(self._releases, release, first).left_out[why] += 1

    def _add(self, went: ConversationScores) -> None:
        opener = begun_by(went)
        _keep_first(self._begun, opener, went.first)
        if went.parts:
            _keep_first(self._opened, opener, went.opened)
        if self._why_cut(went):
            self._cut.append(went)
        elif self._took_over(went) and self._taken_over < _MOST_TAKEN_OVER:
            self._taken_over += 1
            self._cut.append(went)
        else:
            self._count(went, self._releases)

    def merge(self, other: "Quality") -> None:
        """Add what another part counted; sums of floats depend on the order, so merge in the partitions' order."""
        self.start, self.end = min(self.start, other.start), max(self.end, other.end)
        self.named.merge(other.named)
        self._cut += other._cut
        self._unattributed.merge(other._unattributed)
        for earliest, theirs_first in ((self._begun, other._begun), (self._opened, other._opened)):
            for release, time in theirs_first.items():
                _keep_first(earliest, release, time)
        for mine, others in ((self._releases, other._releases), (self._set_aside, other._set_aside)):
            for release, theirs in others.items():
                self._totals(mine, release, theirs.first).merge(theirs)

    def finish(self, minimum: int = 1) -> None:
        """Attribute conversations without a version, and leave out those that the recording cuts.

        Call once all parts are merged; minimum: as in `rows`.
        """
        for went in self._unattributed.resolve(minimum):
            if not went.parts or went.release[1] is not None:
                silent = self._unattributed.silent_since(went.release[0])
                begun = went.first if silent is None or went.release[1] is not None else silent
                _keep_first(self._begun, went.release, begun)
                if why := self._why_cut(went):
                    self._leave_out(went, why)
                else:
                    self._count(went, self._releases)
            else:
                self._add(went)
        waiting, self._cut = self._cut, []
        taken_over: list[ConversationScores] = []
        for went in waiting:
            if why := self._why_cut(went):
                self._leave_out(went, why)
            elif self._took_over(went):
                taken_over.append(went)
            else:
                self._count(went, self._releases)
        for release in {self.named.fold(release) for went in taken_over for release in went.parts}:
            shown = self._releases.get(release)
            self._cohorts[release] = ReleaseTotals(math.inf, self._no_moments()) if shown is None else shown.copy()
        for went in taken_over:
            self._count(went, self._releases)
            self._count(as_begun(went), self._cohorts)
            self._taken.update(release for release in went.parts if release != begun_by(went))

    def over_all(self, release: Release, figure: str) -> Clusters | None:
        """Return one figure's sums over a release's conversations, cut ones too; None where nothing was scored."""
        if figure not in self.figures:
            return None
        at, sums = self.figures.index(figure), Clusters()
        for part in (self._releases, self._set_aside):
            if release in part:
                sums.merge(part[release].sums(at))
        return sums if sums.n else None

    def pooled(self, figure: str) -> Clusters:
        """Return one figure's sums over all releases, with the conversations that are left out of them."""
        sums = Clusters()
        for totals in (*self._releases.values(), *self._set_aside.values()):
            sums.merge(totals.sums(self.figures.index(figure)))
        return sums

    def rows(self, minimum: int) -> list[dict[str, Any]]:
        """Return how each release's conversations went, and of fewer than `minimum` that they are not compared."""
        return [self._row(release, minimum) for release in self._in_order()]

    def comparisons(
        self, minimum: int, primary: str, least_change: float, baseline: str | None = None
    ) -> list[dict[str, Any]]:
        """Compare each release with the one before it of the same assistant, where both have enough conversations.

        baseline: a version that all others are compared with instead. Which one is before is
        `stream.reports.release_order`; what is named, and how, `stream.statistics.claims`. Raises ConfigError for a
        baseline that there is not.
        """
        check_baseline(baseline, self._releases.keys() - {OTHER_RELEASES})
        compared = (release for release in self._by_time() if self._is_compared(release, minimum))
        return [
            self._compare(step, minimum, primary, least_change)
            for _, releases in groupby(compared, key=itemgetter(0))
            for step in steps([self._period(release) for release in releases], baseline)
        ]

    def silences(self) -> list[dict[str, Any]]:
        """Say where many asked and nobody answered."""
        return [silence.as_json() for silence in self._unattributed.silences]

    def _no_moments(self) -> npt.NDArray[np.float64]:
        return np.zeros((len(self.figures), MOMENTS))

    def _totals(self, releases: dict[Release, ReleaseTotals], release: Release, first: float) -> ReleaseTotals:
        totals = releases.get(release) or releases.get(release := self.named.fold(release))
        if totals is None:
            totals = releases[release] = ReleaseTotals(first, self._no_moments())
        totals.first = min(totals.first, first)
        return totals

    def _why_cut(self, went: ConversationScores) -> str:
        """Say why a conversation is left out, as far as the ends of the recording are known; "" where it is not."""
        if not self._idle:
            return ""
        if went.outcome == Unscored.CUT or went.quiet + self._idle > self.end or went.quiet > self.end:
            return "young"
        return "headless" if went.headless and went.first < self.start + self._idle else ""

    def _took_over(self, went: ConversationScores) -> bool:
        """Say whether a release answered that had opened no conversation before, as far as is known."""
        return len(went.parts) > 1 and any(went.opened < self._opened.get(release, math.inf) for release in went.parts)

    def _leave_out(self, went: ConversationScores, why: str) -> None:
        self._totals(self._releases, went.release, went.first).left_out[why] += 1
        for release, values in went.parts.items():
            self._totals(self._set_aside, release, went.first).update(values, went.opened)

    def _count(self, went: ConversationScores, releases: dict[Release, ReleaseTotals]) -> None:
        totals = self._totals(releases, went.release, went.first)
        totals.count(went)
        totals.turns += went.turns
        where = ("" if went.first_answer is None else went.first_answer.platform, went.language)
        if any(where):
            totals.stratum(*where).count(went)
        for release, values in went.parts.items():
            part = self._totals(releases, release, went.first)
            part.update(values, went.opened, went.user)
            if any(where):
                part.stratum(*where).update(values, went.opened, went.user)
        if went.parts and went.first_answer is not None:
            opener = self._totals(releases, begun_by(went), went.first)
            opener.first_answers.add(went.first_answer, went.language, self._came_of(went))

    def _came_of(self, went: ConversationScores) -> Opening:
        """Return what came of a conversation's first question."""
        (judged, free), (ranked, ranks) = (_sums(went, figure) for figure in (self._free, self._ranks))
        _, complaining = _sums(went, self._complaining)
        outcome = went.outcome if went.is_readable else ""
        return Opening(
            follow_ups=judged, free=free, outcome=outcome, ranked=ranked, ranks=ranks, complains=complaining > 0
        )

    def _by_time(self) -> list[Release]:
        def began(release: Release) -> tuple[str, float, float, str]:
            return release[0], self._begun.get(release, math.inf), self._releases[release].first, release[1] or ""

        return sorted(self._releases, key=began)

    def _in_order(self) -> Iterator[Release]:
        for _, releases in groupby(self._by_time(), key=itemgetter(0)):
            for group in in_order([self._period(release) for release in releases]):
                yield from (period.release for period in group)

    def _period(self, release: Release) -> Period:
        totals = self._releases[release]
        first = self._begun.get(release, totals.first)
        n = totals.outcomes.total()
        answered = n - totals.outcomes[UNANSWERED]
        return Period(release, first, totals.last, n, answered, not self._is_nobody(release))

    def _is_compared(self, release: Release, minimum: int) -> bool:
        totals = self._releases[release]
        if release == OTHER_RELEASES or totals.outcomes.total() < minimum:
            return False
        # Asked of nobody in particular, and nobody answered: only a silence tells since when.
        return not self._is_nobody(release) or self._unattributed.silent_since(release[0]) is not None

    def _is_nobody(self, release: Release) -> bool:
        """Say whether a release is what nobody answered, or what only failed beside releases that name themselves."""
        if release[1] is not None:
            return False
        totals = self._releases[release]
        if not totals.answered[0]:
            return True
        only_fails = totals.outcomes[UNANSWERED] >= _ONLY_FAILS * totals.outcomes.total()
        return only_fails and any(one[0] == release[0] and one[1] is not None for one in self._releases)

    def _row(self, release: Release, minimum: int) -> dict[str, Any]:
        totals = self._releases[release]
        totals.add_waiting()
        n = totals.outcomes.total()
        row: dict[str, Any] = {"assistant": release[0], "version": release[1], "conversations": n}
        row |= {"left_out": dict(sorted(totals.left_out.items())), "first": totals.first}
        if attributed := self._unattributed.attributed[release]:
            row["attributed"] = attributed
        if n < minimum:
            row["not_compared"] = f"{n} whole conversations of {minimum} needed"
        if release == OTHER_RELEASES:
            row["not_compared"] = f"those beyond the first {MAX_RELEASES:,} are counted together"
        if not n:
            return row
        conversations, answers, *_ = totals.answered.tolist()
        row["turns_per_conversation"] = round(totals.turns / n, 6)
        row["answers_per_conversation"] = round(answers / max(1, conversations), 6)
        return row | {
            "figures": {name: figure_as_json(name, interval) for name, interval in self._reader.read(totals, 1).items()}
        }

    def _compare(self, step: Step, minimum: int, primary: str, least_change: float) -> dict[str, Any]:
        before, after, by = step
        old, new = self._releases[before], self._releases[after]
        cohorts = self._cohorts.get(before, old), self._cohorts.get(after, new)
        by_cohort = all(cohort.outcomes.total() >= minimum for cohort in cohorts)
        came_after = self._begun.get(before, math.inf) <= self._begun.get(after, math.inf)
        unanswered = self._unattributed.change(after, minimum) if came_after else None
        deltas = {} if unanswered is None else {UNANSWERED_OF_ALL: unanswered}
        old, new = cohorts if by_cohort else (old, new)
        compared = ReleasePair(self._reader, old, new, minimum)
        row: dict[str, Any] = {"assistant": after[0], "before": before[1], "after": after[1]}
        if by:
            row["baseline_by"] = by
        if by_cohort and self._taken[after]:
            row["taken_over"] = self._taken[after]
        if attributed := {
            str(release[1]): n for release in (before, after) if (n := self._unattributed.attributed[release])
        }:
            row["attributed"] = attributed
        if apart := self._unattributed.apart(after):
            row["apart"] = apart
        return row | compared.as_json(primary, least_change, deltas)


def _among(covered: str) -> str:
    """Return the figure of every answer that a scorer could score: of what was asked, or could be out of documents."""
    return FAILED if covered == FOLLOW_UP else WITH_DOCUMENTS


def _sums(went: ConversationScores, figure: int | None) -> tuple[float, float]:
    """Return how many values of a figure a conversation has, of whatever release, and their sum."""
    if figure is None:
        return 0.0, 0.0
    count, value = (math.fsum(values[2 * figure + at] for values in went.parts.values()) for at in (0, 1))
    return count, value


def _keep_first(times: dict[Release, float], release: Release, time: float) -> None:
    times[release] = min(times.get(release, math.inf), time)
