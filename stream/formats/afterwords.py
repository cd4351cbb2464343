"""Afterwords: what a program puts behind what each user typed, as a whole log shows it.

    How do I pay?                        yes
                                                                               Cite every claim.
    Cite every claim.                    Cite every claim.

Nearly all messages of one kind of calls end so, over different questions of different conversations; or all of some
time, from a release on; or all of some conversations, and none of others. What people end with is sooner or later
absent. Where somebody else is asked the same without it at that time, whoever answers the user is the one whose
answers histories hold, or are longer by far; nothing is taken off of what the other is asked, such as for a title.
"""

import heapq
import zlib
from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from statistics import median
from typing import NamedTuple

import numpy as np

from turnsignal.stream.formats.heads import digested
from turnsignal.stream.formats.instructions import instructions_of
from turnsignal.stream.formats.messages import spoken_in
from turnsignal.stream.formats.prompts import Prompts
from turnsignal.stream.formats.protocol import Call, Message
from turnsignal.stream.formats.quotations import template_of
from turnsignal.stream.formats.shared_endings import READ, Ending, endings_of
from turnsignal.stream.text.visible import one_line

_ALL = ""  #: calls of any kind
_GROUPS = 10  #: kinds of calls, by who answers and under which instructions,
_CONVERSATIONS = 50  #: conversations of each, chosen by chance,
_MESSAGES = 8  #: and messages of each of these, that are compared
_FEWEST = 8  #: messages, and different rests of them, that end alike
_APART = 3  #: conversations of which they are
_NEARLY_ALL = 0.9  #: of the messages of a time, or of conversations, that have an ending at all
_STRAYS = 0.02  #: of messages with an ending, before and after its time
_WHOLLY = 5  #: conversations of several messages, all of which have an ending
_KNOWN = 0.2  #: of the rests, that others ask plainly
_SOON = 300  #: seconds between both
_LONG = 12  #: characters that not everybody says
_LONGER = 3  #: times as long answers as others get are what users see
_ANSWERED = 50  #: answers, of which one may be in a history by chance
_PASSES = 6  #: endings behind one another
_MANY = 0.3  #: of the messages, that share an ending which is told of,
_LENGTHY = 4  #: and its words
_SHOWN = 60  #: characters of it
_MOST = (1 << 32) - 1


class _Ended(NamedTuple):
    """How one message ends. text: the end of it; answer: a number of what it got; length: characters of that."""

    text: str
    conversation: int
    time: int
    answer: int
    length: int


class _MessagesOfKind:
    """Messages of one kind of calls: of conversations chosen by chance, the same ones in whatever order they come."""

    def __init__(self) -> None:
        self._chosen: dict[int, dict[int, _Ended]] = {}
        self._last: list[int] = []  # conversations, those first that go first

    def add(self, number: int, sample: _Ended) -> None:
        """Take in a message. number: of its words."""
        messages = self._chosen.get(sample.conversation)
        if messages is None:
            if len(self._last) >= _CONVERSATIONS:
                if sample.conversation > -self._last[0]:
                    return
                del self._chosen[-heapq.heappop(self._last)]
            heapq.heappush(self._last, -sample.conversation)
            messages = self._chosen[sample.conversation] = {}
        messages.setdefault(number, sample)
        if len(messages) > _MESSAGES:
            del messages[max(messages)]

    def samples(self) -> list[_Ended]:
        """Return the messages."""
        return [sample for messages in self._chosen.values() for sample in messages.values()]


