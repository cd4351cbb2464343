"""turnsignal: the console command.

Every command imports what it needs when it runs, so that `--help` answers at once and `replay` needs no Kafka. Exit
codes are the same everywhere: `agents.process.exits` has them, and `--help` ends with them.
"""

import os
import sys
from pathlib import Path
from typing import Any

import click

from turnsignal.agents.app_table import APPS, describe_apps
from turnsignal.agents.commands.alarms import alarms
from turnsignal.agents.commands.compare import compare
from turnsignal.agents.commands.convert import convert
from turnsignal.agents.commands.drill import drill
from turnsignal.agents.commands.export import export
from turnsignal.agents.commands.judge import judge
from turnsignal.agents.commands.kafka import kafka
from turnsignal.agents.commands.measure import measure
from turnsignal.agents.commands.observe import observe
from turnsignal.agents.commands.options import (
    FILES,
    FORMAT,
    JSON,
    MAPPING,
    SPEED,
    STRICT,
    SUITE,
    chosen_suite,
    how_to_read,
    open_console,
    print_json,
    reach_settings,
    read_settings,
)
from turnsignal.agents.commands.produce import produce
from turnsignal.agents.commands.regressions import regressions
from turnsignal.agents.commands.replay import replay
from turnsignal.agents.commands.report import report
from turnsignal.agents.commands.review import review
from turnsignal.agents.commands.sparing import OutFile, SparingCommand
from turnsignal.agents.commands.suggestions import SuggestingGroup
from turnsignal.agents.commands.suite import schema, suite
from turnsignal.agents.commands.topics import forget, topics
from turnsignal.agents.commands.working import all_apps, make_app
from turnsignal.agents.environment import PREFIX, refuse_unknown
from turnsignal.agents.process.disks import NO_ROOM, describe_no_room
from turnsignal.agents.process.exits import (
    EXIT_FAILED,
    EXIT_INTERRUPTED,
    EXIT_REFUSED,
    EXIT_RESTART,
)
from turnsignal.agents.process.interrupts import Terminated
from turnsignal.agents.process.memory import rare_collections
from turnsignal.agents.process.streams import make_printable
from turnsignal.stream.errors import ConfigError, TurnsignalError


def _print_version(ctx: click.Context, _: click.Parameter, asked: bool) -> None:
    if not asked or ctx.resilient_parsing:
        return
    from importlib import metadata  # a fifth of what every command would load

    try:
        version = metadata.version("turnsignal")
    except metadata.PackageNotFoundError:
        version = "not installed (running from a checkout)"
    click.echo(f"turnsignal, version {version}")
    ctx.exit()


class _Commands(SuggestingGroup):
    """All commands; each ends by Ctrl-C with the code that shells know it by."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; a misspelt variable is refused, though the command may not read it."""
        if any(name.startswith(PREFIX) for name in os.environ) and not {"-h", "--help"} & set(sys.argv):
            from turnsignal.agents.settings import variables

            refuse_unknown(os.environ, variables())
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as interrupt:
            click.echo("turnsignal: interrupted", err=True)
            ctx.exit(interrupt.exit_code if isinstance(interrupt, Terminated) else EXIT_INTERRUPTED)
        except OSError as error:
            if error.errno not in NO_ROOM:
                raise
            click.echo(f"turnsignal: {describe_no_room(error)}", err=True)
            ctx.exit(EXIT_FAILED)


@click.group(
    cls=_Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
    epilog="Exit codes: 0 done, 1 failed, 2 wrong usage, setting or suite, 3 worse, 4 not known"
    " (--fail-if-worse), 70 a worker to be started again, 130 ended by Ctrl-C, 143 by SIGTERM,"
    " 129 by a terminal that was closed. Completion of commands"
    ' and options in bash, also zsh and fish: eval "$(_TURNSIGNAL_COMPLETE=bash_source turnsignal)". Start with:'
    " turnsignal replay --sample",
)
@click.option(
    "--version",
    is_flag=True,
    expose_value=False,
    is_eager=True,
    callback=_print_version,
    help="Show the version and exit.",
)
def turnsignal() -> None:
    """Watch live chat-assistant traffic on Kafka and say whether the answers got worse, where, and why."""


