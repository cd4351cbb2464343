"""What each call of a conversation says first: calls repeat what was said, come in any order, and are sent again.

call 1   sends: How?             gets: So.         adds: How? So.
call 2   sends: How? So. Why?    gets: Because.    adds: Why? Because.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from turnsignal.stream.formats.answering import Answering
from turnsignal.stream.formats.asides import LEFT_OUT as ASIDES
from turnsignal.stream.formats.asides import TOGETHER
from turnsignal.stream.formats.asked_together import TWICE
from turnsignal.stream.formats.branches import Branches
from turnsignal.stream.formats.chains import in_chains
from turnsignal.stream.formats.heads import digested, in_order
from turnsignal.stream.formats.instructions import are_others
from turnsignal.stream.formats.messages import spoken_in
from turnsignal.stream.formats.protocol import Assumed, Call, Message
from turnsignal.stream.formats.remarks import is_about, polishes
from turnsignal.stream.formats.repeats import (
    CUT,
    Digested,
    Frame,
    Passage,
    UsualFrames,
    frame_of,
    overlap,
    taken_out,
    typed,
)

TYPED = "questions that were sent with more around them, taken as the user typed them"
FAILED_AGAIN = "failed calls that asked again what had been answered, left out"
CUT_SHORT = "answers that were cut short, in whose place the whole one that was asked for at once counts"
AGAIN = "answers that were asked for again"
SENT_AGAIN = "questions sent again where their call had failed, taken as asked once"
_SAID = re.compile(
    r"\A(?:For context:\s*)?(?:\[[\w .-]{1,40}\](?: said)?|[\w.-]{1,40} said):\s+"
)  #: before what others said
_OWN = 40  #: characters of an answer that no user says, too
_EXCHANGE = 2  #: messages
_RETRIED = 10.0  #: seconds in which a program sends again what failed; to another model it may have waited longer
_COMPARED = 4  #: last messages of a call that was sent again, and of the first one
_ENVIRONMENTS = ("production", "synthetic", "experiment")


class Added(NamedTuple):
    """What a call says that was not said before. taken: how many of those asked were; instead: of what the last was."""

    call: Call
    asked: list[Message]
    outputs: list[Message]
    taken: int
    instead: Message | None


def added_by(
    calls: Sequence[Call], assumed: Assumed, *, repeats: bool, frames: UsualFrames, answering: Answering | None = None
) -> list[Added]:
    """Return what each call of a conversation says first, its questions as the user typed them.

    frames: of the log; what this conversation shows is added to them, and where it shows nothing they are taken.
    """
    history = Passage([], [])
    branches = Branches()  # of chats beside it under one id, too, and of what was asked otherwise
    answers: dict[Digested, Call] = {}  # of some length, that were given until then, and by which call
    questions: set[str] = set()  # that users are known to have asked
    news: list[Added] = []
    frame: Frame | None = None
    has_history = any(len(spoken_in(call.inputs)) > 1 for call in calls)
    is_alone = not repeats and not has_history and all(spoken_in(call.inputs) for call in calls)
    responses: dict[str, int] = {}  # a response → how much had been said after it
    for call in calls:
        _name_environment(call, assumed)
        asked, outputs = spoken_in(call.inputs), _shown(call, assumed)
        if not call.outputs and asked and asked[-1].role == "assistant":
            asked, outputs = asked[:-1], asked[-1:]  # a record of all that was said ends with its own answer
        _name_colleagues(call, asked, answers, questions)
        is_other = not news or are_others(call, news[-1].call)
        is_soon = not news or in_order(call)[0] - in_order(news[-1].call)[0] <= TOGETHER
        before = news[-1].call if news else None
        exchange = history.messages[-_EXCHANGE:]
        is_beside = len(asked) == 1 and is_other and is_soon
        is_beside = is_beside and is_about(call, exchange, before=before, answering=answering)
        if answering is not None:
            answering.settle(call)
        if is_beside:
            # a user quotes it later, or with the history
            assumed[ASIDES] += 1
            continue
        if news and outputs and polishes(call, news[-1].call) and history.messages[-1:] == news[-1].outputs[-1:]:
            _word_anew(news, history, outputs, call)
            continue
        assumed["system prompts and tool results left out"] += len(call.inputs) - len(spoken_in(call.inputs))
        is_last = bool(news) and history.messages[-1:] == news[-1].outputs[-1:]
        if is_last and outputs and is_soon and _is_cut(news[-1], asked, outputs[0]):
            news[-1] = news[-1]._replace(call=call, outputs=outputs)
            history.messages[-1], history.digests[-1] = outputs[0], digested(outputs[0])
            assumed[CUT_SHORT] += 1
            continue
        passage = Passage(asked, [digested(message) for message in asked])
        kept, taken = overlap(history, passage, is_alone=is_alone, has_history=has_history)
        goes_on = kept == len(history.digests) and taken == len(asked) - 1
        if has_history and taken < len(asked) and not goes_on and not _ends_with(history, passage.digests[:-1]):
            branch = branches.repeated_by(passage, outputs)
            if len(branch.digests) > taken:
                history = branch
                kept, taken = overlap(history, passage, is_alone=is_alone, has_history=has_history)
                assumed[AGAIN] += len(asked) == taken == len(history.digests)
            elif not taken and len(asked) > 1:
                history, kept = Passage([], []), 0
        if (begun := responses.get(call.previous or "")) is not None:
            is_again = history.digests[begun : begun + len(asked)] == passage.digests
            kept, taken = (begun + len(asked), len(asked)) if is_again else (begun, 0)
        if taken == len(asked) == kept < len(history.digests) and _is_known(outputs, call, history, kept):
            continue
        if not outputs and 0 < taken == len(asked) and kept < len(history.digests):
            assumed[FAILED_AGAIN] += 1
            continue
        assumed[AGAIN] += kept < len(history.digests)
        if history.digests[max(kept - taken, 0) : kept] != passage.digests[:taken]:
            frame = _as_typed(history, passage, kept, taken, assumed) or frame
        instead = history.messages[kept] if kept < len(history.digests) and taken == len(asked) - 1 else None
        if has_history and len(asked) == 1 and not taken and len(history.digests) == _EXCHANGE:
            instead = history.messages[0]
        is_again = 0 < taken == len(asked) and kept == len(history.digests) and _has_failed(news, call)
        history.messages[kept:] = [*asked[taken:], *outputs]
        history.digests[kept:] = [*passage.digests[taken:], *map(digested, outputs)]
        if is_again:
            is_retry = _is_retry(call, news[-1].call)
            taken -= not is_retry
            assumed[SENT_AGAIN if is_retry else TWICE] += 1
        branches.add(history, kept)
        answers.update({digested(message): call for message in outputs if len(message.text) >= _OWN})
        news.append(Added(call, asked, outputs, taken, instead))
        if call.response is not None:
            responses[call.response] = len(history.digests)
    if frame is not None:
        frames.add(frame)
    for at, (call, asked, _, taken, instead) in enumerate(news):
        last = asked[-1] if len(asked) > taken else None
        if last is None or last.role != "user":
            continue
        text = taken_out(last.text, frame) if frame is not None else frames.take_out(last.text)
        if text == last.text:
            text = call.typed or text
        if text != last.text:
            last.text = text
            assumed[TYPED] += 1
        if instead is not None and instead.role == "user" and instead.text == text:  # with more around it, once more
            news[at] = news[at]._replace(taken=len(asked))
    return news


def _has_failed(news: Sequence[Added], call: Call) -> bool:
    """Say whether the last question got nothing, not even the call of a tool, and it is a question that comes next."""
    before = news[-1] if news else None
    has_failed = before is not None and not (before.outputs or any(each.called for each in before.call.outputs))
    return has_failed and bool(call.inputs) and call.inputs[-1].role == "user"


def _is_retry(call: Call, failed: Call) -> bool:
    """Say whether a program sends again what failed, rather than its user."""
    ended = failed.end if failed.end is not None else failed.start
    if call.start is None or ended is None:
        return True
    is_other = call.fields.get("model") != failed.fields.get("model")
    return call.start - ended <= (TOGETHER if is_other else _RETRIED)


def _is_cut(before: Added, asked: Sequence[Message], answer: Message) -> bool:
    """Say whether the last answer is cut off, as its vendor says or as it begins the next one to the same question."""
    if not before.outputs or any(_are_same(before.outputs[-1], each) for each in asked):
        return False  # a history that holds it shows that its user saw it, and went on
    cut = before.outputs[-1].text.rstrip()
    is_beginning = CUT <= len(cut) < len(answer.text) and answer.text.startswith(cut)
    if not (is_beginning or before.outputs[-1].is_cut):
        return False
    same = min(len(asked), len(before.asked), _COMPARED)
    return same > 0 and all(map(_are_same, asked[-same:], before.asked[-same:]))


def _are_same(message: Message, other: Message) -> bool:
    return digested(message) == digested(other)


def shows_no_frame(calls: Sequence[Call]) -> bool:
    """Say whether a conversation may have questions with more around them, and shows nothing of that: no history."""
    asked = [spoken_in(call.inputs) for call in calls]
    return all(len(spoken) == 1 for spoken in asked) and any("\n" in spoken[0].text for spoken in asked)


def in_sequence(calls: Iterable[Call]) -> list[Call]:
    """Return calls in the order of their times; without any, in that in which most go on from the one before them.

    None stands before the one that it names as the one it follows.
    """
    given = sorted(calls, key=in_order)
    if len(given) == 1 or any(call.start is not None for call in given):
        return in_chains(_as_repeated(given))
    spoken = [
        ({digested(message) for message in call.inputs}, [digested(message) for message in spoken_in(call.outputs)])
        for call in given
    ]
    along = range(len(given))
    by_length = sorted(along, key=lambda at: len(given[at].inputs))  # stable: equal ones stay as they are

    def going_on(order: Sequence[int]) -> int:
        return sum(not spoken[later][0].isdisjoint(spoken[earlier][1]) for earlier, later in pairwise(order))

    return in_chains([given[at] for at in max((along, by_length, along[::-1]), key=going_on)])


def _as_repeated(calls: list[Call]) -> list[Call]:
    """Return calls in the order of their times, but none before one whose exchange it repeats: clocks may differ."""
    if all(len(one.inputs) <= len(other.inputs) for one, other in pairwise(calls)):
        return calls
    exchanges = [_exchanges_of([*spoken_in(call.inputs), *spoken_in(call.outputs)[:1]]) for call in calls]
    times = Counter(held[-1] for held in exchanges if held)
    starts = {held[-1]: in_order(call)[0] for held, call in zip(exchanges, calls, strict=True) if held}
    late: dict[int, float] = {}
    for at in sorted(range(len(calls)), key=lambda at: len(calls[at].inputs)):
        held, start = exchanges[at], in_order(calls[at])[0]
        late[at] = max((start, *(starts[each] for each in held[:-1] if times[each] == 1)))
        if held:
            starts[held[-1]] = max(late[at], starts[held[-1]])
    return [calls[at] for at in sorted(late, key=lambda at: (late[at], in_order(calls[at])[1], at))]


def _exchanges_of(spoken: Sequence[Message]) -> list[bytes]:
    """Return digests of each question with its answer."""
    digests = [digested(message) for message in spoken]
    pairs = pairwise(digests)
    return [asked + answer for (role, asked), (other, answer) in pairs if (role, other) == ("user", "assistant")]


def _ends_with(history: Passage, before: list[Digested]) -> bool:
    size = min(len(before), len(history.digests))
    return size >= _EXCHANGE and history.digests[-size:] == before[-size:]


def _is_known(outputs: Sequence[Message], call: Call, history: Passage, at: int) -> bool:
    """Say whether another call repeated this one's answer before it came, and give it what is known of it now."""
    if not outputs or digested(outputs[0]) != history.digests[at]:
        return False
    known = history.messages[at]
    known.documents = known.documents or call.documents
    known.metadata = known.metadata or outputs[0].metadata
    known.fields = {**call.fields, **outputs[0].fields, **known.fields}
    return True


