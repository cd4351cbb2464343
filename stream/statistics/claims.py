"""Claims: which differences between two releases are named, and with which word.

A comparison makes one promise: where nothing differs, at most 5 % of comparisons name any change. Half of it belongs to
the primary figure, which the suite declares beforehand; a quarter to the others that say whether users were helped, a
quarter to those that describe answers, each adjusted for their number (Benjamini and Hochberg 1995): else each figure
that is added would hide that more users are left alone, and an obvious change of answers would make chance among users
look surer. It holds for one look: who compares again every day will see more.

A product that breaks makes some figures rise, because they are taken over what is left. So nothing is called better
where the evidence became less, nor where many more first answers are short or the same, or the same documents come
whatever is asked: people thank for a refusal, too, whatever its words are. Nor is anything called better beside other
shares of platforms, or of users' languages, in which figures differ by themselves; there, the differences within these
decide what is worse, and whether fewer answers fail. Ranking measures on citations rise where there is less to rank:
they are not called better beside other numbers of documents, beside more documents that nobody cites or more answers
that cite all of theirs, nor where users say that it went worse. Where nearly all answers come to cite just the first
documents, they cite by the place: that looks like a perfect ranking, and says nothing of what was found. How many
documents an answer cites is the prompt's matter, and moves every one of them: beside other numbers of citations they
are neither better nor worse, as far as the citations that came or went can account for it. So it is with answers that
come in several messages, of which each says, cites and keeps a part: as far as those that do can account for it.

A product that is mended makes some figures fall for the same reason: who was refused, or left without a word, is now
heard, complaints included. Where of the answers that answer more are complained of than before, it was not mended: what
was declined is invented now, and nothing is better for fewer failures. Where what users say and how many say nothing
point to opposite sides, either release could be called worse than the other. So one of both words holds, by how many
more conversations went well, a silent one counting as half of one that did, and how many fewer answers fail: seen from
the other release the same numbers are negative, and no order of two releases makes either worse by its users. Where
fewer leave without a word, and a good part of those who now speak is content, complaints are not worse; and where they
leave, of whom a good part was content, and hardly more went well, that is. Where users are
only heard more, nothing that they say is better. Where answers begin or cease to end with a question ("did that help?",
an offer), what the replies to it may have moved is neither (`closing_habit`). Rankings of a release that cited nothing,
all that it got, or by the place, are no better than others. Of longer conversations more hold a bad answer: where they
grew, and no answers are met worse, what is counted by conversation is not worse, nor better where they shrank.

This is the one place that decides so, of two releases and of two sides that are compared pair by pair.
"""

from collections.abc import Collection, Mapping, Sequence

from turnsignal.stream.records.scores import CITED, CITED_ARTICLE, DANGLING, FOLLOW_UP
from turnsignal.stream.statistics.by_users import (
    COMPLAINING,
    SAYS_WORSE,
    WHEREVER,
    answered_otherwise,
    contradicted_by,
    declined,
    fewer_complaints,
    left_or_content,
    only_heard,
    unhappier_by,
    weigh_users,
)
from turnsignal.stream.statistics.claim import Claim, beside_figure, by, withdraw
from turnsignal.stream.statistics.closing_habit import ClosingHabit
from turnsignal.stream.statistics.conversation_length import ConversationLength
from turnsignal.stream.statistics.directions import (
    ANSWER_SECONDS,
    BETTER,
    BY_USERS,
    CHANGED,
    CITATIONS,
    CITES_ALL,
    DIRECTIONS,
    FAILED,
    FALL,
    HIGH,
    IN_PARTS,
    LEAST,
    LEFTOVERS,
    NO_ANSWER,
    OF_FOLLOW_UPS,
    RISE,
    SAME,
    SAME_LANGUAGE,
    SMALL,
    VOTE,
    WASTED,
    WITH_DOCUMENTS,
    WORSE,
    coverage_name,
    family,
)
from turnsignal.stream.statistics.evidence import (
    MAY_LACK,
    accounted_for,
    failed_before,
    is_loss,
    less_evidence,
    says_nothing_of_failing,
    weighs,
)
from turnsignal.stream.statistics.intervals import Difference, adjust
from turnsignal.stream.statistics.promise import PROMISE, families, moved
from turnsignal.stream.statistics.rankings import RankingDoubts, by_other_numbers, less_to_rank
from turnsignal.stream.statistics.record_change import RecordChange
from turnsignal.stream.statistics.traffic_shift import TrafficShift

