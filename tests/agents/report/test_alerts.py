"""What a back-test says, in lines: bounded, and safe to print whatever assistants are called."""

from typing import Any

from turnsignal.agents.report.alerts import SHOWN, format_alerts
from turnsignal.stream.detection.backtest import BackTest
from turnsignal.stream.detection.detector import PAGE
from turnsignal.stream.detection.wording import describe_incident
from turnsignal.stream.records.regressions import OPENED, Incident, ScorerChange


def incident(assistant: str = "support", version: str = "v2") -> Incident:
    change = ScorerChange(
        scorer="nDCG@5",
        quality="relevancy",
        meaning="worse",
        direction="lower",
        scope="usual",
        tier=PAGE,
        called=3600.0,
        since=60.0,
        version=version,
        replaces=None,
        before=0.8,
        after=0.7,
        change=-0.1,
        low=-0.13,
        high=-0.07,
        n=400,
        evidence=5.5,
        threshold=5.4,
        promise="without a change, one call in 30 days of all series that page at most",
    )
    opened = Incident("0123456789abcdef", OPENED, 3600.0, assistant, 0, PAGE, 3600.0, 60.0, version, [change])
    opened.conversations = ["c-1", "c-2"]
    opened.text = list(describe_incident(opened))
    return opened


def lines(*incidents: Incident, unwatched: int = 0, days: float = 30.0) -> list[str]:
    summary: dict[str, Any] = {"alerts": BackTest(list(incidents), 9, unwatched, 0.0, days * 86_400.0).as_json()}
    return [line.plain for line in format_alerts(summary)]


def test_an_incident_is_told_in_lines_that_can_be_checked() -> None:
    moved = "nDCG@5: lower, from 0.80 to 0.70 (−0.10, 95 % −0.13 to −0.07)"
    assert lines(incident()) == [
        "1 pages and 0 tickets would have fired in 30.0 days.",
        "1970-01-01 01:00 UTC  page  support  [0123456789abcdef]",
        f"    {moved}, 400 values since 1970-01-01 00:01 UTC, now of v2; worse",
        "      without a change, one call in 30 days of all series that page at most",
        "    conversations: c-1, c-2",
        "",
    ]


def test_names_from_strangers_are_printed_as_text_and_cut() -> None:
    hostile = "[red]x\n\x1b[31m\u202e" + "y" * 1000
    told = lines(incident(hostile, hostile))
    assert all(line.isprintable() for line in told)
    assert max(map(len, told)) < 300
    assert "[red]x" in told[1]
    assert told[2].endswith("…; worse")


def test_many_incidents_are_cut_and_counted_and_what_nobody_watches_is_said() -> None:
    told = lines(*[incident(f"a{n}") for n in range(SHOWN + 3)], unwatched=7)
    assert "7 values were of series beyond 10,000, which nobody watches." in told
    assert told[-2] == "… and 3 more in summary.json"


def test_a_recording_of_a_day_says_that_nothing_can_be_known_yet() -> None:
    assert lines(days=0.9)[1] == "No alarm opens before a series is known for a day, and has 1,000 values."


def test_nothing_is_said_where_nobody_asked() -> None:
    assert list(format_alerts({})) == []
