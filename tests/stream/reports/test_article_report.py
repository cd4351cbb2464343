"""The cited article beside the labelled one: a classifier's figures, who is to blame, and which articles overlap."""

import random
import sys
import tracemalloc
from typing import Any

import numpy as np
import pytest
from sklearn.metrics import precision_recall_fscore_support

from turnsignal.stream.records.turns import Document
from turnsignal.stream.reports.article_overlap import MOST_ARTICLES, MOST_SHOWN, ArticleOverlap
from turnsignal.stream.reports.article_report import NONE, SEVERAL, ArticleReport, differing_pairs
from turnsignal.stream.reports.article_text import describe_blame, describe_overlap, describe_pair, describe_several
from turnsignal.stream.statistics.intervals import rate

SHELF = [Document(f"a{number}", text=f"text of article {number}") for number in range(6)]


def made(*answers: tuple[str, list[str]], model: str = "m") -> dict[str, Any]:
    """Answers by the labelled article and what they cite."""
    report = ArticleReport(5, 30)
    for number, (expected, cited) in enumerate(answers):
        report.add(number, model, [expected], SHELF, cited)
    done = report.as_json()
    assert done is not None
    return done


def test_none_and_several_are_classes_of_their_own_and_never_right() -> None:
    report = made(("a0", ["a0"]), ("a0", []), ("a0", ["a0", "a1"]), ("a1", ["a2"]))
    assert report["accuracy"]["value"] == 0.25
    assert report["labels"] == {"no_citation": 1, "right": 1, "several_citations": 1, "wrong": 1}
    assert {row["article"] for row in report["articles"]} == {"a0", "a1", "a2", NONE, SEVERAL}


def test_figures_are_those_of_scikit_learn() -> None:
    draw = random.Random(5)
    pairs = [(f"a{draw.randrange(5)}", f"a{draw.randrange(5)}") for _ in range(300)]
    report = made(*[(expected, [cited]) for expected, cited in pairs])
    names = sorted({name for pair in pairs for name in pair})
    columns = precision_recall_fscore_support(*zip(*pairs, strict=True), labels=names, zero_division=0)
    for name, *figures in zip(names, *columns, strict=True):
        (row,) = [row for row in report["articles"] if row["article"] == name]
        assert [row["precision"], row["recall"], row["f1-score"], row["support"]] == pytest.approx(figures, abs=1e-12)


def test_of_several_labelled_articles_each_is_right() -> None:
    report = ArticleReport(5, 30)
    for cited in ("a1", "a2", "a3"):
        report.add(0, "m", ["a1", "a2"], SHELF, [cited])
    done = report.as_json()
    assert done is not None
    assert done["labels"] == {"right": 2, "wrong": 1}


def test_what_never_came_is_the_retrievers_fault_and_what_came_the_pickers() -> None:
    report = made(("a0", ["a1"]), ("a5", ["a1"]), ("gone", ["a1"]), ("a2", ["a2"]))
    assert (report["blame"]["retriever"], report["blame"]["picker"]) == (2, 1)  # a5 stands at rank 6
    assert report["recall@5"]["value"] == 0.5


def test_the_picker_is_charged_only_where_the_one_article_that_it_chose_is_wrong() -> None:
    cited = [["a1"], [], ["a0", "a1"], ["a0", "a0"], ["a1", "a2"]]
    report = made(*[("a0", names) for names in cited], ("gone", ["a0", "a1"]))
    assert report["blame"] == {"retriever": 1, "picker": 1, "no_citation": 1, "several_citations": 2}
    assert report["several"] == {"only_labelled": 0, "some_labelled": 1, "none_labelled": 2}
    assert describe_blame(report) == (
        "Not right: 1 were given no right article; of the others, the picker chose a wrong one in 1, 1 cite none and 2"
        " several"
    )


def test_answers_that_cite_several_labelled_articles_are_told_from_those_that_cite_others() -> None:
    report = ArticleReport(5, 30)
    report.add(0, "m", ["a0", "a1"], SHELF, ["a0", "a1"])
    done = report.as_json()
    assert done is not None
    assert (done["accuracy"]["value"], done["blame"]["picker"]) == (0.0, 0)
    assert describe_several(done) == (
        "Of the 1 that cite several, a class of its own, 1 cite labelled articles only, 0 others beside, 0 none"
    )


def test_models_that_do_not_differ_share_a_rank() -> None:
    report = ArticleReport(5, 30)
    draw = random.Random(3)
    for number in range(1_200):
        model, accuracy = [("good", 0.9), ("also-good", 0.89), ("bad", 0.4), ("rare", 1.0)][
            min(number % 41, 3) if number % 41 == 40 else number % 3
        ]
        report.add(number, model, ["a0"], SHELF, ["a0" if draw.random() < accuracy else "a1"])
    done = report.as_json()
    assert done is not None
    assert {model["model"]: model["rank"] for model in done["models"]} == {"good": 1, "also-good": 1, "bad": 3}


@pytest.mark.parametrize("models", [3, *(pytest.param(n, marks=pytest.mark.slow) for n in (6, 10))])
def test_models_that_are_equal_are_hardly_ever_told_apart_however_many_they_are(models: int) -> None:
    rng, draws, apart = np.random.default_rng(models), 400 if models < 10 else 200, 0  # pairs are the square
    for _ in range(draws):
        best = sorted((rate(right, 100) for right in rng.binomial(100, 0.7, models)), key=lambda each: -each.value)
        apart += bool(differing_pairs(best, models))
    assert apart / draws <= 0.07  # 5 %, and chance; compared with the best alone, it was 5, 9 and 13 %


