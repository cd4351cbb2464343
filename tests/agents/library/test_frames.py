"""Frames: a line for each score, the same columns in pandas and polars, and a clear word where one is missing."""

import sys
from datetime import UTC, datetime

import pandas
import polars
import pytest

import turnsignal
from turnsignal.frames import COLUMNS, make_columns, make_pandas, make_polars

ROW = {
    "id": "r1",
    "conversation_id": "c1",
    "turn_id": "a1",
    "stage": "response",
    "assistant": "default",
    "version": None,
    "model": None,
    "platform": "web",
    "time": 1_750_000_000.25,
    "suite": "0",
    "scores": [
        {"scorer": "nDCG@5", "value": 0.5, "label": "moderate"},
        {"scorer": "cited", "value": None, "unscored": "no_retrieval"},
    ],
}


def test_each_score_is_a_line_with_its_row() -> None:
    frame = make_pandas([ROW])
    assert list(frame.columns) == list(COLUMNS)
    assert frame.scorer.tolist() == ["nDCG@5", "cited"]
    assert frame.value.tolist()[0] == 0.5
    assert frame.value.isna().tolist() == [False, True]
    assert frame.unscored.tolist()[1] == "no_retrieval"
    assert frame.time[0].to_pydatetime() == datetime(2025, 6, 15, 15, 6, 40, 250_000, tzinfo=UTC)
    assert set(frame.environment) == {"production"}


def test_polars_holds_the_same() -> None:
    frame = make_polars([ROW])
    assert frame.columns == list(COLUMNS)
    assert frame["value"].to_list() == [0.5, None]
    assert frame["time"][0] == datetime(2025, 6, 15, 15, 6, 40, 250_000, tzinfo=UTC)
    assert frame.schema["late"] == polars.Boolean


def test_a_row_that_a_later_one_corrects_is_marked() -> None:
    later = ROW | {"id": "r2", "replaces": "r1"}
    early = ROW | {"id": "r3", "replaced_by": "r2"}
    assert make_columns([ROW, later, early])["replaced"] == [True, True, False, False, True, True]


def test_a_score_says_with_what_probability_there_is_one() -> None:
    verdict = ROW | {"stage": "verdict", "verdict": {"inclusion": 0.25}, "scores": [{"scorer": "a", "value": 1.0}]}
    close = ROW | {"stage": "close", "scores": [{"scorer": "b", "value": 1.0, "inclusion": 0.5}]}
    assert make_columns([ROW, verdict, close])["inclusion"] == [1.0, 1.0, 0.25, 0.5]


def test_no_rows_have_the_same_columns_and_types() -> None:
    assert (
        make_pandas([]).dtypes[["time", "value", "late"]].equals(make_pandas([ROW]).dtypes[["time", "value", "late"]])
    )
    assert make_polars([]).schema == make_polars([ROW]).schema


def test_a_mean_over_the_lines_is_the_mean_of_the_summary() -> None:
    result = turnsignal.replay(turnsignal.sample_turns()[:1000])
    frame = result.to_pandas()
    means = frame[(frame.scorer == "nDCG@5") & ~frame.replaced].groupby("assistant").value.mean()
    for row in result.summary["scores"]:
        if row["scorer"] == "nDCG@5":
            assert means[row["assistant"]] == pytest.approx(row["mean"], abs=1e-6)
    assert frame.value.sum() == pytest.approx(result.to_polars()["value"].sum())
    assert isinstance(frame, pandas.DataFrame)


@pytest.mark.parametrize("name", ["pandas", "polars"])
def test_without_the_package_its_extra_is_named(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(turnsignal.TurnsignalError, match=rf"expected {name} to be installed, .* extra \[{name}\]"):
        {"pandas": make_pandas, "polars": make_polars}[name]([ROW])
