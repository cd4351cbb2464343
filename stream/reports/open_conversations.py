"""Open conversations: what a replay knows of one that may go on, until nothing can change it any more."""

from collections.abc import Sequence

from turnsignal.stream.pipeline.metric_deltas import Release
from turnsignal.stream.pipeline.votes import Voted
from turnsignal.stream.reports.first_answers import FirstAnswer
from turnsignal.stream.reports.held_answers import HeldAnswer
from turnsignal.stream.reports.release_totals import ConversationScores

OPEN_ANSWERS = 16  #: failing answers of a conversation whose follow-up is awaited

Places = tuple[int, ...]  #: where in a conversation's values the counts of some figures are
#: turn id of the answer that a follow-up judges, "" for an answer; release of the answer; scorers, values
AnswerValues = tuple[str, Release, tuple[str, ...], tuple[float, ...]]


class Broken:
    """The instructions that a conversation's answers broke.

    fails: check → [failing answers, those whose relevancy and follow-up were high]; awaited: turn id of failing answers
    without a follow-up so far → what they broke.
    """

    __slots__ = ("awaited", "fails")

    def __init__(self) -> None:
        self.fails: dict[str, list[int]] = {}
        self.awaited: dict[str, Sequence[str]] = {}

    def on_answer(self, turn_id: str, checks: Sequence[str]) -> None:
        """Note an answer that broke some checks."""
        for check in checks:
            self.fails.setdefault(check, [0, 0])[0] += 1
        self.awaited[turn_id] = checks
        if len(self.awaited) > OPEN_ANSWERS:
            del self.awaited[next(iter(self.awaited))]

    def on_good(self, turn_id: str) -> None:
        """Note that relevancy and follow-up of an answer were high; once, even if the row is corrected later."""
        for check in self.awaited.pop(turn_id, ()):
            self.fails[check][1] += 1


class OpenConversation:
    """What is known of a conversation that may go on.

    release, opened, first_answer: of its first answer the release, the event time, and what is kept; own_means: all
    answers count, for that release; held: the answer whose run may go on; greeted: what was counted last greets;
    handed: what was counted last puts the user through to somebody, or is that person's; parts: release → the values of
    what was counted, as `Quality` has them; unsummed: values of answers and follow-ups that are not among them yet;
    headless: its first turn was an answer; follow_ups: turn id → what a follow-up added to which values, as long as it
    can be corrected; good: answers whose relevancy and follow-up were high; broken: instructions; went: how it had gone
    when it was closed; other_environments: it was closed, and another environment has turns in it; votes: how votes and
    follow-ups meet in it; failed: turn ids of its last failing answers; replied: of the last answers whose closing
    question got a bare reply; language: of what its user wrote, "" until that is told.
    """

    __slots__ = (
        "broken",
        "failed",
        "first_answer",
        "follow_ups",
        "good",
        "greeted",
        "handed",
        "headless",
        "held",
        "language",
        "opened",
        "other_environments",
        "own_means",
        "parts",
        "release",
        "replied",
        "unsummed",
        "votes",
        "went",
    )

    def __init__(self, release: Release, opened: float, *, headless: bool) -> None:
        self.release = release
        self.opened = opened
        self.first_answer: FirstAnswer | None = None
        self.own_means = True
        self.greeted = self.handed = self.other_environments = False
        self.held: HeldAnswer | None = None
        self.parts: dict[Release, list[float]] = {}
        self.unsummed: list[AnswerValues] = []
        self.headless = headless
        self.follow_ups: dict[str, tuple[list[float], Places, tuple[float, ...]]] = {}
        self.good = 0
        self.broken: Broken | None = None
        self.failed: tuple[str, ...] = ()
        self.replied: tuple[str, ...] = ()
        self.language = ""
        self.went: ConversationScores | None = None
        self.votes: Voted | None = None
