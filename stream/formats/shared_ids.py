"""Ids that several conversations share: histories that restart under one id tell them apart.

    default   "How do I pay?"                          gets: By card.
    default   "My tap drips."                          gets: Its washer is worn.
    default   "How do I pay?" "By card." "And then?"   gets: It is booked.          goes on from the first
    default   "My tap drips." "Its …" "And now?"       gets: Unscrew it.            goes on from the second

An app may log a constant, or its user's id, for a conversation's. Its histories contradict that: a question is asked
with nothing before it, though the id had exchanges, and calls go on from that alone. A person does the like who edits a
first question, or goes back to what was said before an edit; so it takes histories that go on by turns, three of them,
or one that begins in other words once another had come further than its first answer, which nobody goes back to.
Agents that hand a conversation over ask the same question, or have instructions of their own; side calls have
histories of none; windows and summaries begin in the middle. The opposite, an id for each request, is `request_ids`.
"""

from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from itertools import groupby
from zlib import crc32

import msgspec

from turnsignal.stream.formats.asides import answer_of, begun_by, question_of, sends_history
from turnsignal.stream.formats.heads import Head, head_of
from turnsignal.stream.formats.messages import spoken_in
from turnsignal.stream.formats.protocol import Assumed, Call
from turnsignal.stream.formats.values import bounded_id
from turnsignal.stream.text.visible import one_line

APART = "conversations under one id that histories tell apart"
_SEVERAL = 3  #: histories that go on by themselves, which no editing of a first question explains
_SURE_IDS = 2  #: ids that are surely shared, from which on others of the log are, too,
_SHARE = 0.25  #: where so many of those whose histories restart are
_SOON = 600.0  #: seconds in which a first question is edited
_ALIKE = 0.5  #: of the words of both, those that an edited question keeps
_READ, _WORDS, _LETTERS = 400, 16, 4  #: characters of a question, words of it that are kept, letters of one
_BITS = 63  #: that words share
_HUNDREDS, _MANY, _MOST = 200, 50, 0.5  #: questions under one id that are doubted; or so many, and so many of the log's
_SHOWN = 40  #: characters of an id


class SharedIds:
    """The ids of a log's calls, with what tells several conversations under one apart; a few bytes of each call."""

    def __init__(self) -> None:
        self._begun = array("Q")  # of each call whose question stands alone, its words; 0 of others
        self._under = array("q")  # of each call, its program
        self._parted = array("L")  # calls of shared ids
        self._within: set[int] = set()  # of these, the ones that begin no conversation of their own
        self._most = "", 0, 0  # the id with most questions, with their number, and that of all

    def add(self, call: Call, opening: bytes) -> None:
        """Take in a call of a conversation, with its opening; called in the order of their numbers."""
        spoken = spoken_in(call.inputs) if call.conversation is not None and opening else []
        is_alone = len(spoken) == 1 and spoken[0].role == "user"
        self._begun.append(_words_of(spoken[0].text) if is_alone else 0)
        self._under.append(hash((begun_by(opening)[0], str(call.fields.get("assistant")))))

    def part(
        self,
        heads: list[Head],
        openings: Sequence[bytes],
        asides: Set[int],
        answers: Callable[[], Iterable[Call]],
    ) -> None:
        """Have the calls of shared ids linked by their words, in place.

        asides: calls that are in no conversation; answers: gives all calls anew.
        """
        if not any(map(sends_history, openings)):
            return
        sure: list[_Histories] = []
        unsure: list[_Histories] = []
        for histories in self._by_id(heads, openings, asides):
            if histories.restarts:
                (sure if histories.are_several else unsure).append(histories)
        if len(sure) >= max(_SURE_IDS, _SHARE * (len(sure) + len(unsure))):
            talking = {under for histories in sure for under in histories.talking}
            sure += [histories for histories in unsure if not talking.isdisjoint(histories.talking)]
        for histories in sure:
            self._parted.extend(histories.numbers)
            self._within |= histories.within
        names = {histories.name for histories in sure}
        for at, answer in enumerate(answers() if names else ()):
            if (name := answer.conversation) in names and at not in asides:
                heads[at] = head_of(at, msgspec.structs.replace(answer, conversation=None, named=name))

    def name(self, chosen: list[str], heads: Sequence[Head], openings: Sequence[bytes], assumed: Assumed) -> None:
        """Name conversations of shared ids by the id and their first call, in place, and see which id has most.

        What begins with no question alone goes on from what was said before it under its id.
        """
        renamed: dict[str, str] = {}
        last: dict[str, str] = {}  # an id → its conversation that was spoken in last
        for at in sorted(self._parted, key=lambda at: heads[at]):
            own, linked = heads[at].who[2] or "", chosen[at]
            if linked not in renamed:
                begins = bool(self._begun[at]) and at not in self._within
                named = bounded_id(f"{own}/{linked}")
                renamed[linked] = named if begins or own not in last else last[own]
            chosen[at] = last[own] = renamed[linked]
        assumed[APART] += len(set(renamed.values()))
        alone = (name for name, head, opening in zip(chosen, heads, openings, strict=True) if _is_alone(head, opening))
        for name, times in Counter(filter(None, alone)).most_common(1):
            self._most = name, times, sum(map(bool, chosen))

    def doubts(self, *, quoted: bool) -> list[str]:
        """Say that one id stands for so much that it may be none of a conversation. quoted: with the id."""
        name, times, calls = self._most
        if times < _HUNDREDS and (times < _MANY or times <= _MOST * calls):
            return []
        shown = f", “{one_line(name, _SHOWN)}”," if quoted else ""
        doubt = (
            f"one id{shown} stands for {times:,} of {calls:,} questions: is it of a conversation? Where it is a "
            "user's, or a default, log an id of its own with each conversation (session_id), or the history with each "
            "call, by which conversations of one id are told apart"
        )
        return [doubt]

    def _by_id(self, heads: Sequence[Head], openings: Sequence[bytes], asides: Set[int]) -> Iterator["_Histories"]:
        """Give what the calls of each id show, in the order of their times."""
        named = [head for head in heads if head.conversation is not None and head.number not in asides]
        named.sort(key=lambda head: (head.conversation or "", head.start, head.number))
        for name, of_id in groupby(named, lambda head: head.conversation or ""):
            histories = _Histories(name)
            for head in of_id:
                at = head.number
                histories.take(head, openings[at], self._under[at], self._begun[at])
            yield histories


