"""Turns: the calls of one conversation → what was said in it, in order, each message once, with an id and a time."""

from collections import Counter
from collections.abc import Iterator, Sequence

from turnsignal.stream.formats.answering import Answering
from turnsignal.stream.formats.heads import APART
from turnsignal.stream.formats.messages import found_by_tools
from turnsignal.stream.formats.protocol import Assumed, Call, Message, TurnFields
from turnsignal.stream.formats.repeats import UsualFrames
from turnsignal.stream.formats.sequence import added_by, in_sequence
from turnsignal.stream.formats.values import bounded_id, timestamp

CROWDED = "conversations of more than four users, whose id may be a channel's or a program's"
_USERS = 4  #: of one conversation
_STEP = 0.001  #: seconds between messages that one call sent at once


def take_turns(
    conversation: str,
    calls: Sequence[Call],
    assumed: Assumed,
    *,
    repeats: bool = True,
    frames: UsualFrames | None = None,
    answering: Answering | None = None,
) -> Iterator[tuple[TurnFields, int]]:
    """Give the turns of one conversation, in order, each with the line that it was read from.

    repeats: whether any call of the log sends more than its question, so that a question that comes back is answered
    anew rather than asked twice; frames: what stands around questions, as the conversations before this one showed it;
    answering: of the log.

    What a call repeats of the history is taken in once, as the user typed it. A call that goes back to an earlier
    message, edited or not, gives another answer there, which supersedes the one before it.
    """
    name = bounded_id(conversation)
    for call in calls:
        call.documents = call.documents or found_by_tools(call.inputs)
    assumed[CROWDED] += len({str(call.fields["user_id"]) for call in calls if "user_id" in call.fields}) > _USERS
    clock = _Clock(min(call.line for call in calls) * APART, assumed)
    used: Counter[str] = Counter()
    frames = frames or UsualFrames()
    for call, asked, outputs, taken, _ in added_by(
        in_sequence(calls), assumed, repeats=repeats, frames=frames, answering=answering
    ):
        sent = len(asked) if call.outputs else len(asked) + len(outputs)
        clock.begin(sent - taken)
        for number, message in enumerate([*asked, *outputs][taken:], taken):
            is_output = number >= sent
            origin = _origin(message, call.origin if is_output else f"{call.origin}#{number}", used)
            time = clock.of(message, call, is_output=is_output)
            yield _turn(name, origin, message, call, time), call.line


def _origin(message: Message, standing: str, used: Counter[str]) -> str:
    """Return a message's own id, else where it stands, with a number where that was used before."""
    origin = f"{standing.partition(':')[0]}:{message.id}" if message.id else standing
    used[origin] += 1
    return origin + (f"+{used[origin]}" if used[origin] > 1 else "")


class _Clock:
    """Event times of one conversation, each later than the one before. base: where one without times begins."""

    def __init__(self, base: float, assumed: Assumed) -> None:
        self._last = float("-inf")
        self._base = base
        self._assumed = assumed
        self._waiting = 0

    def begin(self, asked: int) -> None:
        """Take the next call, which brings so many messages that are new."""
        self._waiting = asked

    def of(self, message: Message, call: Call, *, is_output: bool) -> float:
        """Return the time of the next message."""
        self._waiting -= not is_output
        given = message.time
        if given is None and call.start is not None:
            end = call.end if call.end is not None else call.start
            given = end if is_output else call.start - self._waiting * _STEP
            self._assumed["messages without a time, taken as said right before their call"] += self._waiting > 0
        if given is None:
            self._assumed["messages without a time, taken as a second apart from 1970 on"] += 1
            given = self._base if self._last < 0 else self._last + 1.0
        self._last = max(given, self._last + _STEP)
        return self._last


def _turn(conversation: str, origin: str, message: Message, call: Call, time: float) -> TurnFields:
    turn_id = bounded_id(origin)
    turn: TurnFields = {"conversation_id": conversation, "turn_id": turn_id, "role": message.role}
    turn |= {"text": message.text, "timestamp": timestamp(time)}
    fields = {**call.fields, **message.fields}
    if message.role == "assistant":
        documents = message.documents or (call.documents if message in call.outputs else [])
        turn |= {"retrieved": documents} if documents else {}
    else:
        fields.pop("vote", None)
    metadata = dict(message.metadata or {}) | ({"origin": origin} if origin != turn_id else {})
    return turn | fields | ({"metadata": metadata} if metadata else {})
