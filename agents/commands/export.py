"""`turnsignal export …`: what a topic holds, by time, as a file."""

import re
import shlex
from datetime import UTC, datetime, timedelta
from pathlib import Path

import click

from turnsignal.agents.commands.options import JSON, given_time, print_json, reach_settings, shown_progress
from turnsignal.agents.report.program_name import typed_program

#: Names of `agents.files.exporting.EXPORTED`, here so that `--help` need not import them; a test compares.
TOPIC_NAMES = (
    *("turns", "feedback", "forget", "scores", "exchanges", "verdicts", "conversations"),
    *("series", "decisions", "regressions", "dead_letters"),
)

_ZONE = re.compile(r"(?<=\d)(?:Z|[+-]\d\d:?\d\d)$")  #: of a time of day, at its end
_OFFSETS = re.compile(r"(\d{1,9}):(\d{1,18})-(\d{1,18})")


@click.command(
    short_help="Write what a topic holds to a file.",
    epilog="Example: turnsignal export turns --from 2026-11-20T14:00 --to 15:00 --out monday.jsonl.gz --whole",
)
@click.argument("topic", type=click.Choice(TOPIC_NAMES))
@click.option(
    "--from", "since", metavar="TIME", help="Records that reached Kafka then or later: 2026-11-20T14:00, UTC."
)
@click.option(
    "--to", "until", metavar="TIME", help="Records that reached Kafka before: a time, or 15:00 of the same day."
)
@click.option("--last", metavar="DURATION", help="Records of the last 2h, or 7d, instead of times.")
@click.option("--offsets", multiple=True, metavar="P:FIRST-END", help="Offsets of a partition instead; repeatable.")
@click.option("--whole", is_flag=True, help="Every record of each conversation that has one in the range.")
@click.option(
    "--out", type=click.Path(path_type=Path, dir_okay=False), required=True, help="A new file; .gz is compressed."
)
@JSON
def export(
    topic: str,
    *,
    since: str | None,
    until: str | None,
    last: str | None,
    offsets: tuple[str, ...],
    whole: bool,
    out: Path,
    as_json: bool,
) -> None:
    """Write what a TOPIC holds to a file, one JSON object a line, to be replayed, kept or sent to somebody.

    Times are those at which records came in, not what stands in them. Only what is committed is read, nobody's group is
    touched, and conversations that were to be forgotten are left out; texts are as they stand on the topic. Repeat an
    export that was interrupted, and it goes on. Says what retention has already taken.
    """
    import time

    import msgspec

    from turnsignal.agents.files.exporting import Wanted, export_topic

    if sum((bool(since or until), last is not None, bool(offsets))) > 1:
        raise click.UsageError("times (--from, --to), --last and --offsets exclude each other: give one of them")
    first, end = read_range(since, until)
    if last is not None:
        first = _before(time.time(), last)
    ranges = dict(_range(text) for text in offsets) if offsets else None
    wanted = Wanted(topic, first, end, ranges, whole)
    settings = reach_settings()
    with shown_progress("exporting", 1) as (_, _, sending):
        exported = export_topic(settings, wanted, out, sending)
    if as_json:
        print_json({"file": str(out), **msgspec.to_builtins(exported)})
        return
    again = " (what had begun was gone on with)" if exported.resumed else ""
    click.echo(f"Wrote {exported.lines:,} records of {topic} to {out}{again}.")
    if exported.forgotten:
        click.echo(f"Left out {exported.forgotten:,} records of conversations that were to be forgotten.")
    if exported.tombstones:
        click.echo(f"Left out {exported.tombstones:,} records without a value.")
    if not exported.lines and not offsets:
        click.echo(describe_empty())
    for line in describe_gone(topic, exported.gone):
        click.echo(line)
    if exported.held_back:
        numbers = ", ".join(map(str, exported.held_back[:10]))
        click.echo(f"A transaction that is open holds back the end of partitions {numbers}: repeat it later for that.")
    if topic == "turns" and exported.lines:
        click.echo(f"Next: {typed_program()} replay {shlex.quote(str(out))}")


def describe_empty() -> str:
    """Say why a range of time may hold nothing although turns of that time are there."""
    return (
        "What counts is when a record reached Kafka, not the time that stands in it: what was sent later than it was"
        " said is found at that later time. Without times, all that the topic holds is exported."
    )


def read_range(since: str | None, until: str | None) -> tuple[float | None, float | None]:
    """Read --from and --to as seconds since 1970, None where there is none."""
    first = _time(since, "--from") if since else None
    end = _time(until, "--to", (since, first) if since and first is not None else None) if until else None
    if first is not None and end is not None and end <= first:
        msg = f"--to: expected a time after --from; got {until!r} with {since!r}"
        raise click.UsageError(msg)
    return first, end


def _time(text: str, name: str, since: tuple[str, float] | None = None) -> float:
    """Read a time as seconds since 1970; without a zone it is UTC, without a date of the day and zone of `since`.

    since: the time before it, as it was given, and in seconds since 1970.
    """
    if since is not None and re.fullmatch(r"\d{1,2}:\d\d(:\d\d)?", text):
        given, seconds = since
        behind = _ZONE.search(given)
        zone = datetime.strptime(behind[0], "%z").tzinfo if behind else UTC
        text = f"{datetime.fromtimestamp(seconds, zone):%Y-%m-%d}T{text.rjust(5, '0')}{behind[0] if behind else ''}"
    return given_time(text, name)


def _before(now: float, text: str) -> float:
    from pydantic import TypeAdapter, ValidationError

    from turnsignal.stream.durations import Duration

    try:
        return now - TypeAdapter(Duration).validate_python(text)
    except ValidationError:
        msg = f"--last: expected a duration such as 2h or 7d; got {text[:80]!r}"
        raise click.UsageError(msg) from None


def _range(text: str) -> tuple[int, tuple[int, int]]:
    match = _OFFSETS.fullmatch(text)
    if match is None or int(match[2]) >= int(match[3]):
        msg = f"--offsets: expected PARTITION:FIRST-END such as 3:1000-2000; got {text[:80]!r}"
        raise click.UsageError(msg)
    return int(match[1]), (int(match[2]), int(match[3]))


def describe_gone(topic: str, gone: dict[int, float]) -> list[str]:
    """Say what retention has taken: from when on the range is there."""
    kept = [at for at in gone.values() if at]
    lines = []
    if kept:
        since = datetime.fromtimestamp(0, UTC) + timedelta(seconds=max(kept))
        lines.append(
            f"Retention has taken what came before {since:%Y-%m-%d %H:%M:%S} UTC in {len(kept)} partitions of {topic}."
        )
    if empty := len(gone) - len(kept):
        lines.append(f"Retention has taken all of {empty} partitions of {topic}.")
    return lines
