"""`turnsignal report …`: labels of what should have happened beside what did."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from turnsignal.agents.commands.options import (
    FILE,
    FILES,
    JSON,
    REPLAYED,
    SUITE,
    open_console,
    print_json,
    shown_progress,
)
from turnsignal.agents.commands.sparing import OutFile, SparingCommand
from turnsignal.stream.errors import TurnsignalError

if TYPE_CHECKING:
    from turnsignal.stream.reports.labelled_figures import LabelledFigures

_REMOVE = "--remove"
_RESULTS = ("metrics.json", "analysis_report.txt", "routing.json")  #: of routing; the first two are Waterfall's


class _SeveralToRemove(SparingCommand):
    """A command that takes `--remove unknown outofscope`, as scripts with argparse do."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Give each label behind `--remove` an option of its own."""
        given: list[str] = []
        removing = False
        for text in args:
            if text.startswith("-"):
                removing = text == _REMOVE
                given += [] if removing else [text]
            else:
                given += [_REMOVE, text] if removing else [text]
        return super().parse_args(ctx, given)


@click.command(
    cls=_SeveralToRemove,
    short_help="Say which stage to mend first, or how queries are routed.",
    epilog="Example: turnsignal replay turns.jsonl.gz --out out/a && turnsignal report out/a --html report.html, or: "
    "turnsignal report --gt gt.json --pred pred.json --outdir results --remove unknown",
)
@click.argument("directory", type=REPLAYED, required=False)
@click.option("--turns", type=FILES, multiple=True, help="Turns that were replayed; repeatable.  [those it names]")
@click.option("--suite", type=SUITE, help="The suite of the replay, for its thresholds.")
@click.option(
    "--evaluation-data",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="A folder EvaluationData (labels, predictions, answers by query), instead of a replay.",
)
@click.option(
    "--write-evaluation-data",
    "written",
    type=click.Path(path_type=Path, file_okay=False),
    help="Write the answers that have labels as such a folder.",
)
@click.option("--html", type=OutFile(), help="Write a page that needs nothing else.")
@click.option(
    "--embeddings",
    metavar="ENDPOINT:MODEL",
    help="Also compare answers with references by this model's embeddings; both texts are sent to the endpoint.",
)
@click.option("--gt", type=FILE, help="Ground truth: the agents that each query belongs to, by id.")
@click.option("--pred", type=FILE, help="Predictions: the agents that each was sent to, by id.")
@click.option(
    "--outdir",
    type=click.Path(path_type=Path, file_okay=False),
    default="results",
    show_default=True,
    help="Directory for the three files.",
)
@click.option(_REMOVE, multiple=True, metavar="LABEL...", help="Leave out queries that belong to these.")
@click.option("--queries", type=FILE, multiple=True, help="More about the queries, by id; repeatable.")
@JSON
def report(
    *,
    directory: Path | None,
    turns: tuple[Path, ...],
    suite: Path | None,
    evaluation_data: Path | None,
    written: Path | None,
    html: Path | None,
    embeddings: str | None,
    gt: Path | None,
    pred: Path | None,
    outdir: Path,
    remove: tuple[str, ...],
    queries: tuple[Path, ...],
    as_json: bool,
) -> None:
    """Say which stage of the answers to mend first, or how well queries are routed to agents.

    With a DIRECTORY that `replay --out` wrote: at which stage answers first fail (routing, retrieval, chunks,
    generation, format), what mending each would gain, and since which version, by the labels that turns carry
    (`truth`), else by the diagnosis; and which articles overlap: nearly the same words (scikit-learn compares them:
    make .venv/.report), or cited in turn for several opening questions. With --gt and --pred: routing alone, from files
    of labels.

    \b
    gt.json, pred.json   [{"id": "1", "labels": ["billing", "search"]}, …]; labels also as "billing, search" or null
    with, if known       "query", "query_type", "domain", "difficulty": in gt.json, or in files for --queries

    JSON lines and CSV do as well. Labels are read in small letters. Writes metrics.json (exact match; precision, recall
    and F1 of each class, micro, macro, weighted and over samples; every error) and analysis_report.txt, as the script
    of "Hierarchical Waterfall Evaluation" does, and routing.json: figures that count labels which only predictions
    have, too, errors by kind of query and by combination of agents, words that go with them, and gains.
    """
    if sum((directory is not None, evaluation_data is not None, gt is not None or pred is not None)) > 1:
        raise click.UsageError("expected one of a directory of a replay, --evaluation-data, or --gt and --pred")
    if evaluation_data is not None:
        directory, turns = _replay_evaluation_data(evaluation_data, outdir, suite)
    if directory is not None:
        _report_traffic(directory, turns, suite, html, written, embeddings, as_json=as_json)
        return
    if embeddings is not None:
        raise click.UsageError("--embeddings compares the answers of a replay; got no directory of one")
    if gt is None or pred is None:
        raise click.UsageError("expected a directory that `replay --out` wrote, or --gt and --pred")
    _report_routing(gt, pred, outdir, remove, queries, as_json=as_json)


