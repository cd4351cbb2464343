"""Structure: dashboards hold nothing that Grafana's own types do not, and everything that they require.

The schema was made once from @grafana/schema 13.2.2 (Apache-2.0), by ts-json-schema-generator over one interface with a
`Dashboard`, and the `Options` and `FieldConfig` of each panel kind, `Partial` as Grafana fills the rest with defaults.
"""

import json
from copy import deepcopy
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from grafana.build import DASHBOARDS

SCHEMA = json.loads((Path(__file__).parents[1] / "data" / "grafana" / "schema-13.2.2.json").read_text("utf-8"))
BOARDS = {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in sorted(DASHBOARDS.glob("*.json"))}
#: Of a data source's marks, whose type is not the one of built-in marks.
OF_PROMETHEUS = ("target", "titleFormat", "textFormat")
#: Of variables that are intervals, which the kit writes into all of them.
OF_INTERVALS = ("auto", "auto_count", "auto_min")


def known_to_the_schema(board: dict[str, Any]) -> dict[str, Any]:
    """Leave out what Grafana reads and its published types leave to data sources and variables."""
    board = deepcopy(board)
    for mark in board["annotations"]["list"]:
        for key in OF_PROMETHEUS:
            assert mark.pop(key)
    for variable in board["templating"]["list"]:
        for key in OF_INTERVALS:
            variable.pop(key, None)
    return board


def faults(part: str, value: Any) -> list[str]:
    """What is wrong with a dashboard, or with the options or fields of a panel."""
    schema = {"$ref": f"#/properties/{part}", "properties": SCHEMA["properties"], "definitions": SCHEMA["definitions"]}
    found = jsonschema.Draft7Validator(schema).iter_errors(value)
    return [f"{part}{''.join(f'[{step!r}]' for step in error.absolute_path)}: {error.message}" for error in found]


@pytest.mark.parametrize("name", BOARDS)
def test_a_dashboard_has_the_structure_of_grafanas_own_types(name: str) -> None:
    board = known_to_the_schema(BOARDS[name])
    assert faults("dashboard", board) == []


@pytest.mark.parametrize("name", BOARDS)
def test_panels_have_the_options_of_their_kind(name: str) -> None:
    for panel in BOARDS[name]["panels"]:
        options = dict(panel["options"])
        options.pop("footer", None)  # the kit writes it for Grafana up to 12
        assert faults(panel["type"], options) == [], panel["title"]
        if f"{panel['type']}_fields" in SCHEMA["properties"]:
            custom = panel["fieldConfig"]["defaults"].get("custom", {})
            assert faults(f"{panel['type']}_fields", custom) == [], panel["title"]


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"gridPos": {"x": 0, "y": 0, "w": "wide", "h": 8}}, "is not of type 'number'"),
        ({"titel": "Turns"}, "'titel' was unexpected"),
    ],
)
def test_a_panel_of_another_structure_is_noticed(change: dict[str, Any], fault: str) -> None:
    board = known_to_the_schema(BOARDS["overview"])
    board["panels"][0].update(change)
    assert any(fault in text or "anyOf" in text or "any of" in text for text in faults("dashboard", board))


def test_a_wrong_word_in_the_options_of_a_panel_is_noticed() -> None:
    (panel, *_) = [panel for panel in BOARDS["overview"]["panels"] if panel["type"] == "timeseries"]
    options = deepcopy(panel["options"])
    options["legend"]["displayMode"] = "sideways"
    assert faults("timeseries", options)
