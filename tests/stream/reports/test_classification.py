"""Figures of classes beside scikit-learn's."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import classification_report
from sklearn.preprocessing import MultiLabelBinarizer

from tests.examples import examples
from turnsignal.stream.reports.classification import classify, count_classes

CLASSES = ("billing", "faq", "search", "upload")
LABELS = st.sets(st.sampled_from(CLASSES)).map(sorted)


def reported(pairs: list[tuple[list[str], list[str]]], classes: list[str]) -> dict[str, dict[str, float]]:
    rows = MultiLabelBinarizer(classes=classes).fit(classes)
    expected, predicted = (rows.transform([pair[side] for pair in pairs]) for side in (0, 1))
    return classification_report(expected, predicted, target_names=classes, output_dict=True, zero_division=0)


@given(st.lists(st.tuples(LABELS, LABELS), min_size=1, max_size=40))
@examples(60)
def test_every_figure_is_that_of_scikit_learn(pairs: list[tuple[list[str], list[str]]]) -> None:
    figures = classify(pairs, CLASSES)
    wanted = reported(pairs, list(CLASSES))
    assert list(wanted) == [*figures.classes, *figures.averages]
    for name, of in (*figures.classes.items(), *figures.averages.items()):
        assert of.as_json() == pytest.approx(wanted[name], abs=1e-12, rel=0)


def test_predicted_labels_that_are_no_class_are_left_out_as_a_binarizer_leaves_them_out() -> None:
    pairs = [(["a"], ["a", "x"]), (["b"], ["x"])]
    assert classify(pairs, ["a", "b"]).averages["micro avg"].precision == 1.0
    assert classify(pairs, ["a", "b", "x"]).averages["micro avg"].precision == pytest.approx(1 / 3)


def test_a_single_class_has_the_figures_of_several_where_scikit_learn_reads_truth_values() -> None:
    figures = classify([(["a"], ["a"]), (["a"], []), ([], [])], ["a"])
    assert figures.classes["a"] == pytest.approx((1.0, 0.5, 2 / 3, 2.0))
    assert figures.averages["micro avg"] == figures.classes["a"]


def test_three_hundred_classes_are_counted_as_few_are() -> None:
    names = [f"agent-{number:03}" for number in range(300)]
    pairs = [([name], [name if number % 3 else names[0]]) for number, name in enumerate(names)]
    wanted = reported(pairs, names)
    averages = classify(pairs, names).averages
    assert averages["weighted avg"].as_json() == pytest.approx(wanted["weighted avg"], abs=1e-12, rel=0)
    assert averages["macro avg"].as_json() == pytest.approx(wanted["macro avg"], abs=1e-12, rel=0)


def test_f1_after_a_change_is_that_of_the_changed_counts() -> None:
    counts = count_classes([(["a"], []), (["a"], ["a"]), (["b"], ["a"])])
    assert counts.f1("a") == pytest.approx(0.5)
    assert counts.f1("a", 1, 1) == pytest.approx(0.8)
    assert counts.f1("a", 0, -1) == pytest.approx(2 / 3)
