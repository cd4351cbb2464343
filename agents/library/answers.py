"""Scoring one answer: what a response alone scores, without a conversation around it and without a replay."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, overload

import orjson

from turnsignal.agents.python_checks.host import hosted
from turnsignal.given import PathLike, as_line, choose_suite
from turnsignal.stream.citations.earlier_documents import EarlierDocuments
from turnsignal.stream.conversations.exchanges import Response
from turnsignal.stream.conversations.pairing import USER
from turnsignal.stream.errors import Reason, Refused
from turnsignal.stream.formats.turnsignal import mend_line
from turnsignal.stream.pipeline.scoring import ResponseScorer
from turnsignal.stream.records.turns import Truth, Turn, decode_turn
from turnsignal.stream.suite import Suite

_NOT_GIVEN = "not given"

#: What no scorer of a response reads, so that an answer can be scored without it.
_UNREAD = {
    "conversation_id": _NOT_GIVEN,
    "turn_id": _NOT_GIVEN,
    "role": "assistant",
    "timestamp": "1970-01-01T00:00:00Z",
}

_Record = Mapping[str, Any] | Turn


@overload
def score(
    answer: _Record,
    *,
    suite: Suite | PathLike | None = None,
    redaction: PathLike | None = None,
    strict: bool = False,
) -> dict[str, Any]: ...


@overload
def score(
    answer: Iterable[_Record],
    *,
    suite: Suite | PathLike | None = None,
    redaction: PathLike | None = None,
    strict: bool = False,
) -> list[dict[str, Any]]: ...


def score(
    answer: _Record | Iterable[_Record],
    *,
    suite: Suite | PathLike | None = None,
    redaction: PathLike | None = None,
    strict: bool = False,
) -> dict[str, Any] | list[dict[str, Any]]:
    """Score an answer by what it says and cites: ranking measures, citations, and the checks that bind it.

    answer: a turn of the assistant, as a dict or a Turn, of which only `text` is needed; or several turns, of which
    those of users, systems and tools are passed over, but for what is known of a question (`truth`), by which its
    answer is scored, and what earlier answers of its conversation retrieved may be cited. suite: a file or Suite, None
    for the built-in one; redaction: a file that says what to take out of texts first; strict: refuse the small
    deviations that a replay reads, too.

    Returns plain data, for several turns a list of it: `values`, scorer → 0 to 1, or None where it is unscored;
    `scores`, as in a score row, with labels, explanations and why something is unscored; `citations`, the documents
    that are cited, their ranks and what is wrong with markers; and whose answer it is. What needs a follow-up is not
    in it: replay the conversation for that. Raises Refused when a turn cannot be read, naming the field.

    >>> import turnsignal
    >>> documents = [{"doc_id": "doc_1"}, {"doc_id": "doc_2"}]
    >>> answer = turnsignal.score({"text": "Open Settings [doc_2]. Then wait [doc_9].", "retrieved": documents})
    >>> answer["values"]["nDCG@5"], answer["citations"]["documents"]
    (0.6309297535714575, ['doc_2'])
    >>> [fault["text"] for fault in answer["citations"]["faults"]]
    ['[doc_9]']
    """
    with hosted(choose_suite(suite, redaction)) as ready:
        scorer = AnswerScorer(ready)
        if isinstance(answer, Mapping | Turn):
            return scorer.score(_decode(answer, "the answer", strict))
        turns = (_decode(turn, f"turn {number}", strict) for number, turn in enumerate(answer, 1))
        scored = _in_conversation(turns, ready.limits.forgotten_after)
        return [scorer.score(turn, earlier) for turn, earlier in scored if turn.role == "assistant"]


class AnswerScorer:
    """Score answers by a suite, which has a process for its Python checks if it has any."""

    def __init__(self, suite: Suite) -> None:
        self._suite = suite
        self._scorer = ResponseScorer(suite)
        self._read = suite.citations.reader()

    def score(self, turn: Turn, earlier: bytes = b"") -> dict[str, Any]:
        """Return what `turnsignal.score` promises of an answer; raises Refused for any other turn.

        earlier: what earlier answers of its conversation retrieved, as `earlier_documents.remember` returns it.
        """
        if turn.role != "assistant":
            detail = f"expected a turn of the role assistant, as only answers are scored, got {turn.role!r}"
            raise Refused(Reason.UNKNOWN_ROLE, detail)
        if self._suite.redaction is not None:
            self._suite.redaction.apply(turn, {})
        scores = orjson.loads(orjson.dumps(self._scorer.score(turn, earlier).scores))
        citations = Response(turn.text, turn.retrieved, self._read, metadata=turn.metadata, earlier=earlier).citations
        return {
            "conversation_id": None if turn.conversation_id == _NOT_GIVEN else turn.conversation_id,
            "turn_id": None if turn.turn_id == _NOT_GIVEN else turn.turn_id,
            "assistant": turn.assistant,
            "version": turn.version,
            "suite": self._suite.fingerprint,
            "values": {score["scorer"]: score.get("value") for score in scores},
            "scores": scores,
            "citations": {
                "documents": citations.cited_ids,
                "ranks": citations.cited_ranks,
                "faults": [
                    {"kind": fault.kind, "text": fault.text, "start": fault.start, "end": fault.end}
                    for fault in citations.faults
                ],
            },
        }


def _in_conversation(turns: Iterable[Turn], forgotten_after: float) -> list[tuple[Turn, bytes]]:
    """Return turns with what earlier answers of their conversation retrieved, as a replay has it.

    Answers without labels are given those of the question before them in time. Turns without ids stand by themselves.
    forgotten_after: seconds of silence after which a conversation is forgotten.
    """
    asked: dict[str, Truth | None] = {}
    before: dict[int, bytes] = {}
    given = list(turns)
    earlier = EarlierDocuments(forgotten_after, len(given))
    for place, turn in sorted(enumerate(given), key=lambda one: one[1].time):
        before[place] = earlier.before(turn)
        if turn.role == USER:
            asked[turn.conversation_id] = turn.truth
        elif turn.truth is None:
            turn.truth = asked.get(turn.conversation_id)
        if turn.conversation_id != _NOT_GIVEN:
            earlier.take(turn)
    return [(turn, before[place]) for place, turn in enumerate(given)]


def _decode(record: object, name: str, strict: bool) -> Turn:
    """Read a turn as a worker does, with words for the fields that no scorer reads where they are not given."""
    if isinstance(record, Mapping):
        record = {**_UNREAD, **record}
    line = as_line(record, name)
    if not strict:
        line = mend_line(line, _NOT_GIVEN, Counter()) or line
    try:
        return decode_turn(line)
    except Refused as error:
        raise Refused(error.reason, f"{name}: {error.shown}") from None
