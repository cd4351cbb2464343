"""`turnsignal replay …`: recorded turns through the scorers, without Kafka."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from turnsignal.agents.commands.failing import FAIL_IF_WORSE, end_by_releases, refuse_misspelt
from turnsignal.agents.commands.options import (
    FEEDBACK,
    FILE,
    FILES,
    FORMAT,
    JSON,
    MAPPING,
    MAX_REJECTED,
    STRICT,
    SUITE,
    VERDICTS,
    chosen_suite,
    given_time,
    how_to_read,
    open_console,
    print_json,
    shown_progress,
)
from turnsignal.agents.commands.recorded import or_from_topic
from turnsignal.stream.records.environments import ENVIRONMENTS, PRODUCTION, read_environment

if TYPE_CHECKING:
    from turnsignal.agents.files.reading import TurnFile

_NO_FILES = "expected files of turns (.jsonl, .jsonl.gz), got none; --sample needs none, and shows what comes out"


@click.command(
    short_help="Score recorded turns, or any chat log, without Kafka.",
    epilog="Example: turnsignal replay --sample, or: turnsignal replay turns.jsonl.gz",
)
@click.argument("files", type=FILES, nargs=-1)
@click.option("--sample", is_flag=True, help="Replay 500 simulated conversations, in which a release gets worse.")
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    help="Directory for the results.  [out/replay; out/sample for the sample]",
)
@click.option("--suite", "suite_file", type=SUITE, help="Suite to score with.  [TURNSIGNAL_SUITE, or the built-in one]")
@click.option("--redaction", type=SUITE, help="What to take out of texts first.  [TURNSIGNAL_REDACTION, or nothing]")
@click.option("--workers", type=click.IntRange(1), help="Processes.  [one per core]")
@click.option("--as-is", is_flag=True, help="Keep the order of the files; without, turns are sorted by their time.")
@click.option(
    "--environment",
    "counted",
    type=click.Choice(ENVIRONMENTS),
    default=PRODUCTION,
    show_default=True,
    help="Whose turns the figures are of; all have rows.",
)
@click.option("--whole-conversations", is_flag=True, help="No conversation is cut: compare the last ones, too.")
@click.option("--baseline", metavar="VERSION", help="Version to compare all others with.  [the one before each]")
@click.option(
    "--released",
    multiple=True,
    metavar="TIME",
    help="When a release came, 2026-11-24T14:00, UTC: tells answers without a version apart; repeatable.",
)
@click.option(
    FAIL_IF_WORSE,
    metavar="SCORES",
    help="End with 3 when one of these (any: of all) is worse in an assistant's newest release, with 4 when there are"
    " too few to tell, or what users wrote cannot be read; for a build or cron.",
)
@click.option("--alerts", is_flag=True, help="Say when an alert would have fired and why, and where none could.")
@click.option("--decisions", type=FILE, help="For --alerts: what operators decided (`turnsignal export decisions`).")
@click.option("--resume", is_flag=True, help="Go on where an interrupted run of the same with --resume left off.")
@FEEDBACK
@VERDICTS
@JSON
@FORMAT
@MAPPING
@STRICT
@MAX_REJECTED
@or_from_topic("files", Path("out/replay"))
def replay(
    files: tuple[Path, ...],
    *,
    sample: bool,
    feedback: tuple[Path, ...],
    verdicts: tuple[Path, ...],
    out: Path | None,
    suite_file: Path | None,
    redaction: Path | None,
    workers: int | None,
    as_is: bool,
    counted: str,
    whole_conversations: bool,
    baseline: str | None,
    released: tuple[str, ...],
    fail_if_worse: str | None,
    alerts: bool,
    decisions: Path | None,
    resume: bool,
    as_json: bool,
    format_name: str | None,
    mapping: Path | None,
    strict: bool,
    max_rejected: Callable[[int, int], bool] | None,
) -> None:
    """Score recorded turns, or any chat log, without Kafka, exactly as a worker would.

    What the files hold is found out by their content: turns (`turnsignal schema turn`), messages of OpenAI, Anthropic
    or LangChain, OpenTelemetry and OpenInference spans, exports of Langfuse and LangSmith, ShareGPT; as JSON lines,
    arrays, pretty-printed or CSV, plain, gzip or zstd. Anything else by --mapping. The file - is standard input.

    Each release is compared with the one before it; where two answer side by side from the beginning, with the first by
    its version where versions count up (v1, v2) and none has ten times the answered conversations, else with the one
    that has clearly more of them, unless --baseline names another. Where answers name no version, --released TIME makes
    two releases: conversations that began before, and since. Answers that name one keep it; where all do, a finding
    says that the option changed nothing.

    Prints what was found, the figures of each release, and the worst exchanges. Writes scores.jsonl,
    conversations.jsonl, dead-letters.jsonl, worst.jsonl and summary.json; the same files, byte for byte, whatever the
    number of processes. A replay that scores no turn leaves what an earlier one wrote there. Ends with 1 then, when no
    line could be read, or more than --max-rejected could not, and when a file ends early.
    """
    import time
    from functools import partial

    from turnsignal.agents.commands.reading import echo_described, read_in
    from turnsignal.agents.commands.rejected import (
        count_read,
        end_by_cut,
        end_by_no_answer,
        end_by_rejected,
        end_by_unread,
    )
    from turnsignal.agents.commands.resuming import saying_how_to_resume
    from turnsignal.agents.files.sample import SAMPLE_TURNS, write_sample
    from turnsignal.agents.process.interrupts import ending_on_signals
    from turnsignal.agents.replaying.back_testing import read_decisions
    from turnsignal.agents.replaying.checkpoints import DIRECTORY as UNFINISHED
    from turnsignal.agents.replaying.files import SUMMARY, spare_others, spare_strangers
    from turnsignal.agents.replaying.jobs import READING
    from turnsignal.agents.replaying.result import read_result
    from turnsignal.agents.replaying.run import replay_files
    from turnsignal.agents.report.ending import format_ending
    from turnsignal.agents.report.tables import print_lines
    from turnsignal.agents.report.unread import describe_files
    from turnsignal.stream.judging.judges import warn_of_rubrics

    if sample and resume:
        raise click.UsageError("--sample and --resume exclude each other: the sample takes a second")
    if sample == bool(files):
        raise click.UsageError("expected files of turns, or --sample; got both" if sample else _NO_FILES)
    if decisions is not None and not alerts:
        raise click.UsageError("--decisions go with --alerts: give both")
    times = [given_time(text, "--released") for text in released]
    decided = () if decisions is None else read_decisions(decisions)
    out = out or Path("out/sample" if sample else "out/replay")
    chosen = chosen_suite(suite_file, redaction)
    for warning in warn_of_rubrics(chosen.judges) if verdicts else ():
        click.echo(warning, err=True)
    spare_others(out, (*files, *feedback, *verdicts))
    if sample:
        spare_strangers([out / SAMPLE_TURNS], [out / SUMMARY])
        files = (write_sample(out),)
    reading_of = how_to_read(format_name, mapping, strict=strict)
    with (
        ending_on_signals(),
        saying_how_to_resume(out / UNFINISHED if resume else None),
        read_in(files, reading_of, partial(click.echo, err=as_json)) as imported,
        shown_progress("replaying", _size(imported.sources, feedback, verdicts), 0 if as_is else 1 / READING) as bars,
    ):
        if not (feedback or verdicts or imported.feedback):  # which may bring scores of any name
            refuse_misspelt(fail_if_worse, chosen)
        how: dict[str, Any] = {"workers": workers or 0, "as_is": as_is, "environment": read_environment(counted)}
        how |= {"feedback": (*feedback, *imported.feedback), "verdicts": verdicts, "refused": imported.refused}
        how |= {"progress": bars[1], "alerts": alerts, "decisions": decided, "resume": resume}
        how |= {"whole": whole_conversations, "baseline": baseline, "released": times}
        how["read_as"] = reading_of
        summary = replay_files(imported.sources, out, chosen, time.time(), **how)
    echo_described(describe_files(imported.reports, summary.get("assumed", {})), err=as_json)
    result = read_result(out)
    if as_json:
        print_json(result.as_json())
    else:
        console = open_console()
        print_lines(console, format_ending(result, console.width, is_sample=sample))
    read = sum(summary["turns"].values()) + sum(summary["other_environments"].values())
    read_feedback = sum(row["n"] for row in summary["feedback"])
    end_by_unread(feedback, read_feedback, out / "dead-letters.jsonl", "record of feedback")
    end_by_unread(verdicts, count_read(verdicts, out / "dead-letters.jsonl"), out / "dead-letters.jsonl", "verdict")
    end_by_cut(imported.reports)
    read += read_feedback
    dead = sum(summary["dead_letters"].values())
    end_by_rejected(dead, read, max_rejected)
    end_by_no_answer(summary["turns"].get("assistant", 0) + sum(summary["other_environments"].values()), dead, read)
    end_by_releases(fail_if_worse, result.summary)


def _size(turns: "Sequence[TurnFile]", feedback: tuple[Path, ...], verdicts: tuple[Path, ...]) -> int:
    from turnsignal.agents.files.reading import Recording

    return Recording(turns, feedback=feedback, verdicts=verdicts).size
