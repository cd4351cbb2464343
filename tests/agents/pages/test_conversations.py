"""What a score worker shows of its conversations: the worst first, each with its turns and its scores."""

import asyncio
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

import orjson
import pytest

from tests.kafka.faults.oracle import Kept
from tests.stream.judging.judged import JUDGES, exchanges, judges_of
from tests.stream.judging.judged import record as verdict_record
from turnsignal.agents.metrics.exposition import conversation_digest
from turnsignal.agents.pages.content import Asked, ElsewhereError, MissingError
from turnsignal.agents.pages.conversations import ConversationPages
from turnsignal.agents.pages.recent_rows import RecentRows
from turnsignal.agents.pages.rendering import render
from turnsignal.stream.judging.inquiry import Judgement
from turnsignal.stream.judging.verdicts import make_unjudged, make_verdict
from turnsignal.stream.pipeline.processor import PartitionProcessor
from turnsignal.stream.records.verdicts import Unjudged
from turnsignal.stream.redaction import Redaction
from turnsignal.stream.suite import Suite, parse_suite

NOON = 1_749_988_800  # 2025-06-15 12:00 UTC
SECRET = "sixteen characters"
AGAIN = "That is not what I asked. How do I reset it?"
HOSTILE = ["<script>alert(1)</script>", "\u202egnihtemos", "</div><img src=x onerror=y>", "a\nb\x1b[31m", "é" * 500]


def record(conversation: str, turn_id: str, time: int, text: str, **more: Any) -> Kept:
    role = "assistant" if turn_id.startswith("a") else "user"
    turn = {"conversation_id": conversation, "turn_id": turn_id, "role": role, "text": text, **more}
    value = orjson.dumps(turn | {"timestamp": datetime.fromtimestamp(time, UTC)})
    return Kept(0, time - NOON, conversation.encode(), value, time * 1000)


def exchange(conversation: str, answer: str, **more: Any) -> list[Kept]:
    """A question, an answer with two documents, and a follow-up that asks again."""
    documents = [{"doc_id": "guide", "text": "Hold the button."}, {"doc_id": "faq"}]
    return [
        record(conversation, "u-1", NOON, "How do I reset it?"),
        record(conversation, "a-1", NOON + 10, answer, retrieved=documents, **more),
        record(conversation, "u-2", NOON + 20, AGAIN),
    ]


class Worker:
    """A partition with its pages, as a worker has them; time stands still unless a test moves it."""

    def __init__(self, *records: Kept, rows: RecentRows | None = None, suite: Suite | None = None) -> None:
        self.suite, self.rows = Suite() if suite is None else suite, RecentRows() if rows is None else rows
        self.now = 0.0
        self.processor = PartitionProcessor(self.suite)
        self.stored: dict[int, bytes] = {}  #: what the broker still has
        self.shown = ConversationPages(
            self.suite, lambda: [self.processor], self.rows, SECRET, self, clock=lambda: self.now
        )
        self.take(records)

    def take(self, records: Iterable[Kept], forget: Iterable[Kept] = ()) -> None:
        records = list(records)
        batch = self.processor.process(records, 0.0, list(forget))
        self.processor.accept(batch)
        self.rows.update(batch)
        self.stored |= {each.offset: each.value for each in records}

    async def read(self, partition: int, offsets: Iterable[int]) -> dict[int, bytes]:
        return {offset: self.stored[offset] for offset in offsets if offset in self.stored}

    def ask(self, path: str, by_worker: bool = False, **words: str) -> Any:
        (page,) = [page for page in self.shown.pages() if page.path == path]
        query = {name: word for name, word in words.items() if f"{{{name}" not in path}
        return asyncio.run(page.answer(Asked(words, query, by_worker)))

    def draw(self, path: str, **words: str) -> str:
        (page,) = [page for page in self.shown.pages() if page.path == path]
        return render(page.template, self.ask(path, **words)).decode()


