"""What stands below the first screen: outcomes, the diagnosis table, changes with their intervals, worst exchanges."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.console import RenderableType
from rich.table import Column
from rich.text import Text

from turnsignal.agents.replaying.result import ReplayResult
from turnsignal.agents.report.escaping import plain
from turnsignal.agents.report.overview import describe_unscored, name_releases
from turnsignal.agents.report.tables import add, fold, indent, make_table, number
from turnsignal.stream.durations import show_duration
from turnsignal.stream.follow_ups.failures import MEANING
from turnsignal.stream.records.scores import FOLLOW_UP
from turnsignal.stream.records.turns import DEFAULT_ASSISTANT
from turnsignal.stream.reports.release_figures import WITHIN
from turnsignal.stream.reports.review import instructions
from turnsignal.stream.statistics.directions import BETTER, CHANGED, FREE_CONVERSATIONS, OUTCOMES, WORSE
from turnsignal.stream.text.counts import count_of
from turnsignal.stream.text.signed import signed, signed_percent

#: Said under debiased nDCGs; measured over three strengths of position bias and three kinds of relevance.
DEBIASED = (
    "In simulations this took out 31 % to 43 % of the bias where rank weighs much (rank 2 looked at half as often as "
    "rank 1), 54 % to 80 % where less (0.7), and overshot by up to half where little (0.9)."
)
ROWS = 20  #: releases, comparisons that are shown; summary.json has them all
CHANGES = (BETTER, WORSE, CHANGED)
#: Said under every table of comparisons.
PROMISE = (
    "Where nothing differs, at most 5 % of such comparisons name any change. That holds for one look: who looks again "
    "every day will see more."
)
_TEXT = 140  #: characters of a text of an exchange
_NOT_ASKED = "not_applicable"
_HEADINGS = {
    "resolved": "re-\nsolved",
    "clarified": "clari-\nfied",
    "abandoned": "aban-\ndoned",
    "unanswered": "un-\nanswered",
    FREE_CONVERSATIONS: "clarifi-\ncation\n_free",
}
_DIAGNOSES = 8  #: rows that are shown
_VERSIONS = 4  #: beyond which the diagnosis stands for all of them together
_STYLES = {WORSE: "red", BETTER: "green", CHANGED: "yellow"}


def format_details(result: ReplayResult) -> Iterator[RenderableType]:
    """Give everything that a summary says beyond the first screen, and the worst exchanges last."""
    summary = result.summary
    if summary["diagnosis"]:
        yield _diagnosis(summary["diagnosis"])
    if any("figures" in row for row in summary["quality"]):
        yield _outcomes(summary["quality"][:ROWS])
    yield from (Text(line, style="dim") for line in _left_out(summary))
    named = [row for row in summary["comparisons"][:ROWS] if _changes(row)]
    if named:
        yield _comparisons(named)
        yield from (Text(line, style="dim") for line in _cohorts(named))
        yield Text(PROMISE, style="dim")
    if votes := summary.get("votes"):
        yield _votes(votes[:ROWS])
    biases = [row for row in summary["position_bias"] if "silent" not in row]
    yield from map(Text, map(_bias, biases))
    if any("debiased" in one for row in biases for one in row.get("ndcg", ())):
        yield Text(DEBIASED, style="dim")
    yield from _unscored(result)
    if result.worst:
        yield Text("\nWorst exchanges, at most one a conversation", style="bold")
        checks = instructions(result.summary)
        yield from (_exchange(rank, row, checks) for rank, row in enumerate(result.worst, 1))


def _diagnosis(rows: Sequence[Mapping[str, Any]]) -> RenderableType:
    """Draw the diagnosis: how often each combination came, by version where they are few, and what it means."""
    counts: Counter[str] = Counter()
    by_version: dict[str, Counter[str]] = {}
    meanings: dict[str, str] = {}
    for row in rows:
        counts[row["diagnosis"]] += row["n"]
        by_version.setdefault(row["version"] or "-", Counter())[row["diagnosis"]] += row["n"]
        meanings[row["diagnosis"]] = row["meaning"]
    versions = sorted(by_version) if len(by_version) <= _VERSIONS else []
    shown: dict[str, Counter[str]] = {version: by_version[version] for version in versions} or {"all": counts}
    heads = [number(plain(version, 24)) for version in shown]
    first, meaning = Column("relevancy/follow-up/\ninstructions", no_wrap=True), Column("what it means", ratio=1)
    table, drawn = make_table(first, *heads, meaning, title="Diagnosis")
    for name, _ in counts.most_common(_DIAGNOSES):
        add(table, [name, *(f"{of[name] / of.total():.0%}" for of in shown.values()), meanings[name]])
    return drawn


def _outcomes(rows: Sequence[Mapping[str, Any]]) -> RenderableType:
    """Draw how conversations ended, of those that the recording holds whole."""
    names = ["whole", *(_HEADINGS.get(name, name) for name in (*OUTCOMES, FREE_CONVERSATIONS)), "turns"]
    table, drawn = make_table(fold("release"), *map(number, names), title="How conversations ended")
    for name, row in zip(name_releases([(row["assistant"], row["version"]) for row in rows]), rows, strict=True):
        figures = row.get("figures", {})
        cells = [f"{figures[one]['value']:.0%}" if one in figures else "-" for one in (*OUTCOMES, FREE_CONVERSATIONS)]
        turns = f"{row['turns_per_conversation']:.1f}" if "turns_per_conversation" in row else "-"
        add(table, [name, f"{row['conversations']:,}", *cells, turns])
    return drawn


def _left_out(summary: Mapping[str, Any]) -> Iterator[str]:
    """Tell how many conversations are not among the whole ones, and what to do where they are."""
    left = Counter[str]()
    for row in summary["quality"]:
        left.update(row["left_out"])
    if elsewhere := left["other_environment"]:
        yield f"Left out: {count_of(elsewhere, 'conversation')} with turns of another environment."
    young, headless = left["young"], left["headless"]
    cut = []
    if young:
        cut.append((young, f"not yet idle for {show_duration(summary['suite']['idle'])} when the recording ended"))
    if headless:
        cut.append((headless, f"without {'its' if headless == 1 else 'their'} beginning"))
    if cut:
        (first, why), *others = cut
        counts = [f"{count_of(first, 'conversation')} {why}", *(f"{n:,} {reason}" for n, reason in others)]
        whether = "it is" if young + headless == 1 else "they are"
        yield (
            f"Left out: {', '.join(counts)}. If {whether} whole, replay with --whole-conversations, or set "
            "`whole = true` in the suite's [aggregates]."
        )


def _changes(row: Mapping[str, Any]) -> list[str]:
    """Return the figures to show of a comparison: the primary one whatever came of it, then what changed."""
    primary = [row["primary"]] if row["primary"] is not None else []
    return primary + [
        name for name, delta in row["deltas"].items() if name != row["primary"] and delta["verdict"] in CHANGES
    ]


def _comparisons(rows: Sequence[Mapping[str, Any]]) -> RenderableType:
    columns = [fold("release and figure"), number("change"), Column("95 % interval", no_wrap=True), Column()]
    table, drawn = make_table(*columns, title="From one release to the next")
    for row in rows:
        add(table, [Text(_name_pair(row), style="cyan"), "", "", ""])
        for name in _changes(row):
            delta = row["deltas"][name]
            write = signed_percent if "unit" in delta else signed
            verdict = Text(delta["verdict"], style=_STYLES.get(delta["verdict"], ""))
            if name == row["primary"]:
                verdict.append(" (primary)")
            if "why" in delta:
                verdict.append(f": {plain(delta['why'], 100)}")
            interval = f"{write(delta['low'])} to {write(delta['high'])}"
            add(table, [f"  {plain(name, 60)}", write(delta["value"]), interval, verdict])
            for parts, key in WITHIN.items():
                if inside := delta.get(key):
                    interval = f"{write(inside['low'])} to {write(inside['high'])}"
                    add(table, [f"    within {parts}", write(inside["value"]), interval, ""])
        for part in row.get("affected_parts", ()):
            here = part["here"]
            interval = f"{signed(here['low'])} to {signed(here['high'])}"
            name = f"  {part['figure']} in {plain(part['name'], 30)}"
            add(table, [name, signed(here["value"]), interval, Text(WORSE, style=_STYLES[WORSE])])
    return drawn


def _name_pair(row: Mapping[str, Any]) -> str:
    return f"{plain(row['assistant'], 30)} {plain(row['before'] or '-', 30)} → {plain(row['after'] or '-', 30)}"


def _cohorts(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Tell which conversations count for another release than the one that ended them."""
    if taken_over := sum(row.get("taken_over", 0) for row in rows):
        yield f"Conversations that began under the release before count for that one: {taken_over:,}."
    for row in rows:
        for version, n in row.get("attributed", {}).items():
            yield f"{_name_pair(row)}: conversations without a version that count for {plain(version, 30)}: {n:,}."
        if apart := row.get("apart"):
            yield (
                f"{_name_pair(row)}: {apart:,} conversations without an answer or a version count for neither, since "
                "releases answered side by side; their share of all is compared instead."
            )