def test_models_of_one_rank_do_not_differ() -> None:
    report = ArticleReport(5, 30)
    for which, (model, right) in enumerate((("best", 70), ("second", 62), ("third", 55), ("last", 46))):
        for number in range(80):
            report.add(80 * which + number, model, ["a0"], SHELF, ["a0" if number < right else "a1"])
    done = report.as_json()
    assert done is not None
    assert [(model["model"], model["rank"]) for model in done["models"]] == [
        ("best", 1),
        ("second", 1),
        ("third", 3),
        ("last", 3),
    ]


def test_whether_a_right_citation_goes_with_a_right_answer_is_a_table_where_answers_are_known() -> None:
    report = ArticleReport(5, 30)
    for right, approved, n in ((True, True, 8), (True, False, 2), (False, True, 1), (False, False, 4), (True, None, 5)):
        for _ in range(n):
            report.add(0, "m", ["a0"], SHELF, ["a0" if right else "a1"], approved=approved)
    done = report.as_json()
    assert done is not None
    table = done["citation_and_answer"]
    assert table["n"] == 15
    assert table["right_citation"] == {"right_answer": 8, "wrong_answer": 2}
    assert table["right_answer_given_right_citation"]["value"] == 0.8
    assert table["wrong_citation"] == {"right_answer": 1, "wrong_answer": 4}
    assert made(("a0", ["a0"]))["citation_and_answer"] is None


def test_without_labelled_documents_there_is_no_report() -> None:
    assert ArticleReport(5, 30).as_json() is None


def test_articles_overlap_where_their_words_are_alike_or_they_are_cited_in_turn() -> None:
    overlap = ArticleOverlap()
    policy = "Refunds are paid within five working days to the card that was charged, less the cost of sending it back."
    shelf = [
        Document("new", text=policy),
        Document("old", text=policy.replace("five", "six")),
        Document("other", text="A password is reset from the login page with a link that works for half an hour."),
    ]
    for question in ("When do I get it back?", "What does it cost?"):
        overlap.add(question, ["new"], shelf)
        overlap.add(question.casefold(), ["old"], shelf)
    overlap.add("Where is the key?", ["other"], shelf)
    done = overlap.as_json()
    assert done is not None
    assert [pair["articles"] for pair in done["alike"]] == [["new", "old"]]
    assert done["in_turn"] == [{"articles": ["new", "old"], "questions": 2}]


def test_articles_that_are_cited_in_turn_for_one_question_alone_are_not_named() -> None:
    overlap = ArticleOverlap()
    for article in ("new", "old", "new"):
        overlap.add("When do I get it back?", [article], [])
    done = overlap.as_json()
    assert done is not None
    assert (done["questions"], done["in_turn"]) == (1, [])


def test_articles_without_words_overlap_with_none() -> None:
    overlap = ArticleOverlap()
    overlap.add("", [], [Document("a", text="..."), Document("b", text="")])
    done = overlap.as_json()
    assert done is not None
    assert done["alike"] == []


def test_where_nothing_is_cited_or_retrieved_nothing_is_said_of_overlap() -> None:
    overlap = ArticleOverlap()
    overlap.add("Where?", [], [Document("a")])
    overlap.add("Where?", ["a", "b"], [])
    assert overlap.as_json() is None


def test_articles_that_came_later_are_counted_once_each() -> None:
    overlap = ArticleOverlap()
    for _ in range(2):
        overlap.add("", [], [Document(f"a{number}", text=f"about {number}") for number in range(MOST_ARTICLES + 3)])
    done = overlap.as_json()
    assert done is not None
    assert (done["articles"], done["not_compared"]) == (MOST_ARTICLES, 3)


def test_of_many_articles_that_are_all_alike_the_nearest_are_kept_and_no_list_of_all_pairs() -> None:
    overlap = ArticleOverlap()
    texts = [f"{'bill ' * 30}page {number}" for number in range(MOST_ARTICLES)]
    texts[1_700] = texts[60]
    overlap.add("", [], [Document(f"a{number:04}", text=text) for number, text in enumerate(texts)])
    tracemalloc.start()
    try:
        done = overlap.as_json()
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert done is not None
    assert len(done["alike"]) == MOST_SHOWN
    assert done["alike"][0] == {"articles": ["a0060", "a1700"], "cosine": 1.0}
    assert done["alike"] == sorted(done["alike"], key=lambda pair: (-pair["cosine"], pair["articles"]))
    assert peak < 40e6, "two million pairs take ten times as much"


def test_a_pair_says_what_its_number_counts() -> None:
    assert describe_pair({"articles": ["a", "b"], "questions": 5}) == "cited in turn for 5 questions"


def test_without_scikit_learn_the_report_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sklearn.feature_extraction.text", None)
    overlap = ArticleOverlap()
    overlap.add("Where?", ["a"], [Document("a", text="the same"), Document("b", text="the same")])
    done = overlap.as_json()
    assert done is not None
    assert "make .venv/.report" in done["reason"]
    assert describe_overlap(done) == "No articles overlap, by what 1 opening question led to"


def test_an_article_behind_chunks_of_one_other_was_retrieved() -> None:
    report = ArticleReport(5, 30)
    report.add(0, "m", ["a1"], [*[Document("a0")] * 5, Document("a1")], ["a0"])
    done = report.as_json()
    assert done is not None
    assert (done["recall@5"]["value"], done["blame"]["picker"]) == (1.0, 1)
