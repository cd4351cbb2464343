"""What a conversation is: calls of a log → turns, decided once for all formats.

Three steps, each over a bounded group, so that whoever calls can keep the groups on disk. `join_trace`: of all calls of
one request, the answers that the user saw, with their documents. `linking`: whose conversation a call without an id is.
`take_turns`, in `turns`: a conversation's calls in the order of their times, each message once, however often it comes.

    trace 1   a planner's call, a retrieval of d1, a call that sends "How?" and gets "So."
    trace 2   a call that sends "How?", "So.", "Why?" and gets "Because."

`join_trace` keeps one call of each trace: the last of the first one, to which d1 is given. `linking` puts both into one
conversation, as the second repeats what was said in the first. `take_turns` gives How?, So. (with d1), Why?, Because.
"""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from turnsignal.stream.formats.answering import Answering
from turnsignal.stream.formats.documents import once, reranked
from turnsignal.stream.formats.doubles import each_once, is_failed, is_response, once_a_trace, take_known
from turnsignal.stream.formats.halves import is_half, pair
from turnsignal.stream.formats.heads import APART, digested, words_of
from turnsignal.stream.formats.instructions import are_others, instructions_of
from turnsignal.stream.formats.messages import spoken_in
from turnsignal.stream.formats.protocol import Assumed, Call, Message, TurnFields
from turnsignal.stream.formats.quotations import quoted_in, template_of
from turnsignal.stream.formats.remarks import without_remarks
from turnsignal.stream.formats.returned import up_to_returned

NO_CONTENT = "traces whose calls of a model hold no message left out"
ONE_SIDED = "traces that hold a question alone, or an answer alone"
MANY_QUESTIONS = "traces of many different questions, of which the last one's answer was taken"
ON_THE_WAY = "calls on the way to an answer left out"
NOTHING_SAID = "traces in which nobody says anything left out"
ONLY_RETRIEVALS = "traces that are retrievals alone left out"
_MANY = 10  #: questions of a trace that a planner, or a judge of documents, may ask on the way to an answer
_WRITING = 5.0  #: seconds that a person takes at least to read an answer and write
_TYPED = 1_000  #: characters of a message that a person types
_ALIKE = 20  #: characters with which two steps of a pipeline begin
_QUOTED = 60  #: characters of an answer by which it is known in the next step
_NO_CHANCE = 16  #: characters that stand in no other text by chance
_DEEP = 8  #: retrievers within one another
_STEPS = 32  #: before an answer, of which one was asked what the user typed


def group_of(call: Call) -> str:
    """Name the group that a call is joined in: its trace, the response that it is a piece of, or itself.

    A call that names no response is itself by its conversation, its time and its words: many logs number their records
    anew in each file, or in each conversation.
    """
    if call.trace:
        return call.trace
    if call.response:
        return call.response if call.partial else call.origin
    if call.partial or call.kind != "answer":
        return call.origin
    standing = "" if is_failed(call) else call.origin
    return f"{standing}\0{call.conversation}\0{call.start}\0{words_of(call).hex()}"


def join_trace(calls: Iterable[Call], assumed: Assumed, answering: Answering | None = None) -> list[Call]:
    """Return the answers of one trace that the user saw, each with its documents and the fields of the trace.

    Of several answers to one message the last is it: those before are a planner's, a tool's, or a piece on the way.
    Calls about it are none; answering: what the log shows of these.
    """
    ordered = _join_pieces(sorted(each_once(calls, assumed), key=_began))
    if not ordered:
        return []
    for call in ordered:
        _part_state(call, assumed)
    if len(ordered) > 1 and all(map(is_response, ordered)):  # of one id, but not of one request
        return [answer for call in ordered for answer in join_trace([call], assumed, answering)]
    if ordered and all(map(is_half, ordered)):
        calls = pair(sorted(ordered, key=lambda call: call.line), assumed)
        return [answer for call in calls for answer in join_trace([call], assumed, answering)]
    if len(names := _conversations(ordered)) > 1:  # one trace of a queue's worker, or of a batch
        parts = [[call for call in ordered if (call.conversation or names[0]) == name] for name in names]
        return [answer for part in parts for answer in join_trace(part, assumed, answering)]
    wholes = [call for call in ordered if call.kind == "whole"]
    if len(wholes) > 1:
        wholes = sorted(once_a_trace(wholes, assumed), key=_began)
    answers = [call for call in wholes if spoken_in(call.outputs)]
    models = [call for call in ordered if call.kind == "answer"]
    if not any(spoken_in(call.outputs) for call in (*wholes, *models)):
        answers = _topmost([call for call in ordered if call.kind == "inner" and _is_exchange(call)])
    if answers:
        seen = without_remarks([call for call in models if spoken_in(call.outputs)], Counter())
        _complete(answers, seen or models)
        assumed[ON_THE_WAY] += max(len(models) - len(answers), 0)
    else:
        models = list(up_to_returned(models, ordered, assumed))
        answers = _seen_by_user(models, assumed, answering)
        _name_typed(models, answers)
        if not any(spoken_in(call.outputs) for call in answers):  # it failed: the whole says what was asked
            failed = [call for call in wholes if spoken_in(call.inputs)]
            for whole in failed if models else ():
                _take_history(whole, models[-1])
            answers = failed or answers
    if not answers:
        assumed[_why_silent(ordered)] += 1
    _give_documents(answers, [call for call in ordered if call.kind in ("retrieval", "reranking")])
    _name_searched(answers, ordered, answering)
    begun = next((call.start for call in ordered if call.start is not None), None)  # a trace may itself have no time
    if answers and begun is not None:
        answers[0].start = begun  # what came first is what the user's message set off
    _share(ordered, answers)
    assumed[ONE_SIDED] += sum(map(_is_one_sided, answers))
    return answers


