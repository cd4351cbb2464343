"""Review: which instruction checks tell nothing, or the wrong thing, over a replay (Hoffer: "periodically").

A check that never fails costs time; one that always fails is not an instruction that anybody keeps; one that fails just
as often where the answer was otherwise good may be wrong, or may not matter. Otherwise good: the conversation was
resolved, or both the relevancy of the answer and its follow-up were high. Conversations are the unit of every interval.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from turnsignal.stream.statistics.intervals import Clusters, Interval, clustered_mean, rule_of_three
from turnsignal.stream.text.visible import one_line

RARE = 0.01  #: "never" is said when the rule of three puts the rate below this
ALWAYS = 0.1  #: "always" is said when it puts the rate of the opposite below this
MARGIN = 0.05  #: by which failing answers must be better or worse than all: with many checks, some differ by chance

#: verdict → what to do about it
ADVICE = {
    "never fails": "show with a breaking answer that it can fail; if the model just keeps it, drop it",
    "always fails": "read three failing answers: the prompt may not say it, or the check may be wrong",
    "fails only where the answer was otherwise good": "the rule may be wrong, or not matter: loosen or drop it",
    "fails more where the answer was otherwise good": "the rule may be wrong, or not matter: read failing answers",
    "fails more where the answer was bad": "keep it: breaking it goes with bad answers",
    "no link to good answers shown": "keep it if the platform needs it; otherwise watch it",
    "too few to say": "replay more conversations",
}
#: verdicts that ask for a look at the check
SUSPECT = (
    "never fails",
    "always fails",
    "fails only where the answer was otherwise good",
    "fails more where the answer was otherwise good",
)
_SAID = 80  #: characters of an instruction in a sentence


def instructions(summary: Mapping[str, Any]) -> dict[str, str]:
    """Return how sentences name the checks of a replay: in the prompt's words where the suite has them."""
    return {
        row["check"]: f"“{one_line(row['says'], _SAID)}”" if "says" in row else row["check"]
        for row in summary["review"]
    }


@dataclass(slots=True)
class Review:
    """What failing answers were otherwise; `add` per conversation, then `rows`.

    good, answers: of all answers; failed: check → of failing answers, how many were otherwise good.
    """

    good: int = 0
    answers: int = 0
    failed: dict[str, Clusters] = field(default_factory=dict)

    def add(self, answers: int, good: int, failed: Iterable[tuple[str, int, int]]) -> None:
        """Add a conversation: its answers, how many were good, and for each broken check (name, fails, good fails)."""
        self.answers += answers
        self.good += good
        for check, fails, good_fails in failed:
            self.failed.setdefault(check, Clusters()).add(fails, good_fails)

    def merge(self, other: "Review") -> None:
        """Add what another part counted."""
        self.answers += other.answers
        self.good += other.good
        for check, sums in other.failed.items():
            self.failed.setdefault(check, Clusters()).merge(sums)

    def rows(self, passed: dict[str, Clusters], says: Mapping[str, str], minimum: int) -> list[dict[str, Any]]:
        """Say what each check is worth.

        passed: check → applicable answers and passes among them; says: check → the instruction in the prompt's words;
        minimum: conversations with a failing answer below which nothing is said of what failing means.
        """
        return [self._row(check, says.get(check), sums, minimum) for check, sums in sorted(passed.items())]

    def _row(self, check: str, says: str | None, passed: Clusters, minimum: int) -> dict[str, Any]:
        applicable = round(passed.turns)
        fails = applicable - round(passed.total)
        row: dict[str, Any] = {"check": check} if says is None else {"check": check, "says": says}
        row |= {"applicable": applicable, "conversations": round(passed.n)}
        row["fails"] = fails
        if applicable:
            kept = clustered_mean(passed)
            row["rate"] = Interval(1 - kept.value, 1 - kept.high, 1 - kept.low, kept.n).as_json()
        share = self._good_among_fails(check)
        if share is not None:
            row["good_among_fails"] = share.as_json()
            row["good_among_all"] = round(self.good / self.answers, 6) if self.answers else None
        verdict, why = self._describe(passed, fails, share, minimum)
        return row | {"verdict": verdict, "why": why, "advice": ADVICE[verdict]}

    def _good_among_fails(self, check: str) -> Interval | None:
        sums = self.failed.get(check)
        return clustered_mean(sums) if sums is not None and sums.n else None

    def _describe(self, passed: Clusters, fails: int, share: Interval | None, minimum: int) -> tuple[str, str]:
        n, most = round(passed.n), rule_of_three(round(passed.n))
        if fails == 0:
            if most <= RARE:
                return "never fails", f"none failed in {n} conversations: below {most:.2%} (rule of three)"
            return "too few to say", f"none failed, but n is too small: {n} < {round(3 / RARE)} conversations"
        if round(passed.total) == 0 and most <= ALWAYS:
            return "always fails", f"none passed in {n} conversations: below {most:.1%} (rule of three)"
        if share is None or share.n < minimum:
            seen = 0 if share is None else share.n
            return "too few to say", f"n too small: {seen} < {minimum} conversations with a failing answer"
        usual = self.good / self.answers if self.answers else 0.0
        failing = f"{share.value:.0%} ({share.low:.0%} to {share.high:.0%}) of failing answers were otherwise good"
        verdict = "no link to good answers shown"
        if share.low > usual + MARGIN:
            where = "only" if share.value == 1 else "more"
            verdict = f"fails {where} where the answer was otherwise good"
        elif share.high < usual - MARGIN:
            verdict = "fails more where the answer was bad"
        return verdict, f"{failing}, against {usual:.0%} of all"
