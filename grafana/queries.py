"""Queries: what panels ask, in PromQL, each idea once.

A metric is named as `agents.metrics.families` declares it, and is filtered by those of the dashboard's variables that
it has labels for. No scorer is named anywhere: scorers are picked by the quality that they are about, as
`turnsignal_scorer_info` says it of the suite in force, so that a suite never seen before fills the same panels.
"""

from collections.abc import Sequence

from turnsignal.agents.metrics.families import FAMILIES, PREFIX

WINDOW = "$window"  #: what the reader chose; means and shares are taken over it
RANGE = "$__range"  #: all that the dashboard shows
MONTH = "30d"  #: over which budgets of bad scores are counted, and what is rare
END = "@ end()"  #: as of the end of what the dashboard shows
SCRAPES = "$__rate_interval"  #: as short as the scrape interval and the picture's width allow

_FILTERS = {"job": "$job", "assistant": "$assistant", "version": "$version"}
#: Not told apart by version, and shown under none: who chooses a version asks for them all the same.
OF_ALL_VERSIONS = frozenset(("regression_evidence_log10", "regression_threshold_log10"))
_PARTS = ("_bucket", "_sum", "_count")


def select(metric: str, *matchers: str) -> str:
    """Select a metric's series (`turns_total`, `score_ratio_sum`); matchers: further ones, such as `role="user"`."""
    family = FAMILIES.get(metric)
    for part in _PARTS:
        family = family or FAMILIES.get(metric.removesuffix(part))
    if family is None:
        msg = f"expected a metric of agents/metrics/families.py, without {PREFIX}; got {metric!r}"
        raise KeyError(msg)
    labels = ("job", *family.labels)
    chosen = [label for label in _FILTERS if label in labels and not (label == "version" and metric in OF_ALL_VERSIONS)]
    filters = [f'{label}=~"{_FILTERS[label]}"' for label in chosen]
    return f"{PREFIX}{metric}{{{','.join([*filters, *matchers])}}}"


def about(expression: str, quality: str) -> str:
    """Keep the series of scorers that are about a quality: relevancy, follow_up, instructions, citation or other."""
    facts = select("scorer_info", f'quality="{quality}"')
    return f"({expression} and on (scorer) {facts})"


def rates(metric: str, *matchers: str, over: str = WINDOW, quality: str | None = None, when: str = "") -> str:
    """Return every series of a counter as a rate (per second); when: if not now, such as `offset 1d`."""
    expression = f"rate({select(metric, *matchers)}[{over}]{f' {when}' if when else ''})"
    return expression if quality is None else about(expression, quality)


def rate(by: str, metric: str, *matchers: str, over: str = WINDOW, quality: str | None = None) -> str:
    """Sum a counter's rates (per second) by some labels, `""` for all together."""
    return f"sum {_by(by)}({rates(metric, *matchers, over=over, quality=quality)})"


def a_minute(by: str, metric: str, *matchers: str, over: str = SCRAPES, quality: str | None = None) -> str:
    """Sum a counter's rates by some labels, as counts a minute."""
    return f"60 * {rate(by, metric, *matchers, over=over, quality=quality)}"


def count(by: str, metric: str, *matchers: str, over: str = RANGE) -> str:
    """Sum what a counter counted, by some labels."""
    return f"sum {_by(by)}(increase({select(metric, *matchers)}[{over}]))"


def share(by: str, metric: str, part: str, whole: str = "", *, over: str = WINDOW, when: str = "") -> str:
    """Divide a part of a counter by the whole of it (0–1), by some labels; nothing where there is no whole.

    part, whole: matchers; when: if not now, such as `offset 1d`.
    """
    of_part, of_whole = (
        f"sum {_by(by)}({rates(metric, *filter(None, [matchers]), over=over, when=when)})" for matchers in (part, whole)
    )
    return f"{of_part} / ({of_whole} > 0)"


def budget_used() -> str:
    """Return how much of the share of scores that may be bad is used up (0–1, above 1: overspent).

    By assistant and scorer, of those that have a budget and any scores.
    """
    bad = count("assistant, scorer", "score_verdicts_total", 'verdict="bad"', over=MONTH)
    every = count("assistant, scorer", "score_verdicts_total", 'verdict=~"good|bad"', over=MONTH)
    return f"{bad} / ({every} > 0) / on (scorer) group_left () {newest('scorer', 'slo_bad_budget_ratio')}"


def portions(by: str, metric: str, *matchers: str, over: str = WINDOW) -> str:
    """Divide each series of a counter, by a label, by all of them together (0–1)."""
    return f"{rate(by, metric, *matchers, over=over)} / on () group_left () ({rate('', metric, over=over)} > 0)"


def portions_of(
    within: str, by: str, metric: str, *matchers: str, whole: Sequence[str] = (), over: str = WINDOW, when: str = ""
) -> str:
    """Divide the parts of a counter, by a label, by all of them that share other labels (0–1).

    within: those labels, such as `version`; matchers: of the parts; whole: of what they are parts of, by default the
    same; when: if not now, such as `END`.
    """
    part = f"sum by ({within}, {by}) ({rates(metric, *matchers, over=over, when=when)})"
    every = f"sum by ({within}) ({rates(metric, *(whole or matchers), over=over, when=when)})"
    return f"{part} / on ({within}) group_left () ({every} > 0)"


def judged_mean(by: str) -> str:
    """Take the mean of what judges said by some labels, weighted as a sample of all answers has to be."""
    return f"{rate(by, 'judged_score_weighted_total')} / ({rate(by, 'judged_score_weight_total')} > 0)"


def mean(by: str, *matchers: str, quality: str | None = None, over: str = WINDOW, metric: str = "score_ratio") -> str:
    """Take the mean of scores (0–1) by some labels, which must tell scorers apart; nothing where none were given."""
    total = rate(by, f"{metric}_sum", *matchers, over=over, quality=quality)
    return f"{total} / ({rate(by, f'{metric}_count', *matchers, over=over, quality=quality)} > 0)"


def quantile(level: float, by: str, metric: str, *matchers: str, over: str = WINDOW) -> str:
    """Read a quantile (0–1) off a histogram, by some labels."""
    counts = rate(", ".join(filter(None, ["le", by])), f"{metric}_bucket", *matchers, over=over)
    return f"histogram_quantile({level:g}, {counts}) >= 0"  # without observations it is NaN, which is no value


def moved(by: str, metric: str, *matchers: str) -> str:
    """Return counts a minute of what was counted at all in what is shown: words that never come up fill legends."""
    ever = f"sum by ({by}) (increase({select(metric, *matchers)}[{RANGE}] {END})) > 0"
    return f"{a_minute(by, metric, *matchers)} and ({ever})"


def buckets(metric: str, *matchers: str) -> str:
    """Count observations by bucket, for a heatmap."""
    return f"sum by (le) (increase({select(f'{metric}_bucket', *matchers)}[{SCRAPES}]))"


def newest(by: str, metric: str, *matchers: str) -> str:
    """Take a gauge's largest value by some labels: after a partition moved, two workers may show it for a moment."""
    return f"max {_by(by)}({select(metric, *matchers)})"


def worst(amount: int, expression: str, in_all: str) -> str:
    """Keep the series that stand highest in all that is shown, so that the same ones are drawn at each moment.

    in_all: the same quantity with the same labels, over `RANGE` and as of `END`.
    """
    return f"({expression}) and topk({amount}, {in_all})"


def _by(labels: str) -> str:
    return f"by ({labels}) " if labels else ""
