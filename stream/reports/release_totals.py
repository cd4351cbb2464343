"""Release totals: the conversations of one release, summed up as they come."""

import math
from array import array
from collections import Counter
from dataclasses import InitVar, dataclass, field, fields
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from turnsignal.stream.pipeline.metric_deltas import Release
from turnsignal.stream.records.scores import ConversationOutcome
from turnsignal.stream.reports.first_answers import FirstAnswer, FirstAnswers
from turnsignal.stream.reports.user_sums import MOST_ROWS, UserSums
from turnsignal.stream.statistics.intervals import Batches, Clusters
from turnsignal.stream.text.languages import READ

SUMS = len(fields(Clusters))  #: of a figure, which `Clusters` holds
MOMENTS = SUMS + 3  #: of a figure in all
MAX_RELEASES = 1_000  #: told apart in a recording; a field that holds ids of sessions would make one of each
#: what the releases beyond those count for, all together
OTHER_RELEASES: Release = ("other", f"releases beyond {MAX_RELEASES:,}")
_SECONDS = -3  #: where the count of the seconds to an answer stands in a conversation's values
_MOST_PLATFORMS, _MOST_LANGUAGES = 64, 8  #: of a release that are summed up apart; the names are those of strangers
OTHER_PLATFORMS = "other platforms"  #: what those beyond count as, all together
_ROWS_OF_STRATUM = MOST_ROWS // 4  #: of sums by user
_WAITING = 256  #: conversations of a release whose values wait to be summed up at once
UNANSWERED = ConversationOutcome.UNANSWERED.value
#: By user, behind the values of answers: conversations, those that carry evidence by rules, first answers, and the sum
#: of their length steps, conversations whose last message got no answer; then conversations by outcome.
CONVERSATIONS, READABLE, FIRST, LENGTH, WAITING, _OUTCOME = range(6)
_OUTCOMES = {outcome.value: _OUTCOME + i for i, outcome in enumerate(ConversationOutcome)}
_BESIDE = _OUTCOME + len(_OUTCOMES)


class NamedReleases:
    """The releases that are told apart: the first `MAX_RELEASES` that come; `merge` the parts."""

    def __init__(self) -> None:
        self._named: dict[Release, None] = {}

    def fold(self, release: Release) -> Release:
        """Return the release itself where it is told apart, else what all others count for."""
        if release not in self._named:
            if len(self._named) >= MAX_RELEASES:
                return OTHER_RELEASES
            self._named[release] = None
        return release

    def merge(self, other: "NamedReleases") -> None:
        """Add another part's, as far as there is room."""
        for release in other._named:
            self.fold(release)


class ConversationScores(NamedTuple):
    """How one conversation went, in little memory.

    release: of its last answer; outcome: `cut` where the recording ended before it; first: event time of its first
    turn; quiet: event time from which on it was idle; clock: stream time at its last turn; headless: its first turn was
    an answer; answers: how many; parts: release → count and sum of each figure's values, in turn, and the number of
    answers last; the release of the first answer comes first; opened: event time of that answer;
    first_answer: what is kept of it; turns: how many; language: of what its user wrote, "" where that is not told;
    user: a digest of who it is, None where no turn says so; no_answer: its last message got none.
    """

    release: Release
    outcome: str
    first: float
    quiet: float
    clock: float
    headless: bool
    answers: int
    parts: "dict[Release, array[float]]"
    opened: float
    turns: int = 0
    first_answer: FirstAnswer | None = None
    language: str = ""
    user: int | None = None
    no_answer: bool = False

    @property
    def is_readable(self) -> bool:
        """Whether rules may read what its user says to an answer; in other languages silence says nothing."""
        return not self.language or self.language in READ


