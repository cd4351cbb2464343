"""Sentences: whether a follow-up states, asks of the world, asks of the assistant, or only supposes.

Why it matters: questions about the world share their words with complaints ("what if it does not work?", "who can I
talk to?"), and only what is stated of the answer, or said to the assistant, says something of the answer.
"""

import re
import tomllib
from collections.abc import Sequence
from importlib.resources import files
from itertools import pairwise

from turnsignal.stream.text.wordplay import words_of

TABLE = tomllib.loads(files(__package__).joinpath("rules.toml").read_text(encoding="utf-8"))
#: name → words, as `vocabulary` in `rules.toml` explains them
WORDS = {name: frozenset(words.split()) for name, words in TABLE["vocabulary"].items()}

_ASKING, _VERBS, _SUBJECTS = WORDS["asking"], WORDS["verbs"], WORDS["subjects"]
_SENTENCES = re.compile(r"[.?!;\n]+")
_CLAUSES = re.compile(r"[.,;!\n]+")
_MARKS = ".,;:!?\"'“”()…–-"
_THANKS = ["thank", "you"]
_PAIRS = (["what", "a"], ["what", "an"], ["did", "that"])  #: beginnings of statements: "what a mess", "did that"
_INVERTING = (_VERBS | {"can", "could", "will", "would", "should", "may", "must"}) - {"am", "had", "have"}
_REQUESTS = frozenset(("show", "give", "tell", "list", "write", "explain", "add", "make", "put"))
_GETTING = (
    *(["can", "i", verb] for verb in ("get", "have", "see")),
    *(["could", "i", verb] for verb in ("get", "have")),
)
_MODAL = frozenset(("can", "could", "may", "will", "would"))
_SEEKERS = frozenset(("i", "we", "you", "u", "they", "someone", "somebody", "anyone", "anybody"))
_SEEKING = frozenset(("how", "where", "who", "is", "are"))
_INQUIRING = frozenset(("what", "what's", "whats", "which", "who", "when"))
_WONDERING = frozenset(("what", "which", "when", "why", "should", "do", "does", "did")) | _VERBS


def opened(text: str) -> list[str]:
    """Split a sentence into words, without those that people say before they come to the point."""
    words = [word.strip(_MARKS) for word in text.split()]
    start = 0
    while start < len(words) and (
        not words[start] or words[start] in WORDS["openers"] or words[max(start - 1, 0) : start + 1] == _THANKS
    ):
        start += 1
    return words[start:]


def tells(words: Sequence[str]) -> bool:
    """Return whether an opened sentence begins as a statement does: with no question word and no inversion."""
    if words[:2] in _PAIRS:
        return True
    return words[0] not in _ASKING and not (words[0] in _VERBS and len(words) > 1 and words[1] in _SUBJECTS)


def claims(text: str) -> bool:
    """Return whether one of the sentences is a statement that supposes nothing ("if it is wrong")."""
    sentences = [words for sentence in _SENTENCES.split(text) if (words := opened(sentence))]
    return any(tells(words) and WORDS["supposing"].isdisjoint(words) for words in sentences)


def inverts(text: str) -> bool:
    """Return whether a question has its verb in front, or asks why; questions to the assistant aside."""
    words = opened(text)
    return words[:1] == ["why"] or (words[:1] != [] and words[0] in _INVERTING and words[1:2] != ["you"])


def inquires(text: str) -> bool:
    """Return whether a question asks what, which, who or when, and is no proposal ("what about")."""
    words = opened(text)
    return words[:1] != [] and words[0] in _INQUIRING and words[1:2] not in (["about"], ["if"])


def closes_asking(text: str) -> bool:
    """Return whether the last clause asks of the world, without a question mark ("it expired, do they accept it")."""
    words = opened(_CLAUSES.split(text.strip(_MARKS))[-1])
    if len(words) < 2 or words[0] not in _INVERTING or tells(words):
        return False
    return words[1] in _SUBJECTS and words[1] not in WORDS["address"]


def requests(text: str) -> bool:
    """Return whether something is stated, or asked of the assistant: not of the world ("can I pay cash instead?")."""
    if claims(text) or not WORDS["address"].isdisjoint(words_of(text)):
        return True
    words = opened(text)
    return words[:1] != [] and (words[0] in _REQUESTS or words[:3] in _GETTING)


def swaps(text: str, response: str) -> bool:
    """Return whether what stands behind "instead of" is a word of the response, which is case-folded."""
    words = words_of(text)
    for at, pair in enumerate(pairwise(words)):
        if pair == ("instead", "of"):
            behind = words[at + 2 : at + 6]
            return any(len(word) > 1 and word not in WORDS["empty"] and word in response for word in behind)
    return False


def seeks_somebody(text: str) -> bool:
    """Return whether somebody may be asked for: by a statement, by "can I", or by "is there" with a word for help."""
    words = opened(text)
    if not words or tells(words):
        return True
    if words[0] in _SEEKING and words[1:2] != ["a"]:
        return not WORDS["helpers"].isdisjoint(words[2:])
    if words[0] in _MODAL:
        return words[1:2] != [] and words[1] in _SEEKERS
    return words[0] not in _WONDERING
