"""Follow-ups: what users write after an answer, and how conversations end. The slowest signal, and the truest."""

from grafana_foundation_sdk.builders import dashboard as built

from grafana.boards.overview import CONVERSATIONS, INSTRUCTIONS, PIPELINE
from grafana.frame import dashboard_of, scorer_of
from grafana.panels import A_MINUTE, BASELINE, GOOD_FROM, RATIO, SCORE, Panel, Query, distribution, lines, stats
from grafana.queries import a_minute, buckets, mean, moved, newest, portions, share

_CHOSEN = 'scorer="$scorer"'
_CLOSED = "conversations_closed_total"


def build() -> built.Dashboard:
    """Build the dashboard."""
    panels: list[Panel] = [
        stats(
            "Users helped",
            "Share of exchanges after which the user did not have to ask again, of those whose follow-up tells.",
            RATIO,
            Query(share("", "diagnosis_turns_total", 'followups="high"', 'followups=~"high|low"'), "users helped"),
            width=6,
            decimals=1,
        ),
        stats(
            "Follow-ups that tell",
            "Share of exchanges whose follow-up says something about the answer. The others are unknown, not good.",
            RATIO,
            Query(share("", "diagnosis_turns_total", 'followups=~"high|low"'), "follow-ups that tell"),
            width=6,
            decimals=1,
        ),
        stats(
            "How conversations end",
            (
                "Share of the conversations that were closed: free of clarification, with one, left by the "
                "user, or without an answer."
            ),
            RATIO,
            Query(share("", _CLOSED, 'outcome=~"resolved|silent"'), "without asking again"),
            Query(share("", _CLOSED, 'outcome="clarified"'), "clarified"),
            Query(share("", _CLOSED, 'outcome="abandoned"'), "abandoned"),
            Query(share("", _CLOSED, 'outcome="unanswered"'), "unanswered"),
            width=12,
            link=CONVERSATIONS,
            decimals=1,
        ),
        lines(
            "$scorer by assistant",
            (
                "Mean over the window. Dashed: what is usual, learned over two weeks, and where the suite "
                "says that good begins."
            ),
            SCORE,
            Query(mean("assistant", _CHOSEN), "{{assistant}}"),
            Query(newest("assistant", "baseline_mean_ratio", _CHOSEN), f"{BASELINE} {{{{assistant}}}}"),
            Query(newest("scorer", "scorer_good_from_ratio", _CHOSEN), GOOD_FROM),
            width=12,
            link=CONVERSATIONS,
            ratio=True,
        ),
        distribution(
            "Distribution of $scorer",
            "Scores in each bucket, with conversations that got a bad one where the worker names them.",
            buckets("score_ratio", _CHOSEN),
            width=12,
            link=CONVERSATIONS,
        ),
        lines(
            "Had to ask again, by version",
            "Share of scores that are bad, of those that could be given.",
            RATIO,
            Query(
                share("version", "score_verdicts_total", f'{_CHOSEN},verdict="bad"', f'{_CHOSEN},verdict=~"good|bad"'),
                "{{version}}",
            ),
            width=12,
            link=INSTRUCTIONS,
        ),
        lines(
            "Outcomes of conversations",
            (
                "Share of the conversations that were closed. A conversation is closed after half an hour of "
                "silence, so this comes late."
            ),
            RATIO,
            Query(portions("outcome", _CLOSED), "{{outcome}}"),
            width=12,
            link=CONVERSATIONS,
            stacked=True,
        ),
        lines(
            "What became of turns",
            (
                "On their way into exchanges: followed up, superseded by another answer, ended, late, without "
                "a question (orphan)."
            ),
            A_MINUTE,
            Query(moved("outcome", "pairing_total"), "{{outcome}}"),
            width=8,
            link=PIPELINE,
        ),
        lines(
            "Why follow-ups were not scored",
            "By reason; a follow-up that several scorers could not score counts once. They are in no mean.",
            A_MINUTE,
            Query(
                f"max by (reason) ({a_minute('scorer, reason', 'unscored_total', quality='follow_up')})", "{{reason}}"
            ),
            width=8,
            link=PIPELINE,
            stacked=True,
        ),
        lines(
            "Feedback that was given",
            "Votes and other feedback, by kind: its turn was known, came later, or is not known.",
            A_MINUTE,
            Query(moved("kind, result", "feedback_total"), "{{kind}}, {{result}}"),
            width=8,
            link=PIPELINE,
        ),
        lines(
            "Votes, and scorers about something else",
            "Mean over the window, of scorers that are about none of the qualities above.",
            SCORE,
            Query(mean("scorer", quality="other"), "{{scorer}}"),
            width=24,
            ratio=True,
        ),
    ]
    return dashboard_of("follow-ups", "follow-ups", __doc__ or "", panels, scorer_of("follow_up", "Scorer"))