def test_a_conversation_is_shown_turn_by_turn_with_the_scores_and_why() -> None:
    worker = Worker(*exchange("c-1", "Hold the button [1]."))
    answer = worker.ask("/conversations/{id:.+}", id="c-1")
    assert [turn["text"] for turn in answer["kept"]] == ["How do I reset it?", "Hold the button [1].", AGAIN]
    response = answer["kept"][1]
    assert [row["stage"] for row in response["rows"]] == ["response", "follow_up"]
    assert all(row["scores"] for row in response["rows"])
    page = worker.draw("/conversations/{id:.+}", id="c-1")
    assert "<mark>[1]</mark>" in page
    assert response["rows"][1]["scores"][0]["explanation"] in page
    assert "turnsignal conversation c-1" in page  # where the rest is


def test_answers_are_read_again_with_their_documents_and_which_of_them_they_cite() -> None:
    worker = Worker(*exchange("c-1", "Hold the button [guide]. " + "More. " * 1_000))
    kept = worker.ask("/conversations/{id:.+}", id="c-1")["kept"][1]
    assert kept["cut"]
    answer = worker.ask("/conversations/{id:.+}", id="c-1", documents="yes")["kept"][1]
    assert "cut" not in answer
    assert len(answer["text"]) > len(kept["text"])
    assert [(each["rank"], each["doc_id"], each["cited"]) for each in answer["documents"]] == [
        (1, "guide", True),
        (2, "faq", False),
    ]
    page = worker.draw("/conversations/{id:.+}", id="c-1", documents="yes")
    assert "<mark>[guide]</mark>" in page
    assert page.count("<mark>cited</mark>") == 1
    assert "could not be read again" not in page


@pytest.mark.parametrize("stored", [None, b"torn", b'{"conversation_id": "c-2", "turn_id": "a-1", "role": "user"}'])
def test_what_cannot_be_read_again_is_shown_as_it_is_kept(stored: bytes | None) -> None:
    worker = Worker(*exchange("c-1", "Hold the button [guide]."))
    worker.stored = {} if stored is None else dict.fromkeys(worker.stored, stored)
    answer = worker.ask("/conversations/{id:.+}", id="c-1", documents="yes")["kept"][1]
    assert answer["text"] == "Hold the button [guide]."
    assert "documents" not in answer
    assert "could not be read again: 1." in worker.draw("/conversations/{id:.+}", id="c-1", documents="yes")


def test_what_is_read_again_is_redacted_as_what_is_kept() -> None:
    suite = Suite().redacted_by(Redaction(builtin=["email"]))
    worker = Worker(*exchange("c-1", "Write to bob@example.com [guide]."), suite=suite)
    answer = worker.ask("/conversations/{id:.+}", id="c-1", documents="yes")["kept"][1]
    assert "documents" in answer
    assert "bob@" not in str(answer)


def test_means_and_windows_are_shown_after_a_restart_and_scores_of_before_are_said_to_be_gone() -> None:
    worker = Worker(*exchange("c-1", "Hold the button [guide]."))
    worker.rows = RecentRows()
    worker.shown = ConversationPages(worker.suite, lambda: [worker.processor], worker.rows)
    page = worker.draw("/conversations/{id:.+}", id="c-1")
    assert "relevancy 1.000" in page
    assert "<h2>Windows</h2>" in page
    assert "score rows since it started" in page


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_texts_and_names_are_escaped_visible_and_keep_to_themselves(text: str) -> None:
    name, conversation_id = text[:100], "<img src=x>\"'"
    worker = Worker(*exchange(conversation_id, f"{text} [1]", assistant=name, version=name))
    page = worker.draw("/conversations/{id:.+}", id=conversation_id)
    for hidden in ("\u202e", "\x1b", "<script", "<img"):
        assert hidden not in page
    assert "<mark>[1]</mark>" in page
    assert '<div class="text" dir="auto">' in page
    worst = worker.draw("/conversations")
    for hidden in ("\u202e", "\x1b", "<script", "<img"):
        assert hidden not in worst
    assert "1 conversations looked at" in worst


def test_a_turn_that_could_not_be_read_is_a_gap_on_the_page() -> None:
    worker = Worker(*exchange("c-1", "Hold it [guide]."))
    torn = orjson.dumps({"conversation_id": "c-1", "turn_id": "a-2", "role": "assistant", "text": 7})
    worker.take([Kept(0, 30, b"c-1", torn, (NOON + 30) * 1000)])
    assert "could not be read" in worker.draw("/conversations/{id:.+}", id="c-1")


