"""Families: every metric of a worker, with its labels and the words that a label may take.

The table is the contract with rules and dashboards, whose tests read it; `agents.metrics.exposition` puts the numbers
in. What the pipeline counts is declared where it is counted, in `stream.pipeline.metric_deltas`, and joined here with
what a worker knows of itself.
"""

from collections.abc import Mapping

from turnsignal.stream.pipeline.metric_deltas import pipeline_families
from turnsignal.stream.pipeline.metric_family import JUDGE, SCORE, WATCH, Family

PREFIX = "turnsignal_"

LATENCY_BOUNDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0)  #: seconds
LATENCY_STAGES = {SCORE: "inline", WATCH: "watch"}  #: app → what its end-to-end latency is called
JUDGED = "judged"  #: what that of the score app's judged rows is called, from when a turn was said

#: without the prefix `turnsignal_`
WORKER_FAMILIES: Mapping[str, Family] = {
    "consumer_lag_messages": Family(
        "gauge", ("topic", "partition"), "Records that are still to be worked on; markers of transactions are none."
    ),
    "position_stalled_seconds": Family(
        "gauge", ("topic", "partition"), "For how long a position has stood while the log goes on."
    ),
    "position_starts": Family(
        "gauge",
        ("partition",),
        "Take-overs at a position with no batch committed from it: more than one is suspicious.",
    ),
    "pending_turns": Family("gauge", (), "Turns that were fetched and wait to be scored."),
    "end_to_end_latency_seconds": Family(
        "histogram",
        ("stage",),
        "From the record on the broker to what came of it, committed; judged: from the turn to its judged row.",
        {"stage": {SCORE: (LATENCY_STAGES[SCORE], JUDGED), WATCH: (LATENCY_STAGES[WATCH],)}},
        bounds=(*LATENCY_BOUNDS, 600.0, 1_800.0, 7_200.0),  # an exchange may wait for judges for an hour
    ),
    "transactions_total": Family(
        "counter", ("result",), "Transactions, by result.", {"result": ("committed", "aborted")}
    ),
    "transaction_duration_seconds": Family("histogram", (), "Begin to end of a transaction.", bounds=LATENCY_BOUNDS),
    "notifications_total": Family(
        "counter",
        ("result",),
        "Messages about incidents that were posted to TURNSIGNAL_NOTIFY.",
        {"result": ("sent", "failed")},
        apps=(WATCH,),
    ),
    "judge_info": Family(
        "gauge",
        ("judge", "rubric", "endpoint", "model"),
        "Always 1: the judges of the suite, what each is asked and who answers.",
        begun=False,
        apps=(JUDGE,),
    ),
    "judge_requests_total": Family(
        "counter",
        ("endpoint", "outcome"),
        "Requests to the endpoints of judges, by how each ended; an exchange may take several.",
        {"outcome": ("ok", "rate_limited", "timeout", "error", "refused")},
        apps=(JUDGE,),
    ),
    "judge_request_duration_seconds": Family(
        "histogram", ("endpoint",), "Request to reply of a judge's endpoint.", apps=(JUDGE,), bounds=LATENCY_BOUNDS
    ),
    "judge_in_flight_requests": Family(
        "gauge", ("endpoint",), "Requests that are sent and have no answer yet.", apps=(JUDGE,)
    ),
    "judge_circuit_open": Family(
        "gauge", ("endpoint",), "1 while an endpoint is left alone after failures in a row.", apps=(JUDGE,)
    ),
    "judge_queue_exchanges": Family(
        "gauge", (), "Exchanges that were taken in and have not all their verdicts.", apps=(JUDGE,)
    ),
    "judge_queue_age_seconds": Family(
        "gauge", (), "For how long the exchange that waits longest has waited.", apps=(JUDGE,)
    ),
    "judge_budget_remaining": Family(
        "gauge",
        (),
        "What this worker may still spend today, in the currency of the suite's prices; absent without a budget.",
        begun=False,
        apps=(JUDGE,),
    ),
    "table_entries": Family("gauge", ("table",), "Entries that this worker holds."),
    "table_recovery_remaining_messages": Family("gauge", ("table",), "Changelog records still to be restored."),
    "worker_recovering": Family("gauge", (), "1 while tables are being restored, else 0."),
    "scorer_info": Family(
        "gauge",
        ("scorer", "quality", "better"),
        "Always 1: the scorers of the suite, the quality that each is about, and where better is.",
        {
            "quality": ("relevancy", "follow_up", "instructions", "citation", "other"),
            "better": ("high", "low"),
        },
        begun=False,
        apps=(SCORE,),
    ),
    "scorer_good_from_ratio": Family(
        "gauge", ("scorer",), "From which score on an answer is good, where the suite says.", begun=False, apps=(SCORE,)
    ),
    "slo_bad_budget_ratio": Family(
        "gauge",
        ("scorer",),
        "Share of a scorer's scores that may be bad over 30 days, by the suite.",
        begun=False,
        apps=(SCORE,),
    ),
    "build_info": Family("gauge", ("version", "revision", "app"), "Always 1: the turnsignal that is running."),
}

FAMILIES: Mapping[str, Family] = {**{name: family for _, name, family in pipeline_families()}, **WORKER_FAMILIES}
