"""`turnsignal judge …`: recorded turns past LLM judges, or what that would send and cost."""

import os
import shlex
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from turnsignal.agents.commands.options import (
    FILES,
    FORMAT,
    JSON,
    MAPPING,
    MONEY,
    STRICT,
    SUITE,
    how_to_read,
    open_console,
    print_json,
)
from turnsignal.agents.commands.sparing import OutFile, SparingCommand
from turnsignal.agents.process.exits import EXIT_FAILED
from turnsignal.stream.errors import ConfigError

if TYPE_CHECKING:
    from turnsignal.stream.judging.exchanges import ExchangeRecord
    from turnsignal.stream.judging.judges import Judge, JudgePart, JudgingPart
    from turnsignal.stream.records.verdicts import Verdict
    from turnsignal.stream.redaction import Redaction
    from turnsignal.stream.suite import Suite

_DRY = "scripted:dry-run"
_SHOWN = 3  #: prompts of each judge that a dry run prints without --limit
_PRICES = "[judging.prices of the suite]"


@click.command(
    cls=SparingCommand,
    short_help="Ask LLM judges about recorded answers, or any chat log.",
    epilog="Example: turnsignal judge --rubric task_utility --model scripted:overlap turns.jsonl.gz --limit 20",
)
@click.argument("files", type=FILES, nargs=-1, required=True)
@click.option("--rubric", "rubrics", multiple=True, help="Judge of the suite by rubric or name, or a new one.")
@click.option("--model", help="Who answers, MODEL or ENDPOINT:MODEL.  [that of the suite's judge]")
@click.option("--limit", type=click.IntRange(1), help="Ask about so many exchanges at most.")
@click.option("--dry-run", is_flag=True, help="Print the greatest price and prompts, and ask nobody.")
@click.option("--price-in", type=MONEY, help=f"What --model costs for a million tokens that it reads.  {_PRICES}")
@click.option("--price-out", type=MONEY, help=f"What --model costs for a million tokens that it writes.  {_PRICES}")
@click.option("--probe", is_flag=True, help="Ask again in other words, and say how often the answer flips.")
@click.option("--budget", type=MONEY, help="Spend no more than this.  [judging.budget of the suite]")
@click.option("--recorded", type=FILES, help="Answer with the verdicts of this file instead of asking.")
@click.option(
    "--out",
    type=OutFile(),
    help="File of verdicts (.jsonl); what it already holds stays, and is not asked for again.  [out/verdicts/ and "
    "the recording's name; with --recorded none]",
)
@click.option("--suite", "suite_file", type=SUITE, help="Suite with judges.  [TURNSIGNAL_SUITE, or the built-in]")
@click.option("--redaction", type=SUITE, help="What to take out of texts.  [TURNSIGNAL_REDACTION, or all]")
@JSON
@FORMAT
@MAPPING
@STRICT
def judge(
    files: tuple[Path, ...],
    *,
    rubrics: tuple[str, ...],
    model: str | None,
    limit: int | None,
    dry_run: bool,
    price_in: float | None,
    price_out: float | None,
    probe: bool,
    budget: float | None,
    recorded: Path | None,
    out: Path | None,
    suite_file: Path | None,
    redaction: Path | None,
    as_json: bool,
    format_name: str | None,
    mapping: Path | None,
    strict: bool,
) -> None:
    """Ask LLM judges about recorded answers, or any chat log; with --dry-run, show what would be sent and cost.

    Judges are those of the suite ([[judges]]), or --rubric and --model: answer_relevance, answer_relevancy,
    completeness, context_recall, context_relevance, factual_correctness, follow_up, groundedness, task_utility, or the
    path of a rubric of yours (.toml, see `turnsignal schema rubric`).

    \b
    Models:  gpt-4o-mini  anthropic:…  google:…  ollama:…  scripted:overlap (no model: word overlap)
             NAME:…  any OpenAI-compatible endpoint   python:MODULE:FUNCTION  one of yours
    TURNSIGNAL_JUDGE_OPENAI_KEY (or _KEY_FILE), _ANTHROPIC_KEY, …; TURNSIGNAL_JUDGE_<NAME>_URL

    What a model costs stands in the suite ([judging.prices."gpt-4o-mini"] with input and output for a million tokens),
    or in --price-in and --price-out.

    What identifies people is taken out before anything is sent, unless [judging] redact = false. Ends with 1 when
    nothing could be judged. --probe asks five times: as it came, again, with the documents the other way round, with
    polite padding, and with an order to the judge in the text.
    """
    import time

    from turnsignal.agents.files.importing import Imported
    from turnsignal.agents.files.judging import judge_exchanges, read_exchanges, read_verdicts, redacted_exchanges
    from turnsignal.agents.files.kept_verdicts import default_file, kept_verdicts, put_in_order
    from turnsignal.agents.files.writing import spare_inputs
    from turnsignal.agents.providers.judges import load_judges
    from turnsignal.agents.suite_files import suite_in_force

    if probe and (out is not None or recorded is not None or dry_run):
        raise click.UsageError(
            "--probe: expected no --out, --recorded or --dry-run beside it, as only figures come of it"
        )
    if out is None and recorded is None and not (dry_run or probe):
        out = default_file(files)  # verdicts may have cost money
        spare_inputs([out], files)
    suite = suite_in_force(
        suite_file or os.environ.get("TURNSIGNAL_SUITE") or None,
        redaction or os.environ.get("TURNSIGNAL_REDACTION") or None,
    )
    judging = suite.judging if budget is None else suite.judging.model_copy(update={"budget": budget})
    judging = _priced(judging, model, price_in, price_out)
    removing = _redaction(suite)
    judges = load_judges(_choose(suite, rubrics, model, dry_run=dry_run or recorded is not None), judging, removing)
    say = partial(click.echo, err=True)
    with Imported(files, how_to_read(format_name, mapping, strict=strict), say=say) as imported:
        exchanges = list(_limited(read_exchanges(imported.sources, suite, time.time()), judges, limit))
    counts: dict[str, int] = {}
    exchanges = redacted_exchanges(exchanges, removing, counts)
    if dry_run:
        _show_plan(judges, exchanges, counts, limit or _SHOWN, judging, as_json=as_json)
        return
    if probe:
        _probe(judges, exchanges, judging, as_json=as_json)
        return
    from turnsignal.agents.providers.recorded import RecordedVerdicts
    from turnsignal.stream.records.verdicts import LOST

    with kept_verdicts(out) as (known, on_verdict):
        verdicts = judge_exchanges(
            exchanges,
            judges,
            judging,
            os.environ,
            recorded=None if recorded is None else RecordedVerdicts(read_verdicts(recorded)),
            known=known,
            on_verdict=on_verdict,
        )
        asked = [one for one in verdicts if (old := known.get(one.id)) is None or old.unscored in LOST]
        others = 0 if out is None else put_in_order(out, known, verdicts)
    _show(judges, verdicts, counts, out, as_json=as_json)
    is_judged = any(verdict.unscored is None for verdict in verdicts)
    if out is not None and not as_json:
        _say_where(out, files, others, is_judged=is_judged)
    for ruled in sorted({each.part.model for each in judges if each.part.model.startswith("scripted:")}):
        click.secho(
            f"warning: {ruled} answers by fixed rules: its verdicts say nothing of answers", fg="yellow", err=True
        )
    lost = Counter(str(verdict.unscored) for verdict in asked if verdict.unscored in LOST)
    if not is_judged:
        click.echo(f"turnsignal: none of {len(verdicts):,} exchanges could be judged", err=True)
        sys.exit(EXIT_FAILED)
    if asked and lost.total() == len(asked):
        reasons = ", ".join(f"{reason} {n:,}" for reason, n in lost.items())
        click.echo(f"turnsignal: none of the {len(asked):,} that were asked about now could be: {reasons}", err=True)
        sys.exit(EXIT_FAILED)


