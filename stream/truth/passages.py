"""Passages: how much of a labelled text stands in another one, by words in their order.

ROUGE-L (Lin 2004) from the longest common subsequence of words, by RapidFuzz. Texts that are written without blanks are
compared sign by sign, so that Chinese is not 0. Neither ROUGE-L nor any other overlap says that an answer is right: it
tells the right passage from a wrong one, and is no headline.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from rapidfuzz.distance import LCSseq

COVERED = 0.6  #: share of a labelled passage's words, in their order, from which on it is covered
MOST_CHUNKS = 20  #: labelled passages of a turn that are looked for
MOST_WORDS = 2_000  #: of a text that are compared

_MOST_LETTERS = 20_000  # of a text that words are made of
_SIGNS = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"  # written without blanks
_WORD = re.compile(rf"[{_SIGNS}]|[^\W_{_SIGNS}]+")


class RougeL(NamedTuple):
    """Precision, recall and F1 of the longest common subsequence of words; 0 where either text has none."""

    precision: float
    recall: float
    f1: float


@lru_cache(maxsize=256)
def split_words(text: str) -> tuple[str, ...]:
    """Return the words of a text in small letters; each sign is a word where there are no blanks.

    >>> split_words("Reset it: 密码")
    ('reset', 'it', '密', '码')
    """
    return tuple(_WORD.findall(text[:_MOST_LETTERS].lower()))[:MOST_WORDS]


def rouge_l(expected: str, given: str) -> RougeL:
    """Compare a text with the one that was expected.

    >>> rouge_l("reset the password", "please reset your password").f1
    0.5714285714285715
    """
    wanted, words = split_words(expected), split_words(given)
    common = _lcs_length(wanted, words)
    if not common:
        return RougeL(0.0, 0.0, 0.0)
    precision, recall = common / len(words), common / len(wanted)
    return RougeL(precision, recall, 2 * precision * recall / (precision + recall))


def containment(passage: str, text: str) -> float:
    """Return the share of a passage's words that stand in the text in their order; 0 for one without words."""
    wanted = split_words(passage)
    return _lcs_length(wanted, split_words(text)) / len(wanted) if wanted else 0.0


def coverage(chunks: Sequence[str], texts: Sequence[str]) -> float:
    """Return the share of labelled passages that are covered by at least one of the texts.

    >>> coverage(["two years", "no refund"], ["The warranty is two years."])
    0.5
    """
    known = [chunk for chunk in chunks[:MOST_CHUNKS] if split_words(chunk)]
    if not known:
        return 0.0
    return sum(any(containment(chunk, text) >= COVERED for text in texts) for chunk in known) / len(known)


def _lcs_length(wanted: tuple[str, ...], words: tuple[str, ...]) -> int:
    if not wanted or not words:
        return 0
    common: int = LCSseq.similarity(wanted, words)
    return common
