"""Aggregates: what a replay sums up about conversations, instruction checks and ranks, beside its counters.

Everything is taken from scores and summaries that were made anyway. A conversation counts once, when nothing can change
it any more (it is forgotten, or the replay ends), so that one that came back is not counted twice; until then a few
numbers are held, as long as its state is.
"""

import math
from array import array
from collections import Counter
from typing import Any

from turnsignal.stream.conversations.exchanges import Exchange
from turnsignal.stream.conversations.means import Means
from turnsignal.stream.conversations.pairing import TOGETHER, USER, PendingResponse, Responder
from turnsignal.stream.conversations.state import Conversation
from turnsignal.stream.diagnosis import Level
from turnsignal.stream.measures.ndcg import NDCG
from turnsignal.stream.pipeline import votes
from turnsignal.stream.pipeline.batch_result import BatchResult
from turnsignal.stream.pipeline.metric_deltas import Release
from turnsignal.stream.pipeline.scoring import Scored, relevancy_name, scorer_names
from turnsignal.stream.pipeline.votes import Counts
from turnsignal.stream.records.scores import FOLLOW_UP, ConversationOutcome, Outcome
from turnsignal.stream.records.turns import Turn
from turnsignal.stream.reports.cite_rates import CiteRates
from turnsignal.stream.reports.closing_habits import closing_question
from turnsignal.stream.reports.first_questions import words_around
from turnsignal.stream.reports.held_answers import AnswerReader, HeldAnswer, Reply, in_order
from turnsignal.stream.reports.interventions import Interventions
from turnsignal.stream.reports.logged_otherwise import is_hidden
from turnsignal.stream.reports.open_conversations import OPEN_ANSWERS, AnswerValues, Broken, OpenConversation, Places
from turnsignal.stream.reports.quality import Quality
from turnsignal.stream.reports.release_totals import ConversationScores
from turnsignal.stream.reports.review import Review
from turnsignal.stream.reports.unversioned import Unversioned
from turnsignal.stream.reports.user_sums import digest
from turnsignal.stream.reports.worst import WorstExchanges
from turnsignal.stream.statistics.directions import VOTE
from turnsignal.stream.suite import Suite
from turnsignal.stream.text.client_labels import without_labels
from turnsignal.stream.text.escapes import unescaped
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
        self._elsewhere: set[bytes] = set()  # conversations with documents on another turn than an answer
        self._place = {name: 2 * i for i, name in enumerate(self.quality.figures)}
        self._found: dict[tuple[str, ...], Places] = {}
        self._width = 2 * len(self.quality.figures) + 1
        self._at_vote = self._place[VOTE]
        self._answers = AnswerReader(suite)
        self.worst = WorstExchanges()
        self._correctable = suite.limits.kept_turns + 1

    def on_user(self, key: bytes, turn: Turn) -> None:
        """Note whose conversation it is, of whom its first turn names, and which release a user's turn names."""
        if turn.user_id is not None and self._users.get(key) is None:
            self._users[key] = digest(turn.user_id)
        if turn.version is not None and turn.role == USER and turn.environment == self._environment:
            self.unversioned.count_user(turn.version)

    def on_earlier_release(self) -> None:
        """Count an answer that came after a release, in a conversation that began before it."""
        self.unversioned.stayed += 1

    def on_documents(self, key: bytes) -> None:
        """Note that a turn that is no answer has documents: nothing reads them there."""
        self._elsewhere.add(key)

    def on_other_text(self, key: bytes, turn_id: str) -> None:
        """Take in that an answer came again with another text, as where a stream is logged with all it has so far."""
        conversation = self._open.get(key)
        if conversation is not None and conversation.held is not None and conversation.held.turn_id == turn_id:
            conversation.held = conversation.held.in_parts()

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
            if turn.version is None and turn.model:
                self.unversioned.count(turn.model)
        self.on_user(key, turn)
        if not conversation.language:
            conversation.language = _language(state)
        failed = self._answers.is_failing(state, turn.text)
        worst = self.worst.read_response(state, turn, scored, failed=failed)
        held = conversation.held
        opens = conversation.greeted or (held is not None and not held.prompted)
        first = None if opens else conversation.first_answer
        elsewhere = key in self._elsewhere
        self._elsewhere.discard(key)
        answer = self._answers.read(state, turn, scored, first, worst, failed=failed, elsewhere=elsewhere)
        self._hold(key, conversation, state, answer)
        if scored.ranks:
            question = _opening(state) if state.responses == 1 else None
            self.interventions.update(key, turn, scored.ranks, scored.cited, question)

    def on_follow_up(self, key: bytes, turn_id: str, answer: PendingResponse, scored: Scored, around: Exchange) -> None:
        """Take in what followed an answer, in place of what was known to follow it."""
        if answer.environment != self._environment:
            return
        conversation = self._open[key]
        superseded = answer.pairing.startswith(Outcome.SUPERSEDED)
        if not superseded:
            reply = Reply() if scored.complains else self._answers.read_reply(around)
            self._count_held(key, conversation, scored, hidden=is_hidden(around.follow_up), reply=reply)
            _take_off_labels(conversation, around)
        self._put_off(conversation, (turn_id, (answer.assistant, answer.version), scored.scorers, scored.values))
        if superseded:
            self.worst.drop(key, turn_id)
            return
        self._count_reply(conversation, turn_id, (answer.assistant, answer.version), around, bare=scored.bare)
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
        parts, held = self._parts(conversation, means), conversation.held
        first = conversation.first_answer
        if held is not None:
            first = held.opening(None if conversation.greeted else first)
        answers = round(math.fsum(values[-1] for values in parts.values()))
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
            first,
            conversation.language,
            no_answer=outcome == ConversationOutcome.UNANSWERED and self._answers.is_waiting(state),
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
        says = {check.name: asked.says for asked, check in suite.parsed_checks if asked.says is not None}
        relevancy = next((m for m in suite.parsed_measures if m.name == relevancy_name(suite)), None)
        cutoff = relevancy.cutoff if isinstance(relevancy, NDCG) else None
        return {
            "relevancy": relevancy_name(suite),
            "quality": self.quality.rows(minimum),
            "silences": self.quality.silences(),
            "comparisons": self.quality.comparisons(minimum, part.primary, part.least_change, baseline),
            "review": self.review.rows(checks, says, minimum),
            "cite_rates": self.cite_rates.rows(minimum),
            "votes": votes.rows(self.votes),
            "unversioned_models": self.unversioned.models(),
            "versions_of_users": self.unversioned.versions_of_users(),
            "of_earlier_release": self.unversioned.stayed,
            "position_bias": self.interventions.rows(minimum, cutoff or DEFAULT_CUTOFF),
        }

    def attach(self, suite: Suite) -> None:
        """Give back the suite, which is not pickled; call before more is taken in."""
        self._answers = AnswerReader(suite)

    def __getstate__(self) -> dict[str, Any]:
        """Leave the suite behind: only what was counted goes to another process."""
        return {name: value for name, value in self.__dict__.items() if name != "_answers"}

    def _hold(self, key: bytes, conversation: OpenConversation, state: Conversation, answer: HeldAnswer) -> None:
        """Hold an answer in the place of another one of its run, or count that one, whose run is over."""
        held = conversation.held
        if held is None:
            conversation.held = answer.behind_hand_off() if conversation.handed else answer
            return
        earlier, later, spoken = in_order(state.kept, held, answer)
        if spoken or not earlier.prompted:
            greets = spoken and not earlier.prompted
            earlier = earlier.followed() if spoken else earlier
            self._count(key, conversation, earlier.greeting() if greets else earlier)
            is_behind = conversation.handed and later is answer
            conversation.held, conversation.greeted = later.behind_hand_off() if is_behind else later, greets
            return
        conversation.own_means = False  # its conversation's means know of both
        conversation.held = later.in_place_of(earlier) if later.run.replaces(earlier.run) else earlier.asking(later)

    def _count(self, key: bytes, conversation: OpenConversation, answer: HeldAnswer) -> None:
        """Add an answer to its conversation's values, and to all that is known of its release."""
        release = answer.release
        self._put_off(conversation, ("", release, answer.scorers, answer.values))
        self._add(self._values(conversation, release), answer)
        conversation.first_answer = answer.opening(None if conversation.greeted else conversation.first_answer)
        conversation.greeted, conversation.handed = False, answer.run.handed
        if answer.run.failed:
            conversation.failed = (*conversation.failed[1 - OPEN_ANSWERS :], answer.turn_id)
        if answer.worst is not None:
            self.worst.add(key, answer.worst)
        if answer.broken:
            if conversation.broken is None:
                conversation.broken = Broken()
            conversation.broken.on_answer(answer.turn_id, answer.broken)
        if answer.ranks:
            self.cite_rates.count(*self.quality.named.fold(release), answer.ranks, answer.cited)

    def _count_held(
        self,
        key: bytes,
        conversation: OpenConversation,
        follow_up: Scored | None = None,
        *,
        hidden: bool = False,
        reply: Reply = Reply(),  # noqa: B008 - of two flags
    ) -> None:
        """Count the answer that is held: its run is over.

        follow_up: what its user wrote behind it, scored; hidden: nothing of that can be read; reply: what
        it is to a question beside what the answer says.
        """
        held, conversation.held = conversation.held, None
        if held is not None:
            if follow_up is not None:
                held = held.followed(
                    follow_up.label,
                    complained=follow_up.complains,
                    reply=reply,
                    wants_person=follow_up.wants_person,
                    hidden=hidden,
                )
            self._count(key, conversation, held)

    def _parts(self, conversation: OpenConversation, means: Means) -> "dict[Release, array[float]]":
        """Return the values of a conversation by release, with the answer that is held."""
        held = conversation.held
        own_means = conversation.own_means and (held is None or held.release == conversation.release)
        if not own_means:
            self._sum_up(conversation)
        parts = {release: array("d", values) for release, values in conversation.parts.items()}
        if held is not None:
            values = parts.setdefault(held.release, self.quality.empty())
            self._add(values, held)
            for at, value in zip(() if own_means else self._find(held.scorers), held.values, strict=not own_means):
                values[at] += 1
                values[at + 1] += value
        if own_means and parts:  # all answers count, for one release: its conversation's own means say the same
            parts[conversation.release][: len(means)] = array("d", means)
        return parts

    def _values(self, conversation: OpenConversation, release: Release) -> list[float]:
        """Return the values of a release in a conversation; turns that come late may follow up none of its answers."""
        values = conversation.parts.get(release)
        if values is None:
            values = conversation.parts[release] = [0.0] * self._width
            conversation.own_means = conversation.own_means and release == conversation.release
        return values

    def _add(self, values: "list[float] | array[float]", answer: HeldAnswer) -> None:
        """Add an answer to a conversation's values, without what was scored of it."""
        values[-1] += 1
        for name, value in answer.beside.items():
            at = self._place[name]
            values[at] += 1
            values[at + 1] += value

    def _count_reply(
        self, conversation: OpenConversation, turn_id: str, release: Release, around: Exchange, *, bare: bool
    ) -> None:
        """Count a bare reply to what an answer asked last, in place of what was known to follow it."""
        change = bare - (turn_id in conversation.replied)
        if change and (question := closing_question(around.response)) is not None:
            self._values(conversation, release)[self._place[question] + 1] += change
            others = tuple(name for name in conversation.replied if name != turn_id)
            conversation.replied = (*others[1 - OPEN_ANSWERS :], turn_id) if bare else others

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
            values, places = self._values(conversation, release), self._find(names)
            for place, value in zip(places, scored, strict=True):
                values[place] += 1
                values[place + 1] += value
            if turn_id:
                known[turn_id] = (values, places, scored)
                if len(known) > self._correctable:
                    del known[next(iter(known))]
        conversation.unsummed.clear()

    def _find(self, names: tuple[str, ...]) -> Places:
        """Return the places of some scorers."""
        known = self._found.get(names)
        if known is None:
            known = self._found[names] = tuple(self._place[name] for name in names)
        return known

    def _settle(self, key: bytes) -> None:
        conversation, user = self._open.pop(key, None), self._users.pop(key, None)
        self._elsewhere.discard(key)
        if conversation is not None:
            self._count_held(key, conversation)
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


def _take_off_labels(conversation: OpenConversation, around: Exchange) -> None:
    """Take off its first question what the client wrote around it, as the user's next message tells."""
    first = conversation.first_answer
    if first is None or first.around is not None:
        return
    prompt = unescaped(around.prompt)
    bare, _ = without_labels(prompt, unescaped(around.follow_up))
    conversation.first_answer = first._replace(around=words_around(prompt, bare))
    if bare != around.prompt:
        conversation.language = glance(bare)


def _language(state: Conversation) -> str:
    """Return the language of what a user wrote so far, as far as it is kept; "" where that is not told."""
    messages = [turn.text for turn in state.kept if turn.role == USER]
    return glance(messages[0] if len(messages) == 1 else TOGETHER.join(messages)) if messages else ""
