"""Ground truth beside predictions: who is compared, and what S1's keys hold."""

import json
from typing import Any

import pytest

from turnsignal.stream.errors import TurnsignalError
from turnsignal.stream.reports.labelled import LabelledQueries
from turnsignal.stream.reports.routing import Routing, s1_metrics


def queries(**labels: Any) -> LabelledQueries:
    made = LabelledQueries()
    for name, of in labels.items():
        made.add({"id": name, "labels": of})
    return made


def test_queries_that_only_one_file_has_are_named_and_not_scored() -> None:
    routing = Routing(queries(a="x", b="x", c="y"), queries(b="x", d="x", c="y"))
    assert (routing.missing, routing.extra, routing.common) == (["a"], ["d"], 2)
    assert [pair.query.id for pair in routing.queries] == ["b", "c"]


def test_numbers_stand_in_their_own_order_and_meet_the_same_ids_as_texts() -> None:
    expected, predicted = LabelledQueries(), LabelledQueries()
    for name in (10, 9, 100):
        expected.add({"id": name, "labels": ["x"]})
        predicted.add({"id": str(name), "labels": ["x"]})
    assert [pair.query.id for pair in Routing(expected, predicted).queries] == [9, 10, 100]


def test_a_query_is_left_out_for_what_it_belongs_to_and_not_for_what_it_was_sent_to() -> None:
    routing = Routing(queries(a=["unknown", "x"], b="x"), queries(a="x", b="unknown"), ["unknown"])
    assert routing.filtered == ["a"]
    assert [pair.query.id for pair in routing.queries] == ["b"]


@pytest.mark.parametrize(
    ("expected", "predicted", "remove", "reason"),
    [
        (queries(a="x"), queries(b="x"), [], "that both files have, got none: ids such as 'a' there and 'b' here"),
        (queries(a="x"), queries(a="x"), ["x"], "expected queries to be left, got none: all 1 belong to 'x'"),
        (queries(a=[], b=None), queries(a="x", b="x"), [], "expected labels of the queries, got none of any of 2"),
    ],
)
def test_nothing_to_score_is_an_error_that_says_why(
    expected: LabelledQueries, predicted: LabelledQueries, remove: list[str], reason: str
) -> None:
    with pytest.raises(TurnsignalError, match=reason):
        Routing(expected, predicted, remove)


def test_labels_that_only_predictions_have_stand_beside_the_keys_and_in_figures_of_their_own() -> None:
    metrics = s1_metrics(Routing(queries(a="x", b="y"), queries(a=["x", "new"], b="y")))
    assert list(metrics)[-1] == "predicted_only"
    assert metrics["report"]["micro avg"]["precision"] == 1.0
    assert metrics["predicted_only"]["report"]["micro avg"]["precision"] == pytest.approx(2 / 3)
    assert metrics["predicted_only"]["labels"][0]["label"] == "new"
    assert "predicted_only" not in s1_metrics(Routing(queries(a="x"), queries(a="x")))


def test_right_agents_in_another_order_are_exact_and_some_of_them_partial() -> None:
    routing = Routing(
        queries(a=["x", "y"], b=["x", "y"], c="x", d=[], e="x"),
        queries(a=["y", "x"], b="x", c="y", d=[], e=[]),
    )
    assert routing.exact == 2
    wrong = {entry["id"]: entry for entry in s1_metrics(routing)["incorrect"]}
    assert [(name, entry["partial"]) for name, entry in wrong.items()] == [("b", True), ("c", False), ("e", False)]
    assert (wrong["c"]["missed"], wrong["c"]["extra"]) == (["x"], ["y"])


def test_no_figure_is_nan_where_nothing_was_predicted() -> None:
    metrics = s1_metrics(Routing(queries(a="x", b=["x", "y"]), queries(a=None, b=None)))
    assert "NaN" not in json.dumps(metrics)
    assert metrics["report"]["weighted avg"]["f1-score"] == 0.0
    assert metrics["distribution"]["pred"] == []
    assert metrics["single_to_multi"] == {"total": 0, "correct": 0, "pct_correct": None}
