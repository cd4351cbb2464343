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
decide what is worse. Ranking measures on citations rise where there is less to rank: they are not called better beside
other numbers of documents, beside more documents that nobody cites or more answers that cite all of theirs, nor where
users say that it went worse. Where nearly all answers come to cite just the first documents, they cite by the place:
that looks like a perfect ranking, and says nothing of what was found. How many documents an answer cites is the
prompt's matter, and moves every one of them: beside other numbers of citations they are neither better nor worse, as
far as the citations that came or went can account for it. So it is with answers that come in several messages, of
which each says, cites and keeps a part: as far as those that do can account for it.

A product that is mended makes some figures fall for the same reason: who was refused, or left without a word, is now
heard, complaints included. Where what users say and how many say nothing point to opposite sides, either release could
be called worse than the other. So one of both words holds, by how many more conversations went well, a silent one
counting as half of one that did, and how many fewer answers fail: seen from the other release the same numbers are
negative, and no order of two releases makes either worse by its users. Where fewer leave without a word, and a good
part of those who now speak is content, complaints are not worse. Where users are only heard more, nothing that they say
is better. Where answers begin or cease to end with a question ("did that help?", an offer), what the replies to it may
have moved is neither (`closing_habit`). Rankings of a release that cited nothing, all that it got, or by the place, are
no better than others. Of longer conversations more hold a bad answer: where they grew, and no answers are met worse,
what is counted by conversation is not worse, nor better where they shrank.

