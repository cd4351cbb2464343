"""Newest release: of each assistant what its last comparison says, for a build that asks whether it got worse."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from turnsignal.stream.reports.release_order import BY_NAME, count_up
from turnsignal.stream.reports.unread_follow_ups import OF_USERS, mostly_unread
from turnsignal.stream.statistics.by_users import WHEREVER
from turnsignal.stream.statistics.directions import BETTER, UNANSWERED_OF_ALL, WORSE
from turnsignal.stream.text.counts import listed

_NAMED = 5  # scores that a sentence names
_SIDES = ("after", "before")
_FEWEST = 30  #: conversations without an answer that may make a release worse
_APART = 0.05  #: of the newest release's conversations, from which on others without an answer may make it worse


class NewestRelease(NamedTuple):
    """The newest release of an assistant.

    name: assistant and version; verdicts: of each figure by which it was compared; why_not: why it was not; primary:
    the figure that decides; untold: of figures that got worse, why nobody can tell whether the release is why; unread:
    that most of what its users wrote, or those before, is not read, "" where it is; apart: that questions without an
    answer may be its own; beside: that it answers beside another one, and nobody knows which of both is new.
    """

    name: str
    verdicts: Mapping[str, str]
    why_not: str = ""
    primary: str | None = None
    untold: Mapping[str, str] = {}
    unread: str = ""
    apart: str = ""
    beside: str = ""

    def not_known(self, wanted: Sequence[str]) -> str:
        """Say why nobody can tell whether one of these figures is worse; "" where one can.

        Without any, it is asked of the primary one.
        """
        if self.why_not:
            return f"{self.name} has {self.why_not}"
        of_users = [name for name in self.untold if name in OF_USERS or name in WHEREVER]
        for name in wanted or filter(None, (self.primary, *of_users)):
            if name in self.untold:
                return f"{name} of {self.name} got worse, and {self.untold[name]}"
        if self.unread and any(name is None or name in OF_USERS for name in wanted or (self.primary,)):
            return f"{self.unread} (`turnsignal judge` reads those), so nobody can tell how users of {self.name} fared"
        if self.beside and any(self.verdicts.get(name) == BETTER for name in wanted or self.verdicts):
            return self.beside
        if self.apart and (not wanted or any(name in WHEREVER for name in wanted)):
            return self.apart
        lacking = [name for name in wanted if name not in self.verdicts]
        return f"{self.name} has too few conversations with {listed(lacking[:_NAMED], len(lacking))}" if lacking else ""


def newest_releases(summary: Mapping[str, Any]) -> list[NewestRelease]:
    """Return the newest release of each assistant that has several, by the summary of a replay.

    Of those that answer side by side, it is the one that was tried against the baseline; each of them, where several
    were.
    """
    by_assistant: dict[str, list[Mapping[str, Any]]] = {}
    for row in summary["quality"]:
        by_assistant.setdefault(row["assistant"], []).append(row)
    return [one for rows in by_assistant.values() if len(rows) > 1 for one in _newest(rows, summary)]


def _newest(rows: Sequence[Mapping[str, Any]], summary: Mapping[str, Any]) -> list[NewestRelease]:
    assistant = rows[0]["assistant"]
    comparisons = [row for row in summary["comparisons"] if row["assistant"] == assistant]
    known = {row[side] for row in comparisons for side in _SIDES}
    # Messages that nobody answers name no version, and are no release: what they say is said of the others.
    named = [row for row in rows if row["version"] is not None or None in known] or rows
    newest = max(named, key=lambda row: (row.get("first") is not None, row.get("first") or 0.0))
    version = newest["version"]
    compared = [row for row in comparisons if version in (row["before"], row["after"])]
    if not compared:
        # Of two that answer side by side, either may have begun first: the one that is too small says why.
        small = next((row for row in (newest, *reversed(rows)) if "not_compared" in row), newest)
        why = small.get("not_compared", "no release to compare it with")
        return [NewestRelease(_name(assistant, small["version"]), {}, why)]
    last = compared[-1]
    # Of several that are tried beside one baseline, which one began last is chance: each of them is a newest one.
    beside = [row for row in comparisons if "baseline_by" in row and row["before"] == last["before"]]
    return [_tried(row, summary) for row in (beside if "baseline_by" in last else [last])]


def _tried(last: Mapping[str, Any], summary: Mapping[str, Any]) -> NewestRelease:
    """Return the release that a comparison is about."""
    assistant = last["assistant"]
    verdicts = {name: delta["verdict"] for name, delta in last["deltas"].items()}
    verdicts |= {f"{part['figure']}(in={part['name']})": WORSE for part in last.get("affected_parts", ())}
    untold = {
        name: delta["why"].removeprefix("not called worse: ")
        for name, delta in last["deltas"].items()
        if delta.get("untold")
    }
    sides = ([row for row in summary.get("scores", ()) if _is_of(row, assistant, last[side])] for side in _SIDES)
    unread = next(filter(None, map(mostly_unread, sides)), "")
    name, apart = _name(assistant, last["after"]), nameless(last, summary)
    primary, beside = last.get("primary"), _either_is_new(last)
    return NewestRelease(name, verdicts, "", primary, untold, unread, apart, beside)


def _either_is_new(compared: Mapping[str, Any]) -> str:
    """Say that nobody knows which of two releases is new: they answer side by side, and their names do not count up."""
    before, after = compared["before"], compared["after"]
    if compared.get("baseline_by") != BY_NAME or count_up(before or "", after or ""):
        return ""
    return f"{after} is better than {before}, which may be the new one of both: --baseline VERSION names the old one"


def nameless(compared: Mapping[str, Any], summary: Mapping[str, Any]) -> str:
    """Say that many questions without an answer name no version, and may be of either release; "" elsewhere.

    compared: a comparison of a summary. Where one of both answered before, the share of them all tells.
    """
    apart = compared.get("apart", 0)
    if not apart or UNANSWERED_OF_ALL in compared["deltas"]:
        return ""
    rows = [row for row in summary["quality"] if _is_of(row, compared["assistant"], compared["after"])]
    n = sum(row["conversations"] for row in rows)
    if apart < max(_FEWEST, _APART * n):
        return ""
    before, after = (compared[side] or "(no version)" for side in ("before", "after"))
    return f"{apart:,} conversations without an answer name no version, and may be of {before} or of {after}"


def _is_of(row: Mapping[str, Any], assistant: str, version: str | None) -> bool:
    return bool(row["assistant"] == assistant and row["version"] == version)


def _name(assistant: str, version: str | None) -> str:
    return f"{assistant} {version or '(no version)'}"
