"""What a back-test says, in lines: bounded, and safe to print whatever assistants are called."""

from typing import Any

from turnsignal.agents.report.alerts import NOT_HERE, SHOWN, format_alerts, format_known, format_tried
from turnsignal.stream.detection.backtest import BackTest
from turnsignal.stream.detection.detector import PAGE
from turnsignal.stream.detection.known_incidents import KnownIncident, find_quiet, match_incidents
from turnsignal.stream.detection.watched_series import ShortSeries, WatchedSeries
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


DAY = 86_400.0
WATCHED = WatchedSeries({("support", 0, "nDCG@5"): DAY, ("search", 0, "nDCG@5"): 2.0 * DAY})
SHORT = tuple(ShortSeries("billing", n, "nDCG@5", 320 - n, 2.5) for n in range(5))


def history(*incidents: Incident, series: WatchedSeries = WATCHED, unwatched: int = 0) -> BackTest:
    return BackTest(list(incidents), 9, unwatched, 0.0, 30.0 * DAY, series=series)


def lines(*incidents: Incident, series: WatchedSeries = WATCHED, unwatched: int = 0) -> list[str]:
    summary: dict[str, Any] = {"alerts": history(*incidents, series=series, unwatched=unwatched).as_json()}
    return [line.plain for line in format_alerts(summary)]


def test_an_incident_is_told_in_lines_that_can_be_checked() -> None:
    moved = "nDCG@5: lower, from 0.80 to 0.70 (−0.10, 95 % −0.13 to −0.07)"
    assert lines(incident()) == [
        "1 page and 0 tickets would have fired in 30.0 days.",
        "2 series were watched, the first from 1970-01-02 00:00 UTC on.",
        "1970-01-01 01:00 UTC  page  support  [0123456789abcdef]",
        f"    {moved}, 400 values since 1970-01-01 00:01 UTC, now of v2; worse",
        "      without a change, one call in 30 days of all series that page at most",
        "    conversations: c-1, c-2",
        NOT_HERE,
        "",
    ]


def test_names_from_strangers_are_printed_as_text_and_cut() -> None:
    hostile = "[red]x\n\x1b[31m\u202e" + "y" * 1000
    told = lines(incident(hostile, hostile))
    assert all(line.isprintable() for line in told)
    assert max(map(len, told)) < 300
    assert "[red]x" in told[2]
    assert told[3].endswith("…; worse")


def test_many_incidents_are_cut_and_counted_and_what_nobody_watches_is_said() -> None:
    told = lines(*[incident(f"a{n}") for n in range(SHOWN + 3)], unwatched=7)
    assert "7 values were of series beyond 10,000, which nobody watches." in told
    assert told[-3] == "… and 3 more in summary.json"


def test_series_that_were_not_watched_are_counted_and_named_as_nothing_could_fire_there() -> None:
    assert lines(series=WATCHED._replace(short=SHORT))[:2] == [
        "0 pages and 0 tickets would have fired in 30.0 days.",
        (
            "2 series were watched, the first from 1970-01-02 00:00 UTC on; 5 were not, so nothing could fire there:"
            " fewer than 1,000 values, or a day, before the end (nDCG@5 of billing: 320 values in 2.5 days, nDCG@5 of"
            " billing (lane 1): 319 values in 2.5 days, nDCG@5 of billing (lane 2): 318 values in 2.5 days, and 2"
            " more)."
        ),
    ]


def test_where_no_series_was_watched_that_is_said_first_and_no_number_of_alerts_is() -> None:
    assert lines(series=WatchedSeries(short=SHORT[:1])) == [
        (
            "No series was watched, so nothing could fire: fewer than 1,000 values, or a day, before the end (nDCG@5 of"
            " billing: 320 values in 2.5 days)."
        ),
        NOT_HERE,
        "",
    ]
    assert lines(series=WatchedSeries())[0] == "No series was watched, so nothing could fire: there was none to watch."


def test_a_series_that_was_not_watched_is_named_safely() -> None:
    (line, *_) = lines(series=WatchedSeries(short=(ShortSeries("[red]\n" + "y" * 900, 0, "s" * 900, 1, 0.0),)))
    assert line.isprintable()
    assert len(line) < 300


def test_a_known_incident_of_series_that_were_not_watched_yet_is_no_miss() -> None:
    known = [KnownIncident("early", "support", 0.5 * DAY), KnownIncident("late", "support", 5.0 * DAY)]
    assert [line.plain for line in format_known(match_incidents(history(), known))] == [
        (
            "1 known incidents began before any series of their assistants was watched: these say nothing, as what is"
            " usual was not known yet."
        ),
        "0 of 1 other known incidents would have raised an alert.",
        "  late: missed",
        "  early: not watched yet",
        "Called, and none of them: 0 pages, 0 tickets.",
    ]


def test_where_no_series_was_watched_no_setting_is_recommended() -> None:
    tried = find_quiet(lambda _: history(series=WatchedSeries(short=SHORT)), [])
    assert [line.plain for line in format_tried(tried)] == [
        "No setting of alerts.assistants was tried, as no series was watched."
    ]


def test_nothing_is_said_where_nobody_asked() -> None:
    assert list(format_alerts({})) == []
