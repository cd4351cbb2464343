"""Classes of questions whose answers fail or excel: named where they do, and rarely where they do not."""

import random
from typing import Any

import pytest

from turnsignal.stream.reports.answers import Answers, is_good
from turnsignal.stream.reports.query_classes import MOST_COMPARED, QueryClasses, describe_classes
from turnsignal.stream.truth.stages import AnswerStage, Basis, StageFinding

TOPICS = ("refunds for a parcel", "resetting a password", "the next invoice", "two factor login")


class Recording:
    """Conversations with an opening question each, and answers that are good or not."""

    def __init__(self, minimum: int = 30) -> None:
        self.answers = Answers()
        self.classes = QueryClasses(minimum)

    def add(self, name: str, asked: str, good: list[bool], **labels: str) -> None:
        number = self.answers.number(name)
        self.classes.open(number, name, asked)
        for right in good:
            finding = {AnswerStage.GENERATION: StageFinding(right, Basis.DIAGNOSIS)}
            outcome = self.answers.add(name, "v1", finding)
            self.classes.add(number, labels, good=is_good(outcome))

    def report(self) -> dict[str, Any]:
        return self.classes.as_json(self.answers)


def recorded(seed: int, worse: str = "", conversations: int = 240, labelled: bool = True) -> Recording:
    """Four topics; of one of them answers fail twice as often."""
    draw, made = random.Random(seed), Recording()
    for number in range(conversations):
        topic = TOPICS[number % len(TOPICS)]
        mood = draw.gauss(0.7, 0.15) - 0.35 * (topic == worse)
        good = [draw.random() < mood for _ in range(draw.randint(1, 6))]
        labels = {"domain": topic.split()[-1]} if labelled else {}
        made.add(f"c{number}", f"How about {topic}? {draw.randrange(50)}", good, **labels)
    return made


def test_a_class_that_fails_is_named_by_its_label_and_by_its_words() -> None:
    report = recorded(1, "resetting a password").report()
    named = {(row["kind"], row["name"]) for row in report["fail"]}
    assert {("domain", "password"), ("word", "resetting")} <= named
    assert ("word", "invoice") not in named
    (row,) = [row for row in report["fail"] if row["kind"] == "domain"]
    assert row["conversations"] == 60
    assert row["good"]["high"] < row["others"]
    assert row["difference"]["high"] < 0
    assert len(row["read"]) == 3


def test_without_labels_words_and_opening_questions_name_it() -> None:
    made = recorded(2, "the next invoice", labelled=False)
    for number in range(40):
        made.add(f"same-{number}", "Where is it?!", [False, False])
    report = made.report()
    assert {row["kind"] for row in report["fail"]} == {"word", "opening question"}
    assert "where is it" in {row["name"] for row in report["fail"]}


def test_the_conversations_to_read_are_the_worst_ones_of_the_class() -> None:
    made = recorded(3)
    for number in range(40):
        made.add(f"bad-{number:02d}", "broken thing", [False] * (1 + number), domain="broken")
    (row,) = [row for row in made.report()["fail"] if row["name"] == "broken" and row["kind"] == "domain"]
    assert row["read"] == ["bad-39", "bad-38", "bad-37"]


@pytest.mark.slow
def test_where_all_classes_are_alike_one_is_rarely_named() -> None:
    named = 0
    for seed in range(200):
        report = recorded(seed, conversations=160).report()
        named += bool(report["fail"] or report["excel"])
    assert named <= 0.06 * 200


def test_classes_with_few_conversations_are_counted_and_not_named() -> None:
    made = recorded(4)
    for number in range(29):
        made.add(f"few-{number}", "rare", [False] * 3, domain="rare")
    report = made.report()
    assert "rare" not in {row["name"] for row in report["fail"]}
    assert report["too_few"] >= 2
    assert f"{report['too_few']} classes are in too few conversations to report." in describe_classes(report)


@pytest.mark.slow
def test_a_hundred_thousand_classes_are_bounded_and_said() -> None:
    made = Recording()
    for number in range(150_000):
        made.add(f"c{number}", f"question{number}", [number % 3 > 0], query_type=f"t{number}", domain=f"d{number % 2}")
    report = made.report()
    assert report["compared"] <= 4 * MOST_COMPARED
    assert report["left_out"] > 100_000
    assert report["openings"] <= 100_000
    said = " ".join(describe_classes(report))
    assert "not compared" in said
    assert "of 150,000 conversations" in said


def test_of_nothing_and_of_one_class_alone_nothing_is_named() -> None:
    assert Recording().report()["compared"] == 0
    made = Recording()
    for number in range(50):
        made.add(f"c{number}", "", [False], domain="only")
    report = made.report()
    assert (report["compared"], report["fail"]) == (0, [])
