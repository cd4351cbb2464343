"""Overview: is anything wrong, since when, and where to work. The first page that somebody who was woken opens."""

from grafana_foundation_sdk.builders import dashboard as built

from grafana.frame import dashboard_of
from grafana.panels import A_MINUTE, COUNT, RATIO, SCORE, WHOLE, Column, Link, Panel, Query, lines, rows, stats
from grafana.queries import (
    END,
    RANGE,
    WINDOW,
    a_minute,
    budget_used,
    count,
    judged_mean,
    mean,
    newest,
    portions_of,
    select,
    share,
    worst,
)
from turnsignal.stream.diagnosis import DIAGNOSES

RETRIEVAL = Link("Retrieval and citations", "turnsignal-retrieval")
FOLLOW_UPS = Link("Follow-ups", "turnsignal-follow-ups")
INSTRUCTIONS = Link("Instructions", "turnsignal-instructions")
STAGES = Link("Stages", "turnsignal-stages")
JUDGES = Link("Judges", "turnsignal-judges")
PIPELINE = Link("Pipeline", "turnsignal-pipeline")
CONVERSATIONS = Link("Conversations, on the worker's pages", "http://${worker}/conversations")

_EXCHANGES = "diagnosis_turns_total"


CHANGES = Link("Open changes, on the watch worker's pages", "http://${watch}/regressions")

_TICKET = 'tier="ticket"'
_DIAGNOSED = 'basis="diagnosis"'
_THRESHOLD = select("regression_threshold_log10", _TICKET)


def good(label: str, by: str = "") -> str:
    """Return the share of exchanges that are high in a quality of the diagnosis, of those that are not unknown."""
    return share(by, _EXCHANGES, f'{label}="high"', f'{label}=~"high|low"')


def known(label: str) -> str:
    """Return the share of exchanges of which a quality is known."""
    return share("", _EXCHANGES, f'{label}=~"high|low"')


def first_failing(basis: str) -> str:
    """Return the share of a version's answers that first go wrong at a stage, of the eight worst pairs of them."""
    failing = ("version", "stage", "stage_turns_total", basis, 'stage!="none"')
    in_all = portions_of(*failing, whole=(basis,), over=RANGE, when=END)
    return worst(8, portions_of(*failing, whole=(basis,)), in_all)


def build() -> built.Dashboard:
    """Build the dashboard."""
    answers = a_minute("version", "turns_total", 'role="assistant"')
    labels = "relevancy, followups, instructions"
    by_row = count(labels, _EXCHANGES)
    joined = 'label_join({}, "diagnosis", "/", "relevancy", "followups", "instructions")'
    verdicts = 'verdict=~"good|bad"'
    panels: list[Panel] = [
        stats(
            "Open now",
            (
                "Changes of scores that are open: what wakes somebody, and what waits for the working day. 0 "
                "where nothing is."
            ),
            COUNT,
            Query(_open("page"), "to wake for"),
            Query(_open("ticket"), "tickets"),
            width=4,
            link=CHANGES,
            steps=((None, "green"), (1, "red")),
            empty="not watched yet",
        ),
        stats(
            "Answers",
            "Responses that were taken in, all workers together.",
            A_MINUTE,
            Query(a_minute("", "turns_total", 'role="assistant"'), "answers"),
            width=3,
            link=PIPELINE,
            decimals=1,
        ),
        stats(
            "Good documents",
            (
                "Share of exchanges whose retrieved documents were good (relevancy of the diagnosis), of "
                "those that tell."
            ),
            RATIO,
            Query(good("relevancy"), "good documents"),
            width=4,
            link=RETRIEVAL,
            decimals=1,
        ),
        stats(
            "Users helped",
            "Share of exchanges after which the user did not have to ask again, of those whose follow-up tells.",
            RATIO,
            Query(good("followups"), "users helped"),
            width=4,
            link=FOLLOW_UPS,
            decimals=1,
        ),
        stats(
            "Instructions kept",
            "Share of exchanges whose answer kept every instruction that bound it.",
            RATIO,
            Query(good("instructions"), "instructions kept"),
            width=4,
            link=INSTRUCTIONS,
            decimals=1,
        ),
        stats(
            "Could be judged",
            "Share of exchanges of which each quality is known. What is unknown is in none of the other numbers.",
            RATIO,
            Query(known("relevancy"), "documents"),
            Query(known("followups"), "follow-ups"),
            Query(known("instructions"), "instructions"),
            width=5,
            link=PIPELINE,
            decimals=0,
        ),
        lines(
            "Good exchanges by quality",
            (
                "The three numbers above over time. They are read together: which one falls says which part "
                "of the assistant got worse."
            ),
            RATIO,
            Query(good("relevancy"), "good documents"),
            Query(good("followups"), "users helped"),
            Query(good("instructions"), "instructions kept"),
            width=8,
            link=CONVERSATIONS,
            ratio=True,
        ),
        lines(
            "Answers by version",
            "Responses a minute. A release is where one line takes over from another.",
            A_MINUTE,
            Query(answers, "{{version}}"),
            width=8,
            link=PIPELINE,
        ),
        _evidence(),
        *_standing(),
        _changes(),
        rows(
            "Where to work",
            (
                "Exchanges by what was good and what was not, the most frequent first, and which part of the "
                "assistant that points to."
            ),
            {"diagnosis": "what it says"},
            Column("exchanges", joined.format(by_row), WHOLE, 0),
            Column(
                "share",
                joined.format(f"{by_row} / on () group_left () ({count('', _EXCHANGES)} > 0)"),
                RATIO,
                1,
                gauge=True,
            ),
            width=24,
            height=9,
            link=CONVERSATIONS,
            mapped={"what it says": {row.row: row.sentence for row in DIAGNOSES.values()}},
            widths={"exchanges": 110, "share": 200},
            dropped=("relevancy", "followups", "instructions"),
        ),
        rows(
            "Every scorer",
            (
                "All scorers of the suite in force: the mean, from where on a score is good, the share that "
                "was bad, and how much could be scored."
            ),
            {"scorer": "scorer", "quality": "about", "better": "better is"},
            Column("mean", _described(mean("scorer")), SCORE, 3),
            Column("good from", _described(newest("scorer", "scorer_good_from_ratio")), SCORE, 2),
            Column("bad", _described(share("scorer", "score_verdicts_total", 'verdict="bad"', verdicts)), RATIO, 1),
            Column("scored", _described(share("scorer", "score_verdicts_total", verdicts)), RATIO, 1),
            Column("scores", _described(count("scorer", "score_ratio_count", over=WINDOW)), WHOLE, 0),
            width=24,
            height=25,
            link=CONVERSATIONS,
            widths={
                "mean": 120,
                "good from": 120,
                "bad": 120,
                "scored": 120,
                "scores": 120,
                "about": 140,
                "better is": 100,
            },
            sorted_by="bad",
        ),
    ]
    return dashboard_of("overview", "overview", __doc__ or "", panels)


