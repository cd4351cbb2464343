"""Findings: what a replay found, in sentences, the gravest first: what a person asks before looking at any table.

What several assistants and several scorers say alike is one finding: "v3 retrieves worse in all three assistants". Only
named differences between releases become one (`stream.statistics.claims`); what is said beside them is plain counting.
"""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from itertools import product
from typing import Any, NamedTuple

from turnsignal.stream.pipeline.release_times import with_release
from turnsignal.stream.records.scores import CLARIFICATION_FREE, FOLLOW_UP, Unscored
from turnsignal.stream.records.turns import DEFAULT_ASSISTANT
from turnsignal.stream.reports.newest_release import nameless
from turnsignal.stream.reports.release_figures import LANGUAGES, PLATFORMS, WITHIN, ranked_figures
from turnsignal.stream.reports.release_order import BY_CONVERSATIONS, BY_NAME
from turnsignal.stream.reports.release_totals import MAX_RELEASES, OTHER_RELEASES
from turnsignal.stream.reports.review import instructions
from turnsignal.stream.reports.themes import CLARIFIED, INSTRUCTIONS, OTHER, RANKING, THEMES, USERS, WASTE, Theme
from turnsignal.stream.reports.unread_follow_ups import count_unread
from turnsignal.stream.reports.unversioned import stayed_before, tell_releases_apart
from turnsignal.stream.reports.where_to_work import (
    broken_instructions,
    retrieval_fails_more,
    where_labels_fail,
    where_to_work,
)
from turnsignal.stream.statistics.by_users import THANKED_LESS
from turnsignal.stream.statistics.directions import (
    BETTER,
    CHANGED,
    CHECKS_APPLIED,
    ELSEWHERE,
    FALL,
    LEAST,
    RISE,
    WORSE,
)
from turnsignal.stream.statistics.promise import PROMISE
from turnsignal.stream.text.counts import count_of, listed, share_of
from turnsignal.stream.text.signed import signed, signed_percent
from turnsignal.stream.text.spoken_languages import language_name

_CHECKS_NAMED = 3  #: instructions that a sentence names
_OFTEN = 0.05  #: share of conversations without an answer from which it is said
_MOST_NAME_A_USER = 0.5  #: share of conversations
_SOME_NAME_A_USER = 0.1
_FEW_USERS = 10
_MANY_UNKNOWN = 1 / 3  #: share of follow-ups that no rule recognises, from which on few complaints mean little
_MAY_BE_MISSED = "so complaints may be missed (`turnsignal judge` reads those)"
_A_QUARTER_MORE = 1.25  #: the smallest ratio that is named
_NEARLY_NOTHING = 1e-6
_SEEN = 3.08 / 1.96  #: halves of a 95 % interval, from which on a change is seen in 4 of 5 recordings
_NUMBERS = {2: "both", 3: "all three", 4: "all four", 5: "all five", 6: "all six"}
#: theme, claim and the way in which the theme moved → the differences behind one sentence
_Moved = dict[tuple[Theme, str, int], list[dict[str, Any]]]


class Finding(NamedTuple):
    """One sentence, and what it rests on.

    change: worse, better or changed of a release; note for everything else; sentence: plain text, with names from the
    traffic as they came; evidence: assistant, figure, value, low and high of each difference behind it.
    """

    change: str
    sentence: str
    evidence: tuple[Mapping[str, Any], ...] = ()

    def as_json(self) -> dict[str, Any]:
        """Return it for `--json`."""
        return {"change": self.change, "sentence": self.sentence, "evidence": list(self.evidence)}


def find(summary: Mapping[str, Any]) -> list[Finding]:
    """Return what a replay's summary says, the gravest first; empty where nothing was scored."""
    compared = [*_compare(summary), *_affected(summary)]
    named = [finding for change in (WORSE, BETTER, CHANGED) for finding in compared if finding.change == change]
    named = [*map(_silence, summary.get("silences", ())), *_shifts(summary), *_records(summary), *named]
    notes = [
        Finding("note", stayed) if (stayed := stayed_before(summary)) else None,
        *_baselines(summary),
        *_unread_documents(summary),
        _not_compared(summary, compared),
        _not_by_user(summary, compared),
        _few_users(summary),
        *(Finding("note", sentence) for row in summary["comparisons"] if (sentence := nameless(row, summary))),
    ]
    if not named:
        notes += [_unread(summary), *_users(summary)]
    elif all(finding.change != WORSE for finding in named):
        notes.append(_unread(summary) or _unrecognised(summary))
    where = where_labels_fail(summary), where_to_work(summary)
    sentences = (tell_releases_apart(summary), broken_instructions(summary), *where)
    notes += [Finding("note", sentence) for sentence in sentences if sentence]
    return [*_beyond(summary), *named, *[note for note in notes if note]]