#: Complaints are read more often than content, so a release that is better has less of it: it has to weigh something.
_READ = coverage_name(FOLLOW_UP)
#: No matter of what one of several messages says, while the others say the rest.
_OF_ALL_PARTS = {*BY_USERS, *WHEREVER, "clarified", ANSWER_SECONDS, LEFTOVERS, SAME_LANGUAGE, VOTE, WITH_DOCUMENTS}
_FAR_FEWER = 0.1  #: on the scale of documents, by which answers cite half as many
_CITATIONS = {CITED, DANGLING, "citation.resolves"}  #: no loss where they are written down otherwise
_MISSING = f"{FAILED} fell, and unanswered not with it: answers may be missing"
_UNSEEN = "cited, dangling and ranking measures say nothing of answers without documents"


def claims(
    deltas: Mapping[str, Difference],
    coverages: Mapping[str, Difference],
    primary: str,
    least_change: float,
    ranked: Collection[str],
    *,
    doubts: RankingDoubts = RankingDoubts(),  # noqa: B008 - of plain texts
    lacking: str = "",
    unheard: Difference | None = None,
    shift: TrafficShift = TrafficShift(),  # noqa: B008 - nothing moved
    habit: ClosingHabit | None = None,
    length: ConversationLength | None = None,
    changes: Sequence[RecordChange] = (),
    complained_of: Difference | None = None,
    refused: Difference | None = None,
) -> dict[str, Claim]:
    """Return what is said of each figure of a comparison.

    deltas: after − before of every figure; coverages: of the share of answers that a figure could score; primary: the
    name of one figure; least_change: the smallest difference that is worth naming; ranked: figures that depend on which
    documents there are to cite; doubts: why those say nothing; lacking: what there is no record of afterwards, so that
    nothing is known to be better, "" for nothing; unheard: after − before of `UNHEARD`; shift: how the traffic moved;
    habit: what one side may owe to asking in closing what the other does not ask; length: how many questions
    conversations hold; changes: of what was asked and written down; complained_of, refused: after − before of
    `COMPLAINED_OF`, and of `REFUSED`.
    """
    weighing = _Weighing(deltas, least_change, ranked, shift, unheard, complained_of)
    weighing.name(primary, coverages, changes, lacking, doubts.after)
    weighing.by_users(habit, length)
    weighing.by_record(changes, habit)
    weighing.follow_ups()
    weighing.rankings(doubts, changes)
    weighing.documents(refused)
    weighing.by_parts()
    weighing.beside_shift()
    weighing.failures()
    weighing.thanks()
    return weighing.claimed


