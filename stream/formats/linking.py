"""Whose conversation a call without an id is: that of the call whose words its history repeats.

A call sends all that was said, then gets its answer. Two calls of one conversation are recognised by that:

    call 1   sends: How?                   gets: So.        said until then: How? So.
    call 2   sends: How? So. Why?          gets: Because.   its history begins with what was said until call 1

So each call leaves a digest of what was said until after it (`Head.after`), and looks for one that its own history
begins with (`Head.before`). It goes on in its stead, so that two who say the same stay apart. A call that asks for a
tool ends without an answer; the tool's call, with its id, is what the next one repeats. What needs no words comes
first: the conversation's id, and the id of the response that a call says it follows. What repeats nobody word by word
comes last: its `endings` tell. Messages that carry times of their own are the same where these agree, too: whoever
calls at half past nine does not go on with what was said at eight, though it was the same. Only digests are held in
memory, some hundred bytes a call.
"""

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence, Set
from itertools import islice
from operator import attrgetter
from typing import NamedTuple

from turnsignal.stream.formats.answered_anew import answered_anew
from turnsignal.stream.formats.chains import responses_in_chains
from turnsignal.stream.formats.endings import DIGEST, known_by, last_answer_of, sought_by
from turnsignal.stream.formats.finished import stand_alone
from turnsignal.stream.formats.heads import APART, Head, Who
from turnsignal.stream.formats.many_ask import Request, asked_by_many
from turnsignal.stream.formats.protocol import Assumed
from turnsignal.stream.formats.values import bounded_id

UNSURE = "calls without an id that repeat answers of others, but not who asked, taken as conversations of their own"
NOT_LOGGED = (
    "responses that follow one which these files do not hold, taken for the first of a conversation (give the files "
    "before them in the same command, too)"
)
_SOON = 600.0  #: seconds until a question is asked anew, rather than sent again
_AT_ONCE = 60.0  #: seconds in which one user begins no second conversation with the same question
_ONE_USER = 10  #: times that one user asks it; whoever asks more often is many, or a program
_LOOKED_AT = 100  #: others who stand at the same words, of whom one may be the same
_NEVER = float("-inf")
_RESPONSE, _PREVIOUS = attrgetter("response"), attrgetter("previous")
_ROUNDED = 2.0  #: seconds between times of one message, which exports round
_By = tuple[Who, float | None]  #: who speaks, and when the first message was said


def link(heads: Sequence[Head], assumed: Assumed, asides: Set[int] = frozenset()) -> list[str]:
    """Return the conversation of each call; their numbers are those of a list.

    asides: those of calls that are in none, for which it is empty.

    Its own id, else that of the response that it follows, else of the call whose history it repeats, or its end alone,
    else a new one.
    """
    by_response: dict[str, str] = {}
    by_request: dict[str, str] = {}
    waiting = _Standing()
    loose = _LooseEnds(heads)
    ordered = _ordered([head for head in heads if head.number not in asides])
    before = _Before({}, {}, _asked_by_many(ordered))
    failed: dict[tuple[bytes, Who], tuple[str, float]] = {}  # questions that begin a conversation, without an answer
    first = _FirstAsked(heads, answered_anew(ordered, assumed))
    begun: Counter[str] = Counter()  # by the calls that begin them
    conversations = [""] * len(heads)
    are_alone = stand_alone(ordered)
    for head in ordered:
        is_alone = are_alone and head.is_finished
        chosen = head.conversation or by_response.get(head.previous or "") or by_request.get(head.request or "")
        if chosen is None and head.before:
            chosen = before.grown(head) if is_alone else _gone_on(head, waiting, before) or loose.take(head, assumed)
            assumed["conversations continued where a call repeats their history"] += chosen is not None
        if chosen is None and head.asked and not head.answered:
            before_it, start = failed.get((head.asked, head.who), (None, _NEVER))
            chosen = before_it if head.start - start <= _SOON else None
            if head.is_answered:
                failed.pop((head.asked, head.who), None)
                chosen = chosen or first.again(head)
        if chosen is None and head.request is not None:
            chosen = head.request
        if chosen is None:
            begun[head.origin] += 1
            chosen = _name(head, begun[head.origin])
            assumed["conversations whose id an unlike one has, too, kept apart"] += begun[head.origin] > 1
            assumed[NOT_LOGGED] += head.previous is not None
            assumed["conversations without an id, named by their first call"] += head.who[2] is None
        conversations[head.number] = chosen
        if head.response:
            by_response[head.response] = chosen
        if head.request:
            by_request.setdefault(head.request, chosen)
        if head.conversation is None:
            waiting.put(head, chosen)
            loose.put(head, chosen)
            before.ended[head.origin] = head.after, chosen
            first.put(head, chosen)
            if head.answered:
                before.repeated[head.asked, head.who] = chosen, head.start, head.said_at
            elif not head.is_answered:
                failed[head.asked, head.who] = chosen, head.start
    return conversations


