"""Held answers: what an answer adds to the figures of its release, read at once, and held until its run is over.

Which turn is the answer is known when the user speaks, or the conversation is over (`stream.reports.answer_runs`). So
one answer of each open conversation is held, and no text of it beyond what the worst exchanges show.
"""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from turnsignal.stream.checks.protocol import Result
from turnsignal.stream.conversations.exchanges import Exchange
from turnsignal.stream.conversations.pairing import ASKED, TOGETHER, USER, KeptTurn, asked, insertion_index, prompted
from turnsignal.stream.conversations.state import Conversation
from turnsignal.stream.follow_ups.closings import asks_whether_it_helped, invites_correction, without_last_question
from turnsignal.stream.follow_ups.contexts import TAIL
from turnsignal.stream.follow_ups.failures import asks_back, hands_over, refuses
from turnsignal.stream.follow_ups.openings import only_opens
from turnsignal.stream.follow_ups.outcomes import Outcomes
from turnsignal.stream.follow_ups.rules import FollowUp
from turnsignal.stream.follow_ups.small_talk import complains, ignores, is_reply, is_small_talk, recalls, suffices
from turnsignal.stream.pipeline.metric_deltas import Release
from turnsignal.stream.pipeline.scoring import Scored
from turnsignal.stream.records.scores import Unscored
from turnsignal.stream.records.turns import Turn
from turnsignal.stream.reports.answer_runs import RunTurn
from turnsignal.stream.reports.asked_again import figures_of_asking
from turnsignal.stream.reports.closing_habits import closing_question
from turnsignal.stream.reports.first_answers import FirstAnswer, first_answer, first_documents
from turnsignal.stream.reports.logged_otherwise import figures_of_log, is_rough
from turnsignal.stream.reports.question_language import match_languages
from turnsignal.stream.reports.scales import DOCUMENTS_GIVEN, SECONDS
from turnsignal.stream.reports.worst import WorstExchange
from turnsignal.stream.statistics.closing_habit import REPLIES
from turnsignal.stream.statistics.directions import (
    ANSWER_SECONDS,
    ASKS_AGAIN,
    ASKS_BACK,
    BEFORE_ASKED,
    BEGUN_BEHIND,
    BEGUN_COMPLAINING,
    CHECKS_APPLIED,
    CITATIONS,
    CITES_ALL,
    CITES_EARLIER,
    CITES_LAST,
    CITES_TOP,
    COMPLAINED,
    COMPLAINED_OF,
    COMPLAINED_UNASKED,
    DOCUMENTS,
    ELSEWHERE,
    EXEMPTED,
    FAILED,
    FOLLOWED,
    HANDED_ON,
    HIDDEN,
    IN_PARTS,
    INVITES,
    LEFTOVERS,
    ONLY_ASKS,
    PERSON,
    RECALLED,
    REFORMATTED,
    REFUSED,
    REPLIED,
    ROUNDED,
    SAME_LANGUAGE,
    THANKED,
    WASTED,
    WITH_DOCUMENTS,
)
from turnsignal.stream.suite import Suite
from turnsignal.stream.text.escapes import unescaped
from turnsignal.stream.text.leftovers import has_leftovers

#: figures of an answer to a question that depend on what comes before or behind it
_OF_MESSAGES = (FOLLOWED, THANKED, COMPLAINED, COMPLAINED_UNASKED, REPLIED, REFORMATTED, PERSON, HANDED_ON)

_NO = re.compile(r"\W*(?:no|nope|nah|not|nein|nö|nee|ne|nicht|non|nan|pas|não|nao)\b", re.IGNORECASE)  # begins a reply
#: what an end that asks for something has, or a part of it; to look for these first takes a tenth of the time
_MAY_ASK = (
    *("?", "please", "tell me w", "tell me y", "tell us w", "tell us y", "give me", "give us", "send me", "send us"),
    *("bitte", "nenn", "geben sie", "gib ", "teilen", "schick", "sagen sie", "ihre ", "favor", "díga", "diga", "indi"),
    *(
        "envíe",
        "envie",
        "donne",
        "veuillez",
        "merci de",
        "dites",
        "votre",
        "mi dica",
        "dimmi",
        "fornis",
        "inform",
        "passe",
    ),
    *("geef", "stuur", "vertel", "graag", "su número", "su nombre", "tu número"),
)


