"""Failing: ends a command with a status of its own where a score is worse that was not to be, for builds and cron."""

import sys
from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING, Any

import click

from turnsignal.agents.process.exits import EXIT_TOO_FEW, EXIT_WORSE
from turnsignal.stream.text.misspelt import nearest

if TYPE_CHECKING:
    from turnsignal.stream.suite import Suite

FAIL_IF_WORSE = "--fail-if-worse"
_LIKE = 0.7  # how alike a word and a score's name are, of 1, from which on the name may be meant
_ANY = ("any", "all")  #: either means that none of them may be worse


def named_scores(text: str, figures: Collection[str], known: Collection[str], which: str) -> list[str]:
    """Read the scores that must not be worse; all `figures` for `any`.

    known: names that are none of `figures`, and right all the same; which: what a score is expected to be, for the
    message. Raises click.UsageError with the first name that is not known.
    """
    if text.strip() in _ANY:
        return list(figures)
    names = [name.strip() for name in text.split(",") if name.strip()]
    unknown = [name for name in names if name not in figures and name not in known]
    if unknown or not names:
        got = repr(unknown[0]) if unknown else "none"
        msg = f"{FAIL_IF_WORSE}: expected scores that {which} ({', '.join(figures or known)}), or any; got {got}"
        raise click.UsageError(msg)
    return names


def refuse_misspelt(text: str | None, suite: "Suite") -> None:
    """Refuse, before anything is scored, a name that is nearly that of a score.

    Raises click.UsageError with what may be meant.
    """
    from turnsignal.stream.pipeline.scoring import scorer_names
    from turnsignal.stream.reports.quality import Quality
    from turnsignal.stream.statistics.directions import DIRECTIONS, PRIMARIES

    possible = {*Quality(scorer_names(suite)).figures, *PRIMARIES, *DIRECTIONS, *_ANY}
    folded = {name.casefold(): name for name in possible}
    for name in filter(None, map(str.strip, (text or "").split(","))):
        near = nearest(name.casefold(), folded, like=_LIKE)
        if name not in possible and near:
            msg = f"{FAIL_IF_WORSE}: no score is called {name!r}; did you mean {folded[near[0]]}?"
            raise click.UsageError(msg)


def end_as_worse(names: Iterable[str]) -> None:
    """End with 3 where there are names of what is worse."""
    if worse := list(names):
        click.echo(f"Worse: {', '.join(worse)}.", err=True)
        sys.exit(EXIT_WORSE)


def end_as_not_known(why: str) -> None:
    """End with 4, where there is a reason why nobody can tell; "" is none."""
    if why:
        click.echo(f"Not known whether it is worse: {why}.", err=True)
        sys.exit(EXIT_TOO_FEW)


def end_by_releases(text: str | None, summary: Mapping[str, Any]) -> None:
    """End with 3 where the newest release of an assistant is worse, with 4 where it could not be compared.

    text: the scores that must not be worse, None for none; summary: of a replay.
    """
    if text is None:
        return
    from turnsignal.stream.reports.newest_release import newest_releases
    from turnsignal.stream.statistics.directions import PRIMARIES

    releases = newest_releases(summary)
    figures = list(dict.fromkeys(name for one in releases for name in one.verdicts))
    known = {*PRIMARIES, *(row["scorer"] for row in summary["scores"])}
    wanted = named_scores(text, figures, known, "releases are compared by")
    silent = [f"nobody answers in {row['assistant']}" for row in summary["silences"] if row["until"] is None]
    worse = [f"{name} of {one.name}" for one in releases for name in wanted if one.verdicts.get(name) == "worse"]
    end_as_worse([*silent, *worse])
    needed = [] if wanted == figures else wanted  # among all figures, there is always one that few conversations have
    end_as_not_known("; ".join(filter(None, (one.not_known(needed) for one in releases))))
    end_as_not_known("" if releases else "no assistant has two releases")
