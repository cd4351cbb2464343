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
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from turnsignal.stream.pipeline.metric_deltas import Release
from turnsignal.stream.records.scores import FOLLOW_UP, FREE_OUTCOMES, Unscored
from turnsignal.stream.reports.first_answers import share_of_length
from turnsignal.stream.reports.release_figures import (
    BOTH,
    LANGUAGES,
    PLATFORMS,
    SCALES,
    ReleaseFigure,
    change,
    delta_as_json,
    figure_as_json,
    ranked_figures,
)
from turnsignal.stream.reports.release_totals import (
    CONVERSATIONS,
    FIRST,
    LENGTH,
    MAX_RELEASES,
    MOMENTS,
    OTHER_RELEASES,
    READABLE,
    UNANSWERED,
    ConversationScores,
    NamedReleases,
    ReleaseTotals,
    as_begun,
    begun_by,
)
from turnsignal.stream.reports.standardised import FEWEST, within_parts
from turnsignal.stream.reports.unattributed import Unattributed
from turnsignal.stream.reports.user_spread import UserSpread, compared_estimates, mean_by_user, rate_by_user
from turnsignal.stream.statistics.claims import (
    ANSWER_SECONDS,
    CHANGED,
    CHECKS_APPLIED,
    CITES_ALL,
    CITES_TOP,
    DOCUMENTS,
    FAILED,
    FREE_CONVERSATIONS,
    OUTCOMES,
    PROMISE,
    SAME,
    SAME_DOCUMENTS,
    SAME_FIRST,
    SAME_LANGUAGE,
    SHORT_FIRST,
    UNANSWERED_OF_ALL,
    VOTE,
    WITH_DOCUMENTS,
    claims,
    coverage_name,
    says_nothing,
)
from turnsignal.stream.statistics.intervals import (
    Clusters,
    Difference,
    Estimate,
    difference,
    mean_over_conversations,
    mean_over_turns,
    of_one_turn,
)

#: figures of answers that no scorer of a response gives
DERIVED = (DOCUMENTS, VOTE, FAILED, CHECKS_APPLIED, CITES_ALL, CITES_TOP, SAME_LANGUAGE, ANSWER_SECONDS)

_MOST_TAKEN_OVER = 2_000  #: conversations of a partition that are held because a release may have taken them over


