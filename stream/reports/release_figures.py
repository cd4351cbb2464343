"""Release figures: one figure of a release, and its change to the next, as a replay writes them."""

from collections.abc import Iterable
from contextlib import suppress
from typing import Any, NamedTuple

from turnsignal.stream.errors import ConfigError
from turnsignal.stream.measures import parse_measure
from turnsignal.stream.reports.scales import DOCUMENTS_GIVEN, QUESTIONS_ASKED, SECONDS
from turnsignal.stream.reports.user_spread import UserSpread, compared_estimates
from turnsignal.stream.statistics.claim import Claim
from turnsignal.stream.statistics.directions import (
    ANSWER_SECONDS,
    CITATIONS,
    DOCUMENTS,
    QUESTIONS,
    WASTED,
)
from turnsignal.stream.statistics.intervals import Difference, Estimate, difference

PLATFORMS, LANGUAGES, BOTH = "platforms", "languages", "platforms and languages"
#: parts of the traffic that may move → the key of a difference within them
WITHIN = {
    PLATFORMS: "within_platforms",
    LANGUAGES: "within_languages",
    BOTH: "within_platforms_and_languages",
}
SCALES = {
    DOCUMENTS: DOCUMENTS_GIVEN,
    CITATIONS: DOCUMENTS_GIVEN,
    QUESTIONS: QUESTIONS_ASKED,
    ANSWER_SECONDS: SECONDS,
}  #: of figures that are no shares


class ReleaseFigure(NamedTuple):
    """One figure of a release: the mean over turns, the mean of conversation means, the share of answers it scored.

    users, users_coverage: what users have to do with the mean, and with that share; None where no turn names one.
    """

    mean: Estimate
    by_conversation: Estimate | None = None
    coverage: Estimate | None = None
    users: UserSpread | None = None
    users_coverage: UserSpread | None = None


def change(after: ReleaseFigure, before: ReleaseFigure, overlap: float) -> Difference:
    """Return after − before; overlap: how far the users of both releases are the same."""
    return difference(*compared_estimates((after.mean, after.users), (before.mean, before.users), overlap))


def ranked_figures(names: Iterable[str]) -> tuple[str, ...]:
    """Return those that depend on which documents there are to cite: measures on citations, and what is not cited.

    >>> ranked_figures(["nDCG@5", "R(on=truth)@5", "compliance"])
    ('nDCG@5', 'wasted_context')
    """
    ranked = []
    for name in names:
        with suppress(ConfigError):
            if parse_measure(name).on == "citations":
                ranked.append(name)
    return (*ranked, WASTED)


def figure_as_json(name: str, figure: ReleaseFigure) -> dict[str, Any]:
    """Write a figure; seconds and documents as geometric means, which is what a mean of logarithms is."""
    scale = SCALES.get(name)
    if scale is not None:
        *bounds, n = figure.mean.interval
        values = [scale.value(fraction) for fraction in bounds]
        spelled = dict(zip(("value", "low", "high"), values, strict=True)) | {"n": n, "unit": scale.unit}
    else:
        spelled = figure.mean.interval.as_json()
    if figure.by_conversation is not None and scale is None:
        spelled["mean_of_conversations"] = figure.by_conversation.interval.as_json()
    if figure.coverage is not None:
        spelled["coverage"] = round(figure.coverage.value, 6)
    return spelled


def delta_as_json(
    name: str, delta: Difference, claim: Claim, within: Difference | None = None, parts: str = PLATFORMS
) -> dict[str, Any]:
    """Write a difference; of seconds and documents by how many times more, less one.

    within: the difference within parts of the traffic that moved; parts: which.
    """
    bounds: dict[str, Any] = {"value": delta.value, "low": delta.low, "high": delta.high}
    scale = SCALES.get(name)
    if scale is not None:
        bounds = {key: scale.change(value) for key, value in bounds.items()}
    spelled = {key: round(value, 6) for key, value in bounds.items()} | {"n": delta.n}
    if scale is not None:
        spelled["unit"] = "ratio - 1"
    spelled |= {"p": float(f"{delta.p:.3g}"), "adjusted": float(f"{claim.adjusted:.3g}"), "verdict": claim.change}
    if within is not None:
        spelled[WITHIN[parts]] = {key: delta_as_json(name, within, claim)[key] for key in ("value", "low", "high", "p")}
    return spelled | ({"why": claim.why} if claim.why else {}) | ({"untold": True} if claim.untold else {})