This is the one place that decides so, of two releases and of two sides that are compared pair by pair.
"""

import math
from collections.abc import Collection, Mapping, Sequence

from turnsignal.stream.records.scores import CITED, CITED_ARTICLE, CLARIFICATION_FREE, DANGLING, FOLLOW_UP
from turnsignal.stream.statistics.by_users import (
    SAYS_WORSE,
    WHEREVER,
    answered_otherwise,
    contradicted_by,
    declined,
    fewer_complaints,
    only_heard,
    unhappier_by,
    weigh_users,
)
from turnsignal.stream.statistics.claim import Claim, by, withdraw
from turnsignal.stream.statistics.closing_habit import ClosingHabit
from turnsignal.stream.statistics.conversation_length import ConversationLength
from turnsignal.stream.statistics.directions import (
    ANSWER_SECONDS,
    BETTER,
    BY_USERS,
    CHANGED,
    CITES_ALL,
    DIRECTIONS,
    FAILED,
    FALL,
    FREE_CONVERSATIONS,
    GUARDS,
    HIGH,
    IN_PARTS,
    LEAST,
    LEFTOVERS,
    NO_ANSWER,
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
from turnsignal.stream.statistics.intervals import Difference, adjust
from turnsignal.stream.statistics.promise import PROMISE, families, moved
from turnsignal.stream.statistics.rankings import by_other_numbers, less_to_rank
from turnsignal.stream.statistics.record_change import RecordChange

#: Complaints are read more often than content, so a release that is better has less of it: it has to weigh something.
_READ = coverage_name(FOLLOW_UP)
_BACKED = 0.25  #: of a change of failing answers: how far as many more or fewer conversations must get none
#: No matter of what one of several messages says, while the others say the rest.
_OF_ALL_PARTS = {*BY_USERS, *WHEREVER, "clarified", ANSWER_SECONDS, LEFTOVERS, SAME_LANGUAGE, VOTE, WITH_DOCUMENTS}
_CITATIONS = {CITED, DANGLING, "citation.resolves"}  #: no loss where they are written down otherwise
_COMPLAINTS = (FREE_CONVERSATIONS, "abandoned")  #: what has no coverage, and depends on what could be read alike
_MISSING = f"{FAILED} fell, and unanswered not with it: answers may be missing"
_UNSEEN = "cited, dangling and ranking measures say nothing of answers without documents"


def claims(
    deltas: Mapping[str, Difference],
    coverages: Mapping[str, Difference],
    primary: str,
    least_change: float,
    ranked: Collection[str],
    *,
    unranked: str = "",
    ranked_nothing: str = "",
    by_place: str = "",
    cited_alike: str = "",
    lacking: str = "",
    unheard: Difference | None = None,
    shifted: str = "",
    within: Mapping[str, Difference] | None = None,
    parts: str = "platforms",
    habit: ClosingHabit | None = None,
    length: ConversationLength | None = None,
    changes: Sequence[RecordChange] = (),
) -> dict[str, Claim]:
    """Return what is said of each figure of a comparison.

    deltas: after − before of every figure; coverages: of the share of answers that a figure could score; primary: the
    name of one figure; least_change: the smallest difference that is worth naming; ranked: figures that depend on which
    documents there are to cite; unranked: why those say nothing, as `says_nothing` has it; ranked_nothing: why those of
    before did not; by_place: the same, unless users say that it went worse; cited_alike: why they say nothing of
    either, such as that both found the same; lacking: what there is no record of
    afterwards, so that nothing is known to be better, "" for nothing; unheard: after − before of `UNHEARD`; shifted:
    how the traffic moved between parts such as platforms, "" where it did not; within: the differences within those
    parts then, which decide in the place of those of all; parts: which ones; habit: what one side may owe to asking in
    closing what the other does not ask; length: how many questions conversations hold; changes: of what was asked and
    written down.
    """
    within = within or {}
    deciding = {name: within.get(name, delta) for name, delta in deltas.items()}
    beside_primary = [name for name in deltas if name != primary]
    adjusted = _adjusted(beside_primary, deciding)
    # What is compared over all moves with the traffic: beside it, chance within its parts must not look surer.
    inside = [name for name in beside_primary if name in within]
    adjusted |= _adjusted(inside, within)
    if primary in deltas:
        adjusted[primary] = deciding[primary].p
    unbacked = _says_nothing_of_failing(deltas)
    seen = {name: delta for name, delta in deltas.items() if not (unbacked and name == FAILED)}
    missing = _MISSING if unbacked and moved(deltas[FAILED], FALL, least_change) else ""
    accounted = _accounted_for(seen, unheard, least_change)
    lost = [name for name, delta in deltas.items() if name not in accounted and _is_loss(name, delta, least_change)]
    # Fewer answers are ranked: that is no matter of how users fare, and `cited` and `WITH_DOCUMENTS` are figures, too.
    # Nor is it of theirs where citations are written down otherwise.
    others = {*map(coverage_name, ranked), *(name for name in _CITATIONS if _is_accounted(name, deltas, changes))}
    lost_of_others = [name for name in lost if name not in others]
    less, beside = less_to_rank(deltas), _beside(deltas, primary, least_change)
    gone = coverage_name(primary) if primary not in deltas else ""
    claimed = {}
    for name, delta in deltas.items():
        least = LEAST.get(name, least_change)
        heavy = [
            loss
            for loss in (lost if name in ranked else lost_of_others)
            if (2 * adjusted[loss] <= PROMISE and loss != _READ) or _weighs(deltas[loss], delta)
        ]
        why = lacking or missing or _lost(name, delta, heavy, coverages, least_change)
        if name in ranked:
            why = less or unranked or why or by_other_numbers(deciding, name) or beside
        claim = _claim(name, deciding[name], min(1.0, 2 * adjusted[name]), least, why or shifted)
        if name == gone and claim.change == CHANGED and delta.value < 0:
            claim = claim._replace(change=WORSE, why=f"nothing is left that {primary} could be told by")
        claimed[name] = claim
    if "silent" in accounted and "silent" in claimed:
        claimed["silent"] = withdraw(claimed["silent"], WORSE, f"unanswered {by(deltas['unanswered'])}")
    fewer_unheard = unheard is not None and moved(unheard, FALL, least_change)
    asked = "silent" in deltas and habit is not None and habit.accounts_for("silent", deciding["silent"])
    by_length = {} if length is None else dict.fromkeys(length.accounts_for(deciding, least_change), length.why)
    spoken = {name: deciding[name] for name in seen if name not in by_length}
    claimed |= weigh_users({name: claimed[name] for name in spoken}, spoken, fewer_unheard=fewer_unheard, asked=asked)
    for name, why in by_length.items():
        claimed[name] = withdraw(withdraw(claimed[name], WORSE, why), BETTER, why)
    if length is not None:
        for word, withheld in ((BETTER, length.not_better(deciding)), (WORSE, length.not_worse(deciding))):
            claimed |= {name: withdraw(claimed[name], word, why) for name, why in withheld.items() if name in claimed}
    for change in changes:
        for name in claimed:
            if change.accounts_for(name, deciding[name]):
                for word in change.withdraws:
                    claimed[name] = withdraw(claimed[name], word, change.why)
    if why := only_heard(claimed, deciding):
        claimed |= {name: withdraw(claimed[name], BETTER, why) for name in BY_USERS if name in claimed}
    for name in (*BY_USERS, "unanswered", NO_ANSWER):
        if habit is not None and name in claimed and habit.accounts_for(name, deciding[name]):
            claimed[name] = withdraw(withdraw(claimed[name], WORSE, habit.why), BETTER, habit.why)
    if NO_ANSWER in claimed and (why := _failed_before(deciding)):
        claimed[NO_ANSWER] = withdraw(withdraw(claimed[NO_ANSWER], WORSE, why), BETTER, why)
    unsure = {CITED_ARTICLE} if _is_accounted(CITED_ARTICLE, deciding, changes) else set()
    witnesses = {name: delta for name, delta in deciding.items() if name not in unsure}
    unhappier = any(claimed[name].change == WORSE for name in SAYS_WORSE if name in claimed)
    for name in claimed.keys() & set(ranked):
        why = ranked_nothing or by_other_numbers(deciding, name) or ("" if unhappier else by_place)
        if why or (why := _cited_otherwise_before(claimed, deciding, name)):
            claimed[name] = withdraw(claimed[name], WORSE, why)
        high = DIRECTIONS.get(family(name), HIGH) == HIGH
        why = cited_alike or contradicted_by(witnesses, deciding[name].value if high else -deciding[name].value)
        if why:
            claim = claimed[name] if unhappier and not cited_alike else withdraw(claimed[name], WORSE, why)
            claimed[name] = withdraw(claim, BETTER, why)
    if WITH_DOCUMENTS in claimed and abs(deltas[WITH_DOCUMENTS].value) <= (fewer := fewer_complaints(deciding)):
        why = f"{fewer:.2f} fewer follow-ups ask again, which is answered out of documents, too"
        claimed[WITH_DOCUMENTS] = withdraw(claimed[WITH_DOCUMENTS], WORSE, why)
    if why := answered_otherwise(deciding):
        claimed[WITH_DOCUMENTS] = withdraw(claimed[WITH_DOCUMENTS], WORSE, why)
    for name, why in declined(deciding).items():
        claimed[name] = withdraw(claimed[name], WORSE, why)
    for name in claimed.keys() - _OF_ALL_PARTS:
        if why := _by_parts(deciding, name):
            claimed[name] = withdraw(withdraw(claimed[name], WORSE, why), BETTER, why)
    if shifted:
        for name, delta in deltas.items():
            where = f"within {parts}" if name in within else ""
            claimed[name] = _beside_shift(name, claimed[name], delta, shifted, where)
    if shifted and SAME_LANGUAGE in claimed and claimed[SAME_LANGUAGE].change in (SAME, SMALL):
        # Of the languages that came, more answers may be in another one than their question; the old ones cannot tell.
        fell = _claim(SAME_LANGUAGE, deltas[SAME_LANGUAGE], 2 * len(deltas) * deltas[SAME_LANGUAGE].p, least_change, "")
        if fell.change == WORSE:
            claimed[SAME_LANGUAGE] = Claim(CHANGED, fell.adjusted, shifted)
    return claimed


def _adjusted(names: Sequence[str], deltas: Mapping[str, Difference]) -> dict[str, float]:
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
        return claim._replace(change=CHANGED, why=f"{shifted}; too few on both sides to tell the release from that")
    if claim.change == WORSE:
        return claim._replace(why=f"{inside}, too; {shifted}" if inside else shifted)
    if claim.change == SAME and inside and delta.p <= PROMISE:
        return claim._replace(why=f"{inside}; {shifted}")
    return claim


def _accounted_for(deltas: Mapping[str, Difference], unheard: Difference | None, least_change: float) -> set[str]:
    """Return the losses that are none, since fewer answers fail.

    Silence may stand in the place of failing answers; and whoever is answered thanks, which gets no documents.
    """
    fallen = {
        name: -deltas[name].value
        for name in ("unanswered", FAILED)
        if name in deltas and moved(deltas[name], FALL, least_change)
    }
    accounted = set()
    if unheard is not None and "unanswered" in fallen and not moved(unheard, RISE, least_change):
        accounted.add("silent")
    if WITH_DOCUMENTS in deltas and fallen.get(FAILED, 0.0) >= abs(deltas[WITH_DOCUMENTS].value):
        accounted.add(WITH_DOCUMENTS)
    return accounted


def _says_nothing_of_failing(deltas: Mapping[str, Difference]) -> bool:
    """Say whether answers fail more or less often, and conversations end without one about as often as before.

    A release that says nothing where the one before said an error has fewer answers that fail, of fewer answers.
    """
    failed, unanswered = deltas.get(FAILED), deltas.get("unanswered")
    if failed is None or unanswered is None:
        return False
    return math.copysign(1, failed.value) * unanswered.value < _BACKED * abs(failed.value)


def _failed_before(deltas: Mapping[str, Difference]) -> str:
    """Say that as many answers that fail went as messages without any came, or the reverse; "" otherwise.

    Who logs errors no longer has more messages without an answer, and serves as before.
    """
    waiting, failed, unanswered = (deltas.get(name) for name in (NO_ANSWER, FAILED, "unanswered"))
    if waiting is None or failed is None or unanswered is None:
        return ""
    way = math.copysign(1, waiting.value)
    is_other = way * unanswered.value < abs(waiting.value) / 2 <= -way * failed.value
    return f"{FAILED} {by(failed)}" if is_other else ""


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
        return Claim(CHANGED, adjusted, f"not called better: {lost}")
    return Claim(change, adjusted, _UNSEEN if (name, change) == (WITH_DOCUMENTS, WORSE) else "")


def _weighs(loss: Difference, gain: Difference) -> bool:
    """Say whether a loss of evidence that is not sure enough to be named may still be what a gain rests on.

    Without a share of the answers a mean moves by no more than that share; doubled, as one of both is an estimate.
    """
    return 2 * abs(loss.value) >= abs(gain.value)


def _lost(
    name: str, gain: Difference, lost: list[str], coverages: Mapping[str, Difference], least_change: float
) -> str:
    """Say which evidence became less: of this figure, else of any."""
    told_by = CLARIFICATION_FREE if name in _COMPLAINTS else name
    own = coverage_name(told_by)
    if told_by in coverages and _is_loss(own, coverages[told_by], least_change) and _weighs(coverages[told_by], gain):
        return f"{own} fell"
    return f"{lost[0]} {'rose' if GUARDS[family(lost[0])] == RISE else 'fell'}" if lost else ""


def _beside(deltas: Mapping[str, Difference], primary: str, least_change: float) -> str:
    """Say beside what no ranking is better; "" where nothing of that kind moved."""
    if WASTED in deltas and moved(deltas[WASTED], RISE, least_change):
        return "beside more documents that nobody cites"
    ways = DIRECTIONS.get(family(primary), HIGH)
    bad = {RISE: ways[0] == WORSE, FALL: ways[1] == WORSE}
    if primary in deltas and any(bad[way] and moved(deltas[primary], way, least_change) for way in bad):
        return "beside a worse primary"
    return unhappier_by(deltas, least_change)


def _is_accounted(name: str, deltas: Mapping[str, Difference], changes: Sequence[RecordChange]) -> bool:
    """Say whether what was written down otherwise accounts for how far a figure moved."""
    return name in deltas and any(change.accounts_for(name, deltas[name]) for change in changes)


def _is_loss(name: str, delta: Difference, least_change: float) -> bool:
    """Say whether there is less evidence."""
    way = GUARDS.get(family(name))
    return way is not None and moved(delta, way, LEAST.get(name, least_change))
