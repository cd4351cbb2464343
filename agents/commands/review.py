"""The command `review`: which instruction checks of a replay tell nothing, or the wrong thing."""

from pathlib import Path

import click

from turnsignal.agents.commands.options import JSON, REPLAYED, open_console, print_json


@click.command(
    short_help="Say which instruction checks are worth their place.",
    epilog="Example: turnsignal replay turns.jsonl.gz --out out/replay && turnsignal review out/replay",
)
@click.argument("directory", type=REPLAYED)
@JSON
def review(directory: Path, *, as_json: bool) -> None:
    """Review the instruction checks of a replay: never failing, always failing, failing on good answers.

    DIRECTORY is what `turnsignal replay --out` wrote. An answer is otherwise good when its conversation was resolved,
    or its relevancy and its follow-up were both high.
    """
    from turnsignal.agents.replaying.result import read_result
    from turnsignal.agents.report.review import format_review
    from turnsignal.agents.report.tables import print_lines

    result = read_result(directory)
    if as_json:
        print_json(result.summary["review"])
        return
    print_lines(open_console(), format_review(result))