class _WithVariables(click.Command):
    """A command whose help ends with the ports that its apps take, and the variables that it reads."""

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List ports and variables; read only when somebody asks."""
        super().format_epilog(ctx, formatter)
        from turnsignal.agents.environment import SECRETS
        from turnsignal.agents.settings import Settings, variables

        first = Settings.model_fields["metrics_port"].default
        above = [(name, f" + {app.port}" if app.port else "", first + app.port) for name, app in APPS.items()]
        with formatter.section("Ports"):
            formatter.write_dl([(name, f"TURNSIGNAL_METRICS_PORT{more} [{port}]") for name, more, port in above])
        rows = []
        for name, field in variables().items():
            info = Settings.model_fields[field]
            default = "required" if info.is_required() else "" if info.default is None else f"[{info.default}]"
            in_a_file = f"; or {name}_FILE, a file that holds it" if name.endswith(SECRETS) else ""
            rows.append((name, f"{info.description}{in_a_file} {default}".strip()))
        with formatter.section("Environment"):
            formatter.write_dl(rows)


@turnsignal.command(
    cls=_WithVariables,
    short_help="Run a worker: score turns, ask judges, watch series.",
    epilog="Example: TURNSIGNAL_BROKERS=kafka:9092 turnsignal worker all",
)
@click.argument("app", type=click.Choice([*APPS, "all"]))
@click.option("--supervisor/--no-supervisor", default=True, help="Start processes again when they end or stand still.")
def worker(app: str, *, supervisor: bool) -> None:
    """Run a worker: score turns, ask judges, watch series, or all of it (one supervised process each).

    Connects to TURNSIGNAL_BROKERS; each has its pages and /metrics on a port of its own (below). `all` asks judges
    where the suite has [[judges]]. Ends with 0 when told to stop, 2 when a setting, a suite or a topic is wrong (one
    app's refusal leaves the others at work), 70 (only without a supervisor) when it wants to be started again.
    """
    settings = read_settings()
    if supervisor:
        from turnsignal.agents.process.logs import log_to_stderr
        from turnsignal.agents.worker.supervisor import Supervisor, worker_command

        log_to_stderr()
        apps = all_apps(settings) if app == "all" else [app]
        sys.exit(Supervisor({app: worker_command(app) for app in apps}, settings.stall_timeout).run())
    if app == "all":
        msg = f"--no-supervisor takes one app, as all of them are one process each: {describe_apps()}"
        raise click.UsageError(msg)
    from turnsignal.agents.worker.apps import run_app
    from turnsignal.agents.worker.supervisor import WORKED

    try:
        sys.exit(run_app(make_app(app, settings)))
    except ConfigError as error:
        if WORKED not in os.environ:
            raise
        _fail(error, EXIT_RESTART)  # it has worked under these settings: what is wrong now may pass


@turnsignal.command(
    short_help="See it work: a broker, workers, traffic and a live view.",
    epilog="Example: turnsignal demo --file turns.jsonl.gz --seconds 30",
)
@click.option("--seconds", type=click.FloatRange(1), default=60.0, show_default=True, help="How long to send turns.")
@click.option("--forever", is_flag=True, help="Go on until Ctrl-C.")
@click.option("--file", "files", type=FILES, multiple=True, help="Turns to send instead of simulated ones; repeatable.")
@click.option("--speed", type=SPEED, help="Event time against the clock, such as 60x, or max.")
@click.option("--mock", is_flag=True, help="Use the mock broker even where a real one could be had.")
@click.option("--directory", type=click.Path(path_type=Path, file_okay=False), help="Where the rows go.  [out/demo-…]")
@click.option("--observe", "observed", is_flag=True, help="Start Prometheus and what else `observe` does beside it.")
@click.option("--judge", "model", default="", help="Have a judge look on: scripted, or MODEL or ENDPOINT:MODEL.")
@FORMAT
@MAPPING
@STRICT
def demo(
    *,
    seconds: float,
    forever: bool,
    files: tuple[Path, ...],
    speed: float,
    mock: bool,
    directory: Path | None,
    observed: bool,
    model: str,
    format_name: str | None,
    mapping: Path | None,
    strict: bool,
) -> None:
    """See it work: a broker, workers, conversations and a live view, then a summary and the rows as files.

    Takes the first broker that is there: TURNSIGNAL_BROKERS, Docker, Java and Maven, or the mock inside librdkafka.
    """
    from turnsignal.agents.demo.run import Options, run_demo
    from turnsignal.agents.files.importing import Imported

    how = how_to_read(format_name, mapping, strict=strict)
    with Imported(files, how, say=click.echo) as imported:
        given = (tuple(imported.sources), speed, mock, directory, how.as_json(), observed, model)
        sys.exit(run_demo(Options(None if forever else seconds, *given), os.environ, open_console()))


@turnsignal.command(
    short_help="Show a conversation: its turns, its scores and why.",
    epilog="Example: turnsignal conversation c-42 --from turns.jsonl.gz",
)
@click.argument("conversation_id")
@click.option(
    "--from",
    "source",
    type=click.Path(path_type=Path, exists=True),
    help="Directory of a replay or demo, or a file of turns or of any chat log, which is scored now.",
)
@click.option("--suite", "suite_file", type=SUITE, help="Suite for a file.  [TURNSIGNAL_SUITE, or the built-in one]")
@FORMAT
@MAPPING
@JSON
def conversation(
    conversation_id: str,
    *,
    source: Path | None,
    suite_file: Path | None,
    format_name: str | None,
    mapping: Path | None,
    as_json: bool,
) -> None:
    """Show a conversation: what was said, its scores and why, its windows, its summary.

    Reads the topics, and asks the worker on TURNSIGNAL_METRICS_PORT for what it keeps; with --from, reads files alone:
    those of a replay as that read them.
    """
    from turnsignal.agents.commands.explain import explain, from_directory, from_file, from_kafka

    how = how_to_read(format_name, mapping, strict=False)
    if source is None:
        stored = from_kafka(reach_settings(), conversation_id)
    elif source.is_dir():
        stored = from_directory(source, conversation_id)
    else:
        stored = from_file(source, conversation_id, chosen_suite(suite_file, None), how)
    if as_json:
        print_json(stored.as_json())
    else:
        console = open_console()
        for line in explain(stored):
            console.print(line, highlight=False, soft_wrap=True)
    sys.exit(0 if stored.known else EXIT_FAILED)


@turnsignal.command(
    cls=SparingCommand,
    short_help="Write simulated conversations of every kind.",
    epilog="Example: turnsignal simulate --turns 10000 --set malformed=0.01 --out turns.jsonl.gz",
)
@click.option("--out", type=OutFile(), help="File (.jsonl or .jsonl.gz).  [standard output]")
@click.option("--turns", type=click.IntRange(1), default=1000, show_default=True, help="Turns to simulate.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Same seed, same bytes.")
@click.option("--set", "knobs", multiple=True, metavar="KNOB=VALUE", help="Any other knob, such as disorder=0.05.")
@click.option(
    "--worse",
    metavar="MINUTE:VERSION:KIND[:SHARE]",
    help="A planted regression, of a SHARE of its responses (1); KIND: retrieves_worse, answers_worse, breaks_format, "
    "answers_errors, answers_empty, refuses, invents_citations, cites_nothing, loses_users or answers_slowly.",
)
@click.option("--truth", type=OutFile(), help="File for what the simulation knows.")
def simulate(
    *, out: Path | None, turns: int, seed: int, knobs: tuple[str, ...], worse: str | None, truth: Path | None
) -> None:
    """Write simulated conversations, with documents, citations and follow-ups of every kind.

    The knobs are those of stream.simulation.Traffic: rate, versions, assistants, documents, disorder, late, hot, ….
    """
    from turnsignal.agents.files.simulating import make_traffic, write_simulation

    written = write_simulation(make_traffic(turns, seed, knobs, worse), out, truth)
    if out is not None:
        click.echo(f"Wrote {written:,} records to {out}.")


for command in (
    *(alarms, compare, convert, export, judge, produce, topics, forget),
    *(drill, measure, observe, suite, schema, kafka, review, regressions, replay, report),
):
    turnsignal.add_command(command)


def main() -> None:
    """Run the command; say what went wrong in one line on standard error."""
    # Before numpy is imported: our matrices are small, and threads that share one spin while other processes work.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    make_printable()
    try:
        with rare_collections():
            turnsignal.main(standalone_mode=True)
    except ConfigError as error:
        _fail(error, EXIT_REFUSED)
    except TurnsignalError as error:
        _fail(error, EXIT_FAILED)
    except BrokenPipeError:  # `| head` has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(EXIT_FAILED)


def _fail(error: Exception, code: int) -> None:
    click.echo(f"turnsignal: {error}", err=True)
    sys.exit(code)


if __name__ == "__main__":
    main()