class Afterwords:
    """What stands behind what users typed in a log; asked from the first `conclude` on."""

    def __init__(self) -> None:
        self._kinds: dict[str, _MessagesOfKind] = {_ALL: _MessagesOfKind()}
        self._asked, self._times, self._lengths = array("I"), array("I"), array("I")  # of each message
        self._returned = array("I")  # answers that histories hold
        self._endings: dict[str, list[Ending]] = {}
        self._doubted: list[Ending] = []
        self._doubted_times: Counter[Ending] = Counter()
        self._users = 0

    def add(self, call: Call) -> None:
        """Take in a call; called for each before the first `conclude`."""
        if call.kind not in ("answer", "whole") or not (spoken := spoken_in(call.inputs)):
            return
        time = min(max(int(call.start if call.start is not None else 0), 0), _MOST)
        self._returned.append(_answer_in(spoken[-2:-1]))
        got = spoken_in(call.outputs)
        answer, length = _answer_in(got), len(got[0].text) if got else 0
        kinds = [self._kinds[_ALL], *([own] if (own := self._kind_of(call)) is not None else [])]
        conversation = _conversation_of(call, spoken)
        for message in _said_in(spoken):
            number = _number_of(message.text)
            self._asked.append(number)
            self._times.append(time)
            self._lengths.append(length)
            sample = _Ended(message.text.strip()[-READ:], conversation, time, answer, length)
            for kind in kinds:
                kind.add(number, sample)

    def _kind_of(self, call: Call) -> _MessagesOfKind | None:
        name = _name_of(call)
        if name not in self._kinds and len(self._kinds) <= _GROUPS:
            self._kinds[name] = _MessagesOfKind()
        return self._kinds.get(name)

    def conclude(self) -> None:
        """Find what messages of each kind end with."""
        own = [name for name in self._kinds if name != _ALL]
        names = own if len(own) == 1 else [*own, _ALL]  # where all are of one kind, that tells it all
        for name in names:
            samples = self._kinds[name].samples()
            for _ in range(_PASSES):
                if (ending := self._found(samples)) is None:
                    break
                self._endings.setdefault(name, []).append(ending)
                taken = ((each, ending.taken_off(each.text)) for each in samples)
                samples = [each if rest is None else each._replace(text=rest) for each, rest in taken]
        self._kinds = {}
        self._asked, self._times, self._lengths, self._returned = (array("I") for _ in range(4))

    def _found(self, samples: Sequence[_Ended]) -> Ending | None:
        """Return the first ending that is a program's, and keep those that are to be told of."""
        for ending in endings_of([each.text for each in samples], _FEWEST):
            rests = [ending.taken_off(each.text) for each in samples]
            matched = [each._replace(text=rest) for each, rest in zip(samples, rests, strict=True) if rest is not None]
            if len({each.text for each in matched}) < _FEWEST:
                continue
            has = [rest is not None for rest in rests]
            is_apart = len({each.conversation for each in matched}) >= _APART
            is_meant = is_apart and (_is_always(samples, has) or _is_wholly(samples, has))
            if is_meant and not ending.is_doubtful and self._is_answering(matched):
                return ending
            is_telling = is_meant or (len(matched) >= _MANY * len(samples) and ending.words >= _LENGTHY)
            if is_telling and ending not in self._doubted:
                self._doubted.append(ending)
        return None

    def _is_answering(self, matched: Sequence[_Ended]) -> bool:
        """Say whether what messages got is what users see: nobody else is asked their rests, or got less by far."""
        long = [each for each in matched if len(each.text) >= _LONG]
        numbers = {_number_of(each.text): each.time for each in long}
        asked = np.frombuffer(self._asked, np.uint32)
        at = np.flatnonzero(np.isin(asked, np.fromiter(numbers, np.uint32, len(numbers)))).tolist()
        known = [place for place in at if abs(self._times[place] - numbers[self._asked[place]]) <= _SOON]
        if len({self._asked[place] for place in known}) <= _KNOWN * max(len(long), 1):
            return True
        got = median(each.length for each in matched)
        return self._is_answered(matched) or got > _LONGER * median(self._lengths[place] for place in known)

    def _is_answered(self, matched: Sequence[_Ended]) -> bool:
        """Say whether histories hold what such messages got."""
        answers = np.array([each.answer for each in matched if each.answer], np.uint32)
        returned = np.isin(answers, np.frombuffer(self._returned, np.uint32)).sum()
        return bool(returned * _ANSWERED > len(answers) > 0)

    def take_off(self, call: Call, prompts: Prompts) -> int:
        """Take off what a program put behind the questions of a call, and return of how many that are asked now.

        prompts: of the log; those that have a beginning of their own are left to them.
        """
        endings = self._endings_of(call)
        taken = 0
        spoken = spoken_in(call.inputs) if endings else []
        now = {id(message) for message in _said_in(spoken)} if spoken else set[int]()
        for message in spoken:
            if message.role != "user" or (rest := _without(message.text, endings)) is None:
                continue
            template = prompts.template_of(message.text)
            if template is None or len(template.before) > len(rest):  # one of messages that are the same but for this
                message.text = rest
                taken += id(message) in now
        return taken

    def _endings_of(self, call: Call) -> list[Ending]:
        if not self._endings:
            return []
        return [*self._endings.get(_name_of(call), ()), *self._endings.get(_ALL, ())]

    def add_conversation(self, calls: Iterable[Call]) -> None:
        """Take in the calls of a conversation, as they were joined."""
        if not self._doubted:
            return
        for text in (message.text for call in calls for message in _said_in(spoken_in(call.inputs))):
            self._users += 1
            self._doubted_times.update([each for each in self._doubted if each.taken_off(text) is not None][:1])

    def doubts(self, *, quoted: bool) -> list[str]:
        """Say which endings are taken for what users typed. quoted: with the most frequent."""
        if not (times := self._doubted_times.total()) or times < _FEWEST:
            return []
        most = self._doubted_times.most_common(1)[0][0]
        shown = f" (“{one_line(most.head, _SHOWN)}”)" if quoted else ""
        doubt = (
            f"{times:,} of {self._users:,} user messages end with the same {most.words:,} words{shown}: a program's "
            "rather than what users typed? Figures of what users say then read these, too; log what was typed, or map "
            "the field that holds it (--propose)"
        )
        return [doubt]