class _Weighing:
    """One comparison, weighed step by step: each takes back words that do not hold, and says why.

    What was taken back first gives the reason, so the order of the steps is that of their weight.
    """

    def __init__(
        self,
        deltas: Mapping[str, Difference],
        least_change: float,
        ranked: Collection[str],
        shift: TrafficShift,
        unheard: Difference | None,
        complained_of: Difference | None,
    ) -> None:
        self.claimed: dict[str, Claim] = {}
        self._deltas, self._least_change, self._ranked, self._shift = deltas, least_change, ranked, shift
        self._unheard, self._complained_of = unheard, complained_of
        self._deciding = {name: shift.within.get(name, delta) for name, delta in deltas.items()}
        # What fails is no evidence where conversations end without an answer about as often as before.
        hidden = {FAILED} if says_nothing_of_failing(deltas) else set()
        self._seen = {name: delta for name, delta in deltas.items() if name not in hidden}
        self._accounted = accounted_for(self._seen, unheard, least_change)
        self._missing = _MISSING if hidden and moved(deltas[FAILED], FALL, least_change) else ""

    def name(
        self,
        primary: str,
        coverages: Mapping[str, Difference],
        changes: Sequence[RecordChange],
        lacking: str,
        unranked: str,
    ) -> None:
        """Name what is sure enough; nothing is better beside less evidence."""
        deltas, deciding, ranked, least_change = self._deltas, self._deciding, self._ranked, self._least_change
        accounted = self._accounted
        adjusted = _adjusted(deciding, self._shift.within, primary)
        lost = [name for name, delta in deltas.items() if name not in accounted and is_loss(name, delta, least_change)]
        # Fewer answers are ranked: that is no matter of how users fare, and `cited` and `WITH_DOCUMENTS` are figures,
        # too. Nor is it of theirs where citations are written down otherwise.
        others = {*map(coverage_name, ranked), *(name for name in _CITATIONS if _is_accounted(name, deltas, changes))}
        lost_of_others = [name for name in lost if name not in others]
        less, beside = less_to_rank(deltas), _beside(deltas, primary, least_change)
        gone = coverage_name(primary) if primary not in deltas else ""
        for name, delta in deltas.items():
            heavy = [
                loss
                for loss in (lost if name in ranked else lost_of_others)
                if (2 * adjusted[loss] <= PROMISE and loss != _READ) or weighs(deltas[loss], delta)
            ]
            why = lacking or self._missing or less_evidence(name, delta, heavy, coverages, least_change)
            if name in ranked:
                why = less or unranked or why or by_other_numbers(deciding, name) or beside
            least = LEAST.get(name, least_change)
            # Whether an answer fails is the release's, whoever asked: within the parts that moved, fewer is better.
            shifted = "" if name in WHEREVER and name in self._shift.within else self._shift.shifted
            claim = _claim(name, deciding[name], min(1.0, 2 * adjusted[name]), least, why or shifted)
            if name == gone and claim.change == CHANGED and delta.value < 0:
                claim = claim._replace(change=WORSE, why=f"nothing is left that {primary} could be told by")
            self.claimed[name] = claim

    def by_users(self, habit: ClosingHabit | None, length: ConversationLength | None) -> None:
        """Weigh what users say against how many say nothing, and what of both the length of conversations explains."""
        deltas, deciding = self._deltas, self._deciding
        if "silent" in self._accounted:
            self._take_back("silent", f"unanswered {by(deltas['unanswered'])}", WORSE)
        fewer_unheard = self._unheard is not None and moved(self._unheard, FALL, self._least_change)
        asked = "silent" in deltas and habit is not None and habit.accounts_for("silent", deciding["silent"])
        by_length = set() if length is None else length.accounts_for(deciding, self._least_change)
        spoken = {name: deciding[name] for name in self._seen if name not in by_length}
        claimed = {name: self.claimed[name] for name in spoken}
        self.claimed |= weigh_users(claimed, spoken, self._complained_of, fewer_unheard=fewer_unheard, asked=asked)
        if length is None:
            return
        for name in by_length:
            self._take_back(name, length.why)
        for word, withheld in ((BETTER, length.not_better(deciding)), (WORSE, length.not_worse(deciding))):
            for name, why in withheld.items():
                self._take_back(name, why, word)

    def follow_ups(self) -> None:
        """Call no figure of follow-ups better where one of them is not, or where answers cite far less than before.

        They are the same messages on other scales, and whoever thanks for an answer knows seldom whether it is right.
        """
        citations = self._deciding.get(CITATIONS)
        cites_less = citations is not None and moved(citations, FALL, _FAR_FEWER)
        withdrawn = (self.claimed[name].not_better for name in OF_FOLLOW_UPS if name in self.claimed)
        why = "beside far fewer citations per answer" if cites_less else next(filter(None, withdrawn), "")
        for name in OF_FOLLOW_UPS:
            self._take_back(name, why, BETTER)

    def by_record(self, changes: Sequence[RecordChange], habit: ClosingHabit | None) -> None:
        """Take back what was merely written down otherwise, or replied to a question that is asked in closing."""
        deciding = self._deciding
        for change in changes:
            for name in self.claimed:
                if change.accounts_for(name, deciding[name]):
                    is_hidden = self._is_worse(name) and WORSE in change.withdraws
                    self._take_back(name, change.why, *change.withdraws)
                    if is_hidden:  # it may be worse, or merely be written down otherwise
                        self.claimed[name] = self.claimed[name]._replace(untold=True)
        why = only_heard(self.claimed, deciding)
        for name in BY_USERS:
            self._take_back(name, why, BETTER)
        for name in (*BY_USERS, "unanswered", NO_ANSWER):
            if habit is not None and name in deciding and habit.accounts_for(name, deciding[name]):
                self._take_back(name, habit.why)
        self._take_back(NO_ANSWER, failed_before(deciding))

    def rankings(self, doubts: RankingDoubts, changes: Sequence[RecordChange]) -> None:
        """Take back what rankings by citations cannot say; labels that `changes` account for are no witness."""
        deciding = self._deciding
        unsure = {CITED_ARTICLE} if _is_accounted(CITED_ARTICLE, deciding, changes) else set()
        witnesses = {name: delta for name, delta in deciding.items() if name not in unsure}
        unhappier = any(map(self._is_worse, SAYS_WORSE))
        by_place = "" if unhappier else doubts.by_place
        for name in self.claimed.keys() & set(self._ranked):
            why = doubts.before or by_other_numbers(deciding, name) or by_place
            self._take_back(name, why or _cited_otherwise_before(self.claimed, deciding, name), WORSE)
            high = DIRECTIONS.get(family(name), HIGH) == HIGH
            gain = deciding[name].value if high else -deciding[name].value
            why = doubts.alike or contradicted_by(witnesses, gain)
            self._take_back(name, why, *((BETTER,) if unhappier and not doubts.alike else (WORSE, BETTER)))

    def documents(self, refused: Difference | None) -> None:
        """Take back what fewer documents, or answers that decline, owe to what users no longer complain of."""
        deciding = self._deciding
        fewer = fewer_complaints(deciding)
        why = f"{fewer:.2f} fewer follow-ups ask again, which is answered out of documents, too"
        fails = FAILED in deciding and moved(deciding[FAILED], RISE, 0.0)  # and cites nothing, whatever users say
        for name, times in MAY_LACK.items():
            if name in deciding and times * abs(self._deltas[name].value) <= fewer and not (fails and name == CITED):
                self._take_back(name, why, WORSE)
        self._take_back(WITH_DOCUMENTS, answered_otherwise(deciding), WORSE)
        for name, why in declined(deciding, refused).items():
            self._take_back(name, why, WORSE)

    def by_parts(self) -> None:
        """Take back what each of several messages that are one answer says, cites and keeps a part of."""
        for name in self.claimed.keys() - _OF_ALL_PARTS:
            self._take_back(name, _by_parts(self._deciding, name))

    def beside_shift(self) -> None:
        """Say what holds although the traffic moved."""
        shifted, parts, within = self._shift
        if not shifted:
            return
        for name, delta in self._deltas.items():
            where = f"within {parts}" if name in within else ""
            self.claimed[name] = _beside_shift(name, self.claimed[name], delta, shifted, where)
        if SAME_LANGUAGE in self.claimed and self.claimed[SAME_LANGUAGE].change in (SAME, SMALL):
            # Of the languages that came, more answers may be in another one than their question; the old cannot tell.
            delta = self._deltas[SAME_LANGUAGE]
            fell = _claim(SAME_LANGUAGE, delta, 2 * len(self._deltas) * delta.p, self._least_change, "")
            if fell.change == WORSE:
                self.claimed[SAME_LANGUAGE] = Claim(CHANGED, fell.adjusted, shifted)

    def thanks(self) -> None:
        """Say that nobody can tell who leaves content from who just leaves."""
        name, why = left_or_content(self.claimed, self._deciding)
        if name:
            claim = self.claimed[name]
            self.claimed[name] = claim._replace(why="; ".join(filter(None, (why, claim.why))))

    def failures(self) -> None:
        """Call no fewer failures better where more users complain: what was declined may be invented now."""
        complain = next(filter(self._is_worse, COMPLAINING), "")
        if complain:
            why = beside_figure(complain, self._deciding[complain])
            for name in (FAILED, "unanswered"):
                self._take_back(name, why, BETTER)

    def _is_worse(self, name: str) -> bool:
        return name in self.claimed and self.claimed[name].change == WORSE

    def _take_back(self, name: str, why: str, *words: str) -> None:
        """Call a figure merely changed where it was called one of these words; without a reason, nothing."""
        if why and name in self.claimed:
            self.claimed[name] = withdraw(self.claimed[name], why, *words)


