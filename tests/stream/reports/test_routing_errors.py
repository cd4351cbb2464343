"""Errors by kind of query, words that go with them, and gains."""

import random
from collections.abc import Callable

import pytest

from turnsignal.stream.reports.classification import classify
from turnsignal.stream.reports.labelled import LabelledQueries
from turnsignal.stream.reports.routing import Routing
from turnsignal.stream.reports.routing_errors import (
    AGENTS,
    FEWER,
    MORE,
    SAME,
    TOO_FEW,
    error_groups,
    error_words,
    mendings,
)
from turnsignal.stream.reports.routing_report import report_routing

WORDS = [f"word{number}" for number in range(60)]


def simulated(wrong: Callable[[dict[str, str], random.Random], bool], n: int = 300) -> Routing:
    """Return n queries of random words, domains and agents; wrong: says which are sent to another agent."""
    dice = random.Random(3)
    expected, predicted = LabelledQueries(), LabelledQueries()
    for number in range(n):
        query = {
            "query": " ".join(dice.choices(WORDS, k=6)),
            "domain": dice.choice(["money", "help", "shop"]),
            "agent": dice.choice(["billing", "faq", "search"]),
        }
        expected.add({"id": number, "labels": [query["agent"]], **query})
        predicted.add({"id": number, "labels": ["upload" if wrong(query, dice) else query["agent"]]})
    return Routing(expected, predicted)


def test_a_domain_with_more_errors_is_named_first_and_the_others_have_fewer() -> None:
    groups = error_groups(simulated(lambda query, dice: dice.random() < (0.5 if query["domain"] == "shop" else 0.1)))
    verdicts = {group.name: group.verdict for group in groups["domain"].groups}
    assert groups["domain"].groups[0].name == "shop"
    assert verdicts == {"shop": MORE, "money": FEWER, "help": FEWER}
    assert {group.verdict for group in groups[AGENTS].groups} == {SAME}


def test_a_word_that_goes_with_errors_is_named_with_its_odds_and_its_number() -> None:
    words = error_words(simulated(lambda query, dice: "word7" in query["query"].split() or dice.random() < 0.1).queries)
    first = words.errors[0]
    assert first.word == "word7"
    assert first.errors == first.n > 10
    assert first.log_odds > 2
    assert first.adjusted < 0.001
    assert [word.word for word in words.right] == []


def test_words_of_chinese_are_two_characters_each() -> None:
    expected, predicted = LabelledQueries(), LabelledQueries()
    for number in range(40):
        text, agent = ("我要退款谢谢", "faq") if number % 2 else ("搜索表格文件", "search")
        expected.add({"id": number, "labels": ["search"], "query": text})
        predicted.add({"id": number, "labels": [agent]})
    words = error_words(Routing(expected, predicted).queries)
    assert {word.word for word in words.errors} == {"我要", "要退", "退款", "款谢", "谢谢"}
    assert {word.word for word in words.right} == {"搜索", "索表", "表格", "格文", "文件"}


def test_errors_by_chance_name_nothing() -> None:
    routing = simulated(lambda query, dice: dice.random() < 0.2)
    assert {group.verdict for groups in error_groups(routing).values() for group in groups.groups} == {SAME}
    words = error_words(routing.queries)
    assert (words.errors, words.right) == ([], [])
    assert words.compared >= 60


def test_few_queries_are_counted_and_not_compared() -> None:
    routing = simulated(lambda query, dice: query["domain"] == "shop", 12)
    assert {group.verdict for group in error_groups(routing)["domain"].groups} == {TOO_FEW}
    words = report_routing(simulated(lambda query, dice: True, 3))["words"]
    assert words["reason"] == "no word is in 5 queries"


def test_a_gain_is_the_difference_that_mending_the_predictions_makes() -> None:
    dice = random.Random(5)
    agents = ["billing", "faq", "search", "upload"]
    expected, predicted = LabelledQueries(), LabelledQueries()
    for number in range(200):
        labels = dice.sample(agents[:3], dice.randint(1, 2))
        expected.add({"id": number, "labels": labels})
        predicted.add({"id": number, "labels": labels if dice.random() < 0.5 else dice.sample(agents, 2)})
    routing = Routing(expected, predicted)
    classes = list(routing.of_all_labels.classes)
    before = classify(routing.pairs, classes).averages
    gains, left_out = mendings(routing)
    assert left_out == 0
    assert len(gains) > 10
    for gain in gains:
        mended = [pair.predicted for pair in routing.queries]
        for index, pair in enumerate(routing.queries):
            both = gain.missed is not None and gain.extra is not None
            if both and (pair.missed, pair.extra) != ([gain.missed], [gain.extra]):
                continue
            if (gain.missed is None or gain.missed in pair.missed) and (gain.extra is None or gain.extra in pair.extra):
                kept = [label for label in pair.predicted if label != gain.extra]
                mended[index] = (*kept, *([gain.missed] if gain.missed is not None else []))
        after = classify([(pair.expected, of) for pair, of in zip(routing.queries, mended, strict=True)], classes)
        exact = sum(set(pair.expected) == set(of) for pair, of in zip(routing.queries, mended, strict=True))
        assert gain.exact.value == pytest.approx((exact - routing.exact) / 200, abs=1e-12)
        assert gain.weighted_f1 == pytest.approx(after.averages["weighted avg"].f1 - before["weighted avg"].f1)
        assert gain.macro_f1 == pytest.approx(after.averages["macro avg"].f1 - before["macro avg"].f1)
