"""Who answers users, of those who are asked the same questions, where no call sends what was said before.

    instructions 1   "How do I pay?"   gets: safe                      "And when?"   gets: safe
    instructions 2   "How do I pay?"   gets: By card, in the app.      "And when?"   gets: On the first of a month.

What all calls under the same instructions got tells: labels are for a program, and so is what has no part in a chain of
responses in which others stand. Where both answer at length, the last one is what users saw, as whoever writes a plan,
a search or a passage is asked before. Not where both may be versions of one assistant, which are compared.
"""

import re
from typing import NamedTuple

_FEWEST = 3  #: times that two are asked the same
_LABELS = 0.9  #: of what is got under instructions for labels,
_OTHERS = 0.5  #: and of what others get, fewer
_HANDFUL = 0.25  #: answers for each question, where these are a handful,
_EACH = 0.5  #: and where they are not
_CHAINED = 0.25  #: calls of a chain of responses, of those that are not all first and last
_FIRST = 0.9  #: of the times, those in which one is asked first
_SHORTER = 0.5  #: of its words that an answer has at least which comes after what is none
_SOURCED = 0.5  #: answers with sources
_ALIKE = 0.5  #: of their words that the versions of one assistant's instructions have in common
_LABEL = 5  #: words of a label,
_READ = 2_000  #: characters of an object in which its texts are looked for
_WORDS = re.compile(r"[^\W\d_]+")
_ENDS = (".", "?", "!", "…")
_SMALL = re.compile(r"(?:^|[-_/:. ])(?:mini|nano|small|tiny|lite|flash|haiku|instant|[1-9]b)(?:$|[-_/:. ])")
#: What may be asked of a question when it is answered already.
_AFTER = re.compile(
    r"\b(?:not(?:e|es|ing)|remember\w*|memor\w+|extract\w*|summar\w+|titles?|suggest\w*|follow-ups?|classif\w+|"
    r"sentiment|tags?|labels?|scores?|rat(?:e|ing)|grad(?:e|ing)|evaluat\w+|judge|moderat\w+)\b",
    re.IGNORECASE,
)


class Answerer(NamedTuple):
    """What calls under the same instructions got of one model.

    calls, questions, answers: how many, different ones; labels, chained, sourced: of them; words: of most answers.
    """

    calls: int
    questions: int
    answers: int
    labels: int
    chained: int
    sourced: int
    words: float
    instructions: str
    model: str


class AskedBoth(NamedTuple):
    """How often two were asked the same.

    first, last: of these, the one right before the other, and right after it; quotes, quoted: besides, in a prompt of
    the one that quotes the other's answer, too, and the other way about.
    """

    times: int = 0
    first: int = 0
    last: int = 0
    quotes: int = 0
    quoted: int = 0

    def turned(self) -> "AskedBoth":
        """Return the same from the other's side."""
        return AskedBoth(self.times, self.last, self.first, self.quoted, self.quotes)


def is_beside(answerer: Answerer, rival: Answerer, both: AskedBoth) -> bool:
    """Say whether nobody saw what one got, as that is for a program, and its rival answers.

    Not by their order, which `comes_before` tells.
    """
    if both.times >= _FEWEST and rival.chained >= max(_FEWEST, _CHAINED * rival.calls) and not answerer.chained:
        return True
    is_telling = both.times >= _FEWEST or answerer.answers < answerer.questions
    if is_telling and answerer.labels >= _LABELS * answerer.calls and rival.labels < _OTHERS * rival.calls:
        return True
    is_handful = answerer.questions > 1 and answerer.answers <= max(_HANDFUL * answerer.questions, 1)
    if is_telling and is_handful and rival.answers >= _EACH * rival.questions and rival.answers > 1:
        return True
    has_sources = rival.sourced >= _SOURCED * rival.calls and not answerer.sourced
    return both.times >= _FEWEST and has_sources


def comes_before(answerer: Answerer, rival: Answerer, both: AskedBoth) -> bool:
    """Say whether what one got is a step on the way to what the other did, or was said before another took over.

    Not where the other is asked with the one's answer: it may be about that, and for nobody.
    """
    if both.times < _FEWEST or both.first < _FIRST * both.times or both.quoted or are_versions(answerer, rival):
        return False
    is_helper = _is_small(rival.model) and not _is_small(answerer.model)
    takes_notes = _AFTER.search(rival.instructions) is not None and _AFTER.search(answerer.instructions) is None
    return rival.words >= _SHORTER * answerer.words and not is_helper and not takes_notes


def are_versions(answerer: Answerer, rival: Answerer) -> bool:
    """Say whether two may be one assistant's versions, or its models, which are compared by the same questions."""
    words, others = (set(_WORDS.findall(each.instructions.casefold())) for each in (answerer, rival))
    return len(words & others) >= _ALIKE * len(words | others)


def is_label(text: str) -> bool:
    """Say whether a text is a few words, or an object of such.

    >>> is_label("billing"), is_label('{"intent": "billing", "sure": 0.9}'), is_label("Open the app, and then Cards.")
    (True, True, False)
    """
    words = text.strip()
    if words.startswith(("{", "[")):
        return all(len(each.split(None, _LABEL)) <= _LABEL for each in words[:_READ].split('"')[1::2])
    return len(words.split(None, _LABEL)) <= _LABEL and not words.endswith(_ENDS)


def _is_small(model: str) -> bool:
    return _SMALL.search(model.casefold()) is not None