def _adjusted(deciding: Mapping[str, Difference], within: Mapping[str, Difference], primary: str) -> dict[str, float]:
    """Return the p-value of each figure, those beside the primary one adjusted for their number.

    What is compared over all moves with the traffic: beside it, chance within its parts must not look surer.
    """
    beside = [name for name in deciding if name != primary]
    adjusted = _of_families(beside, deciding) | _of_families([name for name in beside if name in within], within)
    return adjusted | ({primary: deciding[primary].p} if primary in deciding else {})


def _of_families(names: Sequence[str], deltas: Mapping[str, Difference]) -> dict[str, float]:
    """Return the p-values of some figures, adjusted for the number of those that moved at all.

    What is the same for every answer of both sides could not have been named, and is no further chance to err.
    """
    moving = [name for name in names if deltas[name].value]
    adjusted = dict.fromkeys(names, 1.0)
    for of, share in families(moving):
        adjusted |= {
            name: min(1.0, p / share) for name, p in zip(of, adjust([deltas[name].p for name in of]), strict=True)
        }
    return adjusted


def _beside_shift(name: str, claim: Claim, delta: Difference, shifted: str, inside: str) -> Claim:
    """Return the claim that holds although traffic moved; inside: where its figure was compared, "" over all.

    Compared over all, nobody can tell the release from the move, but for messages that nobody answers.
    """
    if claim.change == WORSE and not inside and name not in WHEREVER:
        why = f"{shifted}; too few on both sides to tell the release from that"
        return claim._replace(change=CHANGED, why=why, untold=True)
    if claim.change in (WORSE, BETTER):
        return claim._replace(why=f"{inside}, too; {shifted}" if inside else shifted)
    if claim.change == SAME and inside and delta.p <= PROMISE:
        return claim._replace(why=f"{inside}; {shifted}")
    return claim