def _conversations(calls: Sequence[Call]) -> list[str]:
    """Return the conversations that a trace's model calls name, none where one call stands for the whole of it."""
    if any(call.kind == "whole" for call in calls):
        return []
    return list(dict.fromkeys(call.conversation for call in calls if call.kind == "answer" and call.conversation))


def _is_exchange(call: Call) -> bool:
    return any(message.role == "user" for message in spoken_in(call.inputs)) and bool(spoken_in(call.outputs))


def _topmost(inner: Sequence[Call]) -> list[Call]:
    """Return the calls, in the order of their times, that run within no other."""
    kept: list[Call] = []
    for call in sorted(inner, key=lambda call: (_began(call)[0], -(call.end or 0.0))):
        if not kept or kept[-1].end is None or call.end is None or call.end > kept[-1].end:
            kept.append(call)
    return kept


def _part_state(call: Call, assumed: Assumed) -> None:
    """Part an output that is all that was said, as graphs return their state, into a history and its answer."""
    state = spoken_in(call.outputs)
    asked = max((at for at, message in enumerate(state, 1) if message.role == "user"), default=0)
    if not asked or all(message.role == "user" for message in state):
        if asked and _words(state) <= _words(call.inputs):
            call.outputs = []  # of a run that was interrupted: what was asked, and nothing yet
        return
    if asked >= len(spoken_in(call.inputs)):
        call.inputs = [message for message in call.inputs if message.role == "system"] + state[:asked]
    call.outputs = state[asked:][-1:]
    assumed["outputs that hold all that was said, of which the last answer was taken"] += 1


def _words(messages: Iterable[Message]) -> set[str]:
    return {message.text.strip() for message in spoken_in(messages)}


def _is_one_sided(answer: Call) -> bool:
    """Say whether a question, or an answer, is missing that should be there: a step of a tool lacks one of them."""
    last = (spoken_in(answer.outputs) or spoken_in(answer.inputs))[-1:]
    is_asked = any(message.role == "user" and message.text.strip() for message in answer.inputs)
    is_answered = bool(last) and last[0].role == "assistant"
    is_step = answer.trace is None and any(message.called for message in answer.outputs)
    return not (is_asked or answer.returned) or not (is_answered or is_step)


def _share(calls: Sequence[Call], answers: Sequence[Call]) -> None:
    """Give each answer the conversation and the fields that other calls of its trace name."""
    conversation = next((call.conversation for call in calls if call.conversation), None)
    conversation = conversation or next((call.session for call in calls if call.session), None)
    if conversation is None and len(answers) > 1 and all(len(spoken_in(answer.inputs)) == 1 for answer in answers):
        conversation = answers[0].trace  # a session, of which no call says what was said before
    shared: TurnFields = {}
    for call in calls:
        if call.kind in ("context", "whole"):
            shared = {**call.fields, **shared}
    for answer in answers:
        answer.conversation = answer.conversation or conversation
        answer.fields = {**shared, **answer.fields}


def _began(call: Call) -> tuple[float, int, str]:
    return (call.start if call.start is not None else call.line * APART, call.line, call.origin)


def _join_pieces(calls: list[Call]) -> list[Call]:
    """Join pieces of one response, or of one span, in their order to whatever stands for the whole of it."""
    if not any(call.partial for call in calls):
        return calls
    together: dict[str, list[Call]] = {}
    for call in sorted(calls, key=lambda call: call.partial):
        together.setdefault(call.response if call.partial and call.response else call.origin, []).append(call)
    return sorted((_joined(*parts) for parts in together.values()), key=_began)