@pytest.mark.parametrize("conversation_id", ["nobody", "x" * 5_000, "\ud800"])
def test_what_is_not_kept_is_missing_with_a_reason(conversation_id: str) -> None:
    with pytest.raises(MissingError, match=r"not kept here|at most 200 characters"):
        Worker().ask("/conversations/{id:.+}", id=conversation_id)


def test_the_worst_come_first_and_can_be_asked_for_by_assistant_version_and_scorer() -> None:
    good = exchange("good", "Hold the button [guide].", assistant="support", version="v1")
    bad = exchange("bad", "Hold the button [faq].", assistant="support", version="v2")
    other = exchange("other", "Hold the button [faq].", assistant="sales", version="v2")
    for records in (good, other):
        records[2] = record(records[2].key.decode(), "u-2", NOON + 20, "Thanks, that works!")
    worker = Worker(*good, *bad, *other)

    def ids(**words: str) -> list[str]:
        return [row["conversation_id"] for row in worker.ask("/conversations", **words)["conversations"]]

    assert ids()[0] == "bad"
    assert set(ids()) == {"good", "bad", "other"}
    assert ids(assistant="support") == ["bad", "good"]
    assert set(ids(version="v2")) == {"bad", "other"}
    assert ids(assistant="sales", version="v1") == []
    assert ids(scorer="nDCG@5")[-1] == "good"
    assert ids(scorer="wasted_context", assistant="nobody") == []
    with pytest.raises(MissingError, match="expected a scorer of the suite"):
        ids(scorer="beauty")


def test_a_conversation_that_cannot_be_read_hides_no_others() -> None:
    worker = Worker(*exchange("whole", "Hold it [guide]."), *exchange("torn", "Hold it [guide]."))
    worker.processor.store[b"torn"] = worker.processor.store[b"torn"][:20] + b"\xff" * 20
    shown = worker.ask("/conversations")
    assert [row["conversation_id"] for row in shown["conversations"]] == ["whole"]
    assert "1 could not be read" in shown["how"]
    newest = [orjson.loads(value) for _, value in worker.rows.newest()]
    (label,) = {score["label"] for row in newest for score in row["scores"] if score["scorer"] == "follow_up"}
    assert "1 could not be read" in worker.ask("/conversations", label=label)["how"]
    with pytest.raises(MissingError, match="kept here, and not readable"):
        worker.ask("/conversations/{id:.+}", id="torn")


def test_where_lower_is_better_the_highest_mean_is_the_worst() -> None:
    cited = exchange("cited", "Hold the button [guide].")
    dangling = exchange("dangling", "Hold the button [guide] [9].")
    rows = Worker(*cited, *dangling).ask("/conversations", scorer="dangling")["conversations"]
    assert [(row["conversation_id"], row["mean"]) for row in rows] == [("dangling", 1.0), ("cited", 0.0)]


def test_conversations_are_found_by_a_label_of_their_recent_rows() -> None:
    worker = Worker(*exchange("asks", "Hold [guide]."), *exchange("goes", "Hold [guide].")[:2])
    worker.take([record("goes", "u-2", NOON + 20, "Thanks, that works!")])
    labels = {
        score["label"]: row["conversation_id"]
        for _, value in worker.rows.newest()
        for row in [orjson.loads(value)]
        for score in row["scores"]
        if score["scorer"] == "follow_up"
    }
    assert len(labels) == 2
    for label, conversation_id in labels.items():
        answer = worker.ask("/conversations", label=label, scorer="follow_up")
        assert [row["conversation_id"] for row in answer["conversations"]] == [conversation_id]
    assert worker.ask("/conversations", label="<b>\ud800")["conversations"] == []


def test_a_list_is_given_again_for_some_seconds() -> None:
    worker = Worker(*exchange("c-1", "Hold [guide]."))
    assert worker.ask("/conversations")["searched"] == 1
    worker.take(exchange("c-2", "Hold [guide]."))
    assert worker.ask("/conversations")["searched"] == 1
    worker.now = 11.0
    assert worker.ask("/conversations")["searched"] == 2


