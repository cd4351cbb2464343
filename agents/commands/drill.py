"""The command `drill`: whether a regression wakes somebody, tried on the workers that run."""

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, cast

import click

from turnsignal.agents.commands.options import reach_settings
from turnsignal.agents.environment import split_url

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from turnsignal.agents.settings import Settings
    from turnsignal.stream.simulation.drills import DrillTraffic
    from turnsignal.stream.simulation.traffic import Kind

ADDRESS = "URL"
_LINE, _SHOWN = 500, 60  # characters of a line, and beside the bar
#: `stream.simulation.drills.KINDS`, here so that `--help` need not import it; a test compares.
KINDS = ("retrieves_worse", "answers_worse", "breaks_format")


def _read_address(_: click.Context, __: click.Parameter, value: str | None) -> str | None:
    if value is None:
        return None
    parts = split_url(value)
    unfit = parts is None or parts.query or parts.fragment
    if "@" in (value if unfit or parts is None else parts.netloc):
        msg = (
            "expected an address without a user and a password, which the drill does not send, got one with them (not"
            " shown); try one that asks for neither, such as a forwarded port's"
        )
        raise click.BadParameter(msg)
    if unfit:
        msg = f"expected an address such as http://localhost:9090, got {value[:80]!r}"
        raise click.BadParameter(msg)
    return value.rstrip("/")


@click.command(
    short_help="Try whether a regression would wake somebody.",
    epilog="Example: turnsignal drill --prometheus http://localhost:9090",
)
@click.option(
    "--prometheus", metavar=ADDRESS, callback=_read_address, help="Wait for the alert in this Prometheus, too."
)
@click.option(
    "--alertmanager", metavar=ADDRESS, callback=_read_address, help="Wait until this Alertmanager has told somebody."
)
@click.option("--kind", type=click.Choice(KINDS), default=KINDS[0], show_default=True, help="What gets worse.")
@click.option(
    "--deadline",
    type=click.FloatRange(0.1, 120.0),
    default=10.0,
    show_default=True,
    help="Minutes to wait for each step.",
)
@click.option("--keep", is_flag=True, help="Leave the incident open, and the conversations to be looked at.")
@click.option("--yes", is_flag=True, help="Do not ask first.")
def drill(
    *, prometheus: str | None, alertmanager: str | None, kind: str, deadline: float, keep: bool, yes: bool
) -> None:
    """Try on the workers that run whether a regression wakes somebody: a fire drill.

    Sends 35 hours in the life of an assistant that is not there, whose v2 gets worse at the end, to TURNSIGNAL_BROKERS,
    and waits for the incident, and for the alert and its notification where it is told where to look. Says how
    long each step took, and what to do where a step fails. Then the incident is closed and the conversations are
    forgotten; score rows of the assistant stay. It takes some minutes.

    Nothing of other assistants moves: not what is usual of them, not their thresholds, and no clock. Whoever is on call
    may be woken: that is the point. Ends with 1 when a step does not come.
    """
    import time

    from turnsignal.agents.drilling.run import Addresses, Drill, plan, run
    from turnsignal.agents.process.interrupts import Interrupts
    from turnsignal.stream.errors import ConfigError

    if not yes and not sys.stdin.isatty():
        raise click.UsageError("expected somebody to be asked, or --yes: a drill writes to the broker and wakes people")
    settings = reach_settings()
    traffic = plan(settings, cast("Kind", kind), time.time())
    _describe(settings, traffic)
    if not yes and not click.confirm("Go on?"):
        msg = "nothing was sent"
        raise ConfigError(msg)
    # A signal ends the waiting, and not the cleaning up after it.
    with Interrupts() as interrupts, _shown_steps() as (say, progress), interrupts.let():
        began = Drill(settings, traffic, deadline * 60.0, say, progress)
        run(began, Addresses(prometheus, alertmanager), say, keep=keep)
    click.echo("The drill passed.")


def _describe(settings: "Settings", traffic: "DrillTraffic") -> None:
    """Say what is about to be written, and who hears of it."""
    from turnsignal.agents.kafka.topics import topic_names

    turns = len(traffic.healthy) + len(traffic.worse)
    names = topic_names(settings.prefix)
    click.echo(f"To {settings.brokers}, as the assistant {traffic.assistant}, in production:")
    click.echo(f"  {turns:,} turns of {len(traffic.conversations):,} conversations on {names['turns']}")
    click.echo(f"  what workers make of them: rows on {names['scores']} and the topics behind it, an incident, metrics")
    click.echo(
        "  whoever is on call, and TURNSIGNAL_NOTIFY, may hear of it; judges that run may take some of its answers"
    )


@contextmanager
def _shown_steps() -> "Iterator[tuple[Callable[[str], None], Callable[[str, float], None]]]":
    """Show a bar on standard error while it is a terminal; give what says a step, with its time, and what moves it."""
    import time
    from datetime import UTC, datetime

    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    from turnsignal.agents.report.escaping import plain, safe

    console, began = Console(stderr=True), time.monotonic()
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, disable=not console.is_terminal, transient=True) as bar:
        task = bar.add_task("drill", total=1.0)

        def say(line: str) -> None:
            click.echo(f"{datetime.now(UTC):%H:%M:%S}  {time.monotonic() - began:5.0f} s  {plain(line, _LINE)}")

        yield say, lambda what, share: bar.update(task, description=safe(what, _SHOWN), completed=share)
