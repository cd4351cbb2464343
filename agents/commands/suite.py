"""`turnsignal suite …` and `turnsignal schema …`: what is scored with, and what records look like."""

import os
import shlex
import sys
from pathlib import Path
from typing import BinaryIO

import click
import orjson

from turnsignal.agents.commands.options import JSON, SUITE, open_console, print_json
from turnsignal.agents.commands.suggestions import SuggestingGroup
from turnsignal.stream.errors import ConfigError

RECORDS = ("turn", "feedback", "score", "exchange", "verdict", "conversation", "rubric", "suite")


@click.group(
    cls=SuggestingGroup,
    short_help="Look at a suite, check it, write one.",
    epilog="Example: turnsignal suite init suite.toml",
)
def suite() -> None:
    """Look at a suite: scorers, checks, thresholds, windows and limits."""


@suite.command(
    short_help="Write the built-in suite to a new file, to be edited.",
    epilog="Example: turnsignal suite init suite.toml && turnsignal suite check suite.toml",
)
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False), default="suite.toml")
def init(file: Path) -> None:
    """Write the built-in suite to a new FILE [suite.toml], with a comment beside each key, to be edited.

    What is deleted from it has its default.
    """
    from importlib.resources import files

    _write_new(file, (files("turnsignal.deploy") / "suite.toml").read_text(encoding="utf-8"))
    click.echo(f"Wrote {file}; edit it, then: turnsignal suite check {file}")


@suite.command(
    short_help="Say whether a suite is right.",
    epilog="Example: turnsignal suite init suite.toml && turnsignal suite check suite.toml",
)
@click.argument("file", type=SUITE)
@JSON
def check(file: Path, *, as_json: bool) -> None:
    """Say whether a suite is right; exit code 2 and one line that names the key when it is not.

    Checks in Python are loaded in their process, by the interpreter that the suite's `python` names, and called on an
    example: what a call costs is said, or what goes wrong, with exit code 1. That runs their code: look at a stranger's
    suite before. Rubrics of judges that stand in files are read as the worker reads them, from where this is run; what
    judges' endpoints lack in this environment is a warning, as the worker's may be another one.
    """
    from turnsignal.agents.process.exits import EXIT_FAILED
    from turnsignal.agents.providers.finding import warn_of_endpoints
    from turnsignal.agents.providers.judges import load_judges
    from turnsignal.agents.python_checks.host import hosted, try_checks
    from turnsignal.stream.follow_ups.failures import Failures
    from turnsignal.stream.judging.judges import warn_of_families
    from turnsignal.stream.suite import load_suite
    from turnsignal.stream.text.counts import count_of

    loaded = load_suite(file)
    try:
        judges = load_judges(loaded.judges, loaded.judging, None)
    except ConfigError as error:
        msg = f"{file}: {error}"
        raise ConfigError(msg) from None
    warnings = warn_of_families(loaded.judges, loaded.judging.judged) + warn_of_endpoints(judges, os.environ)
    own = Failures(loaded.conversations.failed)
    warnings += [
        f"exempt: {text!r} is an answer although a pattern of conversations.failed finds it; leave out one of the two"
        for text in loaded.exempt
        if own.finds(text)
    ]
    if not loaded.checks:
        warnings.append("no checks: whether answers keep instructions is not scored (compliance)")
    with hosted(loaded) as ready:
        tried = try_checks(ready)
    failed = sum(check.failed for check in tried)
    if as_json:
        counts = {name: len(getattr(loaded, name)) for name in ("checks", "windows")}
        known = {"file": str(file), "suite": loaded.name, "fingerprint": loaded.fingerprint, **counts}
        known |= {"measures": len(loaded.retrieval.measures), "python_failed": failed, "warnings": warnings}
        print_json(known | {"python": [check.line for check in tried]})
        sys.exit(EXIT_FAILED if failed else 0)
    verdict = f"{failed} of its {len(tried)} Python checks fail on an example" if failed else "OK"
    click.echo(
        f"{file}: {verdict}. Suite {loaded.name}, fingerprint {loaded.fingerprint},"
        f" {count_of(len(loaded.retrieval.measures), 'measure')}, {count_of(len(loaded.checks), 'check')},"
        f" {count_of(len(loaded.windows), 'window')}."
    )
    for line in [*(check.line for check in tried), *warnings]:
        click.echo(line)
    if failed:
        sys.exit(EXIT_FAILED)


