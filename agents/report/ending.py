"""The end of a replay, a review or a demo: overview, details, and what to type next."""

import shlex
from collections.abc import Iterator, Mapping
from typing import Any

from rich.console import RenderableType
from rich.text import Text

from turnsignal.agents.replaying.result import ReplayResult
from turnsignal.agents.report.alerts import format_alerts
from turnsignal.agents.report.details import format_details
from turnsignal.agents.report.escaping import plain
from turnsignal.agents.report.judged_scores import format_judged_scores
from turnsignal.agents.report.overview import describe_input, format_overview, name_releases
from turnsignal.agents.report.program_name import typed_program
from turnsignal.stream.reports.review import SUSPECT
from turnsignal.stream.reports.worst import worse_releases


def format_ending(result: ReplayResult, width: int = 120, *, is_sample: bool = False) -> Iterator[RenderableType]:
    """Give everything that a result says, for a console of `width` columns: a first screen, then details.

    is_sample: the turns are the simulated ones, so what to type next includes one's own.
    """
    yield from format_overview(result, width)
    if result.summary["turns"]:
        yield from format_details(result)
        yield from format_judged_scores(result.summary)
        yield Text()
    yield from format_alerts(result.summary)
    for line in describe_input(result):
        yield Text(line, no_wrap=True, overflow="ignore")
    yield Text(f"Rows, summary and worst exchanges: {plain(result.directory, 300)}", no_wrap=True)
    for command, what_for in next_commands(result, is_sample=is_sample):
        yield Text.assemble(("Next: ", "dim"), (command, "bold"), (f"  # {what_for}", "dim"), no_wrap=True)


def next_commands(result: ReplayResult, *, is_sample: bool = False) -> list[tuple[str, str]]:
    """Return what to type next and what for: the worst conversation, suspect checks, one's own turns."""
    program = typed_program()
    directory = shlex.quote(str(result.directory))
    worst = _worst(result)
    commands = []
    if worst is not None:
        command = f"{program} conversation {shlex.quote(worst['conversation_id'])} --from {directory}"
        (release,) = name_releases([(worst["assistant"], worst["version"])])
        commands.append((command, "read the worst one" if release == "-" else f"read the worst one of {release}"))
    if any(row["verdict"] in SUSPECT for row in result.summary["review"]):
        commands.append((f"{program} review {directory}", "checks that tell nothing, or the wrong thing"))
    if is_sample:
        commands.append((f"{program} replay turns.jsonl.gz", "the same of your own turns"))
    if not result.summary["turns"]:
        commands.append((f"{program} replay --sample", "what it looks like with turns that can be read"))
    return commands


def _worst(result: ReplayResult) -> Mapping[str, Any] | None:
    """Return the worst exchange of a release that is named worse, else of all, whose id can be typed; None without."""
    worse = worse_releases(result.summary["comparisons"])
    ids = ((row["conversation_id"], row) for row in result.worst)
    typed = [row for name, row in ids if plain(name, len(name)) == name and not name.startswith("-")]
    return next((row for row in typed if (row["assistant"], row["version"]) in worse), next(iter(typed), None))