def _without(text: str, endings: Sequence[Ending]) -> str | None:
    """Return a text without its endings, the last first, None without any."""
    rest = None
    for ending in endings:
        if (shorter := ending.taken_off(text if rest is None else rest)) is not None:
            rest = shorter
    return rest


def _said_in(spoken: Sequence[Message]) -> Iterator[Message]:
    """Give what users say now: what a call ends with, else all of a conversation that is finished."""
    if spoken and spoken[-1].role == "user":
        yield spoken[-1]
    else:
        yield from (message for message in spoken if message.role == "user")


def _is_always(samples: Sequence[_Ended], has: Sequence[bool]) -> bool:
    """Say whether nearly all messages have an ending from its first time to its last, but for strays."""
    times = sorted(each.time for each, one in zip(samples, has, strict=True) if one)
    stray = int(_STRAYS * len(times))
    begin, end = times[stray], times[-1 - stray]
    within = [one for each, one in zip(samples, has, strict=True) if begin <= each.time <= end]
    return sum(within) >= _NEARLY_ALL * len(within)


def _is_wholly(samples: Sequence[_Ended], has: Sequence[bool]) -> bool:
    """Say whether nearly all messages have an ending in the conversations that have it at all."""
    conversations: dict[int, list[bool]] = defaultdict(list)
    for each, one in zip(samples, has, strict=True):
        conversations[each.conversation].append(one)
    having = [each for each in conversations.values() if any(each) and len(each) > 1]
    return len(having) >= _WHOLLY and sum(map(sum, having)) >= _NEARLY_ALL * sum(map(len, having))


def _conversation_of(call: Call, spoken: Sequence[Message]) -> int:
    """Return a number for the conversation that a call is of, else for its user or for what it began with."""
    named = call.conversation or call.session or call.named or call.fields.get("user_id")
    return _number_of(str(named) if named else spoken[0].text)


def _number_of(text: str) -> int:
    """Return a number for words of which none are left out; prompts may be long, and each is looked at."""
    return zlib.crc32(text.strip().encode("utf-8", "replace"))


def _answer_in(messages: Sequence[Message]) -> int:
    """Return a number for the first answer of messages, as histories hold it, 0 without one."""
    answers = (digested(each)[1] for each in messages if each.role == "assistant")
    return next((int.from_bytes(digest[:4], "little") for digest in answers), 0)


def _name_of(call: Call) -> str:
    return f"{call.fields.get('assistant') or ''}\0{template_of(instructions_of(call))}"
