"""By users: what the figures of users' words and silence say together, where they point to opposite sides."""

import math
from collections.abc import Collection, Mapping

from turnsignal.stream.records.scores import CITED, CITED_ARTICLE, CLARIFICATION_FREE
from turnsignal.stream.statistics.claim import Claim, beside_figure, by, withdraw
from turnsignal.stream.statistics.directions import (
    BETTER,
    BY_USERS,
    CHANGED,
    FAILED,
    FALL,
    FREE_CONVERSATIONS,
    NO_ANSWER,
    RISE,
    UNANSWERED_OF_ALL,
    WENT_WORSE,
    WITH_DOCUMENTS,
    WORSE,
)
from turnsignal.stream.statistics.evidence import MAY_LACK
from turnsignal.stream.statistics.intervals import Difference
from turnsignal.stream.statistics.promise import PROMISE, moved

_CONTENT = 0.125  #: share of those who left without a word before that must be content, now that they speak
#: Figures that know more of what was found than rankings by citations do.
SAYS_WORSE = {CITED_ARTICLE: FALL, **WENT_WORSE}
#: Times as far as labels or users say, a ranking falls, or rises, that is of the first document alone. Nothing that is
#: better by what is cited is so without them, so less of them speaks against it.
_FALLS_BY, _RISES_BY = 2.0, 10.0
#: Of answers, how many may come to be declined, or given without documents, for a good reason; of more a part broke.
SOME_DECLINED, _SOME_WITHOUT = 0.35, 0.5
_COMPLAINED = 0.6  #: fewer complaints for each answer that is declined: what is declined was mostly wrong before
#: More complaints of each answer that no longer fails than of others, by which these are mostly wrong: rules read half.
_OF_ANSWERED = 0.1
_LIKELY, _SEEN = 0.32, 0.1  #: p of such a rise, from which on nothing is better for it, and complaints count
_OF_DECLINED = 3.0  #: answers that cite, or conversations, for each declined one that rules know: half of them
_MOSTLY = 0.75  #: share of what came to fail that declines, where the others are errors, empty, or hand-offs
_FEW = 0.25  #: of those who begin or cease to leave without a word, as many as may go another way
_WOULD_SAY = 3.0  #: answers without documents for each user who is sure not to complain more
COMPLAINING = (CLARIFICATION_FREE, FREE_CONVERSATIONS, "abandoned")  #: figures by which more users complain
#: Of these a fall, or a rise, is no matter of how many users say anything.
_FEWER_COMPLAIN = (*COMPLAINING, FAILED)
THANKED_LESS = "users thank less or leave: this cannot tell which"
LEFT = "who leaves without a word may be content: this cannot tell"
#: Nobody answered them: that is the release's, wherever they came from.
WHEREVER = ("unanswered", NO_ANSWER, UNANSWERED_OF_ALL, FAILED)


