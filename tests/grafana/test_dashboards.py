"""Dashboards: as written as they are built, complete, and asking only for what workers show."""

import json
import re
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from typing import Any

import promql_parser
import pytest
import yaml

from grafana.build import BOARDS, DASHBOARDS, written
from grafana.queries import MONTH, OF_ALL_VERSIONS
from tests.deploy.test_alerts import ALERTS, faults, grouped, selected
from turnsignal.agents.metrics.families import FAMILIES, PREFIX
from turnsignal.stream.pipeline.truth_scoring import OF_TRUTH, TRUTH_SCORERS

GRAFANA = DASHBOARDS.parent
BUILT = {name: json.loads(text) for name, text in written().items()}
PANELS = [(name, panel) for name, board in BUILT.items() for panel in board["panels"]]
KINDS = {"stat", "bargauge", "timeseries", "table", "heatmap"}
VARIABLES = ["datasource", "job", "assistant", "version", "window"]
SOURCE = {"type": "prometheus", "uid": "${datasource}"}
DURATIONS = {"$__rate_interval": "1m", "$__range": "1d", "$window": "1h"}

every_panel = pytest.mark.parametrize(("name", "panel"), PANELS, ids=[f"{n}: {p['title']}" for n, p in PANELS])
every_board = pytest.mark.parametrize("name", BUILT)


def parsed(expression: str) -> Any:
    """Parse what a panel asks for, with durations in place of variables."""
    for variable, duration in DURATIONS.items():
        expression = expression.replace(variable, duration)
    return promql_parser.parse(expression)


def bare(node: Any) -> Iterator[str]:
    """The metrics that an expression takes as they are, outside of a range."""
    if isinstance(node, promql_parser.VectorSelector):
        yield node.name
    for name in ("expr", "lhs", "rhs", "param"):
        if (child := getattr(node, name, None)) is not None:
            yield from bare(child)
    for argument in getattr(node, "args", None) or ():
        yield from bare(argument)


def plain(expression: str) -> str:
    for variable, duration in DURATIONS.items():
        expression = expression.replace(variable, duration)
    return expression


def family_of(metric: str) -> Any:
    name = metric.removeprefix(PREFIX)
    return FAMILIES.get(name) or FAMILIES.get(re.sub(r"_(bucket|sum|count)$", "", name))


def asked() -> Iterator[tuple[str, str]]:
    """Whatever Prometheus is asked for: by panels, marks and variables."""
    for name, board in BUILT.items():
        for panel in board["panels"]:
            for target in panel["targets"]:
                yield f"{name}: {panel['title']}", target["expr"]
        for mark in board["annotations"]["list"]:
            yield f"{name}: {mark['name']}", mark["target"]["expr"]
        for variable in board["templating"]["list"]:
            if match := re.fullmatch(r"label_values\((.*), (\w+)\)", str(variable.get("query", ""))):
                yield f"{name}: ${variable['name']}", f"group by ({match[2]}) ({match[1]})"


ASKED = list(asked())


def test_the_files_are_what_the_builder_writes() -> None:
    files = {path.name: path.read_text(encoding="utf-8") for path in DASHBOARDS.glob("*.json")}
    assert files == written(), "run `make dashboards`"
    assert len(files) == len(BOARDS)


@every_board
def test_a_dashboard_has_the_variables_that_all_have_and_is_changed_in_code_only(name: str) -> None:
    board = BUILT[name]
    assert board["uid"] == f"turnsignal-{name.removesuffix('.json')}"
    assert board["title"].startswith("turnsignal · ")
    assert board["description"].endswith(".")
    assert board["editable"] is False
    assert board["schemaVersion"] == 42
    assert [variable["name"] for variable in board["templating"]["list"]][: len(VARIABLES)] == VARIABLES
    for variable in board["templating"]["list"]:
        assert variable["label"] or variable["name"] == "datasource"
        if variable["type"] == "query":
            assert variable["datasource"] == SOURCE


