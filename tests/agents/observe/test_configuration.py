"""What is written for Prometheus, Alertmanager, Grafana and Docker is what deploy/ has, with other addresses."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from turnsignal.agents.observe.configuration import (
    DASHBOARDS,
    grafana_variables,
    images,
    write_alertmanager,
    write_compose,
    write_grafana,
    write_prometheus,
)

DEPLOY = Path(__file__).parents[3] / "deploy"
WORKERS = ["127.0.0.1:19108", "[::1]:19109"]


def read(path: Path) -> Any:
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def test_prometheus_scrapes_the_workers_that_are_named_and_is_else_as_deployed(tmp_path: Path) -> None:
    written = read(write_prometheus(tmp_path, WORKERS, "127.0.0.1:19093"))
    deployed = read(DEPLOY / "prometheus" / "prometheus.yml")
    assert written["scrape_configs"][0].pop("static_configs") == [{"targets": WORKERS}]
    assert written["alerting"].pop("alertmanagers") == [{"static_configs": [{"targets": ["127.0.0.1:19093"]}]}]
    del deployed["scrape_configs"][0]["static_configs"], deployed["alerting"]["alertmanagers"]
    assert written == deployed


def test_rules_are_those_of_now_and_no_others(tmp_path: Path) -> None:
    (tmp_path / "rules").mkdir()
    (tmp_path / "rules" / "of-before.yml").write_text("groups: []", encoding="utf-8")
    write_prometheus(tmp_path, WORKERS, None)
    deployed = {path.name: path.read_text("utf-8") for path in (DEPLOY / "prometheus" / "rules").glob("*.yml")}
    assert {path.name: path.read_text("utf-8") for path in (tmp_path / "rules").iterdir()} == deployed
    assert "quality.yml" in deployed


def test_alertmanager_is_configured_as_deployed(tmp_path: Path) -> None:
    assert read(write_alertmanager(tmp_path)) == read(DEPLOY / "alertmanager" / "alertmanager.yml")


def test_grafana_finds_the_dashboards_and_is_read_only_for_this_machine(tmp_path: Path) -> None:
    folder = write_grafana(tmp_path / "provisioning")
    (provider,) = read(folder / "dashboards" / "turnsignal.yaml")["providers"]
    boards = {
        path.stem: json.loads(path.read_text("utf-8")) for path in Path(provider["options"]["path"]).glob("*.json")
    }
    assert "overview" in boards
    (source,) = read(folder / "datasources" / "turnsignal.yaml")["datasources"]
    assert source["url"] == "${PROMETHEUS_URL}"
    variables = grafana_variables(tmp_path, 13000, "http://127.0.0.1:19090", "http://127.0.0.1:19108")
    assert variables["PROMETHEUS_URL"] == "http://127.0.0.1:19090"
    assert variables["GF_SERVER_HTTP_ADDR"] == "127.0.0.1"
    assert variables["GF_AUTH_ANONYMOUS_ORG_ROLE"] == "Viewer"
    assert variables["GF_PATHS_PROVISIONING"] == str(folder)


def test_containers_are_those_of_the_compose_file_and_their_file_is_one(tmp_path: Path) -> None:
    assert set(images()) == {"prometheus", "alertmanager", "grafana"}
    ports = {"prometheus": 19090, "alertmanager": 19093, "grafana": 13000}
    variables = grafana_variables(tmp_path, 13000, "http://127.0.0.1:19090", "http://127.0.0.1:19108")
    path = write_compose(tmp_path, ports, variables)
    checked = subprocess.run(
        [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.compose-spec", str(path)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert checked.returncode == 0, checked.stdout
    services = read(path)["services"]
    deployed = read(DEPLOY / "compose.yaml")["services"]
    assert {name: service["image"] for name, service in services.items()} == {
        name: deployed[name]["image"] for name in services
    }
    assert f"{DASHBOARDS}:/etc/grafana/turnsignal:ro" in services["grafana"]["volumes"]
    listening = [argument for argument in services["prometheus"]["command"] if "listen" in argument]
    assert listening == ["--web.listen-address=127.0.0.1:19090"]


@pytest.mark.parametrize("address", ['127.0.0.1:1"], "x": ["', "a:1]"])
def test_an_address_stays_a_string_whatever_it_holds(tmp_path: Path, address: str) -> None:
    written = read(write_prometheus(tmp_path, [address], None))
    assert written["scrape_configs"][0]["static_configs"] == [{"targets": [address]}]