@dataclass(slots=True)
class ReleaseTotals:
    """The conversations of one release.

    first: smallest event time, seconds since 1970; moments: a row per figure: the fields of `Clusters`, and the sums of
    answers × count, answers² × count, answers × count²; answered: conversations, and sums of answers, answers², ³
    and ⁴; left_out: conversations that the recording cuts, by
    reason; seconds: to an answer, by the time at which its conversation began, since answers are slow together, with
    the load; waiting: values of conversations, with their users, that are not in the moments yet; turns: of the
    conversations that count; first_answers: of conversations that the release began; strata: totals by platform and
    language, which have no strata themselves; unread: outcomes of conversations in languages that rules do not read;
    last: greatest event time of a first answer, or of a first turn that nobody answered; no_answer: conversations whose
    last message got none; users: sums by user; alone, alone_answered: `moments` and `answered` of conversations whose
    user is not known; platforms, languages: that have strata; has_others: whether some platforms count together.
    """

    first: float
    moments: npt.NDArray[np.float64]
    answered: npt.NDArray[np.float64] = field(default_factory=lambda: np.zeros(5))
    outcomes: Counter[str] = field(default_factory=Counter)
    left_out: Counter[str] = field(default_factory=Counter)
    seconds: Batches = field(default_factory=Batches)
    waiting: "list[tuple[array[float], int | None]]" = field(default_factory=list)
    turns: int = 0
    first_answers: FirstAnswers = field(default_factory=FirstAnswers)
    strata: "dict[tuple[str, str], ReleaseTotals]" = field(default_factory=dict)
    unread: Counter[str] = field(default_factory=Counter)
    last: float = -math.inf
    no_answer: int = 0
    platforms: set[str] = field(default_factory=set)
    languages: set[str] = field(default_factory=set)
    has_others: bool = False
    rows: InitVar[int] = MOST_ROWS
    users: UserSums = field(init=False)
    alone: npt.NDArray[np.float64] = field(init=False)
    alone_answered: npt.NDArray[np.float64] = field(default_factory=lambda: np.zeros(5))

    def __post_init__(self, rows: int) -> None:
        """Make what depends on the number of figures."""
        self.users = UserSums(2 * len(self.moments) + 1 + _BESIDE, rows)
        self.alone = self.moments

    @property
    def placed(self) -> bool:
        """Whether the platform of every conversation is known; it is that of its first answer."""
        placed = sum([cell.outcomes.total() for (platform, _), cell in self.strata.items() if platform])
        return placed == self.outcomes.total()

    @property
    def with_user(self) -> float:
        """How many conversations name their user."""
        (conversations,) = self.users.columns(self.beside(CONVERSATIONS)).columns
        return float(conversations.sum())

    def beside(self, column: int) -> int:
        """Return where a column that is no figure's stands in the sums by user."""
        return 2 * len(self.moments) + 1 + column

    def outcome(self, name: str) -> int:
        """Return where the conversations with an outcome stand in the sums by user."""
        return self.beside(_OUTCOMES[name])

    def stratum(self, platform: str, language: str) -> "ReleaseTotals":
        """Return the totals of the conversations of one platform and language, summed up beside those of all.

        "" is what is not known. Where there are too many platforms, the first by name are kept apart; of languages
        those that rules read, then the first by name, and what is in others counts as not told. Both are the same in
        whatever order they come.
        """
        known = self.strata.get((platform, language))
        if known is not None:
            return known
        language = self._admit_language(language)
        return self._cell(self._admit_platform(platform), language)

    def _admit_platform(self, platform: str) -> str:
        """Return what a platform counts as."""
        if platform in ("", OTHER_PLATFORMS) or platform in self.platforms:
            return platform
        self.platforms.add(platform)
        if len(self.platforms) <= _MOST_PLATFORMS:
            return platform
        last, self.has_others = max(self.platforms), True
        self.platforms.remove(last)
        for where, language in [key for key in self.strata if key[0] == last]:
            self._cell(OTHER_PLATFORMS, language).merge(self.strata.pop((where, language)))
        return OTHER_PLATFORMS if platform == last else platform

    def _admit_language(self, language: str) -> str:
        """Return what a language counts as."""
        if not language or language in self.languages:
            return language
        self.languages.add(language)
        if len(self.languages) <= _MOST_LANGUAGES:
            return language
        last = max(self.languages, key=lambda code: (code not in READ, code))
        self.languages.remove(last)
        for platform, code in [key for key in self.strata if key[1] == last]:
            self._cell(platform, "").merge(self.strata.pop((platform, code)))
        return "" if language == last else language

    def _cell(self, platform: str, language: str) -> "ReleaseTotals":
        known = self.strata.get((platform, language))
        if known is None:
            known = self.strata[platform, language] = self._empty(_ROWS_OF_STRATUM)
        return known

    def _empty(self, rows: int) -> "ReleaseTotals":
        nothing = np.broadcast_to(np.float64(0), self.moments.shape)  # in no memory: there may be many parts of few
        return ReleaseTotals(self.first, nothing, rows=rows)

    @property
    def _last_platform(self) -> str | None:
        """The last platform by name that is kept apart, where there are others beyond it."""
        return max(self.platforms) if self.has_others else None

    def by(self, *, platform: bool, language: bool, last: str | None = None) -> "dict[tuple[str, str], ReleaseTotals]":
        """Return the totals by platform, by language or by both, without conversations of which that is not known.

        last: platforms behind this one by name count as others.
        """
        totals: dict[tuple[str, str], ReleaseTotals] = {}
        for (where, spoken), cell in sorted(self.strata.items()):
            if (where or not platform) and (spoken or not language):
                is_other = last is not None and where > last
                key = ((OTHER_PLATFORMS if is_other else where) if platform else "", spoken if language else "")
                totals.setdefault(key, self._empty(_ROWS_OF_STRATUM)).merge(cell)
        return totals

    def update(self, values: "array[float]", opened: float, user: int | None = None) -> None:
        """Add a conversation's values; opened: event time of its first answer; user: a digest of who it is."""
        self.waiting.append((values, user))
        self.last = max(self.last, opened)
        self.seconds.add(opened, *values[_SECONDS:-1])
        if len(self.waiting) >= _WAITING:
            self.add_waiting()

    def count(self, went: ConversationScores) -> None:
        """Count how a conversation went."""
        self.outcomes[went.outcome] += 1
        self.no_answer += went.no_answer
        if not went.is_readable:
            self.unread[went.outcome] += 1
        if not went.parts:
            self.last = max(self.last, went.first)
        if went.user is not None:
            self.users.count(went.user)
            beside = np.zeros(_BESIDE)
            beside[CONVERSATIONS] = 1
            beside[READABLE], beside[WAITING] = went.is_readable, went.no_answer
            if went.outcome in _OUTCOMES and (went.is_readable or went.outcome == UNANSWERED):
                beside[_OUTCOMES[went.outcome]] = 1
            if went.first_answer is not None:
                beside[FIRST], beside[LENGTH] = 1, went.first_answer.length_share
            self.users.add(went.user, beside, self.beside(0))

    def add_waiting(self) -> None:
        """Add the values that wait to the moments."""
        if not self.waiting:
            return
        rows = np.frombuffer(b"".join([values for values, _ in self.waiting])).reshape(len(self.waiting), -1)
        moments, answered = _powers(rows)
        self.moments = self.moments + moments  # not in place: what is empty shares its own
        self.answered += answered
        named = [(at, user) for at, (_, user) in enumerate(self.waiting) if user is not None]
        for at, user in named:
            self.users.add(user, rows[at])
        if named and len(named) < len(rows):
            moments, answered = _powers(np.delete(rows, [at for at, _ in named], axis=0))
        if len(named) < len(rows):
            self.alone = self.alone + moments
            self.alone_answered += answered
        self.waiting.clear()

    def sums(self, figure: int) -> Clusters:
        """Return the sums of the figure at this index, by conversation."""
        self.add_waiting()
        return Clusters(*self.moments[figure, :SUMS].tolist())

    def scored(self, figure: int) -> Clusters:
        """Return the sums of the answers that have the figure at this index, of all answers, by conversation."""
        self.add_waiting()
        return _scored(self.moments[figure], self.answered)

    def sums_alone(self, figure: int) -> Clusters:
        """Return the sums of `sums` over conversations whose user is not known."""
        self.add_waiting()
        return Clusters(*self.alone[figure, :SUMS].tolist())

    def scored_alone(self, figure: int) -> Clusters:
        """Return the sums of `scored` over conversations whose user is not known."""
        self.add_waiting()
        return _scored(self.alone[figure], self.alone_answered)

    def copy(self) -> "ReleaseTotals":
        """Return what merges apart from this."""
        empty = self._empty(self.users.most)
        empty.merge(self)
        return empty

    def merge(self, other: "ReleaseTotals") -> None:
        """Add another part's."""
        other.add_waiting()
        self.add_waiting()
        self.first, self.last = min(self.first, other.first), max(self.last, other.last)
        self.moments = self.moments + other.moments
        self.answered += other.answered
        self.alone = self.alone + other.alone
        self.alone_answered += other.alone_answered
        self.outcomes.update(other.outcomes)
        self.unread.update(other.unread)
        self.left_out.update(other.left_out)
        self.seconds.merge(other.seconds)
        self.has_others |= other.has_others
        self.turns += other.turns
        self.no_answer += other.no_answer
        self.first_answers.merge(other.first_answers)
        self.users.merge(other.users)
        for language in sorted(other.languages):
            self._admit_language(language)
        for (platform, language), theirs in other.strata.items():
            self.stratum(platform, language).merge(theirs)