def _gone_on(head: Head, waiting: "_Standing", before: "_Before") -> str | None:
    """Return the conversation that a call goes on in whose words its history begins with, by the surest sign first."""
    if (chosen := waiting.take(head)) is not None or not head.answered:
        return chosen
    if (head.asked, head.who) in before.many:
        return None
    ends = head.before[:DIGEST] + head.earlier[: head.telling * DIGEST]
    again, start, said_at = before.repeated.get((head.asked, head.who), (None, _NEVER, None))
    if again is not None and head.start - start <= _SOON and _are_one(head.said_at, said_at):
        return again
    if (chosen := waiting.recall(head, ends)) is not None:
        return chosen
    return before.grown(head)


def _ordered(heads: list[Head]) -> list[Head]:
    """Return calls in the order of their times; without any, in that in which most go on from one before them.

    None stands before the response that it follows: times may be whole seconds.
    """
    given = sorted(heads)
    if any(head.conversation is not None or head.start != head.line * APART for head in given):
        return responses_in_chains(given, _RESPONSE, _PREVIOUS)
    by_length = sorted(given, key=attrgetter("messages"))  # stable: equal ones stay as they are
    likeliest = max((given, by_length, given[::-1]), key=_going_on)
    return responses_in_chains(likeliest, _RESPONSE, _PREVIOUS)


def _going_on(heads: Iterable[Head]) -> int:
    """Count the calls that repeat what was said until one before them."""
    left: set[bytes] = set()
    times = 0
    for head in heads:
        times += any(digest in left for digest in _split(head.before))
        left.add(head.after)
    return times


def _name(head: Head, times: int) -> str:
    """Name a conversation by its first call; another that begins with that id gets a number."""
    origin = head.origin.partition("#")[0]
    return bounded_id(origin if times == 1 else f"{origin}+{times}")


class _Before(NamedTuple):
    """Conversations by the question that a call was asked in them, and by the id of their last call with what was said.

    repeated: of calls with a history, and when, and when the first message was said; ended: what was said until after
    the call; many: the questions of which each call is in another conversation.
    """

    repeated: dict[tuple[bytes, Who], tuple[str, float, float | None]]
    ended: dict[str, tuple[bytes, str]]
    many: Set[Hashable]

    def grown(self, head: Head) -> str | None:
        """Return the conversation of a record's id, of which it holds more."""
        after, grown = self.ended.get(head.origin, (b"", None))
        return grown if after in _split(head.before + head.earlier) else None


def _asked_by_many(heads: Sequence[Head]) -> set[Hashable]:
    """Return the questions that were asked in several conversations after the same words, by one user or nobody."""

    def unnamed() -> Iterator[Request]:
        for head in heads:
            if head.conversation is None and head.answered and head.is_answered:
                yield Request((head.asked, head.who), head.messages, tuple(_split(head.before)), head.after)

    return asked_by_many(unnamed)


class _FirstAsked:
    """Conversations by the question that one user began them with, which may be answered anew.

    anew: calls that were asked what another was, each with that.
    """

    def __init__(self, heads: Iterable[Head], anew: Mapping[int, int]) -> None:
        self._anew, self._before = anew, dict.fromkeys(anew.values(), "")
        self._times = Counter((head.asked, head.who) for head in heads if _begins(head))
        self._begun: dict[tuple[bytes, Who], tuple[str, float]] = {}

    def put(self, head: Head, conversation: str) -> None:
        """Take in a call of a conversation."""
        if head.number in self._before:
            self._before[head.number] = conversation
        if _begins(head) and self._times[head.asked, head.who] > 1:
            self._begun[head.asked, head.who] = conversation, head.start

    def again(self, head: Head) -> str | None:
        """Return the conversation that the same user began with the same question right before."""
        if head.number in self._anew:
            return self._before[self._anew[head.number]] or None
        conversation, start = self._begun.get((head.asked, head.who), (None, _NEVER))
        is_one = head.start - start < _AT_ONCE and self._times[head.asked, head.who] <= _ONE_USER
        return conversation if is_one else None


def _begins(head: Head) -> bool:
    """Say whether a call may begin the conversation of a user whom it names."""
    is_first = bool(head.asked) and head.is_answered and not head.answered
    return is_first and head.conversation is None and head.who[1] is not None


