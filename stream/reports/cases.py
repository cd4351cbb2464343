"""Cases: conversations of two systems that were asked the same questions, in pairs; a case counts once.

A case is known by the id that `truth` or `metadata` gives it, else by the question that opens it, in small letters.
What was asked several times is paired in the order of time, and stays one case: its repetitions are no evidence of
their own. Within a pair the conversations go their own ways, so they are compared by their means.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from hashlib import blake2b
from typing import Any, NamedTuple

import msgspec

from turnsignal.stream.errors import Refused
from turnsignal.stream.records.scores import CLARIFICATION_FREE, Stage
from turnsignal.stream.records.turns import MAX_ID, decode_turn
from turnsignal.stream.reports.answers_seen import AnswersSeen, SeenAnswers
from turnsignal.stream.reports.first_answers import FirstAnswer
from turnsignal.stream.reports.missing_cases import NONE_MISSING, MissingCases
from turnsignal.stream.reports.paired import PairedScores
from turnsignal.stream.reports.scales import DOCUMENTS_GIVEN
from turnsignal.stream.statistics.directions import CHECKS_APPLIED, CITATIONS, CITES_ALL, CITES_TOP, NO_ANSWER, WASTED

_Row = Mapping[str, Any]
_SEVERAL = "several"  # label of a conversation whose answers have different ones
_MANY = 10  #: pairs in which a user writes more than one message, from which on it is known how
_FEWEST = 2  #: messages at which a limit may be; who asks one question may just leave
_LONGER = 0.15  #: share of conversations that are longer than a limit on the other side, and that end at it on this
_SCRIPTED = 0.9  #: of these, the share in which they write the same to both
_PERFECT = 0.999999  #: of a ranking, from which on what is cited stands first


class _Known(msgspec.Struct):
    case_id: Any = None


class _CaseTurn(msgspec.Struct):
    """What is read of a turn to know its case."""

    conversation_id: str | int
    role: str
    text: str = ""
    truth: _Known | None = None
    metadata: _Known | None = None


_decode = msgspec.json.Decoder(_CaseTurn).decode


class CaseKey(NamedTuple):
    """What a case is known by; name: its id, or the digest of its question."""

    by_id: bool
    name: str


_Keys = tuple[str, CaseKey | None, CaseKey | None]  # a conversation, with its case by id and by question


class SystemCases:
    """The cases of one system: `add` its turns by event time.

    answers: what is seen of its answers; failed: patterns of its suite for answers that are none; exempt: texts that
    its suite exempts.
    """

    def __init__(self, failed: Collection[str] = (), exempt: Collection[str] = ()) -> None:
        self.answers = AnswersSeen(failed, exempt)
        self._ids: dict[str, str] = {}
        self._questions: dict[str, str] = {}
        self._behind: dict[str, bytes] = {}  # a digest of what users wrote behind their first message
        self._messages: Counter[str] = Counter()  # of users

    def add(self, line: bytes) -> None:
        """Take in a turn; an unreadable one has no case."""
        try:
            turn = _decode(line)
        except (msgspec.MsgspecError, UnicodeError, RecursionError):
            return
        conversation = str(turn.conversation_id)
        for known in (turn.truth, turn.metadata):
            if known is not None and (name := _read_id(known.case_id)):
                self._ids.setdefault(conversation, name)
        if turn.role == "user" and (words := turn.text.casefold().split()):
            text = " ".join(words).encode("utf-8", "replace")
            self._messages[conversation] += 1
            if conversation not in self._questions:
                self._questions[conversation] = blake2b(text, digest_size=8).hexdigest()
            else:
                self._behind[conversation] = blake2b(self._behind.get(conversation, b"") + text, digest_size=8).digest()
        with suppress(Refused):  # what a replay sets aside
            self.answers.add(decode_turn(line))

    def behind(self, conversation: str) -> bytes:
        """Return a digest of what a user wrote behind the first message; empty where that was nothing."""
        return self._behind.get(conversation, b"")

    def messages(self, conversation: str) -> int:
        """Return how many messages a user wrote."""
        return self._messages[conversation]

    def keys(self) -> Iterator[_Keys]:
        """Give each conversation with its keys by id and by question, None where it has none."""
        for conversation in dict.fromkeys((*self._questions, *self._ids)):
            name, question = self._ids.get(conversation), self._questions.get(conversation)
            yield (
                conversation,
                None if name is None else CaseKey(True, name),
                None if question is None else CaseKey(False, question),
            )


class CasePairs(NamedTuple):
    """Conversations of both systems side by side.

    pairs: (case, conversation of the first, of the second); by_id, by_question: how many were paired by what; alone:
    conversations of each system without a partner; missing: cases that only one system has; written: pairs in which a
    user wrote more than one message to each system; unheard: why what users write says nothing of either, "" where it
    does; limit: that users of one of both ran into a limit of messages, "" where they did not.
    """

    pairs: list[tuple[CaseKey, str, str]]
    by_id: int
    by_question: int
    alone: tuple[int, int]
    missing: MissingCases = NONE_MISSING
    written: tuple[int, int] = (0, 0)
    unheard: str = ""
    limit: str = ""


def pair_cases(first: SystemCases, second: SystemCases) -> CasePairs:
    """Pair the conversations of two systems: by id where both have it, the others by their opening question."""
    sides = (list(first.keys()), list(second.keys()))
    pairs: list[tuple[CaseKey, str, str]] = []
    paired: tuple[set[str], set[str]] = (set(), set())
    counts = []
    for at in (1, 2):
        waiting: tuple[defaultdict[CaseKey, list[str]], ...] = (defaultdict(list), defaultdict(list))
        for side, conversations in enumerate(sides):
            for keys in conversations:
                if keys[0] not in paired[side] and isinstance(key := keys[at], CaseKey):
                    waiting[side][key].append(keys[0])
        before = len(pairs)
        for key, mine in waiting[0].items():
            for pair in zip(mine, waiting[1].get(key, ()), strict=False):
                pairs.append((key, *pair))
                for side, conversation in enumerate(pair):
                    paired[side].add(conversation)
        counts.append(len(pairs) - before)
    alone = (len(sides[0]) - len(paired[0]), len(sides[1]) - len(paired[1]))
    behind = [(first.behind(mine), second.behind(theirs)) for _, mine, theirs in pairs]
    written = sum(mine != b"" for mine, _ in behind), sum(theirs != b"" for _, theirs in behind)
    lengths = [first.messages(mine) for _, mine, _ in pairs], [second.messages(theirs) for _, _, theirs in pairs]
    missing, unheard = _missing(sides, paired), _unheard(behind, written)
    return CasePairs(pairs, counts[0], counts[1], alone, missing, written, unheard, _limit(*lengths))


def _limit(first: Sequence[int], second: Sequence[int]) -> str:
    """Say that the users of one system write no more than so many messages, and those of the other do, "" otherwise.

    A harness ends a conversation at its limit, whatever the user would have written. Who leaves does so here and there.
    """
    most = max(first, default=0), max(second, default=0)
    least, side = min((most[0], "first"), (most[1], "second"))
    of_side, others = (first, second) if side == "first" else (second, first)
    longer, at_limit = sum(n > least for n in others), of_side.count(least)
    if least < _FEWEST or longer < _LONGER * len(others) or at_limit < max(_MANY, _LONGER * len(of_side)):
        return ""
    return (
        f"no user wrote more than {least:,} messages to the {side} system, and {longer:,} of {len(others):,} did to the"
        " other: is there a limit?"
    )


def _unheard(behind: Sequence[tuple[bytes, bytes]], written: tuple[int, int]) -> str:
    """Say why users say nothing of what they are answered, "" where they do; nobody may have written to either."""
    most, alike = max(written), sum(mine == theirs != b"" for mine, theirs in behind)
    if most < _MANY or alike < _SCRIPTED * most:
        return ""
    return (
        f"users write the same to both systems in {alike:,} of {most:,} cases, whatever they are answered, as in a log"
        " that is answered anew: what they say is not compared"
    )


def _missing(sides: Sequence[Sequence[_Keys]], paired: Sequence[Collection[str]]) -> MissingCases:
    """Count the cases of each side that the other has no record of, however often they were asked."""
    known = [{key for _, *keys in side for key in keys if key is not None} for side in sides]
    by_id = all(any(key.by_id for key in keys) for keys in known)
    alone = [{_case(keys, by_id) for keys in side if keys[0] not in paired[at]} for at, side in enumerate(sides)]
    lacking = [len(alone[side] - known[1 - side]) for side in (0, 1)]
    return MissingCases(len({_case(keys, by_id) for keys in sides[0]}), *lacking)


def _case(keys: _Keys, by_id: bool) -> CaseKey | None:
    """Return what a conversation's case is known by; by_id: whether both systems name ids."""
    _, name, question = keys
    return name if question is None or (by_id and name is not None) else question