Parts = dict[tuple[str, str], tuple[ReleaseTotals, ReleaseTotals]]


def parts_of_both(before: ReleaseTotals, after: ReleaseTotals, *, platform: bool, language: bool) -> Parts:
    """Return the totals of each part of the traffic that both have, before and after, by its name as in `by`.

    A platform that one of both does not keep apart is among the others of both; they are no part where they moved.
    """
    last = _last_of_both(before, after) if platform else None
    old, new = (totals.by(platform=platform, language=language, last=last) for totals in (before, after))
    left_out = OTHER_PLATFORMS if platform and others_moved(before, after) else None
    return {key: (old[key], new[key]) for key in sorted(old.keys() & new.keys()) if key[0] != left_out}


def has_others(before: ReleaseTotals, after: ReleaseTotals) -> bool:
    """Say whether some platforms of two releases count together, as there are too many."""
    return before.has_others or after.has_others


def others_moved(before: ReleaseTotals, after: ReleaseTotals) -> bool:
    """Say whether traffic moved among platforms that count together: then they are no part to be compared."""
    last = _last_of_both(before, after)
    return last is not None and after.first_answers.shifted_behind(before.first_answers, last)


def _last_of_both(before: ReleaseTotals, after: ReleaseTotals) -> str | None:
    """Return the last platform by name that both keep apart, where there are others beyond it."""
    return min((name for totals in (before, after) if (name := totals._last_platform) is not None), default=None)