def _priced(
    judging: "JudgingPart", model: str | None, price_in: float | None, price_out: float | None
) -> "JudgingPart":
    """Return the settings of judging with the price that the options give, or as they are where none is given."""
    from turnsignal.stream.judging.judges import PricePart

    if price_in is None and price_out is None:
        return judging
    if price_in is None or price_out is None:
        raise click.UsageError("expected --price-in and --price-out together; got one of them")
    price = PricePart(input=price_in, output=price_out)
    return judging.model_copy(update={"prices": {**judging.prices, model or _DRY: price}})


def _redaction(suite: "Suite") -> "Redaction | None":
    from turnsignal.stream.redaction import Redaction

    return suite.redaction or (Redaction() if suite.judging.redact else None)


def _choose(suite: "Suite", rubrics: Sequence[str], model: str | None, *, dry_run: bool) -> "list[JudgePart]":
    """Return the judges to ask: the suite's, some of them, or new ones; raises ConfigError."""
    from pydantic import ValidationError

    from turnsignal.stream.errors import describe_first_error
    from turnsignal.stream.judging.judges import JudgePart, check_names

    parts = [part for part in suite.judges if not rubrics or {part.rubric, part.name} & set(rubrics)]
    missing = [name for name in rubrics if not any(name in (part.rubric, part.name) for part in parts)]
    if not parts and not missing:
        raise ConfigError("expected --rubric NAME, or [[judges]] in the suite; got neither")
    if missing and model is None and not dry_run:
        msg = f"--model: expected who answers for {missing[0]}, as no judge of the suite has it; got none;"
        msg_0 = f"{msg} try --model scripted:overlap, or --dry-run"
        raise ConfigError(msg_0)
    try:
        if model is not None:
            parts = [JudgePart.model_validate({**part.model_dump(), "model": model}) for part in parts]
        parts += [JudgePart.model_validate({"rubric": name, "model": model or _DRY}) for name in missing]
        return list(check_names(tuple(parts)))
    except ValidationError as error:
        raise ConfigError(describe_first_error(error, "judge")) from None
    except ValueError as error:
        raise ConfigError(str(error)) from None


