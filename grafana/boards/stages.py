"""Stages: at which part of the assistant answers first go wrong: routing, retrieval, chunks, generation or format."""

from grafana_foundation_sdk.builders import dashboard as built

from grafana.boards.overview import CONVERSATIONS, FOLLOW_UPS, INSTRUCTIONS, RETRIEVAL, first_failing
from grafana.frame import dashboard_of
from grafana.panels import A_MINUTE, RATIO, WHOLE, Column, Panel, Query, lines, rows, stats
from grafana.queries import RANGE, a_minute, count, mean, moved, portions_of, share
from turnsignal.stream.pipeline.truth_scoring import OF_TRUTH
from turnsignal.stream.records.scores import CITED_ARTICLE, ROUTING

_STAGES = "stage_turns_total"
_DIAGNOSED, _LABELLED = 'basis="diagnosis"', 'basis="truth"'
_NO_LABELS = "No answer with labels."


def build() -> built.Dashboard:
    """Build the dashboard."""
    panels: list[Panel] = [*_now(), *_over_time(), *_labelled()]
    return dashboard_of("stages", "stages", __doc__ or "", panels)


def _now() -> list[Panel]:
    return [
        stats(
            "Nothing goes wrong",
            "Share of the answers of which something is known, and nothing that is known is wrong.",
            RATIO,
            Query(share("", _STAGES, f'{_DIAGNOSED},stage="none"', _DIAGNOSED), "nothing wrong"),
            width=6,
            link=CONVERSATIONS,
            decimals=1,
        ),
        stats(
            "Answers with labels",
            "Answers to questions of which the right agents, documents or passages are known.",
            A_MINUTE,
            Query(a_minute("", _STAGES, _LABELLED), "with labels"),
            width=6,
            decimals=2,
            empty=_NO_LABELS,
        ),
        stats(
            "Right agents asked",
            "Share of the labelled answers for which exactly the right agents were asked.",
            RATIO,
            Query(mean("", f'scorer="{ROUTING}"'), "right agents"),
            width=6,
            decimals=1,
            empty=_NO_LABELS,
        ),
        stats(
            "Right document cited",
            "Share of the labelled answers that cite one document, and it is the right one.",
            RATIO,
            Query(mean("", f'scorer="{CITED_ARTICLE}"'), "right document"),
            width=6,
            link=RETRIEVAL,
            decimals=1,
            empty=_NO_LABELS,
        ),
    ]


def _over_time() -> list[Panel]:
    labels = "version, stage"
    in_all = count(labels, _STAGES, _DIAGNOSED)
    return [
        lines(
            "First stage that fails, by version",
            (
                "Share of a version's answers, by what was cited, what the user said next and which instructions "
                "were broken. What comes after the first stage that fails is not looked at."
            ),
            RATIO,
            Query(first_failing(_DIAGNOSED), "{{version}} {{stage}}"),
            width=12,
            link=FOLLOW_UPS,
        ),
        lines(
            "First stage that fails, by labels",
            "The same of labelled answers: did the right agents, documents and passages come, and did the answer help.",
            RATIO,
            Query(first_failing(_LABELLED), "{{version}} {{stage}}"),
            width=12,
            link=RETRIEVAL,
            empty=_NO_LABELS,
        ),
        rows(
            "Versions and stages",
            "Answers in all that is shown, by the first stage that is wrong; none: nothing is.",
            {"version": "version", "stage": "first wrong"},
            Column("answers", in_all, WHOLE, 0),
            Column("share", portions_of("version", "stage", _STAGES, _DIAGNOSED, over=RANGE), RATIO, 1, gauge=True),
            width=24,
            height=10,
            link=INSTRUCTIONS,
            widths={"answers": 140, "share": 240},
        ),
    ]


def _labelled() -> list[Panel]:
    return [
        lines(
            "Right agents and documents, by version",
            "Mean over the window, of labelled answers: exactly the right agents, the one right document.",
            RATIO,
            Query(mean("version", f'scorer="{ROUTING}"'), "{{version}} agents"),
            Query(mean("version", f'scorer="{CITED_ARTICLE}"'), "{{version}} document"),
            width=7,
            link=RETRIEVAL,
            ratio=True,
            empty=_NO_LABELS,
        ),
        lines(
            "Questions with known answers",
            "Answers outside production, by the first stage that is wrong.",
            A_MINUTE,
            Query(moved("environment, stage", "environment_stage_turns_total"), "{{environment}}, {{stage}}"),
            width=10,
            stacked=True,
            empty=_NO_LABELS,
        ),
        lines(
            "Why labelled answers were not scored",
            "By scorer and reason. They are in no mean.",
            A_MINUTE,
            Query(
                moved("scorer, reason", "unscored_total", f'scorer=~"{"|".join(OF_TRUTH)}"'), "{{scorer}}, {{reason}}"
            ),
            width=7,
            stacked=True,
            empty="Every labelled answer was scored.",
        ),
    ]