def _votes(rows: Sequence[Mapping[str, Any]]) -> RenderableType:
    counts = ("up", "down", "agree", "disagree", "only vote", "only follow-up")
    heads = [number(name.replace(" ", "\n")) for name in (*counts, "agreement, kappa")]
    title = "Votes beside follow-ups: disagree is a thumbs-down and the user went on, or the other way round"
    table, drawn = make_table(fold("release"), *heads, title=title)
    for name, row in zip(name_releases([(row["assistant"], row["version"]) for row in rows]), rows, strict=True):
        cells = [f"{row[key.replace(' ', '_').replace('-', '_')]:,}" for key in counts]
        both = ", ".join("-" if row.get(key) is None else f"{row[key]:.2f}" for key in ("agreement", "kappa"))
        add(table, [name, *cells, both])
    return drawn


def _bias(row: Mapping[str, Any]) -> str:
    places = " ".join(f"{place['value']:.2f}" for place in row["propensities"])
    text = (
        f"{plain(row['assistant'], 30)}: position bias: rank 1 to {len(row['propensities'])} looked at {places} "
        f"(from {row['source']}, n = {row['n']:,})."
    )
    for one in row.get("ndcg", ()):
        if "raw" in one:
            text += f" {plain(one['version'] or '-', 30)}: {one['measure']} {_interval(one['raw'])},"
            text += f" debiased {_interval(one['debiased']) if 'debiased' in one else one['debiased_silent']}."
    return text