def _compare(summary: Mapping[str, Any]) -> Iterator[Finding]:
    """Say what changed from one release to the next, theme by theme."""
    checks = instructions(summary)
    pairs: dict[tuple[str | None, str | None], list[Mapping[str, Any]]] = {}
    for row in summary["comparisons"]:
        pairs.setdefault((row["before"], row["after"]), []).append(row)
    for (before, after), rows in pairs.items():
        moved = _once(_moved(rows, set(checks)))
        rank = partial(_rank, moved, {row.get("primary") for row in rows}, summary["suite"]["least_change"])
        for theme, change, way in sorted(moved, key=rank):
            behind = moved[theme, change, way]
            is_told = any(not entry.get("why", "").startswith(THANKED_LESS) for entry in behind)
            phrase = theme.phrase(way, judged=change != CHANGED and is_told)
            is_labelled = theme is RANKING and retrieval_fails_more(
                summary, before, after, {entry["assistant"] for entry in behind}
            )
            sentence = _sentence(after, phrase, theme, change, behind, len(rows), checks, is_labelled=is_labelled)
            yield Finding(change, sentence, tuple(behind))


def _moved(rows: Iterable[Mapping[str, Any]], checks: set[str]) -> _Moved:
    """Return what changed, by theme, claim and way: what rises in one assistant may fall in another."""
    moved: _Moved = {}
    for row in rows:
        for name, delta in row["deltas"].items():
            if delta["verdict"] in (WORSE, BETTER, CHANGED):
                entry = {"assistant": row["assistant"], "figure": name, **delta}
                theme = _theme(name, checks)
                moved.setdefault((theme, delta["verdict"], theme.way(name, _shown(entry)["value"])), []).append(entry)
    for change, way in product((WORSE, BETTER, CHANGED), (RISE, FALL)):
        if (RANKING, change, way) in moved:
            moved[RANKING, change, way] += moved.pop((WASTE, change, -way), [])
    return moved


def _once(moved: _Moved) -> _Moved:
    """Leave out of what moved for each assistant what another sentence about it says already."""
    themes, worse = set[tuple[str, Theme]](), set[tuple[str, Theme]]()
    breaks_more = {
        entry["assistant"]
        for entry in moved.get((INSTRUCTIONS, WORSE, FALL), ())
        if entry["figure"] in INSTRUCTIONS.figures
    }
    for (theme, change, _), behind in moved.items():
        of = {(entry["assistant"], theme) for entry in behind}
        themes |= of
        worse |= of if change == WORSE else set()
    several = {name for name, count in Counter(name for name, _ in themes).items() if count > 1}

    def is_said(theme: Theme, change: str, name: str) -> bool:
        if change == CHANGED and theme is OTHER:
            return name in several  # that more or less can be scored comes of what is said already
        if change == CHANGED:
            return (name, theme) in worse or (theme is CLARIFIED and (name, USERS) in themes)
        # Over all, fewer are kept; the check that rose stands in the table.
        return (theme, change) == (INSTRUCTIONS, BETTER) and name in breaks_more

    left = {
        (theme, change, way): [entry for entry in behind if not is_said(theme, change, entry["assistant"])]
        for (theme, change, way), behind in moved.items()
    }
    return {key: behind for key, behind in left.items() if behind}


def _affected(summary: Mapping[str, Any]) -> Iterator[Finding]:
    """Say in which part of the traffic a release is worse than in the rest of it, whether or not it is over all."""
    for row in summary["comparisons"]:
        for part in row.get("affected_parts", ()):
            is_language = part["parts"] == LANGUAGES
            where = f"in {language_name(part['name'])}" if is_language else f"on {part['name']}"
            here, elsewhere = (_delta([part[side]]) for side in ("here", "elsewhere"))
            who, of = _named(row["after"]), _of(row["assistant"])
            sentence = f"{who} {USERS.falls} {where}{of}: {part['figure']} {here}, elsewhere {elsewhere}"
            yield Finding(WORSE, sentence, ({"assistant": row["assistant"], **part},))