def _standing() -> list[Panel]:
    used, budget = budget_used(), newest("scorer", "slo_bad_budget_ratio")
    return [
        rows(
            "Error budget of 30 days",
            (
                "How much of the share of scores that may be bad is used up, and what is left of it: below 0 where it "
                "is overspent. The suite says what may be bad."
            ),
            {"assistant": "assistant", "scorer": "scorer"},
            Column("used", used, RATIO, 0, gauge=True),
            Column("left", f"1 - {used}", RATIO, 0),
            Column("may be bad", f"0 * ({used}) + on (scorer) group_left () {budget}", RATIO, 0),
            width=10,
            link=FOLLOW_UPS,
            widths={"assistant": 110, "scorer": 130, "left": 75, "may be bad": 100},
            steps=((None, "green"), (0.75, "orange"), (1.0, "red")),
            empty="The suite sets no budget, or nothing was scored.",
        ),
        lines(
            "First stage that fails, by version",
            "Share of a version's answers that go wrong at a stage, and at none before: which part to mend first.",
            RATIO,
            Query(first_failing(_DIAGNOSED), "{{version}} {{stage}}"),
            width=7,
            link=STAGES,
        ),
        lines(
            "What judges say",
            "Mean over the window of what models say of answers, weighted as a sample of all of them.",
            SCORE,
            Query(judged_mean("judged"), "{{judged}}"),
            width=7,
            link=JUDGES,
            ratio=True,
            empty="No judge has said anything yet.",
        ),
    ]


def _open(tier: str) -> str:
    matcher = f'tier="{tier}"'
    return f"count({select('regression_open', matcher)} == 1) or 0 * count({_THRESHOLD})"


def _changes() -> Panel:
    """List what is open, with its numbers."""
    what = "assistant, version, scorer, scope"
    opened = f"max by ({what}, direction, tier) ({select('regression_open')} == 1)"

    def number(gauge: str, *matchers: str, times: str = "", by: str = what) -> str:
        return f"{opened} * on ({by}) group_left () {newest(by, gauge, *matchers)}{times}"

    return rows(
        "What changed",
        (
            "Scores that are not what they usually are, by how much (with 95 % bounds), and since when. Empty "
            "where nothing is open."
        ),
        {
            "assistant": "assistant",
            "scorer": "scorer",
            "direction": "is",
            "version": "seen with",
            "scope": "against",
            "tier": "as",
        },
        Column("change", number("regression_change_ratio", 'bound="mean"'), SCORE, 3),
        Column("at least", number("regression_change_ratio", 'bound="lower"'), SCORE, 3),
        Column("at most", number("regression_change_ratio", 'bound="upper"'), SCORE, 3),
        Column("values", number("regression_values"), WHOLE, 0),
        Column("usually", number("baseline_mean_ratio", by="assistant, scorer"), SCORE, 3),
        Column("since", number("regression_since_timestamp_seconds", times=" * 1000"), "dateTimeAsIso"),
        width=24,
        height=9,
        link=CHANGES,
        widths={
            "assistant": 140,
            "scorer": 220,
            "is": 80,
            "seen with": 130,
            "against": 150,
            "as": 80,
            "change": 95,
            "at least": 95,
            "at most": 95,
            "values": 90,
            "usually": 90,
        },
        mapped={"against": {"usual": "what is usual", "version": "the version before"}},
        empty="Nothing is open, or nothing has been watched for a day.",
    )


def _evidence() -> Panel:
    """Draw how far from an alarm the scorers are."""
    labels = "assistant, scorer"
    from_alarm = (
        f"{newest(labels, 'regression_evidence_log10')} - {newest(labels, 'regression_threshold_log10', _TICKET)}"
    )
    most = f"max by ({labels}) (max_over_time({select('regression_evidence_log10')}[{RANGE}] {END}))"
    return lines(
        "Evidence that a scorer got worse",
        (
            "In powers of ten, from where a ticket is called (the line at 0): the six with most of it in all "
            "that is shown."
        ),
        SCORE,
        Query(worst(6, from_alarm, most), "{{assistant}} {{scorer}}"),
        width=8,
        link=CHANGES,
        limit=0,
        empty="Nothing has been watched for a day yet.",
    )


def _described(expression: str) -> str:
    facts = f"group by (scorer, quality, better) ({select('scorer_info')})"
    return f"({expression}) * on (scorer) group_left (quality, better) {facts}"
