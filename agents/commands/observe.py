"""The command `observe`: Prometheus, Alertmanager and Grafana over workers that run."""

import os
import sys
from pathlib import Path

import click

ADDRESS = "HOST:PORT"


def _read_addresses(_: click.Context, __: click.Parameter, values: tuple[str, ...]) -> tuple[str, ...]:
    from turnsignal.agents.environment import read_brokers

    for value in values:
        try:
            if "," in read_brokers(value):
                raise ValueError("one address, got several")
        except ValueError as error:
            msg = f"expected {ADDRESS} of a worker's pages, got {value[:80]!r}: {error}"
            raise click.BadParameter(msg) from None
    return values


@click.command(
    short_help="Look at workers in Prometheus, Alertmanager and Grafana.",
    epilog="Example: turnsignal observe --worker score-1:9108 --worker watch-1:9109",
)
@click.option(
    "--worker",
    "workers",
    multiple=True,
    metavar=ADDRESS,
    callback=_read_addresses,
    help="Where a worker's pages are; repeatable.  [TURNSIGNAL_METRICS_PORT of this machine, and the port above it]",
)
@click.option(
    "--directory",
    type=click.Path(path_type=Path, file_okay=False),
    help="Where configuration, data and logs go.  [out/observe]",
)
def observe(workers: tuple[str, ...], directory: Path | None) -> None:
    """Look at running workers in Prometheus, Alertmanager and Grafana, as far as they are installed.

    Starts what is on the PATH, on ports that are free, with the rules, alerts and dashboards that turnsignal brings;
    without Prometheus, all three in containers where a Docker engine answers. Ctrl-C ends what it started, and nothing
    else. With nothing installed it says how to install it, and where the workers' own pages are.
    """
    from turnsignal.agents.observe.run import DIRECTORY, worker_addresses
    from turnsignal.agents.observe.run import observe as run

    addresses = workers or worker_addresses(os.environ)
    sys.exit(run(addresses, directory or DIRECTORY, os.environ, click.echo))
