"""What a log holds twice: records that came again, and a trace that says what its root says.

    trace t1        asked: How?      answered: So.      (9:00:00)
    its root o1     asked: How?      answered: So.      (9:00:00 to 9:00:02)

Both are what the user saw, and the user saw it once. Langfuse copies a trace's input and output from its root unless
the application sets them. What is said again later in the same trace was said twice.
"""

from collections.abc import Iterable, Mapping, Sequence

from turnsignal.stream.formats.halves import is_half
from turnsignal.stream.formats.heads import digested, words_of
from turnsignal.stream.formats.messages import spoken_in
from turnsignal.stream.formats.protocol import Assumed, Call, Message

_Key = tuple[object, ...]


def each_once(calls: Iterable[Call], assumed: Assumed) -> list[Call]:
    """Leave out calls that came before; of those that say other things under the same id, none is one that came."""
    calls = list(calls)
    if len(calls) == 1:
        return calls
    kept: dict[_Key, Call] = {}
    for number, call in enumerate(calls):
        key = _identity(call, number)
        assumed["records that came twice left out"] += key in kept
        before = kept.get(key)
        is_poorer = before is not None and call.response is not None and len(call.inputs) < len(before.inputs)
        kept[key] = before if before is not None and is_poorer else call
    return _done(list(kept.values()))


def once_a_trace(wholes: Sequence[Call], assumed: Assumed) -> list[Call]:
    """Return the wholes of a trace, in their order, those as one that say the same at the same time."""
    kept: list[Call] = []
    standing: dict[_Key, int] = {}  # what is said → where it stands in `kept`
    for whole in wholes:
        key = _words(spoken_in(whole.inputs)[-1:]), _words(spoken_in(whole.outputs))
        at = standing.get(key)
        if at is not None and not _is_later(whole, kept[at]):
            kept[at] = _merged(*sorted((kept[at], whole), key=lambda call: call.origin))
            assumed["wholes of a trace that say the same as another left out"] += 1
            continue
        standing[key] = len(kept)
        kept.append(whole)
    return kept


def is_response(call: Call) -> bool:
    """Say whether a call is a response by its own id, in no trace: two of one id that differ are two."""
    return call.response is not None and call.trace is None and not call.partial


def is_failed(call: Call) -> bool:
    """Say whether a call got nothing, at a known time: by that it is known, wherever it stands."""
    return call.kind == "answer" and call.trace is None and not call.outputs and call.start is not None


def _identity(call: Call, number: int) -> _Key:
    """Return what a record is that comes again. Spans have ids that nobody else has; what is logged of them grows."""
    if call.partial:  # two pieces of a stream may be alike, but not two events of one moment
        texts = tuple(message.text for message in (*call.inputs, *call.outputs))
        return call.origin, number if call.response else (call.start, texts)
    if is_response(call):
        return call.origin, call.conversation, _progress(call), _words(spoken_in(call.outputs))
    if is_failed(call):
        return call.conversation, call.start, words_of(call)
    if call.origin.endswith((":", "/")) and not is_half(call):  # without an id nobody knows that it came again
        return call.origin, number
    return call.origin, words_of(call) if is_half(call) else None


def _done(calls: list[Call]) -> list[Call]:
    """Leave out records of a response that another says more of: streams, and what runs behind, begin with empty ones.

    Whoever asks whether a response is done does not send its question again: the record of its beginning has that.
    """
    best: dict[str, Call] = {}
    for call in calls:
        if is_response(call) and (call.origin not in best or _progress(call) > _progress(best[call.origin])):
            best[call.origin] = call
    kept: list[Call] = []
    for call in calls:
        done = best.get(call.origin, call)
        if not is_response(call) or _progress(call) == _progress(done):
            kept.append(call)
        elif not done.inputs and not done.returned:
            done.inputs, done.returned = call.inputs, call.returned
            done.fields = {**call.fields, **done.fields}
            done.previous = done.previous or call.previous
    return kept


def _progress(call: Call) -> int:
    """Return how far a response has come: to an answer, to a tool's call, or to nothing yet."""
    return 2 if spoken_in(call.outputs) else int(any(message.called for message in call.outputs))


def _words(messages: Iterable[Message]) -> _Key:
    return tuple(digested(message) for message in messages)


def _is_later(call: Call, before: Call) -> bool:
    """Say whether a call began after another had ended; of one that has no length, nobody knows when it ended."""
    span, earlier = _span(call), _span(before)
    return span is not None and earlier is not None and span[0] >= earlier[1]


def _span(call: Call) -> tuple[float, float] | None:
    """Return when a call began and ended, where that is known."""
    if call.start is None or call.end is None or call.start >= call.end:
        return None
    return call.start, call.end


def _merged(kept: Call, other: Call) -> Call:
    """Return the first with what the other knows beside it, and the time of the shorter one."""
    spans = [span for span in (_span(kept), _span(other)) if span is not None]
    if spans:
        kept.start, kept.end = max(start for start, _ in spans), min(end for _, end in spans)
    elif kept.start is None:
        kept.start, kept.end = other.start, other.end
    kept.inputs = max(kept.inputs, other.inputs, key=len)
    kept.conversation = kept.conversation or other.conversation
    kept.session = kept.session or other.session
    take_known(kept, other, {digested(message): message for message in other.outputs})
    return kept


def take_known(whole: Call, known: Call, shown: Mapping[tuple[str, bytes], Message]) -> None:
    """Give a call what another knows of the same answer: fields, documents, and the citations of the same text.

    shown: what the other put out, by its digest.
    """
    whole.fields = {**known.fields, **whole.fields}
    for message in whole.outputs:
        if message.metadata is None and shown and (same := shown.get(digested(message))) is not None:
            message.metadata = same.metadata
    whole.documents = whole.documents or known.documents