def _unscored(result: ReplayResult) -> Iterator[Text]:
    """Say of the other scorers what is unscored and why; but for checks that simply do not apply."""
    above = {result.summary.get("relevancy", ""), FOLLOW_UP}
    parts = [part for part in result.unscored if any(reason != _NOT_ASKED for reason, _ in part.reasons)]
    parts = [part for part in parts if not above & set(part.scorers)]
    if parts:
        yield Text("\nUnscored, besides", style="bold")
    yield from (Text(describe_unscored(part)) for part in sorted(parts, key=lambda part: part.n / part.of)[:ROWS])


def _exchange(rank: int, row: Mapping[str, Any], checks: Mapping[str, str]) -> RenderableType:
    """Show one exchange: which one, what it lost, and the three texts, cut to two lines each."""
    assistant = [row["assistant"]] if row["assistant"] != DEFAULT_ASSISTANT else []
    names = (row["conversation_id"], row["turn_id"], *assistant, row["version"] or "-")
    head = Text(" · ".join(plain(name, 200) for name in names), style="cyan")
    figures = [f"{name} {row[name]:.2f}" for name in ("relevancy", "compliance") if row[name] is not None]
    if row["follow_up"] is not None:
        figures.append(f"follow-up {row['follow_up']:.2f} {plain(row['label'], 30)}")
    if row["failed"]:
        figures.append(f"failed: {MEANING}")
    if row["broken"]:
        figures.append(f"breaks {', '.join(plain(checks.get(check, check), 60) for check in row['broken'][:3])}")
    lines: list[tuple[str | Text, str | Text]] = [(f"{rank:>2}", head), ("", " · ".join(figures))]
    for who, text in (("user", row["prompt"]), ("answer", row["answer"]), ("user", row["reply"])):
        if text is not None:
            shown = plain(" ".join(text.split()) or "(empty)", _TEXT)
            lines.append(("", Text.assemble((f"{who:6} ", "dim"), shown)))
    return indent(lines)


def _interval(figure: Mapping[str, Any]) -> str:
    return f"{figure['value']:.3f} ({figure['low']:.3f}–{figure['high']:.3f})"