@every_board
def test_the_window_is_never_shorter_than_five_minutes(name: str) -> None:
    (window,) = [variable for variable in BUILT[name]["templating"]["list"] if variable["name"] == "window"]
    assert window["query"].split(",")[0] == "5m"
    assert window["current"]["value"] == "1h"


@every_board
def test_releases_and_alarms_are_marked(name: str) -> None:
    marks = {mark["name"]: mark for mark in BUILT[name]["annotations"]["list"]}
    assert {"Releases", "Builds", "Changes", "Alerts"} <= set(marks)
    for mark in marks.values():
        assert mark["datasource"] == SOURCE
        assert mark["enable"]
        shown = set(re.findall(r"\{\{(\w+)\}\}", mark["titleFormat"] + mark["textFormat"]))
        assert shown <= grouped(plain(mark["target"]["expr"]))


@every_board
def test_panels_lie_beside_each_other_and_fill_their_rows(name: str) -> None:
    places = [panel["gridPos"] for panel in BUILT[name]["panels"]]
    for a, b in combinations(places, 2):
        apart = a["x"] + a["w"] <= b["x"] or b["x"] + b["w"] <= a["x"]
        assert apart or a["y"] + a["h"] <= b["y"] or b["y"] + b["h"] <= a["y"], (a, b)
    bottom = max(place["y"] + place["h"] for place in places)
    assert sum(place["w"] * place["h"] for place in places) == 24 * bottom
    ids = [panel["id"] for panel in BUILT[name]["panels"]]
    assert len(set(ids)) == len(ids)


@every_panel
def test_a_panel_is_of_a_kind_that_was_looked_at_and_says_what_it_shows(name: str, panel: dict[str, Any]) -> None:
    assert panel["type"] in KINDS
    assert re.fullmatch(r"[A-Z$].{2,50}", panel["title"])
    assert panel["description"].endswith(".")
    assert len(panel["description"].split()) > 3
    assert panel["datasource"] == SOURCE
    assert panel["fieldConfig"]["defaults"]["unit"]
    assert panel["targets"]


@every_panel
def test_a_panel_sets_what_the_kit_leaves_open(name: str, panel: dict[str, Any]) -> None:
    defaults, options = panel["fieldConfig"]["defaults"], panel["options"]
    if panel["type"] == "timeseries":
        assert options["legend"]["showLegend"]
        assert defaults["custom"]["drawStyle"] == "line"
        assert defaults["color"]["mode"] == "palette-classic"
    if panel["type"] in ("stat", "bargauge"):
        assert options["reduceOptions"]["calcs"] == ["lastNotNull"]
    if panel["type"] == "table":
        assert all(target["format"] == "table" and target["instant"] for target in panel["targets"])
        assert [step["id"] for step in panel["transformations"]] == ["merge", "organize"]
    if panel["type"] == "heatmap":
        assert all(target["format"] == "heatmap" and target["exemplar"] for target in panel["targets"])


@every_panel
def test_legends_name_labels_that_the_answer_has(name: str, panel: dict[str, Any]) -> None:
    for target in panel["targets"]:
        named = set(re.findall(r"\{\{(\w+)\}\}", target["legendFormat"]))
        assert named <= grouped(plain(target["expr"])) | {"instance"}, target["legendFormat"]
        assert named or target["legendFormat"] or panel["type"] == "table"


@pytest.mark.parametrize(("where", "expression"), ASKED, ids=[where for where, _ in ASKED])
def test_what_is_asked_names_metrics_labels_and_words_that_exist(where: str, expression: str) -> None:
    assert faults(plain(expression)) == []


