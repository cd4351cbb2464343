"""The Kubernetes files by their schemas, the rules in them by promtool, and both by what workers expect."""

import os
import runpy
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from turnsignal.agents.settings import Settings
from turnsignal.agents.worker.supervisor import STOP_SECONDS

DEPLOY = Path(__file__).parents[2] / "deploy"
FILES = sorted((DEPLOY / "kubernetes").glob("*.yaml"))
OBJECTS: list[dict[str, Any]] = [
    each for path in FILES for each in yaml.safe_load_all(path.read_text(encoding="utf-8")) if each
]
OPERATORS = {"ServiceMonitor", "PrometheusRule"}  # of the Prometheus operator, without a schema here
WORKERS = [each for each in OBJECTS if each["kind"] == "Deployment"]
PODS = [each["spec"]["template"]["spec"] for each in OBJECTS if each["kind"] in ("Deployment", "Job")]


def of_kind(kind: str) -> list[dict[str, Any]]:
    return [each for each in OBJECTS if each["kind"] == kind]


@pytest.mark.slow
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_every_object_is_one_by_its_schema(path: Path) -> None:
    program = Path(sys.executable).parent / "kubernetes-validate"
    checked = subprocess.run([program, "--strict", path], capture_output=True, text=True, check=False)
    said = [line for line in (checked.stdout + checked.stderr).splitlines() if line.split(" ", 1)[0] != "INFO"]
    unknown = [line for line in said if any(f"for kind {kind} " in line for kind in OPERATORS)]
    assert said == unknown
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_there_is_all_that_running_it_takes() -> None:
    kinds = {each["kind"] for each in OBJECTS}
    assert kinds >= {"ConfigMap", "Deployment", "PodDisruptionBudget", "HorizontalPodAutoscaler", "Service"} | OPERATORS


@pytest.mark.parametrize("pod", PODS, ids=lambda pod: pod["containers"][0]["args"][1])
def test_pods_run_as_nobody_in_particular_and_hold_no_secret(pod: dict[str, Any]) -> None:
    (container,) = pod["containers"]
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert pod["automountServiceAccountToken"] is False
    assert container["securityContext"]["readOnlyRootFilesystem"] is True
    assert container["securityContext"]["allowPrivilegeEscalation"] is False
    assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}
    for variable in container["env"]:
        assert "value" not in variable
        assert variable["valueFrom"]["secretKeyRef"]["name"] == "turnsignal"
    assert container["resources"]["limits"]["memory"]


def test_workers_take_the_settings_that_they_are_given() -> None:
    (settings,) = of_kind("ConfigMap")
    given = settings["data"] | dict.fromkeys(("TURNSIGNAL_EXEMPLAR_SECRET",), "0123456789abcdef")
    assert not Settings.from_env(given).shows_conversations


@pytest.mark.parametrize("worker", WORKERS, ids=lambda worker: worker["metadata"]["name"])
def test_workers_are_asked_for_their_health_and_have_the_time_to_finish(worker: dict[str, Any]) -> None:
    pod = worker["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    app = container["args"][1]
    assert container["ports"] == [{"name": "metrics", "containerPort": {"score": 9108, "watch": 9109}[app]}]
    probes = {name: container[name]["httpGet"] for name in ("livenessProbe", "readinessProbe", "startupProbe")}
    assert probes["readinessProbe"] == {"path": "/readyz", "port": "metrics"}
    assert probes["livenessProbe"] == probes["startupProbe"] == {"path": "/healthz", "port": "metrics"}
    assert pod["terminationGracePeriodSeconds"] > STOP_SECONDS


def test_budgets_services_and_scaling_name_workers_that_there_are() -> None:
    labels = [worker["spec"]["template"]["metadata"]["labels"] for worker in WORKERS]
    for selector in [
        *(each["spec"]["selector"]["matchLabels"] for each in of_kind("PodDisruptionBudget")),
        *(each["spec"]["selector"] for each in of_kind("Service")),
    ]:
        assert any(selector.items() <= known.items() for known in labels)
    (scaled,) = of_kind("HorizontalPodAutoscaler")
    assert scaled["spec"]["scaleTargetRef"]["name"] in {worker["metadata"]["name"] for worker in WORKERS}
    metric = scaled["spec"]["metrics"][0]["pods"]["metric"]["name"]
    assert metric == "turnsignal_consumer_lag_messages"
    assert scaled["spec"]["maxReplicas"] == Settings(brokers="kafka:9092").partitions


def test_the_monitor_asks_the_service_under_the_name_and_within_the_limits_of_the_rules() -> None:
    (monitor,), (service,) = of_kind("ServiceMonitor"), of_kind("Service")
    assert monitor["spec"]["selector"]["matchLabels"].items() <= service["metadata"]["labels"].items()
    assert [end["port"] for end in monitor["spec"]["endpoints"]] == [port["name"] for port in service["spec"]["ports"]]
    scrape = yaml.safe_load((DEPLOY / "prometheus" / "prometheus.yml").read_text(encoding="utf-8"))["scrape_configs"][0]
    assert service["metadata"]["name"] == scrape["job_name"]  # the operator takes the Service's name for the job
    limits = {"sampleLimit": "sample_limit", "labelLimit": "label_limit", "bodySizeLimit": "body_size_limit"}
    limits["labelValueLengthLimit"] = "label_value_length_limit"
    assert {ours: monitor["spec"][theirs] for theirs, ours in limits.items()} == {
        ours: scrape[ours] for ours in limits.values()
    }


def test_the_rules_are_those_of_prometheus_as_they_are_now(tmp_path: Path) -> None:
    build = runpy.run_path(str(DEPLOY / "kubernetes" / "build.py"))
    assert build["WRITTEN"].read_text(encoding="utf-8") == build["render"](), "run python deploy/kubernetes/build.py"
    (rule,) = of_kind("PrometheusRule")
    deployed = [
        group
        for path in sorted((DEPLOY / "prometheus" / "rules").glob("*.yml"))
        for group in yaml.safe_load(path.read_text(encoding="utf-8"))["groups"]
    ]
    assert rule["spec"]["groups"] == deployed
    if shutil.which("promtool") or os.environ.get("REQUIRE_TOOLS"):
        path = tmp_path / "rules.yml"
        path.write_text(yaml.safe_dump(rule["spec"]), encoding="utf-8")
        checked = subprocess.run(["promtool", "check", "rules", path], capture_output=True, text=True, check=False)
        assert checked.returncode == 0, checked.stdout + checked.stderr