class _ScorerSum:
    """What one scorer gives over one conversation."""

    __slots__ = ("explanation", "label", "n", "total")

    def __init__(self) -> None:
        self.n, self.total = 0, 0.0
        self.label: str | None = None
        self.explanation: str | None = None


class ConversationRows:
    """The rows of one system, summed up by conversation: `add` those that nothing replaces.

    since, until: their event times, seconds since 1970; answers: what was seen of its answers, by conversation;
    relevancy: the measure that says whether what is cited stands first; checks: names of the suite's.
    """

    def __init__(
        self,
        conversations: Iterable[str],
        answers: Mapping[str, SeenAnswers] | None = None,
        relevancy: str = "",
        checks: Collection[str] = (),
    ) -> None:
        self.since, self.until = math.inf, -math.inf
        self._of: dict[str, dict[str, _ScorerSum]] = {conversation: {} for conversation in conversations}
        self._answers = answers or {}
        self._relevancy = relevancy
        self._checks = frozenset(checks)

    def add(self, row: _Row) -> None:
        """Take in a score row, unless its conversation has no partner."""
        scorers, seen = self._of.get(row["conversation_id"]), self._answers.get(row["conversation_id"])
        responds = row["stage"] == Stage.RESPONSE
        if scorers is None or (responds and seen is not None and row["turn_id"] in seen.replaced):
            return
        self.since, self.until = min(self.since, row["time"]), max(self.until, row["time"])
        for score in row["scores"]:
            known = scorers.setdefault(score["scorer"], _ScorerSum())
            if (label := score.get("label")) is not None:
                known.label = label if known.label in (None, label) or row["stage"] == Stage.CLOSE else _SEVERAL
            if (value := score.get("value")) is not None:
                known.n += 1
                known.total += value
            known.explanation = known.explanation or score.get("explanation")
        if seen is None:
            return
        if responds:
            self._see(row, seen)
        elif row["stage"] == Stage.FOLLOW_UP and _complains(row):
            seen.complain(row["turn_id"])

    def _see(self, row: _Row, seen: SeenAnswers) -> None:
        """Note what a row says of an answer beside its scores, as a replay does of each release."""
        values = {score["scorer"]: score.get("value") for score in row["scores"]}
        of = len(self._checks & values.keys())
        if of and row["turn_id"] not in seen.unasked:
            seen.add(CHECKS_APPLIED, sum(values[check] is not None for check in self._checks & values.keys()) / of)
        given, wasted = seen.documents.get(row["turn_id"], 0), values.get(WASTED)
        if wasted is not None:
            seen.add(CITATIONS, DOCUMENTS_GIVEN.fraction(round((1 - wasted) * given)))
        if given > 1:
            seen.add(CITES_ALL, wasted == 0)
            if (value := values.get(self._relevancy)) is not None:
                seen.add(CITES_TOP, value >= _PERFECT)

    def first_answer(self, conversation: str) -> FirstAnswer | None:
        """Return what is kept of a conversation's first answer, None without one."""
        seen = self._answers.get(conversation)
        return None if seen is None else seen.first

    def as_row(self, case: CaseKey, conversation: str, pair: str) -> dict[str, Any]:
        """Return a conversation as one row of its case, as `PairedScores` takes it; pair: what to call both of them."""
        scores = [
            {
                "scorer": name,
                "value": known.total / known.n if known.n else None,
                "label": known.label,
                "explanation": known.explanation,
            }
            for name, known in self._of[conversation].items()
        ]
        name = f"case {case.name}" if case.by_id else f"question {case.name}"
        seen = self._answers.get(conversation)
        beside = {} if seen is None else seen.means()
        if self._answers:
            beside[NO_ANSWER] = float(seen is None)
        row = {"conversation_id": name, "turn_id": pair, "stage": Stage.RESPONSE, "scores": scores}
        return row | {"beside": beside}