def _joined(base: Call, *pieces: Call) -> Call:
    """Join a call with its pieces. What a span says itself, its log records say once more."""
    streamed: list[Message] = []
    is_asked, is_answered = (bool(messages) and not base.partial for messages in (base.inputs, base.outputs))
    for piece in pieces:
        is_streamed = piece.partial and piece.response is not None
        is_log = piece.partial and not is_streamed
        if not (is_streamed and base.inputs) and not (is_log and is_asked):  # pieces of a stream repeat its request
            base.inputs += piece.inputs
        if is_streamed and base.outputs:
            streamed += piece.outputs[:1]
        elif not (is_log and is_answered):
            base.outputs += piece.outputs
        base.kind = piece.kind if base.kind == "context" else base.kind
        base.end = piece.end if base.end is None else max(base.end, piece.end or base.end)
    if streamed:
        whole = base.outputs[0]
        whole.called = whole.called + [called for piece in streamed for called in piece.called]
        texts = [whole.text, *(piece.text for piece in streamed)]
        whole.text = "" if whole.called else "".join(texts)  # beside a call of a tool, it is a remark on the way
    return base


def _complete(wholes: Sequence[Call], models: Sequence[Call]) -> None:
    """Give each whole what its last model call knows: the model, the version, and the citations of the same text."""
    starts = [_began(call)[0] for call in models]
    shown: dict[int, dict[tuple[str, bytes], Message]] = {}  # many wholes may have the same last call
    for whole in wholes:
        before = len(models) if whole.end is None else bisect_right(starts, whole.end)
        if not before:
            continue
        last = models[before - 1]
        if before not in shown:
            shown[before] = {digested(message): message for message in last.outputs}
        take_known(whole, last, shown[before])
        _take_history(whole, last)


def _take_history(whole: Call, last: Call) -> None:
    """Give a whole that holds its question alone the history that its last model call sent before it."""
    asked, answered, got = spoken_in(whole.inputs), spoken_in(whole.outputs), spoken_in(last.outputs)
    is_alone = [message.role for message in asked] == ["user"]
    if not is_alone or [each.text.strip() for each in answered[:1]] != [each.text.strip() for each in got[:1]]:
        return
    at = max((at for at, message in enumerate(last.inputs) if message.role == "user"), default=0)
    before = spoken_in(last.inputs[:at])
    is_begun = len(before) > 1 or (len(before) == 1 and before[0].role == "assistant")  # with a greeting
    if is_begun and asked[0].text.strip() in last.inputs[at].text:
        whole.inputs = [*last.inputs[:at], *whole.inputs]


def _seen_by_user(models: Sequence[Call], assumed: Assumed, answering: Answering | None) -> list[Call]:
    """Leave out what was no answer: one counts that is the last, or that the user answered in a later call."""
    answers = without_remarks([call for call in models if spoken_in(call.outputs)], assumed, answering)
    if not answers:
        return [call for call in models if spoken_in(call.inputs)][-1:]
    if _failed_in_the_end(models[-1], answers):
        answers.append(models[-1])
    answered: set[tuple[str, bytes]] = set()
    seen: list[Call] = []
    for at, call in reversed(list(enumerate(answers))):
        is_answered = not seen or digested(spoken_in(call.outputs)[0]) in answered  # a call that failed is the last
        if is_answered or (_is_pause(call, answers[at + 1]) and _is_turn_before(call, seen[-1])):
            seen.append(call)
        spoken = spoken_in(call.inputs)
        answered.update(digested(old) for old, new in pairwise(spoken) if new.role == "user")
    assumed[ON_THE_WAY] += len(answers) - len(seen)
    assumed[MANY_QUESTIONS] += len(answers) > _MANY and _questions(answers) > len(seen) + _MANY
    return seen[::-1]


def _name_typed(models: Sequence[Call], answers: Sequence[Call]) -> None:
    """Name what users typed: what the first step before an answer was asked whose question, or answer, that quotes."""
    begin = 0
    for answer in answers:
        end = next(at for at, call in enumerate(models) if call is answer)
        question = [message.text for message in spoken_in(answer.inputs)[-1:] if message.role == "user"]
        steps = models[begin : min(end, begin + _STEPS)] if question else []
        parts = set(quoted_in(question[0])) if steps else set()
        for step in steps:
            asked, got = spoken_in(step.inputs)[-1:], spoken_in(step.outputs)[:1]
            texts = [message.text.strip() for message in (*asked, *got)]
            is_quoted = any(text in parts or (len(text) >= _NO_CHANCE and text in question[0]) for text in texts)
            if asked and asked[0].role == "user" and is_quoted and texts[0] != question[0].strip():
                answer.typed = texts[0]
                break
        begin = end + 1