def _limited(
    exchanges: "Iterator[ExchangeRecord]", judges: "Sequence[Judge]", limit: int | None
) -> "Iterator[ExchangeRecord]":
    """Give the first exchanges of the stages that are judged, `limit` of each."""
    left = {judge.chosen.rubric.stage: limit for judge in judges}
    for exchange in exchanges:
        count = left.get(exchange.stage, 0)
        if count is None:
            yield exchange
        elif count > 0:
            left[exchange.stage] = count - 1
            yield exchange
        elif all(count == 0 for count in left.values()):
            return


def _show_plan(
    judges: "Sequence[Judge]",
    exchanges: "Sequence[ExchangeRecord]",
    counts: dict[str, int],
    shown: int,
    judging: "JudgingPart",
    *,
    as_json: bool,
) -> None:
    from turnsignal.agents.files.judging import Previewed, preview
    from turnsignal.stream.judging.judges import NANO

    plan: list[dict[str, Any]] = []
    for each in judges:
        stage = each.chosen.rubric.stage
        previews = [preview(each, exchange) for exchange in exchanges if exchange.stage == stage]
        asked = [one for one in previews if isinstance(one, Previewed)]
        decided = [one for one in previews if not isinstance(one, Previewed)]
        left_out = Counter(str(one.unscored or one.decided_by) for one in decided)
        sentences = Counter(one.reasoning for one in decided if one.unscored)
        known = each.price is not None and (each.part.model != _DRY or _DRY in judging.prices)
        plan.append(
            {
                "judge": each.part.name,
                "rubric": each.chosen.name,
                "model": None if each.part.model == _DRY else each.part.model,
                "exchanges": len(asked),
                "calls": sum(one.calls for one in asked),
                "cascade": each.part.cascade is not None,
                "likely_tokens": sum(one.prompt.likely_tokens * one.calls for one in asked),
                "likely_price": sum(one.likely for one in asked) / NANO if known else None,
                "greatest_price": sum(one.greatest for one in asked) / NANO if known else None,
                "not_asked": dict(left_out),
                "why_not_asked": dict(sentences),
                "prompts": [
                    {"instructions": one.prompt.instructions, "material": one.prompt.material} for one in asked[:shown]
                ],
            }
        )
    if as_json:
        print_json({"judges": plan, "redacted": counts})
        return
    for row in plan:
        _print_totals(row)
    click.echo(_describe_redaction(counts))
    for row in plan:
        _print_prompts(row)


