"""What several commands take alike: files, a speed, a suite, settings, and a progress bar."""

import math
import os
import shlex
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from turnsignal.stream.errors import ConfigError

if TYPE_CHECKING:
    from rich.console import Console

    from turnsignal.agents.files.recognising import HowToRead
    from turnsignal.agents.settings import Settings
    from turnsignal.stream.suite import Suite


class _Files(click.Path):
    """Files of records, where - is standard input; of a folder, what to type for the files in it."""

    def __init__(self) -> None:
        super().__init__(path_type=Path, exists=True, dir_okay=False, readable=True, allow_dash=True)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Take a file; click reports what is wrong."""
        folder = Path(os.fspath(value))
        if folder.is_dir():
            self.fail(f"expected files, got the folder {folder}; {_describe_files_in(folder)}", param, ctx)
        return super().convert(value, param, ctx)


def _describe_files_in(folder: Path) -> str:
    """Say how the files in a folder are named on the command line: by the ending that most of them have."""
    endings = Counter("".join(path.suffixes[-2:]) for path in folder.iterdir() if path.is_file())
    if not endings:
        return "there are no files in it"
    ending, _ = max(endings.items(), key=lambda item: (item[0].startswith(_ENDINGS), item[1]))
    return f"give those in it: {shlex.quote(str(folder))}/*{ending}"


_ENDINGS = (".json", ".csv", ".tsv")  #: of records; others go before none of these
FILE = click.Path(path_type=Path, exists=True, dir_okay=False, readable=True)
FILES = _Files()
SUITE = click.Path(path_type=Path, dir_okay=False)
FEEDBACK = click.option(
    "--feedback", type=FILE, multiple=True, help="Feedback (see `turnsignal schema feedback`), by time; repeatable."
)
VERDICTS = click.option(
    "--verdicts", type=FILE, multiple=True, help="Verdicts of `turnsignal judge` or of their topic; repeatable."
)

JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON, for programs.")
#: Names of `stream.formats.FORMATS`, here so that `--help` need not import them; a test compares.
FORMAT_NAMES = (
    *("turnsignal", "openai", "responses", "agents", "anthropic", "otel", "adk", "openinference", "openllmetry"),
    *("langfuse", "mlflow", "langsmith", "langchain", "pydanticai", "sharegpt", "apim", "dialogflow"),
)
FORMAT = click.option(
    "--format", "format_name", type=click.Choice(FORMAT_NAMES), help="What the files hold.  [found out by content]"
)
MAPPING = click.option("--mapping", type=FILE, help="How any JSON or CSV is read, in TOML (`turnsignal convert -h`).")
HASH_USERS = click.option(
    "--hash-users",
    "user_key",
    type=FILE,
    help="Make user ids digests, with the secret in this file (16 bytes).",
)
STRICT = click.option("--strict", is_flag=True, help="Read lines of turns only as a Kafka topic takes them.")


class _ReplayDirectory(click.Path):
    """A directory that a replay wrote; of a file, what to type to have one."""

    def __init__(self) -> None:
        super().__init__(path_type=Path, exists=True, file_okay=False)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Take a directory; click reports what is wrong."""
        path = Path(os.fspath(value))
        if path.is_file():
            command = "report" if ctx is None else ctx.info_name
            typed = f"turnsignal replay {shlex.quote(str(path))} --out out/replay && turnsignal {command} out/replay"
            self.fail(
                f"expected a directory that `turnsignal replay --out` wrote, got a file; try: {typed}", param, ctx
            )
        return super().convert(value, param, ctx)


REPLAYED = _ReplayDirectory()


class Money(click.FloatRange):
    """An amount of money, 0 or more; nan and inf are none."""

    def __init__(self) -> None:
        super().__init__(0)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Read the text; click reports what is wrong."""
        amount = float(super().convert(value, param, ctx))
        if not math.isfinite(amount):
            self.fail(f"expected an amount, got {value}", param, ctx)
        return amount


MONEY = Money()


class Speed(click.ParamType):
    """`60x` as 60.0; `max` as 0.0."""

    name = "SPEED"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Read the text; click reports what is wrong."""
        from turnsignal.agents.files.produce import parse_speed

        if isinstance(value, float):
            return value
        try:
            return parse_speed(value) or 0.0
        except ConfigError as error:
            self.fail(str(error), param, ctx)


SPEED = Speed()