@suite.command(
    short_help="Print a suite with everything that it leaves out.", epilog="Example: turnsignal suite show > suite.toml"
)
@click.argument("file", type=SUITE, required=False)
@JSON
def show(file: Path | None, *, as_json: bool) -> None:
    """Print a suite with everything that it leaves out filled in; without a file, the built-in one."""
    from turnsignal.stream.suite import load_suite
    from turnsignal.stream.text.toml import write_toml

    loaded = load_suite(file)
    if as_json:
        print_json({"fingerprint": loaded.fingerprint, **loaded.model_dump(mode="json", exclude_none=True)})
        return
    click.echo(
        f"# fingerprint {loaded.fingerprint}\n{write_toml(loaded.model_dump(mode='json', exclude_none=True))}", nl=False
    )


@suite.command(
    "from-prompt",
    short_help="Propose checks for the rules of a system prompt.",
    epilog="Example: turnsignal suite from-prompt prompt.md --out suite.toml",
)
@click.argument("file", type=click.File("rb"))
@click.option(
    "--out",
    type=click.Path(path_type=Path, dir_okay=False, allow_dash=True),
    help="File for the suite, a new one; - is standard output.  [-]",
)
@JSON
def from_prompt(file: BinaryIO, *, out: Path | None, as_json: bool) -> None:
    """Propose checks for the instructions of a system prompt, text or Markdown, in English; - is standard input.

    Each check stands beside the sentence it came from. Conditional and contradictory instructions are commented out;
    instructions that no check covers are listed. Nothing is used before you read it and point TURNSIGNAL_SUITE to it.
    """
    from rich.console import Console

    from turnsignal.agents.commands.proposing import MAX_PROMPT, choose, describe, write_suite
    from turnsignal.stream.prompts.reader import read_prompt

    out = None if out == Path("-") else out
    text = file.read(4 * MAX_PROMPT + 1).decode("utf-8", "replace")
    origin = getattr(file, "name", "<stdin>")
    if len(text) > MAX_PROMPT:
        msg = f"{origin}: expected a prompt of at most {MAX_PROMPT:,} characters, got more"
        raise ConfigError(msg)
    reading = choose(read_prompt(text))
    written = write_suite(reading, "prompt" if origin == "<stdin>" else Path(origin).stem, origin)
    if as_json:
        if out is not None:
            _write_new(out, written)
        proposals = [proposal._asdict() for proposal in reading.proposals]
        exempt = [exemption._asdict() for exemption in reading.exempt]
        print_json({**reading._asdict(), "proposals": proposals, "exempt": exempt, "suite": written})
        return
    if out is None:
        click.echo(written, nl=False)
        Console(stderr=True).print(describe(reading))
        return
    _write_new(out, written)
    open_console().print(describe(reading))
    click.echo(f"Wrote {out}; look at it, then: turnsignal suite check {out}")


def _write_new(file: Path, text: str) -> None:
    try:
        with file.open("x", encoding="utf-8") as target:
            target.write(text)
    except FileExistsError:
        msg = f"{file}: expected a file that is not there yet, got one that may be edited; name another, or remove it "
        msg += f"first: rm {shlex.quote(str(file))}"
        raise ConfigError(msg) from None
    except OSError as error:
        msg = f"{file}: expected a file that can be written, got: {error.strerror}"
        raise ConfigError(msg) from None


@click.command(
    short_help="Print the JSON Schema of records, rubrics or suites.",
    epilog="Example: turnsignal schema turn > turn.schema.json",
)
@click.argument("record", type=click.Choice(RECORDS))
def schema(record: str) -> None:
    """Print the JSON Schema of a record, of a rubric, or of the suite."""
    from turnsignal.agents.commands.schemas import schema_of

    click.echo(orjson.dumps(schema_of(record), option=orjson.OPT_INDENT_2).decode())
