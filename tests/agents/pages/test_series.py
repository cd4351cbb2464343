import asyncio
from typing import Any

import pytest

from turnsignal.agents.pages.content import Asked, MissingError
from turnsignal.agents.pages.rendering import render
from turnsignal.agents.pages.series import SHOWN, SeriesPages


class Processor:
    """A watch worker's processor of one partition, that keeps what it is given."""

    def __init__(self, *described: dict[str, Any]) -> None:
        self.store = {str(number).encode(): b"." for number in range(len(described))}
        self._described = described

    def describe(self, key: bytes) -> dict[str, Any]:
        return self._described[int(key)]


def series(assistant: str, scorer: str, **versions: float) -> dict[str, Any]:
    rolling = {name: {"n": 1_500, "rolling_mean": mean, "last": 1_749_988_800.0} for name, mean in versions.items()}
    return {"assistant": assistant, "scorer": scorer, "versions": rolling}


def ask(pages: SeriesPages, **query: str) -> tuple[dict[str, Any], str]:
    (page,) = [page for page in pages.pages() if page.path == "/series"]
    answer = asyncio.run(page.answer(Asked({}, query)))
    return dict(answer), render(page.template, answer).decode()


def test_series_are_listed_by_assistant_and_scorer_with_their_versions() -> None:
    one, other = (
        Processor(series("support", "nDCG@5", v1=0.9, v2=0.7)),
        Processor(series("billing", "follow_up", v1=0.5)),
    )
    answer, page = ask(SeriesPages(lambda: [one, other]))
    assert [(row["assistant"], row["scorer"]) for row in answer["series"]] == [
        ("billing", "follow_up"),
        ("support", "nDCG@5"),
    ]
    assert "0.700" in page
    assert "1,500" in page
    assert "2025-06-15 12:00:00" in page
    assert [row["assistant"] for row in ask(SeriesPages(lambda: [one, other]), assistant="support")[0]["series"]] == [
        "support"
    ]
    none, page = ask(SeriesPages(lambda: [one, other]), scorer="beauty")
    assert none["series"] == []
    for choice in ("billing", "support", "follow_up", "nDCG@5"):
        assert f'<option value="{choice}">' in page, "whatever is shown, all may be chosen"


def test_a_page_of_series_is_bounded_and_says_how_many_more_there_are() -> None:
    many = Processor(*(series(f"a-{number}", "nDCG@5", v1=0.5) for number in range(SHOWN + 7)))
    answer, page = ask(SeriesPages(lambda: [many]))
    assert (len(answer["series"]), answer["left_out"]) == (SHOWN, 7)
    assert "7 more series fit" in page


def test_names_that_somebody_made_up_are_escaped_and_visible() -> None:
    hostile = Processor(series("<script>\u202e\ud800", "nDCG@5", **{"\n<b>": 0.5}))
    page = ask(SeriesPages(lambda: [hostile]))[1]
    assert "<script" not in page
    assert "\u202e" not in page
    assert r"&lt;script&gt;\u202e\ud800" in page
    assert r"\n&lt;b&gt;" in page


def test_a_watch_worker_says_who_keeps_conversations() -> None:
    (page,) = [page for page in SeriesPages(list).pages() if page.path.startswith("/conversations")]
    with pytest.raises(MissingError, match="ask a score worker"):
        asyncio.run(page.answer(Asked({"id": "c-1"}, {})))
