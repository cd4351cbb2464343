"""Evidence: where there is less of it than before, which makes some figures rise, and where less of it is no loss."""

import math
from collections.abc import Mapping, Sequence

from turnsignal.stream.records.scores import CITED, CLARIFICATION_FREE
from turnsignal.stream.statistics.claim import by
from turnsignal.stream.statistics.directions import (
    FAILED,
    FALL,
    FREE_CONVERSATIONS,
    GUARDS,
    LEAST,
    LEFTOVERS,
    NO_ANSWER,
    RISE,
    SHORT_FIRST,
    WITH_DOCUMENTS,
    coverage_name,
    family,
)
from turnsignal.stream.statistics.intervals import Difference
from turnsignal.stream.statistics.promise import moved

_BACKED = 0.25  #: of a change of failing answers: how far as many more or fewer conversations must get none
_FAR_MORE = 4.0  #: times as many answers, or users, that are mended as answers that do not cite: these are of them
#: What answers in the place of none may lack → how many have to be mended for each that lacks it
MAY_LACK = {WITH_DOCUMENTS: 1.0, CITED: _FAR_MORE}
_COMPLAINTS = (FREE_CONVERSATIONS, "abandoned")  #: what has no coverage, and depends on what could be read alike


def is_loss(name: str, delta: Difference, least_change: float) -> bool:
    """Say whether there is less evidence."""
    way = GUARDS.get(family(name))
    return way is not None and moved(delta, way, LEAST.get(name, least_change))


def weighs(loss: Difference, gain: Difference) -> bool:
    """Say whether a loss of evidence that is not sure enough to be named may still be what a gain rests on.

    Without a share of the answers a mean moves by no more than that share; doubled, as one of both is an estimate.
    """
    return 2 * abs(loss.value) >= abs(gain.value)


def less_evidence(
    name: str, gain: Difference, lost: Sequence[str], coverages: Mapping[str, Difference], least_change: float
) -> str:
    """Say which evidence became less: of this figure, else of any."""
    told_by = CLARIFICATION_FREE if name in _COMPLAINTS else name
    own = coverage_name(told_by)
    if told_by in coverages and is_loss(own, coverages[told_by], least_change) and weighs(coverages[told_by], gain):
        return f"{own} fell"
    return f"{lost[0]} {'rose' if GUARDS[family(lost[0])] == RISE else 'fell'}" if lost else ""


def accounted_for(deltas: Mapping[str, Difference], unheard: Difference | None, least_change: float) -> set[str]:
    """Return the losses that are none, since fewer answers fail, or show what was meant for a program.

    Silence may stand in the place of failing answers; whoever is answered thanks, which gets no documents, or asks what
    no document says; and without what a model thinks aloud answers are shorter.
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
    if CITED in deltas and max(fallen.values(), default=0.0) >= _FAR_MORE * abs(deltas[CITED].value):
        accounted.add(CITED)
    leftovers, short = deltas.get(LEFTOVERS), deltas.get(SHORT_FIRST)
    if leftovers is not None and short is not None and moved(leftovers, FALL, max(least_change, short.value)):
        accounted.add(SHORT_FIRST)
    return accounted


def says_nothing_of_failing(deltas: Mapping[str, Difference]) -> bool:
    """Say whether answers fail more or less often, and conversations end without one about as often as before.

    A release that says nothing where the one before said an error has fewer answers that fail, of fewer answers.
    """
    failed, unanswered = deltas.get(FAILED), deltas.get("unanswered")
    if failed is None or unanswered is None:
        return False
    return math.copysign(1, failed.value) * unanswered.value < _BACKED * abs(failed.value)


def failed_before(deltas: Mapping[str, Difference]) -> str:
    """Say that as many answers that fail went as messages without any came, or the reverse; "" otherwise.

    Who logs errors no longer has more messages without an answer, and serves as before.
    """
    waiting, failed, unanswered = (deltas.get(name) for name in (NO_ANSWER, FAILED, "unanswered"))
    if waiting is None or failed is None or unanswered is None:
        return ""
    way = math.copysign(1, waiting.value)
    is_other = way * unanswered.value < abs(waiting.value) / 2 <= -way * failed.value
    return f"{FAILED} {by(failed)}" if is_other else ""
