"""Closings: what an answer asks last, such as whether it helped, whether there is anything else, or with an offer.

Why apart from the other signs of an answer: a product adds such a question to each of its answers, and then "yes" and
"no" say whether the answer served, or take leave, where after any other question they are answers. Whoever replies to
it might have left without a word, so a release that begins to ask is heard more, and is no better for that.
"""

import re
from functools import lru_cache
from typing import NamedTuple

import re2

from turnsignal.stream.follow_ups.sentences import TABLE
from turnsignal.stream.text.patterns import Patterns, options

_PARTS = re.compile(r"[.!?¿\n]+")
_MARKS = "!?¿\n"  #: that end a sentence wherever they stand
_DOT = re.compile(r"(?<![\s.]\w)\.(?=\s|$)")
_KINDS = ("helped", "more", "offer", "deal", "ending", "rating")
_HELPED, _MORE, _OFFER, _DEAL, _ENDING, _RATING = range(len(_KINDS))
#: one set of all, since a pass over a question takes as long as the search for one kind
_QUESTIONS = Patterns(["|".join(TABLE["closing"][kind]) for kind in _KINDS], few=True)
_INVITING = Patterns(["|".join(TABLE["closing"]["inviting"])], few=True)
_REPLYING = Patterns(["|".join(TABLE["closing"]["replying"])], few=True)
_CHECKING_IN = Patterns(["|".join(TABLE["closing"]["checking_in"])], few=True)
_CHOICE = re2.compile("|".join(TABLE["closing"]["choice"]).encode(), options())
_QUESTION = 120  #: characters that a question has at most
_NUDGE = 240  #: characters that a message has at most that only comes back to an earlier one
_ANSWER = 20  #: characters before the last question that may be an answer


class _LastQuestion(NamedTuple):
    """The last sentence of an end with a question mark, or all of it where none has one; kinds: what it asks."""

    text: bytes
    kinds: frozenset[int]


def asks_whether_it_helped(end: str) -> bool:
    """Say whether the last question at the end of an answer is whether the answer served ("Did that help?").

    end: the last characters of the answer; where they have no question, "let me know if it worked" is one.

    >>> asks_whether_it_helped("Press Reset. Did that help?"), asks_whether_it_helped("Press Reset. Do you see it?")
    (True, False)
    """
    kinds = _last_question(end).kinds
    return _HELPED in kinds and _MORE not in kinds


def checks_in(answer: str) -> bool:
    """Say whether an answer is none, but comes back to an earlier one, and asks whether that served.

    >>> checks_in("Hello, just checking in: did that help?"), checks_in("Press Reset. Did that help?")
    (True, False)
    """
    if len(answer) > _NUDGE or not asks_whether_it_helped(answer):
        return False
    return bool(_CHECKING_IN.match(answer.casefold().replace("’", "'").encode("utf-8", "replace")))


def asks_for_more(end: str) -> bool:
    """Say whether the last question at the end of an answer is whether there is anything else."""
    return _MORE in _last_question(end).kinds


def offers(end: str) -> bool:
    """Say whether the last sentence at the end of an answer offers something beside it ("Shall I also send the form?").

    A deal ("Shall I book it?") is no such offer: to turn it down is to turn down the answer. Nor is a question without
    an answer before it.

    >>> offers("Open the profile and press Erase. Would you like an example?"), offers("Would you like an example?")
    (True, False)
    """
    sentence = _last_question(end if "?" in end else _last_part(end.rstrip(" .!\n")))
    if _OFFER not in sentence.kinds or not sentence.kinds.isdisjoint((_MORE, _DEAL, _ENDING)):
        return False
    return len(end.encode("utf-8", "replace")) >= len(sentence.text) + _ANSWER


def asks_to_end(end: str) -> bool:
    """Say whether the last question at the end of an answer is whether the conversation may be closed."""
    return "?" in end and _ENDING in _last_question(end).kinds


def asks_to_rate(end: str) -> bool:
    """Say whether an answer asks last how good it was, as a number."""
    return _RATING in _last_question(end).kinds