def weigh_users(
    claimed: Mapping[str, Claim],
    deltas: Mapping[str, Difference],
    complained_of: Difference | None = None,
    *,
    fewer_unheard: bool,
    asked: bool,
) -> dict[str, Claim]:
    """Return the claims on users that do not hold, since more speaks for the opposite.

    complained_of: of `COMPLAINED_OF`; fewer_unheard: fewer conversations end without a word, or with a failing answer;
    asked: that answers ask in closing accounts for how many leave without a word.
    """
    ways = {**BY_USERS, "unanswered": RISE, FAILED: RISE}  # FAILED is evidence, and no matter of what users say
    named = [name for name in ways if name in claimed and claimed[name].change in (BETTER, WORSE, CHANGED)]
    bad = [name for name in named if ways[name] * deltas[name].value > 0]
    good = [name for name in named if name not in bad]
    balance = _went_well(deltas)
    weighed: dict[str, Claim] = {}
    why = invented(deltas, complained_of)
    if why:
        names = [*BY_USERS, "unanswered", NO_ANSWER, FAILED]
        weighed |= {name: withdraw(claimed[name], why, BETTER) for name in names if name in claimed}
    if why and complained_of is not None and complained_of.p <= _SEEN:
        return weighed  # who is heard more does not complain more of each answer
    spoke = not asked and "silent" in good and "resolved" in deltas
    if spoke and deltas["resolved"].value >= -_CONTENT * deltas["silent"].value:
        # Who left without a word speaks now, and nobody knows who of them was content before.
        why = f"{_strongest(['silent'], deltas)}: who left without a word may complain now"
        excused = [*BY_USERS]
        if "unanswered" in deltas and deltas["unanswered"].value <= -_FEW * deltas["silent"].value:
            excused.append("unanswered")  # of those who speak now some come last, and nobody answers that
        weighed |= {name: withdraw(weighed.get(name, claimed[name]), why, WORSE) for name in excused if name in claimed}
    if good and balance >= 0:
        why = _strongest(good, deltas)
        withdrawn = [*BY_USERS, "unanswered"] if fewer_unheard else [*BY_USERS]
        if not asked and "silent" in bad and _left_content(deltas, balance):
            withdrawn = [name for name in withdrawn if name not in ("silent", "resolved")]
        mended = max((abs(deltas[name].value) for name in good if name in (*WHEREVER, "silent")), default=0.0)
        # Who is answered now asks for less that documents tell, as whoever thanks for it.
        withdrawn += [name for name, n in MAY_LACK.items() if name in deltas and n * abs(deltas[name].value) <= mended]
        weighed |= {
            name: withdraw(weighed.get(name, claimed[name]), why, WORSE) for name in withdrawn if name in claimed
        }
    if bad and balance <= 0:
        why = _strongest(bad, deltas)
        weighed |= {
            name: withdraw(weighed.get(name, claimed[name]), why, BETTER)
            for name in (*BY_USERS, "unanswered")
            if name in claimed
        }
    return weighed


def _left_content(deltas: Mapping[str, Difference], balance: float) -> bool:
    """Say whether some of those who leave without a word now were content before, and hardly more went well instead.

    The other way round they speak, and a good part is content: by that neither release is worse than the other.
    """
    silent, resolved = deltas["silent"].value, deltas.get("resolved")
    return resolved is not None and -resolved.value >= _CONTENT * silent and balance < _FEW * silent


def only_heard(claimed: Mapping[str, Claim], deltas: Mapping[str, Difference]) -> str:
    """Say that users are heard more, and nothing more, as where answers end with a question; "" where that is not so.

    Who was silent before and now says yes is one more who is content, of whom nobody knows whether he was before.
    """
    silent, resolved = deltas.get("silent"), deltas.get("resolved")
    if silent is None or resolved is None or not 0 < resolved.value <= -2 * silent.value:
        return ""
    fewer_complain = any(claimed[name].change == BETTER for name in _FEWER_COMPLAIN if name in claimed)
    return "" if fewer_complain else f"silent {by(silent)}"


def left_or_content(claimed: Mapping[str, Claim], deltas: Mapping[str, Difference]) -> tuple[str, str]:
    """Return the figure, and why it is in doubt, where more silence is all that got worse; nothing elsewhere.

    Users may merely thank less, or have what they came for. Of fewer messages a larger share complains; how many
    conversations hold a complaint tells.
    """
    bad = {FREE_CONVERSATIONS: FALL, "abandoned": RISE, **dict.fromkeys(WHEREVER, RISE)}
    if any(name in deltas and moved(deltas[name], way, 0.0) for name, way in bad.items()):
        return "", ""
    worse = {name for name, claim in claimed.items() if claim.change == WORSE}
    if worse == {"silent"}:
        return "silent", LEFT
    return ("resolved", THANKED_LESS) if worse == {"silent", "resolved"} else ("", "")


def unhappier_by(deltas: Mapping[str, Difference], least_change: float) -> str:
    """Say by what users, or labels, say that it went worse; "" by nothing."""
    worse = (name for name, way in SAYS_WORSE.items() if name in deltas and moved(deltas[name], way, least_change))
    name = next(worse, "")
    return beside_figure(name, deltas[name]) if name else ""


def contradicted_by(deltas: Mapping[str, Difference], gain: float) -> str:
    """Say by what labels, else users, point to the other side than a ranking by citations, and far enough; "" by none.

    gain: by how much it got better, or less than 0. Where nothing right was found, or nothing but the first document
    read, an answer cites what came first, which looks like a perfect ranking; so an estimate is enough to speak
    against it.
    """
    for name in (CITED_ARTICLE, CLARIFICATION_FREE):
        if name in deltas:
            witness = deltas[name]
            times = _RISES_BY if gain > 0 else _FALLS_BY
            against = witness.value * gain < 0 and abs(gain) <= times * abs(witness.value)
            return f"{name} {by(witness)}" if against else ""
    return ""


