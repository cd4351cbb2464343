"""How many short sequences of words (BLEU) or letters (chrF) an answer shares with a reference, by sacrebleu.

Both compare wording. An answer that is right in other words has little of either: they tell answers that copy a
reference from those that do not, and are no headline.
"""

from functools import cache
from typing import Any, NamedTuple

_MOST_LETTERS = 5_000  # of each text: both take 5 ms for an ordinary answer, half a second for four times as much


class Overlap(NamedTuple):
    """BLEU (Papineni et al. 2002, orders without a match left out) and chrF (Popović 2015), 0 to 1."""

    bleu: float
    chrf: float


def can_compare() -> bool:
    """Say whether sacrebleu is there; it comes with the extra `report`."""
    return bool(_metrics())


def compare_ngrams(reference: str, answer: str) -> Overlap:
    """Compare an answer with a reference. Raises ImportError where `can_compare` says no.

    >>> compare_ngrams("reset the password", "reset the password")
    Overlap(bleu=1.0, chrf=1.0)
    """
    if not (metrics := _metrics()):
        raise ImportError("expected sacrebleu, of turnsignal's extra `report`; it is not installed")
    scores = (each.sentence_score(answer[:_MOST_LETTERS], [reference[:_MOST_LETTERS]]).score for each in metrics)
    return Overlap(*(min(1.0, score / 100) for score in scores))


@cache
def _metrics() -> tuple[Any, ...]:
    try:
        from sacrebleu.metrics import BLEU, CHRF
    except ImportError:
        return ()
    return BLEU(effective_order=True), CHRF()
