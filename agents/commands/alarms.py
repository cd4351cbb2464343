"""`turnsignal alarms …`: which alarms a recording would have raised, and how that compares with what is known."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from turnsignal.agents.commands.options import FILE, JSON, SUITE, open_console, print_json

if TYPE_CHECKING:
    from turnsignal.stream.detection.backtest import BackTest
    from turnsignal.stream.suite import Suite


@click.command(
    short_help="Say which alerts would have fired, and when.",
    epilog="Example: turnsignal alarms out/replay --rules next.toml --known incidents.jsonl --tune",
)
@click.argument("paths", type=click.Path(path_type=Path, exists=True, readable=True), nargs=-1, required=True)
@click.option("--rules", type=SUITE, help="The suite whose [alerts] hold.  [TURNSIGNAL_SUITE, or the built-in one]")
@click.option("--known", type=FILE, help="Known incidents, one JSON object in a line: name, assistant, began, ended.")
@click.option("--tune", is_flag=True, help="Find alerts.assistants for one false page in 30 days of this history.")
@JSON
def alarms(paths: tuple[Path, ...], *, rules: Path | None, known: Path | None, tune: bool, as_json: bool) -> None:
    """Say which alerts would have fired, when, and with how much evidence.

    PATHS are directories of `replay --alerts`, or files of the topic of series that `export` wrote. The detectors are
    those of `worker watch`, so the incidents are those that opened live. Says how many series were watched, which were
    not, and why: none is before it has 1,000 values and a day. With --known, says which known incidents would have been
    detected, how late, and which of those detected nobody knows. A record that is none is set aside and named, as the
    worker does.
    """
    import os

    from turnsignal.agents.replaying.past_alarms import read_known, read_series, series_files
    from turnsignal.agents.report.alerts import format_alerts, format_known, format_refused, format_tried
    from turnsignal.agents.report.tables import print_lines
    from turnsignal.agents.suite_files import suite_in_force
    from turnsignal.stream.detection.backtest import back_test
    from turnsignal.stream.detection.known_incidents import find_quiet, match_incidents
    from turnsignal.stream.errors import TurnsignalError
    from turnsignal.stream.pipeline.scoring import policy_of

    suite = suite_in_force(rules or os.environ.get("TURNSIGNAL_SUITE") or None, None)
    listed = [] if known is None else read_known(known)

    def run(under: "Suite") -> "BackTest":
        try:
            return back_test(read_series(paths), policy_of(under))
        except ValueError as error:
            msg = f"{', '.join(map(str, paths))}: expected records of series, got one that is none: {error}"
            raise TurnsignalError(msg) from None

    def run_with(assistants: int) -> "BackTest":
        part = suite.alerts.model_copy(update={"assistants": assistants})
        return run(suite.model_copy(update={"alerts": part}))

    test = run(suite)
    described: dict[str, Any] = test.as_json()
    count, first = test.refused
    if count:
        files = series_files(paths)
        named = [f"{files[record.source]}:{record.line}: {record.reason}" for record in first]
        described["refused"] = {"records": count, "first": named}
    if known is not None:
        matched = match_incidents(test, listed)
        described["known"] = matched.as_json()
    tried = find_quiet(run_with, listed) if tune else []
    if tune:
        described["tried"] = [each._asdict() for each in tried]
    if as_json:
        print_json(described)
        return
    console = open_console()
    print_lines(console, format_refused(described))
    print_lines(console, format_alerts({"alerts": described}))
    if known is not None:
        print_lines(console, format_known(matched))
    if tune:
        print_lines(console, format_tried(tried))
