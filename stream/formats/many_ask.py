"""Questions that many ask after the same words, each in a conversation of its own, in logs that name neither.

    conversation 1   sends: Hi. Hello! "Track my order"   gets: Which one?   then sends: … "It is 17."
    conversation 2   sends: Hi. Hello! "Track my order"   gets: Which one?   then sends: … "It is 18."

Whoever has a question answered anew asks it again after the same words, too, but goes on from one of the answers,
or from two. Of a menu's buttons, as many go on as have something to say, and what they get is the same each time.
"""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable
from typing import NamedTuple

_GOING_ON = 4  #: ways to go on that nobody tries by himself
_CANNED = 10  #: times that nobody asks for the same answer
_ANSWERS = 4  #: as many times is each of the answers given, at least, where they are canned


class Request(NamedTuple):
    """A call that asked something, and got an answer.

    question: what was said until it was asked, and who may have asked it; messages: how many these are; before: where
    in its history other calls may have ended; after: what was said until after its answer.
    """

    question: Hashable
    messages: int
    before: tuple[bytes, ...]
    after: bytes


def asked_by_many(calls: Callable[[], Iterable[Request]]) -> set[Hashable]:
    """Return the questions that were asked in several conversations; calls: gives them, each time anew."""
    times = Counter(call.question for call in calls())
    answers: dict[Hashable, Counter[bytes]] = {question: Counter() for question, n in times.items() if n >= _GOING_ON}
    if not answers:
        return set()
    ended: dict[bytes, Hashable] = {}
    length: dict[Hashable, int] = {}
    for call in calls():
        if call.question in answers:
            answers[call.question][call.after] += 1
            ended[call.after] = call.question
            length[call.question] = call.messages
    next_asked: dict[Hashable, set[Hashable]] = {}
    for call in calls():
        for question in {ended[digest] for digest in call.before if digest in ended}:
            next_asked.setdefault(question, set()).add(call.question)
    many: set[Hashable] = set()
    for question in sorted(answers, key=lambda each: -length[each]):  # what is asked last tells of what was before it
        given, others = answers[question], next_asked.get(question, set()) - {question}
        ways = sum(times[each] if each in many else 1 for each in others)
        is_canned = given.total() >= max(_CANNED, _ANSWERS * len(given))
        if ways >= _GOING_ON or is_canned:
            many.add(question)
    return many