def test_an_exemplars_digest_leads_to_its_conversation() -> None:
    worker = Worker(*exchange("c/1 ö", "Hold [guide]."))
    digest = conversation_digest(SECRET.encode(), "c/1 ö")
    with pytest.raises(ElsewhereError, match=r"^/conversations/c%2F1%20%C3%B6$"):
        worker.ask("/exemplars/{digest}", digest=digest)
    with pytest.raises(MissingError, match="partition of another worker"):
        worker.ask("/exemplars/{digest}", digest="0" * 16)
    for digest in ("", "0" * 15, "<script>", "g" * 16):
        with pytest.raises(MissingError, match="16 hex digits"):
            worker.ask("/exemplars/{digest}", digest=digest)


def test_without_a_secret_there_are_no_exemplars_to_resolve() -> None:
    worker = Worker()
    worker.shown = ConversationPages(worker.suite, lambda: [worker.processor], worker.rows)
    with pytest.raises(MissingError, match="TURNSIGNAL_EXEMPLAR_SECRET"):
        worker.ask("/exemplars/{digest}", digest="0" * 16)


def test_rows_of_a_conversation_that_was_forgotten_are_not_shown_when_its_id_comes_again() -> None:
    worker = Worker(*exchange("c-1", "Hold [guide]."))
    worker.take([], [Kept(0, 0, b"c-1", b"{}", NOON * 1000)])
    assert worker.rows.of(b"c-1") == list(worker.rows.newest()) == []
    worker.take(exchange("c-1", "Press [faq].")[:2])
    assert [row["stage"] for row in worker.rows.of(b"c-1")] == ["response"]


def test_recent_rows_are_bounded_and_the_oldest_leave() -> None:
    rows = RecentRows(limit=5)
    worker = Worker(rows=rows)
    for number in range(10):
        worker.take(exchange(f"c-{number}", "Hold [guide]."))
    assert rows.of(b"c-0") == []
    assert [row["stage"] for row in rows.of(b"c-9")] == ["response", "follow_up"]
    assert len(list(rows.newest())) <= 6


def test_a_row_that_a_later_one_corrects_is_said_to_be_replaced() -> None:
    worker = Worker(*exchange("c-1", "Hold [guide]."))
    worker.take([record("c-1", "u-1b", NOON + 15, "Thanks, that works!")])
    rows = worker.ask("/conversations/{id:.+}", id="c-1")["kept"][1]["rows"]
    assert [row["replaced"] for row in rows if row["stage"] == "follow_up"] == [True, False]


def test_what_judges_said_stands_beside_the_rules_and_why_an_answer_was_not_judged() -> None:
    suite = parse_suite(JUDGES)
    strong, grounded = judges_of(suite)
    talk = exchange("c-1", "Hold it. [1]")
    queued = exchanges(PartitionProcessor(suite).process(talk, 0.0).outputs)
    worker = Worker(*talk, suite=suite)
    shown = worker.draw("/conversations/{id:.+}", id="c-1")
    assert "1 not judged by <bdi>groundedness(by=groundedness)</bdi> yet: waiting for the verdict" in shown
    assert "1 not judged by <bdi>follow_up(by=strong)</bdi> yet: waiting for the verdict" in shown
    first, second = sorted(queued, key=lambda each: each.stage, reverse=True)
    said = make_verdict(second, strong, Judgement("correction", 0.2, "<b>The user says no.</b>"))
    said.cost = 0.004
    spent = make_unjudged(first, grounded, Unjudged.BUDGET, "the money of the day is spent")
    done = worker.processor.process((), 0.0, verdicts=[verdict_record(said), verdict_record(spent)])
    worker.processor.accept(done)
    worker.rows.update(done)
    shown = worker.draw("/conversations/{id:.+}", id="c-1")
    assert "waiting for the verdict" not in shown
    assert "&lt;b&gt;The user says no.&lt;/b&gt;" in shown
    assert "<bdi>scripted</bdi>:<bdi>rules</bdi>, <bdi>follow_up</bdi> version" in shown
    assert "cost 0.004" in shown
    assert "unscored: <bdi>budget</bdi>" in shown
    assert "the money of the day is spent" in shown
    assert "asked with probability" in shown
    assert "What judges say" in shown
