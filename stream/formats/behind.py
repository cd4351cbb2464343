"""Behind the question: answers that calls end with, so that nobody asks anything there.

    call 1   sends: "Is the answer safe?" (system) "Why?" "Because."      gets: safe
    call 2   sends: "Why?" "Be"                                           gets: cause.
    call 3   sends: "Why?" "Draft: because."                              gets: Because.

Call 1 answers nobody: another model gave that answer, or the same under other instructions, and what it got comes back
in no history. Call 2 was given how its answer is to begin, which nobody gave, and which is none by itself. Call 3 was
given a draft, which another wrote for it, as the workers of a supervisor do: histories go on from what it got, and the
draft, its call and where later histories repeat it are left out.
"""

from collections import Counter
from collections.abc import Iterator, Sequence

from turnsignal.stream.formats.answering import Answering, in_parts, who
from turnsignal.stream.formats.asides import LeftOut
from turnsignal.stream.formats.heads import digested
from turnsignal.stream.formats.messages import spoken_in
from turnsignal.stream.formats.protocol import Assumed, Call, Message
from turnsignal.stream.formats.quotations import SHORT

BEGUN = "beginnings of answers that calls sent left out"
DRAFTS = "drafts that calls sent behind a question left out"
_BACK = 50  #: of so many answers one may be in a history, by chance
_TELLING = 24  #: characters of an answer that two do not give alike
_PARTS = 3  #: digests of an answer that a call ends with


class Behind:
    """Answers behind the questions of a log, by who gave them, and to whom. answering: of the log."""

    def __init__(self, answering: Answering) -> None:
        self._answering = answering
        self._ended = bytearray()  # of each such answer: who was given it, that, and what was got
        self._given_by: dict[bytes, set[bytes]] = {}  # an answer → who gave it
        self._checking: set[bytes] = set()  # who is given answers of others, and converses with nobody
        self._drafted: set[bytes] = set()  # answers that were given to others who converse, and come back in no history
        self._left_out = LeftOut()

    def add(self, call: Call, answer: bytes) -> None:
        """Take in a call. answer: the digest of what it got."""
        for message in answers_behind(call):
            self._ended += who(call) + digested(message)[1][:SHORT] + answer

    def conclude(self) -> None:
        """Find who gave what calls end with, and what that is."""
        ended = list(in_parts(self._ended, _PARTS))
        wanted = {answer for _, answer, _ in ended}
        for by, _, _, answer in self._answering.answerers():
            if answer in wanted:
                self._given_by.setdefault(answer, set()).add(by)
        self._answering.finish()
        of_others = [each for each in ended if self._given_by.get(each[1], set()) - {each[0]}]
        sent = Counter(by for by, *_ in of_others)
        back = Counter(by for by, answer, own in of_others if answer != own and self._answering.came_back(answer))
        self._checking = {by for by in sent if not self._answering.is_conversing(by)}
        drafting = {by for by, times in sent.items() if back[by] * _BACK <= times} - self._checking
        self._drafted = {answer for by, answer, own in of_others if by in drafting and answer != own}
        self._ended = bytearray()

    def takes_out(self, call: Call, assumed: Assumed) -> bool:
        """Say whether a call answers nobody, and take off what it sends behind its question where no user saw that."""
        behind = answers_behind(call)
        if (behind and who(call) in self._checking) or (self._drafted and self._is_for_a_draft(call)):
            self._left_out.add(call)
            return True
        if behind and call.kind == "answer" and digested(behind[-1])[1][:SHORT] not in self._given_by:
            call.inputs.pop()
            assumed[BEGUN] += 1
        if self._drafted and call.kind == "answer":
            self._take_off_drafts(call, assumed)
        return False

    def doubts(self, *, quoted: bool) -> list[str]:
        """Say what was left out, and how to read it. quoted: with an answer."""
        return self._left_out.doubts(quoted=quoted)

    def _is_for_a_draft(self, call: Call) -> bool:
        got = spoken_in(call.outputs)[:1] if call.kind == "answer" else []
        return any(map(self._is_draft, got)) and not any(map(self._is_draft, answers_behind(call)))

    def _take_off_drafts(self, call: Call, assumed: Assumed) -> None:
        """Take off the drafts that a call sends, each with the answer behind it, or nothing."""
        following = [*call.inputs[1:], None]
        kept = [
            message
            for message, behind in zip(call.inputs, following, strict=True)
            if (behind is not None and behind.role == "user") or not self._is_draft(message)
        ]
        assumed[DRAFTS] += len(call.inputs) - len(kept)
        call.inputs[:] = kept

    def _is_draft(self, message: Message) -> bool:
        is_telling = message.role == "assistant" and len(message.text) >= _TELLING
        return is_telling and digested(message)[1][:SHORT] in self._drafted


def answers_behind(call: Call) -> Sequence[Message]:
    """Return the answers that a call ends with, where it got one."""
    return list(_ending(call.inputs))[::-1] if call.outputs else []


def answer_before(call: Call) -> bytes:
    """Return the digest of the answer before the question behind which a call sends others; b"" without one."""
    spoken = spoken_in(call.inputs)
    asked = max((at for at, message in enumerate(spoken) if message.role == "user"), default=0)
    is_answered = asked > 0 and spoken[asked - 1].role == "assistant"
    return digested(spoken[asked - 1])[1][:SHORT] if is_answered else b""


def _ending(messages: Sequence[Message]) -> Iterator[Message]:
    for message in reversed(messages):
        if message.role != "assistant" or message.called or not message.text.strip():
            return
        yield message
