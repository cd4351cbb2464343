"""Closings: what an answer asks last, such as whether it helped, whether there is anything else, or with an offer.

Why apart from the other signs of an answer: a product adds such a question to each of its answers, and then "yes" and
"no" say whether the answer served, or take leave, where after any other question they are answers. Whoever replies to
it might have left without a word, so a release that begins to ask is heard more, and is no better for that.
"""

import re

import re2

from turnsignal.stream.follow_ups.sentences import TABLE
from turnsignal.stream.text.patterns import options

_PARTS = re.compile(r"[.!?¿\n]+")


def _compiled(name: str) -> "re2._Regexp[bytes]":
    return re2.compile("|".join(TABLE["closing"][name]).encode(), options())


_HELPED, _MORE, _CHOICE = map(_compiled, ("helped", "more", "choice"))
_OFFER, _DEAL, _ENDING, _RATING = map(_compiled, ("offer", "deal", "ending", "rating"))
_QUESTION = 120  #: characters that a question has at most
_ANSWER = 20  #: characters before the last question that may be an answer


def asks_whether_it_helped(end: str) -> bool:
    """Say whether the last question at the end of an answer is whether the answer served ("Did that help?").

    end: the last characters of the answer; where they have no question, "let me know if it worked" is one.

    >>> asks_whether_it_helped("Press Reset. Did that help?"), asks_whether_it_helped("Press Reset. Do you see it?")
    (True, False)
    """
    question = _last_question(end)
    return bool(_HELPED.search(question)) and not _MORE.search(question)


def asks_for_more(end: str) -> bool:
    """Say whether the last question at the end of an answer is whether there is anything else."""
    return bool(_MORE.search(_last_question(end)))


def offers(end: str) -> bool:
    """Say whether the last sentence at the end of an answer offers something beside it ("Shall I also send the form?").

    A deal ("Shall I book it?") is no such offer: to turn it down is to turn down the answer. Nor is a question without
    an answer before it.

    >>> offers("Open the profile and press Erase. Would you like an example?"), offers("Would you like an example?")
    (True, False)
    """
    sentence = _last_question(end if "?" in end else _PARTS.split(end.rstrip(" .!\n"))[-1])
    if len(end.encode("utf-8", "replace")) < len(sentence) + _ANSWER or _MORE.search(sentence):
        return False
    return bool(_OFFER.search(sentence)) and not _DEAL.search(sentence) and not _ENDING.search(sentence)


def asks_to_end(end: str) -> bool:
    """Say whether the last question at the end of an answer is whether the conversation may be closed."""
    return "?" in end and bool(_ENDING.search(_last_question(end)))


def asks_to_rate(end: str) -> bool:
    """Say whether an answer asks last how good it was, as a number."""
    return bool(_RATING.search(_last_question(end)))


def asks_to_leave(end: str) -> bool:
    """Say whether an answer asks last what a reply takes leave to: for more, with an offer, to end, or for a rating."""
    return ("?" in end and (asks_for_more(end) or asks_to_end(end))) or offers(end) or asks_to_rate(end)


def asks_alone(answer: str) -> bool:
    """Say whether an answer is one question, and no more."""
    return answer.count("?") == 1 and len(answer) <= _QUESTION and len(_PARTS.split(answer.strip())) == 2


def ends_asking(end: str) -> bool:
    """Say whether nothing but the answers to choose from follows the last question ("Did that help? Yes / No")."""
    mark, behind = end.casefold().rpartition("?")[1:]
    return mark != "" and bool(_CHOICE.fullmatch(behind.encode("utf-8", "replace")))


def _last_question(end: str) -> bytes:
    """Return the last sentence with a question mark, or all of it where none has one."""
    before, mark, _ = end.casefold().replace("’", "'").rpartition("?")
    question = _PARTS.split(before)[-1] if mark else end.casefold()
    return question.encode("utf-8", "replace")
