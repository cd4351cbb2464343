"""`turnsignal kafka …`: a real single-node Kafka for development, without Docker."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from turnsignal.agents.commands.options import JSON, print_json
from turnsignal.agents.commands.suggestions import SuggestingGroup
from turnsignal.agents.process.exits import EXIT_FAILED

if TYPE_CHECKING:
    from turnsignal.agents.kafka.process import KafkaProcess

DIRECTORY = click.option(
    "--dir",
    "directory",
    type=click.Path(path_type=Path, file_okay=False),
    required=True,
    help="Where data, log and ports are kept; another directory, another broker.",
)


@click.group(
    cls=SuggestingGroup,
    short_help="Run a real Kafka for development.",
    epilog="Example: turnsignal kafka start --dir /tmp/kafka",
)
def kafka() -> None:
    """Run a real Kafka for development (needs Java 17 and, the first time, Maven)."""


@kafka.command(
    short_help="Start it and print its address.",
    epilog="Example: export TURNSIGNAL_BROKERS=$(turnsignal kafka start --dir /tmp/kafka)",
)
@DIRECTORY
def start(directory: Path) -> None:
    """Start it and print its address; nothing happens when it runs already."""
    process = _process(directory)
    seconds = process.start()
    click.echo(f"Kafka answers after {seconds:.1f} s; its log is {process.log}", err=True)
    click.echo(process.address)


@kafka.command(epilog="Example: turnsignal kafka stop --dir /tmp/kafka")
@DIRECTORY
def stop(directory: Path) -> None:
    """End it cleanly; its data stays."""
    click.echo(f"Stopped after {_process(directory).stop():.1f} s; start it again on the same data with `kafka start`.")


@kafka.command(
    short_help="End it as kill -9 does; its data stays.", epilog="Example: turnsignal kafka crash --dir /tmp/kafka"
)
@DIRECTORY
def crash(directory: Path) -> None:
    """End it as kill -9 does, to see what workers make of it; its data stays."""
    _process(directory).crash()
    click.echo("Killed; start it again on the same data with `kafka start`.")


@kafka.command(epilog="Example: turnsignal kafka restart --dir /tmp/kafka")
@DIRECTORY
def restart(directory: Path) -> None:
    """Stop and start."""
    click.echo(f"Restarted in {_process(directory).restart():.1f} s.")


@kafka.command(epilog="Example: turnsignal kafka status --dir /tmp/kafka")
@DIRECTORY
@JSON
def status(directory: Path, *, as_json: bool) -> None:
    """Say whether it runs; exit code 1 when it does not."""
    status = _process(directory).status()
    if as_json:
        print_json(
            {"runs": status.pid is not None, "address": status.address, "pid": status.pid, "log": str(status.log)}
        )
        raise SystemExit(EXIT_FAILED if status.pid is None else 0)
    if status.pid is None:
        click.echo(f"Does not run; its data and log are in {status.directory}, if it ever did.")
        raise SystemExit(EXIT_FAILED)
    click.echo(f"Runs on {status.address}, pid {status.pid}; log {status.log}")


def _process(directory: Path) -> "KafkaProcess":
    from turnsignal.agents.kafka.process import KafkaProcess

    return KafkaProcess(directory, say=lambda line: click.echo(line, err=True))
