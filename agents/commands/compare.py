"""`turnsignal compare …`: the same turns under two suites, two replays of them, or two systems asked the same."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from turnsignal.agents.commands.failing import FAIL_IF_WORSE, end_as_not_known, end_as_worse, named_scores
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
from turnsignal.agents.commands.recorded import or_from_topic

if TYPE_CHECKING:
    from turnsignal.agents.files.recognising import HowToRead
    from turnsignal.agents.replaying.result import ReplayResult

_SIDES = 2


@click.command(
    short_help="Say what differs between two replays or two suites.",
    epilog="Example: turnsignal compare turns.jsonl.gz --suite now.toml --suite next.toml --fail-if-worse follow_up",
)
@click.argument("paths", type=click.Path(path_type=Path, exists=True, readable=True), nargs=-1)
@click.option("--suite", "suites", type=SUITE, multiple=True, help="Two suites for files of turns; give it twice.")
@click.option(
    "--systems",
    is_flag=True,
    help="PATHS are of two systems that were asked the same questions; conversations are paired by case.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    default="out/compare",
    show_default=True,
    help="Directory for the replays of both suites.",
)
@click.option("--primary", help="The score that it is about: half of the promise is kept for it.  [of the last suite]")
@click.option(
    FAIL_IF_WORSE,
    metavar="SCORES",
    help="End with 3 when one of these (any: of all) is worse, with 4 when there are too few to tell; for a build.",
)
@click.option(
    "--plan", type=float, metavar="CHANGE", help="Say how much traffic it takes to name such a change, 0.05 perhaps."
)
@click.option(
    "--whole-conversations",
    is_flag=True,
    help="No conversation of files is cut, as always with --systems. For directories, give it to `replay`.",
)
@JSON
@FORMAT
@MAPPING
@STRICT
@or_from_topic("paths", Path("out/compare"))
def compare(
    paths: tuple[Path, ...],
    *,
    suites: tuple[Path, ...],
    systems: bool,
    out: Path,
    primary: str | None,
    fail_if_worse: str | None,
    plan: float | None,
    whole_conversations: bool,
    as_json: bool,
    format_name: str | None,
    mapping: Path | None,
    strict: bool,
) -> None:
    """Say what differs between two replays of the same turns, or what a second suite would change.

    PATHS are two directories that `replay --out` wrote, or files of turns (or any chat log) with two suites. Every
    exchange is compared with itself, so small differences show; a conversation is what counts as one. Where nothing
    differs, at most 5 % of comparisons name a change. With --systems, PATHS are two replays, or two files of turns and
    at most one suite, of systems that were asked the same questions: a case is known by the case_id that `truth` or
    `metadata` names, else by the question that opens it. Ends with 3 when --fail-if-worse finds something worse; with
    4 when fewer conversations than the suite's minimum_n have one of its scores (any: have the primary one, or any), or
    when nothing is left to score by one of them, or far more cases have no record of the second system than of the
    first, or the primary score is users', who write the same whatever they are answered; 1 when the replays are not of
    the same turns.
    """
    from turnsignal.agents.replaying.comparing import compare_results, compare_systems, count_cut
    from turnsignal.agents.report.comparison import describe_too_few, format_comparison
    from turnsignal.agents.report.tables import print_lines
    from turnsignal.stream.reports.planned_traffic import plan as plan_traffic

    if plan is not None and not 0 < plan < 1:
        raise click.UsageError("--plan: expected a change between 0 and 1 such as 0.02")
    how = how_to_read(format_name, mapping, strict=strict)
    if systems:
        before, after, names = _systems(paths, suites, out, how)
    else:
        before, after, names = _sides(paths, suites, out, how, whole=whole_conversations)
    size = sum((result.directory / "scores.jsonl").stat().st_size for result in (before, after))
    with shown_progress("comparing", size) as (_, reading, _sending):
        if systems:
            scores, pairs = compare_systems(before, after, reading, lambda line: click.echo(line, err=True))
        else:
            scores, pairs = compare_results(before, after, reading), None
    promised = after.summary["suite"]
    promise = (primary or promised["primary"], promised["least_change"], promised["minimum_n"])
    comparison = scores.as_json(*promise)
    wanted = _wanted(fail_if_worse, comparison)
    if pairs is not None:
        counts = {"by_id": pairs.by_id, "by_question": pairs.by_question}
        comparison["pairs"] = counts | {"alone": list(pairs.alone), "written": list(pairs.written)}
        comparison["judged"] = any("judged" in result.summary for result in (before, after))
    planned = {} if plan is None else plan_traffic(scores, plan, *promise)
    comparison["review"] = [
        row
        for result, which in ((before, "only_before"), (after, "only_after"))
        for row in result.summary["review"]
        if row["check"] in comparison[which]
    ]
    comparison["cut"] = [count_cut(result) for result in (before, after)]
    comparison["planned"] = {name: needed._asdict() for name, needed in planned.items()}
    if as_json:
        print_json({"before": names[0], "after": names[1], **comparison})
    else:
        print_lines(open_console(), format_comparison(comparison, names))
        for name, needed in planned.items():
            if needed.conversations is None:
                why = f"what comes out below least_change ({promise[1]:g}) is never named"
                click.echo(f"No traffic names a change of {plan:g} in {name} in 80 of 100 cases: {why}.")
                continue
            days = "" if needed.days is None else f", {needed.days:,.1f} days of this traffic"
            click.echo(f"To name a change of {plan:g} in {name}: {needed.conversations:,} conversations{days}.")
    figures = comparison["figures"]
    if fail_if_worse is None:
        return
    end_as_worse(name for name in wanted if name in figures and figures[name]["verdict"] == "worse")
    few, lost = _too_few(wanted, comparison), _lost(wanted, comparison)
    end_as_not_known("" if few is None else describe_too_few(comparison, few))
    end_as_not_known(f"nothing is left to score by {', '.join(lost)}" if lost else "")
    end_as_not_known(comparison["lacking"])


def _sides(
    paths: tuple[Path, ...], suites: tuple[Path, ...], out: Path, how: "HowToRead", *, whole: bool
) -> tuple["ReplayResult", "ReplayResult", tuple[str, str]]:
    """Return both replays and what to call them; files are replayed under both suites."""
    from turnsignal.agents.replaying.comparing import score_alike
    from turnsignal.agents.replaying.result import read_result

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
    parts = zip(suites, ("before", "after"), strict=True)
    results = [_replay(paths, suite, out / part, how, whole=whole) for suite, part in parts]
    if score_alike(*results):
        click.echo(f"{suites[0]} and {suites[1]} score alike (same fingerprint): nothing can differ", err=True)
    return results[0], results[1], (names[0], names[1])


def _systems(
    paths: tuple[Path, ...], suites: tuple[Path, ...], out: Path, how: "HowToRead"
) -> tuple["ReplayResult", "ReplayResult", tuple[str, str]]:
    """Return the replays of two systems and what to call them; files are replayed under the same suite."""
    from turnsignal.agents.replaying.result import read_result

    directories = {path.is_dir() for path in paths}
    if len(paths) != _SIDES or len(directories) > 1 or len(suites) > (0 if True in directories else 1):
        got = f"{len(paths)} paths and {len(suites)} --suite"
        msg = f"--systems: expected two directories of replays, or two files with one --suite at most; got {got}"
        raise click.UsageError(msg)
    if True in directories:
        results = [read_result(path) for path in paths]
    else:
        suite = suites[0] if suites else None
        parts = zip(paths, ("before", "after"), strict=True)
        # Who asks a system a list of questions asks no more when it is done, however short a while ago that is.
        results = [_replay((path,), suite, out / part, how, whole=True) for path, part in parts]
    names = (str(paths[0]), str(paths[1])) if True in directories else (paths[0].name, paths[1].name)
    return results[0], results[1], names


def _replay(paths: tuple[Path, ...], suite: Path | None, out: Path, how: "HowToRead", *, whole: bool) -> "ReplayResult":
    import os
    import time

    from turnsignal.agents.files.importing import Imported
    from turnsignal.agents.files.reading import Recording
    from turnsignal.agents.replaying.result import read_result
    from turnsignal.agents.replaying.run import replay_files
    from turnsignal.agents.suite_files import suite_in_force

    what = f"replaying {paths[0].name}" if suite is None else f"replaying under {suite.name}"
    chosen = suite_in_force(suite, os.environ.get("TURNSIGNAL_REDACTION") or None)
    with (
        Imported(paths, how, say=lambda line: click.echo(line, err=True)) as imported,
        shown_progress(what, Recording(imported.sources).size) as (_, reading, _sending),
    ):
        replay_files(
            imported.sources,
            *(out, chosen, time.time()),
            refused=imported.refused,
            whole=whole,
            read_as=how,
            progress=reading,
        )
    return read_result(out)


def _wanted(text: str | None, comparison: Mapping[str, Any]) -> list[str]:
    """Read the scores that must not be worse; all of them for `any`."""
    if text is None:
        return []
    from turnsignal.stream.statistics.directions import PRIMARIES

    known = {*comparison["not_compared"], *PRIMARIES}  # of the last, some need whole conversations
    return named_scores(text, comparison["figures"], known, "both replays have")


def _lost(wanted: list[str], comparison: Mapping[str, Any]) -> list[str]:
    """Return the scores that must not be worse, and by which nothing of the second side can be scored any more."""
    every = bool(wanted) and wanted == list(comparison["figures"])
    return [name for name in comparison["lost"] if every or name in wanted]


def _too_few(wanted: list[str], comparison: Mapping[str, Any]) -> list[str] | None:
    """Return the scores that keep `--fail-if-worse` from being answered, None where it is.

    Among all scores, there is always one that few conversations have: the primary one decides, or that none has enough.
    Where the primary one has values on one side alone, nobody can tell.
    """
    figures, few, primary = comparison["figures"], comparison["too_few"], comparison["primary"]
    if len(few) == len(figures):
        return list(few)
    if wanted == list(figures):
        gone = primary not in figures and primary in comparison["not_compared"]
        return [primary] if primary in few or gone else None
    return [name for name in wanted if name in few or name not in figures] or None