def _by_parts(deltas: Mapping[str, Difference], name: str) -> str:
    """Say that as many answers came to be, or ceased to be, of several messages as a figure moved by; "" otherwise."""
    parts = deltas.get(IN_PARTS)
    if parts is None or parts.p > PROMISE or not max(LEAST[IN_PARTS], abs(deltas[name].value)) <= abs(parts.value):
        return ""
    return "" if name.startswith("coverage(") else f"{IN_PARTS} {by(parts)}"


def _cited_otherwise_before(claimed: Mapping[str, Claim], deltas: Mapping[str, Difference], ranked: str) -> str:
    """Say that a ranking may be that of the answers which did not cite before, or cited all; "" where it is not."""
    size = abs(deltas[ranked].value)
    for name in (WITH_DOCUMENTS, CITED):
        if name in claimed and claimed[name].change == CHANGED and deltas[name].value >= size:
            return f"{name} {by(deltas[name])}"
    if CITES_ALL in deltas and moved(deltas[CITES_ALL], FALL, max(size, LEAST[CITES_ALL])):
        return "beside fewer answers that cite all their documents"
    return ""


def _claim(name: str, delta: Difference, adjusted: float, least_change: float, lost: str) -> Claim:
    if adjusted > PROMISE:
        return Claim(SAME, adjusted)
    if abs(delta.value) < least_change:
        return Claim(SMALL, adjusted, f"smaller than {least_change:g}")
    rise, fall = DIRECTIONS.get(family(name), HIGH)
    change = rise if delta.value > 0 else fall
    if change == BETTER and lost:
        return withdraw(Claim(change, adjusted), lost)
    return Claim(change, adjusted, _UNSEEN if (name, change) == (WITH_DOCUMENTS, WORSE) else "")


def _beside(deltas: Mapping[str, Difference], primary: str, least_change: float) -> str:
    """Say beside what no ranking is better; "" where nothing of that kind moved."""
    if WASTED in deltas and moved(deltas[WASTED], RISE, least_change):
        return "beside more documents that nobody cites"
    ways = DIRECTIONS.get(family(primary), HIGH)
    bad = {RISE: ways[0] == WORSE, FALL: ways[1] == WORSE}
    if primary in deltas and any(bad[way] and moved(deltas[primary], way, least_change) for way in bad):
        return beside_figure(primary, deltas[primary])
    return unhappier_by(deltas, least_change)


def _is_accounted(name: str, deltas: Mapping[str, Difference], changes: Sequence[RecordChange]) -> bool:
    """Say whether what was written down otherwise accounts for how far a figure moved."""
    return name in deltas and any(change.accounts_for(name, deltas[name]) for change in changes)