class Reply(NamedTuple):
    """What a follow-up is to a question that its answer asks beside what it says.

    replied: it may be a reply to that; complains_elsewhere: it would ask to clarify, had the answer asked nothing.
    """

    replied: bool = False
    complains_elsewhere: bool = False


class HeldAnswer(NamedTuple):
    """One answer that waits.

    turn_id, time, release: of the answer; run: what decides whether it is the answer; prompted: a user spoke before it;
    scorers, values: what was scored of it; beside: the figures that no scorer gives; first: what is kept of it where it
    may be the first, without its documents; documents: what is kept of them, where they may be the first; worst: as an
    exchange that went badly, None where it did not; broken: checks that it fails; ranks, cited: of its documents, and
    of those that it cites.
    """

    turn_id: str
    time: float
    release: Release
    run: RunTurn
    prompted: bool
    scorers: tuple[str, ...]
    values: tuple[float, ...]
    beside: Mapping[str, float]
    first: FirstAnswer | None
    documents: tuple[str, ...]
    worst: WorstExchange | None
    broken: tuple[str, ...]
    ranks: tuple[int, ...]
    cited: tuple[int, ...]

    def in_place_of(self, earlier: "HeldAnswer") -> "HeldAnswer":
        """Return this answer in the place of an earlier one of its run.

        Where no documents tell which of both is the answer, the longer one is the first answer: neither "Searching …"
        nor a line that closes the conversation is.
        """
        run, beside = self.run.in_place_of(self.beside, earlier.run, earlier.beside)
        first = self.first
        if first is not None and earlier.first is not None and self.run.is_another_part(earlier.run):
            first = first.or_longer(earlier.first)
        return self._replace(run=run, first=first, beside=beside)

    def behind_hand_off(self) -> "HeldAnswer":
        """Return this answer as the first of its run, where the user was put through to somebody in an earlier one."""
        run, beside = self.run.behind_hand_off(self.beside)
        return self._replace(run=run, beside=beside)

    def asking(self, later: "HeldAnswer") -> "HeldAnswer":
        """Return this answer with what a later turn of its run asks last: who replies, replies to that."""
        beside = self._without(*REPLIES).beside
        return self._replace(
            beside={**beside, **{name: later.beside[name] for name in REPLIES if name in later.beside}}
        )

    def _without(self, *figures: str) -> "HeldAnswer":
        return self._replace(beside={name: value for name, value in self.beside.items() if name not in figures})

    def greeting(self) -> "HeldAnswer":
        """Return this answer as one that answers nobody."""
        if self.run.failed:
            return self
        return self._without(FAILED, REFUSED, EXEMPTED, HANDED_ON, WITH_DOCUMENTS, ASKS_BACK, ASKS_AGAIN, ONLY_ASKS)

    def in_parts(self) -> "HeldAnswer":
        """Return this answer as one that came in parts."""
        return self._replace(beside={**self.beside, IN_PARTS: 1.0})

    def followed(
        self,
        label: FollowUp | None = None,
        *,
        complained: bool = False,
        reply: Reply = Reply(),  # noqa: B008 - of two flags
        wants_person: bool = False,
        hidden: bool = False,
    ) -> "HeldAnswer":
        """Return this answer as one behind which its user wrote again, where it answers what was asked.

        label: what that was read as; thanks are no more than a reply where the answer asked for one; complained: the
        user asked to clarify; reply: what it is to a question beside what the answer says; wants_person: the user asked
        for a person; hidden: nothing of it can be read.
        """
        if FOLLOWED not in self.beside:
            return self
        thanked = label is FollowUp.THANKS and self.beside.keys().isdisjoint(REPLIES)
        reformatted = label is FollowUp.REFORMAT
        becomes = {FOLLOWED: True, THANKED: thanked, COMPLAINED: complained, REFORMATTED: reformatted}
        becomes[COMPLAINED_UNASKED] = complained or reply.complains_elsewhere
        becomes[REPLIED] = reply.replied and not thanked
        becomes[PERSON] = wants_person
        if COMPLAINED_OF in self.beside:
            becomes[COMPLAINED_OF] = complained
        if hidden:
            becomes[HIDDEN] = True
        return self._replace(beside={**self.beside, **{name: float(value) for name, value in becomes.items()}})

    def opening(self, before: FirstAnswer | None) -> FirstAnswer | None:
        """Return what is kept of the first answer with this one; before: without it, None where it is the first."""
        first = self.first if before is None else before
        return first if first is None or first.documents else first._replace(documents=self.documents)