def compare_cases(
    pairs: CasePairs, first: ConversationRows, second: ConversationRows, *, same_suite: bool = False
) -> PairedScores:
    """Compare the conversations of each case; a case asked several times is one, as far as evidence goes.

    same_suite: both systems were scored by the same, so that what only one of them has values for was lost.
    """
    scores = PairedScores(same_suite=same_suite, missing=pairs.missing, unheard=pairs.unheard, limit=pairs.limit)
    counted: set[CaseKey] = set()
    for case, mine, theirs in pairs.pairs:
        pair = f"{mine} · {theirs}"
        scores.add(first.as_row(case, mine, pair), second.as_row(case, theirs, pair))
        answers = first.first_answer(mine), second.first_answer(theirs)
        for side, answer in zip(scores.first_answers, answers, strict=True):
            if answer is not None and case not in counted:
                side.add(answer)
        searches = [answer.documents for answer in answers if answer is not None and answer.documents]
        if len(searches) == len(answers):
            scores.searches[0] += searches[0] == searches[1]
            scores.searches[1] += 1
        counted.add(case)
    scores.since, scores.until = min(first.since, second.since), max(first.until, second.until)
    return scores


def _complains(row: _Row) -> bool:
    """Say whether the user asked to clarify."""
    return any(score["scorer"] == CLARIFICATION_FREE and score.get("value") == 0 for score in row["scores"])


def _read_id(given: Any) -> str | None:
    """Read a case's id: a text or a whole number, of a bounded length."""
    if isinstance(given, bool) or not isinstance(given, str | int):
        return None
    name = str(given).strip()
    return name if 0 < len(name) <= MAX_ID else None
