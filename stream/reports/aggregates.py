"""Aggregates: what a replay sums up about conversations, instruction checks and ranks, beside its counters.

Everything is taken from scores and summaries that were made anyway. A conversation counts once, when nothing can change
it any more (it is forgotten, or the replay ends), so that one that came back is not counted twice; until then a few
numbers are held, as long as its state is.
"""

from array import array
from collections import Counter
from typing import Any

from turnsignal.stream.checks.protocol import Result
from turnsignal.stream.conversations.exchanges import Exchange
from turnsignal.stream.conversations.means import Means
from turnsignal.stream.conversations.pairing import TOGETHER, USER, PendingResponse, Responder
from turnsignal.stream.conversations.state import Conversation
from turnsignal.stream.diagnosis import Level
from turnsignal.stream.follow_ups.closings import asks_to_leave, asks_whether_it_helped
from turnsignal.stream.follow_ups.contexts import TAIL
from turnsignal.stream.measures.ndcg import NDCG
from turnsignal.stream.pipeline import votes
from turnsignal.stream.pipeline.batch_result import BatchResult
from turnsignal.stream.pipeline.scoring import Scored, relevancy_name, scorer_names
from turnsignal.stream.pipeline.votes import Counts
from turnsignal.stream.records.scores import FOLLOW_UP
from turnsignal.stream.records.turns import Turn
from turnsignal.stream.reports.cite_rates import CiteRates
from turnsignal.stream.reports.first_answers import first_answer, first_documents
from turnsignal.stream.reports.interventions import Interventions
from turnsignal.stream.reports.open_conversations import OPEN_ANSWERS, AnswerValues, Broken, OpenConversation, Places
from turnsignal.stream.reports.quality import Quality
from turnsignal.stream.reports.question_language import match_languages
from turnsignal.stream.reports.release_totals import ConversationScores
from turnsignal.stream.reports.review import Review
from turnsignal.stream.reports.scales import DOCUMENTS_GIVEN, SECONDS
from turnsignal.stream.reports.unversioned import Unversioned
from turnsignal.stream.reports.user_sums import digest
from turnsignal.stream.reports.worst import WorstExchanges
from turnsignal.stream.statistics.claims import (
    ANSWER_SECONDS,
    CHECKS_APPLIED,
    CITES_ALL,
    CITES_TOP,
    DOCUMENTS,
    FAILED,
    SAME_LANGUAGE,
    VOTE,
    WASTED,
)
from turnsignal.stream.statistics.closing_habit import REPLIES
from turnsignal.stream.suite import Suite
from turnsignal.stream.text.spoken_languages import glance

DEFAULT_CUTOFF = 5  #: of the debiased nDCG, where the suite measures relevancy in another way

_BOTH_HIGH = f"{Level.HIGH}/{Level.HIGH}/"  #: how a diagnosis begins when relevancy and follow-up are high
_UNSUMMED = 64  #: answers and follow-ups of a conversation that are held as they came