def _rank(
    moved: _Moved, primaries: set[str | None], least_change: float, key: tuple[Theme, str, int]
) -> tuple[bool, float, int]:
    """Put what the primary figure says first, then what moved most; themes of one size in their own order."""
    behind = moved[key]
    is_primary = any(entry["figure"] in primaries for entry in behind)
    size = max(_size(entry, least_change) for entry in behind)
    return not is_primary, -size, (*THEMES, OTHER).index(key[0])


def _size(entry: Mapping[str, Any], least_change: float) -> float:
    """Return how many times the smallest change that is worth naming of its kind a difference is.

    least_change: the suite's, of figures that have none of their own.
    """
    value = _shown(entry)["value"]
    if "unit" in entry:  # a ratio, less one
        return abs(math.log1p(max(value, _NEARLY_NOTHING - 1))) / math.log(_A_QUARTER_MORE)
    return float(abs(value) / LEAST.get(entry["figure"], least_change))


def _shown(entry: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the difference that a claim rests on: within the parts of the traffic that moved, or over all."""
    within = _within(entry)
    return within if within and within["p"] <= PROMISE else entry


def _within(entry: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the difference within the parts of the traffic that moved; empty where none did."""
    return next((entry[key] for key in WITHIN.values() if key in entry), {})


def _theme(figure: str, checks: set[str]) -> Theme:
    for theme in THEMES:
        if figure in theme.figures:
            return theme
    if figure in checks:
        return INSTRUCTIONS
    return OTHER if figure.startswith("coverage(") or figure == CHECKS_APPLIED else RANKING


def _sentence(
    after: str | None,
    phrase: str,
    theme: Theme,
    change: str,
    evidence: Sequence[Mapping[str, Any]],
    compared: int,
    checks: Mapping[str, str],
    *,
    is_labelled: bool,
) -> str:
    """Say one thing of a release: what, where, and the figure that shows it best; is_labelled: labels say it, too."""
    names = list(dict.fromkeys(entry["figure"] for entry in evidence))
    headline = next((name for name in theme.figures if name in names), names[0])
    shown = [entry for entry in evidence if entry["figure"] == headline]
    where = _where(list(dict.fromkeys(entry["assistant"] for entry in evidence)), compared)
    who = _named(after)
    others = [checks.get(name, name) for name in names if name != headline]
    beside = f"; also {listed(others[:_CHECKS_NAMED], len(others))}" if theme is INSTRUCTIONS and others else ""
    why = f", {shown[0]['why']}" if change != BETTER and "why" in shown[0] else ""
    if theme is not RANKING or set(names) <= set(ranked_figures(names)):
        beyond = {BETTER: theme.rests_on, WORSE: "" if is_labelled else theme.or_else}.get(change)
        why += f", {beyond}" if beyond else ""
    shown = [{**entry, **_shown(entry)} for entry in shown]
    return f"{who} {phrase}{where}: {checks.get(headline, headline)} {_delta(shown)}{beside}{why}"


def _where(assistants: list[str], compared: int) -> str:
    if compared == 1:
        return _of(assistants[0])
    if len(assistants) == compared:
        return f" in {_NUMBERS.get(compared, f'all {compared}')} assistants"
    return f" in {listed(assistants[:_CHECKS_NAMED], len(assistants))} (of {compared} assistants)"


def _of(assistant: str) -> str:
    return f" ({assistant})" if assistant != DEFAULT_ASSISTANT else ""


def _named(version: str | None) -> str:
    return "what has no version" if version is None else version


def _delta(shown: Sequence[Mapping[str, Any]]) -> str:
    """Write a difference: with its interval where it is one, from the least to the greatest where there are several."""
    write = signed_percent if "unit" in shown[0] else partial(signed, digits=2)
    values = sorted((entry["value"] for entry in shown), key=abs)
    if len(shown) == 1:
        return f"{write(values[0])} ({write(shown[0]['low'])} to {write(shown[0]['high'])})"
    least, most = write(values[0]), write(values[-1])
    return least if least == most else f"{least} to {most}"


def _silence(row: Mapping[str, Any]) -> Finding:
    """Say since when nobody answers; no release can be named for that."""
    since, until = (
        None if time is None else datetime.fromtimestamp(time, UTC).isoformat(timespec="seconds")
        for time in (row["since"], row["until"])
    )
    when = f"since {since}" if until is None else f"from {since} to {until}"
    sentence = f"nobody answers in {row['assistant']} {when}: {row['conversations']:,} conversations without an answer"
    return Finding(WORSE, sentence)


def _beyond(summary: Mapping[str, Any]) -> Iterator[Finding]:
    """Say where there are too many releases to tell apart, which is mostly a field that names something else."""
    if any((row.get("assistant"), row.get("version")) == OTHER_RELEASES for row in summary["quality"]):
        sentence = (
            f"more than {MAX_RELEASES:,} releases (assistant and version): those that came later are counted together "
            f'as "{" ".join(map(str, OTHER_RELEASES))}"; does assistant or version hold the id of something else, such '
            "as a session?"
        )
        yield Finding("note", sentence)


def _shifts(summary: Mapping[str, Any]) -> Iterator[Finding]:
    """Say first that traffic moved between platforms or languages: then figures move without the release."""
    for row in summary["comparisons"]:
        if shifted := row.get("shifted"):
            parts = row.get("moved", PLATFORMS)
            alike = any(_within(delta) for delta in row["deltas"].values())
            few = f"too few conversations are in {parts} that can be compared"
            how = f"releases are compared within {parts}" if alike else few
            release = with_release("with", row["after"] or "what has no version")
            yield Finding("note", f"{release}{_of(row['assistant'])}, traffic moved: {shifted}; {how}")


def _records(summary: Mapping[str, Any]) -> Iterator[Finding]:
    """Say first, too, that turns are written down otherwise: then figures move without the release."""
    for row in summary["comparisons"]:
        for note in row.get("record", ()):
            release = with_release("with", row["after"] or "what has no version")
            yield Finding("note", f"{release}{_of(row['assistant'])}, {note}")


def _unread_documents(summary: Mapping[str, Any]) -> Iterator[Finding]:
    """Say where documents are logged with turns of tools or users, be it from the beginning: nothing reads them."""
    shares = [row.get("figures", {}).get(ELSEWHERE, {}).get("value", 0.0) for row in summary["quality"]]
    if max(shares, default=0.0) >= LEAST[ELSEWHERE]:
        yield Finding(
            "note",
            f"{share_of(max(shares))} of a release's answers come behind documents on a turn of a tool or user, where "
            "nothing reads them: log what was retrieved with the assistant's turn",
        )


def _baselines(summary: Mapping[str, Any]) -> Iterator[Finding]:
    """Say of releases that answer side by side which one is the baseline, and why: no time tells."""
    ways = {BY_CONVERSATIONS: "with more conversations that were answered", BY_NAME: "the first by its version"}
    beside = [row for row in summary["comparisons"] if "baseline_by" in row]
    for before, after, by in dict.fromkeys((row["before"], row["after"], row["baseline_by"]) for row in beside):
        which = f"{before}, {ways[by]}, is the baseline; --baseline names another"
        yield Finding("note", f"{before} and {after} answer side by side: {which}")


def _not_compared(summary: Mapping[str, Any], compared: Sequence[Finding]) -> Finding | None:
    """Say why no release was compared, or that no change was shown."""
    rows = summary["quality"]
    if not rows or compared:
        return None
    if summary["comparisons"]:
        figures = max(len(row["deltas"]) for row in summary["comparisons"])
        unseen = _hardly_seen(summary["comparisons"])
        return Finding("note", f"no change shown from one release to the next in {figures} figures{unseen}")
    releases = {row["version"] for row in rows}
    if len(releases) == 1:
        return None
    names = [(row.get("assistant", DEFAULT_ASSISTANT), row["version"] or "no version") for row in rows]
    if len(dict(names)) == len(names):
        which = listed([" ".join(name) for name in names[:_CHECKS_NAMED]], len(names))
        return Finding("note", f"releases are not compared: each assistant has one ({which}); was one renamed?")
    few = min((row for row in rows if "not_compared" in row), key=lambda row: row["conversations"], default=None)
    if few is None:
        return Finding("note", "releases are not compared")
    cut = sum(few["left_out"].get(why, 0) for why in ("young", "headless"))
    others = f"; the recording begins or ends within {count_of(cut, 'other')}" if cut else ""
    others += " (if all are whole: replay --whole-conversations)" if cut else ""
    release = few["version"] or "what has no version"
    return Finding("note", f"releases are not compared: {release} has {few['not_compared']}{others}")


def _hardly_seen(comparisons: Iterable[Mapping[str, Any]]) -> str:
    """Say which change of the primary figure so few conversations would show in 4 of 5 recordings, in the widest.

    By the normal approximation at half of the promise, which the primary figure has: (2.24 + 0.84) standard errors.
    """
    known = ((row["primary"], row["deltas"][row["primary"]]) for row in comparisons if row.get("primary"))
    widths = [((delta["high"] - delta["low"]) / 2, name) for name, delta in known if "unit" not in delta]
    if not widths:
        return ""
    half, name = max(widths)
    return f"; with so many conversations, one of {name} by less than {half * _SEEN:.2f} would hardly be seen"


def _not_by_user(summary: Mapping[str, Any], compared: Sequence[Finding]) -> Finding | None:
    """Say beside a change of releases that answered side by side that nobody can tell how users were dealt to them."""
    after = [
        row["after"] or "what has no version"
        for row in summary["comparisons"]
        if row.get("side_by_side") and row["with_user"] < _MOST_NAME_A_USER
    ]
    if not compared or not after:
        return None
    names = listed(list(dict.fromkeys(after))[:_CHECKS_NAMED], len(set(after)))
    sentence = (
        f"{names} answered beside the release before, and turns name no user_id: where users were dealt to releases"
    )
    return Finding("note", f"{sentence}, and not conversations, a change is named by chance more often than in 5%")


def _few_users(summary: Mapping[str, Any]) -> Finding | None:
    """Say that few users stand behind a comparison: then hardly any change can be shown."""
    named = [row for row in summary["comparisons"] if row.get("with_user", 0.0) >= _SOME_NAME_A_USER]
    few = min((row.get("users", _FEW_USERS) for row in named), default=_FEW_USERS)
    if few >= _FEW_USERS:
        return None
    who = "1 user stands" if few == 1 else f"{few} users stand"
    return Finding(
        "note",
        f"{who} behind a release, and each counts once, whatever they ask: where `user_id` names no person (but an "
        "app, a team, a vote), leave it out",
    )


def _unknown(summary: Mapping[str, Any]) -> int:
    """Count the follow-ups in languages that are read of which no rule recognises what they say."""
    rows = [row for row in summary["scores"] if row["scorer"] == FOLLOW_UP]
    return sum(row.get("unscored", {}).get(Unscored.NO_SIGNAL, 0) for row in rows)


def _unread(summary: Mapping[str, Any]) -> Finding | None:
    """Say where many follow-ups are in languages that are not read, of which nobody can tell how users fared."""
    unread, came = count_unread(summary["scores"])
    if unread <= _MANY_UNKNOWN * came:
        return None
    return Finding(
        "note", f"{unread:,} of {came:,} follow-ups are in languages that rules do not read, {_MAY_BE_MISSED}"
    )


def _unrecognised(summary: Mapping[str, Any]) -> Finding | None:
    """Say where most follow-ups are not recognised: that nothing is called worse means little then."""
    n = sum(row["n"] for row in summary["scores"] if row["scorer"] == CLARIFICATION_FREE)
    unknown = _unknown(summary)
    if unknown <= _MANY_UNKNOWN * n:
        return None
    return Finding("note", f"no rule recognises what {unknown:,} of {n:,} follow-ups say, {_MAY_BE_MISSED}")


def _users(summary: Mapping[str, Any]) -> Iterator[Finding]:
    """Say how users fared, all releases together."""
    free = [row for row in summary["scores"] if row["scorer"] == CLARIFICATION_FREE and row["n"]]
    if n := sum(row["n"] for row in free):
        share = 1 - sum(row["mean"] * row["n"] for row in free) / n
        unknown = _unknown(summary)
        beside = f"; no rule recognises what {unknown:,} of them say" if unknown else ""
        beside += f", {_MAY_BE_MISSED}" if unknown > _MANY_UNKNOWN * n else ""
        sentence = f"users had to clarify in {share_of(share)} of {n:,} follow-ups in languages that are read{beside}"
        yield Finding("note", sentence)
    outcomes: Counter[str] = Counter()
    for row in summary.get("outcomes", ()):
        outcomes[row["outcome"]] += row["n"]
    closed = outcomes.total() - outcomes["cut"]
    if closed and outcomes["unanswered"] / closed >= _OFTEN:
        share = outcomes["unanswered"] / closed
        sentence = f"the last answer failed or never came in {share_of(share)} of {closed:,} conversations"
        yield Finding("note", sentence)
