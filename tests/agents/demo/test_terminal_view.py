"""The terminal view: it fits any terminal, colour is never alone and only where a comparison says so, text is text."""

import io

import pytest
from rich.cells import cell_len
from rich.console import Console

from tests.agents.demo.picture import PICTURE, SHOWN, as_svg, play_demo
from tests.agents.demo.rows import follow_up, response
from turnsignal.agents.demo.live_comparison import ReleaseChange
from turnsignal.agents.demo.live_statistics import LiveStatistics
from turnsignal.agents.demo.terminal_view import (
    FinalView,
    Texts,
    View,
    Vitals,
    describe_headlines,
    describe_state,
)
from turnsignal.agents.report.escaping import plain, safe
from turnsignal.stream.suite import parse_suite

VITALS = Vitals("a broker", 12.0, 60.0, 100.0, 40.0, 7, 1200, None, ("http://127.0.0.1:9108/metrics",))
SIZES = [(80, 24), (100, 30), (120, 40), (60, 20), (200, 60)]


def statistics() -> LiveStatistics:
    known = LiveStatistics(parse_suite(""))
    for version, ndcg, value in (("v1", 0.8, 0.9), ("v2", 0.2, 0.2)):
        known.on_row(response(version, ndcg, {"table.cells": "pass"}))
        known.on_row(follow_up(version, version, value, "correction"))
    return known


def worse() -> LiveStatistics:
    known = statistics()
    known.findings = [ReleaseChange("support", "v1", "v2", 1000.0, 40, {"nDCG@5": "worse"})]
    return known


def drawn(view: View, width: int = 100, height: int = 40) -> str:
    return "\n".join(line.plain.rstrip() for line in view.lines(width, height))


def printed(what: object, **options: object) -> str:
    file = io.StringIO()
    console = Console(file=file, width=100, height=30, _environ={}, **options)  # type: ignore[arg-type]
    console.print(what)
    return file.getvalue()


@pytest.fixture(scope="module")
def played() -> View:
    return play_demo(SHOWN).view()


@pytest.mark.slow
@pytest.mark.parametrize(("width", "height"), SIZES)
def test_nothing_is_below_the_edge_or_beside_it(played: View, width: int, height: int) -> None:
    lines = played.lines(width, height)
    assert height - 4 <= len(lines) <= height or (width, height) == (200, 60)
    assert max(cell_len(line.plain) for line in lines) <= width
    shown = "\n".join(line.plain for line in lines)
    for words in ("v3 of support and billing retrieves worse", "nDCG@5 0.89 → 0.", "support v3", "follow-up", "user"):
        assert words in shown


@pytest.mark.parametrize(("width", "height"), [(20, 5), (40, 1), (10, 10), (80, 12)])
def test_a_terminal_that_is_too_small_is_no_error(played: View, width: int, height: int) -> None:
    lines = played.lines(width, height)
    assert len(lines) <= height
    assert max(cell_len(line.plain) for line in lines) <= width


def test_more_releases_than_there_are_lines_are_counted() -> None:
    known = LiveStatistics(parse_suite(""))
    for number in range(20):
        known.on_row(response(f"v{number}"))
    lines = View(known, VITALS).lines(80, 24)
    assert len(lines) <= 24
    assert any("more releases" in line.plain for line in lines)


def test_the_picture_in_the_repository_is_what_the_demo_looks_like(played: View) -> None:
    """When this fails, draw it anew: python -m tests.agents.demo.picture."""
    assert PICTURE.read_text() == as_svg(played, 100, 30)
    assert PICTURE.stat().st_size <= 150_000


def test_the_demo_turns_red_within_its_minute_and_not_before_the_release(played: View) -> None:
    late = [finding for finding in played.statistics.findings if finding.after == "v3"]
    assert [(finding.assistant, finding.changes["nDCG@5"]) for finding in late] == [
        ("support", "worse"),
        ("billing", "worse"),
    ]
    early = play_demo(20.0)
    assert not any(finding.changes for finding in early.statistics.findings)


def test_red_is_only_where_a_comparison_says_worse() -> None:
    assert "\x1b[1;31m" in printed(View(worse(), VITALS), force_terminal=True, color_system="standard")
    calm = printed(View(statistics(), VITALS), force_terminal=True, color_system="standard")
    for colour in range(31, 34):
        assert f"{colour}m" not in calm
    assert "▼" not in calm


def test_without_colour_the_meaning_stays() -> None:
    shown = printed(View(worse(), VITALS), force_terminal=True, color_system="standard", no_color=True)
    assert "31m" not in shown
    assert "41m" not in shown
    assert "▼ v2 of support retrieves worse" in shown
    assert "0.20▼" in shown
    assert "▼ support v2" in shown


def test_where_there_is_no_terminal_there_are_no_escapes() -> None:
    assert "\x1b" not in printed(View(worse(), VITALS))
    assert "\x1b" not in printed(FinalView(worse()))


def test_a_terminal_of_ascii_gets_ascii() -> None:
    file = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    texts = Texts("Où?", "→ là")
    Console(file=file, width=100, height=30, _environ={}).print(View(worse(), VITALS, lambda _: texts))
    file.seek(0)
    shown = file.read()
    assert "v v2 of support retrieves worse" in shown
    assert "O?" in shown


def test_what_was_said_is_shown_cut_and_as_text() -> None:
    texts = Texts("How do I\nlog in?", "[red]Click\x1b[2J[/red]" + " here" * 100, "")
    shown = drawn(View(statistics(), VITALS, lambda _: texts))
    assert "How do I log in?" in shown
    assert "[red]Click\\x1b[2J[/red] here" in shown
    assert "(not at hand)" in shown
    assert "…" in shown


def test_text_from_records_is_shown_as_text() -> None:
    assert plain("a\x1b[2Jb\u202ec\nd") == "a\\x1b[2Jb\\u202ec\\nd"
    assert safe("[red]x[/red]") == "\\[red]x\\[/red]"
    assert len(plain("x" * 1000, 20)) == 20
    known = LiveStatistics(parse_suite(""))
    evil = "[bold]\x1b]0;owned\x07"
    known.on_row(response(evil, assistant=evil))
    known.on_row(follow_up("1", evil, 0.1, "[/red]", assistant=evil))
    known.findings = [ReleaseChange(evil, evil, evil, 1000.0, 40, {evil: "worse"})]
    shown = printed(View(known, VITALS), force_terminal=True, color_system=None)
    for text in (shown, describe_state(known, VITALS), *describe_headlines(known)):
        assert "\x1b]0" not in text
        assert "\x07" not in text
    assert "[bold]" in shown


def test_before_the_first_score_it_says_what_it_waits_for() -> None:
    vitals = VITALS._replace(lag=None, elapsed=None, note="waiting for the workers to join")
    shown = drawn(View(LiveStatistics(parse_suite("")), vitals))
    for words in ("No scores yet", "not begun", "waiting for the workers to join", "lag ?", "9108/metrics"):
        assert words in shown


def test_the_view_shows_the_numbers_the_diagnosis_and_the_reason() -> None:
    known = statistics()
    for shown in (drawn(View(known, VITALS)), printed(FinalView(known))):
        for word in ("v1", "0.80", "0.20", "0%", "100%", "high/low/high", "Work on generation.", "The user says so."):
            assert word in shown
    line = describe_state(known, VITALS)
    assert "lag 7" in line
    assert "support v1: nDCG@5 0.80, follow-up 0.90" in line
    assert describe_headlines(worse()) == [
        "v2 of support retrieves worse since 00:16 UTC (event time): nDCG@5 0.80 → 0.20",
    ]