def asks_to_leave(end: str) -> bool:
    """Say whether an answer asks last what a reply takes leave to: for more, with an offer, to end, or for a rating."""
    return ("?" in end and (asks_for_more(end) or asks_to_end(end))) or offers(end) or asks_to_rate(end)


def without_closing(answer: str, within: int) -> str:
    """Return an answer without the question or offer that it ends in beside what it answers; all of it without one.

    within: characters at its end in which that is looked for.

    >>> without_closing("Press Reset, then wait.  Shall I also send the form? Yes / No", 60)
    'Press Reset, then wait.'
    >>> without_closing("Do you see it?", 60), without_closing("Press Reset. Do you see it?", 60)
    ('Do you see it?', 'Press Reset. Do you see it?')
    """
    end = answer[-within:]
    asked = end.rpartition("?")[0] if "?" in end else end.rstrip(" .!\n")
    last = asked[_begin_of_last(asked) :]
    # As a question, for "let me know if you need anything else" is none.
    if not (asks_to_leave(end) or asks_whether_it_helped(end) or asks_for_more(f"{last}?")):
        return answer
    return answer[: len(answer) - len(end) + len(asked) - len(last)].rstrip(" \n¿") or answer


def without_last_question(answer: str, within: int) -> str:
    """Return an answer without its last sentence where that asks for something beside what it answers; else all of it.

    within: characters at its end in which that is looked for.

    >>> without_last_question("Press Reset. Which model do you have?", 60), without_last_question("Which model?", 60)
    ('Press Reset.', 'Which model?')
    """
    end = answer[-within:]
    asked = end.rstrip(" .!?\n")
    at = len(answer) - len(end) + _begin_of_last(asked)
    return answer[:at].rstrip(" \n¿") or answer


def replies_to_closing(follow_up: str) -> bool:
    """Say whether a message, case-folded, has words of a reply to what an answer asks last ("nothing else", "not yet").

    >>> replies_to_closing("no, there is nothing else"), replies_to_closing("there is no such menu")
    (True, False)
    """
    return bool(_REPLYING.match(follow_up.encode("utf-8", "replace")))


def invites_correction(end: str) -> bool:
    """Say whether the last sentence at the end of an answer asks to be told what is wrong, or whatever else there is.

    >>> invites_correction("Press Reset. Tell me if that isn't what you meant."), invites_correction("Press Reset.")
    (True, False)
    """
    last = _last_part(end.casefold().replace("\u2019", "'").rstrip(" .!\n"))
    return bool(_INVITING.match(last.encode("utf-8", "replace")))


def asks_alone(answer: str) -> bool:
    """Say whether an answer is one question, and no more."""
    return answer.count("?") == 1 and len(answer) <= _QUESTION and len(_PARTS.split(answer.strip())) == 2


def ends_asking(end: str) -> bool:
    """Say whether nothing but the answers to choose from follows the last question ("Did that help? Yes / No")."""
    mark, behind = end.casefold().rpartition("?")[1:]
    return mark != "" and bool(_CHOICE.fullmatch(behind.encode("utf-8", "replace")))


@lru_cache(64)  # several things are asked of one end, one after the other
def _last_question(end: str) -> _LastQuestion:
    text = end.casefold()
    if "?" in text:
        text = _last_part(text.replace("’", "'").rpartition("?")[0])
    read = text.encode("utf-8", "replace")
    return _LastQuestion(read, frozenset(_QUESTIONS.match(read)))


def _last_part(text: str) -> str:
    """Return what stands behind the last stop."""
    return text[_begin_of_last(text) :]


def _begin_of_last(text: str) -> int:
    """Return where the last sentence begins; a dot in a number, or behind one letter ("e.g. "), ends none."""
    begin = max([text.rfind(mark) for mark in _MARKS]) + 1
    dot = text.rfind(".", begin)
    while dot >= 0 and not _DOT.match(text, dot):
        dot = text.rfind(".", begin, dot)
    return max(begin, dot + 1)