def _word_anew(news: list[Added], history: Passage, outputs: list[Message], call: Call) -> None:
    """Give the last answer the words of a call that polished it."""
    draft, words = news[-1].outputs[-1], outputs[0]
    words.documents = words.documents or draft.documents or call.documents or news[-1].call.documents
    news[-1] = news[-1]._replace(outputs=[*news[-1].outputs[:-1], words])
    history.messages[-1], history.digests[-1] = words, digested(words)


def _as_typed(history: Passage, asked: Passage, kept: int, taken: int, assumed: Assumed) -> Frame | None:
    """Give the history its questions as a call repeats them, and return what stood around the last of them."""
    frame = None
    for back in range(1, min(kept, taken) + 1):
        if history.digests[kept - back] == asked.digests[taken - back]:
            continue
        old, new = history.messages[kept - back], asked.messages[taken - back]
        if old.role == new.role == "user" and typed(old.text, new.text):
            frame = frame or frame_of(old.text, new.text)
            old.text = new.text
            history.digests[kept - back] = asked.digests[taken - back]
            assumed[TYPED] += 1
    return frame


def _name_environment(call: Call, assumed: Assumed) -> None:
    if call.fields.get("environment", "production") not in _ENVIRONMENTS:  # staging must not move the figures
        call.fields["environment"] = "experiment"
        assumed["environments by other names are experiment"] += 1


def _name_colleagues(
    call: Call, asked: Sequence[Message], answers: Mapping[Digested, Call], questions: set[str]
) -> None:
    """Give what other assistants said, which some programs send as if users had, to those who said it."""
    for message in asked if answers and len(asked) > 1 else ():
        if message.role != "user" or len(message.text) < _OWN or message.text in questions:
            continue
        texts = message.text, _SAID.sub("", message.text, 1)
        given = [answers.get(digested(Message("assistant", text))) for text in dict.fromkeys(texts)]
        if any(each is not None and are_others(call, each) for each in given):
            message.role, message.text = "assistant", texts[1]
        else:
            questions.add(message.text)


def _shown(call: Call, assumed: Assumed) -> list[Message]:
    """Return what the user saw of a call's outputs: of several choices, the first."""
    outputs = spoken_in(call.outputs)
    if len(outputs) > 1 and call.kind == "answer":
        assumed["other choices of an answer left out"] += len(outputs) - 1
        return outputs[:1]
    return outputs
