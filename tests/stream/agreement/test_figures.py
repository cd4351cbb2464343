"""Figures of agreement: known values, intervals by conversation, and nothing where nothing can be said."""

import numpy as np
import pytest

from turnsignal.stream.agreement.figures import FIGURES, LabelledPair, confusion, figures


def observed(truths: str, said: str, conversations: str = "") -> list[LabelledPair]:
    """Make observations from letters: y is yes; each in a conversation of its own unless told."""
    names = conversations or [str(place) for place in range(len(truths))]
    return [LabelledPair(c, t == "y", s == "y", float(s == "y")) for t, s, c in zip(truths, said, names, strict=True)]


@pytest.mark.slow
def test_figures_have_their_textbook_values() -> None:
    found = figures(observed("yyyynnnnnn", "yyynynnnnn"), FIGURES)
    assert {name: round(figure.value or 0, 4) for name, figure in found.items()} == {
        "precision": 0.75,
        "recall": 0.75,
        "f1": 0.75,
        "kappa": 0.5833,  # (0.8 - 0.52) / (1 - 0.52)
        "auc": 0.7917,
        "agreement": 0.8,
        "false_alarm_rate": 0.1667,
        "sensitivity": 0.75,
        "specificity": 0.8333,
        "ac1": 0.6154,  # (0.8 - 0.48) / (1 - 0.48)
    }
    assert {name: figure.n for name, figure in found.items()} == {
        "precision": 4,
        "recall": 4,
        "f1": 10,
        "kappa": 10,
        "auc": 10,
        "agreement": 10,
        "false_alarm_rate": 6,
        "sensitivity": 4,
        "specificity": 6,
        "ac1": 10,
    }


def test_the_interval_holds_the_value_and_is_the_same_every_time() -> None:
    seen = observed("yn" * 50, "yynn" * 25)
    first, again = figures(seen, ["agreement"])["agreement"], figures(seen, ["agreement"])["agreement"]
    assert first == again
    assert first.low is not None
    assert first.high is not None
    assert 0.38 < first.low < 0.5 == first.value < first.high < 0.62


def test_turns_of_one_conversation_count_as_one_draw() -> None:
    apart = figures(observed("y" * 100, "yn" * 50), ["recall"])["recall"]
    together = figures(observed("y" * 100, "y" * 50 + "n" * 50, "a" * 50 + "b" * 50), ["recall"])["recall"]
    assert together.value == apart.value == 0.5
    assert (together.low, together.high) == (0.0, 1.0)
    assert apart.low is not None
    assert apart.low > 0.3


def test_what_is_undefined_is_left_out_and_never_zero() -> None:
    assert set(figures(observed("nnn", "nnn"), FIGURES)) == {"agreement", "false_alarm_rate", "specificity", "ac1"}
    assert "precision" not in figures(observed("yyy", "nnn"), FIGURES)
    assert "auc" not in figures(observed("yyy", "yny"), FIGURES)
    assert figures([], FIGURES) == {}


def test_without_resamples_there_is_no_interval() -> None:
    assert figures(observed("yn", "yn"), ["f1"], resamples=0)["f1"].low is None


def test_the_ranking_figure_looks_at_the_number_and_not_at_the_verdict() -> None:
    values = np.linspace(0, 1, 10)
    seen = [LabelledPair(str(place), place >= 5, False, value) for place, value in enumerate(values)]
    assert figures(seen, ["auc"])["auc"].value == pytest.approx(1.0)


def test_the_table_counts_label_against_word() -> None:
    seen = [
        LabelledPair("a", True, True, 1.0, "repair", "correction"),
        LabelledPair("b", True, False, 0.1, "repair", "related"),
        LabelledPair("c", True, True, 1.0, "repair", "correction"),
    ]
    assert confusion(seen) == {"repair": {"correction": 2, "related": 1}}