def _replay_evaluation_data(folder: Path, out: Path, suite: Path | None) -> tuple[Path, tuple[Path, ...]]:
    """Replay a folder's queries into `out`; return the directory and the turns."""
    import os
    import time

    from turnsignal.agents.files.writing import spare_inputs
    from turnsignal.agents.replaying.evaluation_data import evaluation_files, read_evaluation_data
    from turnsignal.agents.replaying.files import SUMMARY, spare_strangers
    from turnsignal.agents.replaying.run import replay_files
    from turnsignal.agents.suite_files import suite_in_force

    turns = out / "turns.jsonl"
    spare_inputs([turns], evaluation_files(folder))
    spare_strangers([turns], [out / "replay" / SUMMARY])
    try:
        out.mkdir(parents=True, exist_ok=True)
        read_evaluation_data(folder, turns)
    except OSError as error:
        msg = f"{turns}: expected a file that can be written, got: {error.strerror}"
        raise TurnsignalError(msg) from None
    chosen = suite_in_force(suite, os.environ.get("TURNSIGNAL_REDACTION") or None)
    replay_files([turns], out / "replay", chosen, time.time(), workers=1)
    return out / "replay", (turns,)


def _embed_at(text: str) -> Callable[["LabelledFigures"], None]:
    """Return a comparison of answers with references by an endpoint's model; ConfigError where there is no endpoint."""
    import os

    from turnsignal.agents.providers.embedding import compare_texts
    from turnsignal.agents.providers.endpoints import find_endpoint
    from turnsignal.stream.judging.judges import split_model

    name, model = split_model(text)
    endpoint = find_endpoint(name, os.environ)

    def compare(labelled: "LabelledFigures") -> None:
        pairs = labelled.references
        with shown_progress(f"asking {name} for embeddings", len(pairs)) as (_, asking, _sending):
            cosines = compare_texts(endpoint, model, pairs, asking)
        labelled.put_similarities(model, cosines)

    return compare


def _report_traffic(
    directory: Path,
    turns: tuple[Path, ...],
    suite: Path | None,
    html: Path | None,
    written: Path | None,
    embeddings: str | None,
    *,
    as_json: bool,
) -> None:
    import os

    from turnsignal.agents.files.writing import spare_inputs, write_file
    from turnsignal.agents.replaying.evaluation_data import evaluation_files
    from turnsignal.agents.replaying.files import result_files
    from turnsignal.agents.replaying.reporting import report_traffic
    from turnsignal.agents.replaying.result import read_result
    from turnsignal.agents.report.tables import print_lines
    from turnsignal.agents.report.traffic import format_traffic
    from turnsignal.agents.suite_files import suite_in_force

    result = read_result(directory)
    chosen = suite_in_force(suite, os.environ.get("TURNSIGNAL_REDACTION") or None)
    size = sum(path.stat().st_size for path in turns if path.is_file())
    compare = None if embeddings is None else _embed_at(embeddings)
    read = (*result_files(directory), *map(Path, result.summary["files"]))
    folder = () if written is None else evaluation_files(written)
    spare_inputs([*folder, *(() if html is None else (html,))], [*turns, *read])
    with shown_progress("reading turns", size) as (_, reading, _sending):
        report = report_traffic(result, turns, chosen, progress=reading, evaluation_data=written)
    if compare is not None:
        compare(report.labelled)
    made = report.as_json()
    if (ran := result.summary["suite"]["fingerprint"]) != chosen.fingerprint:
        made["notes"].append(f"The replay ran under another suite ({ran}): give it with --suite, for its thresholds.")
    if html is not None:
        from turnsignal.agents.report.page import page

        write_file(html, page(made).encode())
    if as_json:
        print_json(made)
    else:
        print_lines(open_console(), format_traffic(made))
    if html is not None:
        click.echo(f"Page: {html}", err=as_json)


def _report_routing(
    gt: Path, pred: Path, outdir: Path, remove: tuple[str, ...], queries: tuple[Path, ...], *, as_json: bool
) -> None:
    from turnsignal.agents.files.labelled import describe_queries, read_labelled
    from turnsignal.agents.files.writing import spare_inputs
    from turnsignal.agents.report.routing import format_routing
    from turnsignal.agents.report.tables import print_lines
    from turnsignal.stream.reports.labelled import read_labels
    from turnsignal.stream.reports.routing import Routing
    from turnsignal.stream.reports.routing_report import describe_reading, report_routing

    spare_inputs([outdir / name for name in _RESULTS], [gt, pred, *queries])
    removed = [label for text in remove for label in read_labels(text)]
    expected, predicted = read_labelled(gt), read_labelled(pred)
    described = describe_queries(expected, queries)
    try:
        routing = Routing(expected, predicted, removed)
    except TurnsignalError as error:
        msg = f"{gt}, {pred}: {error}"
        raise TurnsignalError(msg) from None
    notes = list(describe_reading(expected, predicted, routing, removed))
    if queries and not described:
        notes.append("No query of the ground truth is described by the files of --queries: are the ids the same?")
    made = report_routing(routing, notes)
    _write_results(outdir, routing, made)
    if as_json:
        print_json(made)
    else:
        print_lines(open_console(), format_routing(made))
    click.echo(f"Metrics and report saved to: {outdir}", err=as_json)


def _write_results(outdir: Path, routing: Any, made: dict[str, Any]) -> None:
    import json

    from turnsignal.agents.files.writing import write_file
    from turnsignal.agents.report.routing import format_analysis
    from turnsignal.stream.reports.routing import s1_metrics

    metrics = s1_metrics(routing)
    texts = (
        json.dumps(metrics, indent=2),  # Waterfall's bytes: escapes, and no newline at the end
        format_analysis(metrics),
        json.dumps(made, indent=2, ensure_ascii=False) + "\n",
    )
    for name, text in zip(_RESULTS, texts, strict=True):
        write_file(outdir / name, text.encode())
