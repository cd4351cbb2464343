"""What a watch worker shows of incidents: those that are open first, each with what moved and where to see it."""

import asyncio
from typing import Any

import pytest

from turnsignal.agents.pages.content import Asked, MissingError
from turnsignal.agents.pages.regressions import SHOWN, RegressionPages
from turnsignal.agents.pages.rendering import render
from turnsignal.stream.pipeline.incident_log import IncidentLog
from turnsignal.stream.records.regressions import OPENED, DiagnosisRow, Incident, ScorerChange

NOON = 1_749_988_800.0  # 2025-06-15 12:00 UTC
CHANGE = ScorerChange(
    "nDCG@5", "relevancy", "worse", "lower", "usual", "page", NOON, NOON - 3600, "v2", None,
    0.8, 0.6, -0.2, -0.25, -0.15, 120, 6.1, 5.4, "one page in 30 days at most",
)  # fmt: skip
PROMISE = "one page in 30 days at most"


def incident(name: str, **more: Any) -> Incident:
    given: dict[str, Any] = {"assistant": "support", "opened": NOON, "version": "v2", "changes": [CHANGE]} | more
    return Incident(name, OPENED, NOON, lane=0, tier="page", since=NOON - 3600, **given)


class Partition:
    """A watch worker's processor of one partition that keeps incidents, and a series beside them."""

    def __init__(self, *incidents: Incident) -> None:
        self.store = {f"incident:{each.id}".encode(): each.encode() for each in incidents} | {b"support|nDCG@5": b"."}

    def describe(self, key: bytes) -> dict[str, Any] | None:
        if key == b"support|nDCG@5":
            return {"assistant": "support", "scorer": "nDCG@5", "versions": {}}
        return IncidentLog.describe(self.store[key])


def ask(pages: RegressionPages, path: str, **words: str) -> tuple[dict[str, Any], str]:
    (page,) = [page for page in pages.pages() if page.path == path]
    answer = asyncio.run(page.answer(Asked(words, words)))
    return dict(answer), render(page.template, answer).decode()


def test_open_incidents_stand_before_those_that_are_over_and_the_newest_first() -> None:
    over = incident("c", opened=NOON + 99, closed=NOON + 200, closed_by="back")
    pages = RegressionPages(lambda: [Partition(incident("a"), over), Partition(incident("b", opened=NOON + 5))])
    answer, page = ask(pages, "/regressions")
    assert [each["id"] for each in answer["incidents"]] == ["b", "a", "c"]
    assert '<a href="/regressions/b">' in page
    assert "over: <bdi>back</bdi>" in page
    none, page = ask(pages, "/regressions", assistant="sales")
    assert none["incidents"] == []
    assert "No incident of <bdi>sales</bdi> is known here." in page
    assert '<option value="support">' in page, "whatever is shown, all may be chosen"


def test_an_incident_says_what_moved_by_how_much_and_leads_to_its_conversations() -> None:
    shown = incident(
        "a",
        conversations=["c-1", "c/2"],
        before=DiagnosisRow("high/high/high", "Everything works."),
        after=DiagnosisRow("low/high/high", "Retrieval is weak."),
        instruction="citation.format",
    )
    pages = RegressionPages(lambda: [Partition(shown)], "http://127.0.0.1:9108")
    page = ask(pages, "/regressions/{id}", id="a")[1]
    for words in ("0.800", "0.600", "−0.200 (−0.250 to −0.150)", PROMISE, "Retrieval is weak.", "citation.format"):
        assert words in page
    assert '<a href="http://127.0.0.1:9108/conversations/c-1">' in page
    assert '<a href="http://127.0.0.1:9108/conversations/c%2F2">' in page
    assert "turnsignal regressions accept" in page


def test_conversations_are_not_named_where_they_are_not_shown() -> None:
    shown = incident("a", conversations=["c-1"], text=["Conversations: c-1"])
    pages = RegressionPages(lambda: [Partition(shown)], names=False)
    answer, page = ask(pages, "/regressions/{id}", id="a")
    assert "c-1" not in str(answer)
    assert "TURNSIGNAL_SHOW_CONVERSATIONS=true" in page
    assert "c-1" not in str(ask(pages, "/regressions")[0])


@pytest.mark.parametrize("hostile", ["<script>alert(1)</script>", "\u202eabc", "\nx", "v" * 500])
def test_names_that_somebody_made_up_are_escaped_visible_and_bounded(hostile: str) -> None:
    shown = incident("a", assistant=hostile, version=hostile, conversations=[hostile])
    for path, words in (("/regressions", {}), ("/regressions/{id}", {"id": "a"})):
        page = ask(RegressionPages(lambda: [Partition(shown)], "http://x"), path, **words)[1]
        assert "<script" not in page
        assert "\u202e" not in page
        assert "v" * 301 not in page.replace("v" * 500 + '">', "")  # but for where a link leads


def test_an_incident_that_is_not_kept_is_missing_with_the_command_that_finds_it() -> None:
    pages = RegressionPages(lambda: [Partition()])
    with pytest.raises(MissingError, match="turnsignal regressions show"):
        ask(pages, "/regressions/{id}", id="nobody")


def test_a_page_of_incidents_is_bounded() -> None:
    many = Partition(*(incident(str(number)) for number in range(SHOWN + 3)))
    answer, page = ask(RegressionPages(lambda: [many]), "/regressions")
    assert (len(answer["incidents"]), answer["left_out"]) == (SHOWN, 3)
    assert "3 older ones" in page


def test_a_page_says_where_a_change_may_have_begun_before_and_knows_no_1970() -> None:
    began, unknown = incident("a", or_before=True), incident("b")
    unknown.since = 0.0
    pages = RegressionPages(lambda: [Partition(began, unknown)])
    page = ask(pages, "/regressions")[1]
    assert "2025-06-15 11:00:00 or before</td>" in page
    assert "before it was watched</td>" in page
    assert "2025-06-15 11:00:00 UTC or before: not watched until then" in ask(pages, "/regressions/{id}", id="a")[1]
    assert "began most likely before it was watched" in ask(pages, "/regressions/{id}", id="b")[1]
    assert "1970" not in page
