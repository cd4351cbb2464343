"""Retrieval: are the right documents found, do they stand at the top, and are they cited as they should be."""

from grafana_foundation_sdk.builders import dashboard as built

from grafana.boards.overview import CONVERSATIONS, FOLLOW_UPS, PIPELINE
from grafana.frame import dashboard_of, scorer_of
from grafana.panels import A_MINUTE, COUNT, GOOD_FROM, RATIO, SCORE, Panel, Query, bars, distribution, lines, stats
from grafana.queries import a_minute, buckets, count, mean, newest, portions, rate, select, share
from turnsignal.stream.pipeline.metric_deltas import RANK_BANDS

_CHOSEN = 'scorer="$scorer"'
_ANSWERS = 'role="assistant"'


def build() -> built.Dashboard:
    """Build the dashboard."""
    about_citations = select("scorer_info", 'quality="citation"')
    directions = f"group by (scorer, better) ({about_citations})"
    panels: list[Panel] = [
        stats(
            "Means of the measures",
            "Mean of each ranking measure of the suite, over the window. 1 is a perfect order of the documents.",
            SCORE,
            Query(mean("scorer", quality="relevancy"), "{{scorer}}"),
            width=12,
            link=CONVERSATIONS,
            decimals=3,
        ),
        stats(
            "Good documents",
            (
                "Share of exchanges whose retrieved documents were good (relevancy of the diagnosis), of "
                "those that tell."
            ),
            RATIO,
            Query(share("", "diagnosis_turns_total", 'relevancy="high"', 'relevancy=~"high|low"'), "good documents"),
            width=4,
            decimals=1,
        ),
        stats(
            "Documents an answer",
            "Documents that were given to the assistant, for each answer.",
            COUNT,
            Query(_each_answer("retrieved_documents_total"), "retrieved"),
            width=4,
            decimals=1,
        ),
        stats(
            "Citations an answer",
            "Citation markers in an answer, valid or not.",
            COUNT,
            Query(_each_answer("citations_total"), "citations"),
            width=4,
            decimals=1,
        ),
        lines(
            "$scorer by version",
            "Mean over the window. The dashed line is where the suite says that good begins.",
            SCORE,
            Query(mean("version", _CHOSEN), "{{version}}"),
            Query(newest("scorer", "scorer_good_from_ratio", _CHOSEN), GOOD_FROM),
            width=12,
            link=CONVERSATIONS,
            ratio=True,
        ),
        distribution(
            "Distribution of $scorer",
            (
                "Scores in each bucket. A mean that falls may be everything a little worse, or a few at "
                "nought: this tells which."
            ),
            buckets("score_ratio", _CHOSEN),
            width=12,
            link=CONVERSATIONS,
        ),
        bars(
            "Cited, by rank",
            (
                "Share of the documents at a rank that the answer cites. Where the first ones are cited no "
                "more than the last, the order says nothing."
            ),
            RATIO,
            *(Query(_cite_rate(rank), rank) for rank in RANK_BANDS),
            width=8,
        ),
        lines(
            "What is wrong with citations",
            "Share of all markers: dangling (cites nothing that was retrieved), duplicate, malformed.",
            RATIO,
            Query(portions("kind", "citations_total", 'kind!="valid"'), "{{kind}}"),
            width=8,
            stacked=True,
        ),
        lines(
            "Scores about citations",
            "Mean over the window, and whether high or low is better.",
            SCORE,
            Query(
                f"({mean('scorer', quality='citation')}) * on (scorer) group_left (better) {directions}",
                "{{scorer}} ({{better}} is better)",
            ),
            width=8,
            ratio=True,
        ),
        lines(
            "Poor documents by version",
            "Share of exchanges whose documents were poor, of those that tell.",
            RATIO,
            Query(share("version", "diagnosis_turns_total", 'relevancy="low"', 'relevancy=~"high|low"'), "{{version}}"),
            width=12,
            link=FOLLOW_UPS,
        ),
        lines(
            "Why retrieval was not scored",
            "Scores of ranking measures that could not be given, by reason. They are in no mean.",
            A_MINUTE,
            Query(a_minute("reason", "unscored_total", quality="relevancy"), "{{reason}}"),
            width=12,
            link=PIPELINE,
            stacked=True,
        ),
    ]
    return dashboard_of("retrieval", "retrieval", __doc__ or "", panels, scorer_of("relevancy", "Measure"))


def _each_answer(metric: str) -> str:
    return f"{rate('', metric)} / ({rate('', 'turns_total', _ANSWERS)} > 0)"


def _cite_rate(rank: str) -> str:
    at = f'rank="{rank}"'
    return f"{count('', 'cited_documents_total', at)} / ({count('', 'retrieved_documents_total', at)} > 0)"