class _Standing:
    """Conversations by what was said in them until now. A user or an assistant that is not named may be any."""

    def __init__(self) -> None:
        self._standing: dict[bytes, dict[_By, list[str]]] = {}
        self._gone_on: dict[bytes, tuple[_By, str]] = {}  # by what was said in one conversation alone, and long

    def put(self, head: Head, conversation: str) -> None:
        """Let a conversation wait for a call that repeats what was said until after this one."""
        by = head.who, head.said_at
        self._standing.setdefault(head.after, {}).setdefault(by, []).append(conversation)
        if head.leaves.is_telling:
            _, other = self._gone_on.setdefault(head.after, (by, conversation))
            if other != conversation:
                self._gone_on[head.after] = by, ""

    def recall(self, head: Head, ends: bytes) -> str | None:
        """Return the one conversation that had come to one of these ends, though another call may have gone on there.

        Whoever edits a question asks anew from the answer before it.
        """
        for digest in _split(ends):
            by, conversation = self._gone_on.get(digest, ((head.who, None), ""))
            if conversation and _fit((head.who, head.said_at), by):
                return conversation
        return None

    def take(self, head: Head) -> str | None:
        """Return the last conversation that waits for this call, which then waits no more.

        Where the call got no answer it waits on: whoever asked may ask otherwise.
        """
        for digest in _split(head.before):
            standing = self._standing.get(digest)
            by = None if standing is None else _like((head.who, head.said_at), standing)
            if standing is None or by is None:
                continue
            if not head.is_answered and digest != head.before[-DIGEST:]:
                return standing[by][-1]
            chosen = standing[by].pop()
            if not standing[by]:
                del standing[by]
            if not standing:
                del self._standing[digest]
            return chosen
        return None


class _LooseEnds:
    """Calls whose words no history begins with, for the calls whose history begins with the words of none."""

    def __init__(self, heads: Sequence[Head]) -> None:
        ends = {head.after for head in heads}
        self._lost = {head.number for head in heads if head.repeats.words and ends.isdisjoint(_split(head.before))}
        self._given: Counter[bytes] = Counter()  # of what is looked for, by how many calls it is left
        self._ends: dict[bytes, list[_Loose]] = {}
        self._cut = Counter(last_answer_of(heads[at].repeats) for at in self._lost if heads[at].repeats.is_cut)
        self._taken: set[int] = set()
        if self._lost:
            for head in heads:
                ends.difference_update(_split(head.before))
            wanted = {key for head in heads if head.number in self._lost for key in known_by(head.repeats)}
            for head in heads:
                self._given.update(known_by(head.leaves) & wanted)
        self._loose = ends if self._lost else set()

    def put(self, head: Head, conversation: str) -> None:
        """Let a conversation wait for a call that repeats the end of what was said in it."""
        if head.after in self._loose:
            for key in known_by(head.leaves):
                if key in self._given:
                    self._ends.setdefault(key, []).append(_Loose(head.number, head.start, head.who, conversation))

    def take(self, head: Head, assumed: Assumed) -> str | None:
        """Return the last conversation that waits for this call, which then waits no more."""
        if head.number not in self._lost:
            return None
        words, *others = sought_by(head.repeats)
        known = [key for key in others if self._given[key]]
        for key in (words, *(key for key in known if self._given[key] == 1)):
            waiting = self._ends.get(key, [])
            is_edit = head.repeats.is_telling and self._given[key] == 1  # of a question that was asked there before
            while waiting and waiting[-1].number in self._taken and not is_edit:
                waiting.pop()
            for one in islice(reversed(waiting), _LOOKED_AT):
                if (is_edit or one.number not in self._taken) and _agree(head.who, one.who):
                    return self._given_to(head, one)
        if head.repeats.is_cut and (alone := self._alone(head, last_answer_of(head.repeats))) is not None:
            return self._given_to(head, alone)
        assumed[UNSURE] += words in self._given or bool(known)
        return None

    def _alone(self, head: Head, answer: bytes) -> "_Loose | None":
        """Return the one call that gave an answer not long ago and was not gone on from, for one that begins with it.

        Where more begin with it than gave it, a program says it first.
        """
        if self._cut[answer] > self._given[answer]:
            return None
        recent = islice(reversed(self._ends.get(answer, [])), _LOOKED_AT)
        soon = [one for one in recent if head.start - one.start <= _SOON and one.number not in self._taken]
        soon = [one for one in soon if _agree(head.who, one.who)]
        return soon[0] if len(soon) == 1 else None

    def _given_to(self, head: Head, one: "_Loose") -> str:
        """Return the conversation of a call that waits, and have it wait no more."""
        if head.is_answered:  # whoever got no answer asks again
            self._taken.add(one.number)
        return one.conversation


class _Loose(NamedTuple):
    """A call that waits for one that goes on from it."""

    number: int
    start: float
    who: Who
    conversation: str


def _split(digests: bytes) -> Iterator[bytes]:
    return (digests[start : start + DIGEST] for start in range(0, len(digests), DIGEST))


def _like(by: _By, among: dict[_By, list[str]]) -> _By | None:
    """Return the same assistant and user among others, or the last that could be the same."""
    if by in among:
        return by
    return next((other for other in islice(reversed(among), _LOOKED_AT) if _fit(by, other)), None)


def _fit(by: _By, other: _By) -> bool:
    return _are_one(by[1], other[1]) and _agree(by[0], other[0])


def _are_one(said_at: float | None, other: float | None) -> bool:
    """Say whether a message that was said at two times may be one."""
    return said_at is None or other is None or abs(said_at - other) <= _ROUNDED


def _agree(who: Who, other: Who) -> bool:
    return all(a is None or b is None or a == b for a, b in zip(who, other, strict=True))