class AnswerReader:
    """Read what answers add to figures under one suite."""

    def __init__(self, suite: Suite) -> None:
        self._idle = suite.limits.idle
        self._suite = suite  # whose rules are compiled where answers are read, not where parts are put together
        self._kept_whole = suite.limits.kept_characters  #: characters of an answer that its follow-up is read with
        self._checks = frozenset(check.name for _, check in suite.parsed_checks)

    def is_failing(self, state: Conversation, text: str) -> bool:
        """Say whether an answer is empty, an error or a refusal, or greets who asked something.

        To a command "OK" is an answer, as to thanks.
        """
        rules = self._suite.follow_up_rules
        is_failing = rules.failures.find_ahead if len(text) <= self._kept_whole else rules.failures.is_failing
        return (is_failing(text) and not suffices(text, state.kept, rules)) or ignores(text, state.kept, rules)

    def read_reply(self, around: Exchange) -> Reply:
        """Tell a follow-up that asks to clarify from one that replies to what its answer asks beside what it says.

        Behind "do you have the app?", "no, the other one" does reply, and does not complain.
        """
        rules, end = self._suite.follow_up_rules, around.response[-TAIL:].lower()
        if not any(map(end.__contains__, _MAY_ASK)) or not rules.replies(around):
            return Reply()
        response = without_last_question(around.response, TAIL)
        if response == around.response or asks_back(around.response):
            return Reply()
        if _NO.match(around.follow_up):
            return Reply(replied=True)
        unasked = Exchange(around.prompt, response, around.follow_up, around.before)
        complains = rules.read(unasked).clarification
        return Reply(replied=not complains, complains_elsewhere=complains)

    def is_waiting(self, state: Conversation) -> bool:
        """Say whether a conversation that is over ended with a message that nobody answered."""
        return Outcomes(self._suite.follow_up_rules).is_waiting(state)

    def read(
        self,
        state: Conversation,
        turn: Turn,
        scored: Scored,
        before: FirstAnswer | None,
        worst: WorstExchange | None,
        *,
        failed: bool,
        elsewhere: bool,
    ) -> HeldAnswer:
        """Read an answer, before its conversation keeps it.

        before: what is kept of the first, None where it may be; elsewhere: a turn of another role has documents.
        """
        names = turn.retrieved if before is None or not before.documents else ()
        broken: tuple[str, ...] = ()
        if scored.compliance is not None and scored.compliance < 1.0:
            broken = tuple([check for check, result in scored.findings if result is Result.FAIL])
        index = insertion_index(state.kept, turn.time)
        is_prompted = state.prompted_before or prompted(state.kept, index)
        back = not scored.cited and asks_back(turn.text) and not (failed and only_opens(turn.text))
        beside = self._derive(state, turn, scored, failed=failed, back=back)
        beside[BEFORE_ASKED] = not is_prompted and bool(turn.retrieved)
        text = turn.text[: self._kept_whole]
        beside |= figures_of_log(turn, state.kept, index, text, self._idle, cites=bool(scored.cited))
        beside |= figures_of_asking(state.kept, index, text, back=back, wants_answer=ASKS_BACK in beside)
        if WITH_DOCUMENTS in beside:
            beside[ELSEWHERE] = elsewhere and not turn.retrieved
        messages = _first_messages(state)
        if question := unescaped(TOGETHER.join(messages)):
            beside[BEGUN_BEHIND] = is_reply(question, self._suite.follow_up_rules)
            beside[RECALLED] = recalls(question)
            # Only the first: what comes behind it may complain that nobody answers.
            beside[BEGUN_COMPLAINING] = not beside[RECALLED] and complains(messages[0], self._suite.follow_up_rules)
        return HeldAnswer(
            turn.turn_id,
            turn.time,
            (turn.assistant, turn.version),
            RunTurn(failed, bool(turn.retrieved), (failed or bool(beside.get(EXEMPTED))) and hands_over(turn.text)),
            is_prompted,
            scored.scorers,
            scored.values,
            beside,
            first_answer(turn.platform, turn.text, question) if before is None else None,
            first_documents(document.doc_id for document in names),
            worst,
            broken,
            scored.ranks,
            scored.cited,
        )

    def _derive(self, state: Conversation, turn: Turn, scored: Scored, *, failed: bool, back: bool) -> dict[str, float]:
        """Return the figures of an answer that no scorer gives; back: it only asks something back."""
        figures: dict[str, float] = {IN_PARTS: 0.0, LEFTOVERS: has_leftovers(turn.text)}
        answer, end = "" if turn.retrieved else turn.text, turn.text[-TAIL:]
        wants_answer = not is_small_talk(state.kept, self._suite.follow_up_rules, answer)
        if failed or wants_answer:
            figures |= dict.fromkeys(_OF_MESSAGES, 0.0)
            figures[FAILED] = failed
            figures[REFUSED] = failed and refuses(turn.text)
            if self._suite.exempt:
                figures[EXEMPTED] = self._suite.follow_up_rules.failures.exempts(turn.text)
            figures[ASKS_BACK] = back
            figures[INVITES] = asks_whether_it_helped(end) or invites_correction(end)
            if not back:
                figures[WITH_DOCUMENTS] = bool(turn.retrieved)
                if not failed:
                    figures[COMPLAINED_OF] = 0.0
        if scored.findings and FAILED in figures:  # few checks bind what answers a "thanks"
            figures[CHECKS_APPLIED] = sum(map(self._checks.__contains__, scored.scorers)) / len(scored.findings)
        if turn.retrieved:
            figures[DOCUMENTS] = _share_of_documents(len(turn.retrieved))
            figures[CITES_EARLIER] = any(reason is Unscored.CITED_EARLIER for _, reason in scored.unscored)
            if scored.cited:
                figures[CITATIONS] = _share_of_documents(len(scored.cited))
            if len(turn.retrieved) > 1:
                figures[CITES_ALL] = WASTED in scored.scorers and not scored.values[scored.scorers.index(WASTED)]
                if scored.cited:
                    figures[CITES_TOP] = scored.cited == tuple(range(1, len(scored.cited) + 1))
            if scored.cited and len(turn.retrieved) > 2:
                figures[CITES_LAST] = scored.cited[0] == 1 + len(turn.retrieved) - len(scored.cited)
        fits = match_languages(state.kept, turn.time, turn.text).value_of_answer
        if fits is not None:
            figures[SAME_LANGUAGE] = fits
        if (question := closing_question(turn.text)) is not None:
            figures[question] = 0.0
        prompt = next((before for before in reversed(state.kept) if before.role in ASKED), None)
        # Behind a "thanks" that nobody answers, the line that closes an idle chat is no slow answer.
        if wants_answer and not back and prompt is not None and prompt.role == USER and turn.time >= prompt.time:
            figures[ANSWER_SECONDS] = SECONDS.fraction(turn.time - prompt.time)
            figures[ROUNDED] = is_rough(turn.time, prompt.time)
        return figures


