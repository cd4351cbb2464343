"""Instructions: which ones are broken, by which version, since when, and which could not be checked."""

from grafana_foundation_sdk.builders import dashboard as built

from grafana.boards.overview import CONVERSATIONS, PIPELINE, RETRIEVAL
from grafana.frame import dashboard_of
from grafana.panels import A_MINUTE, RATIO, WHOLE, Column, Panel, Query, lines, rows, stats
from grafana.queries import END, RANGE, WINDOW, a_minute, count, share, worst

_CHECKS = "instruction_checks_total"
_FAILED, _DECIDED = 'result="fail"', 'result=~"pass|fail"'


def build() -> built.Dashboard:
    """Build the dashboard."""
    failing = share("check", _CHECKS, _FAILED, _DECIDED)
    in_all = share("check", _CHECKS, _FAILED, _DECIDED, over=RANGE, when=END)
    before = share("check", _CHECKS, _FAILED, _DECIDED, when="offset 1d")
    panels: list[Panel] = [
        stats(
            "Answers that kept all",
            "Share of exchanges whose answer kept every instruction that bound it.",
            RATIO,
            Query(share("", "diagnosis_turns_total", 'instructions="high"', 'instructions=~"high|low"'), "kept all"),
            width=6,
            link=CONVERSATIONS,
            decimals=1,
        ),
        stats(
            "Checks that passed",
            "Share of the checks that applied and came to a result.",
            RATIO,
            Query(share("", _CHECKS, 'result="pass"', _DECIDED), "passed"),
            width=6,
            decimals=1,
        ),
        stats(
            "Checks that applied",
            "Share of all checks that were asked for. A check that never applies says nothing.",
            RATIO,
            Query(share("", _CHECKS, _DECIDED), "applied"),
            width=6,
            decimals=1,
        ),
        stats(
            "Checks that failed to run",
            "Errors of the checks themselves. They are unscored, not failed.",
            A_MINUTE,
            Query(a_minute("", _CHECKS, 'result="error"'), "errors"),
            width=6,
            link=PIPELINE,
            steps=((None, "green"), (0.1, "orange")),
            decimals=1,
        ),
        rows(
            "Instructions, most broken first",
            (
                "Over the window: how often each was broken where it applied, how that differs from a day "
                "before, and on how many answers it was checked."
            ),
            {"check": "instruction"},
            Column("broken", failing, RATIO, 1, gauge=True),
            Column("a day before", before, RATIO, 1),
            Column("change", f"({failing}) - ({before})", RATIO, 1),
            Column("applied", share("check", _CHECKS, _DECIDED), RATIO, 1),
            Column("checked", count("check", _CHECKS, _DECIDED, over=WINDOW), WHOLE, 0),
            width=24,
            height=11,
            link=CONVERSATIONS,
            widths={"broken": 240, "a day before": 130, "change": 120, "applied": 120, "checked": 120},
        ),
        lines(
            "Broken instructions",
            (
                "Share of the answers that break an instruction, of those that it binds: the ten worst of all "
                "that is shown."
            ),
            RATIO,
            Query(worst(10, failing, in_all), "{{check}}"),
            width=12,
            link=CONVERSATIONS,
        ),
        lines(
            "Kept all instructions, by version",
            "Share of exchanges whose answer kept every instruction that bound it.",
            RATIO,
            Query(
                share("version", "diagnosis_turns_total", 'instructions="high"', 'instructions=~"high|low"'),
                "{{version}}",
            ),
            width=12,
            link=RETRIEVAL,
            ratio=True,
        ),
        lines(
            "Checks that failed to run",
            (
                "Errors of the checks themselves, by instruction: a check of your own that raises, or takes "
                "longer than it may."
            ),
            A_MINUTE,
            Query(a_minute("check", _CHECKS, 'result="error"'), "{{check}}"),
            width=12,
            link=PIPELINE,
        ),
        lines(
            "Answers that are bound",
            (
                "Share of the answers that an instruction applies to, by instruction. Where it falls, so does "
                "what its share says."
            ),
            RATIO,
            Query(share("check", _CHECKS, _DECIDED), "{{check}}"),
            width=12,
            ratio=True,
        ),
    ]
    return dashboard_of("instructions", "instructions", __doc__ or "", panels)