class Quality:
    """Conversations by release: `add` each once, `merge` the parts, `finish`, then `rows` and `comparisons`.

    scorers: of the suite; idle: seconds after which a conversation is over, 0 where the recording holds whole ones;
    covered: scorers whose coverage is a figure of its own.
    """

    def __init__(
        self,
        scorers: Sequence[str],
        idle: float = 0.0,
        covered: Sequence[str] = (FOLLOW_UP,),
    ) -> None:
        self.figures = (*scorers, *DERIVED)
        self.start, self.end = math.inf, -math.inf
        self.named = NamedReleases()
        self._idle = idle
        self._covered = covered
        self._ranked = ranked_figures(scorers)
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

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take in checkpoints, too, that were written when every release was told apart."""
        self.__dict__.update({"named": NamedReleases()} | state)

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
        return [self._row(release, minimum) for release in sorted(self._releases, key=self._by_time)]

    def comparisons(self, minimum: int, primary: str, least_change: float) -> list[dict[str, Any]]:
        """Compare each release with the one before it of the same assistant, where both have enough conversations.

        What is named, and how, is `stream.statistics.claims`.
        """
        rows = []
        before: dict[str, Release] = {}
        for release in sorted(self._releases.keys() - {OTHER_RELEASES}, key=self._by_time):
            totals = self._releases[release]
            nobody = release[1] is None and not totals.answered[0]
            if totals.outcomes.total() < minimum or (nobody and self._unattributed.silent_since(release[0]) is None):
                continue  # the latter: asked of nobody in particular, and nobody answered
            if release[0] in before:
                rows.append(self._compare(before[release[0]], release, minimum, primary, least_change))
            if not nobody:
                before[release[0]] = release
        return rows

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
        if any(where) and (stratum := totals.stratum(*where)) is not None:
            stratum.count(went)
        for release, values in went.parts.items():
            part = self._totals(releases, release, went.first)
            part.update(values, went.opened, went.user)
            if any(where) and (stratum := part.stratum(*where)) is not None:
                stratum.update(values, went.opened, went.user)
        if went.parts and went.first_answer is not None:
            opener = self._totals(releases, begun_by(went), went.first)
            opener.first_answers.add(went.first_answer, went.language)

    def _by_time(self, release: Release) -> tuple[str, float, float, str]:
        return release[0], self._begun.get(release, math.inf), self._releases[release].first, release[1] or ""

    def _figures(self, totals: ReleaseTotals, minimum: int) -> dict[str, ReleaseFigure]:
        """Return every figure of a release that enough conversations speak of."""
        totals.add_waiting()
        conversations = round(totals.answered[0])
        figures = dict(_outcomes(totals, minimum))
        for at, name in enumerate(self.figures):
            sums = totals.sums(at)
            coverage, covering = None, None
            if conversations >= minimum:
                answers = 2 * len(self.figures)
                coverage, covering = mean_by_user(
                    totals.users, (answers, 2 * at), totals.scored(at), partial(totals.scored_alone, at)
                )
                if name in self._covered:
                    figures[coverage_name(name)] = ReleaseFigure(coverage, users=covering)
                elif name == DOCUMENTS:
                    figures[WITH_DOCUMENTS] = ReleaseFigure(coverage, users=covering)
            if sums.n >= minimum:
                spread = SCALES[name].spread if name in SCALES else 0.0
                mean, users = mean_by_user(
                    totals.users, (2 * at, 2 * at + 1), sums, partial(totals.sums_alone, at), spread
                )
                by_conversation = mean_over_conversations(sums)
                if users is not None:  # as much wider as the other mean is
                    wider = mean.size / users.by_conversation.size
                    by_conversation = by_conversation._replace(size=by_conversation.size * wider, degrees=mean.degrees)
                if name == ANSWER_SECONDS:
                    batched = mean_over_turns(totals.seconds.clusters(), spread)
                    mean = batched if users is None else min(batched, mean, key=lambda one: one.size)
                    users = None
                mean = mean._replace(n=round(sums.n))
                figures[name] = ReleaseFigure(mean, by_conversation, coverage, users, covering)
        return figures

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
            "figures": {name: figure_as_json(name, interval) for name, interval in self._figures(totals, 1).items()}
        }

    def _compare(
        self, before: Release, after: Release, minimum: int, primary: str, least_change: float
    ) -> dict[str, Any]:
        pair = [self._releases[before], self._releases[after]]
        cohorts = [self._cohorts.get(release, self._releases[release]) for release in (before, after)]
        by_cohort = all(cohort.outcomes.total() >= minimum for cohort in cohorts)
        if by_cohort:
            pair = cohorts
        old, new = (self._figures(totals, minimum) for totals in pair)
        overlap = pair[1].users.overlap(pair[0].users)
        common = [name for name in new if name in old and not _has_none(name, new, old)]
        deltas = {name: change(new[name], old[name], overlap) for name in common}
        coverages = dict(_coverages(common, new, old, overlap))
        drift = _drift(deltas, *pair)
        if (unanswered := self._unattributed.change(after, minimum)) is not None:
            deltas[UNANSWERED_OF_ALL] = unanswered
        before_first, first = (totals.first_answers for totals in pair)
        text = ""
        if min(first.n, before_first.n) >= minimum:
            alike = _alike_first_answers(pair[1], pair[0], overlap)
            deltas[SHORT_FIRST] = first.short(before_first, alike)
            if (same := first.same(before_first, alike)) is not None:
                deltas[SAME_FIRST], text = same
        few = 0.0
        if min(first.searched, before_first.searched) >= minimum:
            deltas[SAME_DOCUMENTS], few = first.same_documents(before_first)
        unranked = says_nothing(deltas, new[CITES_TOP].mean.value if CITES_TOP in deltas else 0.0, few)
        deltas.pop(CITES_TOP, None)  # a habit, and neither better nor worse
        platforms, languages = first.shifted(before_first), first.asked_otherwise(before_first)
        shifted = "; ".join(filter(None, (platforms, languages)))
        parts = BOTH if platforms and languages else LANGUAGES if languages else PLATFORMS
        within = self._within(pair[0], pair[1], parts) if shifted else {}
        promise = (primary, least_change, self._ranked)
        claimed = claims(deltas, coverages, *promise, unranked=unranked, shifted=shifted, within=within, parts=parts)
        if drift and claimed[ANSWER_SECONDS].change == SAME:
            claimed[ANSWER_SECONDS] = claimed[ANSWER_SECONDS]._replace(why=drift)
        for name in (SHORT_FIRST, SAME_FIRST):
            if languages and name in claimed:
                # Every language has texts and lengths of its own.
                claimed[name] = claimed[name]._replace(change=SAME, why=f"not compared: {languages}")
        if text and claimed[SAME_FIRST].change == CHANGED:
            claimed[SAME_FIRST] = claimed[SAME_FIRST]._replace(why=f'"{text}"')
        row: dict[str, Any] = {"assistant": after[0], "before": before[1], "after": after[1]}
        row["primary"] = primary if primary in deltas else None
        if by_cohort and self._taken[after]:
            row["taken_over"] = self._taken[after]
        if attributed := {
            str(release[1]): n for release in (before, after) if (n := self._unattributed.attributed[release])
        }:
            row["attributed"] = attributed
        if apart := self._unattributed.apart(after):
            row["apart"] = apart
        if shifted:
            row["shifted"], row["moved"] = shifted, parts
        if unranked:
            row["unranked"] = unranked
        row["with_user"] = round(min(totals.with_user / max(1, totals.outcomes.total()) for totals in pair), 6)
        row["side_by_side"] = _side_by_side(*pair)
        deltas_json = {
            name: delta_as_json(name, delta, claimed[name], within.get(name), parts) for name, delta in deltas.items()
        }
        return row | {"deltas": deltas_json}

    def _within(self, before: ReleaseTotals, after: ReleaseTotals, parts: str) -> dict[str, Difference]:
        """Compare two releases within each platform, language, or both of these, that both have."""
        by = {"platform": parts != LANGUAGES, "language": parts != PLATFORMS}
        here, there = after.by(**by), before.by(**by)
        common = [(here[name], there[name]) for name in sorted(here.keys() & there.keys())]
        pairs = (
            (self._figures(new, FEWEST), self._figures(old, FEWEST), new.users.overlap(old.users))
            for new, old in common
        )
        # Who got no answer has no platform that is known, but a language.
        placed = parts == LANGUAGES or (before.placed and after.placed)
        return within_parts(pairs, set() if placed else {UNANSWERED})


def _outcomes(totals: ReleaseTotals, minimum: int) -> Iterator[tuple[str, ReleaseFigure]]:
    """Give how conversations went: of those in languages that rules read, but for what nobody answered."""
    everyone, unread = totals.outcomes.total(), totals.unread.total()
    for names in (*((name,) for name in OUTCOMES), FREE_OUTCOMES):
        any_language = names == (UNANSWERED,)
        n = everyone if any_language else everyone - unread
        if n < max(1, minimum):
            continue
        count = sum(totals.outcomes[name] - (0 if any_language else totals.unread[name]) for name in names)
        among = totals.beside(CONVERSATIONS if any_language else READABLE)
        columns = tuple(totals.outcome(name) for name in names)
        rate, users = rate_by_user(totals.users, (among, columns), count, n)
        yield FREE_CONVERSATIONS if len(names) > 1 else names[0], ReleaseFigure(rate, users=users)


def _alike_first_answers(after: ReleaseTotals, before: ReleaseTotals, overlap: float) -> tuple[float, float]:
    """Return as how many of itself a first answer of each release counts, as their lengths tell."""
    (mine, here), (theirs, there) = (_first_lengths(totals) for totals in (after, before))
    new, old = compared_estimates(mine, theirs, overlap)
    return min(1.0, new.size / here), min(1.0, old.size / there)


def _first_lengths(totals: ReleaseTotals) -> tuple[tuple[Estimate, UserSpread | None], float]:
    """Return the mean length of first answers, and its size as if all stood for themselves."""
    shares = [(share_of_length(step), count) for step, count in sorted(totals.first_answers.lengths.items())]
    n = totals.first_answers.n
    total, squares = (math.fsum(share**power * count for share, count in shares) for power in (1, 2))
    (known,) = totals.users.columns(totals.beside(FIRST)).columns
    others = max(0.0, 1 - float(known.sum()) / n)
    whole, alone = of_one_turn(n, total, squares), of_one_turn(n * others, total * others, squares * others)
    at = (totals.beside(FIRST), totals.beside(LENGTH))
    return mean_by_user(totals.users, at, whole, lambda: alone), mean_over_turns(whole).size


def _side_by_side(before: ReleaseTotals, after: ReleaseTotals) -> bool:
    """Say whether two releases began conversations at the same time, for half of the shorter one's time or more."""
    both = min(before.last, after.last) - max(before.first, after.first)
    return both > 0 and 2 * both >= min(before.last - before.first, after.last - after.first)