class Aggregates:
    """Sum up one partition, as its observer, and `add` its batches; then `finish`, and merge in the partitions' order.

    environment: of which answers and conversations; None is production.
    """

    def __init__(self, suite: Suite, environment: str | None = None) -> None:
        self._environment = environment
        part, scorers = suite.aggregates, scorer_names(suite)
        covered = tuple(name for name in (relevancy_name(suite), FOLLOW_UP) if name)
        self.quality = Quality(scorers, 0.0 if part.whole else suite.limits.idle, covered)
        self.review = Review()
        self.cite_rates = CiteRates()
        self.interventions = Interventions()
        self.votes: Counts = Counter()
        self.unversioned = Unversioned()
        self._open: dict[bytes, OpenConversation] = {}
        self._users: dict[bytes, int | None] = {}  # of conversations that are not forgotten
        self._place = {name: 2 * i for i, name in enumerate(self.quality.figures)}
        self._found: dict[tuple[str, ...], tuple[Places, int]] = {}
        self._checks = frozenset(check.name for _, check in suite.parsed_checks)
        self._width = 2 * len(self.quality.figures) + 1
        self._at_checks, self._at_seconds = self._place[CHECKS_APPLIED], self._place[ANSWER_SECONDS]
        self._at_documents, self._at_vote = self._place[DOCUMENTS], self._place[VOTE]
        self._at_failed = self._place[FAILED]
        self._at_cites_all, self._at_cites_top = self._place[CITES_ALL], self._place[CITES_TOP]
        self._at_language = self._place[SAME_LANGUAGE]
        self._at_replies = tuple(self._place[name] for name in REPLIES)
        self._suite = suite  # whose rules are compiled where answers are counted, not where parts are put together
        self._kept_whole = suite.limits.kept_characters  #: characters of an answer that its follow-up is read with
        self.worst = WorstExchanges()
        self._correctable = suite.limits.kept_turns + 1

    def on_user(self, key: bytes, user_id: str) -> None:
        """Note whose conversation it is: of whom its first turn names."""
        if self._users.get(key) is None:
            self._users[key] = digest(user_id)

    def on_response(self, key: bytes, state: Conversation, turn: Turn, scored: Scored) -> None:
        """Take in a scored response."""
        if state.responses == 1:
            if key in self._open and not state.closes:
                self._settle(key)  # another one under the same id, forgotten meanwhile
            self._open.pop(key, None)  # what a close without any answer held
        if turn.environment != self._environment:
            return
        conversation = self._open.get(key)
        if conversation is None:
            conversation = self._open[key] = OpenConversation(
                (turn.assistant, turn.version), turn.time, headless=state.turns == 1
            )
            conversation.first_answer = first_answer(turn.platform, turn.text)
            if turn.version is None and turn.model:
                self.unversioned.count(turn.model)
        if turn.user_id is not None:
            self.on_user(key, turn.user_id)
        if not conversation.language:
            conversation.language = _language(state)
        failed = self._count_answer(conversation, state, turn, scored)
        if failed:
            conversation.failed = (*conversation.failed[1 - OPEN_ANSWERS :], turn.turn_id)
        self.worst.on_response(key, state, turn, scored, failed=failed)
        if scored.compliance is not None and scored.compliance < 1.0:
            checks = [check for check, result in scored.findings if result is Result.FAIL]
            if conversation.broken is None:
                conversation.broken = Broken()
            conversation.broken.on_answer(turn.turn_id, checks)
        if scored.ranks:
            release = self.quality.named.fold((turn.assistant, turn.version))
            self.cite_rates.count(*release, scored.ranks, scored.cited)
            question = _opening(state) if state.responses == 1 else None
            self.interventions.update(key, turn, scored.ranks, scored.cited, question)

    def on_follow_up(self, key: bytes, turn_id: str, answer: PendingResponse, scored: Scored, around: Exchange) -> None:
        """Take in what followed an answer, in place of what was known to follow it."""
        if answer.environment != self._environment:
            return
        conversation = self._open[key]
        release = (answer.assistant, answer.version)
        self._put_off(conversation, (turn_id, release, scored.scorers, scored.values))
        self._count_reply(conversation, turn_id, conversation.parts[release], around, bare=scored.bare)
        broken = conversation.broken.awaited.get(turn_id, ()) if conversation.broken is not None else ()
        self.worst.on_follow_up(
            key, turn_id, answer, scored, around, failed=turn_id in conversation.failed, broken=broken
        )
        if scored.diagnosis.startswith(_BOTH_HIGH):
            conversation.good += 1
            if conversation.broken is not None:
                conversation.broken.on_good(turn_id)

    def on_close(self, key: bytes, state: Conversation, responder: Responder, outcome: str, means: Means) -> None:
        """Keep the final figures until the conversation can no longer reopen."""
        release = (responder.assistant, responder.version)
        conversation = self._open.get(key)
        if conversation is not None and conversation.went is not None and state.closes == 1:
            self._settle(key)  # another one under the same id, forgotten meanwhile
            conversation = None
        if conversation is None:
            if state.responses or state.environment != self._environment:
                return
            conversation = self._open[key] = OpenConversation(
                release, state.first, headless=False
            )  # nobody has answered
        conversation.went = None
        conversation.other_environments = state.environment != self._environment
        if conversation.other_environments:
            return  # how it went says something of several environments: it is left out, and counted as such
        times = (state.first, state.quiet_since, state.clock)
        if conversation.other_releases:
            self._sum_up(conversation)
            parts = {release: array("d", values) for release, values in conversation.parts.items()}
        else:
            parts = {conversation.release: self._with_own_means(conversation, means)} if conversation.parts else {}
        answers = state.responses
        if not conversation.language:
            conversation.language = _language(state)
        conversation.went = ConversationScores(
            release,
            outcome,
            *times,
            conversation.headless,
            answers,
            parts,
            conversation.opened,
            state.turns,
            conversation.first_answer,
            conversation.language,
        )
        conversation.votes = votes.count_votes(state)

    def on_vote(self, key: bytes, state: Conversation) -> None:
        """Take in a vote on what may be closed already: nothing else tells of it then."""
        conversation = self._open.get(key)
        if conversation is not None and conversation.went is not None:
            conversation.votes = votes.count_votes(state)

    def add(self, batch: BatchResult) -> None:
        """Count the conversations that a batch forgot."""
        if None in batch.changes.values():
            for key, value in batch.changes.items():
                if value is None:
                    self._settle(key)

    def finish(self) -> None:
        """Count the conversations that are left: nothing comes after this."""
        for key in list(self._open):
            self._settle(key)

    def merge(self, other: "Aggregates") -> None:
        """Add another partition's, finished."""
        self.quality.merge(other.quality)
        self.review.merge(other.review)
        self.cite_rates.merge(other.cite_rates, self.quality.named.fold)
        self.interventions.merge(other.interventions)
        self.worst.merge(other.worst)
        self.votes.update(other.votes)
        self.unversioned.merge(other.unversioned)

    def summary(self, suite: Suite, baseline: str | None = None) -> dict[str, Any]:
        """Return the sections of `summary.json`: conversations, releases compared, checks, ranks.

        baseline: as in `Quality.comparisons`.
        """
        part = suite.aggregates
        minimum = part.minimum_n
        self.quality.finish(minimum)
        checks = {check.name: self.quality.pooled(check.name) for _, check in suite.parsed_checks}
        relevancy = next((m for m in suite.parsed_measures if m.name == relevancy_name(suite)), None)
        cutoff = relevancy.cutoff if isinstance(relevancy, NDCG) else None
        return {
            "relevancy": relevancy_name(suite),
            "quality": self.quality.rows(minimum),
            "silences": self.quality.silences(),
            "comparisons": self.quality.comparisons(minimum, part.primary, part.least_change, baseline),
            "review": self.review.rows(checks, minimum),
            "cite_rates": self.cite_rates.rows(minimum),
            "votes": votes.rows(self.votes),
            "unversioned_models": self.unversioned.rows(),
            "position_bias": self.interventions.rows(minimum, cutoff or DEFAULT_CUTOFF),
        }

    def attach(self, suite: Suite) -> None:
        """Give back the suite, which is not pickled; call before more is taken in."""
        self._suite = suite

    def __getstate__(self) -> dict[str, Any]:
        """Leave the suite behind: only what was counted goes to another process."""
        return {name: value for name, value in self.__dict__.items() if name != "_suite"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take in checkpoints, too, that were written when models without a version were not counted."""
        self.__dict__.update({"unversioned": Unversioned()} | state)

    def _count_answer(self, conversation: OpenConversation, state: Conversation, turn: Turn, scored: Scored) -> bool:
        """Add an answer to its conversation's values; return whether it is empty, an error or a refusal."""
        release = (turn.assistant, turn.version)
        values = conversation.parts.get(release)
        if values is None:
            values = conversation.parts[release] = [0.0] * self._width
            conversation.other_releases = conversation.other_releases or release != conversation.release
        values[-1] += 1
        self._put_off(conversation, ("", release, scored.scorers, scored.values))
        values[self._at_failed] += 1
        whole = len(turn.text) <= self._kept_whole
        failures = self._suite.follow_up_rules.failures
        failed = failures.find_ahead(turn.text) if whole else failures.is_failing(turn.text)
        values[self._at_failed + 1] += failed
        if scored.findings:
            place = self._at_checks
            values[place] += 1
            values[place + 1] += self._find(scored.scorers)[1] / len(scored.findings)
        if turn.retrieved:
            place = self._at_documents
            values[place] += 1
            values[place + 1] += DOCUMENTS_GIVEN.fraction(len(turn.retrieved))
            if len(turn.retrieved) > 1:
                place = self._at_cites_all
                values[place] += 1
                values[place + 1] += WASTED in scored.scorers and not scored.values[scored.scorers.index(WASTED)]
                if scored.cited:
                    values[self._at_cites_top] += 1
                    values[self._at_cites_top + 1] += scored.cited == tuple(range(1, len(scored.cited) + 1))
            if (first := conversation.first_answer) is not None and not first.documents:
                names = first_documents(document.doc_id for document in turn.retrieved)
                conversation.first_answer = first._replace(documents=names)
        fits = match_languages(state.kept, turn.time, turn.text).value_of_answer
        if fits is not None:
            values[self._at_language] += 1
            values[self._at_language + 1] += fits
        for place in self._asked(turn.text):
            values[place] += 1
        before = state.kept[-1] if state.kept else None
        if before is not None and before.role == USER and turn.time >= before.time:
            place = self._at_seconds
            values[place] += 1
            values[place + 1] += SECONDS.fraction(turn.time - before.time)
        return failed

    def _count_reply(
        self, conversation: OpenConversation, turn_id: str, values: list[float], around: Exchange, *, bare: bool
    ) -> None:
        """Count a bare reply to what an answer asked last, in place of what was known to follow it."""
        change = bare - (turn_id in conversation.replied)
        if change:
            for place in self._asked(around.response):
                values[place + 1] += change
            others = tuple(name for name in conversation.replied if name != turn_id)
            conversation.replied = (*others[1 - OPEN_ANSWERS :], turn_id) if bare else others

    def _asked(self, answer: str) -> tuple[int, ...]:
        """Return where the replies to what an answer asks last are counted; empty where it asks nothing of the kind."""
        helped, leaving = self._at_replies
        end = answer[-TAIL:]
        return (helped,) if asks_whether_it_helped(end) else (leaving,) if asks_to_leave(end) else ()

    def _put_off(self, conversation: OpenConversation, values: AnswerValues) -> None:
        """Put off the sums: where all answers are of one release, its conversation's own means say the same."""
        conversation.unsummed.append(values)
        if len(conversation.unsummed) > _UNSUMMED:
            self._sum_up(conversation)

    def _sum_up(self, conversation: OpenConversation) -> None:
        """Add what was put off to the values of its release; a follow-up in place of one that it corrects."""
        known = conversation.follow_ups
        for turn_id, release, names, scored in conversation.unsummed:
            if turn_id in known:
                values, places, before = known.pop(turn_id)
                for place, value in zip(places, before, strict=True):
                    values[place] -= 1
                    values[place + 1] = values[place + 1] - value if values[place] else 0.0
            if not scored:
                continue
            values, places = conversation.parts[release], self._find(names)[0]
            for place, value in zip(places, scored, strict=True):
                values[place] += 1
                values[place + 1] += value
            if turn_id:
                known[turn_id] = (values, places, scored)
                if len(known) > self._correctable:
                    del known[next(iter(known))]
        conversation.unsummed.clear()

    def _with_own_means(self, conversation: OpenConversation, means: Means) -> "array[float]":
        """Return the values of a conversation with one release: its own means, and what is derived beside them."""
        values = array("d", means)
        values.extend(conversation.parts[conversation.release][len(means) :])
        return values

    def _find(self, names: tuple[str, ...]) -> tuple[Places, int]:
        """Return the places of some scorers, and how many of them are checks."""
        known = self._found.get(names)
        if known is None:
            checks = sum(name in self._checks for name in names)
            known = self._found[names] = tuple(self._place[name] for name in names), checks
        return known

    def _settle(self, key: bytes) -> None:
        conversation, user = self._open.pop(key, None), self._users.pop(key, None)
        if conversation is None or conversation.went is None:
            if conversation is not None and conversation.other_environments and conversation.parts:
                self.quality.leave_out(conversation.release, conversation.opened, "other_environment")
            return
        went, broken = conversation.went, conversation.broken
        if conversation.votes is not None:
            self.votes.update(conversation.votes.counts)
            for release, shares in conversation.votes.shares.items():
                if release in went.parts:
                    went.parts[release][self._at_vote : self._at_vote + 2] = array("d", shares)
        self.quality.add(went if user is None else went._replace(user=user))
        resolved = went.outcome == "resolved"
        good = went.answers if resolved else min(conversation.good, went.answers)
        fails = broken.fails.items() if broken is not None else ()
        self.review.add(went.answers, good, [(check, n, n if resolved else high) for check, (n, high) in fails])


def _opening(state: Conversation) -> str | None:
    """Return the question that opened a conversation; None where it is not one user turn alone."""
    kept = state.kept
    if len(kept) == 1 and kept[0].role == USER and not state.forgot_turns:
        return kept[0].text
    return None


def _language(state: Conversation) -> str:
    """Return the language of what a user wrote so far, as far as it is kept; "" where that is not told."""
    messages = [turn.text for turn in state.kept if turn.role == USER]
    return glance(messages[0] if len(messages) == 1 else TOGETHER.join(messages)) if messages else ""