def _powers(values: npt.NDArray[np.float64]) -> tuple[npt.NDArray[np.float64], list[float]]:
    """Return what conversations, a row each, add to `moments` and to `answered`."""
    turns, totals, answers = values[:, 0:-1:2], values[:, 1:-1:2], values[:, -1:]
    means = totals / np.maximum(turns, 1)
    turns2, cross, answers2 = turns * turns, turns * totals, answers * answers
    columns = [turns > 0, turns, totals, turns2, cross, totals * totals, means, means * means]
    columns += [turns2 * turns, turns2 * turns2, turns * cross, totals * cross]
    columns += [answers * turns, answers2 * turns, answers * turns2]
    powers = [answers > 0, answers, answers2, answers2 * answers, answers2 * answers2]
    return np.stack([column.sum(axis=0) for column in columns], axis=1), [column.sum() for column in powers]


def _scored(moments: npt.NDArray[np.float64], answered: npt.NDArray[np.float64]) -> Clusters:
    conversations, answers, answers2, answers3, answers4 = answered.tolist()
    turns, turns2 = moments[1], moments[3]
    cross, cross_answers, cross_turns = moments[SUMS:].tolist()
    first = (conversations, answers, float(turns), answers2, cross, float(turns2))
    return Clusters(*first, turns3=answers3, turns4=answers4, cross_turns=cross_answers, cross_total=cross_turns)


def begun_by(went: ConversationScores) -> Release:
    """Return the release that answered first in a conversation."""
    return next(iter(went.parts), went.release)


def as_begun(went: ConversationScores) -> ConversationScores:
    """Put all of a conversation on the release that began it."""
    opener = begun_by(went)
    whole = array("d", map(math.fsum, zip(*went.parts.values(), strict=True)))
    return went._replace(release=opener, parts={opener: whole})