class _Begun:
    """One that begins under an id. begun: its place; returned: that of its last call after a later one began."""

    __slots__ = ("asked", "begun", "exchanges", "returned", "start", "words")

    def __init__(self, asked: bytes, begun: int, start: float, words: int) -> None:
        self.asked, self.begun, self.start, self.words = asked, begun, start, words
        self.exchanges = 1
        self.returned = -1


class _Histories:
    """The histories that begin under an id, and how calls go on from them.

    talking: programs whose calls do; restarts: histories that begin after others; within: calls that begin one, though
    they may ask an edited question, or the same again.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.numbers = array("L")
        self.talking: set[int] = set()
        self.restarts = 0
        self.within: set[int] = set()
        self._begun: dict[int, list[_Begun]] = {}  # by program
        self._by_answer: dict[tuple[int, bytes], _Begun] = {}
        self._asked = b""  # by the last call
        self._gone_on = Counter[int]()  # histories of a program
        self._later = -1  # the place where a call went back to an earlier history, the last time
        self._by_turns = self._goes_elsewhere = False

    @property
    def are_several(self) -> bool:
        """Whether these are surely several conversations."""
        if max(self._gone_on.values(), default=0) >= _SEVERAL or self._by_turns:
            self.within.clear()  # many begin with the same words
            return True
        return self._goes_elsewhere and self._later < 0

    def take(self, head: Head, opening: bytes, under: int, words: int) -> None:
        """Take in the next call. words: of its question, where that stands alone."""
        place = len(self.numbers)
        self.numbers.append(head.number)
        if not opening:
            return
        if words:
            self._begin(head, opening, under, words, place)
        elif sends_history(opening):
            history = self._by_answer.get((under, begun_by(opening)[2]))
            if history is not None:
                self._go_on(history, under, place)
        self._asked = question_of(opening)

    def _begin(self, head: Head, opening: bytes, under: int, words: int, place: int) -> None:
        begun = self._begun.setdefault(under, [])
        last = begun[-1] if begun else None
        asked = question_of(opening)
        if last is not None and (asked == self._asked or (asked == last.asked and last.exchanges == 1)):
            history = last  # sent again, answered anew, or asked another agent
            self.within.add(head.number)
        else:
            history = _Begun(asked, place, head.start, words)
            if last is not None:
                self.restarts += 1
                if head.start - last.start <= _SOON and _are_alike(words, last.words):
                    self.within.add(head.number)
            begun.append(history)
        self._by_answer[under, answer_of(opening)] = history

    def _go_on(self, history: _Begun, under: int, place: int) -> None:
        """Have a call go on from a history."""
        self.talking.add(under)
        history.exchanges += 1
        self._gone_on[under] += history.exchanges == 2
        begun = self._begun[under]
        if history is not begun[-1]:
            self._later = history.returned = place
        elif len(begun) > 1:
            before = begun[-2]
            self._by_turns = self._by_turns or before.returned > history.begun
            is_other = before.exchanges > 1 and not _are_alike(before.words, history.words)
            self._goes_elsewhere = self._goes_elsewhere or is_other


def _is_alone(head: Head, opening: bytes) -> bool:
    """Say whether only its id tells whose conversation a call is of."""
    return head.conversation is not None and bool(opening) and not sends_history(opening)


def _words_of(text: str) -> int:
    """Return a bit for each of a question's longer words, by which an edited one is recognised."""
    words = [word for word in text[:_READ].casefold().split() if len(word) >= _LETTERS][:_WORDS]
    bits = 1
    for word in words:
        bits |= 2 << crc32(word.encode("utf-8", "replace")) % _BITS
    return bits


def _are_alike(words: int, others: int) -> bool:
    own, known = words >> 1, others >> 1
    both = own & known
    return own == known or (both > 0 and both in (own, known)) or both.bit_count() >= _ALIKE * (own | known).bit_count()
