"""`turnsignal compare …`: the same turns under two suites, or two replays of them."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from turnsignal.agents.commands.options import (
    FORMAT,
    JSON,
    MAPPING,
    STRICT,
    SUITE,
    how_to_read,
    open_console,
    print_json,
    shown_progress,
)

if TYPE_CHECKING:
    from turnsignal.agents.files.recognising import HowToRead
    from turnsignal.agents.files.result import ReplayResult
    from turnsignal.stream.reports.paired import PairedScores

ALL = "all"
_SIDES = 2


@click.command(
    epilog="Example: turnsignal compare turns.jsonl.gz --suite now.toml --suite next.toml --fail-if-worse follow_up"
)
@click.argument("paths", type=click.Path(path_type=Path, exists=True, readable=True), nargs=-1, required=True)
@click.option("--suite", "suites", type=SUITE, multiple=True, help="Two suites for files of turns; give it twice.")
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    default="out/compare",
    show_default=True,
    help="Directory for the replays of both suites.",
)
@click.option("--primary", help="The score that it is about: half of the promise is kept for it.  [of the last suite]")
@click.option(
    "--fail-if-worse", metavar="SCORES", help="End with 3 when one of these (all: any) is worse; for a build."
)
@click.option("--plan", type=float, metavar="CHANGE", help="Say how many conversations it takes to show such a change.")
@JSON
@FORMAT
@MAPPING
@STRICT
def compare(
    paths: tuple[Path, ...],
    *,
    suites: tuple[Path, ...],
    out: Path,
    primary: str | None,
    fail_if_worse: str | None,
    plan: float | None,
    as_json: bool,
    format_name: str | None,
    mapping: Path | None,
    strict: bool,
) -> None:
    """Say what differs between two replays of the same turns, or what a second suite would change.

    PATHS are two directories that `replay --out` wrote, or files of turns (or any chat log) with two suites. Every
    exchange is compared with itself, so small differences show; a conversation is what counts as one. Where nothing
    differs, at most 5 % of comparisons name a change. Ends with 3 when --fail-if-worse finds something worse, 1 when
    the replays are not of the same turns.
    """
    from turnsignal.agents.files.comparing import compare_results
    from turnsignal.agents.process.exits import EXIT_WORSE
    from turnsignal.agents.report.comparison import format_comparison
    from turnsignal.agents.report.tables import print_lines

    if plan is not None and not 0 < plan < 1:
        raise click.UsageError("--plan: expected a change between 0 and 1 such as 0.02")
    before, after, names = _sides(paths, suites, out, how_to_read(format_name, mapping, strict=strict))
    size = sum((result.directory / "scores.jsonl").stat().st_size for result in (before, after))
    with shown_progress("comparing", size) as (_, reading, _sending):
        scores = compare_results(before, after, reading)
    promised = after.summary["suite"]
    comparison = scores.as_json(primary or promised["primary"], promised["least_change"], promised["minimum_n"])
    wanted = _wanted(fail_if_worse, comparison["figures"])
    comparison["planned"] = {} if plan is None else _plan(scores, plan)
    if as_json:
        print_json({"before": names[0], "after": names[1], **comparison})
    else:
        print_lines(open_console(), format_comparison(comparison, names))
        for name, n in comparison["planned"].items():
            click.echo(f"To show a change of {plan:g} in {name}: {n:,} conversations.")
    if worse := [name for name in wanted if comparison["figures"][name]["verdict"] == "worse"]:
        click.echo(f"Worse: {', '.join(worse)}.", err=True)
        sys.exit(EXIT_WORSE)


def _sides(
    paths: tuple[Path, ...], suites: tuple[Path, ...], out: Path, how: "HowToRead"
) -> tuple["ReplayResult", "ReplayResult", tuple[str, str]]:
    """Return both replays and what to call them; files are replayed under both suites."""
    from turnsignal.agents.files.result import read_result

    directories = [path.is_dir() for path in paths]
    if all(directories):
        if len(paths) != _SIDES or suites:
            got = f"{len(paths)} of them{' and --suite' if suites else ''}"
            msg = f"expected two directories of replays, or files with two --suite; got {got}"
            raise click.UsageError(msg)
        return read_result(paths[0]), read_result(paths[1]), (str(paths[0]), str(paths[1]))
    if any(directories) or len(suites) != _SIDES:
        got = "both kinds" if any(directories) else f"files and {len(suites)} --suite"
        msg = f"expected two directories of replays, or files with two --suite; got {got}"
        raise click.UsageError(msg)
    names = [suite.stem for suite in suites]
    if names[0] == names[1]:
        names = [str(suite) for suite in suites]
    results = [_replay(paths, suite, out / part, how) for suite, part in zip(suites, ("before", "after"), strict=True)]
    return results[0], results[1], (names[0], names[1])


def _replay(paths: tuple[Path, ...], suite: Path, out: Path, how: "HowToRead") -> "ReplayResult":
    import os
    import time

    from turnsignal.agents.files.importing import Imported
    from turnsignal.agents.files.reading import Recording
    from turnsignal.agents.files.redacting import suite_in_force
    from turnsignal.agents.files.replaying import replay_files
    from turnsignal.agents.files.result import read_result

    chosen = suite_in_force(suite, os.environ.get("TURNSIGNAL_REDACTION") or None)
    with (
        Imported(paths, how, say=lambda line: click.echo(line, err=True)) as imported,
        shown_progress(f"replaying under {suite.name}", Recording(imported.sources).size) as (_, reading, _sending),
    ):
        replay_files(imported.sources, out, chosen, time.time(), refused=imported.refused, progress=reading)
    return read_result(out)


def _wanted(text: str | None, figures: Mapping[str, Any]) -> list[str]:
    """Read the scores that must not be worse; all of them for `all`."""
    if text is None:
        return []
    if text.strip() == ALL:
        return list(figures)
    names = [name.strip() for name in text.split(",") if name.strip()]
    unknown = [name for name in names if name not in figures]
    if unknown or not names:
        known = ", ".join(figures)
        got = repr(unknown[0]) if unknown else "none"
        msg = f"--fail-if-worse: expected scores that both replays have ({known}), or all; got {got}"
        raise click.UsageError(msg)
    return names


def _plan(scores: "PairedScores", change: float) -> dict[str, int]:
    from turnsignal.stream.reports.paired import conversations_needed

    return {
        name: conversations_needed(delta, change)
        for name, delta in scores.differences().items()
        if delta.high > delta.low
    }
