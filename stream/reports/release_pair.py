"""Release pairs: every figure of a release, read from its totals, and how two releases of an assistant differ.

What a difference is taken for is `stream.statistics.claims`; what moves without any change of the product (the hour,
platforms, languages) is told apart here.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from turnsignal.stream.pipeline.scoring import FOLLOW_UPS
from turnsignal.stream.records.scores import CITED, CITED_ARTICLE, CLARIFICATION_FREE, FOLLOW_UP, FREE_OUTCOMES
from turnsignal.stream.reports.affected_parts import affected_parts
from turnsignal.stream.reports.closing_habits import closing_habit, thanked
from turnsignal.stream.reports.first_answers import FirstAnswers, share_of_length
from turnsignal.stream.reports.release_figures import (
    BOTH,
    LANGUAGES,
    PLATFORMS,
    SCALES,
    ReleaseFigure,
    change,
    delta_as_json,
    ranked_figures,
)
from turnsignal.stream.reports.release_order import Period, overlap
from turnsignal.stream.reports.release_totals import (
    CONVERSATIONS,
    FIRST,
    LENGTH,
    OTHER_PLATFORMS,
    READABLE,
    UNANSWERED,
    WAITING,
    Parts,
    ReleaseTotals,
    has_others,
    others_moved,
    parts_of_both,
)
from turnsignal.stream.reports.standardised import FEWEST, within_parts
from turnsignal.stream.reports.user_spread import UserSpread, compared_estimates, mean_by_user, rate_by_user
from turnsignal.stream.statistics.claim import Claim
from turnsignal.stream.statistics.claims import claims
from turnsignal.stream.statistics.closing_habit import REPLIES
from turnsignal.stream.statistics.conversation_length import ConversationLength
from turnsignal.stream.statistics.directions import (
    ANSWER_SECONDS,
    ASKS_BACK,
    CHANGED,
    CITES_LAST,
    CITES_TOP,
    COMPLAINED_OF,
    DOCUMENTS,
    FAILED,
    FOLLOWED,
    FREE_CONVERSATIONS,
    NO_ANSWER,
    OF_THE_RECORD,
    OUTCOMES,
    QUESTIONS,
    REFUSED,
    SAME,
    SAME_DOCUMENTS,
    SAME_FIRST,
    SAME_LANGUAGE,
    SHORT_FIRST,
    THANKED,
    UNHEARD,
    WITH_DOCUMENTS,
    WORSE,
    coverage_name,
)
from turnsignal.stream.statistics.intervals import (
    Difference,
    Estimate,
    difference,
    mean_over_conversations,
    mean_over_turns,
    of_one_turn,
)
from turnsignal.stream.statistics.promise import PROMISE
from turnsignal.stream.statistics.rankings import RankingDoubts, cited_by_place, said_nothing, says_nothing
from turnsignal.stream.statistics.record_changes import Circumstances, record_changes
from turnsignal.stream.statistics.refusals import doubt_refusals
from turnsignal.stream.statistics.traffic_shift import TrafficShift

_FEWEST_THANKS = 0.05  #: share of answers that users thank for, above which nobody can say that hardly anybody does
_SAME_FOR_MANY = 0.25  #: share of conversations by which the same answer comes to more of them, for it to be worse
_SAME_FOR_MOST = 0.5  #: the same, where the documents were the same for everybody in both releases
_MOST_OF_BOTH = 0.5  #: share of the conversations of what two releases have, that is enough to speak for all
_NEARLY_ALL = 0.9  #: share of documents that come to everybody, or of answers that cite some
_HARDLY = 0.25  #: of the share of answers that users thank for, what is left where a log leaves most thanks out


class FigureReader:
    """Read the figures of releases.

    names: of figures, in the order of the totals; ranked: as `ranked_figures` has them.
    """

    def __init__(self, names: Sequence[str]) -> None:
        self.names = names
        self.ranked = ranked_figures(names)
        self._rankings = next((coverage_name(name) for name in self.ranked if coverage_name(name) in names), "")

    def read(self, totals: ReleaseTotals, minimum: int) -> dict[str, ReleaseFigure]:
        """Return every figure of a release that enough conversations speak of."""
        totals.add_waiting()
        conversations = round(totals.answered[0])
        figures = dict(_outcomes(totals, minimum))
        for at, name in enumerate(self.names):
            sums = totals.sums(at)
            coverage, covering = None, None
            if conversations >= minimum:
                columns = 2 * len(self.names), 2 * at
                coverage, covering = mean_by_user(
                    totals.users, columns, totals.scored(at), partial(totals.scored_alone, at)
                )
            if sums.n >= minimum:
                figures[name] = _figure(totals, at, name)._replace(coverage=coverage, users_coverage=covering)
        return figures

    def read_free(self, totals: ReleaseTotals) -> ReleaseFigure | None:
        """Return the share of follow-ups that ask for no clarification; None of fewer conversations than a part has."""
        if CLARIFICATION_FREE not in self.names:
            return None
        at = self.names.index(CLARIFICATION_FREE)
        return _figure(totals, at, CLARIFICATION_FREE) if totals.sums(at).n >= FEWEST else None

    def coverages(
        self, names: Iterable[str], new: Mapping[str, ReleaseFigure], old: Mapping[str, ReleaseFigure], overlap: float
    ) -> Iterator[tuple[str, Difference]]:
        """Compare which share of answers figures could score: of those that they could, where that is known."""
        for name in names:
            shared = self._coverage_of(name)
            if shared in new and shared in old:
                yield name, change(new[shared], old[shared], overlap)
                continue
            mine, theirs = new[name].coverage, old[name].coverage
            if name != FAILED and mine is not None and theirs is not None:  # that is missing for small talk alone
                pair = (mine, new[name].users_coverage), (theirs, old[name].users_coverage)
                yield name, difference(*compared_estimates(*pair, overlap))

    def _coverage_of(self, name: str) -> str:
        """Name the figure that says how much a figure could score, "" for none."""
        if name in self.ranked:
            return self._rankings
        return coverage_name(FOLLOW_UP) if name in FOLLOW_UPS else ""


class ReleasePair:
    """Two releases of an assistant, each with enough conversations, to be compared by every figure that both have.

    before, after: their totals; minimum: conversations that a figure needs.
    """

    def __init__(self, reader: FigureReader, before: ReleaseTotals, after: ReleaseTotals, minimum: int) -> None:
        self.before, self.after = before, after
        self._reader, self._minimum = reader, minimum
        self._old, self._new = reader.read(before, minimum), reader.read(after, minimum)
        self._overlap = after.users.overlap(before.users)

    def as_json(self, primary: str, least_change: float, deltas: Mapping[str, Difference]) -> dict[str, Any]:
        """Compare both; primary, least_change: as in `claims`; deltas: of further figures."""
        old, new = self._old, self._new
        common = [name for name in new if name in old and not _has_none(name, new, old)]
        differences = {name: change(new[name], old[name], self._overlap) for name in common}
        drift = _drift(differences, self.before, self.after)
        differences |= deltas
        text, few, language = self._add_first_answers(differences)
        unranked = says_nothing(differences, new[CITES_TOP].mean.value if CITES_TOP in differences else 0.0, few)
        differences.pop(CITES_TOP, None)  # a habit, and neither better nor worse
        asked = differences.pop(QUESTIONS, None)
        scale = SCALES[QUESTIONS]
        for replies in REPLIES:
            differences.pop(replies, None)
        habit = closing_habit(self._reader.names, self.before, self.after)
        beside = {name: differences.pop(name) for name in OF_THE_RECORD if name in differences}
        mine, theirs = self.after.first_answers, self.before.first_answers
        around = mine.edges.more_alike(theirs.edges)
        free = min((of[CLARIFICATION_FREE].mean.value for of in (old, new) if CLARIFICATION_FREE in of), default=1.0)
        cut = mine.edges.more_cut(theirs.edges)
        hardly, most = sorted(thanked(self._reader.names, totals) for totals in (self.before, self.after))
        words = mine.questions.other_words(theirs.questions)
        known = Circumstances(
            words=words,
            expected=mine.questions.expected(theirs.questions),
            by_complaints=mine.questions.by_complaints(theirs.questions),
            around=around,
            clarified=1.0 - free,
            cut=cut,
            ranked=self._reader.ranked,
            unthanked=hardly <= min(_FEWEST_THANKS, _HARDLY * most),
            length=mine.length_beside(theirs),
            replaced=mine.replaced(theirs),
            replies=habit.helped,
            thinning=_thinning(old, new),
        )
        changes = record_changes(differences, beside, known)
        unheard = differences.pop(UNHEARD, None)
        traffic = _traffic(self.after.first_answers, self.before.first_answers)
        within = self._within(traffic.parts) if traffic.shifted else {}
        unheard = within.pop(UNHEARD, unheard)
        doubts = RankingDoubts(unranked or _unsaid(differences), self._said_nothing(), self._cited_by_place())
        claimed = claims(
            differences,
            dict(self._reader.coverages(common, new, old, self._overlap)),
            primary,
            least_change,
            self._reader.ranked,
            doubts=doubts,
            unheard=unheard,
            shift=traffic._replace(within=within),
            length=None
            if asked is None
            else ConversationLength(
                asked, 1 + scale.change(asked.value), _thanked(beside, old), 1.0 - free, self._heard()
            ),
            habit=habit,
            changes=changes,
            complained_of=beside.get(COMPLAINED_OF),
            refused=beside.get(REFUSED),
        )
        self._explain(claimed, drift, text, language)
        doubt_refusals(claimed, differences, beside)
        self._judge_same_answers(claimed, differences, words, few)
        row: dict[str, Any] = {"primary": primary if primary in differences else None}
        if traffic.shifted:
            row["shifted"], row["moved"] = traffic.shifted, traffic.parts
        last = next((change.why for change in changes if change.unranks), "")
        turned = (last, "") if last and beside[CITES_LAST].value > 0 else ("", last)
        if unranked or turned[0]:
            row["unranked"] = unranked or turned[0]
        unranked_before = doubts.before or doubts.by_place or turned[1]
        if unranked_before and any(claimed[name].change == CHANGED for name in claimed.keys() & self._reader.ranked):
            row["unranked_before"] = unranked_before
        renamed = mine.renamed_platforms(theirs)
        row["record"] = [note for note in (*(change.note for change in changes), habit.note, renamed) if note]
        with_user = (totals.with_user / max(1, totals.outcomes.total()) for totals in (self.before, self.after))
        row["with_user"] = round(min(with_user), 6)
        row["users"] = min(len(self.before.users), len(self.after.users))  # at most as many as are told apart
        row["side_by_side"] = overlap(*(Period(("", None), t.first, t.last, 0, 0) for t in (self.before, self.after)))
        row["deltas"] = {
            name: delta_as_json(name, delta, claimed[name], within.get(name), traffic.parts)
            for name, delta in differences.items()
        }
        claim = claimed.get(CLARIFICATION_FREE)
        if claim is not None and not (claim.change == CHANGED and claim.why):  # of what is explained, each part's is
            is_worse = claim.change == WORSE
            parts = affected_parts(self._reader.read_free, self.before, self.after, least_change, is_worse=is_worse)
            if parts:
                row["affected_parts"] = [part.as_json() for part in parts]
        return row

    def _add_first_answers(self, deltas: dict[str, Difference]) -> tuple[str, float, str]:
        """Compare first answers.

        Return the text that became common, "" for none, the share of few documents, and the language that answers were
        compared by, "" where enough of them are compared with their own questions.
        """
        before, first = self.before.first_answers, self.after.first_answers
        text, few, language = "", 0.0, ""
        if min(first.n, before.n) >= self._minimum:
            alike = _alike_first_answers(self.after, self.before, self._overlap)
            deltas[SHORT_FIRST] = first.short(before, alike)
            if (same := first.same(before, alike)) is not None:
                deltas[SAME_FIRST], text = same
            if SAME_LANGUAGE not in deltas and (spoken := first.in_one_language(before, self._minimum, alike)):
                deltas[SAME_LANGUAGE], language = spoken
        if min(first.searched, before.searched) >= self._minimum:
            deltas[SAME_DOCUMENTS], few = first.same_documents(before)
        return text, few, language

    def _heard(self) -> float:
        """Return how many times as many follow-ups a conversation holds; 1.0 where none was read before."""
        if CLARIFICATION_FREE not in self._reader.names:
            return 1.0
        at = self._reader.names.index(CLARIFICATION_FREE)
        before = _per_conversation(self.before, at)
        return _per_conversation(self.after, at) / before if before else 1.0

    def _said_nothing(self) -> str:
        before, first = self.before.first_answers, self.after.first_answers
        enough = min(first.searched, before.searched) >= self._minimum
        documents = self._old.get(DOCUMENTS)
        given = None if documents is None else SCALES[DOCUMENTS].value(documents.mean.value)
        return said_nothing(before.same_documents(first) if enough else None, given)

    def _cited_by_place(self) -> str:
        was, became = self._old.get(CITES_TOP), self._new.get(CITES_TOP)
        if was is None or became is None:
            return ""
        return cited_by_place((change(was, became, self._overlap), was.mean.value))

    def _explain(self, claimed: dict[str, Claim], drift: str, text: str, language: str) -> None:
        """Say why some figures are claimed to be what they are.

        drift: of speed; text: of first answers; language: that they are compared by.
        """
        if drift and claimed[ANSWER_SECONDS].change == SAME:
            claimed[ANSWER_SECONDS] = claimed[ANSWER_SECONDS]._replace(why=drift)
        languages = self.after.first_answers.asked_otherwise(self.before.first_answers)
        for name in (SHORT_FIRST, SAME_FIRST):
            if languages and name in claimed:
                # Every language has texts and lengths of its own.
                claimed[name] = claimed[name]._replace(change=SAME, why=f"not compared: {languages}")
        if language and not claimed[SAME_LANGUAGE].why:
            why = f"of all first answers, as nearly all users write {language}"
            claimed[SAME_LANGUAGE] = claimed[SAME_LANGUAGE]._replace(why=why)
        if text and claimed[SAME_FIRST].change == CHANGED:
            claimed[SAME_FIRST] = claimed[SAME_FIRST]._replace(why=f'"{text}"')

    def _judge_same_answers(
        self, claimed: dict[str, Claim], deltas: Mapping[str, Difference], words: float, few: float
    ) -> None:
        """Call it worse where many more get the same answer out of the same documents, and nobody asks for that.

        words: as `Circumstances` has them; few: share of the few most common documents, after. A question that is asked
        back needs no documents, and who asks the same, or all of one thing, gets the same. Where all have always got
        the same documents, the same answer to most, which cites them, is enough: neither a greeting nor a form does.
        """
        names, enough = [SAME_FIRST, SAME_DOCUMENTS], _SAME_FOR_MANY
        if SAME_DOCUMENTS in deltas and few - max(0.0, deltas[SAME_DOCUMENTS].value) >= _NEARLY_ALL:
            cites = self._new.get(CITED)
            if cites is None or cites.mean.value < _NEARLY_ALL:
                return
            names, enough = [SAME_FIRST], _SAME_FOR_MOST
        if any(name not in deltas or claimed[name].change != CHANGED for name in names):
            return
        least = min(deltas[name].value for name in names)
        asked = self.after.first_answers.questions.alike - self.before.first_answers.questions.alike
        asks_back = deltas[ASKS_BACK].value if ASKS_BACK in deltas else 0.0
        if least >= enough and max(asked, words, asks_back) < least / 2:
            for name in names:
                claimed[name] = claimed[name]._replace(change=WORSE)

    def _within(self, parts: str) -> dict[str, Difference]:
        """Compare both within each platform, language, or both of these, that both have.

        By platform, nothing is compared so where less than half of what both have is on platforms that can be:
        strangers name them, and a few of them do not speak for the others.
        """
        platform, language = parts != LANGUAGES, parts != PLATFORMS
        by_platform = parts_of_both(self.before, self.after, platform=True, language=False) if platform else {}
        if platform and not self._speak_for_all(by_platform):
            return {}
        common = parts_of_both(self.before, self.after, platform=platform, language=True) if language else by_platform
        pairs = (
            (self._reader.read(new, FEWEST), self._reader.read(old, FEWEST), new.users.overlap(old.users))
            for old, new in common.values()
        )
        # Who got no answer has no platform that is known, but a language.
        placed = parts == LANGUAGES or (self.before.placed and self.after.placed)
        within = within_parts(pairs, set() if placed else {UNANSWERED})
        if platform and others_moved(self.before, self.after):  # all that is worse may be among these
            return {name: delta for name, delta in within.items() if delta.p <= PROMISE}
        return within

    def _speak_for_all(self, by_platform: Parts) -> bool:
        """Say whether most conversations on platforms that both have enough of are on some that are kept apart."""
        others = OTHER_PLATFORMS if has_others(self.before, self.after) else None
        counts = [self.before.first_answers.platforms, self.after.first_answers.platforms]
        names = [name for name in counts[0] if name and min(of[name] for of in counts) >= FEWEST]
        shared = [sum(of[name] for name in names) for of in counts]
        kept = [sides for (name, _), sides in by_platform.items() if name != others]
        sizes = [[of.outcomes.total() for of in sides] for sides in kept]
        compared = [sum(size[side] for size in sizes if min(size) >= FEWEST) for side in (0, 1)]
        return all(few >= _MOST_OF_BOTH * of for few, of in zip(compared, shared, strict=True))


def _figure(totals: ReleaseTotals, at: int, name: str) -> ReleaseFigure:
    """Return the mean of a figure, over answers and over conversations."""
    sums = totals.sums(at)
    step = SCALES[name].step(sums.total / sums.turns) if name in SCALES else 0.0
    mean, users = mean_by_user(totals.users, (2 * at, 2 * at + 1), sums, partial(totals.sums_alone, at), step)
    by_conversation = mean_over_conversations(sums)
    if users is not None:  # as much wider as the other mean is
        wider = mean.size / users.by_conversation.size
        by_conversation = by_conversation._replace(size=by_conversation.size * wider, degrees=mean.degrees)
    if name == ANSWER_SECONDS:
        batched = mean_over_turns(totals.seconds.clusters(), step)
        mean = batched if users is None else min(batched, mean, key=lambda one: one.size)
        users = None
    return ReleaseFigure(mean._replace(n=round(sums.n)), by_conversation, users=users)


def _traffic(after: FirstAnswers, before: FirstAnswers) -> TrafficShift:
    platforms, languages = after.shifted(before), after.asked_otherwise(before)
    parts = BOTH if platforms and languages else LANGUAGES if languages else PLATFORMS
    return TrafficShift("; ".join(filter(None, (platforms, languages))), parts)


def _outcomes(totals: ReleaseTotals, minimum: int) -> Iterator[tuple[str, ReleaseFigure]]:
    """Give how conversations went: of those in languages that rules read, but for what nobody answered."""
    everyone, unread = totals.outcomes.total(), totals.unread.total()
    together = {FREE_CONVERSATIONS: FREE_OUTCOMES, UNHEARD: ("silent", UNANSWERED)}
    for figure, names in ({name: (name,) for name in OUTCOMES} | together).items():
        any_language = UNANSWERED in names
        n = everyone if any_language else everyone - unread
        if n < max(1, minimum):
            continue
        count = sum(totals.outcomes[name] - (0 if name == UNANSWERED else totals.unread[name]) for name in names)
        among = totals.beside(CONVERSATIONS if any_language else READABLE)
        columns = tuple(totals.outcome(name) for name in names)
        rate, users = rate_by_user(totals.users, (among, columns), count, n)
        yield figure, ReleaseFigure(rate, users=users)
    if everyone >= max(1, minimum):
        waiting = totals.beside(CONVERSATIONS), (totals.beside(WAITING),)
        rate, users = rate_by_user(totals.users, waiting, totals.no_answer, everyone)
        yield NO_ANSWER, ReleaseFigure(rate, users=users)


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


def _drift(deltas: dict[str, Difference], before: ReleaseTotals, after: ReleaseTotals) -> str:
    """Take what goes up or down with the hour out of how sure a change of speed is; say so where that is all of it."""
    delta, step = deltas.get(ANSWER_SECONDS), after.seconds.step_from(before.seconds)
    if delta is None or step is None:
        return ""
    deltas[ANSWER_SECONDS] = delta._replace(p=max(delta.p, step.p))
    return "answers change their speed with the hour within each release, too" if delta.p <= PROMISE < step.p else ""


def _per_conversation(totals: ReleaseTotals, figure: int) -> float:
    """Return how many values of a figure there are to a conversation; figure: its index."""
    return totals.sums(figure).turns / max(1.0, float(totals.answered[0]))


def _thanked(beside: Mapping[str, Difference], old: Mapping[str, ReleaseFigure]) -> tuple[Difference, float] | None:
    return (beside[THANKED], old[THANKED].mean.value) if THANKED in beside else None


def _thinning(old: Mapping[str, ReleaseFigure], new: Mapping[str, ReleaseFigure]) -> float:
    """Return how many times as many answers had a message behind them before; 1.0 where that is not known."""
    was, became = (of[FOLLOWED].mean.value if FOLLOWED in of else 0.0 for of in (old, new))
    return was / became if was and became else 1.0


def _unsaid(deltas: Mapping[str, Difference]) -> str:
    """Say that neither users nor labels say anything of what rankings by citations rest on; "" where one does."""
    return "" if {CLARIFICATION_FREE, CITED_ARTICLE} & deltas.keys() else "no follow-up and no label says so, too"


def _has_none(name: str, new: Mapping[str, ReleaseFigure], old: Mapping[str, ReleaseFigure]) -> bool:
    """Say whether nothing is ever retrieved, or left without an answer: then there is no share of that to compare."""
    return name in (WITH_DOCUMENTS, NO_ANSWER) and new[name].mean.value == old[name].mean.value == 0.0
