"""Judges: what models say of answers, what that costs, who waits for them, and how far they can be believed."""

from grafana_foundation_sdk.builders import dashboard as built

from grafana.boards.overview import CONVERSATIONS, FOLLOW_UPS, PIPELINE
from grafana.frame import dashboard_of
from grafana.panels import (
    A_MINUTE,
    COUNT,
    RATIO,
    SCORE,
    SECONDS,
    Column,
    Panel,
    Query,
    lines,
    rows,
    stats,
)
from grafana.queries import MONTH, a_minute, count, judged_mean, moved, newest, quantile, rate, select, share

MONEY = "none"  #: in the currency of the suite's prices, which no metric names
_REPEATS, _ANCHORS = "judge_repeat_checks_total", "judge_anchor_checks_total"
_VERDICTS = "judge_verdicts_total"
_DIFFERS = 'result="differ"'
_JUDGED, _LATENCY = 'stage="judged"', "end_to_end_latency_seconds"
_TWICE = 'result=~"agree|differ"'
_WARNS = ((None, "green"), (1.0, "orange"))


def build() -> built.Dashboard:
    """Build the dashboard."""
    panels = [*_now(), *_said(), *_asked(), *_paid(), *_believed()]
    return dashboard_of("judges", "judges", __doc__ or "", panels)


def _now() -> list[Panel]:
    return [
        stats(
            "Spent",
            "What judging cost in all that is shown, in the currency of the suite's prices.",
            MONEY,
            Query(count("", "judge_cost_total"), "spent"),
            width=4,
            decimals=2,
        ),
        stats(
            "Left today",
            "What all workers together may still spend today (UTC).",
            MONEY,
            Query(f"sum({select('judge_budget_remaining')})", "left"),
            width=4,
            decimals=2,
            empty="no budget",
        ),
        stats(
            "Exchanges that wait",
            "Exchanges that were taken in and have not all their verdicts.",
            COUNT,
            Query(f"sum({select('judge_queue_exchanges')})", "exchanges"),
            width=4,
            link=PIPELINE,
        ),
        stats(
            "Longest wait",
            "Of the exchange that has waited longest. Beyond max_age of the suite it is not asked about any more.",
            SECONDS,
            Query(newest("", "judge_queue_age_seconds"), "longest"),
            width=4,
        ),
        stats(
            "Endpoints left alone",
            "Endpoints that fail so often in a row that they are hardly asked. Nothing else changes meanwhile.",
            COUNT,
            Query(f"sum({newest('endpoint', 'judge_circuit_open')})", "left alone"),
            width=4,
            steps=_WARNS,
        ),
        stats(
            "Otherwise when asked again",
            "Share of the questions asked twice within 30 days to which one answer is good and one is bad.",
            RATIO,
            Query(
                f"{count('', _REPEATS, _DIFFERS, over=MONTH)} / ({count('', _REPEATS, _TWICE, over=MONTH)} > 0)",
                "otherwise",
            ),
            width=4,
            steps=((None, "green"), (0.15, "orange")),
            decimals=1,
        ),
    ]


def _said() -> list[Panel]:
    return [
        lines(
            "Judged values",
            (
                "Mean over the window, each value by the inverse of its sampling probability: of all answers, not "
                "of those asked about."
            ),
            SCORE,
            Query(judged_mean("judged"), "{{judged}}"),
            width=8,
            link=CONVERSATIONS,
            ratio=True,
        ),
        lines(
            "Judged values by version",
            "The same by the version that answered.",
            SCORE,
            Query(judged_mean("version, judged"), "{{version}} {{judged}}"),
            width=8,
            link=FOLLOW_UPS,
            ratio=True,
        ),
        lines(
            "Why judges gave no value",
            "By judged scorer and reason. They are in no mean.",
            A_MINUTE,
            Query(moved("judged, reason", "judged_unscored_total"), "{{judged}}, {{reason}}"),
            width=8,
            stacked=True,
            empty="Every verdict had a value.",
        ),
    ]