def _name_searched(answers: Sequence[Call], calls: Sequence[Call], answering: Answering | None) -> None:
    """Name what users typed: what was searched for, where a prompt that begins as others do has it behind a label."""
    prompts = answering.prompts if answering is not None else None
    queries = [call.typed for call in calls if call.kind == "retrieval" and call.typed] if prompts is not None else []
    for answer in answers if queries else ():
        asked = spoken_in(answer.inputs)[-1:]
        if answer.typed or not asked or asked[0].role != "user" or prompts is None:
            continue
        text = asked[0].text.strip()
        if (template := prompts.template_of(text)) is None or template.is_known:
            continue
        stands = (query.strip() for query in queries if query.strip() in text[len(template.before) - 1 :])
        queried = (
            query for query in stands if re.search(rf"(?:^|[\n:>\"])\s*{re.escape(query)}\s*(?:$|[\n<\"])", text)
        )
        answer.typed = next(queried, None)


def _failed_in_the_end(last: Call, answers: Sequence[Call]) -> bool:
    """Say whether the last call of a trace got nothing, and was no title or guard: it holds none of the answers."""
    asked = spoken_in(last.inputs)[-1:]
    if spoken_in(last.outputs) or not asked or asked[0].role != "user":
        return False
    return not any(spoken_in(call.outputs)[0].text.strip() in asked[0].text for call in answers)


def _is_pause(call: Call, following: Call) -> bool:
    """Say whether a person may have written between two calls."""
    return call.end is not None and following.start is not None and following.start - call.end >= _WRITING


def _is_turn_before(call: Call, later: Call) -> bool:
    """Say whether a trace is a session, whose calls send the last message alone, so that both are a user's."""
    sent = [spoken_in(each.inputs) for each in (call, later)]
    if [len(spoken) for spoken in sent] != [1, 1]:
        return False
    begun, later_begun = (template_of(instructions_of(each)) for each in (call, later))
    is_other = are_others(call, later)
    if is_other and (begun != later_begun or not begun):  # as those with documents in them begin
        return False
    asked, next_asked = (spoken[0].text for spoken in sent)
    return asked != next_asked and ((bool(begun) and not is_other) or _is_typed(call, asked, next_asked))


def _is_typed(call: Call, asked: str, next_asked: str) -> bool:
    """Say whether a question may be a person's: a pipeline's steps begin alike, are long, or quote the step before."""
    got = spoken_in(call.outputs)[0].text.strip()[:_QUOTED]
    is_alike = asked[:_ALIKE] == next_asked[:_ALIKE] and len(next_asked) >= _ALIKE
    return not is_alike and max(len(asked), len(next_asked)) <= _TYPED and got not in next_asked


def _questions(calls: Iterable[Call]) -> int:
    """Count the different questions that calls end with."""
    asked = ([message for message in spoken_in(call.inputs) if message.role == "user"][-1:] for call in calls)
    return len({digested(question) for questions in asked for question in questions})


def _why_silent(calls: Sequence[Call]) -> str:
    """Say what a trace without a message holds instead, as it is counted."""
    kinds = {call.kind for call in calls}
    if all(call.returned and any(message.called for message in call.outputs) for call in calls):
        return ON_THE_WAY
    messages = [message for call in calls for message in (*call.inputs, *call.outputs)]
    if kinds & {"answer", "whole"} and not any(message.text.strip() or message.called for message in messages):
        return NO_CONTENT
    return ONLY_RETRIEVALS if kinds & {"retrieval", "reranking"} else NOTHING_SAID


def _retrieved(retrievals: Sequence[Call]) -> Iterator[dict[str, Any]]:
    """Give what retrievals got; of one that others are steps of, what it made of what these got, as it puts out."""
    known = {call.origin for call in retrievals}
    steps: dict[str, list[Call]] = {}
    for call in retrievals:
        if call.parent in known and call.parent != call.origin:
            steps.setdefault(call.parent or "", []).append(call)
    outermost = [call for call in retrievals if call.parent not in known or call.parent == call.origin]
    for call in outermost or retrievals:
        yield from _put_out(call, steps if outermost else {}, _DEEP)


def _put_out(call: Call, steps: Mapping[str, Sequence[Call]], deep: int) -> list[dict[str, Any]]:
    inner = steps.get(call.origin, ()) if deep else ()
    before = once(document for each in inner for document in _put_out(each, steps, deep - 1))
    return reranked(before, call.documents) if call.documents else before


def _give_documents(answers: Sequence[Call], retrievals: Sequence[Call]) -> None:
    """Give each answer what was retrieved for it: since the answer before, in order, reranked where that was done."""
    waiting = list(retrievals)
    for number, answer in enumerate(answers):
        end = answer.end if answer.end is not None else _began(answer)[0]
        is_last = number == len(answers) - 1
        cut = len(waiting) if is_last else bisect_right(waiting, end, key=lambda call: _began(call)[0])
        mine, waiting = waiting[:cut], waiting[cut:]
        documents = once(_retrieved([call for call in mine if call.kind == "retrieval"]))
        for call in mine:
            if call.kind == "reranking" and call.documents:
                documents = reranked(documents, call.documents)
        answer.documents = documents or answer.documents