class MaxRejected(click.ParamType):
    """`20` as a count; `1%` or `0.01` as a share: a function of (rejected, all) that says whether it is too many."""

    name = "COUNT|SHARE"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Callable[..., bool]:
        """Read the text; click reports what is wrong."""
        if callable(value):
            return value  # type: ignore[no-any-return]
        text = str(value).strip()
        try:
            number = float(text.removesuffix("%"))
        except ValueError:
            number = -1.0
        is_share = text.endswith("%") or "." in text
        share = number / 100 if text.endswith("%") else number
        if not 0 <= number < 1e15 or (is_share and share > 1):
            self.fail(f"expected a count such as 20, or a share such as 1% or 0.01; got {text!r}", param, ctx)
        return lambda rejected, of: rejected > (share * of if is_share else number)


MAX_REJECTED = click.option(
    "--max-rejected", type=MaxRejected(), help="End with 1 when more lines than this cannot be read."
)


def how_to_read(
    format_name: str | None, mapping: Path | None, *, strict: bool, user_key: Path | None = None
) -> "HowToRead":
    """Put together what the user said of the files; raises ConfigError when it does not go together."""
    from turnsignal.agents.files.recognising import read_how
    from turnsignal.agents.files.users import read_user_key

    if strict and user_key is not None:
        raise click.UsageError("--strict and --hash-users exclude each other: hashed turns are written anew")
    if sum((format_name is not None, mapping is not None, strict)) > 1:
        raise click.UsageError("--format, --mapping and --strict exclude each other: give one of them")
    how = read_how(format_name, mapping, strict=strict)
    return how if user_key is None else how._replace(user_key=read_user_key(user_key))


def given_time(text: str, name: str) -> float:
    """Read the time that an option gives as seconds since 1970; click reports what is wrong."""
    from turnsignal.stream.text.timestamps import read_given_time

    try:
        return read_given_time(text, name)
    except ConfigError as error:
        raise click.UsageError(str(error)) from None


def chosen_suite(suite_file: Path | None, redaction: Path | None) -> "Suite":
    """Read the suite and the redaction that an option names, or else the environment."""
    from turnsignal.agents.suite_files import suite_in_force

    environment = os.environ.get
    return suite_in_force(
        suite_file or environment("TURNSIGNAL_SUITE") or None, redaction or environment("TURNSIGNAL_REDACTION") or None
    )


def read_settings() -> "Settings":
    """Read the TURNSIGNAL_ variables; raises ConfigError that names the one that is wrong."""
    from turnsignal.agents.settings import Settings

    return Settings.from_env(os.environ)


def reach_settings() -> "Settings":
    """Read the TURNSIGNAL_ variables and make sure that there is a broker; raises TurnsignalError within seconds."""
    from turnsignal.agents.kafka.reaching import reach_broker

    settings = read_settings()
    reach_broker(settings)
    return settings


def open_console() -> "Console":
    """Open the terminal; where there is none, and COLUMNS is not set, lines are as long as the tables need.

    There no line ends with blanks.
    """
    import sys

    from rich.console import Console

    from turnsignal.agents.process.streams import Trimmed

    console = Console()
    if console.is_terminal:
        return console
    file: Any = Trimmed(sys.stdout)
    return Console(file=file) if "COLUMNS" in os.environ else Console(file=file, width=140)


def print_json(value: Any) -> None:
    """Print a value as JSON in UTF-8, whatever the terminal's encoding, as all commands with `--json` do."""
    import orjson

    click.echo(orjson.dumps(value, option=orjson.OPT_INDENT_2))


@contextmanager
def shown_progress(
    doing: str, size: int, first: float = 0.0
) -> Iterator[tuple["Console", Callable[[int], None], Callable[[int, int], None]]]:
    """Show a bar on standard error while it is a terminal, until it is done.

    first: share of `size` that is reading, whose speed says nothing of what comes then: how long that takes is told
    from its own. Gives the console for lines above the bar, what takes bytes as they are done, of `size`, and what
    takes (done, of) records.
    """
    from rich.console import Console
    from rich.progress import BarColumn, Progress, Task, TaskProgressColumn, TextColumn, TimeRemainingColumn
    from rich.text import Text

    class Remaining(TimeRemainingColumn):
        def render(self, task: Task) -> Text:
            return Text("") if task.fields["is_first"] else super().render(task)

    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), Remaining())
    is_hidden = not console.is_terminal
    shown = Progress(*columns, console=console, disable=is_hidden, redirect_stdout=sys.stdout.isatty(), transient=True)
    with shown as progress:
        task = progress.add_task("reading" if first else doing, total=size or 1, is_first=first > 0)
        done = 0

        def on_bytes(by: int) -> None:
            nonlocal done
            is_passed = done < first * size <= done + by
            done += by
            if is_passed:
                progress.reset(task, completed=done, description=doing, is_first=False)
            else:
                progress.advance(task, by)

        def on_records(done: int, of: int) -> None:
            progress.update(task, description="sending", completed=done, total=of or None)

        yield console, on_bytes, on_records