_share_of_documents = lru_cache(1_000)(DOCUMENTS_GIVEN.fraction)  # of a small number, nearly always


def in_order(kept: Sequence[KeptTurn], held: HeldAnswer, answer: HeldAnswer) -> tuple[HeldAnswer, HeldAnswer, bool]:
    """Return two answers, the earlier one first, and whether a user speaks between them.

    kept: the turns that are remembered, in their order, without `answer`. Times alone do not tell: a question and what
    is logged at once behind it may be of the same second.
    """
    end = insertion_index(kept, answer.time)
    at = next((index for index, turn in enumerate(kept) if turn.turn_id == held.turn_id), None)
    if at is None:  # no longer kept: it stands before all that is
        at, is_later = -1, answer.time >= held.time
    else:
        is_later = at < end
    earlier, later = (held, answer) if is_later else (answer, held)
    between = kept[at + 1 : end] if is_later else kept[end:at]
    asked = [turn.time for turn in between if turn.role in ASKED]
    if asked and earlier.run.failed and not earlier.prompted and asked[-1] == earlier.time:
        # Nothing is said to nobody: of one time, a log may have the call before the question that it is made for.
        return earlier._replace(prompted=True), later, False
    return earlier, later, bool(asked)


def _first_messages(state: Conversation) -> list[str]:
    """Return what the user wrote before any answer to it; none where this is no answer to that."""
    begin, end = asked(state.kept, len(state.kept))
    if begin == end or state.forgot_turns or any(turn.role in ASKED for turn in state.kept[:begin]):
        return []
    return [turn.text for turn in state.kept[begin:end]]
