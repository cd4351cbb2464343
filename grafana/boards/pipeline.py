"""Pipeline: do records come through, how late, and what is set aside. While it is not well, believe no quality."""

from grafana_foundation_sdk.builders import dashboard as built

from grafana.frame import dashboard_of
from grafana.panels import A_MINUTE, COUNT, RATIO, SCORE, SECONDS, WHOLE, Column, Panel, Query, lines, rows, stats
from grafana.queries import WINDOW, a_minute, count, mean, moved, newest, quantile, rate, select

_LAGS = newest("topic, partition", "consumer_lag_messages")
_WARNS = ((None, "green"), (1.0, "orange"))


def build() -> built.Dashboard:
    """Build the dashboard."""
    panels = [*_now(), *_flow(), *_work(), *_state(), *_beside_production()]
    return dashboard_of("pipeline", "pipeline", __doc__ or "", panels, since="now-6h")


def _now() -> list[Panel]:
    return [
        stats(
            "Workers",
            "Worker processes that answer Prometheus, by app.",
            COUNT,
            Query(f"count by (app) ({select('build_info')})", "{{app}}"),
            width=4,
        ),
        stats(
            "Restoring their state",
            "Workers that read their tables back. Their partitions are not worked on meanwhile.",
            COUNT,
            Query(f"sum({select('worker_recovering')})", "restoring"),
            width=4,
            steps=_WARNS,
        ),
        stats(
            "Records waiting",
            "Records that are still to be worked on, all topics. What matters is whether they become more.",
            COUNT,
            Query(f"sum({_LAGS})", "waiting"),
            width=4,
        ),
        stats(
            "Standing still",
            "The longest that a position has stood while its log went on.",
            SECONDS,
            Query(newest("", "position_stalled_seconds"), "longest"),
            width=4,
            steps=((None, "green"), (60.0, "orange"), (300.0, "red")),
        ),
        stats(
            "Set aside",
            "Dead letters in all that is shown. They are not scored.",
            COUNT,
            Query(count("", "dead_letters_total"), "set aside"),
            width=4,
            steps=_WARNS,
            decimals=0,
        ),
        stats(
            "Shown as other",
            "Values in all that is shown that had no room or no clean spelling as a label.",
            COUNT,
            Query(count("", "label_overflow_total"), "shown as other"),
            width=4,
            steps=_WARNS,
            decimals=0,
        ),
    ]


def _flow() -> list[Panel]:
    return [
        lines(
            "Records waiting, by topic",
            "Records that are still to be worked on; markers of transactions are none.",
            COUNT,
            Query(f"sum by (topic) ({_LAGS})", "{{topic}}"),
            width=8,
        ),
        lines(
            "Behind the newest turn",
            "How old the newest turn of a topic is: what is worked on, or what comes in, is late.",
            SECONDS,
            Query(f"time() - {newest('topic', 'last_event_timestamp_seconds')}", "{{topic}}"),
            width=8,
        ),
        lines(
            "From the broker to the committed score",
            "95 of 100 take no longer. inline: scores; watch: what is watched.",
            SECONDS,
            Query(quantile(0.95, "stage", "end_to_end_latency_seconds", 'stage!="judged"'), "{{stage}}"),
            width=8,
        ),
        lines(
            "Records by what became of them",
            "Read records, by result.",
            A_MINUTE,
            Query(moved("topic, result", "records_total"), "{{topic}}, {{result}}"),
            width=12,
        ),
        lines(
            "Set aside, by reason",
            "Dead letters. The topic of dead letters says of each where it stood and what was expected.",
            A_MINUTE,
            Query(moved("reason", "dead_letters_total"), "{{reason}}"),
            Query(a_minute("", "dead_letters_total"), "all reasons"),
            width=6,
        ),
        lines(
            "Positions taken over again",
            "Take-overs of a partition with no batch committed in between: more than one is suspicious.",
            COUNT,
            Query(newest("partition", "position_starts"), "partition {{partition}}"),
            width=6,
        ),
    ]


def _work() -> list[Panel]:
    return [
        lines(
            "Transactions",
            "By result. Aborted ones are done again; many of them say that the broker refuses something.",
            A_MINUTE,
            Query(a_minute("result", "transactions_total"), "{{result}}"),
            width=8,
        ),
        lines(
            "How long a transaction takes",
            "Begin to end: half take no longer, and 95 of 100.",
            SECONDS,
            Query(quantile(0.5, "", "transaction_duration_seconds"), "half"),
            Query(quantile(0.95, "", "transaction_duration_seconds"), "95 of 100"),
            width=8,
        ),
        lines(
            "Turns that wait in workers",
            "Fetched and not yet scored.",
            COUNT,
            Query(f"sum({select('pending_turns')})", "turns"),
            width=8,
        ),
    ]


def _state() -> list[Panel]:
    return [
        lines(
            "Entries of tables",
            "What workers keep, by table and partition.",
            COUNT,
            Query(newest("table", "table_entries"), "{{table}}"),
            width=8,
        ),
        lines(
            "Still to be restored",
            "Changelog records, by table and partition. It should fall to nought.",
            COUNT,
            Query(newest("table", "table_recovery_remaining_messages"), "{{table}}"),
            width=8,
        ),
        lines(
            "Series of a worker",
            "What Prometheus took in at a scrape. A worker shows at most 5 000.",
            COUNT,
            Query('scrape_samples_scraped{job=~"$job"}', "{{instance}}"),
            width=8,
        ),
        rows(
            "Workers and their builds",
            "A click leads to the worker's own pages.",
            {"instance": "worker", "app": "app", "version": "version", "revision": "revision"},
            Column("is up", f"max by (instance, app, version, revision) ({select('build_info')})", COUNT, 0),
            width=16,
            addresses={"worker": "http://${__value.raw}/"},
            widths={"is up": 90, "app": 100},
        ),
        lines(
            "Taken out of texts",
            "What redaction took out before anything was kept, by kind.",
            A_MINUTE,
            Query(a_minute("kind", "redactions_total"), "{{kind}}"),
            width=8,
        ),
    ]


def _beside_production() -> list[Panel]:
    turns = rate("environment", "environment_turns_total", 'role="assistant"', over=WINDOW)
    clarified = rate("environment", "environment_conversations_closed_total", 'outcome="clarified"')
    closed = rate("environment", "environment_conversations_closed_total")
    return [
        rows(
            "Beside production",
            "Traffic of other environments (experiments, synthetic). It is in no other number.",
            {"environment": "environment"},
            Column("answers a minute", f"60 * {turns}", COUNT, 1),
            Column("clarified", f"{clarified} / ({closed} > 0)", RATIO, 1),
            Column("unscored", rate("environment", "environment_unscored_total"), "suffix:/s", 2),
            width=8,
            widths={"environment": 130, "answers a minute": 140, "clarified": 90, "unscored": 90},
        ),
        rows(
            "Scores beside production",
            "Mean over the window, by environment and scorer.",
            {"environment": "environment", "scorer": "scorer"},
            Column("mean", mean("environment, scorer", metric="environment_score_ratio"), SCORE, 3),
            Column("scores", count("environment, scorer", "environment_score_ratio_count", over=WINDOW), WHOLE, 0),
            width=16,
            widths={"mean": 140, "scores": 140},
        ),
    ]
