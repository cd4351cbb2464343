"""The page of `turnsignal report`: whole in itself, and nothing in it that a stranger wrote does anything."""

import re
import sys
from html.parser import HTMLParser

import orjson
import pytest
from rich.text import Text

from turnsignal.agents.report.page import page
from turnsignal.agents.report.traffic import format_traffic
from turnsignal.stream.records.turns import decode_turn
from turnsignal.stream.reports.row_signals import RowSignals
from turnsignal.stream.reports.traffic_report import TrafficReport
from turnsignal.stream.suite import Suite

HOSTILE = "<script>alert(1)</script>\x1b[31m\u202e\"'><img src=x onerror=alert(1)>{{7*7}}"


class Reader(HTMLParser):
    """Which elements and attributes a page has."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))


def made(versions: tuple[str, ...], hostile: str = "plain", answers: int = 120) -> TrafficReport:
    suite = Suite()
    signals = RowSignals("nDCG@5", suite.thresholds.model_dump())
    turns = []
    for number in range(answers):
        name = f"{hostile.replace(chr(27), '').replace(chr(0x202E), '')[:60]}-{number}"
        version = versions[number * len(versions) // answers]
        ids = {"conversation_id": name, "timestamp": "2026-01-01T00:00:00Z"}
        asked = ids | {"turn_id": "t1", "role": "user", "text": f"{hostile} refund"}
        truth = {
            "agents": [hostile],
            "doc_ids": [hostile],
            "chunks": [hostile],
            "reference": hostile,
            "domain": hostile,
        }
        document = {"doc_id": hostile if number % 3 else "other", "text": hostile, "title": hostile}
        answer = ids | {"turn_id": "t2", "role": "assistant", "text": f"{hostile} answer", "version": version}
        answer |= {"truth": truth, "retrieved": [document], "routed_to": [hostile], "model": hostile}
        turns += [asked, answer]
        scores = [{"scorer": "follow_up", "value": 0.2 if number % 2 else 0.9}, {"scorer": "compliance", "value": 1.0}]
        row = {"conversation_id": name, "turn_id": "t2", "stage": "response", "scores": scores}
        signals.add(orjson.dumps(row))
    report = TrafficReport(suite, signals)
    for turn in turns:
        report.add(decode_turn(orjson.dumps(turn)))
    return report


@pytest.mark.parametrize("versions", [("v1",), ("v1", "v2"), (HOSTILE, f"{HOSTILE}2")])
def test_what_strangers_wrote_is_text_and_nothing_else(versions: tuple[str, ...]) -> None:
    text = page(made(versions, HOSTILE).as_json())
    seen = Reader(text).seen
    assert not {tag for tag, _ in seen} & {"script", "img", "iframe", "object", "form", "link", "a"}
    assert not [name for _, attributes in seen for name in attributes if name.startswith("on")]
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert "49" not in re.findall(r"img src=x onerror=alert\(1\)&gt;(\w+)", text)


def test_the_page_fetches_nothing_and_forbids_it() -> None:
    text = page(made(("v1", "v2")).as_json())
    policies = [attributes for tag, attributes in Reader(text).seen if tag == "meta" and "http-equiv" in attributes]
    assert next(policy["content"] for policy in policies).startswith("default-src 'none'")
    assert "http://" not in text
    assert "https://" not in text
    assert "prefers-color-scheme: dark" in text


@pytest.mark.parametrize("answers", [1, 2, 120])
def test_page_and_terminal_have_no_figure_that_is_none(answers: int) -> None:
    report = made(("v1",), answers=answers).as_json()
    text = page(report)
    assert not re.search(r"\bnan\b|\bNaN\b|\binf\b|\bNone\b", text)
    assert b"NaN" not in orjson.dumps(report)
    assert list(format_traffic(report))


def test_page_and_terminal_say_what_to_install_where_texts_of_articles_are_not_compared(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "sklearn.feature_extraction.text", None)
    report = made(("v1",)).as_json()
    said = [line.plain for line in format_traffic(report) if isinstance(line, Text)]
    (line,) = [line for line in said if "scikit-learn" in line]
    assert "make .venv/.report" in line
    assert line in page(report)


def test_the_sentences_stand_before_every_picture_and_table() -> None:
    text = page(made(("v1", "v2")).as_json())
    assert text.index('class="says"') < text.index("<svg") < text.index("<table")


def test_a_report_of_nothing_is_a_page_too() -> None:
    report = TrafficReport(Suite(), RowSignals("nDCG@5", Suite().thresholds.model_dump())).as_json()
    assert "nothing can be said" in page(report)