def _drift(deltas: dict[str, Difference], before: ReleaseTotals, after: ReleaseTotals) -> str:
    """Take what goes up or down with the hour out of how sure a change of speed is; say so where that is all of it."""
    delta, step = deltas.get(ANSWER_SECONDS), after.seconds.step_from(before.seconds)
    if delta is None or step is None:
        return ""
    deltas[ANSWER_SECONDS] = delta._replace(p=max(delta.p, step.p))
    return "answers change their speed with the hour within each release, too" if delta.p <= PROMISE < step.p else ""


def _keep_first(times: dict[Release, float], release: Release, time: float) -> None:
    times[release] = min(times.get(release, math.inf), time)


def _has_none(name: str, new: Mapping[str, ReleaseFigure], old: Mapping[str, ReleaseFigure]) -> bool:
    """Say whether nothing is ever retrieved: then there is no share of that to compare."""
    return name == WITH_DOCUMENTS and new[name].mean.value == old[name].mean.value == 0.0


def _coverages(
    names: Iterable[str], new: Mapping[str, ReleaseFigure], old: Mapping[str, ReleaseFigure], overlap: float
) -> Iterable[tuple[str, Difference]]:
    for name in names:
        mine, theirs = new[name].coverage, old[name].coverage
        if mine is not None and theirs is not None:
            pair = (mine, new[name].users_coverage), (theirs, old[name].users_coverage)
            yield name, difference(*compared_estimates(*pair, overlap))
