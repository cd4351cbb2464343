"""`turnsignal measure …`: how far each evaluator agrees with labels that people gave."""

import os
import sys
from pathlib import Path

import click
import orjson

from turnsignal.agents.commands.options import (
    FILES,
    FORMAT,
    STRICT,
    SUITE,
    how_to_read,
    open_console,
    print_json,
    shown_progress,
)
from turnsignal.agents.commands.sparing import OutFile, SparingCommand
from turnsignal.agents.process.exits import EXIT_FAILED
from turnsignal.stream.errors import ConfigError

_FOLDERS = click.Path(path_type=Path, exists=True, file_okay=False)
_FILE = OutFile()
_EXTRA = ("sklearn", "scipy", "jinja2", "matplotlib")


@click.command(
    cls=SparingCommand,
    short_help="Say how far each evaluator agrees with people's labels.",
    epilog="Example: turnsignal measure my-labelled-turns --json figures.json --html figures.html",
)
@click.argument("folders", type=_FOLDERS, nargs=-1, required=True, metavar="FOLDER...")
@click.option("--mappings", type=_FOLDERS, help="Folder of mappings, NAME.toml for a data folder called NAME.")
@click.option("--verdicts", "verdict_files", type=FILES, multiple=True, help="Verdicts of `turnsignal judge --out`.")
@click.option("--suite", "suite_file", type=SUITE, help="Suite to score with.  [TURNSIGNAL_SUITE, or the built-in one]")
@click.option(
    "--resamples", type=click.IntRange(0, 100_000), default=500, show_default=True, help="Draws for intervals."
)
@click.option(
    "--json",
    "json_file",
    type=_FILE,
    is_flag=False,
    flag_value="-",
    help="Print {set: {figure: {value, low, high, n}}} as JSON; with FILE, write it there, beside the table.",
)
@click.option("--html", "html_file", type=_FILE, help="Write a page with pictures to this file.")
@FORMAT
@STRICT
def measure(
    folders: tuple[Path, ...],
    *,
    mappings: Path | None,
    verdict_files: tuple[Path, ...],
    suite_file: Path | None,
    resamples: int,
    json_file: Path | None,
    html_file: Path | None,
    format_name: str | None,
    strict: bool,
) -> None:
    """Say how far each evaluator can be trusted: its scores beside labels that people gave.

    A FOLDER holds turns*.jsonl or turns*.jsonl.gz (`turnsignal schema turn`), or folders that do. Labels are taken from
    the turns themselves (truth.doc_ids: documents that should be cited; vote: the user's own), or from wherever a
    mapping.toml beside the data says. Labels are removed before anything is scored.

    \b
    [[follow_ups]]                      did the user have to clarify?
    label = "labels.kind"               path of the label in a turn's record
    clarification = ["correction"]      values that mean it; for ratings: below = 2.6
    continuation = ["next"]             values that do not; left out: all others
    on = "user"                         who carries it; "assistant": the answer that is judged
    [[citations]]                       which documents does the answer cite?
    label = "labels.cited"              a list of document ids; means = "relevant": should it cite
    [[measures]]                        what should a ranking measure come to?
    label = "labels.reference"          {name: value}
    gains = "labels.qrels"              {doc_id: gain} or [doc_id]; without: what is cited
    names = { ndcg_cut_5 = "nDCG@5" }   that name = ours
    [[instructions]]                    was each instruction kept?
    label = "labels.checks"             a list of {check: "case.lower", pass: true}
    [[verdicts]]                        was a judge right?  (--verdicts)
    judge = "groundedness"              its name, or its rubric
    label = "labels.grounded"           on the answer, or on = "user"
    good = ["yes"]                      values that mean it; for ratings: at_least = 3
    raters = "labels.raters"            what each person said, for their own agreement

    \b
    Any block may have:  name = "…"   by = "source" (figures for each of its values)
                         where = { source = "*/checked" }   (only those turns)
                         anchors = [{ figure = "f1", kind = "floor", value = 0.45, says = "…" }]
    The suite for this data:  [suite.citations]  zero_based = true

    Of a judge: sensitivity is the share of good answers that it calls good, specificity that of bad ones that it calls
    bad; its rate as it is, and corrected by the labels (prediction-powered inference) to what people would say of all.
    Where it was asked of a part, its rates count each answer by the inverse of its probability to be asked of
    (`inclusion`); agreement is that of the answers with a label and a verdict, each counted once.
    Where fewer than 5 labels of the rarer kind are to be expected, labelled_rate stands in its place: labels alone.

    Intervals are 95 %, by drawing conversations anew. Ends with 1 when there was nothing to measure.
    """
    try:
        from turnsignal.agents.measure.run import as_json, find_sets, measure_sets, set_files, turn_files

        if html_file is not None:
            from turnsignal.agents.measure.page import page
    except ImportError as error:
        if (error.name or "").split(".")[0] not in _EXTRA:
            raise
        msg = (
            f"measure needs the extra `report`, of which {error.name} is not installed; try, in your clone: "
            "make .venv/.report"
        )
        raise ConfigError(msg) from None
    import time

    from turnsignal.agents.files.judging import read_verdicts
    from turnsignal.agents.files.reading import Recording
    from turnsignal.agents.files.writing import spare_inputs, write_file
    from turnsignal.agents.measure.table import format_table
    from turnsignal.stream.suite import load_suite

    suite = load_suite(suite_file or os.environ.get("TURNSIGNAL_SUITE") or None)
    sets, how = find_sets(folders), how_to_read(format_name, None, strict=strict)
    written = [path for path in (json_file, html_file) if path is not None and path != Path("-")]
    spare_inputs(written, (path for folder in sets for path in set_files(folder, mappings)))
    verdicts = [verdict for file in verdict_files for verdict in read_verdicts(file).values()]
    size = Recording(path for folder in sets for path in turn_files(folder)).size
    with shown_progress("measuring", size) as (_, reading, _records):
        measured = measure_sets(
            sets, mappings, suite, time.time(), resamples=resamples, how=how, verdicts=verdicts, progress=reading
        )
    is_printed = json_file == Path("-")
    if is_printed:
        json_file = None
        print_json(as_json(measured))
    else:
        console = open_console()
        for part in format_table(measured):
            console.print(part, highlight=False, soft_wrap=False)
    if json_file is not None:
        write_file(json_file, orjson.dumps(as_json(measured), option=orjson.OPT_INDENT_2) + b"\n")
    if html_file is not None:
        write_file(html_file, page(measured).encode())
    if written:
        click.echo(f"Wrote {' and '.join(map(str, written))}.", err=is_printed)
    if not any(one.measurements or one.note.startswith(("no evaluator", "labels of verdicts")) for one in measured):
        click.echo("Nothing to measure: see `turnsignal measure --help` for how labels are given.", err=True)
        sys.exit(EXIT_FAILED)
