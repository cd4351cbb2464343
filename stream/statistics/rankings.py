"""Rankings: where measures on citations say nothing of what was found, since there was less to rank or to cite."""

from collections.abc import Mapping
from typing import NamedTuple

from turnsignal.stream.statistics.directions import (
    CITATIONS,
    CITES_ALL,
    CITES_TOP,
    DOCUMENTS,
    LEAST,
    RISE,
    SAME_DOCUMENTS,
    WASTED,
)
from turnsignal.stream.statistics.intervals import Difference
from turnsignal.stream.statistics.promise import PROMISE, moved

_MOST = 0.5
_NEARLY_ALL = 0.9  #: share of answers that cite just what stands first, from which on that says nothing of a ranking
_TWENTIETH = 0.007  #: a twentieth more or fewer documents, on their scale: enough to move a ranking by itself
_HALF = 0.1  #: half as many, or twice as many, on that scale: so much is no chance, of however few conversations
_FEWEST_RANKED = 1.5  #: documents per answer, below which most have one and any order is perfect


class RankingDoubts(NamedTuple):
    """Why rankings by citations say nothing of what was found, each "" where they do.

    after, before: of that release; by_place: of the one before, unless users say that it went worse; alike: of either,
    such as that both found the same.
    """

    after: str = ""
    before: str = ""
    by_place: str = ""
    alike: str = ""


def says_nothing(deltas: Mapping[str, Difference], from_top: float, alike: float) -> str:
    """Say why rankings by citations say nothing of what was found, "" where they do.

    deltas: after − before, `CITES_TOP` among them; from_top, alike: where that and `SAME_DOCUMENTS` came to.
    """
    if DOCUMENTS in deltas and deltas[DOCUMENTS].value <= -_HALF:
        return "answers get half as many documents, or fewer"
    if SAME_DOCUMENTS in deltas and moved(same := deltas[SAME_DOCUMENTS], RISE, LEAST[SAME_DOCUMENTS]):
        most = "most" if alike >= _MOST else "more"
        shares = f"{alike:.0%} of what is retrieved, {alike - same.value:.0%} before"
        return f"the same few documents come for {most} questions ({shares})"
    if CITES_TOP in deltas and from_top >= _NEARLY_ALL and moved(top := deltas[CITES_TOP], RISE, LEAST[CITES_TOP]):
        return f"{from_top:.0%} of answers cite just the first of their documents, {from_top - top.value:.0%} before"
    return ""


def said_nothing(alike: tuple[Difference, float] | None, documents: float | None) -> str:
    """Say why rankings of the release before said nothing of what was found, "" where they did.

    alike: before − after of `SAME_DOCUMENTS`, and where it stood; documents: how many answers got then.
    """
    if documents is not None and documents < _FEWEST_RANKED:
        return f"before, there was hardly anything to rank: {documents:.1f} documents per answer"
    if alike is not None and moved(alike[0], RISE, LEAST[SAME_DOCUMENTS]):
        return f"before, the same few documents came whatever was asked ({alike[1]:.0%} of what was retrieved)"
    return ""


def cited_by_place(from_top: tuple[Difference, float] | None) -> str:
    """Say why rankings of the release before may have been by the place, "" where they were not.

    from_top: before − after of `CITES_TOP`, and where it stood. A good search looks like that, too, and whether it got
    worse or answers cite what they use now, users tell.
    """
    if from_top is None or from_top[1] < _NEARLY_ALL or not moved(from_top[0], RISE, LEAST[CITES_TOP]):
        return ""
    return f"before, {from_top[1]:.0%} of answers cited just the first of their documents"


def less_to_rank(deltas: Mapping[str, Difference]) -> str:
    """Say that there are other numbers of documents, or that all of them are cited; "" where neither moved."""
    if why := _other_number(deltas, DOCUMENTS):
        return why
    if CITES_ALL in deltas and moved(deltas[CITES_ALL], RISE, LEAST[CITES_ALL]):
        return "beside more answers that cite all their documents"
    return ""


def by_other_numbers(deltas: Mapping[str, Difference], ranked: str) -> str:
    """Say beside which number, of citations or documents, a figure moved no further than by that; "" beside none.

    Of twice as many citations, half are new, and what they add or hide is at most a half of what is taken over all. So
    it is with documents: who is given more of the same search cites some that were too far down before. What nobody
    cites is the rest of what is cited: it falls and rises with that, however little that is.
    """
    given = DOCUMENTS in deltas and (ranked == WASTED or deltas[DOCUMENTS].value > 0)
    for name in (CITATIONS, *((DOCUMENTS,) if given else ())):
        rest = (
            ranked == WASTED and name == CITATIONS and name in deltas and deltas[name].value * deltas[ranked].value < 0
        )
        why = _which_way(name, deltas[name]) if rest else _other_number(deltas, name)
        if why and abs(deltas[ranked].value) <= share_gone(deltas[name]):
            return why
    return ""


def share_gone(number: Difference) -> float:
    """Return which share of the documents, or citations, of the side with more the other one does not have."""
    return 1.0 - float(0.5 ** (abs(number.value) / _HALF))


def _other_number(deltas: Mapping[str, Difference], name: str) -> str:
    """Say which way the number of documents, or of citations, moved; "" where it did not."""
    delta = deltas.get(name)
    if delta is None or abs(delta.value) < (_TWENTIETH if delta.p <= PROMISE else _HALF):
        return ""
    return _which_way(name, delta)


def _which_way(name: str, delta: Difference) -> str:
    return f"beside {'fewer' if delta.value < 0 else 'more'} {name.removesuffix('_per_answer')} per answer"