def _asked() -> list[Panel]:
    return [
        lines(
            "Verdicts by outcome",
            "Judged, taken from an earlier answer (cached), or why there is no value.",
            A_MINUTE,
            Query(moved("judge, outcome", _VERDICTS), "{{judge}}, {{outcome}}"),
            width=8,
            stacked=True,
        ),
        lines(
            "Requests by how they ended",
            "Calls to endpoints; an exchange may take several.",
            A_MINUTE,
            Query(moved("endpoint, outcome", "judge_requests_total"), "{{endpoint}}, {{outcome}}"),
            width=8,
            stacked=True,
        ),
        lines(
            "How long an endpoint takes",
            "Request to reply: half take no longer, and 95 of 100.",
            SECONDS,
            Query(quantile(0.5, "endpoint", "judge_request_duration_seconds"), "{{endpoint}}, half"),
            Query(quantile(0.95, "endpoint", "judge_request_duration_seconds"), "{{endpoint}}, 95 of 100"),
            width=8,
        ),
        lines(
            "Exchanges that wait for verdicts",
            "Taken in without all their verdicts; in flight: calls without an answer yet.",
            COUNT,
            Query(f"sum({select('judge_queue_exchanges')})", "wait"),
            Query(f"sum by (endpoint) ({select('judge_in_flight_requests')})", "in flight to {{endpoint}}"),
            width=8,
            link=PIPELINE,
        ),
        lines(
            "From the turn to its judged row",
            "Half take no longer, and 95 of 100; and how long the exchange that waits longest has waited.",
            SECONDS,
            Query(quantile(0.5, "", _LATENCY, _JUDGED), "half"),
            Query(quantile(0.95, "", _LATENCY, _JUDGED), "95 of 100"),
            Query(newest("", "judge_queue_age_seconds"), "longest wait"),
            width=8,
        ),
        lines(
            "Endpoints left alone, by endpoint",
            "1 while an endpoint fails so often in a row that it is hardly asked.",
            COUNT,
            Query(newest("endpoint", "judge_circuit_open"), "{{endpoint}}"),
            width=8,
            ratio=True,
        ),
    ]


def _paid() -> list[Panel]:
    return [
        lines(
            "Spent an hour, by judge",
            "In the currency of the suite's prices.",
            MONEY,
            Query(f"3600 * {rate('judge', 'judge_cost_total')}", "{{judge}}"),
            width=8,
            stacked=True,
        ),
        lines(
            "Left of today's budget",
            "All workers together. It is paced to last until midnight (UTC): what is dear is asked about less often.",
            MONEY,
            Query(f"sum({select('judge_budget_remaining')})", "left"),
            width=8,
            empty="The suite sets no budget.",
        ),
        lines(
            "Tokens",
            "As endpoints count them.",
            A_MINUTE,
            Query(a_minute("judge, kind", "judge_tokens_total"), "{{judge}}, {{kind}}"),
            width=8,
        ),
    ]


def _believed() -> list[Panel]:
    return [
        lines(
            "Agrees with people",
            (
                "Of the answers that people found good (and of those that they found bad) within 30 days, the share "
                "that a judge finds so."
            ),
            RATIO,
            *(
                Query(
                    share("judge", _ANCHORS, f'human="{word}",verdict="{word}"', f'human="{word}"', over=MONTH),
                    f"{{{{judge}}}}, {word}",
                )
                for word in ("good", "bad")
            ),
            width=6,
            ratio=True,
            empty="No labels of people have come.",
        ),
        lines(
            "Otherwise when asked again, by judge",
            "Share of the questions asked twice within 30 days to which one answer is good and one is bad.",
            RATIO,
            Query(share("judge", _REPEATS, _DIFFERS, _TWICE, over=MONTH), "{{judge}}"),
            width=6,
            ratio=True,
        ),
        lines(
            "Answered from memory",
            "Share of the verdicts with a value that were taken from an earlier one, at no cost.",
            RATIO,
            Query(share("judge", _VERDICTS, 'outcome="cached"', 'outcome=~"judged|cached"'), "{{judge}}"),
            width=6,
            ratio=True,
        ),
        lines(
            "What became of verdicts",
            (
                "Verdicts that the score app has read: the exchange stands (counted), has not come yet, was "
                "replaced, is forgotten."
            ),
            A_MINUTE,
            Query(moved("fate", "verdict_rows_total"), "{{fate}}"),
            width=6,
            stacked=True,
        ),
        rows(
            "Who judges what",
            "The judges of the suite: what each is asked, and which model answers.",
            {"judge": "judge", "rubric": "rubric", "endpoint": "endpoint", "model": "model"},
            Column("workers", f"count by (judge, rubric, endpoint, model) ({select('judge_info')})", COUNT, 0),
            width=24,
            height=6,
            widths={"workers": 100},
        ),
    ]