@every_panel
def test_counters_stand_in_rates_and_rates_go_over_what_the_reader_chose(name: str, panel: dict[str, Any]) -> None:
    for target in panel["targets"]:
        for metric in bare(parsed(target["expr"])):
            family = family_of(metric)
            assert family is None or family.kind == "gauge", f"{metric} outside of rate()"
        for duration in re.findall(r"\[([^\]]+)\]", target["expr"]):
            assert duration in DURATIONS or duration == MONTH


@every_panel
def test_what_is_asked_is_of_the_chosen_job_assistants_and_versions(name: str, panel: dict[str, Any]) -> None:
    for target in panel["targets"]:
        for metric, matchers in selected(parsed(target["expr"])):
            family = family_of(metric)
            labels = {"job", *(family.labels if family else ())}
            wanted = {label: f"${label}" for label in ("job", "assistant", "version") if label in labels}
            if metric == f"{PREFIX}build_info" or metric.removeprefix(PREFIX) in OF_ALL_VERSIONS:
                wanted.pop("version")  # of turnsignal itself, or of none
            assert wanted.items() <= {label: value for label, _, value in matchers}.items(), metric


def test_no_scorer_of_a_suite_is_named_anywhere() -> None:
    for where, expression in ASKED:
        matchers = {matcher for _, matchers in selected(parsed(expression)) for matcher in matchers}
        named = {value for label, _, value in matchers if label in ("scorer", "check", "judged")}
        assert named <= {"$scorer", *TRUTH_SCORERS, "|".join(OF_TRUTH)}, where  # those of labels no suite names


def test_links_lead_to_dashboards_that_exist_and_each_is_reached_from_the_overview() -> None:
    reached: dict[str, set[str]] = {}
    for board in BUILT.values():
        addresses = [link["url"] for panel in board["panels"] for link in panel.get("links") or ()]
        for address in addresses:
            assert re.match(r"/d/turnsignal-[a-z-]+\?|http://\$\{(worker|watch)\}/", address), address
        reached[board["uid"]] = set(re.findall(r"/d/(turnsignal-[a-z-]+)\?", " ".join(addresses)))
        (link,) = board["links"]
        assert (link["type"], link["tags"], link["includeVars"], link["keepTime"]) == (
            *("dashboards", ["turnsignal"]),
            True,
            True,
        )
    assert set().union(*reached.values()) <= set(reached)
    assert reached["turnsignal-overview"] == set(reached) - {"turnsignal-overview"}


def test_grafana_is_told_where_dashboards_and_numbers_are() -> None:
    provisioning = GRAFANA / "provisioning"
    (source,) = yaml.safe_load((provisioning / "datasources" / "turnsignal.yaml").read_text("utf-8"))["datasources"]
    assert (source["uid"], source["type"]) == ("turnsignal-prom", "prometheus")
    (exemplar,) = source["jsonData"]["exemplarTraceIdDestinations"]
    assert exemplar["name"] == "conversation"
    assert exemplar["url"].endswith("/exemplars/$${__value.raw}")
    (provider,) = yaml.safe_load((provisioning / "dashboards" / "turnsignal.yaml").read_text("utf-8"))["providers"]
    assert (provider["type"], provider["allowUiUpdates"], provider["disableDeletion"]) == ("file", False, True)
    scraped = yaml.safe_load((Path(GRAFANA).parent / "deploy" / "prometheus" / "prometheus.yml").read_text("utf-8"))
    assert source["jsonData"]["timeInterval"] == scraped["global"]["scrape_interval"]


@pytest.mark.parametrize("mode", ["dark", "light"])
@every_board
def test_a_dashboard_has_a_picture_that_is_quick_to_load(name: str, mode: str) -> None:
    picture = GRAFANA.parent / "deploy" / "pictures" / f"{name.removesuffix('.json')}-{mode}.png"
    assert picture.is_file(), "run `make preview`, and look at it"
    assert picture.stat().st_size < 200_000


def test_alerts_that_dashboards_mark_are_ours() -> None:
    assert all(re.fullmatch("Turnsignal.+", alert) for alert in ALERTS)