def _probe(
    judges: "Sequence[Judge]", exchanges: "Sequence[ExchangeRecord]", judging: "JudgingPart", *, as_json: bool
) -> None:
    from turnsignal.agents.files.probing import probe_judges
    from turnsignal.agents.report.judged import format_probed, summarize_probed
    from turnsignal.agents.report.tables import print_lines

    probed = [summarize_probed(one) for one in probe_judges(exchanges, judges, judging, os.environ)]
    if as_json:
        print_json({"probed": probed})
    else:
        print_lines(open_console(), format_probed(probed))
    if not any(probe["compared"] for one in probed for probe in one["probes"]):
        click.echo("turnsignal: no answer could be compared with another one", err=True)
        sys.exit(EXIT_FAILED)


def _print_totals(row: dict[str, Any]) -> None:
    if row["greatest_price"] is None:
        name = f'[judging.prices."{row["model"] or "MODEL"}"] with input and output in the suite'
        price = f"not known: give --price-in and --price-out for a million tokens, or {name}"
    else:
        price = f"{row['greatest_price']:.4f} at most, {row['likely_price']:.4f} probably"
    click.echo(
        f"{row['judge']} by {row['model'] or 'nobody yet (--model)'}: {row['exchanges']:,} exchanges,"
        f" {'up to ' if row['cascade'] else ''}{row['calls']:,} calls, about {row['likely_tokens']:,} tokens;"
        f" price {price}"
    )
    if row["not_asked"]:
        reasons = ", ".join(f"{reason} {n:,}" for reason, n in row["not_asked"].items())
        click.echo(f"{row['judge']}: nothing to ask: {reasons}")
    for sentence, n in row["why_not_asked"].items():
        click.echo(f"{row['judge']}: {n:,} times {sentence}")


def _print_prompts(row: dict[str, Any]) -> None:
    from turnsignal.agents.report.escaping import plain

    for count, prompt in enumerate(row["prompts"], 1):
        click.echo(f"── {row['judge']}, prompt {count} of {row['exchanges']:,}: instructions")
        click.echo(prompt["instructions"])
        click.echo(f"── {row['judge']}, prompt {count} of {row['exchanges']:,}: material")
        click.echo(plain(prompt["material"], 1_000_000))


def _describe_redaction(counts: dict[str, int]) -> str:
    if not counts:
        return "Taken out before sending: nothing."
    return "Taken out before sending: " + ", ".join(f"{kind} {n:,}" for kind, n in sorted(counts.items())) + "."


def _show(
    judges: "Sequence[Judge]",
    verdicts: "Sequence[Verdict]",
    counts: dict[str, int],
    out: Path | None,
    *,
    as_json: bool,
) -> None:
    from turnsignal.agents.report.judged import format_judged, summarize
    from turnsignal.agents.report.tables import print_lines
    from turnsignal.stream.records.verdicts import VERDICTS

    by_name = {each.part.name: [one for one in verdicts if one.judge.name == each.part.name] for each in judges}
    rows = [summarize(each, by_name[each.part.name]) for each in judges]
    if as_json:
        dumped = [VERDICTS.dump_python(verdict, mode="json", exclude_none=True) for verdict in verdicts]
        written = {} if out is None else {"file": str(out)}
        print_json({"judges": rows, "redacted": counts, "verdicts": dumped, **written})
        return

    print_lines(open_console(), format_judged(rows, verdicts))
    click.echo(_describe_redaction(counts))
    if out is not None:
        judged = sum(verdict.unscored is None for verdict in verdicts)
        failed = f", and {len(verdicts) - judged:,} that say why there is none," if judged < len(verdicts) else ""
        compare = "; compare them with people: turnsignal measure -h" if judged else ""
        click.echo(f"Wrote {judged:,} verdicts{failed} to {out}{compare}")


def _say_where(out: Path, files: Sequence[Path], others: int, *, is_judged: bool) -> None:
    """Say what else the file of verdicts holds, and which command shows them beside the rules' scores."""
    from turnsignal.agents.report.program_name import typed_program

    if others:
        click.echo(f"It held {others:,} more, of other exchanges or judges, and keeps them: a replay takes in all.")
    if is_judged:
        click.echo(f"Next: {typed_program()} replay {shlex.join(map(str, files))} --verdicts {shlex.quote(str(out))}")