def fewer_complaints(deltas: Mapping[str, Difference]) -> float:
    """Return by how much fewer follow-ups ask to clarify; 0 where no fewer are shown to."""
    free = deltas.get(CLARIFICATION_FREE)
    return max(0.0, free.value) if free is not None and free.p <= PROMISE else 0.0


def invented(deltas: Mapping[str, Difference], complained_of: Difference | None) -> str:
    """Say that what failed before seems to be answered wrong now; "" where it does not.

    Where answers that failed are mended, the others are complained of as often as before, whoever is heard now.
    """
    failed = deltas.get(FAILED)
    if failed is None or complained_of is None or failed.value >= 0 or complained_of.p > _LIKELY:
        return ""
    if complained_of.value < _OF_ANSWERED * -failed.value:
        return ""
    return f"of answers that answer {complained_of.value:.2f} more are complained of: what failed may be invented now"


def declined(deltas: Mapping[str, Difference], refused: Difference | None = None) -> dict[str, str]:
    """Return the figures that are not worse since what is declined was wrong before, with the reason.

    Who declines what nobody is content with, even before, loses those complaints; who declines at random, or says an
    error, a few of them. So they must become fewer by most of what came to be declined, and no more may leave unheard:
    of answers that are left fewer are complained of by users in another mood, too. And they must decline (`REFUSED`):
    an error page says nothing of what it stands for.
    """
    failed, free = deltas.get(FAILED), fewer_complaints(deltas)
    if failed is None or not 0 < failed.value <= min(SOME_DECLINED, free / _COMPLAINED) or _leave(deltas):
        return {}
    if refused is not None and refused.value < _MOSTLY * failed.value:
        return {}
    why = f"{free:.2f} fewer follow-ups complain, as where what was invented is declined now"
    most = {FAILED: 1.0, **dict.fromkeys(("unanswered", CITED, WITH_DOCUMENTS), _OF_DECLINED)}
    return {
        name: why for name, times in most.items() if name in deltas and abs(deltas[name].value) <= times * failed.value
    }


def answered_otherwise(deltas: Mapping[str, Difference]) -> str:
    """Say that users would say if the answers that come without documents now were worse; "" where they might be.

    An order's state comes from an API and is no document. Where a search finds nothing answers are invented, and users
    complain: that has to be unlikely, and of more than a half it is the search all the same.
    """
    given, free = deltas.get(WITH_DOCUMENTS), deltas.get(CLARIFICATION_FREE)
    if given is None or free is None or not -_SOME_WITHOUT <= given.value < 0 or _leave(deltas):
        return ""
    if free.low < given.value / _WOULD_SAY or free.value < given.value / (2 * _WOULD_SAY):
        return ""
    return (
        f"users complain no more for it ({CLARIFICATION_FREE} {by(free)}): do they come from elsewhere, such as an API?"
    )


def _leave(deltas: Mapping[str, Difference]) -> bool:
    return any(name in deltas and moved(deltas[name], way, 0.0) for name, way in BY_USERS.items())


def _went_well(deltas: Mapping[str, Difference]) -> float:
    """Return how much more went well; the opposite of itself where the releases change places.

    A conversation of which nobody says how it went counts as half of one that went well, as a clarified one does: a
    release that is better heard, in praise and in complaints alike, is not better for that.
    """
    by_outcome = {"resolved": 0.5, "abandoned": -0.5, "unanswered": -0.5, FAILED: -1.0}
    by_words = {name: -float(way) for name, way in WENT_WORSE.items()}  # of conversations that have no outcome yet
    sums = (
        math.fsum(weight * deltas[name].value for name, weight in worth.items() if name in deltas)
        for worth in (by_outcome, by_words)
    )
    return next(filter(None, sums), 0.0)


def _strongest(names: Collection[str], deltas: Mapping[str, Difference]) -> str:
    """Say of the gravest of these figures how it moved, else of the one that moved most."""
    gravest = (name for name in (FAILED, "unanswered", "silent") if name in names)
    name = next(gravest, "") or max(names, key=lambda name: abs(deltas[name].value))
    return f"{name} {by(deltas[name])}"
