"""Frames: score rows as columns, one line for each score, for pandas and polars.

Long and not wide: a score that is missing keeps its reason, and the columns are the same for every suite.
"""

from collections.abc import Iterable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

from turnsignal.stream.errors import TurnsignalError
from turnsignal.stream.records.environments import PRODUCTION

if TYPE_CHECKING:
    import pandas
    import polars

#: Of the row that a score stands in.
_OF_ROW = (
    *("conversation_id", "turn_id", "stage", "assistant", "version", "model", "platform", "environment"),
    *("time", "outcome", "follow_up_id", "late", "replaced"),
)
_OF_SCORE = ("scorer", "value", "label", "unscored", "explanation")
COLUMNS = (*_OF_ROW, *_OF_SCORE, "inclusion")


def make_columns(rows: Iterable[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """Return a list for each of `COLUMNS`.

    time: microseconds since 1970; replaced: whether a later row corrects this one, so that a mean leaves it out;
    inclusion: the probability with which there is this score, 1 but for judges that are asked about a share: its
    inverse is what the score weighs in a mean.
    """
    columns: dict[str, list[Any]] = {name: [] for name in COLUMNS}
    of_row = [columns[name] for name in _OF_ROW]
    of_score = [(name, columns[name]) for name in _OF_SCORE]
    ids: list[str] = []
    replaced: set[str] = set()
    for row in rows:
        if "replaces" in row:
            replaced.add(row["replaces"])
        if "replaced_by" in row:
            replaced.add(row["id"])
        facts = (
            *(row.get(name) for name in _OF_ROW[:7]),
            row.get("environment", PRODUCTION),
            round(row["time"] * 1e6),
            row.get("outcome"),
            row.get("follow_up"),
            row.get("late", False),
            False,
        )
        inclusion = row.get("verdict", {}).get("inclusion", 1.0)
        for score in row["scores"]:
            columns["inclusion"].append(score.get("inclusion", inclusion))
            ids.append(row["id"])
            for column, fact in zip(of_row, facts, strict=True):
                column.append(fact)
            for name, column in of_score:
                column.append(score.get(name))
    columns["replaced"] = [row in replaced for row in ids]
    return columns


def make_pandas(rows: Iterable[Mapping[str, Any]]) -> "pandas.DataFrame":
    """Return score rows as a DataFrame of pandas; raises TurnsignalError where pandas is not installed."""
    library = _import("pandas")
    frame: pandas.DataFrame = library.DataFrame(make_columns(rows), columns=list(COLUMNS))
    frame["time"] = library.to_datetime(frame["time"].astype("int64"), unit="us", utc=True)
    for name in ("value", "inclusion"):
        frame[name] = frame[name].astype("float64")
    for name in ("late", "replaced"):
        frame[name] = frame[name].astype("bool")
    return frame


def make_polars(rows: Iterable[Mapping[str, Any]]) -> "polars.DataFrame":
    """Return score rows as a DataFrame of polars; raises TurnsignalError where polars is not installed."""
    library = _import("polars")
    types = dict.fromkeys(COLUMNS, library.String)
    types |= {
        "time": library.Int64,
        "value": library.Float64,
        "inclusion": library.Float64,
        "late": library.Boolean,
        "replaced": library.Boolean,
    }
    frame: polars.DataFrame = library.DataFrame(make_columns(rows), schema=types)
    return frame.with_columns(library.col("time").cast(library.Datetime("us", "UTC")))


def _import(name: str) -> Any:
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name:  # it is there, and lacks something itself
            raise
        msg = f"expected {name} to be installed, got none; install it, or turnsignal with its extra [{name}]"
        raise TurnsignalError(msg) from None
