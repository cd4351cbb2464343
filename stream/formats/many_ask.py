"""Questions that many ask after the same words, each in a conversation of its own, in logs that name neither.

    conversation 1   sends: Hi. Hello! "Track my order"   gets: Which one?   then sends: … "It is 17."
    conversation 2   sends: Hi. Hello! "Track my order"   gets: Which one?   then sends: … "It is 18."

Whoever has a question answered anew asks it again after the same words, too, but goes on from one of the answers,
or from two. Of a menu's buttons, as many go on as have something to say, and what they get is the same each time.
"""

from collections import Counter
from collections.abc import Hashable, Iterable
from typing import NamedTuple

_GOING_ON = 4  #: ways to go on that nobody tries by himself
_CANNED = 10  #: times that nobody asks for the same answer
_ANSWERS = 4  #: as many times is each of the answers given, at least, where they are canned


class Asked(NamedTuple):
    """A call that asked something, and got an answer.

    question: what was said until it was asked, and who may have asked it; messages: how many these are; before: where
    in its history other calls may have ended; after: what was said until after its answer.
    """

    question: Hashable
    messages: int
    before: tuple[bytes, ...]
    after: bytes


def asked_by_many(calls: Iterable[Asked]) -> set[Hashable]:
    """Return the questions that were asked in several conversations, the longest histories first."""
    answers: dict[Hashable, Counter[bytes]] = {}
    ended: dict[bytes, Hashable] = {}
    length: dict[Hashable, int] = {}
    nexts: dict[Hashable, set[Hashable]] = {}
    calls = list(calls)
    for call in calls:
        answers.setdefault(call.question, Counter())[call.after] += 1
        ended[call.after] = call.question
        length[call.question] = call.messages
    for call in calls:
        for digest in call.before:
            if digest in ended and ended[digest] != call.question:
                nexts.setdefault(ended[digest], set()).add(call.question)
    many: set[Hashable] = set()
    again = [question for question, given in answers.items() if given.total() >= _GOING_ON]
    for question in sorted(again, key=lambda each: -length[each]):
        given = answers[question]
        ways = sum(answers[each].total() if each in many else 1 for each in nexts.get(question, ()))
        is_canned = given.total() >= max(_CANNED, _ANSWERS * len(given))
        if ways >= _GOING_ON or is_canned:
            many.add(question)
    return many
